#!/usr/bin/env bash
# The set-up on systems of several kinds, made of a PATH with a few programs: nothing is really installed.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
bin=$scratch/bin
mkdir "$bin"
for program in bash env dirname sed tr grep awk cat rm mktemp tail; do
    ln -s "$(command -v "$program")" "$bin/$program"
done
run_bench() { # what scripts/bench says on such a system; it must end with 3 and print nothing on standard output
    local code=0
    env -i PATH="$bin" "$ULB_SOURCE/scripts/bench" --version >"$scratch/out" 2>"$scratch/err" || code=$?
    [[ $code == 3 ]] || fail "exit code $code instead of 3: $(cat "$scratch/err")"
    [[ ! -s $scratch/out ]] || fail "on standard output: $(cat "$scratch/out")"
}
says() { grep -qE -- "$1" "$scratch/$2" || fail "no '$1' in: $(cat "$scratch/$2")"; }

# Without apt: what is missing is named, with what would show its presence.
run_bench
says 'no apt-get .*cmake \(program cmake\).*libhwloc-dev \(library hwloc\)' err
says 'going on without libpapi-dev .*gnuplot-nox' err

# With apt: only what is missing and offered is asked for, once more after an update when that fails.
script() { # NAME < TEXT
    cat >"$bin/$1"
    chmod +x "$bin/$1"
}
script apt-get <<<"#!/bin/sh
echo \"\$3\" \"\$*\" >>$scratch/calls
[ \"\$3\" = update ] || exit 100"
script apt-cache <<<"#!/bin/sh
shift
for name; do
    case \$name in likwid) offer='(none)' ;; *) offer=1.0 ;; esac
    printf '%s:\n  Installed: (none)\n  Candidate: %s\n' \"\$name\" \"\$offer\"
done"
script sudo <<<'#!/bin/sh
exec "$@"'
script cmake <<<'#!/bin/sh
exit 1'
run_bench
says '^install .*--no-install-recommends gcc .*libhwloc-dev .*gnuplot-nox' calls
says '^update' calls
grep -qE ' (cmake|likwid)( |$)' "$scratch/calls" && fail "asked for too much: $(cat "$scratch/calls")"
[[ $(grep -c '^install' "$scratch/calls") == 2 ]] || fail "not tried twice: $(cat "$scratch/calls")"
says 'libhwloc-dev \(library hwloc\)' err
