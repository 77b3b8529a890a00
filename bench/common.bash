# SPDX-License-Identifier: GPL-3.0-or-later
# Shared by the benches: the release build and the timing program.
build_release() {
    script/bootstrap bench
    script/build release
    release="$PWD/build/release/src/cli/probelauf"
    child="$PWD/build/release/tests/child/child"
}
build_stand_in() {
    ninja -C build/release tests/stand-in/generation-550/libnvidia-ml.so.1 >/dev/null
    stand_in="$PWD/build/release/tests/stand-in/generation-550"
}
build_interleave() {
    gcc -std=gnu17 -D_GNU_SOURCE -O2 bench/interleave.c -o "$1/interleave"
}
