/* tern2: values -1, 0, 1 in fields of two bits, one scale per row; the code is value + 1, 3 is never used. */
#ifndef ULB_KERNELS_FORMATS_TERN2_FORMAT_H
#define ULB_KERNELS_FORMATS_TERN2_FORMAT_H

#include "kernels/pack/mmla_tile.h"
#include "kernels/pack/sdot_tile.h"

enum { ULB_TERN2_ZERO_POINT = 1 };

extern const struct ulb_format ulb_tern2;
/* The layouts of int2, see int2/format.h. */
extern const struct ulb_layout ulb_tern2_rows;
extern const struct ulb_layout ulb_tern2_fields;
extern const struct ulb_layout ulb_tern2_fields_64;
extern const struct ulb_layout ulb_tern2_planes;

/* Bytes of so many rows (kernels/pack/sdot_tile.h). */
ULB_SDOT_DECLARE(tern2);
/* Two rows at a time (kernels/pack/mmla_tile.h). */
ULB_MMLA_DECLARE(tern2);

#endif
