#include "kernels/formats/q4_k/format.h"

#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"

#include <string.h>

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_q4_k out = {.head = ulb_k_head_encode(values)};
    for (unsigned i = 0; i < sizeof out.qs; i++) {
        const int16_t *q = values->q + i / 32 * 64 + i % 32;
        out.qs[i] = (uint8_t)(q[0] | q[32] << 4);
    }
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_q4_k in;
    memcpy(&in, block, sizeof in);
    ulb_k_head_decode(&in.head, values);
    for (unsigned i = 0; i < sizeof in.qs; i++) {
        int16_t *q = values->q + i / 32 * 64 + i % 32;
        q[0] = in.qs[i] & 15;
        q[32] = in.qs[i] >> 4;
    }
}

static void quantise(const float *weights, struct ulb_block_values *values)
{
    ulb_quantise_affine_groups(weights, ULB_K_GROUP, 15, ULB_K_SCALE_MAX, values);
}

static const struct ulb_block block = {ULB_K_BLOCK(ULB_Q4_K_COLUMNS, sizeof(struct ulb_q4_k))};

const struct ulb_format ulb_q4_k = {.name = "q4_k",
                                    .summary = "GGUF: 4 bits, scale and minimum per 32",
                                    .bits = 4.5,
                                    .min = 0,
                                    .max = 15,
                                    .step = 1,
                                    .block = &block};

const struct ulb_layout ulb_q4_k_in_place = ULB_IN_PLACE(ulb_q4_k, ULB_Q4_K_COLUMNS, sizeof(struct ulb_q4_k));

static const struct ulb_row_tile rows = {.codes = &ulb_nibbles, .sets = 2};

const struct ulb_layout ulb_q4_k_rows_32 =
    ULB_INTERLEAVED("rows-32", ulb_q4_k, rows, 8, 4, ULB_Q4_K_COLUMNS, 1, 2, 20);
const struct ulb_layout ulb_q4_k_rows_64 =
    ULB_INTERLEAVED("rows-64", ulb_q4_k, rows, 16, 4, ULB_Q4_K_COLUMNS, 1, 2, 20);

static const struct ulb_row_tile quads = {.codes = &ulb_nibbles, .sets = 1, .xor_mask = 0x80};

const struct ulb_layout ulb_q4_k_sdot_32 =
    ULB_INTERLEAVED("quads-32", ulb_q4_k, quads, 16, 2, ULB_Q4_K_COLUMNS, 1, 2, 20);
const struct ulb_layout ulb_q4_k_sdot_128 =
    ULB_INTERLEAVED("quads-128", ulb_q4_k, quads, 64, 2, ULB_Q4_K_COLUMNS, 1, 2, 20);
