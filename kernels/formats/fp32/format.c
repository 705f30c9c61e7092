#include "kernels/formats/fp32/format.h"

const struct ulb_format ulb_fp32 = {.name = "fp32",
                                    .summary = "IEEE single precision, the unquantised baseline",
                                    .bits = 32,
                                    .floating = true,
                                    .kind = ULB_FP32,
                                    .on_request = true};

ULB_COLUMNS_LAYOUTS(fp32, 32);
