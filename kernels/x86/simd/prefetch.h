/* Software prefetches of weights: the kernel's own setting, or the setting that the caller tuned (struct
 * ulb_prefetch).
 *
 * The own setting of most kernels is two prefetches a line: into L1 and, at a larger distance, into L2. A
 * tuned setting prefetches into one cache only, and its distance is a register. Which cache is best depends
 * on the CPU (docs/measurements/kernels.md, harness/compute/prefetch_tuning.h). Presumably lines that wait
 * for memory hold the miss buffers of the L1 that they are bound for.
 *
 * The prefetchers of Zen follow a stream by the instruction that reads or prefetches it. Code with a tuned
 * setting therefore has instructions for each slice, even if the own setting loops over slices.
 *
 * The tightest loops have three code variants, in each of which the target is a constant. Elsewhere the
 * target is a branch, which is always predicted, inside the statement. Compilers then see one block of code,
 * whose accumulators stay in registers. */
#ifndef ULB_KERNELS_X86_SIMD_PREFETCH_H
#define ULB_KERNELS_X86_SIMD_PREFETCH_H

#include "kernels/kernel.h"

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
    ULB_INTO_L1 = 1,       /* of a packed setting */
    ULB_L2_DISTANCE = 4096 /* bytes, of own settings without an L2 distance of the kernel's */
};

/* A call's prefetch setting as kernels use it. tuned and l1 are constants in kernels with three code
 * variants. distance is never a constant. */
struct ulb_prefetch_setting {
    bool tuned;      /* into one cache; false: the kernel's own setting */
    bool l1;         /* if tuned: into L1; false: into L2 */
    size_t distance; /* the packed setting: into L1 one byte more, which is the same line */
};

#define ULB_OWN_PREFETCH ((struct ulb_prefetch_setting){false, false, 0})

/* A call's setting in one register: the distance, with ULB_INTO_L1 where that is the target; 0: the kernel's
 * own. Compilers do not see what it is made of, or they would lay out loops by it. */
static inline __attribute__((always_inline)) size_t ulb_packed_prefetch(struct ulb_prefetch prefetch)
{
    size_t packed = (size_t)prefetch.distance | (prefetch.target == ULB_PREFETCH_L1 ? ULB_INTO_L1 : 0);
    __asm__("" : "+r"(packed));
    return packed;
}

static inline __attribute__((always_inline)) struct ulb_prefetch_setting ulb_unpacked_prefetch(size_t packed)
{
    return (struct ulb_prefetch_setting){packed > 0, packed & ULB_INTO_L1, packed};
}

/* For kernels with one code variant. */
static inline __attribute__((always_inline)) struct ulb_prefetch_setting
ulb_prefetch_setting(struct ulb_prefetch prefetch)
{
    return ulb_unpacked_prefetch(ulb_packed_prefetch(prefetch));
}

/* For code of several tokens, whose products hide a branch: the packed setting decides at run time. */
#define ULB_RUNTIME_PREFETCH(call) ((struct ulb_prefetch_setting){false, true, ulb_packed_prefetch(call)})
static inline __attribute__((always_inline)) bool
ulb_is_runtime_prefetch(struct ulb_prefetch_setting prefetch)
{
    return prefetch.l1 && !prefetch.tuned;
}

