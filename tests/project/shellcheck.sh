#!/usr/bin/env bash
# The scripts are clean, and each that is run is executable.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need shellcheck
cd "$ULB_SOURCE"
mapfile -t scripts < <(grep -rlE '^#!/usr/bin/env bash' scripts .ci tests docs)
((${#scripts[@]} > 10)) || fail "only ${#scripts[@]} scripts found"
shellcheck -x -P . -S warning "${scripts[@]}" scripts/lib/*.sh tests/project/lib.sh docs/completions/*.bash
for script in "${scripts[@]}"; do
    [[ -x $script ]] || fail "$script is not executable"
done
