/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The purpose-built child of the command line tests: does exactly what its words say, one after the
 * other, so that a test knows the right answer. `child` without words prints the verbs. Not part of
 * the product.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "exit N               end with this status\n"
    "raise N              default action of signal N, then raise it\n"
    "sleep SECONDS        (fractions allowed)\n"
    "busy SECONDS         use one core\n"
    "alloc MIB            allocate and touch; stays until the end\n"
    "spike MIB MS         a forked process allocates, touches, waits, ends\n"
    "print BYTES          that many bytes of numbered lines on standard output\n"
    "out TEXT             a line on standard output\n"
    "err TEXT             a line on standard error\n"
    "interleave N         N lines, alternating between 1 and 2, unbuffered\n"
    "write FILE BYTES     write and sync\n"
    "read FILE            read to the end\n"
    "disk-wait SECONDS FILE   in state D, while FILE is read from its disk again and again\n"
    "isatty               print for 0, 1, 2 whether it is a terminal\n"
    "winsize              print rows and columns of standard output\n"
    "wait-size ROWS COLUMNS   after each SIGWINCH look at the size; print it when it is that\n"
    "wait-file FILE       until it exists\n"
    "await N              until signal N comes; also one that was blocked and waits\n"
    "catch N              print 'caught N' on standard error for signal N and go on\n"
    "ignore N             ignore signal N\n"
    "pause                wait until a signal ends us\n"
    "stop                 stop ourselves as Ctrl-Z would\n"
    "daemon MIB SECONDS FILE BYTES   double fork, new session: holds MIB, writes FILE, ends after "
    "SECONDS\n"
    "fork N               N children that end at once, reaped\n"
    "hold N SECONDS       N children that sleep, reaped\n"
    "unreaped MIB FILE BYTES   SIGCHLD ignored; a child allocates and writes; it is never "
    "accounted\n"
    "kill-child           a child is killed by SIGKILL and reaped\n"
    "raw-mode             change the terminal modes of standard output\n"
    "argv                 print the remaining words, one a line, and end\n"
    "env NAME             print the variable or '(unset)'\n"
    "mask                 print the blocked signals as hex\n";

static void fail(const char *what) {
    fprintf(stderr, "child: %s: %s\n", what, strerror(errno));
    exit(99);
}

static double number(const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (*end != '\0' || value < 0) {
        fprintf(stderr, "child: '%s' is no number\n", text);
        exit(99);
    }
    return value;
}

static void sleep_for(double seconds) {
    struct timespec left = {.tv_sec = (time_t)seconds};
    left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void busy_for(double seconds) {
    double end = cpu_seconds() + seconds;
    while (cpu_seconds() < end) {
    }
}

static void allocate(double mib) {
    size_t bytes = (size_t)(mib * 1048576);
    char *memory = malloc(bytes);
    if (memory == NULL) {
        fail("alloc");
    }
    for (size_t i = 0; i < bytes; i += 4096) {
        ((volatile char *)memory)[i] = (char)(i >> 12);
    }
}

static void write_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t done = write(fd, bytes, length);
        if (done < 0 && errno == EAGAIN) {
            sleep_for(0.001);
            continue;
        }
        if (done < 0) {
            fail("write");
        }
        bytes += done;
        length -= (size_t)done;
    }
}

static void write_file(const char *path, double bytes) {
    static char block[65536];
    memset(block, 'x', sizeof block);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        fail(path);
    }
    for (size_t left = (size_t)bytes; left > 0;) {
        size_t piece = left < sizeof block ? left : sizeof block;
        write_all(fd, block, piece);
        left -= piece;
    }
    fsync(fd);
    close(fd);
}

static void read_file(const char *path) {
    static char block[65536];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fail(path);
    }
    while (read(fd, block, sizeof block) > 0) {
    }
    close(fd);
}

/* Who waits for the end of a vfork is in state D; the child drops the file from the cache before it
 * reads it. */
static void disk_wait(double seconds, const char *path) {
    pid_t pid = vfork();
    if (pid == 0) {
        for (int rounds = (int)(seconds * 10); rounds > 0; rounds--) {
            static char block[65536];
            int fd = open(path, O_RDONLY | O_CLOEXEC);
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
            while (read(fd, block, sizeof block) > 0) {
            }
            close(fd);
            sleep_for(0.1);
        }
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, NULL, 0) != pid) {
        fail("vfork");
    }
}

