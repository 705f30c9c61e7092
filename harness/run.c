#include "harness/run.h"

#include "harness/bandwidth/beta.h"
#include "harness/compute/instruction_count.h"
#include "harness/decode/measure_decode.h"
#include "harness/decode/token_rest.h"
#include "harness/compute/format_table.h"
#include "harness/compute/gamma.h"
#include "harness/grid/grid.h"
#include "harness/grid/shortlist.h"
#include "harness/opencl/device_grid.h"
#include "harness/opencl/devices.h"
#include "harness/session/checkpoint.h"
#include "harness/session/describe_machine.h"
#include "harness/session/session.h"
#include "harness/analysis/port_bounds.h"
#include "harness/verify/test_case.h"
#include "harness/verify/stranger.h"
#include "kernels/plugin_loader.h"
#include "results/compare/compare.h"
#include "results/summary/record_summary.h"

#include <stdlib.h>
#include <string.h>

static bool needs_kernels(enum ulb_stage stage)
{
    return stage != ULB_STAGE_BETA && stage != ULB_STAGE_MEMORY;
}

static enum ulb_status measure_beta(struct ulb_session *session, enum ulb_stage stage, struct ulb_error *err)
{
    if (stage == ULB_STAGE_BETA)
        return ulb_beta_measure_alone(session, err);
    if (stage == ULB_STAGE_ALL)
        return ulb_beta_measure(session, err);
    if (stage == ULB_STAGE_MEMORY || stage == ULB_STAGE_LIMITS || stage == ULB_STAGE_FORMATS)
        return ulb_beta_measure_memory(session, err);
    return ULB_OK;
}

static enum ulb_status measure_gamma(struct ulb_session *session, enum ulb_stage stage,
                                     const struct ulb_kernel **kernels, size_t n, struct ulb_error *err)
{
    bool wanted = stage == ULB_STAGE_GAMMA || stage == ULB_STAGE_LIMITS || stage == ULB_STAGE_FORMATS ||
                  stage == ULB_STAGE_ALL;
    bool look_ups = stage == ULB_STAGE_GAMMA || stage == ULB_STAGE_ALL;
    enum ulb_status status =
        wanted ? ulb_port_bounds_record(session->record, &session->machine.topology, kernels, n, err)
               : ULB_OK;
    return wanted && status == ULB_OK ? ulb_gamma_measure(session, kernels, n, look_ups, err) : status;
}

/* Counters are opened for one core at a time: what all cores do together is always the chain's. */
static enum ulb_status set_cycles_sources(struct ulb_session *session, struct ulb_error *err)
{
    const char *alone = session->machine.clock.name,
               *together = strcmp(alone, "emulated") == 0 ? alone : "chain";
    return ulb_record_set_cycles_sources(session->record, together, alone, err);
}

static enum ulb_status measure(struct ulb_session *session, enum ulb_stage stage,
                               const struct ulb_kernel **kernels, struct ulb_error *err)
{
    size_t n = 0, largest = 0;
    enum ulb_product product = stage == ULB_STAGE_GEMM ? ULB_GEMM : ULB_GEMV;
    enum ulb_status status = ULB_OK;
    if (needs_kernels(stage))
        status = ulb_selection_kernels(&session->selection, kernels, &n, err);
    if (status == ULB_OK && stage >= ULB_STAGE_GEMV)
        status = ulb_grid_largest(session, product, kernels, n, &largest, err);
    if (status == ULB_OK)
        status = ulb_machine_describe(session, err);
    if (status == ULB_OK)
        status = set_cycles_sources(session, err);
    if (status == ULB_OK && stage != ULB_STAGE_GAMMA)
        status = ulb_session_arena(session, largest, err);
    if (status == ULB_OK && stage != ULB_STAGE_GAMMA)
        status = ulb_machine_huge_pages(session, err);
    if (status == ULB_OK)
        status = ulb_checkpoint_begin(session, err);
    if (status == ULB_OK)
        status = measure_beta(session, stage, err);
    /* Beta changes the ring when small pages read faster. */
    if (status == ULB_OK && session->arena.pages.asked == ULB_PAGES_SMALL)
        status = ulb_machine_huge_pages(session, err);
    if (status == ULB_OK)
        status = measure_gamma(session, stage, kernels, n, err);
    if (status == ULB_OK && stage == ULB_STAGE_ALL && session->settings.best_kernels)
        status = ulb_shortlist_kernels(session, kernels, &n, err);
    if (status == ULB_OK && stage == ULB_STAGE_FORMATS)
        status = ulb_formats_measure(session, kernels, n, err);
    if (status == ULB_OK && stage >= ULB_STAGE_GEMV)
        status = ulb_grid_measure(session, product, kernels, n, err);
    if (status == ULB_OK && stage == ULB_STAGE_ALL)
        status = ulb_gamma_resolve(session->record, err);
    if (status == ULB_OK && stage == ULB_STAGE_ALL)
        status = ulb_token_rest_measure(session, kernels, n, err);
    return status;
}

