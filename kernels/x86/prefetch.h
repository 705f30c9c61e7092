/* Weights are asked for ahead of their use, into L1 or into L2, as the caller says (ulb_gemm.prefetch_l2). On
 * Golden Cove L1 was never the slower; on Zen 4 it is L2 for most (int8, 4096x4096, samples in turn: 0.86 of
 * the yardstick against 0.99) and L1 for a few. Presumably lines that wait for memory hold the miss buffers
 * of the L1 they are bound for.
 *
 * Rows that ask into L1 near and into L2 far ahead ask, told L2, no farther than ULB_INTO_L2: on Zen 4 with
 * memory at 57 GB/s, 4096x4096, int4 then reaches 0.96 of the yardstick, with its far distance 0.76, int2
 * 0.95 and 0.77, Q4_K 0.85 and 0.74; at 34 GB/s Q6_K 1.0 and 0.9. From 512 to 1024 it does not matter, nor
 * whether every line or every other is asked for. Most rows ask both, beside the load of each line: a reader
 * of four streams on Golden Cove, L1 alone 34.8 GB/s, L2 alone 35.9, both 39.7. What a row asks of L1 alone
 * (int8, whose gamma allows no more) it asks of L2, told so, twice as far.
 *
 * Prefetchers of Zen follow a stream by the instruction that reads it, or asks for it. So in the piece of
 * code that is told L2 every slice has instructions of its own, where the other one may be a loop over
 * slices.
 *
 * In the tightest loops which way it is is a constant of each of two pieces of code; elsewhere it is a branch
 * that is always predicted, inside the statement: compilers see one block of code, whose accumulators stay in
 * registers. */
#ifndef ULB_KERNELS_X86_PREFETCH_H
#define ULB_KERNELS_X86_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
#ifdef ULB_DP_VEX
    ULB_INTO_L2 = 1536, /* 1 to 3 % more on Zen 5; Zen 4, slower from 2048 on, lacks this encoding */
#else
    ULB_INTO_L2 = 1024,
#endif
    ULB_FAR = 4096 /* bytes ahead into L2, beside near into L1, of rows without a distance of their own */
};

/* How a row asks: bytes ahead into L1, a constant, and what the caller says. */
struct ulb_ahead {
    size_t near;
    bool into_l2;
};

/* Into L1 near and into L2 ULB_FAR bytes ahead, or into L2 alone; that is a piece of code of its own, behind
 * the function. */
#define ULB_ASM_ASK                                                                                          \
    "testl %k[l2], %k[l2]\n\tjne 2f\n\tprefetcht0 %c[near](%[at])\n\tprefetcht1 %c[far](%[at])\n1:\n\t"      \
    ".subsection 1\n2:\n\tprefetcht1 %c[alone](%[at])\n\tjmp 1b\n\t.previous"
/* Where it is a constant which of the two. */
#define ULB_ASM_ASK_KNOWN "prefetcht%c[level] %c[ahead](%[at])"
#define ULB_ASK_KNOWN_OPERANDS(w, line, near_, into_l2)                                                      \
    [at] "r"(w), [level] "i"((int)(into_l2)), [ahead] "i"((line) + ((into_l2) ? 2 : 1) * (near_))

/* Asks for what lies ahead.near bytes behind w + line from an address that is a register and a constant: GCC
 * 12 keeps those that loads have too, ahead in the stream, in registers of their own. Distances that a
 * sanitizer's build does not know as constants are added up. */
static inline __attribute__((always_inline)) void ulb_ask_from(const void *w, size_t line,
                                                               struct ulb_ahead ahead)
{
    const char *at = (const char *)w + line;
    if (__builtin_constant_p(line + ahead.near) && __builtin_constant_p(ahead.into_l2))
        __asm__ volatile(ULB_ASM_ASK_KNOWN ::ULB_ASK_KNOWN_OPERANDS(w, line, ahead.near, ahead.into_l2));
    else if (ahead.into_l2)
        __builtin_prefetch(at + 2 * ahead.near, 0, 2);
    else
        __builtin_prefetch(at + ahead.near, 0, 3);
}

/* Bytes ahead of the prefetch of a row that is told L2; a function's value is no constant in a sanitizer's
 * build. */
#define ULB_L2_AHEAD(near, far) ((far) ? ULB_INTO_L2 : 2 * (near))

/* Asks L2 for what lies ahead bytes behind w, a constant where there is a branch for it. */
static inline __attribute__((always_inline)) void ulb_ask_l2(const void *w, size_t ahead)
{
    if (__builtin_constant_p(ahead))
        __asm__ volatile("prefetcht1 %c[ahead](%[at])" ::[at] "r"(w), [ahead] "i"(ahead));
    else
        __builtin_prefetch((const char *)w + ahead, 0, 2);
}

/* The same, and with a second distance, of lines that L2 is asked for when the row is told L1, in rows of two
 * pieces of code; 0: none, and the compiler chooses the address. Two distances from addresses of its own are
 * what GCC 12 adds up apart: 16 additions beside the 28 operations of int2 at 512 bits. */
static inline __attribute__((always_inline)) void ulb_ask_both(const void *w, size_t line,
                                                               struct ulb_ahead ahead, size_t far)
{
    const char *at = (const char *)w + line;
    if (far && !ahead.into_l2)
        ulb_ask_from(w, line, ahead);
    if (far)
        ulb_ask_l2(w, line + (ahead.into_l2 ? ULB_INTO_L2 : far));
    else if (ahead.into_l2)
        __builtin_prefetch(at + 2 * ahead.near, 0, 2);
    else
        __builtin_prefetch(at + ahead.near, 0, 3);
}

/* The same in rows of one piece of code. */
static inline __attribute__((always_inline)) void ulb_ask(const void *w, size_t line, struct ulb_ahead ahead)
{
    if (__builtin_constant_p(ahead.into_l2) || !__builtin_constant_p(line + ahead.near))
        ulb_ask_both(w, line, ahead, ULB_FAR);
    else
        __asm__ volatile(
            ULB_ASM_ASK ::[at] "r"(w), [l2] "r"((int)ahead.into_l2), [near] "i"(line + ahead.near),
            [far] "i"(line + ULB_FAR), [alone] "i"(line + ULB_INTO_L2)
            : "cc");
}

/* The same behind what sum has been added to: see ulb_ask_ahead() (kernels/x86/streams.h). sum: any vector,
 * in a register. */
#define ULB_ASK_BEHIND(sum, w, line, ahead)                                                                  \
    do {                                                                                                     \
        __asm__ volatile("" : "+v"(sum));                                                                    \
        ulb_ask(w, line, ahead);                                                                             \
    } while (0)

#endif
