#include "harness/cli/commands/verify_device.h"

#include "harness/cli/cli.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/table.h"
#include "harness/opencl/devices.h"
#include "kernels/kernel.h"

#include <stdio.h>
#include <string.h>

static void print_row(const json_t *row)
{
    char head[ULB_KERNEL_NAME_MAX + 2], text[sizeof(struct ulb_error) + 8];
    const char *name = ulb_row_text(row, "kernel"), *difference = ulb_row_text(row, "difference"),
               *lacks = ulb_row_text(row, "lacks");
    snprintf(text, sizeof text, "equal over %.0f cases%s%s", ulb_row_number(row, "cases"),
             *lacks ? ", played: the device lacks " : "", lacks);
    if (*difference) {
        /* Its message begins with the kernel, which the line does already. */
        size_t named = strncmp(difference, "kernel ", 7) == 0 ? 7 + strlen(name) : 0;
        snprintf(text, sizeof text, "FAILS:%s%s", named ? "" : " ", difference + named);
    }
    snprintf(head, sizeof head, "%-40s ", name);
    ulb_print_wrapped(stdout, head, text);
    fflush(stdout); /* all of them take minutes */
}

/* context: the rows of the document; NULL: they are printed. */
static enum ulb_status take(void *context, const char *key, json_t *value, struct ulb_error *err)
{
    if (strcmp(key, "note") == 0)
        fprintf(stderr, "note: %s\n", json_string_value(value));
    else if (!context)
        print_row(value);
    else if (json_array_append(context, value) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the result");
    return ULB_OK;
}

enum ulb_status ulb_verify_on_device(const struct ulb_measure_options *options, struct ulb_error *err)
{
    static const char *const idle[] = {"isa-mask", NULL};
    json_t *rows = options->json ? json_array() : NULL;
    struct ulb_error unwritten;
    enum ulb_status status = ulb_refuse_idle(options, idle, "on a device", err);
    if (status == ULB_OK && options->json && !rows)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the result");
    ulb_catch_signals();
    if (status == ULB_OK)
        status = ulb_device_verify(&options->settings, take, rows, err);
    if (json_array_size(rows) > 0 && ulb_print_json(json_pack("{s:O}", "rows", rows), &unwritten) != ULB_OK &&
        status == ULB_OK) {
        *err = unwritten;
        status = ULB_ENVIRONMENT;
    }
    json_decref(rows);
    return status;
}
