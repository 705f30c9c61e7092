/* The reference of every block format: scale * (code - zero), rounded once. */
#include "kernels/embedding.h"

static bool reads(const struct ulb_format *format)
{
    return format->block != NULL;
}

static void run(const struct ulb_embedding_call *call)
{
    const struct ulb_block *block = call->format->block;
    for (size_t n = 0; n < call->n; n++) {
        const uint8_t *row = call->rows + call->tokens[n] * ulb_block_row_bytes(call->format, call->k);
        float *out = call->out + n * call->k;
        for (size_t k = 0; k < call->k; k += block->columns, row += block->bytes) {
            struct ulb_block_values values;
            double weights[ULB_BLOCK_COLUMNS_MAX];
            block->decode(row, &values);
            ulb_block_dequantise(block, &values, weights);
            for (unsigned i = 0; i < block->columns; i++)
                out[k + i] = (float)weights[i];
        }
    }
}

const struct ulb_embedding ULB_KERNEL = {
    .isa = ULB_KERNEL_ISA, .needs = ULB_KERNEL_NEEDS, .reads = reads, .run = run};
