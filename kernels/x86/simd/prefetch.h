/* Weights are prefetched ahead of their use, as the kernel does by itself or as the caller says
 * (ulb_gemm.prefetch).
 *
 * By themselves most rows ask L1 near, and L2 far ahead beside it, with the load of each line: a reader of
 * four streams on Golden Cove, L1 alone 34.8 GB/s, L2 alone 35.9, both 39.7. By a
 * caller's setting they prefetch into one cache alone, at its distance, which is a register. On Zen 4 that is
 * L2 for most (int8, 4096x4096, samples in turn: 0.86 of the yardstick near into L1, 0.99): presumably lines
 * that wait for memory hold the miss buffers of the L1 they are bound for. With memory at 57 GB/s, 4096x4096,
 * 1024 bytes ahead and 2048 to 4096: int4 0.96 of the yardstick and 0.76, int2 0.95 and 0.77, Q4_K 0.85 and
 * 0.74 (from 512 to 1024 it does not matter, nor whether every line or every other is asked for). On Zen 5 it
 * is L1, 1024 or 2048 bytes ahead, at least with memory at 65 to 70 GB/s: harness/compute/prefetch_tuning.h.
 *
 * Prefetchers of Zen follow a stream by the instruction that reads it, or asks for it. So in the pieces of
 * code that obey a setting every slice has instructions of its own, where the other one may be a loop over
 * slices.
 *
 * In the tightest loops which way it is is a constant of each of three pieces of code; elsewhere it is a
 * branch that is always predicted, inside the statement: compilers see one block of code, whose accumulators
 * stay in registers. */
#ifndef ULB_KERNELS_X86_SIMD_PREFETCH_H
#define ULB_KERNELS_X86_SIMD_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A build whose checks keep Clang from unrolling loops: distances in them are no constants. */
#if defined(__SANITIZE_ADDRESS__)
#define ULB_ADDRESS_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ULB_ADDRESS_SANITIZED
#endif
#endif

enum {
    ULB_FAR = 4096 /* bytes ahead into L2, beside near into L1, of rows without a distance of their own */
};

/* What the caller says (ulb_gemm.prefetch). alone and l1 are constants in rows of three pieces of code;
 * ahead never. */
struct ulb_prefetch_setting {
    bool alone;   /* at its distance into one cache; else as the row says */
    bool l1;      /* alone, into L1; else into L2 */
    size_t ahead; /* prefetch itself: with ULB_INTO_L1 the next byte, most often of the same line */
};

#define ULB_OWN_PREFETCH ((struct ulb_prefetch_setting){false, false, 0})

/* For code of several tokens, whose products hide a branch: ahead decides at run time, 0 as the row says. */
#define ULB_RUNTIME_PREFETCH(prefetch) ((struct ulb_prefetch_setting){false, true, prefetch})
static inline __attribute__((always_inline)) bool
ulb_is_runtime_prefetch(struct ulb_prefetch_setting prefetch)
{
    return prefetch.l1 && !prefetch.alone;
}

/* For rows of one piece of code. */
static inline __attribute__((always_inline)) struct ulb_prefetch_setting ulb_prefetch_setting(size_t prefetch)
{
    return (struct ulb_prefetch_setting){prefetch > 0, prefetch & ULB_INTO_L1, prefetch};
}

