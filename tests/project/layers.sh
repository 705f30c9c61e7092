#!/usr/bin/env bash
# The tree obeys the layers and has no cycle, each kind of violation is caught, and the layers have no cycle.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
check=$ULB_SOURCE/scripts/check-layers

"$check" "$ULB_SOURCE" || fail "the tree breaks its layers"

# One file in every folder that includes one of every other: what is reported is what the table does not list.
cd "$scratch"
python3 - "$check" "$ULB_SOURCE" <<'P' || fail "arrows between folders"
import fnmatch, os, pathlib, re, subprocess, sys
check, source = sys.argv[1:]
table = re.search(r"^layers='\n(.*?)^'", open(check).read(), re.M | re.S)[1]
may = {words[0]: words[1:] for words in map(str.split, table.splitlines())}
allows = {a: {b for b in may if b != a and any(fnmatch.fnmatch(b, p) for p in may[a])} for a in may}
for a in may:
    os.makedirs(a, exist_ok=True)
    text = "/* a comment */\n" + "".join(f'  #  include "{b}/header.h"\n' for b in may if b != a)
    pathlib.Path(a, "planted.c").write_text(text)
found = subprocess.run([check, "."], capture_output=True, text=True)
reported = {(m[1], m[2]) for m in re.finditer(r"^(\S+)/planted\.c:\d+: (\S+)/header\.h: ", found.stdout, re.M)}
wanted = {(a, b) for a in may for b in may if a != b and b not in allows[a]}
assert found.returncode == 1 and reported == wanted, sorted(reported ^ wanted)
known = [("common", "models"), ("models", "results/record"), ("kernels/x86/gemv", "kernels/x86/gemm"),
         ("kernels/x86/codes", "kernels/x86/gemv"), ("kernels", "harness/timing"), ("results/record", "kernels"),
         ("results/record", "results/compare"), ("plots/figures", "harness/topology"), ("harness/threads", "harness/session"),
         ("harness/grid", "harness/decode"), ("harness", "harness/cli"), ("harness/cli", "harness/cli/commands")]
assert set(known) <= wanted, set(known) - wanted
ordered = set()
while left := set(may) - ordered:
    free = {a for a in left if allows[a] <= ordered}
    assert free, f"a cycle among {sorted(left)}"
    ordered |= free
folders = {str(path.parent.relative_to(source)) for top in ("common", "shapes", "models", "kernels", "results", "plots", "harness")
           for path in pathlib.Path(source, top).rglob("*.[ch]")}
nowhere = {f for f in folders if f not in may and not f.startswith("kernels/formats/")}
assert not nowhere, f"folders without a line: {nowhere}"
P

rm -r "$scratch"/{common,kernels}/
mkdir -p "$scratch/kernels/x86"
printf '#include "kernel.h"\n' >"$scratch/kernels/x86/v.c"
found=$("$check" "$scratch") && fail "an include that is not written from the root is not caught"
grep -q '^kernels/x86/v.c:1: kernel.h: is not written from the root' <<<"$found" || fail "it is reported as: $found"

# X.c and X.h are one file; of the headers of two files that know each other X_private.h alone is apart from that.
mkdir -p "$scratch/tree/models/platform"
models=$scratch/tree/models
printf '#include "models/b.h"\n' >"$models/a.c"
printf '#include "models/a_private.h"\n' >"$models/b.c"
printf '#include "models/a.h"\n' >"$models/a_private.h"
"$check" "$scratch/tree" || fail "a private header is taken for a cycle"
printf '#include "models/a.h"\n' >"$models/b.c"
found=$("$check" "$scratch/tree") && fail "two files that include each other are not caught"
[[ $(sort <<<"$found" | xargs) == "models/a models/b files that include each other:" ]] ||
    fail "the cycle is reported as: $found"

rm "$models/b.c"
printf '#include "models/a_private.h"\n' >"$models/platform/c.c"
found=$("$check" "$scratch/tree") && fail "a private header that another folder includes is not caught"
grep -q 'models/a_private.h: is for its own folder alone' <<<"$found" || fail "it is reported as: $found"
