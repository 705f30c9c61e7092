#!/usr/bin/env bash
# Is this branch slower than the one it goes into? Builds both, counts both, measures both in turn on this machine.
# usage: docs/ci/pre-merge.sh [BASE] [OPTION-OF-GEMV...]     e.g. pre-merge.sh origin/main --formats int2,int1
# OUT (default build/pre-merge) gets the builds, the counts and summary.md. Exit: 0 no, 1 yes, 2 usage, 3 not
# measurable or not comparable, 4 cannot tell.
#
# The noise floor, in five lines:
# 1. The builds are measured in turn, half a second each, so that both see the same machine; three sessions or more
#    start both anew, since where code and buffers come to lie is luck.
# 2. A kernel counts from 5 % on and from three errors of its median. A kernel that could have become 10 % slower unseen
#    is measured longer, for MINUTES (default 10) in all; then the exit code is 4.
# 3. What looks slower is measured in five sessions before it is called slower.
# 4. Instruction counts have no noise: there 1 % counts, on any machine. A kernel can be slower with the same count, and
# 5. the other way round: a count that grew is a question, a time that grew in turn is an answer.
set -euo pipefail
cd "$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)"
base=$(git merge-base HEAD "${1:-origin/main}") || { echo "usage: $0 [BASE] [OPTION...]: no such base" >&2; exit 2; }
options=("${@:2}")
# A count runs no shapes and takes no samples: of the options it is given those that choose rows.
rows=()
for ((i = 0; i < ${#options[@]}; i++)); do
    case ${options[i]} in
    -f | -k | --formats | --kernels | --isa-mask) rows+=("${options[@]:i:2}") ;;
    -[fk]?* | --formats=* | --kernels=* | --isa-mask=*) rows+=("${options[i]}") ;;
    esac
done
out=$(realpath -m "${OUT:-build/pre-merge}")
mkdir -p "$out"

build() { # COMMIT NAME: its ulb-bench is $out/NAME/build/ulb-bench
    rm -rf "${out:?}/$2"
    mkdir "$out/$2"
    git archive "$1" | tar -x -C "$out/$2"
    { cmake -G Ninja -S "$out/$2" -B "$out/$2/build" -DBUILD_TESTING=OFF \
        -DULB_COMMIT="$(git rev-parse --short=12 "$1")" && ninja -C "$out/$2/build" ulb-bench; } \
        >"$out/$2.log" 2>&1 || { tail "$out/$2.log" >&2; exit 3; }
}

record() { # NAME KIND OPTION...: leaves $out/NAME-KIND.json
    local folder=$out/$1-$2
    rm -rf "$folder"
    "$out/$1/build/ulb-bench" "${@:3}" --out "$folder" >/dev/null 2>"$folder.log" ||
        { cat "$folder.log" >&2; return 3; }
    mv "$folder"/*.json "$folder.json"
}

compare() { # TITLE KIND OPTION...
    local code=0
    "$out/new/build/ulb-bench" compare "$out/base-$2.json" "$out/new-$2.json" "${@:3}" --markdown >"$out/$2.md" ||
        code=$?
    printf '## %s\n\n%s\n\n' "$1" "$(cat "$out/$2.md")" >>"$out/summary.md"
    return $code
}

build "$base" base
build HEAD new
: >"$out/summary.md"
result=0
if record base counts --count "${rows[@]}" && record new counts --count "${rows[@]}"; then
    compare "Instructions" counts --metric instructions || result=$?
else
    printf '## Instructions\n\nNot counted: neither perf nor valgrind.\n\n' >>"$out/summary.md"
fi
code=0
"$out/new/build/ulb-bench" compare --beside "$out/base/build/ulb-bench" "$out/new/build/ulb-bench" \
    --max-minutes "${MINUTES:-10}" --markdown -- "${options[@]}" >"$out/times.md" || code=$?
printf '## Times\n\n%s\n\n' "$(cat "$out/times.md")" >>"$out/summary.md"
((code == 0 || result == 1)) || result=$code
cat "$out/summary.md"
exit $result
