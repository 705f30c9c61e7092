/* Embedding operators against their scalar reference, bit for bit, and the reference against the blocks. */
#include "common/rng.h"
#include "kernels/embedding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VOCABULARY = 37, TOKENS = 50, BLOCKS = 3 };

static int16_t between(struct ulb_rng *rng, int least, int most)
{
    return (int16_t)(least + (int)ulb_rng_below(rng, (unsigned)(most - least) + 1));
}

/* A table of as many bytes as it needs, so that a sanitizer sees what is read behind it. */
static uint8_t *random_table(const struct ulb_format *format, size_t k)
{
    const struct ulb_block *block = format->block;
    uint8_t *rows = malloc(VOCABULARY * ulb_block_row_bytes(format, k));
    struct ulb_rng rng = {11};
    assert_non_null(rows);
    for (size_t b = 0; b < VOCABULARY * k / block->columns; b++) {
        struct ulb_block_values values = {.d = 0.25f + 0.25f * ulb_rng_float(&rng)};
        values.dmin = block->zero_point ? values.d : 0;
        for (unsigned g = 0; g < block->columns / block->group; g++) {
            values.scale[g] = between(&rng, block->scale_min, block->scale_max);
            values.min[g] = between(&rng, block->min_min, block->min_max);
        }
        for (unsigned i = 0; i < block->columns; i++)
            values.q[i] = between(&rng, format->min, format->max);
        block->encode(&values, rows + b * block->bytes);
    }
    return rows;
}

/* The formats with blocks, each once: those that a scalar kernel reads. */
static const struct ulb_format *block_format_at(size_t i)
{
    const struct ulb_kernel *kernel = ulb_kernels[i];
    const struct ulb_format *format = kernel->layout->format;
    if (strcmp(kernel->isa, "ref") != 0 || !format->block)
        return NULL;
    for (size_t j = 0; j < i; j++) {
        if (ulb_kernels[j]->layout->format == format)
            return NULL;
    }
    return format;
}

static void open_call(const struct ulb_format *format, struct ulb_embedding_call *call, uint32_t *tokens)
{
    struct ulb_rng rng = {5};
    size_t k = BLOCKS * format->block->columns;
    for (size_t n = 0; n < TOKENS; n++)
        tokens[n] = n == 0 ? VOCABULARY - 1 : (uint32_t)ulb_rng_below(&rng, VOCABULARY);
    *call = (struct ulb_embedding_call){.format = format,
                                        .rows = random_table(format, k),
                                        .k = k,
                                        .tokens = tokens,
                                        .n = TOKENS,
                                        .out = malloc(TOKENS * k * sizeof(float))};
    assert_non_null(call->out);
}

static void close_call(struct ulb_embedding_call *call)
{
    free((void *)(uintptr_t)call->rows);
    free(call->out);
}

static void reference_gives_the_weights(void **state)
{
    (void)state;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_format *format = block_format_at(i);
        struct ulb_embedding_call call;
        uint32_t tokens[TOKENS];
        if (!format)
            continue;
        const struct ulb_block *block = format->block;
        open_call(format, &call, tokens);
        ulb_embedding_at(0)->run(&call);
        for (size_t at = 0; at < TOKENS * call.k; at++) {
            struct ulb_block_values values;
            double weights[ULB_BLOCK_COLUMNS_MAX];
            size_t k = at % call.k, b = tokens[at / call.k] * call.k / block->columns + k / block->columns;
            block->decode(call.rows + b * block->bytes, &values);
            ulb_block_dequantise(block, &values, weights);
            assert_true(call.out[at] == (float)weights[k % block->columns]);
        }
        close_call(&call);
    }
}

static void operators_equal_the_reference(void **state)
{
    (void)state;
    size_t compared = 0;
    for (size_t o = 1; ulb_embedding_at(o); o++) {
        const struct ulb_embedding *fast = ulb_embedding_at(o);
        if (fast->needs & ~ulb_isa_detect()) {
            print_message("skipped: the operator for %s\n", fast->isa);
            compared++;
            continue;
        }
        for (size_t i = 0; i < ulb_kernel_count; i++) {
            const struct ulb_format *format = block_format_at(i);
            struct ulb_embedding_call call;
            uint32_t tokens[TOKENS];
            if (!format || !fast->reads(format))
                continue;
            open_call(format, &call, tokens);
            size_t bytes = TOKENS * call.k * sizeof(float);
            float *expected = malloc(bytes);
            assert_non_null(expected);
            ulb_embedding_at(0)->run(&call);
            memcpy(expected, call.out, bytes);
            memset(call.out, 0xFF, bytes);
            fast->run(&call);
            if (memcmp(expected, call.out, bytes) != 0)
                fail_msg("%s: the operator for %s differs from the reference", format->name, fast->isa);
            compared++;
            free(expected);
            close_call(&call);
        }
    }
    if (ulb_embedding_at(1) && compared == 0)
        skip(); /* a build of some formats alone (ULB_ONLY) */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_gives_the_weights),
        cmocka_unit_test(operators_equal_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
