#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What is handed to people who do not build: `meson install`, the Debian package (script/package), the portable file
# (script/portable). The build is the one under test; $BUILD is its folder.
# shellcheck shell=bash disable=SC2154 # bats sets status, output and lines

load run-common

setup() {
    common_setup
    : "${BUILD:?set BUILD to the build folder}"
    export DEBEMAIL=tester@example.org DEBFULLNAME=Tester
}

# Runs the installed program $1 with nothing in its environment and nothing of the source at hand.
works_alone() {
    local program=$1
    mkdir alone
    cd alone
    run -0 env -i "$program" --version
    has "probelauf "
    run -0 env -i HOME="$PWD" "$program" run -- /bin/echo measured
    has "measured"
    has "probelauf: ok"
    run -0 env -i HOME="$PWD" "$program" show @1
    has "/bin/echo measured"
    run -0 env -i HOME="$PWD" "$program" log --lang ko
    has "정상"
    run -0 env -i HOME="$PWD" "$program" init --paper fast-kvzip
    [ -s probelauf.yaml ]
    run -0 env -i HOME="$PWD" PATH="$PATH" "$program" run --plan none -- python3 -c 'import os; print(os.environ["PYTHONPATH"])'
    has /python
    # nobody waits for a recorder, but the test's folder is about to go
    until_true nothing_waits "$PWD/.local/share/probelauf/journals"
    cd ..
}

@test "meson install: the program runs from there with an empty environment, beside its documents" {
    DESTDIR=$PWD/root meson install -C "$BUILD" --no-rebuild --quiet >/dev/null
    program=$(find root -name probelauf -type f -perm -100)
    [ "$(wc -l <<<"$program")" -eq 1 ]
    prefix=$PWD/${program%/bin/probelauf}
    for file in COPYING NOTICE README.md CHANGELOG.md docs/architecture.md docs/plan-format.md bench/RESULTS.md examples/kv-cache/probelauf.yaml; do
        [ -s "$prefix/share/doc/probelauf/$file" ] || { echo "no $file"; return 1; }
    done
    [ -s "$prefix/share/probelauf/schema/run.schema.json" ]
    [ -s "$prefix/share/bash-completion/completions/probelauf" ]
    for page in man1/probelauf.1 man1/probelauf-run.1 man5/probelauf-plan.5; do
        [ -s "$prefix/share/man/$page" ] || { echo "no $page"; return 1; }
    done
    # everything that is installed is meant for all, and nothing was left by a run in the source
    [ -z "$(find root -name __pycache__ -o -name '*.pyc' -o -name .gitignore)" ]
    works_alone "$PWD/$program"
}

