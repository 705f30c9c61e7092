#!/usr/bin/env bash
# Every C file is as .clang-format has it.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need clang-format-14
cd "$ULB_SOURCE"
mapfile -t files < <(find common shapes models kernels results plots harness tests -name '*.[ch]')
wrong=$(clang-format-14 --dry-run -Werror "${files[@]}" 2>&1 | sed -nE 's/^([^:]+):[0-9]+:.* error: .*/\1/p' | sort -u || true)
[[ ! $wrong ]] || fail "clang-format-14 -i has something to do in:"$'\n'"$wrong"
