#include "harness/opencl/measure_products.h"

#include "common/stats.h"
#include "common/units.h"
#include "harness/opencl/device_check.h"
#include "harness/opencl/device_samples.h"
#include "harness/opencl/device_verify.h"
#include "harness/opencl/device_weights.h"
#include "harness/session/json_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which kernels ---- */

/* Builds one choice; *built says whether it is in the list. */
static enum ulb_status add_choice(struct ulb_product_list *list, const struct ulb_device_queue *queue,
                                  const struct ulb_device_choice *choice, bool *built, struct ulb_error *err)
{
    struct ulb_device_product *product = &list->items[list->n];
    enum ulb_status status =
        ulb_product_open(product, queue, choice->file, choice->kernel, choice->path, false, err);
    *built = status == ULB_OK;
    if (*built) {
        list->n++;
        return ULB_OK;
    }
    ulb_product_close(product);
    if (list->named)
        return status;
    ulb_device_tell(queue->link, "left_out",
                    json_pack("{s:s, s:s}", "variant", product->name, "reason", err->message));
    return ULB_OK;
}

static enum ulb_status refuse_paths(const struct ulb_device_queue *queue,
                                    const struct ulb_device_choice *choice, size_t others,
                                    struct ulb_error *err)
{
    char name[ULB_KERNEL_NAME_MAX], more[32] = "";
    const char *lacks;
    ulb_device_has_path(queue->device, choice->path, &lacks);
    if (others > 0)
        snprintf(more, sizeof more, " and %zu more", others);
    return ulb_fail(
        err, ULB_ENVIRONMENT,
        "kernel %s%s cannot run on %s, which lacks %s; leave --kernels out for the best that it has",
        ulb_device_kernel_name(choice->kernel, choice->path, name), more, queue->device->id, lacks);
}

enum ulb_status ulb_product_list_open(struct ulb_product_list *list, const struct ulb_device_queue *queue,
                                      const struct ulb_device_selection *selection, struct ulb_error *err)
{
    const struct ulb_device_kernel *done = NULL; /* of which a path was taken */
    enum ulb_status status = ULB_OK;
    *list = (struct ulb_product_list){.named = selection->named};
    list->items = calloc(selection->n, sizeof *list->items);
    if (!list->items)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu kernels", selection->n);
    for (size_t i = 0; i < selection->n && status == ULB_OK; i++) {
        const struct ulb_device_choice *choice = &selection->choices[i];
        const char *lacks;
        bool built = false;
        if ((!list->named && choice->kernel == done) ||
            !ulb_device_has_path(queue->device, choice->path, &lacks))
            continue;
        status = add_choice(list, queue, choice, &built, err);
        done = built ? choice->kernel : done;
    }
    if (status == ULB_OK && list->n == 0)
        return list->named ? refuse_paths(queue, &selection->choices[0], selection->n - 1, err)
                           : ulb_fail(err, ULB_ENVIRONMENT,
                                      "no kernel could be built for %s; update its driver, or see what its "
                                      "compiler says: ulb-bench verify --device %s",
                                      queue->device->id, queue->device->id);
    return status;
}

void ulb_product_list_close(struct ulb_product_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        ulb_product_close(&list->items[i]);
    free(list->items);
    *list = (struct ulb_product_list){0};
}

/* ---- one cell ---- */

struct measuring {
    const struct ulb_device_queue *queue;
    const struct ulb_device_products_wish *wish;
    const struct ulb_product_list *list;
    struct ulb_device_yardstick yardstick;
    double yardstick_rate; /* as read last, bytes/s */
    struct ulb_device_weights *weights;
    size_t done, all; /* cells, for progress */
};

static enum ulb_status tell_product(const struct measuring *measuring,
                                    const struct ulb_device_product *product,
                                    const struct ulb_device_shape *shape,
                                    const struct ulb_device_samples *samples, double yardstick,
                                    struct ulb_error *err)
{
    const struct ulb_device_kernel *kernel = product->kernel;
    const struct ulb_device_weights *weights = measuring->weights;
    char tile[16];
    json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:s, s:s, s:I, s:I}", "kernel",
                            product->name, "layout", kernel->layout->name, "format",
                            kernel->layout->format->name, "model", shape->model, "layer", shape->layer, "m",
                            (json_int_t)shape->m, "k", (json_int_t)shape->k, "n", (json_int_t)shape->n,
                            "path", ulb_device_path_name(product->path), "tile",
                            ulb_device_tile_name(kernel, product->lanes, tile), "quantise",
                            ulb_device_quantise_name(kernel->quantise), "weight_bytes",
                            (json_int_t)ulb_layout_read_bytes(kernel->layout, shape->m, shape->k),
                            "ring_bytes", (json_int_t)(weights->copy_bytes * weights->n));
    json_t *us = json_array();
    bool whole = row && us;
    for (size_t i = 0; i < samples->n && whole; i++)
        whole = json_array_append_new(us, json_real(1e6 * samples->host_s[i])) == 0;
    if (!whole || json_object_set(row, "us_samples", us) != 0 ||
        json_object_set_new(row, "us_event", json_real(1e6 * ulb_median_of(samples->event_s, samples->n))) !=
            0) {
        json_decref(us);
        json_decref(row);
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the times of %s", product->name);
    }
    json_decref(us);
    ulb_set_figure(row, "yardstick_gbps", yardstick / ULB_GB,
                   "the clock of the device's events stands still");
    ulb_device_tell(measuring->queue->link, "product", row);
    return ULB_OK;
}

