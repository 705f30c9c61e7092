/* The shapes on which overlap_calibration.h measures how well a kernel's loads and arithmetic overlap. */
#ifndef ULB_HARNESS_GRID_CALIBRATION_SHAPES_H
#define ULB_HARNESS_GRID_CALIBRATION_SHAPES_H

#include "kernels/kernel.h"
#include "shapes/shapes.h"

/* Short rows and long rows of equal bytes tell the cost of a tile from c, few rows the cost of a call. */
enum { ULB_OVERLAP_SHAPES = 3 };

/* Shape i for a kernel on so many threads. Every kernel has as many bytes per thread. Tiles are whole and
 * parts are equal for every thread, so that nothing is padded. */
struct ulb_shape ulb_overlap_shape(const struct ulb_kernel *kernel, size_t threads, size_t i);

#endif
