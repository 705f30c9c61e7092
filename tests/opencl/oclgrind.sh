#!/usr/bin/env bash
# Kernels on Oclgrind, which plays a device and reports races and reads of what nobody wrote. It crashes at values of
# optimised code that it looks for in vain.
# usage: oclgrind.sh TEST-PROGRAM
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
shopt -s nullglob
drivers=(/usr/lib/*/oclgrind/liboclgrind-rt-icd.so /usr/lib/*/liboclgrind-rt-icd.so)
if ((${#drivers[@]} == 0)); then
    echo 'skipped: no Oclgrind'
    exit 77
fi
echo "${drivers[0]}" >"$scratch/oclgrind.icd"
export OCL_ICD_VENDORS=$scratch OCLGRIND_LOG=$scratch/log OCLGRIND_DATA_RACES=1 OCLGRIND_UNINITIALIZED=1 OCLGRIND_BUILD_OPTIONS=-cl-opt-disable
"$1"
if [[ -s $scratch/log ]]; then
    echo 'FAILED: Oclgrind found:'
    head -30 "$scratch/log"
    exit 1
fi
