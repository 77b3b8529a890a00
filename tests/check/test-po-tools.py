#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small tree of sources and catalogues goes through tools/po-*: what is sound passes, each planted mistake is named.
Usage: test-po-tools.py TOOLS_FOLDER; exits with 77 where xgettext is missing."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = r'''
#define N_(text) (text)
static const char *const table[] = {N_("first entry of the table")};
void f(struct err *err, unsigned long n) {
    say(_("%zu of %s are open; see 'probelauf show --all'"));
    say(_("probelauf run  # measure one run\nprobelauf show  # what it took\n"));
    say(msg_plural(n, "one run", "%lu runs"));
    say(_("≥ at least")); /* not only ASCII */
    say(_("100 % of it, or 5 %d%%"));
    err_set(err, -1, "some-id", "cannot read '%s': %s", a, b);
    err_set(err, -1, "other-id", "%s: %s", a, b); /* nothing to translate */
    say("not marked");
}
'''
GERMAN = {
    "first entry of the table": "erster Eintrag der Tabelle",
    "%zu of %s are open; see 'probelauf show --all'": "von %2$s sind %1$zu offen; siehe 'probelauf show --all'",
    "probelauf run  # measure one run\nprobelauf show  # what it took\n":
        "probelauf run  # einen Lauf messen\nprobelauf show  # was er brauchte\n",
    "≥ at least": "≥ mindestens",
    "100 % of it, or 5 %d%%": "100 % davon, oder 5 %d%%",
    "cannot read '%s': %s": "'%s' ist nicht lesbar: %s",
}
# (what becomes of the German text of KEY, what po-compile or po-check says of it)
BROKEN = [
    ("cannot read '%s': %s", "'%s' ist nicht lesbar", "conversions differ"),
    ("cannot read '%s': %s", "'%d' ist nicht lesbar: %s", "conversions differ"),
    ("cannot read '%s': %s", "'%1$s' ist nicht lesbar: %s", "or for none"),
    ("cannot read '%s': %s", "'%1$s' ist nicht lesbar: %3$s", "gap"),
    ("cannot read '%s': %s", "'%s' ist zu 100% lesbar: %s", "no conversion"),
    ("cannot read '%s': %s", "'%s' ist nicht lesbar: %s\n", "at an end"),
    ("%zu of %s are open; see 'probelauf show --all'", "von %s sind %zu offen; siehe 'probelauf show --all'",
     "conversions differ"),
    ("probelauf run  # measure one run\nprobelauf show  # what it took\n", "probelauf run  # einen Lauf messen\n", "lines"),
    ("probelauf run  # measure one run\nprobelauf show  # what it took\n",
     "probelauf run  # einen Lauf messen\nprobelauf zeige  # was er brauchte\n", "commands"),
]
OVERSEEN = [
    ("%zu of %s are open; see 'probelauf show --all'", "von %2$s sind %1$zu offen; siehe 'probelauf show --alle'",
     "names differ"),
    ("%zu of %s are open; see 'probelauf show --all'", "von %2$s sind %1$zu offen; siehe 'probelauf zeige --all'",
     "names differ"),
    ("first entry of the table", "first entry of the table", "English text"),
]


class Tree:
    def __init__(self, tools, folder):
        self.folder = folder
        for name in ("src/base", "src/gpu", "po", "tools"):
            os.makedirs(os.path.join(folder, name))
        for name in os.listdir(tools):
            if name.startswith("po"):
                shutil.copy(os.path.join(tools, name), os.path.join(folder, "tools", name))
        self.put("src/base/a.c", SOURCE)
        self.put("src/gpu/b.c", '_("of a program without messages")')

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def get(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run(self, tool, *arguments):
        # no locale at all: the tools read and write UTF-8 nevertheless
        done = subprocess.run([sys.executable, self.path("tools/" + tool), *arguments], capture_output=True, check=False,
                              env={"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONUTF8": "1"}, cwd=self.folder)
        return done.returncode, (done.stdout + done.stderr).decode()

    def compile(self):
        return self.run("po-compile", self.path("out.c"), *[self.path("po/%s.po" % name) for name in ("de", "fr", "ko")])


def escaped(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def fill_lines(listed, wanted):
    """NUMBER<TAB>TRANSLATION for the rows of po-missing."""
    lines = []
    for row in listed.splitlines():
        number, place, english = row.split("\t")
        assert place == "src/base/a.c", row
        if number.endswith(".0"):
            lines.append(number + "\tein Lauf")
        elif number.endswith(".1"):
            lines.append(number + "\t%lu Läufe")
        else:
            text = {escaped(key): escaped(value) for key, value in wanted.items()}[english]
            lines.append(number + "\t" + text)
    return "\n".join(lines) + "\n"


def expect(condition, what, said=""):
    if not condition:
        print("not so: %s\n%s" % (what, said))
        sys.exit(1)


def translated(tree):
    """From nothing to a German catalogue without a complaint; the other languages get English words in brackets."""
    code, said = tree.run("po-update")
    expect(code == 0 and "po/de.po: 7 texts, 7 new, 0 gone, 7 to translate" in said, "po-update writes catalogues", said)
    code, listed = tree.run("po-missing", "de")
    expect(code == 0 and len(listed.splitlines()) == 8, "po-missing lists them", listed)
    expect("not marked" not in listed and "without messages" not in listed, "only what is marked", listed)
    code, said = tree.compile()
    expect(code == 0 and "NULL, 0}" in tree.get("out.c"), "an empty catalogue compiles, and speaks English", said)
    code, said = tree.run("po-check")
    expect(code == 1 and said.count("po/de.po:") == 7 and "not translated" in said, "po-check fails on it", said)
    tree.put("lines", fill_lines(listed, GERMAN))
    code, said = tree.run("po-missing", "de", "--fill", tree.path("lines"))
    expect(code == 0 and "7 filled or changed, 0 lines not taken, 0 still to translate" in said, "po-missing --fill", said)
    for language, mark in (("fr", "le la"), ("ko", "한국어")):
        rows = tree.run("po-missing", language)[1].splitlines()
        lines = []
        for row in rows:
            number, _, english = row.split("\t")
            if language == "ko" and number.endswith(".0"):
                english = "%lu"
            lines.append(number + "\t" + (english.replace("  # ", "  # %s " % mark) if "  # " in english
                                          else re.sub(r"^(≥ )?", r"\1" + mark + " ", english)))
        tree.put("lines", "\n".join(lines))
        code, said = tree.run("po-missing", language, "--fill", tree.path("lines"))
        expect(code == 0, "po-missing %s --fill" % language, said)
    code, said = tree.run("po-check")
    expect(code == 0 and said == "", "po-check is content", said)


def compiles(tree):
    code, said = tree.compile()
    expect(code == 0, "po-compile", said)
    text = tree.get("out.c")
    keys = re.findall(r'^    \{"((?:[^"\\]|\\.)*)", \{', text.split("static const struct msg_entry fr")[0], re.M)
    expect(len(keys) == 7 and keys == sorted(keys, key=str.encode), "the entries are sorted by bytes", "\n".join(keys))
    expect('{"one run", {"ein Lauf", "%lu Läufe"}}' in text, "both forms are there", text)
    expect('{"de", MSG_PLURAL_NOT_ONE, \',\', "d.m.y", de, 7}' in text, "the row of German", text)
    code, said = tree.run("po-compile", tree.path("out.c"), "--pseudo", tree.path("po/de.po"))
    text = tree.get("out.c")
    expect(code == 0 and r'"probelauf run  # «measure one run»\nprobelauf show  # «what it took»\n"' in text and
           '"«≥ at least»"' in text and "«cannot read '‹%s›': ‹%s›»" in text and '{"«one run»", "«%lu runs»"}' in text, "po-compile --pseudo", said + text)


def planted(tree):
    good = tree.get("po/de.po")
    for key, text, what in BROKEN + OVERSEEN:
        head = 'msgid ""\n' if "\n" in key else 'msgid "%s"\n' % escaped(key)
        at = good.index(head + ('"probelauf run' if "\n" in key else "msgstr"))
        begin = good.index("msgstr", at)
        end = good.index("\n\n", begin) if "\n\n" in good[begin:] else len(good) - 1
        tree.put("po/de.po", good[:begin] + 'msgstr "%s"' % escaped(text) + good[end:])
        code, said = tree.run("po-check")
        expect(code == 1 and what in said and "po/de.po" in said, "po-check says '%s' of '%s'" % (what, text), said)
        code, said = tree.compile()
        expect((code == 1 and what in said) == ((key, text, what) in BROKEN), "po-compile of '%s'" % text, said)
        number = [row.split("\t")[0] for row in tree.run("po-missing", "de", "--all")[1].splitlines()
                  if row.split("\t")[2] == escaped(key)][0]
        tree.put("po/de.po", good)
        tree.put("lines", "%s\t%s\n" % (number, escaped(text)))
        code, said = tree.run("po-missing", "de", "--fill", tree.path("lines"))
        expect(code == 1 and what in said and tree.get("po/de.po") == good, "--fill refuses '%s'" % text, said)
    for flawed, what in ((good.replace('msgstr "≥ mindestens"', 'msgstr ""'), "not translated"),
                         (good.replace('msgid "≥ at least"', '#, fuzzy\nmsgid "≥ at least"'), "fuzzy"),
                         (good.replace('msgid "≥ at least"', 'msgid "≤ at most"'), "no longer in the sources"),
                         (good.replace('msgid "≥ at least"', 'msgid "≤ at most"'), "not in the catalogue"),
                         (good.replace("nplurals=2", "nplurals=3"), "Plural-Forms"),
                         (good + "\n#~ msgid \"old\"\n#~ msgstr \"alt\"\n", "obsolete"),
                         (good + '\nmsgid "≥ at least"\nmsgstr "again"\n', "again"),
                         (good + '\nmsgid "un"quoted"\nmsgstr "x"\n', "not escaped"),
                         (good + "\nnonsense\n", "no line of a PO file")):
        expect(flawed != good, what)
        tree.put("po/de.po", flawed)
        code, said = tree.run("po-check")
        expect(code == 1 and what in said, "po-check says '%s'" % what, said)
    tree.put("po/de.po", good)


def follows_the_sources(tree):
    before = tree.get("po/de.po")
    expect(tree.run("po-update")[0] == 0 and tree.get("po/de.po") == before, "po-update changes nothing twice")
    # another line of the file is no change; another word is another text
    tree.put("src/base/a.c", "\n\n" + SOURCE.replace("first entry", "second entry"))
    code, said = tree.run("po-update", "de")
    expect(code == 0 and "7 texts, 1 new, 1 gone, 1 to translate" in said, "one text changed", said)
    expect(tree.get("po/de.po") == before.replace("first entry", "second entry").replace("erster Eintrag der Tabelle", ""),
           "one entry changed", tree.get("po/de.po"))
    tree.put("src/base/a.c", SOURCE.replace("first entry", '%" PRIu32 " entries'))
    code, said = tree.run("po-check")
    expect(code == 1 and "PRI macro" in said, "a PRI macro inside a text is named", said)


def main(arguments):
    if shutil.which("xgettext") is None:
        return 77
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(arguments[0], folder)
        translated(tree)
        compiles(tree)
        planted(tree)
        follows_the_sources(tree)
        for tool in ("po-missing", "po-compile"):
            expect(tree.run(tool, "xx")[0] == 2, "%s tells its usage" % tool)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
