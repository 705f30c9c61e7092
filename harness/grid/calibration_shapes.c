#include "harness/grid/calibration_shapes.h"

#include "models/models.h"

/* Lengths of rows, multiples of what most layouts cut them into. The first is shorter than those of most
 * models: what a tile costs is not extrapolated to shorter rows. Bytes of weights per thread: a call on the
 * large ones lasts some 100 us, so that its own cost hardly counts. No model has these shapes. */
static const struct {
    size_t k;
    double bytes;
} shapes[ULB_OVERLAP_SHAPES] = {{1216, 2 << 20}, {8704, 2 << 20}, {3328, 256 << 10}};

struct ulb_shape ulb_overlap_shape(const struct ulb_kernel *kernel, size_t threads, size_t i)
{
    const struct ulb_layout *layout = kernel->layout;
    size_t k = ulb_layout_columns(layout, shapes[i].k); /* no padding */
    double tile_bytes = (double)(kernel->mr * k) / ULB_STEP_WEIGHTS * kernel->bytes_per_step;
    size_t tiles = (size_t)(shapes[i].bytes / tile_bytes) | 1; /* models have even counts */
    return (struct ulb_shape){tiles * kernel->mr * threads, k};
}