static enum ulb_status count(struct ulb_session *session, struct ulb_error *err)
{
    enum ulb_status status = ulb_machine_describe(session, err);
    if (status == ULB_OK)
        status = ulb_machine_huge_pages(session, err);
    return status == ULB_OK ? ulb_count_measure(session, err) : status;
}

static enum ulb_status decode(struct ulb_session *session, struct ulb_error *err)
{
    enum ulb_status status = ulb_machine_describe(session, err);
    if (status == ULB_OK && session->settings.decode->into)
        status = ulb_check_part(session->settings.decode->into, session->record, err);
    if (status == ULB_OK)
        status = set_cycles_sources(session, err);
    return status == ULB_OK ? ulb_decode_measure(session, session->settings.decode, err) : status;
}

static enum ulb_status run_stage(struct ulb_session *session, enum ulb_stage stage,
                                 const struct ulb_kernel **kernels, struct ulb_error *err)
{
    switch (stage) {
    case ULB_STAGE_COUNT:
        return count(session, err);
    case ULB_STAGE_DECODE:
        return decode(session, err);
    default:
        return measure(session, stage, kernels, err);
    }
}

/* Kernels of others are timed in this process, where they can do harm: those that are wanted prove sound in
 * another one first. */
static enum ulb_status check_strangers(const struct ulb_session *session, struct ulb_error *err)
{
    const struct ulb_settings *settings = &session->settings;
    enum ulb_status status = ULB_OK;
    size_t cases;
    ulb_kernel_timeout(settings->call_timeout_s);
    for (size_t i = 0; i < ulb_kernel_count && status == ULB_OK; i++) {
        const struct ulb_kernel *kernel = ulb_kernels[i];
        if (ulb_kernel_is_foreign(kernel) && ulb_selection_wants(&session->selection, kernel) &&
            ulb_selection_can_run(&session->selection, kernel->needs))
            status = ulb_stranger_check(kernel, settings->seed, settings->call_timeout_s, &cases, err);
    }
    return status;
}

/* The device comes first: its driver's threads may use every core, which a pinned team would take from them.
 */
static enum ulb_status measure_device(const struct ulb_settings *settings, enum ulb_stage stage,
                                      struct ulb_record *record, struct ulb_error *err)
{
    struct ulb_session session = {.settings = *settings};
    struct ulb_error more;
    enum ulb_status status =
        stage == ULB_STAGE_DEVICE
            ? ulb_device_limits(settings, NULL, record, err)
            : ulb_device_grid(settings, stage == ULB_STAGE_DEVICE_GEMM ? ULB_GEMM : ULB_GEMV, record, err);
    if (!json_object_get(record->root, "devices"))
        return status;
    enum ulb_status described = ulb_session_open(&session, record, &more);
    if (described == ULB_OK) {
        described = ulb_machine_describe(&session, &more);
        if (described == ULB_OK)
            described = ulb_machine_huge_pages(&session, &more);
        ulb_session_close(&session);
    }
    if (described == ULB_OK || status != ULB_OK)
        return status;
    *err = more;
    return described;
}

/* Summarises what there is, after an interruption too. */
static enum ulb_status summarise(struct ulb_record *record, struct ulb_error *err)
{
    json_t *summary;
    enum ulb_status status = ulb_summary_of(record, &summary, err);
    return status == ULB_OK ? ulb_record_set(record, "summary", summary, err) : status;
}

enum ulb_status ulb_run(const struct ulb_settings *settings, enum ulb_stage stage, struct ulb_record *record,
                        struct ulb_error *err)
{
    if (stage == ULB_STAGE_DEVICE || stage == ULB_STAGE_DEVICE_GEMV || stage == ULB_STAGE_DEVICE_GEMM)
        return measure_device(settings, stage, record, err);
    struct ulb_session session = {.settings = *settings};
    enum ulb_status status = ulb_session_open(&session, record, err);
    if (status != ULB_OK)
        return status;
    const struct ulb_kernel **kernels = calloc(ulb_kernel_count, sizeof *kernels);
    if (!kernels)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the list of kernels");
    else if (needs_kernels(stage))
        status = check_strangers(&session, err);
    if (status == ULB_OK)
        status = run_stage(&session, stage, kernels, err);
    struct ulb_error unsummarised;
    if (stage == ULB_STAGE_ALL && summarise(record, &unsummarised) != ULB_OK && status == ULB_OK) {
        *err = unsummarised;
        status = ULB_ENVIRONMENT;
    }
    struct ulb_error unsaid;
    if (record->root && ulb_machine_warn_of_sleep(&session, &unsaid) != ULB_OK && status == ULB_OK) {
        *err = unsaid;
        status = ULB_ENVIRONMENT;
    }
    free(kernels);
    ulb_checkpoint_end(&session);
    ulb_session_close(&session);
    return status;
}
