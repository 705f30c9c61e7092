#include "harness/cli/commands/gamma_target.h"

#include "harness/cli/cli.h"
#include "harness/cli/table.h"
#include "harness/opencl/device_offline.h"
#include "results/record/record.h"

#include <stdio.h>
#include <string.h>

static const char LABEL[] = "bound from the disassembly; issue rates assumed";

/* Operations of a round: all lanes, rows and tokens of the tile, and 32 columns a step. */
static double operations_of(const struct ulb_device_choice *choice, unsigned lanes)
{
    const struct ulb_device_tile *tile = &choice->kernel->tile;
    const struct ulb_layout *layout = choice->kernel->layout;
    return 2.0 * tile->rows * lanes * tile->tokens * tile->steps * (double)layout->tile_k;
}

static json_t *limits_json(const struct ulb_device_loop *loop, const struct ulb_device_loop_bound *bound)
{
    const double counts[ULB_DEVICE_LIMITS] = {loop->matrix, loop->vector, loop->messages};
    json_t *rows = json_array();
    int bad = 0;
    for (int i = 0; i < ULB_DEVICE_LIMITS; i++)
        bad |= json_array_append_new(rows, json_pack("{s:s, s:f, s:f}", "limit",
                                                     ulb_device_limit_name((enum ulb_device_limit)i), "count",
                                                     counts[i], "cycles", bound->cycles[i]));
    if (bad) {
        json_decref(rows);
        return NULL;
    }
    return rows;
}

static enum ulb_status explain(const struct ulb_device_choice *choice, const char *target, json_t *rows,
                               struct ulb_error *err)
{
    struct ulb_device_loop loop;
    char name[ULB_KERNEL_NAME_MAX];
    enum ulb_status status = ulb_offline_count(choice, target, &loop, err);
    if (status != ULB_OK)
        return status;
    const struct ulb_device_loop_bound bound = ulb_device_loop_bound(&loop);
    const unsigned lanes = ulb_offline_lanes(target);
    const double cycles = bound.cycles[bound.limit];
    json_t *row = json_pack("{s:s, s:s, s:i, s:o, s:s, s:f, s:f, s:s}", "kernel",
                            ulb_device_kernel_name(choice->kernel, choice->path, name), "target", target,
                            "lanes", (int)lanes, "limits", limits_json(&loop, &bound), "bound",
                            ulb_device_limit_name(bound.limit), "cycles", cycles, "operations_per_cycle",
                            operations_of(choice, lanes) / cycles, "label", LABEL);
    return json_array_append_new(rows, row) == 0
               ? ULB_OK
               : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the limits of a kernel");
}

static void print_row(const json_t *row)
{
    static const struct ulb_column columns[] = {
        {"limit", "limit", 0}, {"count", "instructions", 0}, {"cycles", "cycles", 0}};
    ulb_print_wrapped_as(stdout, "",
                         "%s on %s: %s instructions bound it, %.0f cycles a round, %.0f operations a cycle",
                         ulb_row_text(row, "kernel"), ulb_row_text(row, "target"), ulb_row_text(row, "bound"),
                         ulb_row_number(row, "cycles"), ulb_row_number(row, "operations_per_cycle"));
    ulb_print_table(json_object_get(row, "limits"), columns, sizeof columns / sizeof *columns);
}

static void print_all(const json_t *rows)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row) print_row(row);
    ulb_print_wrapped_as(
        stdout, "",
        "A vector engine's cycles, %s: 2 a token of a matrix instruction, 1 a vector instruction, "
        "1 a register of a message; they overlap.",
        LABEL);
}

enum ulb_status ulb_explain_target(const char *kernels, const char *target, bool json, struct ulb_error *err)
{
    struct ulb_device_selection selection;
    json_t *rows = json_array();
    enum ulb_status status = ulb_device_select(&selection, NULL, kernels, err);
    size_t left_out = 0;
    for (size_t i = 0; i < selection.n && status == ULB_OK; i++) {
        if (selection.choices[i].path >= ULB_PATH_DP4A && selection.n > 1) {
            left_out++;
            continue;
        }
        status = explain(&selection.choices[i], target, rows, err);
    }
    if (status == ULB_OK && left_out == selection.n)
        status = ulb_fail(err, ULB_BAD_INPUT,
                          "none of these kernels has matrix instructions, which a target's bound is made of");
    ulb_device_selection_close(&selection);
    if (status == ULB_OK && json)
        return ulb_print_json(json_pack("{s:o}", "explain", rows), err);
    if (status == ULB_OK)
        print_all(rows);
    json_decref(rows);
    return status;
}
