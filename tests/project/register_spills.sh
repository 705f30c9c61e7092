#!/usr/bin/env bash
# No row keeps more vectors on the stack inside its product loop, or has more prefetches in a row there, than register_spills.py
# allows it, from the two compilers whose rows are as fast as each other's; rows that do are caught.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need objdump
need python3
loops=$ULB_SOURCE/tests/project/register_spills.py
setting() { sed -n "s/^$1:[^=]*=//p" "$ULB_BUILD/CMakeCache.txt"; }
compiler=$(setting CMAKE_C_COMPILER)
skip() { echo "skipped: $*"; exit 77; }
[[ $(uname -m) == x86_64 ]] || skip "rows of x86 alone"
[[ $(setting CMAKE_BUILD_TYPE) == Release && -z $(setting ULB_SANITIZE) ]] || skip "not an optimised build"
macros=$("$compiler" -dM -E - </dev/null)
grep -qE '__clang_major__ 14$' <<<"$macros" || { grep -qE '__GNUC__ 12$' <<<"$macros" && ! grep -q __clang__ <<<"$macros"; } ||
    skip "neither GCC 12 nor Clang 14: $compiler"

python3 "$loops" "$ULB_BUILD" || fail "product loops with sums in memory or prefetches in a row"

planted() { # NAME STATEMENT: a row whose loop has the statement behind each product
    local objects=$scratch/$1/kernels/CMakeFiles/kernel_int4_planted_avx2.dir/formats/int4
    mkdir -p "$objects"
    "$compiler" -O3 -mavx2 -x c -c -o "$objects/planted.c.o" - <<EOF
#include <immintrin.h>
void run(__m256i *y, const __m256i *w, __m256i x, long n)
{
    __m256i sum = _mm256_setzero_si256();
    for (long i = 0; i < n; i++) {
        sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(w[i], x));
        $2
    }
    *y = sum;
}
EOF
}
planted kept ''
planted bunched '_mm_prefetch(w + i + 16, 3); _mm_prefetch(w + i + 18, 3); _mm_prefetch(w + i + 20, 3);
        _mm_prefetch(w + i + 22, 3); _mm_prefetch(w + i + 24, 3); _mm_prefetch(w + i + 26, 3);'
planted spilled '__asm__("" : "+m"(sum));'
python3 "$loops" "$scratch/kept" >/dev/null || fail "a sum in a register is taken for one in memory"
if found=$(python3 "$loops" "$scratch/spilled"); then fail "a sum in memory is not caught"; fi
[[ $found == *"kernel_int4_planted_avx2.dir run: "*" on the stack"* ]] || fail "a sum in memory is reported as: $found"
if found=$(python3 "$loops" "$scratch/bunched"); then fail "prefetches in a row are not caught"; fi
[[ $found == *"kernel_int4_planted_avx2.dir run: "*" in a row"* ]] || fail "prefetches in a row are reported as: $found"
