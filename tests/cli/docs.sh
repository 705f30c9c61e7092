#!/usr/bin/env bash
# Every ulb-bench command line in the README and the docs runs and exits 0, and the options they name exist.
# usage: docs.sh [--all]     without --all, commands that measure get options behind theirs that make them short
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
docs=("$ULB_SOURCE"/README.md "$ULB_SOURCE"/docs/*.md "$ULB_SOURCE"/docs/*/*.md)
cd "$scratch"
# The records that the docs name.
mkdir ulb-results
"$ULB_BUILD/tests/results/sample_record" ulb-results
cp ulb-results/0.json ulb-results/RUN.json
cp ulb-results/1.json ulb-results/A.json
cp ulb-results/4.json ulb-results/B.json
# What the docs compile.
ln -s "$ULB_SOURCE"/{common,kernels,tests} .
while read -r line; do
    # shellcheck disable=SC2086
    $line || fail "$line: exit $?"
done < <(sed -nE 's/^ +(cc -.*)$/\1/p' "${docs[@]}")
# What shortens a command. An option that the command has already stays as it is.
shorten() { # WORD...
    case " $* " in
    *' --explain '* | *' --count '* | *' --kernels '* | ' formats '*' --formats '*) ;;
    ' beta '*) echo --ring-mib 64 ;;
    ' gamma '*) echo --kernels int1a8-mask ;;
    ' formats '*) echo --formats int8,q4_0 ;;
    ' gemv '* | ' gemm '*) echo --ring-mib 64 --kernels '-(avx2|neon)-' ;;
    ' decode '*) echo --ring-mib 64 --layers 2 --kernels '-(avx2|neon)-' ;;
    esac
}
count=0
while read -r line; do
    more=
    # shellcheck disable=SC2086
    [[ ${1:-} == --all ]] || more=$(shorten $line)
    # shellcheck disable=SC2086
    "$bench" $line $more >out 2>err || fail "ulb-bench $line: exit $?: $(head -3 err)"
    [[ -s out ]] || fail "ulb-bench $line prints nothing"
    count=$((count + 1))
done < <(sed -nE 's/^ +ulb-bench ([^#]*[^ #]).*$/\1/p' "${docs[@]}" |
         sed -E 's/  +.*//' | sort -u)
((count >= 12)) || fail "only $count commands found in the docs"
for script in $(grep -ohE '^ +scripts/[a-z-]+' "$ULB_SOURCE/README.md" | sort -u); do
    [[ -x $ULB_SOURCE/$script ]] || fail "$script is not there"
done
echo "docs: $count commands ran"