/* Three code variants of a statement that uses `prefetch`: the own setting, into L1, into L2. */
#define ULB_SPECIALISE_PREFETCH(call, ...)                                                                   \
    do {                                                                                                     \
        const size_t ulb_packed = ulb_packed_prefetch(call);                                                 \
        if (ulb_packed == 0) {                                                                               \
            const struct ulb_prefetch_setting prefetch = ULB_OWN_PREFETCH;                                   \
            __VA_ARGS__;                                                                                     \
        } else if (ulb_packed & ULB_INTO_L1) {                                                               \
            const struct ulb_prefetch_setting prefetch = {true, true, ulb_packed};                           \
            __VA_ARGS__;                                                                                     \
        } else {                                                                                             \
            const struct ulb_prefetch_setting prefetch = {true, false, ulb_packed};                          \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
    } while (0)

/* How a kernel prefetches a line: its own distance into L1, a constant, and the call's setting. */
struct ulb_line_prefetch {
    size_t l1_distance;
    struct ulb_prefetch_setting prefetch;
};

/* For assembler statements that also prefetch. w and line, a constant, form the address of the line. OWN: at
 * a constant distance into L1. TUNED: t0 or t1, at the tuned distance. */
#define ULB_ASM_PREFETCH_OWN                    "prefetcht0 %c[distance](%[at])"
#define ULB_ASM_PREFETCH_TUNED(t)               "prefetch" #t " %c[line](%[at],%[distance])"
#define ULB_PREFETCH_OWN_OPERANDS(w, distance_) [at] "r"(w), [distance] "i"(distance_)
#define ULB_PREFETCH_TUNED_OPERANDS(w, line_, prefetch)                                                      \
    [at] "r"(w), [line] "i"(line_), [distance] "r"((prefetch).distance)

/* STATEMENT(instruction, operands) that prefetches for w + line by a setting which is a constant but for its
 * distance. */
#define ULB_PREFETCH_BY(STATEMENT, w, line, l1_distance, prefetch)                                           \
    do {                                                                                                     \
        if ((prefetch).tuned && (prefetch).l1)                                                               \
            STATEMENT(ULB_ASM_PREFETCH_TUNED(t0), ULB_PREFETCH_TUNED_OPERANDS(w, line, prefetch));           \
        else if ((prefetch).tuned)                                                                           \
            STATEMENT(ULB_ASM_PREFETCH_TUNED(t1), ULB_PREFETCH_TUNED_OPERANDS(w, line, prefetch));           \
        else                                                                                                 \
            STATEMENT(ULB_ASM_PREFETCH_OWN, ULB_PREFETCH_OWN_OPERANDS(w, (line) + (l1_distance)));           \
    } while (0)

/* The instructions of own, or of a packed setting in a register, whose code stands after the function. */
/* clang-format off */
#define ULB_ASM_PREFETCH_TUNED_OR(own) \
    "test %[distance], %[distance]\n\tjne 2f\n\t" own "\n1:\n\t.subsection 1\n" \
    "2:\n\ttest $1, %b[distance]\n\tjne 3f\n\t" ULB_ASM_PREFETCH_TUNED(t1) "\n\tjmp 1b\n" \
    "3:\n\t" ULB_ASM_PREFETCH_TUNED(t0) "\n\tjmp 1b\n\t.previous"
/* clang-format on */
#define ULB_ASM_PREFETCH_L1    "prefetcht0 %c[l1](%[at])"
#define ULB_ASM_PREFETCH_L1_L2 ULB_ASM_PREFETCH_L1 "\n\tprefetcht1 %c[l2](%[at])"

/* Prefetches w + line + distance into L2. The compiler chooses the address: one that lies in the stream,
 * where loops are unrolled far. */
static inline __attribute__((always_inline)) void ulb_prefetch_l2_from(const void *w, size_t line,
                                                                       size_t distance)
{
    __builtin_prefetch((const char *)w + line + distance, 0, 2);
}

/* Prefetches by a tuned setting. */
static inline __attribute__((always_inline)) void ulb_prefetch_tuned(const void *w, size_t line,
                                                                     struct ulb_prefetch_setting prefetch)
{
    if (prefetch.l1)
        __builtin_prefetch((const char *)w + line + prefetch.distance, 0, 3);
    else
        ulb_prefetch_l2_from(w, line, prefetch.distance);
}

/* Prefetches w + distance, a constant, into L2. Here and below an address is a register and a constant: GCC
 * 12 would keep shared addresses in further registers. Distances that a sanitizer build does not know as
 * constants are added up. */
static inline __attribute__((always_inline)) void ulb_prefetch_l2(const void *w, size_t distance)
{
    if (__builtin_constant_p(distance))
        __asm__ volatile("prefetcht1 %c[distance](%[at])" ::[at] "r"(w), [distance] "i"(distance));
    else
        __builtin_prefetch((const char *)w + distance, 0, 2);
}

/* Prefetches for w + line, by the own setting into L1 only. */
static inline __attribute__((always_inline)) void ulb_prefetch_line_l1(const void *w, size_t line,
                                                                       struct ulb_line_prefetch hint)
{
    if (hint.prefetch.tuned)
        ulb_prefetch_tuned(w, line, hint.prefetch);
    else if (__builtin_constant_p(line + hint.l1_distance))
        __asm__ volatile(ULB_ASM_PREFETCH_OWN ::ULB_PREFETCH_OWN_OPERANDS(w, line + hint.l1_distance));
    else
        __builtin_prefetch((const char *)w + line + hint.l1_distance, 0, 3);
}

/* Prefetches for w + line in kernels with three code variants; the own setting prefetches into L1 and L2.
 * l2_distance 0: into L1 only, and the compiler chooses the address. GCC 12 would compute two addresses with
 * two additions for each prefetch. */
static inline __attribute__((always_inline)) void
ulb_prefetch_line_l1_l2(const void *w, size_t line, struct ulb_line_prefetch hint, size_t l2_distance)
{
    if (hint.prefetch.tuned || l2_distance)
        ulb_prefetch_line_l1(w, line, hint);
    else
        __builtin_prefetch((const char *)w + line + hint.l1_distance, 0, 3);
    if (l2_distance && !hint.prefetch.tuned)
        ulb_prefetch_l2(w, line + l2_distance);
}

/* Prefetches for w + line in kernels with one code variant. */
static inline __attribute__((always_inline)) void ulb_prefetch_line(const void *w, size_t line,
                                                                    struct ulb_line_prefetch hint)
{
    if (__builtin_constant_p(hint.prefetch.tuned) || !__builtin_constant_p(line + hint.l1_distance))
        ulb_prefetch_line_l1_l2(w, line, hint, ULB_L2_DISTANCE);
    else
        __asm__ volatile(ULB_ASM_PREFETCH_TUNED_OR(ULB_ASM_PREFETCH_L1_L2)::[l1] "i"(line + hint.l1_distance),
                         [l2] "i"(line + ULB_L2_DISTANCE), ULB_PREFETCH_TUNED_OPERANDS(w, line, hint.prefetch)
                         : "cc");
}

/* Prefetches by a packed setting; the own one is no prefetch. */
static inline __attribute__((always_inline)) void
ulb_prefetch_line_if_tuned(const void *w, size_t line, struct ulb_prefetch_setting prefetch)
{
    if (__builtin_constant_p(line))
        __asm__ volatile(ULB_ASM_PREFETCH_TUNED_OR("")::ULB_PREFETCH_TUNED_OPERANDS(w, line, prefetch)
                         : "cc");
    else if (prefetch.distance)
        ulb_prefetch_tuned(w, line, ulb_unpacked_prefetch(prefetch.distance));
}

/* ulb_prefetch_line_l1_l2() of code that serves one token and several. */
static inline __attribute__((always_inline)) void
ulb_prefetch_line_runtime(const void *w, size_t line, struct ulb_line_prefetch hint, size_t l2_distance)
{
    if (!ulb_is_runtime_prefetch(hint.prefetch))
        ulb_prefetch_line_l1_l2(w, line, hint, l2_distance);
    else if (!__builtin_constant_p(line + hint.l1_distance))
        ulb_prefetch_line_l1_l2(
            w, line,
            (struct ulb_line_prefetch){hint.l1_distance, ulb_unpacked_prefetch(hint.prefetch.distance)},
            l2_distance);
    else if (l2_distance)
        __asm__ volatile(ULB_ASM_PREFETCH_TUNED_OR(ULB_ASM_PREFETCH_L1_L2)::[l1] "i"(line + hint.l1_distance),
                         [l2] "i"(line + l2_distance), ULB_PREFETCH_TUNED_OPERANDS(w, line, hint.prefetch)
                         : "cc");
    else
        __asm__ volatile(ULB_ASM_PREFETCH_TUNED_OR(ULB_ASM_PREFETCH_L1)::[l1] "i"(line + hint.l1_distance),
                         ULB_PREFETCH_TUNED_OPERANDS(w, line, hint.prefetch)
                         : "cc");
}

/* ulb_prefetch_line() that stays after what sum has been added to: see ulb_prefetch_line_at()
 * (kernels/x86/gemv/k_slices.h). sum: any vector, in a register. */
#define ULB_PREFETCH_LINE_AFTER(sum, w, line, hint)                                                          \
    do {                                                                                                     \
        __asm__ volatile("" : "+v"(sum));                                                                    \
        ulb_prefetch_line(w, line, hint);                                                                    \
    } while (0)

#endif
