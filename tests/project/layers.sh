#!/usr/bin/env bash
# The tree obeys the layers, and each kind of violation is caught.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
check=$ULB_SOURCE/scripts/check-layers

"$check" "$ULB_SOURCE" || fail "the tree breaks its layers"

mkdir -p "$scratch"/{common,models,kernels/x86,results,plots,harness/cli}
lawful() { printf '#include "%s"\n' "$2" >"$scratch/$1"; }
lawful kernels/x86/a.c common/isa.h
lawful kernels/x86/b.c kernels/kernel.h
lawful plots/a.c results/record.h
lawful harness/a.c kernels/kernel.h
lawful harness/cli/a.c harness/clock.h
"$check" "$scratch" || fail "lawful includes are refused"

planted() { # FILE INCLUDE
    printf '/* a comment */\n  #  include "%s"\n' "$2" >"$scratch/$1"
    if found=$("$check" "$scratch"); then fail "$1 including $2 is not caught"; fi
    [[ $found == "$1:2: $2: "* && $found != *$'\n'* ]] || fail "$1 including $2 is reported as: $found"
    rm "$scratch/$1"
}
planted common/v.c models/models.h
planted models/v.h results/record.h
planted kernels/x86/v.c harness/clock.h
planted results/v.c kernels/kernel.h
planted plots/v.c harness/topology/topology.h
planted harness/v.c harness/cli/cli.h
planted kernels/x86/v.c kernel.h
