/* Weights of 8 bits, 4 columns a word. */
#ifndef __OPENCL_C_VERSION__
#include "kernels/opencl/device_kernels.h"

#define PATHS (1 << ULB_PATH_DPAS_INT8 | 1 << ULB_PATH_DP4A | 1 << ULB_PATH_PLAIN)

ULB_DEVICE_FILE(int8, ULB_DEVICE_INTEGERS(ulb_int8_vnni4_16, PATHS));
#else
#define ULB_COLUMNS 32
#define ULB_WORDS   8
typedef int ulb_sum;
typedef ulb_ints ulb_sums;
typedef uint8 ulb_weights;
#define ulb_read ulb_read_words8
#define ulb_mad  ulb_mad_int8
#endif
