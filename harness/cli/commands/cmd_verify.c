/* ulb-bench verify: every kernel against its scalar reference. */
#include "harness/cli/commands/verify_device.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/measure_options.h"
#include "harness/cli/table.h"
#include "harness/session/session.h"
#include "harness/verify/verify.h"
#include "kernels/plugin_loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Runs every kernel against its scalar reference over edge shapes and extreme fills. Exit code 1 when "
    "one differs. With --device: the kernels of devices, each in every way in which it can be built; "
    "instructions that the device lacks are played.";

static json_t *row_json(const char *name, size_t cases, const char *skipped, const char *difference)
{
    json_t *row = json_pack("{s:s, s:I}", "kernel", name, "cases", (json_int_t)cases);
    json_object_set_new(row, "verified", skipped ? json_null() : json_boolean(!difference));
    if (skipped)
        json_object_set_new(row, "verified_reason", json_string(skipped));
    if (difference)
        json_object_set_new(row, "difference", json_string(difference));
    return row;
}

static void print_row(const char *name, size_t cases, const char *skipped, const char *difference)
{
    char head[ULB_KERNEL_NAME_MAX + 2], text[sizeof(struct ulb_error) + 8];
    if (skipped)
        snprintf(text, sizeof text, "skipped: %s", skipped);
    else
        snprintf(text, sizeof text, "equal over %zu cases", cases);
    if (difference) {
        /* Its message begins with the kernel, which the line does already. */
        size_t named = strncmp(difference, "kernel ", 7) == 0 ? 7 + strlen(name) : 0;
        snprintf(text, sizeof text, "FAILS:%s%s", named ? "" : " ", difference + named);
    }
    snprintf(head, sizeof head, "%-40s ", name);
    ulb_print_wrapped(stdout, head, text);
    fflush(stdout); /* all of them take a minute */
}

/* One row of the result. A difference is kept in err and does not end the list. Nor does a kernel of others
 * that ends its process. */
static enum ulb_status verify_kernel(const struct ulb_session *session, const struct ulb_kernel *kernel,
                                     bool json, json_t *rows, struct ulb_error *err)
{
    char name[ULB_KERNEL_NAME_MAX], missing[128], skipped[160];
    size_t cases = 0;
    ulb_kernel_name(kernel, name);
    bool can = ulb_selection_can_run(&session->selection, kernel->needs);
    snprintf(skipped, sizeof skipped, "this CPU lacks %s",
             ulb_isa_names(kernel->needs & ~session->selection.isa, missing, sizeof missing));
    const struct ulb_settings *settings = &session->settings;
    enum ulb_status status =
        can ? ulb_verify_kernel(kernel, settings->seed, settings->call_timeout_s, &cases, err) : ULB_OK;
    bool fails = status == ULB_FINDING || (status == ULB_ENVIRONMENT && ulb_kernel_is_foreign(kernel));
    if (status != ULB_OK && !fails)
        return status;
    const char *why = can ? NULL : skipped, *difference = fails ? err->message : NULL;
    if (json)
        json_array_append_new(rows, row_json(name, cases, why, difference));
    else
        print_row(name, cases, why, difference);
    return status;
}

/* If nothing is named: every kernel but the scalar ones, which are the reference. */
static bool wants(const struct ulb_session *session, const struct ulb_kernel *kernel)
{
    bool named = session->settings.formats || session->settings.kernels;
    return named ? ulb_selection_wants(&session->selection, kernel) : strcmp(kernel->isa, "ref") != 0;
}

static enum ulb_status verify_all(const struct ulb_session *session, bool json, json_t *rows,
                                  struct ulb_error *err)
{
    enum ulb_status worst = ULB_OK;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (!wants(session, ulb_kernels[i]))
            continue;
        struct ulb_error now;
        enum ulb_status status = ulb_check_interrupted(&now);
        if (status == ULB_OK)
            status = verify_kernel(session, ulb_kernels[i], json, rows, &now);
        if (status != ULB_OK && worst == ULB_OK) {
            worst = status;
            *err = now;
        }
        if (status == ULB_INTERRUPTED ||
            (status != ULB_OK && !ulb_kernel_is_foreign(ulb_kernels[i]) && status != ULB_FINDING))
            break;
    }
    return worst;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    struct ulb_measure_options options;
    bool done;
    enum ulb_status status = ulb_measure_parse(argc, argv, ULB_FOR_VERIFY, doc, &options, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (options.settings.device)
        return ulb_verify_on_device(&options, err);
    struct ulb_session session = {.settings = options.settings};
    struct ulb_record record;
    ulb_catch_signals();
    status = ulb_record_new(&record, err);
    if (status != ULB_OK)
        return status;
    const struct ulb_kernel **runnable = calloc(ulb_kernel_count, sizeof *runnable);
    size_t n;
    status = runnable ? ulb_session_open(&session, &record, err)
                      : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the list of kernels");
    if (status == ULB_OK)
        status = ulb_selection_kernels(&session.selection, runnable, &n, err);
    if (status == ULB_OK) {
        json_t *rows = json_array();
        status = verify_all(&session, options.json, rows, err);
        struct ulb_error unwritten;
        if (!options.json)
            json_decref(rows);
        else if (ulb_print_json(json_pack("{s:o}", "rows", rows), &unwritten) != ULB_OK && status == ULB_OK) {
            *err = unwritten;
            status = ULB_ENVIRONMENT;
        }
    }
    free(runnable);
    ulb_session_close(&session);
    ulb_record_free(&record);
    return status;
}

const struct ulb_command ulb_command_verify = {"verify", "every kernel against its scalar reference", run};
