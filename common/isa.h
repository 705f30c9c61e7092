/* Instruction-set bits: what the CPU has and the operating system has switched on.
 *
 * "Has it" and "should use it" are two questions: detection answers the first, a mask given on the command
 * line the second. Kernels are chosen by these bits alone, never by the CPU's model (a guest may see a forged
 * one). */
#ifndef ULB_COMMON_ISA_H
#define ULB_COMMON_ISA_H

#include "common/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t ulb_isa_set;

/* name, bit number. Names are those of --isa-mask and of the topology's "isa" list. */
#define ULB_ISA_BITS(X)                                                                                      \
    X(AVX2, "avx2", 0)                                                                                       \
    X(FMA, "fma", 1)                                                                                         \
    X(F16C, "f16c", 2)                                                                                       \
    X(BMI2, "bmi2", 3)                                                                                       \
    X(GFNI, "gfni", 4)                                                                                       \
    X(AVXVNNI, "avxvnni", 5)                                                                                 \
    X(AVXVNNIINT8, "avxvnniint8", 6)                                                                         \
    X(AVX512F, "avx512f", 7)                                                                                 \
    X(AVX512BW, "avx512bw", 8)                                                                               \
    X(AVX512VL, "avx512vl", 9)                                                                               \
    X(AVX512VNNI, "avx512vnni", 10)                                                                          \
    X(AVX512VBMI, "avx512vbmi", 11)                                                                          \
    X(AVX512BF16, "avx512bf16", 12)                                                                          \
    X(AMXTILE, "amxtile", 13)                                                                                \
    X(AMXINT8, "amxint8", 14)                                                                                \
    X(AMXBF16, "amxbf16", 15)                                                                                \
    X(NEON, "neon", 16)                                                                                      \
    X(DOTPROD, "dotprod", 17)                                                                                \
    X(I8MM, "i8mm", 18)                                                                                      \
    X(BF16, "bf16", 19)                                                                                      \
    X(SVE, "sve", 20)                                                                                        \
    X(SVE2, "sve2", 21)                                                                                      \
    X(SVEI8MM, "svei8mm", 22)                                                                                \
    X(SVEBF16, "svebf16", 23)

enum {
#define ULB_ISA_ENUM(id, name, bit) ULB_ISA_##id = 1 << bit,
    ULB_ISA_BITS(ULB_ISA_ENUM)
#undef ULB_ISA_ENUM
};

/* Bits usable on the calling CPU: CPUID, and XGETBV for the register state that the OS must save; on AArch64
 * what Linux says that it supports (HWCAP, HWCAP2). */
ulb_isa_set ulb_isa_detect(void);

/* What CPUID calls the CPU, or MIDR_EL1 on AArch64: vendor "" and zeros where neither can be read. It chooses
 * no kernel; it only names the core whose port table a measured figure is set beside. */
struct ulb_cpu_signature {
    char vendor[16];        /* "GenuineIntel"; of an implementer's code "Arm", "Apple" ... or "0x53" */
    unsigned family, model; /* extended parts included; of MIDR_EL1 0 and the part number */
};

/* Of the core that the caller runs on. */
struct ulb_cpu_signature ulb_cpu_signature(void);

/* Of a PU, by what Linux keeps of its MIDR_EL1; of the caller's core where it keeps nothing (x86). */
struct ulb_cpu_signature ulb_cpu_signature_of(unsigned pu);

/* What a value of MIDR_EL1 says. */
struct ulb_cpu_signature ulb_midr_signature(uint64_t midr);

/* Writes the names of set, comma separated, into out (always terminated); returns out. */
char *ulb_isa_names(ulb_isa_set set, char *out, size_t out_bytes);

/* Parses a comma-separated list of names. ULB_BAD_INPUT names the unknown word and lists the known ones. */
enum ulb_status ulb_isa_parse(const char *list, ulb_isa_set *set, struct ulb_error *err);

#ifdef __cplusplus
}
#endif

#endif
