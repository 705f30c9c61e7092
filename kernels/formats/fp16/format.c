#include "kernels/formats/fp16/format.h"

const struct ulb_format ulb_fp16 = {.name = "fp16",
                                    .summary = "IEEE half precision",
                                    .bits = 16,
                                    .floating = true,
                                    .kind = ULB_FP16,
                                    .on_request = true};

ULB_COLUMNS_LAYOUTS(fp16, 16);
