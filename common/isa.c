#include "common/isa.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

static const struct {
    ulb_isa_set bit;
    const char *name;
} isa_bits[] = {
#define ULB_ISA_ROW(id, name, bit) {ULB_ISA_##id, name},
    ULB_ISA_BITS(ULB_ISA_ROW)
#undef ULB_ISA_ROW
};

enum { ISA_BIT_COUNT = sizeof isa_bits / sizeof *isa_bits };

#if defined(__x86_64__)
/* XCR0: bits 1-2 SSE and AVX state, 5-7 AVX-512 state, 17-18 AMX tiles (Intel SDM vol. 1, 13.2). */
static uint64_t enabled_state(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

/* Linux saves the state of tiles for those processes alone that ask (Documentation/arch/x86/xstate.rst); to
 * ask twice does no harm. Elsewhere nobody has to. */
static int may_use_tiles(void)
{
#if defined(__linux__)
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
#else
    return 1;
#endif
}

static int bit(uint32_t word, int number)
{
    return (int)(word >> number & 1u);
}

static ulb_isa_set when(int condition, ulb_isa_set set)
{
    return condition ? set : 0;
}

ulb_isa_set ulb_isa_detect(void)
{
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !bit(c, 27))
        return 0;
    uint64_t state = enabled_state();
    int avx = (state & 0x6) == 0x6;
    int avx512 = avx && (state & 0xE0) == 0xE0;
    int amx = (state & 0x60000) == 0x60000 && may_use_tiles();
    ulb_isa_set set = when(avx && bit(c, 12), ULB_ISA_FMA) | when(avx && bit(c, 29), ULB_ISA_F16C);
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return set;
    set |=
        when(avx && bit(b, 5), ULB_ISA_AVX2) | when(bit(b, 8), ULB_ISA_BMI2) | when(bit(c, 8), ULB_ISA_GFNI);
    set |= when(avx512 && bit(b, 16), ULB_ISA_AVX512F) | when(avx512 && bit(b, 30), ULB_ISA_AVX512BW) |
           when(avx512 && bit(b, 31), ULB_ISA_AVX512VL) | when(avx512 && bit(c, 11), ULB_ISA_AVX512VNNI) |
           when(avx512 && bit(c, 1), ULB_ISA_AVX512VBMI);
    set |= when(amx && bit(d, 24), ULB_ISA_AMXTILE) | when(amx && bit(d, 25), ULB_ISA_AMXINT8) |
           when(amx && bit(d, 22), ULB_ISA_AMXBF16);
    uint32_t last_subleaf = a;
    if (last_subleaf >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
        set |= when(avx && bit(a, 4), ULB_ISA_AVXVNNI) | when(avx512 && bit(a, 5), ULB_ISA_AVX512BF16) |
               when(avx && bit(d, 4), ULB_ISA_AVXVNNIINT8);
    return set;
}

/* Leaf 1 EAX: the extended family counts for family 15, the extended model for 6 and 15 (Intel SDM vol. 2,
 * CPUID; AMD APM vol. 3, appendix E). */
struct ulb_cpu_signature ulb_cpu_signature(void)
{
    struct ulb_cpu_signature cpu = {.vendor = ""};
    uint32_t a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d))
        return cpu;
    memcpy(cpu.vendor, &b, 4);
    memcpy(cpu.vendor + 4, &d, 4);
    memcpy(cpu.vendor + 8, &c, 4);
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return cpu;
    cpu.family = a >> 8 & 0xF;
    cpu.model = a >> 4 & 0xF;
    if (cpu.family == 6 || cpu.family == 15)
        cpu.model |= (a >> 16 & 0xF) << 4;
    if (cpu.family == 15)
        cpu.family += a >> 20 & 0xFF;
    return cpu;
}