@test "meson install: links of the documents lead somewhere" {
    DESTDIR=$PWD/root meson install -C "$BUILD" --no-rebuild --quiet >/dev/null
    cd "$(find root -path '*/doc/probelauf' -type d)"
    missing=""
    while IFS=: read -r file link; do
        link=${link#*(}
        link=${link%%[#)]*}
        # what only the source has
        case $link in "" | *://* | ../tests/*) continue ;; esac
        [ -e "$(dirname "$file")/$link" ] || missing="$missing $file:$link"
    done < <(grep -roHE '\]\([^ )]+\)' --include='*.md' .)
    [ -z "$missing" ] || { echo "missing:$missing"; return 1; }
}

# One package for the tests that look at it: making one takes seconds.
setup_file() {
    command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null && [ -e "$PROBELAUF_SOURCE/script/package" ] || return 0
    export DEBEMAIL=tester@example.org DEBFULLNAME=Tester SOURCE_DATE_EPOCH=1764547200
    "$PROBELAUF_SOURCE/script/package" --from "$BUILD" "$BATS_FILE_TMPDIR" >"$BATS_FILE_TMPDIR/log" 2>&1 || true
}

package() {
    command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || skip "no Debian tools (dpkg-dev)"
    [ -e "$SOURCE/script/package" ] || skip "no source"
    deb=$(tail -n 1 "$BATS_FILE_TMPDIR/log")
    [ -s "$deb" ] || {
        cat "$BATS_FILE_TMPDIR/log"
        return 1
    }
}

@test "script/package: the same bytes twice, whatever the language and mask of who makes it" {
    package
    umask 077
    SOURCE_DATE_EPOCH=1764547200 LC_ALL=de_DE.UTF-8 TZ=Asia/Seoul run -0 "$SOURCE/script/package" --from "$BUILD" "$PWD/again"
    cmp again/*.deb "$deb"
    run -0 dpkg-deb --contents "$deb"
    has "2025-12-01"
}

@test "script/package: what is in it, for whom, with which libraries" {
    package
    run -0 dpkg-deb --field "$deb"
    has "Package: probelauf"
    has "Architecture: $(dpkg --print-architecture)"
    has "Maintainer: Tester <tester@example.org>"
    for library in libc6 libsqlite3-0 libzstd1 libjansson4; do
        has "$library"
    done
    dpkg-deb --extract "$deb" in
    # every file is in the sums, and belongs to root
    dpkg-deb --control "$deb" control
    (cd in && md5sum --quiet -c ../control/md5sums)
    [ "$(find in -type f | wc -l)" -eq "$(wc -l <control/md5sums)" ]
    run -0 dpkg-deb --contents "$deb"
    [ "$(grep -vc ' root/root ' <<<"$output")" -eq 0 ]
    # nothing may be written to by others, only the program is run
    [ -z "$(find in -type f -perm /022)" ]
    [ "$(find in -type f -perm /111)" = in/usr/bin/probelauf ]
    grep -q "GPL-3" in/usr/share/doc/probelauf/copyright
    gzip -t in/usr/share/doc/probelauf/changelog.gz in/usr/share/doc/probelauf/changelog.Debian.gz
    # pages are compressed, completion is where Debian's shells look
    gzip -t in/usr/share/man/man1/*.gz in/usr/share/man/man5/*.gz
    [ -z "$(find in/usr/share/man -type f ! -name '*.gz')" ]
    [ -s in/usr/share/zsh/vendor-completions/_probelauf ]
    # no debugging information
    run ! grep -q '\.debug_info' <(readelf -SW in/usr/bin/probelauf)
    # what is carried inside is named with its terms
    if grep -qa u-legend in/usr/bin/probelauf; then
        grep -q "^License: MIT" in/usr/share/doc/probelauf/copyright
    fi
    works_alone "$PWD/in/usr/bin/probelauf"
}

@test "script/package: dpkg installs it into an empty root, and takes all of it away again" {
    package
    mkdir -p root/var/lib/dpkg/updates root/var/lib/dpkg/info root/var/log
    touch root/var/lib/dpkg/status root/var/lib/dpkg/available
    # without root dpkg cannot change owners; the libraries are those of this machine
    as_root=()
    if [ "$(id -u)" != 0 ]; then
        command -v fakeroot >/dev/null || skip "neither root nor fakeroot"
        as_root=(fakeroot)
    fi
    PATH=$PATH:/usr/sbin:/sbin
    "${as_root[@]}" dpkg --root="$PWD/root" --force-depends --force-not-root --force-script-chrootless --install "$deb" >log 2>&1 || {
        cat log
        return 1
    }
    run -0 dpkg-query --admindir=root/var/lib/dpkg -W -f '${db:Status-Abbrev}' probelauf
    has "ii"
    works_alone "$PWD/root/usr/bin/probelauf"
    "${as_root[@]}" dpkg --root="$PWD/root" --force-not-root --force-script-chrootless --remove probelauf >log 2>&1 || {
        cat log
        return 1
    }
    [ ! -e root/usr ] || { find root/usr; return 1; }
}

@test "script/package: what it cannot use is said" {
    run -2 "$SOURCE/script/package"
    has "usage: script/package"
    run -2 "$SOURCE/script/package" --nothing x
    run "$SOURCE/script/package" --from "$PWD/absent" out
    [ "$status" -ne 0 ]
}

@test "long: the portable file is made, starts and measures in an empty root, and follows Python" {
    long || skip "PROBELAUF_TEST_LONG is not set"
    run -0 "$SOURCE/script/portable" "$PWD/portable"
    sed "s/^/# /" <<<"$output" >&3
    has "empty root"
    has "bytes"
    grep -q "libjansson" portable/probelauf.copyright
    works_alone "$PWD/portable/probelauf"
    # what is not so is found: a program that is not static
    run "$SOURCE/script/portable" --check "$PROBELAUF" "$SOURCE/build/portable"
    [ "$status" -ne 0 ]
    has "not static"
}