/* ---- rounds over the kernels of a layout at one shape ---- */

enum { ROUNDS_MOST = 11, ROUNDS_QUICK = 3 };
_Static_assert(ROUNDS_MOST * 10 <= ULB_DEVICE_SAMPLES_MOST, "the samples of all rounds have room");

/* A kernel whose samples the rounds take in turn. */
struct turn {
    const struct ulb_device_product *product;
    struct ulb_product_buffers buffers;
    struct ulb_launch *launches; /* of copy after copy */
    size_t each;                 /* launches of a product */
    struct ulb_device_samples samples;
};

/* Verifies the kernel, then makes it ready. */
static enum ulb_status turn_open(struct turn *turn, struct measuring *measuring,
                                 const struct ulb_test_case *test_case, const struct ulb_device_shape *shape,
                                 struct ulb_error *err)
{
    const struct ulb_device_product *product = turn->product;
    ulb_device_tell(measuring->queue->link, "progress",
                    json_real((double)measuring->done++ / (double)measuring->all));
    enum ulb_status status = ulb_product_verify(product, test_case, err);
    if (status == ULB_OK)
        status = ulb_product_buffers_open(&turn->buffers, product, shape->m, shape->k, shape->n,
                                          test_case->xf, test_case->x.columns, false, err);
    if (status != ULB_OK)
        return status;
    turn->launches = calloc(measuring->weights->n * ULB_PRODUCT_LAUNCHES, sizeof *turn->launches);
    if (!turn->launches)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to measure %s", product->name);
    for (size_t i = 0, at = 0; i < measuring->weights->n; i++, at += turn->each)
        turn->each =
            ulb_product_launches(product, &turn->buffers, measuring->weights->copies[i], turn->launches + at);
    return ulb_product_set(product, &turn->buffers, err);
}

/* The samples of one round, behind those of the rounds before. */
static enum ulb_status turn_sample(struct turn *turn, const struct measuring *measuring,
                                   const struct ulb_device_shape *shape, struct ulb_error *err)
{
    const bool quick = measuring->wish->on.quick;
    struct ulb_device_samples round;
    char doing[ULB_KERNEL_NAME_MAX + 64];
    snprintf(doing, sizeof doing, "%s was measured at %zux%zu", turn->product->name, shape->m, shape->k);
    const struct ulb_device_sampling sampling = {.launches = turn->launches,
                                                 .n = turn->each,
                                                 .turns = measuring->weights->n,
                                                 .least = 1,
                                                 .most = quick ? 4 : 10,
                                                 .seconds = quick ? 0.03 : 0.1,
                                                 .doing = doing};
    enum ulb_status status = ulb_device_sample(measuring->queue, &sampling, &round, err);
    for (size_t i = 0; i < round.n && status == ULB_OK; i++) {
        turn->samples.event_s[turn->samples.n] = round.event_s[i];
        turn->samples.host_s[turn->samples.n++] = round.host_s[i];
    }
    return status;
}

/* Rounds, every second one backwards, and the yardstick behind each. yardstick: the median over the rounds of
 * what was read before and behind. */
static enum ulb_status take_rounds(struct measuring *measuring, struct turn *turns, size_t n,
                                   const struct ulb_device_shape *shape, double *yardstick,
                                   struct ulb_error *err)
{
    const size_t rounds = measuring->wish->on.quick ? ROUNDS_QUICK : ROUNDS_MOST;
    double rates[ROUNDS_MOST];
    enum ulb_status status = ULB_OK;
    for (size_t r = 0; r < rounds && status == ULB_OK; r++) {
        const double before = measuring->yardstick_rate;
        for (size_t i = 0; i < n && status == ULB_OK; i++)
            status = turn_sample(&turns[r % 2 == 0 ? i : n - 1 - i], measuring, shape, err);
        if (status == ULB_OK)
            status = ulb_device_yardstick_read(&measuring->yardstick, measuring->weights->pieces,
                                               measuring->weights->n_pieces, &measuring->yardstick_rate, err);
        rates[r] = (before + measuring->yardstick_rate) / 2;
    }
    *yardstick = status == ULB_OK ? ulb_median_of(rates, rounds) : (double)NAN;
    return status;
}

