# shellcheck shell=bash
# Shared by the tests of this folder: a scratch folder, and words for failing.
set -euo pipefail
: "${ULB_SOURCE:?the root of the source tree}" "${ULB_BUILD:?the build folder}"
# shellcheck disable=SC2034
bench=$ULB_BUILD/ulb-bench
# shellcheck disable=SC2034
pu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))') # one that may be used
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() { echo "FAILED: $*"; exit 1; }
need() { command -v "$1" >/dev/null || { echo "skipped: no $1"; exit 77; }; }

# expect CODE PATTERN COMMAND...: exit code, and a stderr of exactly one line that matches.
expect() {
    local code=$1 pattern=$2 status=0
    shift 2
    "$@" >out 2>err || status=$?
    [[ $status == "$code" ]] || fail "exit $status instead of $code: $* : $(head -3 err)"
    [[ $(wc -l <err) == 1 ]] || fail "$(wc -l <err) lines on stderr: $* : $(head -5 err)"
    grep -qE -- "$pattern" err || fail "message of '$*' lacks /$pattern/: $(cat err)"
    grep -q '^ulb-bench: ' err || fail "message of '$*' does not begin with the program's name"
}
