#include "harness/opencl/device_verify.h"

#include "harness/opencl/device_check.h"
#include "kernels/activations.h"

#include <stdlib.h>
#include <string.h>

/* ---- one test case ---- */

struct run {
    const struct ulb_device_product *product;
    const struct ulb_test_case *test_case;
    struct ulb_product_buffers buffers;
    struct ulb_guarded weights;
    char *packed; /* what the weights are */
};

static enum ulb_status no_memory(const struct run *run, struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to verify %s at %zux%zu", run->product->name,
                    run->test_case->weights.m, run->test_case->weights.k);
}

static enum ulb_status open_run(struct run *run, struct ulb_error *err)
{
    const struct ulb_test_case *test_case = run->test_case;
    const struct ulb_layout *layout = run->product->kernel->layout;
    const size_t m = test_case->weights.m, k = test_case->weights.k;
    const size_t bytes = ulb_round_up(ulb_layout_bytes(layout, m, k), ULB_CACHE_LINE);
    run->packed = aligned_alloc(ULB_CACHE_LINE, bytes);
    if (!run->packed)
        return no_memory(run, err);
    memset(run->packed, 0, bytes);
    ulb_test_case_pack(test_case, layout, run->packed, NULL);
    enum ulb_status status = ulb_guarded_open(&run->weights, run->product->queue,
                                              ulb_layout_bytes(layout, m, k), run->packed, err);
    return status == ULB_OK
               ? ulb_product_buffers_open(&run->buffers, run->product, m, k, test_case->n, test_case->xf,
                                          test_case->x.columns,
                                          run->product->kernel->quantise != ULB_QUANTISE_NONE, err)
               : status;
}

static void close_run(struct run *run)
{
    ulb_product_buffers_close(&run->buffers, run->product->queue);
    ulb_guarded_close(&run->weights, run->product->queue);
    free(run->packed);
}

static enum ulb_status launch(const struct run *run, struct ulb_error *err)
{
    const struct ulb_device_queue *queue = run->product->queue;
    struct ulb_launch launches[ULB_PRODUCT_LAUNCHES];
    struct ulb_launch_time unused;
    enum ulb_status status = ulb_product_set(run->product, &run->buffers, err);
    ulb_device_doing(queue->link, queue->launch_limit_s,
                     "restart its driver, take another --device, or raise --call-timeout",
                     "while %s was verified on %s", run->product->name, queue->device->id);
    return status == ULB_OK ? ulb_launch_all(queue, launches,
                                             ulb_product_launches(run->product, &run->buffers,
                                                                  run->weights.part, launches),
                                             &unused, err)
                            : status;
}

static enum ulb_status touch_fault(const struct run *run, const char *what, const char *where,
                                   struct ulb_error *err)
{
    return ulb_fail(err, ULB_FINDING, "kernel %s writes %s %s at %zux%zu, %zu tokens", run->product->name,
                    where, what, run->test_case->weights.m, run->test_case->weights.k, run->test_case->n);
}

/* A buffer's contents, with nothing written round them; *contents is the caller's to free. */
static enum ulb_status fetch(const struct run *run, const struct ulb_guarded *guarded, const char *what,
                             void **contents, struct ulb_error *err)
{
    const char *touched = NULL;
    *contents = NULL;
    if (!guarded->whole)
        return ULB_OK;
    *contents = malloc(guarded->bytes);
    if (!*contents)
        return no_memory(run, err);
    enum ulb_status status = ulb_guarded_read(guarded, run->product->queue, *contents, &touched, err);
    return status == ULB_OK && touched ? touch_fault(run, what, touched, err) : status;
}

/* What is only read: it is as it was. */
static enum ulb_status check_weights(const struct run *run, struct ulb_error *err)
{
    void *contents;
    enum ulb_status status = fetch(run, &run->weights, "the weights", &contents, err);
    if (status == ULB_OK && memcmp(contents, run->packed, run->weights.bytes) != 0)
        status = touch_fault(run, "the weights", "over", err);
    free(contents);
    return status;
}

