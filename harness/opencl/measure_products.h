/* Products of device kernels over shapes: each verified, then timed with cold weights beside the yardstick.
 */
#ifndef ULB_HARNESS_OPENCL_MEASURE_PRODUCTS_H
#define ULB_HARNESS_OPENCL_MEASURE_PRODUCTS_H

#include "harness/opencl/device_beta.h"
#include "harness/opencl/device_product.h"
#include "harness/opencl/device_wish.h"

/* Kernels built for the device. */
struct ulb_product_list {
    struct ulb_device_product *items;
    size_t n;
    bool named;
};

/* Of a selection that a filter names: every path that the device has; ULB_ENVIRONMENT when it has none of
 * them, or one is not built. Else of each kernel the first path that the device has and that is built; a path
 * that is not is told as "left_out". To be closed whatever the status. */
enum ulb_status ulb_product_list_open(struct ulb_product_list *list, const struct ulb_device_queue *queue,
                                      const struct ulb_device_selection *selection, struct ulb_error *err);
void ulb_product_list_close(struct ulb_product_list *list);

/* Tells a "product" for each shape and kernel. Kernels that no filter names are taken for as many tokens as
 * their tile is for: one, or several. */
enum ulb_status ulb_products_measure(const struct ulb_device_queue *queue,
                                     const struct ulb_device_products_wish *wish,
                                     const struct ulb_product_list *list,
                                     const struct ulb_device_reader *yardstick, struct ulb_error *err);

#endif
