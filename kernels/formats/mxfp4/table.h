/* The table of MXFP4, E2M1 times 2, as it is multiplied: entries + 12, unsigned codes up to 24. */
#ifndef ULB_KERNELS_FORMATS_MXFP4_TABLE_H
#define ULB_KERNELS_FORMATS_MXFP4_TABLE_H

#include <stdint.h>

enum { ULB_MXFP4_ORIGIN = 12 };

static const uint8_t ulb_mxfp4_entries[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

#endif
