# SPDX-License-Identifier: GPL-3.0-or-later
# Shared by the benches: the release build and the timing program.
build_release() {
    script/bootstrap bench
    script/build release
    release="$PWD/build/release/src/cli/probelauf"
    child="$PWD/build/release/tests/child/child"
}
build_interleave() {
    gcc -std=gnu17 -D_GNU_SOURCE -O2 bench/interleave.c -o "$1/interleave"
}
