#!/usr/bin/env bash
# The man page is well formed.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need mandoc
mandoc -T lint -W warning "$ULB_SOURCE/docs/ulb-bench.1"