static bool takes(const struct measuring *measuring, const struct ulb_device_product *product,
                  const struct ulb_layout *layout, size_t n)
{
    return product->kernel->layout == layout &&
           (measuring->list->named || (n == 1) == (product->kernel->tile.tokens == 1));
}

/* All kernels of a layout at one shape and number of tokens, of a test case that may have more. */
static enum ulb_status measure_tokens(struct measuring *measuring, const struct ulb_layout *layout,
                                      const struct ulb_test_case *test_case,
                                      const struct ulb_device_shape *shape, struct ulb_error *err)
{
    struct ulb_test_case part = *test_case;
    struct turn *turns = calloc(measuring->list->n, sizeof *turns);
    enum ulb_status status = turns ? ULB_OK
                                   : ulb_fail(err, ULB_ENVIRONMENT,
                                              "not enough memory to measure %zu kernels", measuring->list->n);
    double yardstick = NAN;
    size_t n = 0;
    part.n = shape->n;
    for (size_t i = 0; i < measuring->list->n && status == ULB_OK; i++) {
        if (!takes(measuring, &measuring->list->items[i], layout, shape->n))
            continue;
        turns[n].product = &measuring->list->items[i];
        status = turn_open(&turns[n++], measuring, &part, shape, err);
    }
    if (status == ULB_OK)
        status = take_rounds(measuring, turns, n, shape, &yardstick, err);
    for (size_t i = 0; i < n; i++) {
        if (status == ULB_OK)
            status = tell_product(measuring, turns[i].product, shape, &turns[i].samples, yardstick, err);
        ulb_product_buffers_close(&turns[i].buffers, measuring->queue);
        free(turns[i].launches);
    }
    free(turns);
    return status;
}

/* ---- all cells ---- */

/* The packed weights of a test case into the ring. */
static enum ulb_status set_weights(struct measuring *measuring, const struct ulb_layout *layout,
                                   const struct ulb_test_case *test_case, struct ulb_error *err)
{
    const size_t bytes = ulb_layout_bytes(layout, test_case->weights.m, test_case->weights.k);
    char *packed = aligned_alloc(ULB_CACHE_LINE, ulb_round_up(bytes, ULB_CACHE_LINE));
    if (!packed)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu bytes of packed weights", bytes);
    ulb_test_case_pack(test_case, layout, packed, NULL);
    enum ulb_status status = ulb_device_weights_set(measuring->weights, measuring->queue, packed, bytes, err);
    free(packed);
    return status;
}

/* Bytes that a buffer of the device may have. */
static size_t largest_buffer(const struct ulb_device *device)
{
    size_t half = (size_t)(device->memory_bytes / 2), most = (size_t)device->largest_buffer_bytes;
    return most > 0 && (half == 0 || most < half) ? most : half > 0 ? half : SIZE_MAX;
}

static bool fits(const struct ulb_device_queue *queue, const struct ulb_layout *layout,
                 const struct ulb_device_shape *shape)
{
    return ulb_layout_bytes(layout, shape->m, shape->k) <= largest_buffer(queue->device);
}

static void leave_out_shape(const struct measuring *measuring, const struct ulb_layout *layout,
                            const struct ulb_device_shape *shape)
{
    char text[200];
    snprintf(text, sizeof text,
             "%zux%zu in %s is left out: it takes %.1f GiB, and a buffer of %s holds %.1f GiB", shape->m,
             shape->k, layout->name, (double)ulb_layout_bytes(layout, shape->m, shape->k) / ULB_GIB,
             measuring->queue->device->id, (double)largest_buffer(measuring->queue->device) / ULB_GIB);
    ulb_device_tell(measuring->queue->link, "note", json_string(text));
}

/* A layout at one shape, for the numbers of tokens of shapes[0] to shapes[n - 1]. */
static enum ulb_status measure_layout(struct measuring *measuring, const struct ulb_layout *layout,
                                      const struct ulb_kernel *reference,
                                      const struct ulb_device_shape *shapes, size_t n, struct ulb_error *err)
{
    struct ulb_test_case test_case;
    ulb_device_doing(measuring->queue->link, 600, "take a smaller shape by --shapes",
                     "while the answer at %zux%zu was computed", shapes->m, shapes->k);
    enum ulb_status status =
        ulb_test_case_open_tokens(&test_case, reference, shapes->m, shapes->k, shapes[n - 1].n,
                                  ULB_FILL_RANDOM, measuring->wish->seed, NULL, err);
    if (status == ULB_OK)
        status = set_weights(measuring, layout, &test_case, err);
    if (status == ULB_OK)
        status = ulb_device_yardstick_read(&measuring->yardstick, measuring->weights->pieces,
                                           measuring->weights->n_pieces, &measuring->yardstick_rate, err);
    for (size_t i = 0; i < n && status == ULB_OK; i++)
        status = measure_tokens(measuring, layout, &test_case, &shapes[i], err);
    ulb_test_case_close(&test_case);
    return status;
}

