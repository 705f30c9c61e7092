/* Port bounds: the table of cores, the arithmetic, and bounds worked out by hand for known sequences. */
#include "models/platform/cores.h"
#include "kernels/kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ulb_core_list cores;

static int load_cores(void **state)
{
    (void)state;
    struct ulb_error err;
    if (ulb_core_list_load(&cores, &err) == ULB_OK)
        return 0;
    print_error("%s\n", err.message);
    return -1;
}

static int free_cores(void **state)
{
    (void)state;
    ulb_core_list_free(&cores);
    return 0;
}

static const struct ulb_core *core_named(const char *name)
{
    const struct ulb_core *core = ulb_core_find(&cores, name);
    if (!core)
        fail_msg("no core '%s'", name);
    return core;
}

/* By the words of its name, without the tile, which is a matter of tuning. */
static const struct ulb_kernel *kernel_named(const char *wanted)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        char name[ULB_KERNEL_NAME_MAX];
        ulb_kernel_name(ulb_kernels[i], name);
        *strrchr(name, '-') = '\0';
        if (strcmp(name, wanted) == 0)
            return ulb_kernels[i];
    }
    fail_msg("no kernel '%s'", wanted);
    return NULL;
}

/* --- the linear program --- */

static void expect(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-12))
        fail_msg("%.17g, wanted %.17g", value, wanted);
}

static void test_pipe_cycles(void **state)
{
    (void)state;
    const struct ulb_pipe_work spread[] = {{7, 6}};
    expect(ulb_pipe_cycles(spread, 1), 2);
    /* Three cycles on p0 alone, three on p0 or p1: 3 on each. */
    const struct ulb_pipe_work shared[] = {{1, 3}, {3, 3}};
    expect(ulb_pipe_cycles(shared, 2), 3);
    /* p0|p1 and p1|p2 overlap: the bottleneck is their union with the middle's own work. */
    const struct ulb_pipe_work overlap[] = {{3, 2}, {6, 2}, {2, 2}};
    expect(ulb_pipe_cycles(overlap, 3), 2);
    const struct ulb_pipe_work apart[] = {{1, 1}, {6, 5}};
    expect(ulb_pipe_cycles(apart, 2), 2.5);
    assert_true(ulb_pipe_cycles(NULL, 0) == 0);
}

/* Against the definition, over every set of pipes instead of unions of those that occur. */
static void test_pipe_cycles_by_definition(void **state)
{
    (void)state;
    enum { PIPES = 6, ITEMS = 7 };
    srand(1);
    for (int trial = 0; trial < 300; trial++) {
        struct ulb_pipe_work work[ITEMS];
        double longest = 0;
        for (int i = 0; i < ITEMS; i++)
            work[i] = (struct ulb_pipe_work){(uint32_t)(1 + rand() % ((1 << PIPES) - 1)), rand() % 8};
        for (uint32_t set = 1; set < 1 << PIPES; set++) {
            double only_there = 0;
            for (int i = 0; i < ITEMS; i++)
                only_there += (work[i].pipes & ~set) == 0 ? work[i].cycles : 0;
            longest = fmax(longest, only_there / __builtin_popcount(set));
        }
        expect(ulb_pipe_cycles(work, ITEMS), longest);
    }
}

/* --- known sequences --- */

enum { INT2_PAPER_8, INT2_PAPER_4, INT2_MASK, INT1_PAPER, INT1_MASK, INT1_TABLE, INT8, INT4, SEQUENCES };

/* The sequences as they are counted by hand. The rows differ from them in this:
 * - the rows prefetch, which takes load ports and front-end slots: left out here, tested below;
 * - int2 with 8 accumulators is the paper's row with twice its chains;
 * - int8 is weight loads and dot products alone: the row also broadcasts activations, and its accumulators
 *   are few;
 * - the int1 table is counted with 11 operations for each 8 steps and 10 that join the partial sums of every
 *   8 look-ups, which are 64 steps; the row needs 12 for that. */
