/* GGUF's IQ4_NL: 32 weights, a scale in half precision, 4-bit codes for entries of a table. */
#ifndef ULB_KERNELS_FORMATS_IQ4_NL_FORMAT_H
#define ULB_KERNELS_FORMATS_IQ4_NL_FORMAT_H

#include "kernels/gguf_block.h"

enum { ULB_IQ4_NL_COLUMNS = 32 };

/* The integers that codes stand for. */
extern const int8_t ulb_iq4_nl_table[16];

/* As in a file. */
struct ulb_iq4_nl {
    uint16_t d;     /* half precision */
    uint8_t qs[16]; /* low nibbles: columns 0-15, high nibbles: 16-31 */
};
_Static_assert(sizeof(struct ulb_iq4_nl) == 18, "18 bytes in a file");

extern const struct ulb_format ulb_iq4_nl;
extern const struct ulb_layout ulb_iq4_nl_in_place;
/* Rows interleaved (kernels/pack/block_interleave.h). */
extern const struct ulb_layout ulb_iq4_nl_rows_48, ulb_iq4_nl_rows_96;

#endif
