#include "harness/compute/instruction_count.h"

#include "harness/compute/callgrind.h"
#include "harness/counters/counters.h"
#include "models/models.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Whatever disturbs a count adds to it. */
enum { TRIES = 9 };

static enum ulb_status add_count(struct ulb_session *session, const struct ulb_kernel *kernel, double count,
                                 const char *source, const char *reason, struct ulb_error *err)
{
    struct ulb_count_cell cell = {.instructions_per_step = count};
    ulb_kernel_name(kernel, cell.kernel);
    snprintf(cell.format, sizeof cell.format, "%s", kernel->layout->format->name);
    snprintf(cell.isa, sizeof cell.isa, "%s", kernel->isa);
    snprintf(cell.source, sizeof cell.source, "%s", isnan(count) ? "" : source);
    snprintf(cell.reason, sizeof cell.reason, "%.127s", reason);
    return ulb_record_add_count(session->record, &cell, err);
}

/* Steps between the two sizes. */
static enum ulb_status steps_of(const struct ulb_kernel *kernel, uint64_t seed, double *steps,
                                struct ulb_error *err)
{
    struct ulb_gamma_sizes sizes;
    enum ulb_status status = ulb_gamma_sizes_open_counted(&sizes, kernel, ULB_COUNT_L1_BYTES, seed, err);
    if (status != ULB_OK)
        return status;
    *steps = sizes.steps;
    ulb_gamma_sizes_close(&sizes);
    return ULB_OK;
}

/* --- perf --- */

static double least_count(struct ulb_cycle_counter *counter, const struct ulb_gamma_loop *loop)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = ulb_cycle_counter_read(counter);
        ulb_gamma_loop_warm(loop, 0);
        uint64_t count = ulb_cycle_counter_read(counter) - before;
        least = count < least ? count : least;
    }
    return (double)least;
}

static enum ulb_status count_with_perf(struct ulb_session *session, const struct ulb_kernel *kernel,
                                       struct ulb_cycle_counter *counter, struct ulb_error *err)
{
    struct ulb_gamma_sizes sizes;
    enum ulb_status status =
        ulb_gamma_sizes_open_counted(&sizes, kernel, ULB_COUNT_L1_BYTES, session->settings.seed, err);
    if (status != ULB_OK)
        return status;
    double count = (least_count(counter, &sizes.loops[ULB_GAMMA_FULL]) -
                    least_count(counter, &sizes.loops[ULB_GAMMA_BRIEF])) /
                   sizes.steps;
    ulb_gamma_sizes_close(&sizes);
    if (!counter->sound)
        return ulb_fail(
            err, ULB_ENVIRONMENT,
            "instructions were not counted all the time: others use the PMU, or the thread moved");
    return add_count(session, kernel, count, "perf", "", err);
}

/* --- either --- */

static enum ulb_status count_kernel(struct ulb_session *session, const struct ulb_kernel *kernel,
                                    struct ulb_cycle_counter *counter, double difference, const char *why_not,
                                    struct ulb_error *err)
{
    if (!ulb_selection_can_run(&session->selection, kernel->needs)) {
        char missing[96], reason[128];
        snprintf(reason, sizeof reason, "this CPU lacks %s",
                 ulb_isa_names(kernel->needs & ~session->selection.isa, missing, sizeof missing));
        return add_count(session, kernel, NAN, "", reason, err);
    }
    if (counter->backend)
        return count_with_perf(session, kernel, counter, err);
    if (isnan(difference))
        return add_count(session, kernel, NAN, "", why_not, err);
    double steps;
    enum ulb_status status = steps_of(kernel, session->settings.seed, &steps, err);
    return status == ULB_OK ? add_count(session, kernel, difference / steps, "callgrind", "", err) : status;
}

static enum ulb_status count_kernels(struct ulb_session *session, struct ulb_cycle_counter *counter,
                                     const double *differences, const char *why_not, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < ulb_kernel_count && status == ULB_OK; i++) {
        if (!ulb_selection_wants(&session->selection, ulb_kernels[i]))
            continue;
        status = count_kernel(session, ulb_kernels[i], counter, differences[i], why_not, err);
        ulb_session_progress(session, "count", (double)i / (double)ulb_kernel_count);
        if (status == ULB_OK)
            status = ulb_check_interrupted(err);
    }
    return status;
}

static bool any_count(const double *differences)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (!isnan(differences[i]))
            return true;
    }
    return false;
}

enum ulb_status ulb_count_measure(struct ulb_session *session, struct ulb_error *err)
{
    struct ulb_cycle_counter counter = {0};
    struct ulb_error no_perf, no_valgrind = {"valgrind does not know its instructions"};
    size_t n;
    const struct ulb_kernel **kernels = calloc(ulb_kernel_count, sizeof *kernels);
    double *differences = calloc(ulb_kernel_count, sizeof *differences);
    enum ulb_status status =
        kernels && differences ? ulb_selection_kernels(&session->selection, kernels, &n, err)
                               : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the list of kernels");
    if (status != ULB_OK)
        goto out;
    ulb_session_progress(session, "count", 0);
    if (ulb_instruction_counter_open(&counter, &no_perf) != ULB_OK) {
        bool failed = ulb_callgrind_count(&session->settings, differences, &no_valgrind) != ULB_OK;
        /* On a terminal Ctrl-C ends valgrind, too: that is no reason of its own. */
        status = ulb_check_interrupted(err);
        if (status == ULB_OK && failed && !any_count(differences))
            status = ulb_fail(err, ULB_ENVIRONMENT,
                              "instructions cannot be counted: perf: %.200s; callgrind: %.200s",
                              no_perf.message, no_valgrind.message);
    }
    if (status == ULB_OK)
        status = count_kernels(session, &counter, differences, no_valgrind.message, err);
    ulb_cycle_counter_close(&counter);
    ulb_session_progress(session, "count", 1);
out:
    free(kernels);
    free(differences);
    return status;
}
