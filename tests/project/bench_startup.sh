#!/usr/bin/env bash
# With nothing changed, scripts/bench starts the program in under 2 s, from any folder, and adds nothing to its output.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[[ $ULB_BUILD == "$ULB_SOURCE/build/release" ]] || { echo "skipped: not the release build"; exit 77; }
cd /
"$ULB_SOURCE/scripts/bench" --version
begin=${EPOCHREALTIME/./}
output=$("$ULB_SOURCE/scripts/bench" --version 2>"$scratch/err")
took=$(((${EPOCHREALTIME/./} - begin) / 1000))
((took < 2000)) || fail "the second call took $took ms"
[[ $output == "$("$bench" --version)" ]] || fail "the output is: $output"
[[ ! -s $scratch/err ]] || fail "the second call still says: $(cat "$scratch/err")"
