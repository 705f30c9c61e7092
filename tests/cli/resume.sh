#!/usr/bin/env bash
# Runs that are killed, interrupted or run out of disk, and gone on with: nothing that was measured is lost.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
python3 "$ULB_SOURCE/tests/cli/resume.py" "$bench" "$ULB_SOURCE"
