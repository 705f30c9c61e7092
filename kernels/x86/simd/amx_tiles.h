/* The tile registers of kernels that multiply tokens by weights: tmm0-3 are sums, tmm4 and tmm5 tokens, tmm6
 * and tmm7 weights. */
#ifndef ULB_KERNELS_X86_SIMD_AMX_TILES_H
#define ULB_KERNELS_X86_SIMD_AMX_TILES_H

#include "kernels/pack/amx_tile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* tmm0 and tmm1 are sums of the tokens in tmm4, tmm2 and tmm3 of the tokens in tmm5. few: all four are sums
 * of the tokens in tmm4, and tmm5 is unused. */
static inline void ulb_amx_configure(size_t tokens, bool few)
{
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } config = {.palette = 1};
    _Static_assert(sizeof config == 64, "as the instruction reads it");
    size_t upper = tokens < ULB_TILE_ROWS ? tokens : ULB_TILE_ROWS;
    size_t lower = few || tokens == upper ? upper : tokens - upper;
    const size_t rows[8] = {upper, upper, lower, lower, upper, lower, ULB_TILE_ROWS, ULB_TILE_ROWS};
    for (int i = 0; i < 8; i++) {
        config.row_bytes[i] = ULB_TILE_COLUMNS;
        config.rows[i] = (uint8_t)rows[i];
    }
    __asm__ volatile("ldtilecfg %0" : : "m"(config));
}

static inline void ulb_amx_release(void)
{
    __asm__ volatile("tilerelease");
}

static inline void ulb_amx_zero(void)
{
    __asm__ volatile("tilezero %tmm0\n\ttilezero %tmm1\n\ttilezero %tmm2\n\ttilezero %tmm3");
}

#endif
