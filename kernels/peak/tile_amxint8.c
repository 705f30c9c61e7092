/* tdpbusd on tiles alone: 16 rows of 64 bytes times 16 columns of 64 bytes, 16,384 multiply-adds each. 6
 * chains: one starts every 16 cycles and lasts 52.
 *
 * The configuration is 64 bytes and said to be so: compilers of this age declare 8 of them in their own form
 * of ldtilecfg and leave the rest unwritten. */
#define ULB_ROW_IS_PEAK
#include "kernels/row.h"

enum { TILES = 8, CHAINS = 6, ROWS = 16, ROW_BYTES = 64, COLUMNS = 16 };

struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};
_Static_assert(sizeof(struct tile_config) == 64, "as the instruction reads it");

static void run(size_t passes)
{
    struct tile_config config = {.palette = 1};
    for (int i = 0; i < TILES; i++) {
        config.row_bytes[i] = ROW_BYTES;
        config.rows[i] = ROWS;
    }
    __asm__ volatile("ldtilecfg %0\n\t"
                     "tilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3\n\t"
                     "tilezero %%tmm4\n\ttilezero %%tmm5\n\ttilezero %%tmm6\n\ttilezero %%tmm7"
                     :
                     : "m"(config));
    for (size_t pass = 0; pass < passes; pass++)
        __asm__ volatile("tdpbusd %tmm7, %tmm6, %tmm0\n\ttdpbusd %tmm7, %tmm6, %tmm1\n\t"
                         "tdpbusd %tmm7, %tmm6, %tmm2\n\ttdpbusd %tmm7, %tmm6, %tmm3\n\t"
                         "tdpbusd %tmm7, %tmm6, %tmm4\n\ttdpbusd %tmm7, %tmm6, %tmm5");
    __asm__ volatile("tilerelease");
}

const struct ulb_peak ULB_ROW = {
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .activation = ULB_ACT_A8,
    .ops_per_pass = 2.0 * CHAINS * ROWS * ROW_BYTES * COLUMNS,
    .run = run,
};
