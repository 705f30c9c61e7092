#!/usr/bin/env bash
# The files in docs/ci: YAML whose steps are sound shell, and a pre-merge check that ends as compare does. Nothing is built
# or measured: a made-up ninja puts a program there that hands out records.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need git
need shellcheck
cd "$scratch"

python3 - "$ULB_SOURCE/docs/ci" <<'P' || fail "the YAML files"
import pathlib, sys, yaml
folder = pathlib.Path(sys.argv[1])
jobs = yaml.safe_load((folder / "github-actions.yml").read_text())["jobs"]
steps = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
assert len(steps) >= 3 and all(job["runs-on"] and job["timeout-minutes"] for job in jobs.values())
nightly = yaml.safe_load((folder / "nightly.yml").read_text())["jobs"]["all"]
assert nightly["steps"][-1]["run"].startswith("scripts/test --all"), nightly
steps += [step["run"] for step in nightly["steps"] if "run" in step]
library = yaml.safe_load((folder / "kernel-library.yml").read_text())["jobs"]["compare"]
steps += [step["run"] for step in library["steps"] if "run" in step]
jobs = yaml.safe_load((folder / "gitlab-ci.yml").read_text())
steps += ["\n".join(jobs[name]["script"]) for name in ("performance", "performance-history")]
steps.append("\n".join(jobs[".ulb-bench"]["before_script"]))
assert jobs["performance"]["allow_failure"] == {"exit_codes": [3, 4]} and jobs["performance"]["extends"] == ".ulb-bench"
for i, step in enumerate(steps):
    pathlib.Path(f"step{i}.sh").write_text("#!/bin/bash\n" + step + "\n")
P
shellcheck -S warning step*.sh || fail "a step is no sound shell"
for file in "$ULB_SOURCE"/docs/ci/*; do
    [[ $file != */nightly.yml ]] || continue
    grep -A1 'The noise floor, in five lines:' "$file" | grep -q '^# 1\. ' || fail "$file does not explain the noise floor"
    grep -q '^# 5\. ' "$file" || fail "$file explains it in fewer than five lines"
done
for script in $(grep -ohE '(docs/ci|scripts)/[a-z-]+(\.sh)?' step*.sh | sort -u); do
    [[ -x $ULB_SOURCE/$script ]] || fail "$script, which a step calls, is not there"
done

# A repository of two commits; the records of each are made up.
"$ULB_BUILD/tests/results/sample_record" "$scratch"
git init -q repo
mkdir -p repo/docs/ci bin
cp "$ULB_SOURCE/docs/ci/pre-merge.sh" repo/docs/ci/
commit() { # FACTOR EXTRA: what multiplies the times, and what the counts have more
    echo "$1 $2" >repo/factor
    git -C repo add -A
    git -C repo -c user.name=t -c user.email=t@example.org commit -q -m "$1 $2"
}
cat >bin/cmake <<<'#!/bin/sh
exit 0'
cat >bin/ninja <<'S'
#!/usr/bin/env bash
# ninja -C FOLDER/build ulb-bench
mkdir -p "$2"
cat >"$2/ulb-bench" <<E
#!/usr/bin/env bash
exec python3 $SCRATCH/fake.py "$2/../factor" "\$@"
E
chmod +x "$2/ulb-bench"
S
chmod +x bin/*
cat >fake.py <<'P'
import json, os, random, sys
factor, extra = map(float, open(sys.argv[1]).read().split())
arguments = sys.argv[2:]
if arguments[0] == "compare":
    os.execv(os.environ["BENCH"], ["ulb-bench"] + arguments)
if os.environ.get("UNABLE") == arguments[0]:
    sys.exit(3)
if arguments[0] == "gemv":
    assert arguments[-1] == "--turns" and arguments[1] == "--quick", arguments
    assert "int2,int1" not in arguments or "--models" in arguments, arguments
    kernels = ["int2a8-pshufb-avx2-8x1x16", "int2a8-mask-avx2-8x1x16", "int1a8-mask-avx2-8x1x16"]
    cells = [{"kernel": kernel, "m": 64, "k": 64} for kernel in kernels]
    print(json.dumps({"turns": 1, "cells": cells}), flush=True)
    for line in sys.stdin:
        for place in map(int, line.split()):
            slow = factor if "pshufb" in cells[place]["kernel"] else 1
            print(json.dumps({"cell": place, "us": [50 * slow * random.gauss(1, 0.002)]}), flush=True)
    sys.exit(0)
record = json.load(open(os.environ["SCRATCH"] + "/0.json"))
for count in record["counts"]:
    if count["instructions_per_step"] and count["format"] == "bf16":
        count["instructions_per_step"] += extra
record["cells"] = []
assert set(arguments) <= {"--count", "--out", "--formats", "int2,int1", arguments[-1]}, arguments
folder = arguments[arguments.index("--out") + 1]
os.mkdir(folder)
json.dump(record, open(folder + "/ulb.json", "w"))
P
export SCRATCH=$scratch BENCH=$bench PATH=$scratch/bin:$PATH OUT=$scratch/out

pre_merge() { # CODE PATTERN [OPTION...]: of the summary
    local code=0
    rm -rf "$OUT"
    repo/docs/ci/pre-merge.sh start "${@:3}" >summary 2>err || code=$?
    [[ $code == "$1" ]] || fail "pre-merge ends with $code instead of $1: $(cat summary err)"
    [[ -z $2 ]] || grep -qE -- "$2" summary || fail "the summary lacks /$2/: $(cat summary)"
}
commit 1 0
git -C repo branch start
commit 1.0 0.0
pre_merge 0 '^## Times'
pre_merge 0 '^## Times' --formats int2,int1 --models falcon3-1b --warm
grep -q '^## Instructions' summary || fail "no counts in the summary: $(cat summary)"
commit 1.2 0
pre_merge 1 'int2a8-pshufb-avx2-'
UNABLE=gemv pre_merge 3 ''
commit 1.0 1
pre_merge 1 'bf16f32-fma-avx2-'
UNABLE=--count pre_merge 0 'Not counted'
code=0
repo/docs/ci/pre-merge.sh nowhere >/dev/null 2>err || code=$?
[[ $code == 2 ]] || fail "an unknown base ends with $code: $(cat err)"
echo "ci: all as documented"
