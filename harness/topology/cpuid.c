/* What the CPU itself says: the type of each core, read on it, and the hypervisor. */
#include "harness/topology/topology_private.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Leaf 7 EDX bit 15 marks a hybrid part; leaf 1A EAX[31:24] is the type (Intel SDM vol. 2, CPUID). */
enum ulb_core_type ulb_intel_core_type(uint32_t leaf7_edx, uint32_t leaf1a_eax)
{
    if (!(leaf7_edx >> 15 & 1))
        return ULB_TYPE_UNKNOWN;
    switch (leaf1a_eax >> 24) {
    case 0x40:
        return ULB_TYPE_PERFORMANCE;
    case 0x20:
        return ULB_TYPE_EFFICIENCY;
    }
    return ULB_TYPE_UNKNOWN;
}

/* Leaf 80000026, subleaf 0: EAX bit 30 marks heterogeneous cores, EBX[31:28] is the type (AMD APM vol. 3,
 * appendix E.4). */
enum ulb_core_type ulb_amd_core_type(uint32_t leaf26_eax, uint32_t leaf26_ebx)
{
    if (!(leaf26_eax >> 30 & 1))
        return ULB_TYPE_UNKNOWN;
    switch (leaf26_ebx >> 28) {
    case 0:
        return ULB_TYPE_PERFORMANCE;
    case 1:
        return ULB_TYPE_EFFICIENCY;
    case 2:
        return ULB_TYPE_LOW_POWER;
    }
    return ULB_TYPE_UNKNOWN;
}

/* Short name of the twelve-byte vendor string; an unknown vendor keeps its own, blanks and quotes dropped. */
const char *ulb_hypervisor_name(const char *vendor, char *out, size_t out_bytes)
{
    static const char known[][2][13] = {
        {"KVMKVMKVM", "kvm"},           {"VMwareVMware", "vmware"},   {"Microsoft Hv", "hyperv"},
        {"XenVMMXenVMM", "xen"},        {"TCGTCGTCGTCG", "qemu"},     {"bhyve bhyve ", "bhyve"},
        {"VBoxVBoxVBox", "virtualbox"}, {" lrpepyh vr", "parallels"}, {"prl hyperv  ", "parallels"},
        {"ACRNACRNACRN", "acrn"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strncmp(vendor, known[i][0], 12) == 0) {
            snprintf(out, out_bytes, "%s", known[i][1]);
            return out;
        }
    }
    size_t used = 0;
    for (size_t i = 0; i < 12 && vendor[i] && used + 1 < out_bytes; i++) {
        if (vendor[i] > ' ' && vendor[i] <= '~' && vendor[i] != '"')
            out[used++] = vendor[i];
    }
    out[used] = '\0';
    if (!used)
        snprintf(out, out_bytes, "unnamed");
    return out;
}

/* Kinds of core, the slowest first; 0: not known. Part numbers: Arm's technical reference manuals, MIDR_EL1;
 * Apple's: Linux, arch/arm64/include/asm/cputype.h. */
static unsigned midr_kind(const struct ulb_cpu_signature *cpu)
{
    static const struct {
        const char *vendor;
        unsigned kind, parts[16];
    } kinds[] = {
        /* Cortex-A53, A55, A510, A520 */
        {"Arm", 1, {0xD03, 0xD05, 0xD46, 0xD80}},
        /* Cortex-A72, A73, A75 to A78, A78C, A710, A715, A720, A725 */
        {"Arm", 2, {0xD08, 0xD09, 0xD0A, 0xD0B, 0xD0D, 0xD41, 0xD4B, 0xD47, 0xD4D, 0xD81, 0xD87}},
        /* Cortex-X1, X1C, X2, X3, X4, X925 */
        {"Arm", 3, {0xD44, 0xD4C, 0xD48, 0xD4E, 0xD82, 0xD85}},
        /* Icestorm, Blizzard; Firestorm, Avalanche */
        {"Apple", 1, {0x22, 0x24, 0x28, 0x32, 0x34, 0x38}},
        {"Apple", 3, {0x23, 0x25, 0x29, 0x33, 0x35, 0x39}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t p = 0; p < 16 && kinds[i].parts[p]; p++) {
            if (strcmp(kinds[i].vendor, cpu->vendor) == 0 && kinds[i].parts[p] == cpu->model)
                return kinds[i].kind;
        }
    }
    return 0;
}

void ulb_midr_core_types(const struct ulb_cpu_signature *cpus, size_t n, enum ulb_core_type *types)
{
    bool present[4] = {false};
    for (size_t i = 0; i < n; i++) {
        types[i] = ULB_TYPE_UNKNOWN;
        present[midr_kind(&cpus[i])] = true;
    }
    if (present[0] || present[1] + present[2] + present[3] < 2)
        return;
    for (size_t i = 0; i < n; i++) {
        unsigned faster = 0;
        for (unsigned kind = midr_kind(&cpus[i]) + 1; kind < 4; kind++)
            faster += present[kind];
        types[i] = (enum ulb_core_type)(ULB_TYPE_PERFORMANCE + faster);
    }
}

