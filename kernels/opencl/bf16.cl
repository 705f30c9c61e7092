/* The 16-bit baseline: bfloat16 weights and activations, 2 columns a word, sums in single precision. */
#ifndef __OPENCL_C_VERSION__
#include "kernels/opencl/device_kernels.h"

#define PATHS (1 << ULB_PATH_DPAS_BF16 | 1 << ULB_PATH_PLAIN)

ULB_DEVICE_FILE(bf16, ULB_DEVICE_FLOATS(ulb_bf16_vnni2_16, PATHS));
#else
#define ULB_COLUMNS 16
#define ULB_WORDS   8
typedef float ulb_sum;
typedef ulb_floats ulb_sums;
typedef uint8 ulb_weights;
#define ulb_read ulb_read_words8
#define ulb_mad  ulb_mad_bf16
#endif
