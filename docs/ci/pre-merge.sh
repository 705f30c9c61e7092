#!/usr/bin/env bash
# Is this branch slower than the one it goes into? Builds both, counts and measures both on this machine, compares.
# usage: docs/ci/pre-merge.sh [BASE] [OPTION-OF-ULB-BENCH...]     e.g. pre-merge.sh origin/main --formats int2,int1
# OUT (default build/pre-merge) gets the builds, the records and summary.md. Exit: 0 no, 1 yes, 2 usage, 3 not
# measurable or not comparable, 4 cannot tell.
#
# The noise floor, in five lines:
# 1. What is compared is efficiency, the share of what this machine can read at that moment, not time: most noise cancels.
# 2. Each record holds how much its own figures differ when nothing has changed (A/A); a change counts from twice that on,
#    and from 5 % on at least. A machine so noisy that a slowdown by 50 % could pass unseen ends with exit code 4.
# 3. What looks slower is run again by itself before it is called slower (--confirm).
# 4. Instruction counts have no noise: there 1 % counts, on any machine. A kernel can be slower with the same count, and
# 5. the other way round: a count that grew is a question, an efficiency that fell twice is an answer.
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
record base times --quick "${options[@]}" && record new times --quick "${options[@]}" || exit 3
compare "Efficiency" times --confirm || { code=$?; ((result == 1)) || result=$code; }
cat "$out/summary.md"
exit $result
