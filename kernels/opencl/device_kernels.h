/* How a file of kernels/opencl/ lists its kernels. For these files alone. */
#ifndef ULB_KERNELS_OPENCL_DEVICE_KERNELS_H
#define ULB_KERNELS_OPENCL_DEVICE_KERNELS_H

#include "kernels/opencl/device_kernel.h"
#include "kernels/opencl/device_layouts.h"

/* One token with K in four parts; few tokens; many tokens, each quantised block used 8 times. */
#define ULB_DEVICE_GEMV                                                                                      \
    {                                                                                                        \
        1, 1, 2, 4                                                                                           \
    }
#define ULB_DEVICE_FEW                                                                                       \
    {                                                                                                        \
        2, 8, 1, 2                                                                                           \
    }
#define ULB_DEVICE_MANY                                                                                      \
    {                                                                                                        \
        8, 16, 1, 1                                                                                          \
    }

#define ULB_DEVICE_ENTRY(of, kind, how, size, ways, bound)                                                   \
    {                                                                                                        \
        .layout = &(of), .given = (kind), .quantise = (how), .tile = size, .paths = (ways),                  \
        .tolerance = (bound)                                                                                 \
    }
#define ULB_DEVICE_TILES(of, kind, how, ways, bound)                                                         \
    ULB_DEVICE_ENTRY(of, kind, how, ULB_DEVICE_GEMV, ways, bound),                                           \
        ULB_DEVICE_ENTRY(of, kind, how, ULB_DEVICE_FEW, ways, bound),                                        \
        ULB_DEVICE_ENTRY(of, kind, how, ULB_DEVICE_MANY, ways, bound)

/* Integer weights: floating activations become int8 in each of the ways there are. */
#define ULB_DEVICE_INTEGERS(of, ways)                                                                        \
    ULB_DEVICE_TILES(of, ULB_ACT_BF16, ULB_QUANTISE_FUSED, ways, 0),                                         \
        ULB_DEVICE_TILES(of, ULB_ACT_BF16, ULB_QUANTISE_SCALED, ways, 0),                                    \
        ULB_DEVICE_TILES(of, ULB_ACT_BF16, ULB_QUANTISE_BEFORE, ways, 0),                                    \
        ULB_DEVICE_TILES(of, ULB_ACT_F32, ULB_QUANTISE_FUSED, ways, 0)

/* Floating weights: as kernels of the CPU, a rounding for each sum and product. */
#define ULB_DEVICE_FLOATS(of, ways) ULB_DEVICE_TILES(of, ULB_ACT_BF16, ULB_QUANTISE_NONE, ways, 0x1p-24)

/* The file's symbol, which the table of files names, and its kernels. */
#define ULB_DEVICE_FILE(file, ...)                                                                           \
    extern const unsigned char ulb_opencl_##file[];                                                          \
    static const struct ulb_device_kernel kernels[] = {__VA_ARGS__};                                         \
    extern const struct ulb_device_file ulb_device_file_##file;                                              \
    const struct ulb_device_file ulb_device_file_##file = {#file ".cl", ulb_opencl_##file, kernels,          \
                                                           sizeof kernels / sizeof *kernels}

#endif