struct ulb_cpu_signature ulb_cpu_signature_of(unsigned pu)
{
    (void)pu; /* all cores of a chip have one signature */
    return ulb_cpu_signature();
}
#elif defined(__aarch64__) && defined(__linux__)
ulb_isa_set ulb_isa_detect(void)
{
    static const struct {
        ulb_isa_set bit;
        unsigned long type, mask;
    } capabilities[] = {
        {ULB_ISA_NEON, AT_HWCAP, HWCAP_ASIMD},        {ULB_ISA_DOTPROD, AT_HWCAP, HWCAP_ASIMDDP},
        {ULB_ISA_I8MM, AT_HWCAP2, HWCAP2_I8MM},       {ULB_ISA_BF16, AT_HWCAP2, HWCAP2_BF16},
        {ULB_ISA_SVE, AT_HWCAP, HWCAP_SVE},           {ULB_ISA_SVE2, AT_HWCAP2, HWCAP2_SVE2},
        {ULB_ISA_SVEI8MM, AT_HWCAP2, HWCAP2_SVEI8MM}, {ULB_ISA_SVEBF16, AT_HWCAP2, HWCAP2_SVEBF16},
    };
    ulb_isa_set set = 0;
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
        if (getauxval(capabilities[i].type) & capabilities[i].mask)
            set |= capabilities[i].bit;
    }
    return set;
}

/* Linux answers for the register where it says so (Documentation/arm64/cpu-feature-registers.rst). */
struct ulb_cpu_signature ulb_cpu_signature(void)
{
    uint64_t midr = 0;
    if (getauxval(AT_HWCAP) & HWCAP_CPUID)
        __asm__("mrs %0, midr_el1" : "=r"(midr));
    return ulb_midr_signature(midr);
}

struct ulb_cpu_signature ulb_cpu_signature_of(unsigned pu)
{
    char path[96];
    unsigned long long midr = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/regs/identification/midr_el1", pu);
    FILE *file = fopen(path, "re");
    bool read = file && fscanf(file, "%llx", &midr) == 1;
    if (file)
        fclose(file);
    return read ? ulb_midr_signature(midr) : ulb_cpu_signature();
}
#else
ulb_isa_set ulb_isa_detect(void)
{
    return 0;
}

struct ulb_cpu_signature ulb_cpu_signature(void)
{
    return (struct ulb_cpu_signature){.vendor = ""};
}

struct ulb_cpu_signature ulb_cpu_signature_of(unsigned pu)
{
    (void)pu;
    return ulb_cpu_signature();
}
#endif

/* Implementer in bits 24-31, part number in 4-15 (Arm ARM, MIDR_EL1). */
struct ulb_cpu_signature ulb_midr_signature(uint64_t midr)
{
    static const struct {
        unsigned code;
        const char *name;
    } implementers[] = {{0x41, "Arm"},   {0x46, "Fujitsu"},   {0x4E, "NVIDIA"}, {0x51, "Qualcomm"},
                        {0x61, "Apple"}, {0x6D, "Microsoft"}, {0xC0, "Ampere"}};
    struct ulb_cpu_signature cpu = {.vendor = "", .model = midr >> 4 & 0xFFF};
    unsigned code = midr >> 24 & 0xFF;
    if (midr != 0)
        snprintf(cpu.vendor, sizeof cpu.vendor, "0x%02x", code);
    for (size_t i = 0; i < sizeof implementers / sizeof *implementers; i++) {
        if (implementers[i].code == code)
            snprintf(cpu.vendor, sizeof cpu.vendor, "%s", implementers[i].name);
    }
    return cpu;
}

char *ulb_isa_names(ulb_isa_set set, char *out, size_t out_bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < ISA_BIT_COUNT && used < out_bytes; i++) {
        if (set & isa_bits[i].bit)
            used += (size_t)snprintf(out + used, out_bytes - used, "%s%s", used ? "," : "", isa_bits[i].name);
    }
    return out;
}

static ulb_isa_set lookup(const char *word, size_t length)
{
    for (size_t i = 0; i < ISA_BIT_COUNT; i++) {
        if (strlen(isa_bits[i].name) == length && strncmp(isa_bits[i].name, word, length) == 0)
            return isa_bits[i].bit;
    }
    return 0;
}

enum ulb_status ulb_isa_parse(const char *list, ulb_isa_set *set, struct ulb_error *err)
{
    *set = 0;
    for (const char *word = list; *word;) {
        size_t length = strcspn(word, ",");
        ulb_isa_set found = lookup(word, length);
        if (!found) {
            char known[256];
            return ulb_fail(err, ULB_BAD_INPUT, "unknown instruction-set bit '%.*s'; known: %s", (int)length,
                            word, ulb_isa_names(~(ulb_isa_set)0, known, sizeof known));
        }
        if (*set & found)
            return ulb_fail(err, ULB_BAD_INPUT, "instruction-set bit '%.*s' is named twice", (int)length,
                            word);
        *set |= found;
        word += length + (word[length] == ',');
    }
    return ULB_OK;
}