static struct ulb_mix sequence_mix(int sequence)
{
    static const char *const rows[SEQUENCES] = {
        [INT2_PAPER_8] = "int2a8-pshufb-avxvnni", [INT2_PAPER_4] = "int2a8-pshufb-avxvnni",
        [INT2_MASK] = "int2a8-mask-avxvnni",      [INT1_PAPER] = "int1a8-blend-avxvnni",
        [INT1_MASK] = "int1a8-mask-avxvnni",      [INT8] = "int8a8-dp-avxvnni",
        [INT4] = "int4a8-mask-avxvnni",
    };
    if (sequence == INT1_TABLE)
        return (struct ulb_mix){.loads = 0.125,
                                .broadcasts = 0.25,
                                .logic = 0.25 + 10.0 / 64,
                                .shifts = 0.125,
                                .shuffles = 0.5,
                                .adds = 0.5,
                                .vector_bits = 256};
    struct ulb_mix mix = kernel_named(rows[sequence])->mix;
    mix.prefetches = 0;
    if (sequence == INT2_PAPER_8)
        mix.chains *= 2;
    if (sequence == INT8)
        mix.broadcasts = mix.chains = 0;
    return mix;
}

/* The same on vectors twice as wide, with twice the chains. */
static struct ulb_mix widen(struct ulb_mix mix)
{
#define ULB_MIX_HALVE(op) mix.op /= 2;
    ULB_MIX_OPS(ULB_MIX_HALVE)
#undef ULB_MIX_HALVE
    mix.vector_bits = 512;
    return mix;
}

/* Without dot products: vpmaddubsw, vpmaddwd and an addition. */
static struct ulb_mix without_vnni(struct ulb_mix mix)
{
    mix.maddubs += mix.dot_products;
    mix.madds += mix.dot_products;
    mix.adds += mix.dot_products;
    mix.dot_products = mix.chains = 0;
    return mix;
}

/* Counted by hand, as printed; NULL: no such sequence, or no published number of micro-operations. */
static const struct {
    const char *core;
    unsigned bits;
    const char *cycles[SEQUENCES];
} known_bounds[] = {
    {"golden-cove", 256, {"0.917", "1.25", "0.583", "2.333", "0.625", "0.510", "0.500", "0.500"}},
    {"raptor-cove", 256, {"0.917", "1.25", "0.583", "2.333", "0.625", "0.510", "0.500", "0.500"}},
    {"redwood-cove", 256, {"0.917", "1.25", "0.583", "2.333", "0.625", "0.510", "0.500", "0.500"}},
    {"sapphire-rapids", 256, {"0.917", "1.25", "0.583", "2.333", "0.625", "0.510", "0.500", "0.500"}},
    {"sapphire-rapids", 512, {"0.688", NULL, "0.438", NULL, "0.469", "0.383", "0.250", "0.375"}},
    {"ice-lake", 256, {"0.917", "1.25", "0.583", "2.000", "0.625", "0.510", "0.500", "0.500"}},
    {"ice-lake", 512, {"0.688", NULL, "0.500", NULL, "0.500", "0.383", "0.500", "0.500"}},
    {"tiger-lake", 256, {"0.917", "1.25", "0.583", "2.000", "0.625", "0.510", "0.500", "0.500"}},
    {"tiger-lake", 512, {"0.688", NULL, "0.500", NULL, "0.500", "0.383", "0.500", "0.500"}},
    {"lion-cove", 256, {"0.688", "1.00", "0.500", "1.750", "0.500", "0.383", "0.500", "0.500"}},
    /* vpblendvb is microcode: what counts is its own throughput of 3.87 and 3.89, see test_microcode. */
    {"gracemont", 256, {"2.0", "2.0", "2.0", NULL, "2.0", "1.02", "2.0", "2.0"}},
    {"crestmont", 256, {"2.0", "2.0", "1.167", NULL, "1.25", "1.02", "1.0", "1.0"}},
    {"skymont", 256, {"1.375", "1.375", "0.875", "4.0", "0.938", "0.766", "0.667", "0.750"}},
    {"zen3", 256, {"1.188", "1.188", "1.0", "1.75", "1.0", "0.383", "1.0", "1.0"}},
    {"zen4", 256, {"0.750", "1.00", "0.500", "1.25", "0.500", "0.383", "0.500", "0.500"}},
    {"zen4", 512, {"0.750", NULL, "0.500", NULL, "0.500", "0.383", "0.500", "0.500"}},
    {"zen5-client", 256, {"0.688", "1.00", "0.500", "1.25", "0.500", "0.383", "0.500", "0.500"}},
    {"zen5-client", 512, {"0.688", NULL, "0.500", NULL, "0.500", "0.383", "0.500", "0.500"}},
    {"zen5", 256, {"0.688", "1.00", "0.500", "1.25", "0.500", "0.383", "0.500", "0.500"}},
    {"zen5", 512, {"0.344", "0.50", "0.250", NULL, "0.250", "0.191", "0.250", "0.250"}},
};

