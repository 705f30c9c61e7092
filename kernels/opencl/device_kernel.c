#include "kernels/opencl/device_kernel.h"

#include "common/mem.h"
#include "kernels/activations.h"

#include <stdio.h>

const char *ulb_device_path_name(enum ulb_device_path path)
{
    static const char *const names[ULB_DEVICE_PATHS] = {"dpas-int2", "dpas-int8", "dpas-bf16", "dp4a",
                                                        "plain"};
    return names[path];
}

const char *ulb_device_quantise_name(enum ulb_device_quantise quantise)
{
    static const char *const names[] = {"none", "fused", "scaled", "before"};
    return names[quantise];
}

const char *ulb_device_tile_name(const struct ulb_device_kernel *kernel, unsigned lanes, char out[16])
{
    snprintf(out, 16, "%ux%u", kernel->tile.rows * lanes, kernel->tile.tokens);
    return out;
}

char *ulb_device_kernel_name(const struct ulb_device_kernel *kernel, enum ulb_device_path path,
                             char out[ULB_KERNEL_NAME_MAX])
{
    const struct ulb_device_tile *tile = &kernel->tile;
    const bool quantised = kernel->quantise != ULB_QUANTISE_NONE;
    snprintf(out, ULB_KERNEL_NAME_MAX, "%s%s%s%s-%s-%ux%us%u", kernel->layout->format->name,
             ulb_activation_name(kernel->given), quantised ? "-" : "",
             quantised ? ulb_device_quantise_name(kernel->quantise) : "", ulb_device_path_name(path),
             tile->rows, tile->tokens, tile->split);
    return out;
}

size_t ulb_device_columns(const struct ulb_device_kernel *kernel, size_t k)
{
    return ulb_round_up(k, (size_t)kernel->layout->tile_k * kernel->tile.steps * kernel->tile.split);
}

void ulb_device_options(const struct ulb_device_kernel *kernel, enum ulb_device_path path, unsigned lanes,
                        bool played, char *options, size_t bytes)
{
    static const char *const paths[ULB_DEVICE_PATHS] = {"DPAS_INT2", "DPAS_INT8", "DPAS_BF16", "DP4A",
                                                        "PLAIN"};
    static const char *const quantise[] = {"NONE", "FUSED", "SCALED", "BEFORE"};
    const struct ulb_device_tile *tile = &kernel->tile;
    const bool plays = played || path >= ULB_PATH_DP4A;
    /* Sums of more than 64 registers leave a thread too few of 128. */
    const bool large = !plays && tile->rows * tile->tokens > 64;
    snprintf(options, bytes,
             "-DULB_PATH_%s -DULB_QUANTISE_%s -DULB_GIVEN_%s -DULB_LANES=%u -DULB_TILES=%u -DULB_TOKENS=%u "
             "-DULB_STEPS=%u -DULB_SPLIT=%u%s%s%s",
             paths[path], quantise[kernel->quantise], kernel->given == ULB_ACT_F32 ? "F32" : "BF16", lanes,
             tile->rows, tile->tokens, tile->steps, tile->split, plays ? " -DULB_PLAY_SUB_GROUP" : "",
             path == ULB_PATH_DP4A && !played ? " -DULB_HAS_DP4A" : "",
             large ? " -cl-intel-256-GRF-per-thread" : "");
}