/* Both vendors' marks of a heterogeneous part are the same on all its cores, so one core tells whether to
 * ask. */
enum ulb_status ulb_pinned_core_types(hwloc_topology_t hw, hwloc_const_bitmap_t allowed,
                                      enum ulb_core_type (*read)(void), enum ulb_core_type *types,
                                      struct ulb_error *err)
{
    if (read() == ULB_TYPE_UNKNOWN)
        return ULB_OK;
    hwloc_bitmap_t before = hwloc_bitmap_alloc(), one = hwloc_bitmap_alloc();
    enum ulb_status status = ULB_OK;
    if (!before || !one || hwloc_get_cpubind(hw, before, HWLOC_CPUBIND_THREAD) < 0) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "the thread's CPU affinity could not be read: %s",
                          strerror(errno));
        goto end;
    }
    for (int pu = hwloc_bitmap_first(allowed); pu >= 0; pu = hwloc_bitmap_next(allowed, pu)) {
        if (hwloc_bitmap_only(one, (unsigned)pu) == 0 &&
            hwloc_set_cpubind(hw, one, HWLOC_CPUBIND_THREAD) == 0)
            types[pu] = read();
    }
    if (hwloc_set_cpubind(hw, before, HWLOC_CPUBIND_THREAD) < 0)
        status = ulb_fail(err, ULB_ENVIRONMENT, "the thread's CPU affinity could not be restored: %s",
                          strerror(errno));
end:
    hwloc_bitmap_free(before);
    hwloc_bitmap_free(one);
    return status;
}

#if defined(__x86_64__)
#include <cpuid.h>

static enum ulb_core_type type_of_this_cpu(void)
{
    uint32_t a, b, c, d, edx7;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &edx7) && __get_cpuid_count(0x1A, 0, &a, &b, &c, &d)) {
        enum ulb_core_type type = ulb_intel_core_type(edx7, a);
        if (type != ULB_TYPE_UNKNOWN)
            return type;
    }
    if (__get_cpuid_count(0x80000026, 0, &a, &b, &c, &d))
        return ulb_amd_core_type(a, b);
    return ULB_TYPE_UNKNOWN;
}

enum ulb_status ulb_cpuid_core_types(hwloc_topology_t hw, hwloc_const_bitmap_t allowed,
                                     enum ulb_core_type *types, struct ulb_error *err)
{
    return ulb_pinned_core_types(hw, allowed, type_of_this_cpu, types, err);
}

/* A hypervisor that also speaks Hyper-V's interface puts that first and its own 0x100 leaves further on. */
void ulb_hypervisor_detect(char *out, size_t out_bytes)
{
    uint32_t a, b, c, d;
    out[0] = '\0';
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
        return;
    for (uint32_t leaf = 0x40000000; leaf <= 0x40000100; leaf += 0x100) {
        char vendor[13] = "";
        __cpuid(leaf, a, b, c, d);
        memcpy(vendor, &b, 4);
        memcpy(vendor + 4, &c, 4);
        memcpy(vendor + 8, &d, 4);
        if (vendor[0] && (a >= leaf || leaf == 0x40000000) && a < leaf + 0x100) /* old KVM leaves EAX 0 */
            ulb_hypervisor_name(vendor, out, out_bytes);
    }
    if (!out[0])
        ulb_hypervisor_name("", out, out_bytes);
}
#else
/* Linux keeps MIDR_EL1 of every core: nothing has to be pinned. */
enum ulb_status ulb_cpuid_core_types(hwloc_topology_t hw, hwloc_const_bitmap_t allowed,
                                     enum ulb_core_type *types, struct ulb_error *err)
{
    (void)hw;
    size_t n = (size_t)hwloc_bitmap_weight(allowed), i = 0;
    struct ulb_cpu_signature *cpus = calloc(n, sizeof *cpus);
    enum ulb_core_type *found = calloc(n, sizeof *found);
    enum ulb_status status = ULB_OK;
    if (cpus && found) {
        for (int pu = hwloc_bitmap_first(allowed); pu >= 0; pu = hwloc_bitmap_next(allowed, pu))
            cpus[i++] = ulb_cpu_signature_of((unsigned)pu);
        ulb_midr_core_types(cpus, n, found);
        i = 0;
        for (int pu = hwloc_bitmap_first(allowed); pu >= 0; pu = hwloc_bitmap_next(allowed, pu))
            types[pu] = found[i++];
    } else {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the core types");
    }
    free(cpus);
    free(found);
    return status;
}

/* The only trace elsewhere is Xen's; other hypervisors look like bare metal. */
void ulb_hypervisor_detect(char *out, size_t out_bytes)
{
    char type[16] = "";
    FILE *file = fopen("/sys/hypervisor/type", "r");
    if (file && fgets(type, sizeof type, file))
        type[strcspn(type, "\n")] = '\0';
    if (file)
        fclose(file);
    snprintf(out, out_bytes, "%s", type);
}
#endif
