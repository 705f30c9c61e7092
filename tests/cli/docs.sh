#!/usr/bin/env bash
# Every ulb-bench command line in the README and the docs runs and exits 0, and the options they name exist.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
# The records that the docs name.
mkdir results
"$ULB_BUILD/tests/results/sample_record" results
cp results/0.json results/RUN.json
cp results/1.json results/A.json
cp results/4.json results/B.json
# What the docs compile.
ln -s "$ULB_SOURCE"/{common,kernels,tests} .
while read -r line; do
    # shellcheck disable=SC2086
    $line || fail "$line: exit $?"
done < <(sed -nE 's/^ +(cc -.*)$/\1/p' "$ULB_SOURCE"/docs/*.md)
count=0
while read -r line; do
    # shellcheck disable=SC2086
    "$bench" $line >out 2>err || fail "ulb-bench $line: exit $?: $(head -3 err)"
    [[ -s out ]] || fail "ulb-bench $line prints nothing"
    count=$((count + 1))
done < <(sed -nE 's/^ +ulb-bench ([^#]*[^ #]).*$/\1/p' "$ULB_SOURCE/README.md" "$ULB_SOURCE"/docs/*.md |
         sed -E 's/  +.*//' | sort -u)
((count >= 12)) || fail "only $count commands found in the docs"
for script in $(grep -ohE '^ +scripts/[a-z-]+' "$ULB_SOURCE/README.md" | sort -u); do
    [[ -x $ULB_SOURCE/$script ]] || fail "$script is not there"
done
echo "docs: $count commands ran"
