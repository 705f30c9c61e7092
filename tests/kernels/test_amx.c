/* Tile instructions by the definition: on the CPU where it has them, in the emulation where not, so that
 * both are known to be the same thing. */
#include "common/rng.h"
#include "tests/kernels/emulate.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { STRIDE = 80, ROWS = 16, BYTES = STRIDE * ROWS };

struct config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};
_Static_assert(sizeof(struct config) == 64, "as the instruction reads it");

/* tmm0 += tmm1 . tmm2: m x k bytes times k/4 x n words. */
static struct config config_of(unsigned m, unsigned k, unsigned n)
{
    return (struct config){
        .palette = 1,
        .row_bytes = {(uint16_t)(4 * n), (uint16_t)k, (uint16_t)(4 * n)},
        .rows = {(uint8_t)m, (uint8_t)m, (uint8_t)(k / 4)},
    };
}

static void fill(uint8_t *bytes, struct ulb_rng *rng)
{
    static const uint8_t extremes[] = {0, 1, 0x7F, 0x80, 0xFF};
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = ulb_rng_below(rng, 4) ? (uint8_t)ulb_rng_next(rng) : extremes[ulb_rng_below(rng, 5)];
}

static int byte_of(uint8_t byte, int is_signed)
{
    return is_signed ? (int8_t)byte : byte;
}

static void dot_reference(const struct config *config, uint8_t *c, const uint8_t *a, const uint8_t *b,
                          int a_signed, int b_signed)
{
    for (unsigned m = 0; m < config->rows[0]; m++) {
        for (unsigned n = 0; n < config->row_bytes[0] / 4u; n++) {
            uint32_t sum;
            memcpy(&sum, c + m * STRIDE + 4 * n, sizeof sum);
            for (unsigned k = 0; k < config->row_bytes[1]; k++)
                sum += (uint32_t)(byte_of(a[m * STRIDE + k], a_signed) *
                                  byte_of(b[k / 4 * STRIDE + 4 * n + k % 4], b_signed));
            memcpy(c + m * STRIDE + 4 * n, &sum, sizeof sum);
        }
    }
}

#define ON_TILES(instruction)                                                                                \
    __asm__ volatile("ldtilecfg %[config]\n\t"                                                               \
                     "tileloadd (%[c],%[stride],1), %%tmm0\n\t"                                              \
                     "tileloadd (%[a],%[stride],1), %%tmm1\n\t"                                              \
                     "tileloaddt1 (%[b],%[stride],1), %%tmm2\n\t" instruction " %%tmm2, %%tmm1, %%tmm0\n\t"  \
                     "tilestored %%tmm0, (%[c],%[stride],1)\n\t"                                             \
                     "tilerelease"                                                                           \
                     :                                                                                       \
                     : [config] "m"(*config), [a] "r"(a), [b] "r"(b), [c] "r"(c), [stride] "r"(stride)       \
                     : "memory")

static void dot(const struct config *config, uint8_t *c, const uint8_t *a, const uint8_t *b, int a_signed,
                int b_signed)
{
    const size_t stride = STRIDE;
    if (a_signed && b_signed)
        ON_TILES("tdpbssd");
    else if (a_signed)
        ON_TILES("tdpbsud");
    else if (b_signed)
        ON_TILES("tdpbusd");
    else
        ON_TILES("tdpbuud");
}

static void products_are_those_of_the_definition(void **state)
{
    (void)state;
    emulation_start(); /* here, because cmocka sets a handler of its own before each test */
    static const unsigned sizes[][3] = {{16, 64, 16}, {1, 4, 1}, {3, 64, 16}, {16, 12, 7}, {5, 40, 16}};
    struct ulb_rng rng = {1};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct config config = config_of(sizes[s][0], sizes[s][1], sizes[s][2]);
        for (int kind = 0; kind < 4; kind++) {
            uint8_t a[BYTES], b[BYTES], c[BYTES], expected[BYTES];
            fill(a, &rng);
            fill(b, &rng);
            fill(c, &rng);
            memcpy(expected, c, sizeof c);
            dot_reference(&config, expected, a, b, kind & 1, kind >> 1);
            dot(&config, c, a, b, kind & 1, kind >> 1);
            assert_memory_equal(c, expected, sizeof c); /* what lies beyond rows and columns included */
        }
    }
    emulation_stop();
}