static enum ulb_status check_given(const struct run *run, const void *contents, struct ulb_error *err)
{
    const struct ulb_test_case *test_case = run->test_case;
    void *given = ulb_product_given(run->product->kernel, test_case->weights.k, test_case->n, test_case->xf,
                                    test_case->x.columns);
    enum ulb_status status = given ? ULB_OK : no_memory(run, err);
    if (given && memcmp(given, contents, run->buffers.x.bytes) != 0)
        status = touch_fault(run, "the activations", "over", err);
    free(given);
    return status;
}

static enum ulb_status check_outputs(const struct run *run, struct ulb_error *err)
{
    const struct ulb_product_buffers *buffers = &run->buffers;
    const struct {
        const struct ulb_guarded *guarded;
        const char *what;
    } all[] = {{&buffers->x, "the activations"},
               {&buffers->codes, "the activations' codes"},
               {&buffers->inverse, "the inverses of scales"},
               {&buffers->scale, "the scales"},
               {&buffers->sums, "the sums"},
               {&buffers->y, "the results"}};
    enum { PARTS = sizeof all / sizeof *all };
    void *contents[PARTS] = {NULL};
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < PARTS && status == ULB_OK; i++)
        status = fetch(run, all[i].guarded, all[i].what, &contents[i], err);
    if (status == ULB_OK)
        status = check_given(run, contents[0], err);
    if (status == ULB_OK) {
        const struct ulb_device_output output = {.codes = contents[1],
                                                 .inverse = contents[2],
                                                 .scale = contents[3],
                                                 .sums = contents[4],
                                                 .y = contents[5]};
        status = ulb_device_check(run->product->kernel, run->product->name, run->test_case, &output, err);
    }
    for (size_t i = 0; i < PARTS; i++)
        free(contents[i]);
    return status;
}

enum ulb_status ulb_product_verify(const struct ulb_device_product *product,
                                   const struct ulb_test_case *test_case, struct ulb_error *err)
{
    struct run run = {.product = product, .test_case = test_case};
    enum ulb_status status = open_run(&run, err);
    if (status == ULB_OK)
        status = launch(&run, err);
    if (status == ULB_OK)
        status = check_weights(&run, err);
    if (status == ULB_OK)
        status = check_outputs(&run, err);
    close_run(&run);
    return status;
}

/* ---- the list ---- */

/* Around every edge of tiles, steps and parts of K, and real widths. Small shapes have every number of tokens
 * to 17. */
static const struct {
    size_t m, k, n_least, n_most;
} shapes[] = {{1, 1, 1, 2},     {7, 3, 1, 1},      {17, 33, 1, 17},  {31, 31, 5, 5},   {64, 127, 8, 9},
              {65, 129, 7, 7},  {96, 320, 17, 17}, {129, 513, 1, 1}, {129, 513, 3, 3}, {200, 1600, 1, 1},
              {48, 5460, 1, 1}, {40, 8640, 2, 2},  {16, 65536, 1, 1}};

static enum ulb_status verify_shape(const struct ulb_device_product *product, size_t m, size_t k, size_t n,
                                    uint64_t seed, size_t *cases, struct ulb_error *err)
{
    const struct ulb_kernel *reference = ulb_device_reference(product->kernel);
    const int last = product->kernel->quantise == ULB_QUANTISE_NONE ? ULB_FILL_LOST : ULB_FILL_ALTERNATING;
    enum ulb_status status = ULB_OK;
    if (!reference)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "this build has no scalar kernel of %s to hold others against; let ULB_ONLY leave it "
                        "in",
                        product->kernel->layout->format->name);
    for (int fill = ULB_FILL_RANDOM; fill <= last && status == ULB_OK; fill++) {
        struct ulb_test_case test_case;
        status =
            ulb_test_case_open_tokens(&test_case, reference, m, k, n, (enum ulb_fill)fill, seed, NULL, err);
        if (status == ULB_OK)
            status = ulb_product_verify(product, &test_case, err);
        ulb_test_case_close(&test_case);
        *cases += status == ULB_OK;
    }
    return status;
}

enum ulb_status ulb_product_verify_all(const struct ulb_device_product *product, uint64_t seed, size_t *cases,
                                       struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    *cases = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (size_t n = shapes[i].n_least; n <= shapes[i].n_most && status == ULB_OK; n++)
            status = verify_shape(product, shapes[i].m, shapes[i].k, n, seed, cases, err);
    }
    return status;
}
