/* Kernels of devices as data: what each computes, how it is built from its source, and in which ways it can
 * run. One file of kernels/opencl/ is both the source, for a driver's compiler, and the list of its kernels,
 * for the program. */
#ifndef ULB_KERNELS_OPENCL_DEVICE_KERNEL_H
#define ULB_KERNELS_OPENCL_DEVICE_KERNEL_H

#include "kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The instructions that products are made of, the best first. A kernel takes the first that the device has
 * and its compiler builds. */
enum ulb_device_path {
    ULB_PATH_DPAS_INT2, /* matrix instruction, weights of 2 bits: of the compiler, in no extension's text */
    ULB_PATH_DPAS_INT8, /* matrix instruction, int8: weights of 2 bits are widened in registers */
    ULB_PATH_DPAS_BF16, /* matrix instruction, bfloat16 */
    ULB_PATH_DP4A,      /* dot products of four bytes */
    ULB_PATH_PLAIN,     /* multiplications and additions */
    ULB_DEVICE_PATHS
};

/* Where floating activations become int8. */
enum ulb_device_quantise {
    ULB_QUANTISE_NONE,   /* nowhere: they are multiplied as they are */
    ULB_QUANTISE_FUSED,  /* in the kernel, scale included: each work group looks for a token's largest */
    ULB_QUANTISE_SCALED, /* in the kernel, by a scale that a kernel before it found */
    ULB_QUANTISE_BEFORE  /* in a kernel before it, which writes int8 */
};

/* What is given to the compiler. */
struct ulb_device_tile {
    unsigned rows;   /* of weights a lane */
    unsigned tokens; /* 1, or a multiple of 8 */
    unsigned steps;  /* of K (a tile of the layout each) between two meetings of the lanes */
    unsigned split;  /* parts of K, each of a sub-group of the same work group */
};

struct ulb_device_kernel {
    const struct ulb_layout *layout;
    enum ulb_activation given; /* the activations: ULB_ACT_BF16 or ULB_ACT_F32 */
    enum ulb_device_quantise quantise;
    struct ulb_device_tile tile;
    unsigned paths;   /* bits 1 << enum ulb_device_path: those that the source has */
    double tolerance; /* as of struct ulb_kernel; 0: integer sums are equal, and results bit-equal */
};

/* A file of kernels/opencl/. */
struct ulb_device_file {
    const char *name; /* "int2.cl" */
    const unsigned char *source;
    const struct ulb_device_kernel *kernels;
    size_t n;
};

/* The files named in kernels/CMakeLists.txt; NULL after the last. */
extern const struct ulb_device_file *const ulb_device_files[];

/* What stands before and behind each file's text. */
extern const unsigned char ulb_opencl_lanes[], ulb_opencl_matrix[], ulb_opencl_product[];

/* "dpas-int2", "dpas-int8", "dpas-bf16", "dp4a", "plain" */
const char *ulb_device_path_name(enum ulb_device_path path);
/* "fused", "scaled", "before"; "none" */
const char *ulb_device_quantise_name(enum ulb_device_quantise quantise);
/* "16x1": rows of weights and tokens of a sub-group of so many lanes. */
const char *ulb_device_tile_name(const struct ulb_device_kernel *kernel, unsigned lanes, char out[16]);

/* The computed name, which has the path in it: "int2bf16-fused-dpas-int2-1x8s4": rows of a lane, tokens,
 * parts of K. Returns out. */
char *ulb_device_kernel_name(const struct ulb_device_kernel *kernel, enum ulb_device_path path,
                             char out[ULB_KERNEL_NAME_MAX]);

/* Columns of K that activations are padded to with zeros. */
size_t ulb_device_columns(const struct ulb_device_kernel *kernel, size_t k);

/* The options that a file is built with. played: the device lacks the path's instructions, which neighbouring
 * items of a work group play; the paths without matrix instructions have no sub-group in any case. */
void ulb_device_options(const struct ulb_device_kernel *kernel, enum ulb_device_path path, unsigned lanes,
                        bool played, char *options, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