/* Lines of 64 bytes with their number: any loss, repetition or reordering shows in a checksum. */
static void print_bytes(double bytes) {
    static char block[65536];
    uint64_t line = 0;
    for (size_t left = (size_t)bytes; left > 0;) {
        for (size_t at = 0; at < sizeof block; at += 64) {
            int used = snprintf(block + at, 64, "line %020" PRIu64 " ", line++);
            memset(block + at + used, '.', (size_t)(63 - used));
            block[at + 63] = '\n';
        }
        size_t piece = left < sizeof block ? left : sizeof block;
        write_all(1, block, piece);
        left -= piece;
    }
}

static void interleave(double count) {
    char line[64];
    for (int i = 0; i < (int)count; i++) {
        int used = snprintf(line, sizeof line, "%s %d\n", i % 2 == 0 ? "out" : "err", i);
        write_all(i % 2 == 0 ? 1 : 2, line, (size_t)used);
    }
}

static void print_winsize(void) {
    struct winsize size;
    char line[64];
    int used;
    if (ioctl(1, TIOCGWINSZ, &size) != 0) {
        used = snprintf(line, sizeof line, "no window\n");
    } else {
        used = snprintf(line, sizeof line, "%d %d\n", size.ws_row, size.ws_col);
    }
    write_all(1, line, (size_t)used);
}

static volatile sig_atomic_t caught;

static void on_signal(int number_caught) {
    char line[] = "caught 00\n";
    line[7] = (char)('0' + number_caught / 10);
    line[8] = (char)('0' + number_caught % 10);
    caught = number_caught;
    if (write(2, line, sizeof line - 1) < 0) {
        _exit(98);
    }
}

static void catch_signal(int which) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(which, &action, NULL);
}

/* Only a signal makes it look: the size that the last one announced is to be the right one. */
static void wait_size(double rows, double columns) {
    struct winsize size = {0};
    catch_signal(SIGWINCH);
    do {
        while (caught != SIGWINCH) {
            sleep_for(0.01);
        }
        caught = 0;
        if (ioctl(1, TIOCGWINSZ, &size) != 0) {
            fail("winsize");
        }
    } while (size.ws_row != (int)rows || size.ws_col != (int)columns);
    print_winsize();
}

static void wait_file(const char *path) {
    while (access(path, F_OK) != 0) {
        sleep_for(0.01);
    }
}

static void await_signal(int which) {
    sigset_t set;
    int got;
    sigemptyset(&set);
    sigaddset(&set, which);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (sigwait(&set, &got) != 0) {
        fail("await");
    }
}

static pid_t fork_or_fail(void) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        fail("fork");
    }
    return pid;
}

static void reap(pid_t pid) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

static void spike(double mib, double milliseconds) {
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        allocate(mib);
        sleep_for(milliseconds / 1000);
        _exit(0);
    }
    reap(pid);
}

static void daemonise(double mib, double seconds, const char *path, double bytes) {
    pid_t pid = fork_or_fail();
    if (pid != 0) {
        reap(pid);
        return;
    }
    setsid();
    if (fork_or_fail() != 0) {
        _exit(0);
    }
    for (int fd = 0; fd < 3; fd++) {
        close(fd);
        open("/dev/null", O_RDWR);
    }
    allocate(mib);
    write_file(path, bytes);
    sleep_for(seconds);
    _exit(0);
}

static void fork_many(double count, double seconds) {
    pid_t *pids = calloc((size_t)count + 1, sizeof *pids);
    for (size_t i = 0; i < (size_t)count; i++) {
        pids[i] = fork_or_fail();
        if (pids[i] == 0) {
            sleep_for(seconds);
            _exit(0);
        }
    }
    for (size_t i = 0; i < (size_t)count; i++) {
        reap(pids[i]);
    }
    free(pids);
}

static void unreaped(double mib, const char *path, double bytes) {
    signal(SIGCHLD, SIG_IGN);
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        allocate(mib);
        write_file(path, bytes);
        _exit(0);
    }
    while (kill(pid, 0) == 0) {
        sleep_for(0.005);
    }
}

static void kill_child(void) {
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    kill(pid, SIGKILL);
    reap(pid);
}

static void raw_mode(void) {
    struct termios modes;
    if (tcgetattr(1, &modes) != 0) {
        fail("tcgetattr");
    }
    cfmakeraw(&modes);
    tcsetattr(1, TCSANOW, &modes);
}

static void print_mask(void) {
    sigset_t blocked;
    unsigned long bits = 0;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int i = 1; i < 32; i++) {
        bits |= sigismember(&blocked, i) == 1 ? 1ul << i : 0;
    }
    printf("%lx\n", bits);
    fflush(stdout);
}

