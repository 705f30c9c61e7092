/* Many tokens on tiles (AMX-INT8). Tokens are the rows of the left operand, read from the activations as they
 * lie; 16 rows of weights are the columns of the right one, whose lines are those of kernels/pack/amx_tile.h;
 * the sums are then 16 neighbouring results of each token. tdpbsud takes the weights as unsigned bytes, so
 * that a field may stay where it is in its byte (see int2/mask.h): all fields but the last are masked once
 * for a block of tokens, into a small buffer; the last is the packed byte itself.
 *
 * A panel of rows is one vector of 16 rows a field, or two of whole bytes: what is multiplied at a time lies
 * together. With four of whole bytes half of the caches' sets were idle, and int8 at 0.34 of peak for 0.40.
 */
#ifndef ULB_KERNELS_X86_AMX_AMX_H
#define ULB_KERNELS_X86_AMX_AMX_H

#include "kernels/x86/amx/small_n.h"
#include "kernels/x86/amx/large_n.h"

/* masked: as ulb_amx_many() has it. */
static inline __attribute__((always_inline)) void ulb_run_amx(const struct ulb_amx_cfg *cfg,
                                                              const struct ulb_gemm *g, uint8_t *masked)
{
    struct ulb_amx_weights weights = ulb_amx_weights_of(cfg, g);
    if (g->n <= ULB_TILE_ROWS)
        ulb_amx_few(cfg, g, &weights);
    else
        ulb_amx_many(cfg, g, &weights, masked);
}

#endif