/* The layouts of the list one after the other. */
static enum ulb_status measure_shape(struct measuring *measuring, const struct ulb_device_shape *shapes,
                                     size_t n, struct ulb_error *err)
{
    const struct ulb_product_list *list = measuring->list;
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < list->n && status == ULB_OK; i++) {
        const struct ulb_device_kernel *kernel = list->items[i].kernel;
        const struct ulb_kernel *reference = ulb_device_reference(kernel);
        if (i > 0 && list->items[i - 1].kernel->layout == kernel->layout)
            continue;
        if (!fits(measuring->queue, kernel->layout, shapes)) {
            leave_out_shape(measuring, kernel->layout, shapes);
            continue;
        }
        if (!reference)
            return ulb_fail(
                err, ULB_ENVIRONMENT,
                "this build has no scalar kernel of %s to hold others against; let ULB_ONLY leave "
                "it in",
                kernel->layout->format->name);
        status = measure_layout(measuring, kernel->layout, reference, shapes, n, err);
    }
    return status;
}

/* Of those that fit. */
static size_t largest_matrix(const struct ulb_device_queue *queue, const struct ulb_product_list *list,
                             const struct ulb_device_shape *shapes, size_t n)
{
    size_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < list->n; j++) {
            const struct ulb_layout *layout = list->items[j].kernel->layout;
            size_t bytes = ulb_layout_bytes(layout, shapes[i].m, shapes[i].k);
            largest = bytes > largest && fits(queue, layout, &shapes[i]) ? bytes : largest;
        }
    }
    return largest;
}

static size_t count_cells(const struct measuring *measuring)
{
    size_t cells = 0;
    for (size_t i = 0; i < measuring->wish->n_shapes; i++) {
        const struct ulb_device_shape *shape = &measuring->wish->shapes[i];
        for (size_t j = 0; j < measuring->list->n; j++) {
            const struct ulb_device_product *product = &measuring->list->items[j];
            const struct ulb_layout *layout = product->kernel->layout;
            cells += fits(measuring->queue, layout, shape) && takes(measuring, product, layout, shape->n);
        }
    }
    return cells;
}

static enum ulb_status measure_all(struct measuring *measuring, struct ulb_error *err)
{
    const struct ulb_device_shape *shapes = measuring->wish->shapes;
    enum ulb_status status = ULB_OK;
    for (size_t i = 0, n; i < measuring->wish->n_shapes && status == ULB_OK; i += n) {
        for (n = 1; i + n < measuring->wish->n_shapes && shapes[i + n].m == shapes[i].m &&
                    shapes[i + n].k == shapes[i].k && shapes[i + n].n > shapes[i + n - 1].n;
             n++)
            ;
        status = measure_shape(measuring, shapes + i, n, err);
    }
    return status;
}

enum ulb_status ulb_products_measure(const struct ulb_device_queue *queue,
                                     const struct ulb_device_products_wish *wish,
                                     const struct ulb_product_list *list,
                                     const struct ulb_device_reader *yardstick, struct ulb_error *err)
{
    struct measuring measuring = {.queue = queue, .wish = wish, .list = list};
    cl_kernel fill = NULL;
    measuring.all = count_cells(&measuring);
    if (measuring.all == 0)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "no matrix fits a buffer of %s, which holds %.1f GiB; take smaller ones by --shapes",
                        queue->device->id, (double)largest_buffer(queue->device) / ULB_GIB);
    measuring.weights = calloc(1, sizeof *measuring.weights);
    if (!measuring.weights)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to measure products");
    /* The reader's items depend on the size of a buffer, which the weights know first. */
    const size_t largest = largest_matrix(queue, list, wish->shapes, wish->n_shapes);
    enum ulb_status status =
        ulb_device_yardstick_open(&measuring.yardstick, queue, yardstick,
                                  ulb_device_weights_piece(queue->device, wish->on.ring_bytes, largest), err);
    if (status == ULB_OK)
        status = ulb_kernel_get(queue, measuring.yardstick.program, "fill", &fill, err);
    if (status == ULB_OK)
        status = ulb_device_weights_open(measuring.weights, queue, fill, wish->on.ring_bytes, largest, err);
    if (status == ULB_OK)
        status = measure_all(&measuring, err);
    ulb_device_weights_close(measuring.weights, queue);
    if (fill)
        queue->cl->clReleaseKernel(fill);
    ulb_device_yardstick_close(&measuring.yardstick);
    free(measuring.weights);
    return status;
}
