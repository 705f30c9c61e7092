#include "kernels/formats/tern2/format.h"

const struct ulb_format ulb_tern2 = {.name = "tern2",
                                     .summary = "ternary, a field of two bits each, one scale per row",
                                     .bits = 2,
                                     .min = -1,
                                     .max = 1,
                                     .step = 1};

ULB_LAYOUTS2(tern2, ULB_TERN2_ZERO_POINT);
