#include "kernels/formats/q5_k/format.h"

#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"

#include <string.h>

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_q5_k out = {.head = ulb_k_head_encode(values)};
    for (unsigned k = 0; k < ULB_Q5_K_COLUMNS; k++) {
        uint8_t *nibbles = &out.qs[k / 64 * 32 + k % 32], *bits = &out.qh[k % 32];
        *nibbles = (uint8_t)(*nibbles | (values->q[k] & 15) << k / 32 % 2 * 4);
        *bits = (uint8_t)(*bits | values->q[k] >> 4 << k / 32);
    }
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_q5_k in;
    memcpy(&in, block, sizeof in);
    ulb_k_head_decode(&in.head, values);
    for (unsigned k = 0; k < ULB_Q5_K_COLUMNS; k++) {
        int low = in.qs[k / 64 * 32 + k % 32] >> k / 32 % 2 * 4 & 15, high = in.qh[k % 32] >> k / 32 & 1;
        values->q[k] = (int16_t)(low | high << 4);
    }
}

static void quantise(const float *weights, struct ulb_block_values *values)
{
    ulb_quantise_affine_groups(weights, ULB_K_GROUP, 31, ULB_K_SCALE_MAX, values);
}

static const struct ulb_block block = {ULB_K_BLOCK(ULB_Q5_K_COLUMNS, sizeof(struct ulb_q5_k))};

const struct ulb_format ulb_q5_k = {.name = "q5_k",
                                    .summary = "GGUF: 5 bits, scale and minimum per 32",
                                    .bits = 5.5,
                                    .min = 0,
                                    .max = 31,
                                    .step = 1,
                                    .block = &block};

const struct ulb_layout ulb_q5_k_in_place = ULB_IN_PLACE(ulb_q5_k, ULB_Q5_K_COLUMNS, sizeof(struct ulb_q5_k));

static const struct ulb_row_tile rows = {.codes = &ulb_five_bit, .sets = 1, .zero_point = 0};

const struct ulb_layout ulb_q5_k_rows_64 =
    ULB_INTERLEAVED("rows-64", ulb_q5_k, rows, 8, 8, ULB_Q5_K_COLUMNS, 5, 8, 20);
const struct ulb_layout ulb_q5_k_rows_128 =
    ULB_INTERLEAVED("rows-128", ulb_q5_k, rows, 16, 8, ULB_Q5_K_COLUMNS, 5, 8, 20);