/* Three pieces of code, a statement with the setting prefetch: the kernel's own, into L1, into L2. */
#define ULB_SPECIALISE_PREFETCH(setting, ...)                                                                \
    do {                                                                                                     \
        if ((setting) == 0) {                                                                                \
            const struct ulb_prefetch_setting prefetch = ULB_OWN_PREFETCH;                                   \
            __VA_ARGS__;                                                                                     \
        } else if ((setting)&ULB_INTO_L1) {                                                                  \
            const struct ulb_prefetch_setting prefetch = {true, true, setting};                              \
            __VA_ARGS__;                                                                                     \
        } else {                                                                                             \
            const struct ulb_prefetch_setting prefetch = {true, false, setting};                             \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
    } while (0)

/* How a row asks: bytes ahead into L1, a constant, and what the caller says. */
struct ulb_line_prefetch {
    size_t near;
    struct ulb_prefetch_setting prefetch;
};

/* For statements that ask beside what else they do; w and line, a constant, make the line's own address.
 * NEAR: as the row says; ALONE: t0 or t1. */
#define ULB_ASM_ASK_NEAR                 "prefetcht0 %c[ahead](%[at])"
#define ULB_ASM_ASK_ALONE(t)             "prefetch" #t " %c[line](%[at],%[ahead])"
#define ULB_ASK_NEAR_OPERANDS(w, ahead_) [at] "r"(w), [ahead] "i"(ahead_)
#define ULB_ASK_ALONE_OPERANDS(w, line_, prefetch)                                                           \
    [at] "r"(w), [line] "i"(line_), [ahead] "r"((prefetch).ahead)

/* STATEMENT(instruction, operands) that asks for what lies ahead of w + line: near, or by the setting, which
 * is a constant but for its distance. */
#define ULB_ASK_BY(STATEMENT, w, line, near, prefetch)                                                       \
    do {                                                                                                     \
        if ((prefetch).alone && (prefetch).l1)                                                               \
            STATEMENT(ULB_ASM_ASK_ALONE(t0), ULB_ASK_ALONE_OPERANDS(w, line, prefetch));                     \
        else if ((prefetch).alone)                                                                           \
            STATEMENT(ULB_ASM_ASK_ALONE(t1), ULB_ASK_ALONE_OPERANDS(w, line, prefetch));                     \
        else                                                                                                 \
            STATEMENT(ULB_ASM_ASK_NEAR, ULB_ASK_NEAR_OPERANDS(w, (line) + (near)));                          \
    } while (0)

/* The instructions of own, or by a setting in a register, which is code behind the function. OWN_NEAR: into
 * L1; OWN_BOTH: and into L2. */
#define ULB_ASM_ASK_OR(own)                                                                                  \
    "test %[ahead], %[ahead]\n\tjne 2f\n\t" own "\n1:\n\t.subsection 1\n2:\n\ttest $1, %b[ahead]\n\t"        \
    "jne 3f\n\t" ULB_ASM_ASK_ALONE(t1) "\n\tjmp 1b\n3:\n\t" ULB_ASM_ASK_ALONE(t0) "\n\tjmp 1b\n\t.previous"
#define ULB_ASM_OWN_NEAR "prefetcht0 %c[near](%[at])"
#define ULB_ASM_OWN_BOTH ULB_ASM_OWN_NEAR "\n\tprefetcht1 %c[far](%[at])"

/* Asks L2 for what lies ahead bytes behind w + line. The compiler chooses the address: one that is ahead in
 * the stream, where loops are laid out far. */
static inline __attribute__((always_inline)) void ulb_ask_l2_from(const void *w, size_t line, size_t ahead)
{
    __builtin_prefetch((const char *)w + line + ahead, 0, 2);
}

/* Prefetches by the setting, alone. */
static inline __attribute__((always_inline)) void ulb_ask_alone(const void *w, size_t line,
                                                                struct ulb_prefetch_setting prefetch)
{
    if (prefetch.l1)
        __builtin_prefetch((const char *)w + line + prefetch.ahead, 0, 3);
    else
        ulb_ask_l2_from(w, line, prefetch.ahead);
}

/* Asks L2 for what lies ahead bytes behind w, a constant. Here and below addresses are a register and a
 * constant: GCC 12 keeps those that loads have too, ahead in the stream, in registers of their own. Distances
 * that a sanitizer's build does not know as constants are added up. */
static inline __attribute__((always_inline)) void ulb_ask_l2(const void *w, size_t ahead)
{
    if (__builtin_constant_p(ahead))
        __asm__ volatile("prefetcht1 %c[ahead](%[at])" ::[at] "r"(w), [ahead] "i"(ahead));
    else
        __builtin_prefetch((const char *)w + ahead, 0, 2);
}

/* Asks for what lies ahead of w + line, into L1 near bytes or by the setting. */
static inline __attribute__((always_inline)) void ulb_ask_from(const void *w, size_t line,
                                                               struct ulb_line_prefetch ahead)
{
    if (ahead.prefetch.alone)
        ulb_ask_alone(w, line, ahead.prefetch);
    else if (__builtin_constant_p(line + ahead.near))
        __asm__ volatile(ULB_ASM_ASK_NEAR ::ULB_ASK_NEAR_OPERANDS(w, line + ahead.near));
    else
        __builtin_prefetch((const char *)w + line + ahead.near, 0, 3);
}

/* The same, and with a second distance, of lines that go into L2 by default, in kernels of three
 * pieces of code; 0: none, and the compiler chooses the address. Two distances from addresses of its own are
 * what GCC 12 adds up apart: 16 additions beside the 28 operations of int2 at 512 bits. */
static inline __attribute__((always_inline)) void ulb_ask_both(const void *w, size_t line,
                                                               struct ulb_line_prefetch ahead, size_t far)
{
    if (ahead.prefetch.alone || far)
        ulb_ask_from(w, line, ahead);
    else
        __builtin_prefetch((const char *)w + line + ahead.near, 0, 3);
    if (far && !ahead.prefetch.alone)
        ulb_ask_l2(w, line + far);
}

/* The same in rows of one piece of code. */
static inline __attribute__((always_inline)) void ulb_ask(const void *w, size_t line,
                                                          struct ulb_line_prefetch ahead)
{
    if (__builtin_constant_p(ahead.prefetch.alone) || !__builtin_constant_p(line + ahead.near))
        ulb_ask_both(w, line, ahead, ULB_FAR);
    else
        __asm__ volatile(
            ULB_ASM_ASK_OR(ULB_ASM_OWN_BOTH)::[near] "i"(line + ahead.near), [far] "i"(line + ULB_FAR),
            ULB_ASK_ALONE_OPERANDS(w, line, ahead.prefetch)
            : "cc");
}

/* By a setting known at run time, where the kernel itself does not prefetch. */
static inline __attribute__((always_inline)) void ulb_ask_late(const void *w, size_t line,
                                                               struct ulb_prefetch_setting prefetch)
{
    if (__builtin_constant_p(line))
        __asm__ volatile(ULB_ASM_ASK_OR("")::ULB_ASK_ALONE_OPERANDS(w, line, prefetch) : "cc");
    else if (prefetch.ahead)
        ulb_ask_alone(w, line,
                      (struct ulb_prefetch_setting){true, prefetch.ahead & ULB_INTO_L1, prefetch.ahead});
}

/* ulb_ask_both() of code that serves one token and several. */
static inline __attribute__((always_inline)) void
ulb_ask_for_tokens(const void *w, size_t line, struct ulb_line_prefetch ahead, size_t far)
{
    if (!ulb_is_runtime_prefetch(ahead.prefetch))
        ulb_ask_both(w, line, ahead, far);
    else if (!__builtin_constant_p(line + ahead.near))
        ulb_ask_both(w, line,
                     (struct ulb_line_prefetch){ahead.near, ulb_prefetch_setting(ahead.prefetch.ahead)}, far);
    else if (far)
        __asm__ volatile(
            ULB_ASM_ASK_OR(ULB_ASM_OWN_BOTH)::[near] "i"(line + ahead.near), [far] "i"(line + far),
            ULB_ASK_ALONE_OPERANDS(w, line, ahead.prefetch)
            : "cc");
    else
        __asm__ volatile(ULB_ASM_ASK_OR(ULB_ASM_OWN_NEAR)::[near] "i"(line + ahead.near),
                         ULB_ASK_ALONE_OPERANDS(w, line, ahead.prefetch)
                         : "cc");
}

/* The same behind what sum has been added to: see ulb_prefetch_line_at() (kernels/x86/gemv/k_slices.h). sum:
 * any vector, in a register. */
#define ULB_ASK_BEHIND(sum, w, line, ahead)                                                                  \
    do {                                                                                                     \
        __asm__ volatile("" : "+v"(sum));                                                                    \
        ulb_ask(w, line, ahead);                                                                             \
    } while (0)

#endif