/* Operands in the registers whose numbers mean something else in some forms (rsp, rbp, r12, r13), scaled
 * indices, displacements of one and four bytes, and a configuration addressed relative to the code. */
static void operands_are_found(void **state)
{
    (void)state;
    emulation_start();
    static struct config config;
    struct ulb_rng rng = {2};
    uint8_t from[BYTES + STRIDE], to[3][BYTES]; /* one load begins a row late */
    config = config_of(16, 64, 16);
    fill(from, &rng);
    memset(to, 0, sizeof to);
    register const uint8_t *source __asm__("r13") = from;
    register uint8_t *first __asm__("r12") = to[0];
    register size_t eighth __asm__("r9") = STRIDE / 8;
    __asm__ volatile("ldtilecfg %[config]\n\t"
                     "tileloadd (%[source],%[eighth],8), %%tmm1\n\t"
                     "tilestored %%tmm1, (%[first],%[eighth],8)\n\t"
                     "tileloadd 80(%[source],%[eighth],8), %%tmm1\n\t"
                     "tilestored %%tmm1, 1280(%[first],%[eighth],8)\n\t"
                     "tileloadd -80(%[last],%[eighth],8), %%tmm1\n\t"
                     "tilestored %%tmm1, 2560(%[first],%[eighth],8)\n\t"
                     "tilezero %%tmm1\n\t"
                     "tilestored %%tmm1, (%[source],%[eighth],8)\n\t"
                     "tilerelease"
                     :
                     : [config] "m"(config), [source] "r"(source), [first] "r"(first), [eighth] "r"(eighth),
                       [last] "r"(from + STRIDE)
                     : "memory");
    emulation_stop();
    for (size_t row = 0; row < ROWS; row++) {
        static const uint8_t zeros[64];
        assert_memory_equal(from + row * STRIDE, zeros, 64);
    }
    rng.state = 2;
    fill(from, &rng);
    for (size_t row = 0; row + 1 < ROWS; row++) {
        assert_memory_equal(to[0] + row * STRIDE, from + row * STRIDE, 64);
        assert_memory_equal(to[1] + row * STRIDE, from + (row + 1) * STRIDE, 64);
        assert_memory_equal(to[2] + row * STRIDE, from + row * STRIDE, 64);
    }
}

static void use_released(void)
{
    __asm__ volatile("tilerelease\n\ttilezero %tmm0");
}

/* C has fewer rows than A. */
static void use_unlike(void)
{
    struct config config = config_of(16, 64, 16);
    config.rows[0] = 15;
    __asm__ volatile("ldtilecfg %0\n\ttdpbssd %%tmm2, %%tmm1, %%tmm0" : : "m"(config));
}

/* tdpbssd %tmm1, %tmm1, %tmm0, which assemblers refuse. */
static void use_the_same_twice(void)
{
    struct config config = config_of(16, 64, 16);
    __asm__ volatile("ldtilecfg %0\n\t.byte 0xC4, 0xE2, 0x73, 0x5E, 0xC1" : : "m"(config));
}

static void wrong_use_is_an_illegal_instruction(void **state)
{
    (void)state;
    static void (*const wrong[])(void) = {use_released, use_unlike, use_the_same_twice};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            emulation_start(); /* what it does not know kills, as without any handler */
            wrong[i]();
            _exit(0);
        }
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGILL);
    }
}

int main(void)
{
    const ulb_isa_set wanted = ULB_ISA_AMXTILE | ULB_ISA_AMXINT8;
    ulb_isa_set native = ulb_isa_detect(), emulated = emulation_start();
    emulation_stop();
    if (wanted & ~(native | emulated)) {
        print_message("no tiles: the CPU has none, and they cannot be emulated here\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_the_definition),
        cmocka_unit_test(operands_are_found),
        cmocka_unit_test(wrong_use_is_an_illegal_instruction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
