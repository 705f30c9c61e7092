#!/usr/bin/env bash
# Outside its kernels the program needs no more than SSE4.2: it runs on an emulated Nehalem.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[[ $(uname -m) == x86_64 ]] || { echo "skipped: x86-64 only"; exit 77; }
need qemu-x86_64
on_nehalem() { qemu-x86_64 -cpu Nehalem "$bench" "$@"; }
on_nehalem --version | grep -q '^ulb-bench ' || fail "--version"
on_nehalem list kernels >"$scratch/kernels" || fail "list kernels"
grep -q avx2 "$scratch/kernels" || fail "list kernels: $(cat "$scratch/kernels")"
on_nehalem topology --json >"$scratch/topology.json" || fail "topology"
python3 - "$scratch/topology.json" <<'EOF' || fail "topology --json: $(cat "$scratch/topology.json")"
import json, sys
topology = json.load(open(sys.argv[1]))
assert "avx2" not in topology["isa"], topology["isa"]
assert topology["classes"] and topology["allowed_pus"]
EOF
