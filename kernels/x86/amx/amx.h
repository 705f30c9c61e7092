/* GEMM on AMX-INT8 tiles. Tokens are the rows of the left operand, read from the activations in place. 16
 * rows of weights are the columns of the right operand, whose lines are described in kernels/pack/amx_tile.h.
 * The sums are then 16 neighbouring results of each token. tdpbsud takes the weights as unsigned bytes, so
 * that a field may stay in its place in the byte (kernels/formats/int2/mask.h). All fields but the last are
 * masked once for an N-block, into a small buffer. The last field is the packed byte itself.
 *
 * A panel of rows is one vector of 16 rows a field, or two vectors of whole bytes, so that operands of one
 * moment are adjacent. With four vectors of whole bytes half of the cache sets would be idle. */
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
