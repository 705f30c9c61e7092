# shellcheck shell=bash
# Shared by the tests of this folder: a scratch folder, and words for failing.
set -euo pipefail
: "${ULB_SOURCE:?the root of the source tree}" "${ULB_BUILD:?the build folder}"
# shellcheck disable=SC2034
bench=$ULB_BUILD/ulb-bench
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() { echo "FAILED: $*"; exit 1; }
need() { command -v "$1" >/dev/null || { echo "skipped: no $1"; exit 77; }; }