static void print_line(int fd, const char *text) {
    write_all(fd, text, strlen(text));
    write_all(fd, "\n", 1);
}

static void print_terminals(void) {
    char line[] = "0 0 0\n";
    for (int fd = 0; fd < 3; fd++) {
        line[2 * fd] = isatty(fd) ? '1' : '0';
    }
    write_all(1, line, sizeof line - 1);
}

/* Verbs with their number of words; the table keeps main() a loop. */
static bool do_simple(const char *verb, char **word) {
    if (strcmp(verb, "isatty") == 0) {
        print_terminals();
    } else if (strcmp(verb, "winsize") == 0) {
        print_winsize();
    } else if (strcmp(verb, "pause") == 0) {
        for (;;) {
            pause();
        }
    } else if (strcmp(verb, "stop") == 0) {
        raise(SIGTSTP);
    } else if (strcmp(verb, "kill-child") == 0) {
        kill_child();
    } else if (strcmp(verb, "raw-mode") == 0) {
        raw_mode();
    } else if (strcmp(verb, "mask") == 0) {
        print_mask();
    } else if (strcmp(verb, "argv") == 0) {
        for (; *word != NULL; word++) {
            print_line(1, *word);
        }
        exit(0);
    } else {
        return false;
    }
    return true;
}

static bool do_one(const char *verb, const char *word) {
    if (strcmp(verb, "exit") == 0) {
        exit((int)number(word));
    } else if (strcmp(verb, "raise") == 0) {
        signal((int)number(word), SIG_DFL);
        raise((int)number(word));
    } else if (strcmp(verb, "sleep") == 0) {
        sleep_for(number(word));
    } else if (strcmp(verb, "busy") == 0) {
        busy_for(number(word));
    } else if (strcmp(verb, "alloc") == 0) {
        allocate(number(word));
    } else if (strcmp(verb, "print") == 0) {
        print_bytes(number(word));
    } else if (strcmp(verb, "out") == 0) {
        print_line(1, word);
    } else if (strcmp(verb, "err") == 0) {
        print_line(2, word);
    } else if (strcmp(verb, "interleave") == 0) {
        interleave(number(word));
    } else if (strcmp(verb, "read") == 0) {
        read_file(word);
    } else if (strcmp(verb, "catch") == 0) {
        catch_signal((int)number(word));
    } else if (strcmp(verb, "wait-file") == 0) {
        wait_file(word);
    } else if (strcmp(verb, "await") == 0) {
        await_signal((int)number(word));
    } else if (strcmp(verb, "ignore") == 0) {
        signal((int)number(word), SIG_IGN);
    } else if (strcmp(verb, "fork") == 0) {
        fork_many(number(word), 0);
    } else if (strcmp(verb, "env") == 0) {
        print_line(1, getenv(word) != NULL ? getenv(word) : "(unset)");
    } else {
        return false;
    }
    return true;
}

/* Returns how many words the verb took, 0 for an unknown verb or too few words. */
static int do_verb(const char *verb, char **word, int left) {
    if (do_simple(verb, word)) {
        return 1;
    }
    if (left >= 1 && do_one(verb, word[0])) {
        return 2;
    }
    if (left >= 2 && strcmp(verb, "spike") == 0) {
        spike(number(word[0]), number(word[1]));
        return 3;
    }
    if (left >= 2 && strcmp(verb, "wait-size") == 0) {
        wait_size(number(word[0]), number(word[1]));
        return 3;
    }
    if (left >= 2 && strcmp(verb, "disk-wait") == 0) {
        disk_wait(number(word[0]), word[1]);
        return 3;
    }
    if (left >= 2 && strcmp(verb, "write") == 0) {
        write_file(word[0], number(word[1]));
        return 3;
    }
    if (left >= 2 && strcmp(verb, "hold") == 0) {
        fork_many(number(word[0]), number(word[1]));
        return 3;
    }
    if (left >= 3 && strcmp(verb, "unreaped") == 0) {
        unreaped(number(word[0]), word[1], number(word[2]));
        return 4;
    }
    if (left >= 4 && strcmp(verb, "daemon") == 0) {
        daemonise(number(word[0]), number(word[1]), word[2], number(word[3]));
        return 5;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fputs(usage, stderr);
        return 2;
    }
    for (int i = 1; i < argc;) {
        int taken = do_verb(argv[i], argv + i + 1, argc - i - 1);
        if (taken == 0) {
            fprintf(stderr, "child: '%s' is no verb or lacks words\n%s", argv[i], usage);
            return 2;
        }
        i += taken;
    }
    return 0;
}