static void expect_printed(const char *core, int sequence, double cycles, const char *wanted)
{
    char text[32];
    snprintf(text, sizeof text, "%.*f", (int)strlen(strchr(wanted, '.') + 1), cycles);
    if (strcmp(text, wanted) != 0)
        fail_msg("%s, sequence %d: %s, wanted %s", core, sequence, text, wanted);
}

static void test_known_sequences(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known_bounds / sizeof *known_bounds; i++) {
        const char *name = known_bounds[i].core;
        for (int s = 0; s < SEQUENCES; s++) {
            if (!known_bounds[i].cycles[s])
                continue;
            struct ulb_mix mix = sequence_mix(s);
            if (known_bounds[i].bits == 512)
                mix = widen(mix);
            if (strcmp(name, "zen3") == 0)
                mix = without_vnni(mix);
            struct ulb_port_bound bound = ulb_port_bound(core_named(name), &mix, NULL);
            expect_printed(name, s, bound.cycles, known_bounds[i].cycles[s]);
        }
    }
}

/* Which of the four limits decides, and its value, for loops counted out with their prefetches. */
static void test_limits(void **state)
{
    (void)state;
    /* 4 steps: 4 loads, 1 broadcast, 2 prefetches, 4 dot products. */
    const struct ulb_mix int8 = {.loads = 1,
                                 .broadcasts = 0.25,
                                 .prefetches = 0.5,
                                 .dot_products = 1,
                                 .vector_bits = 256,
                                 .chains = 8};
    const struct ulb_mix wide = {.loads = 0.5,
                                 .broadcasts = 0.25,
                                 .prefetches = 0.5,
                                 .dot_products = 0.5,
                                 .vector_bits = 512,
                                 .chains = 8};
    /* One step of 64 weights by mask registers. */
    const struct ulb_mix masked = {.masked_moves = 0.5, .dot_products = 0.5, .vector_bits = 512, .chains = 4};
    const struct {
        const char *core;
        const struct ulb_mix *mix;
        enum ulb_limit decides;
        double cycles;
    } rows[] = {
        /* 8 chains of latency 5; 7 memory accesses of 4 steps over 3 or 2 load ports. */
        {"golden-cove", &int8, ULB_LIMIT_LATENCY, 5.0 / 8},
        {"lion-cove", &int8, ULB_LIMIT_LOADS, 7.0 / 4 / 3},
        {"tiger-lake", &int8, ULB_LIMIT_LOADS, 7.0 / 4 / 2},
        /* A prefetch may take the third load pipe, which is none for vectors. */
        {"zen4", &int8, ULB_LIMIT_LOADS, 5.0 / 4 / 2},
        /* A 256-bit load is two micro-operations there, a broadcast and a prefetch one. */
        {"crestmont", &int8, ULB_LIMIT_LOADS, 11.0 / 4 / 2},
        {"skymont", &int8, ULB_LIMIT_LOADS, 11.0 / 4 / 3},
        {"gracemont", &int8, ULB_LIMIT_VECTOR, 2},
        {"sapphire-rapids", &wide, ULB_LIMIT_LOADS, 5.0 / 4 / 3},
        /* A mask load is a load, one cycle of p5 and one of p0 or p5. */
        {"sapphire-rapids", &masked, ULB_LIMIT_VECTOR, 0.75},
        /* 4 chains of half a dot product of latency 4. */
        {"zen5", &masked, ULB_LIMIT_LATENCY, 0.5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ulb_port_bound bound = ulb_port_bound(core_named(rows[i].core), rows[i].mix, NULL);
        expect(bound.cycles, rows[i].cycles);
        assert_int_equal(bound.decides, rows[i].decides);
        expect(bound.limits[bound.decides], bound.cycles);
    }
}

/* Three loads and three logic operations: one cycle for the ports, three for a front end of two. */
static void test_front_end(void **state)
{
    (void)state;
    struct ulb_core core = *core_named("golden-cove");
    struct ulb_mix mix = {.loads = 3, .logic = 3, .vector_bits = 256};
    core.issue_width = 2;
    struct ulb_port_bound bound = ulb_port_bound(&core, &mix, NULL);
    assert_int_equal(bound.decides, ULB_LIMIT_FRONT_END);
    expect(bound.cycles, 3);
    expect(bound.limits[ULB_LIMIT_VECTOR], 1);
    expect(bound.limits[ULB_LIMIT_LOADS], 1);
    assert_true(bound.limits[ULB_LIMIT_LATENCY] == 0);
    /* Bytes per cycle, where they are less than ports would take. */
    core.load_bytes[0] = 16;
    bound = ulb_port_bound(&core, &mix, NULL);
    assert_int_equal(bound.decides, ULB_LIMIT_LOADS);
    expect(bound.cycles, 6);
}

/* On Gracemont and Crestmont the blend's own throughput is what is known; on Skymont 8 micro-operations, on
 * all four pipes: (8 + 8) / 4. */
static void test_microcode(void **state)
{
    (void)state;
    const struct ulb_mix mix = kernel_named("int1a8-blend-avxvnni")->mix;
    expect(ulb_port_bound(core_named("gracemont"), &mix, NULL).cycles, 3.87);
    expect(ulb_port_bound(core_named("crestmont"), &mix, NULL).cycles, 3.89);
    expect(ulb_port_bound(core_named("skymont"), &mix, NULL).cycles, 4);
    assert_true(core_named("gracemont")->inferred && core_named("crestmont")->inferred &&
                core_named("skymont")->inferred && !core_named("lion-cove")->inferred);
    assert_non_null(strstr(core_named("gracemont")->source, "microcode"));
}

static void expect_no_bound_of(const char *core, const struct ulb_mix *mix, ulb_isa_set needs,
                               const char *wanted)
{
    struct ulb_port_bound bound;
    char reason[ULB_CORE_REASON_BYTES];
    assert_false(ulb_core_bound(core_named(core), mix, needs, &bound, reason));
    assert_string_equal(reason, wanted);
}

static void expect_no_bound(const char *core, const char *kernel, const char *wanted)
{
    const struct ulb_kernel *row = kernel_named(kernel);
    expect_no_bound_of(core, &row->mix, row->needs, wanted);
}

static void test_no_bound(void **state)
{
    (void)state;
    const struct ulb_kernel *row = kernel_named("int2a8-mask-avxvnni");
    expect_no_bound_of("lion-cove", &row->mix, row->needs | ULB_ISA_AVX512F | ULB_ISA_AVX512BW,
                       "lacks avx512f and 1 more");
    expect_no_bound("golden-cove", "int1a8-blend-avxvnniint8", "lacks avxvnniint8");
    expect_no_bound("zen3", "int8a8-dp-avxvnni", "lacks avxvnni");
    expect_no_bound("ice-lake", "int8a8-dp-avxvnni", "lacks avxvnni");
    expect_no_bound("zen5", "int2a8-scalar-ref", "the kernel states no instruction mix");

    const struct ulb_mix across = {.permutes = 1, .vector_bits = 256}, odd = {.loads = 1, .vector_bits = 128};
    struct ulb_port_bound bound;
    char reason[ULB_CORE_REASON_BYTES];
    assert_false(ulb_core_bound(core_named("skymont"), &across, 0, &bound, reason));
    assert_string_equal(reason, "no permutes of 256 bits in its port table");
    assert_true(isnan(bound.cycles));
    assert_true(isnan(ulb_port_bound(core_named("skymont"), &odd, NULL).cycles));
}

/* Whoever adds a kernel gets bounds for it: every row with a mix has one on some core that can run it. */
static void test_every_row_has_a_bound(void **state)
{
    (void)state;
    for (size_t k = 0; k < ulb_kernel_count; k++) {
        const struct ulb_kernel *kernel = ulb_kernels[k];
        char name[ULB_KERNEL_NAME_MAX], reason[ULB_CORE_REASON_BYTES];
        size_t bounds = 0;
        if (kernel->mix.vector_bits == 0)
            continue;
        for (size_t i = 0; i < cores.n; i++) {
            struct ulb_port_bound bound;
            bool known = ulb_core_bound(&cores.items[i], &kernel->mix, kernel->needs, &bound, reason);
            bounds += known && bound.cycles > 0.05 && bound.cycles < 20;
        }
        if (bounds == 0)
            fail_msg("%s has no bound on any core: %s", ulb_kernel_name(kernel, name), reason);
    }
}

/* --- which core is it --- */

static void expect_core(const char *vendor, unsigned family, unsigned model, const char *class_name,
                        const char *wanted)
{
    struct ulb_cpu_signature cpu = {.family = family, .model = model};
    char reason[ULB_CORE_REASON_BYTES] = "";
    snprintf(cpu.vendor, sizeof cpu.vendor, "%s", vendor);
    const ulb_isa_set isa = family > 0 ? ULB_ISA_AVX2 : ULB_ISA_NEON;
    const struct ulb_core *core = ulb_core_identify(&cores, &cpu, isa, class_name, reason);
    if (!core)
        fail_msg("%s %u %#x %s: %s", vendor, family, model, class_name, reason);
    assert_string_equal(core->name, wanted);
}

static void expect_no_core(const char *vendor, unsigned family, unsigned model, ulb_isa_set isa,
                           const char *class_name, const char *why)
{
    struct ulb_cpu_signature cpu = {.family = family, .model = model};
    char reason[ULB_CORE_REASON_BYTES] = "";
    snprintf(cpu.vendor, sizeof cpu.vendor, "%s", vendor);
    assert_null(ulb_core_identify(&cores, &cpu, isa, class_name, reason));
    if (!strstr(reason, why))
        fail_msg("'%s' lacks '%s'", reason, why);
}

/* AArch64's sequences on cores whose tables are published: by hand, sums of operations over pipes. */
static void test_arm(void **state)
{
    (void)state;
    const struct ulb_mix int2 = {
        .loads = 0.5, .logic = 1.5, .dot_products = 2, .vector_bits = 128, .chains = 16};
    const struct ulb_mix int1 = {
        .loads = 0.25, .logic = 1.75, .dot_products = 2, .vector_bits = 128, .chains = 16};
    const struct ulb_mix int8 = {.loads = 2, .dot_products = 2, .vector_bits = 128, .chains = 16};
    const struct ulb_mix tokens = {.logic = 1, .matrix_products = 2, .vector_bits = 128, .chains = 4};
    static const char *const wide[] = {"cortex-x4", "neoverse-v2", "firestorm"};
    for (size_t i = 0; i < 3; i++) {
        expect(ulb_port_bound(core_named(wide[i]), &int2, NULL).cycles, 0.875);
        expect(ulb_port_bound(core_named(wide[i]), &int1, NULL).cycles, 0.9375);
        expect(ulb_port_bound(core_named(wide[i]), &int8, NULL).cycles, 2.0 / 3);
    }
    expect(ulb_port_bound(core_named("neoverse-n2"), &int2, NULL).cycles, 1.75);
    /* 2 matrix products of latency 3 in 4 chains. */
    expect(ulb_port_bound(core_named("cortex-x4"), &tokens, NULL).cycles, 1.5);
    expect_core("Arm", 0, 0xD82, "P", "cortex-x4");
    expect_core("Arm", 0, 0xD4F, "core", "neoverse-v2");
    expect_core("Apple", 0, 0x23, "P", "firestorm");
}

static void test_identify(void **state)
{
    (void)state;
    static const char intel[] = "GenuineIntel", amd[] = "AuthenticAMD";
    expect_core(intel, 6, 0x97, "P", "golden-cove");
    expect_core(intel, 6, 0x97, "E", "gracemont");
    expect_core(intel, 6, 0xBE, "core", "gracemont");
    expect_core(intel, 6, 0xB7, "P", "raptor-cove");
    expect_core(intel, 6, 0x8F, "core", "sapphire-rapids");
    expect_core(intel, 6, 0xCF, "core", "sapphire-rapids");
    expect_core(intel, 6, 0xAA, "P", "redwood-cove");
    expect_core(intel, 6, 0xAA, "LP-E", "crestmont");
    expect_core(intel, 6, 0xC6, "P", "lion-cove");
    expect_core(intel, 6, 0xC6, "E", "skymont");
    expect_core(intel, 6, 0xC5, "E", "skymont");
    expect_core(intel, 6, 0xC5, "LP-E", "crestmont");
    expect_core(intel, 6, 0xBD, "LP-E", "skymont");
    expect_core(intel, 6, 0x7E, "core", "ice-lake");
    expect_core(intel, 6, 0x8C, "core", "tiger-lake");
    expect_core(amd, 25, 0x21, "core", "zen3");
    expect_core(amd, 25, 0x61, "core", "zen4");
    expect_core(amd, 26, 0x24, "core", "zen5-client");
    expect_core(amd, 26, 0x44, "core", "zen5");

    expect_no_core(intel, 6, 0x97, 0, "core", "several kinds of core");
    expect_no_core(intel, 6, 0x55, 0, "core", "GenuineIntel family 6 model 85 is not in the table");
    expect_no_core(amd, 6, 0xCF, 0, "core", "not in the table");
    expect_no_core("", 0, 0, 0, "core", "without CPUID");
    expect_no_core(intel, 6, 0x97, ULB_ISA_AVX2 | ULB_ISA_AVX512F, "P", "has avx512f");
}

static bool share_a_class(const char *a, const char *b)
{
    char words[16];
    snprintf(words, sizeof words, "%s", a);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        const char *at = strstr(b, word);
        bool begins = at && (at == b || at[-1] == ' '), ends = at && strchr(" ", at[strlen(word)]);
        if (begins && ends)
            return true;
    }
    return false;
}

/* A model and a class name one core at most. */
static void test_models_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < cores.n; i++) {
        for (size_t j = 0; j < i; j++) {
            for (size_t a = 0; a < cores.items[i].n_models; a++) {
                for (size_t b = 0; b < cores.items[j].n_models; b++) {
                    const struct ulb_core_models *x = &cores.items[i].models[a],
                                                 *y = &cores.items[j].models[b];
                    bool overlap = strcmp(x->vendor, y->vendor) == 0 && x->family == y->family &&
                                   x->first <= y->last && y->first <= x->last;
                    if (overlap && share_a_class(x->classes, y->classes))
                        fail_msg("%s and %s both claim model %#x", cores.items[i].name, cores.items[j].name,
                                 x->first);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipe_cycles),
        cmocka_unit_test(test_pipe_cycles_by_definition),
        cmocka_unit_test(test_known_sequences),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_front_end),
        cmocka_unit_test(test_microcode),
        cmocka_unit_test(test_no_bound),
        cmocka_unit_test(test_every_row_has_a_bound),
        cmocka_unit_test(test_arm),
        cmocka_unit_test(test_identify),
        cmocka_unit_test(test_models_are_unique),
    };
    return cmocka_run_group_tests(tests, load_cores, free_cores);
}
