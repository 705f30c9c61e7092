#include "harness/cli/commands/print_devices.h"

#include "common/units.h"
#include "harness/cli/table.h"
#include "results/reference/published_times.h"

#include <math.h>
#include <string.h>

static void print_heading(const json_t *device, FILE *out)
{
    const double units = ulb_row_number(device, "units");
    ulb_print_wrapped_as(out, "", "%s: %s, driver %s, %.0f unit%s, matrix instructions: %s",
                         ulb_row_text(device, "id"), ulb_row_text(device, "name"),
                         ulb_row_text(device, "driver"), units, ULB_S(units), ulb_row_text(device, "matrix"));
}

static void print_launch(const json_t *device, FILE *out)
{
    const json_t *launch = json_object_get(device, "launch");
    const json_t *many = json_object_get(launch, "back_to_back");
    char alone[32], alone_event[32], each[32], each_event[32];
    if (!json_is_object(launch))
        return;
    ulb_print_wrapped_as(
        out, "",
        "Launch of an empty kernel, us by the host's clock (by the device's): %s (%s) alone, %s (%s) back to "
        "back",
        ulb_show_number(alone, "%.2f", ulb_row_number(launch, "us_host")),
        ulb_show_number(alone_event, "%.2f", ulb_row_number(launch, "us_event")),
        ulb_show_number(each, "%.2f", ulb_row_number(many, "us_host")),
        ulb_show_number(each_event, "%.2f", ulb_row_number(many, "us_event")));
}

static void print_peaks(const json_t *device, FILE *out)
{
    const json_t *peaks = json_object_get(device, "peaks"), *peak;
    size_t i;
    if (json_array_size(peaks) == 0)
        return;
    ulb_print_wrapped_as(out, "",
                         "Peaks of registers alone, 1e9 operations/s; a cycle is one of the nominal clock");
    static const struct ulb_table_column columns[] = {
        {"operation", false, false},
        {"GOP/s", true, false},
        {"+-", true, false},
        {"op/cycle/unit", true, false},
        {"why there is none", false, true},
    };
    struct ulb_table *table = ulb_table_open(columns, sizeof columns / sizeof *columns);
    json_array_foreach(peaks, i, peak)
    {
        char gops[32], mad[32], cycle[32];
        ulb_table_add(table, "%s\t%s\t%s\t%s\t%s", ulb_row_text(peak, "name"),
                      ulb_show_number(gops, "%.1f", ulb_row_number(peak, "gops")),
                      ulb_show_number(mad, "%.1f", ulb_row_number(peak, "gops_mad")),
                      ulb_show_number(cycle, "%.1f", ulb_row_number(peak, "ops_per_unit_cycle")),
                      ulb_row_text(peak, "gops_reason"));
    }
    ulb_table_print(table, out);
}

static void print_cells(const json_t *device, FILE *out)
{
    const json_t *cells = json_object_get(device, "cells"), *cell;
    size_t i;
    if (json_array_size(cells) == 0)
        return;
    ulb_print_wrapped_as(out, "",
                         "Read bandwidth by size and reader, 1e9 bytes/s, by the device's clock and the "
                         "host's; expected: us host by launch and yardstick");
    static const struct ulb_table_column columns[] = {
        {"MiB", true, false},  {"reader", false, false}, {"level", false, false},
        {"GB/s", true, false}, {"+-", true, false},      {"host", true, false},
        {"us", true, false},   {"us host", true, false}, {"expected", true, false},
    };
    struct ulb_table *table = ulb_table_open(columns, sizeof columns / sizeof *columns);
    json_array_foreach(cells, i, cell)
    {
        char gbps[32], mad[32], host[32], event_us[32], host_us[32], expected[32];
        ulb_table_add(table, "%g\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", ulb_row_number(cell, "bytes") / ULB_MIB,
                      ulb_row_text(cell, "variant"), ulb_row_text(cell, "level"),
                      ulb_show_number(gbps, "%.1f", ulb_row_number(cell, "gbps")),
                      ulb_show_number(mad, "%.1f", ulb_row_number(cell, "gbps_mad")),
                      ulb_show_number(host, "%.1f", ulb_row_number(cell, "gbps_host")),
                      ulb_show_number(event_us, "%.1f", ulb_row_number(cell, "us_event")),
                      ulb_show_number(host_us, "%.1f", ulb_row_number(cell, "us_host")),
                      ulb_show_number(expected, "%.1f", ulb_row_number(cell, "predicted_us")));
    }
    ulb_table_print(table, out);
}

/* Readers or kernels, and the yardstick. */
static void print_rest(const json_t *device, FILE *out)
{
    const json_t *rows = json_object_get(device, "left_out"), *row;
    size_t i;
    json_array_foreach(rows, i, row) ulb_print_wrapped_as(
        out, "", " left out %s: %s", ulb_row_text(row, "variant"), ulb_row_text(row, "reason"));
    json_array_foreach(json_object_get(device, "yardstick"), i, row) ulb_print_wrapped_as(
        out, "", " yardstick of %s: %.1f GB/s with %s, over a ring of %.0f MiB", ulb_row_text(row, "device"),
        ulb_row_number(row, "gbps"), ulb_row_text(row, "variant"), ulb_row_number(row, "bytes") / ULB_MIB);
}

void ulb_report_devices(const struct ulb_record *record, FILE *out)
{
    const json_t *device;
    size_t i;
    json_array_foreach(json_object_get(record->root, "devices"), i, device)
    {
        print_heading(device, out);
        print_launch(device, out);
        print_peaks(device, out);
        print_cells(device, out);
        print_rest(device, out);
    }
}

/* ---- products ---- */

/* The fastest of the record's products of that matrix with one token, us; NAN: none. */
static double fastest_us(const struct ulb_record *record, const struct ulb_published_time *like)
{
    const json_t *cell;
    double us = NAN;
    size_t i;
    json_array_foreach(json_object_get(record->root, "cells"), i, cell)
    {
        if (strcmp(ulb_row_text(cell, "format"), like->format) == 0 && ulb_row_number(cell, "n") == 1 &&
            ulb_row_number(cell, "m") == like->m && ulb_row_number(cell, "k") == like->k)
            us = fmin(us, ulb_row_number(cell, "us_event"));
    }
    return us;
}

/* What others publish of this device, beside ours by the same clock. */
static enum ulb_status print_published(const struct ulb_record *record, const json_t *device, FILE *out,
                                       struct ulb_error *err)
{
    static const struct ulb_table_column columns[] = {
        {"published by", false, false},
        {"format", false, false},
        {"M", true, false},
        {"K", true, false},
        {"us", true, false},
        {"ours us", true, false},
    };
    struct ulb_published_time rows[ULB_PUBLISHED_TIMES];
    size_t n;
    enum ulb_status status = ulb_published_times(ulb_row_text(device, "name"), rows, &n, err);
    if (status != ULB_OK || n == 0)
        return status;
    ulb_print_wrapped_as(out, "", "Published of this device by others, one token, by the device's clock (%s)",
                         rows[0].source);
    struct ulb_table *table = ulb_table_open(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++) {
        char us[32], ours[32];
        ulb_table_add(table, "%s\t%s\t%.0f\t%.0f\t%s\t%s", rows[i].runtime, rows[i].format, rows[i].m,
                      rows[i].k, ulb_show_number(us, "%.0f", rows[i].us),
                      ulb_show_number(ours, "%.1f", fastest_us(record, &rows[i])));
    }
    ulb_table_print(table, out);
    return ULB_OK;
}

enum ulb_status ulb_report_published_times(const struct ulb_record *record, FILE *out, struct ulb_error *err)
{
    const json_t *device;
    enum ulb_status status = ULB_OK;
    size_t i;
    json_array_foreach(json_object_get(record->root, "devices"), i, device)
    {
        if (status == ULB_OK)
            status = print_published(record, device, out, err);
    }
    return status;
}

static void add_product(struct ulb_table *table, const json_t *cell)
{
    char us[32], event[32], gbps[32], share[32], gops[32], expected[32];
    ulb_table_add(table, "%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t%s", ulb_row_text(cell, "kernel"),
                  ulb_row_number(cell, "n"), ulb_show_number(us, "%.1f", ulb_row_number(cell, "us")),
                  ulb_show_number(event, "%.1f", ulb_row_number(cell, "us_event")),
                  ulb_show_number(expected, "%.1f", ulb_row_number(cell, "predicted_us")),
                  ulb_show_number(gbps, "%.2f", ulb_row_number(cell, "gbps")),
                  ulb_show_number(share, "%.0f %%", 100 * ulb_row_number(cell, "efficiency")),
                  ulb_show_number(gops, "%.1f", ulb_row_number(cell, "gops")), ulb_row_text(cell, "bound"));
}

static bool same_shape(const json_t *a, const json_t *b)
{
    return ulb_row_number(a, "m") == ulb_row_number(b, "m") &&
           ulb_row_number(a, "k") == ulb_row_number(b, "k") &&
           strcmp(ulb_row_text(a, "model"), ulb_row_text(b, "model")) == 0 &&
           strcmp(ulb_row_text(a, "layer"), ulb_row_text(b, "layer")) == 0;
}

void ulb_report_device_cells(const struct ulb_record *record, FILE *out)
{
    static const struct ulb_table_column columns[] = {
        {"kernel", false, false},  {"N", true, false},        {"us", true, false},
        {"us event", true, false}, {"expected", true, false}, {"GB/s", true, false},
        {"share", true, false},    {"GOP/s", true, false},    {"bound", false, false},
    };
    const json_t *device = json_array_get(json_object_get(record->root, "devices"), 0), *last = NULL, *cell;
    size_t i;
    print_heading(device, out);
    print_launch(device, out);
    print_rest(device, out);
    ulb_print_wrapped_as(out, "",
                         "Products with cold weights, every one verified: us by the host's clock and the "
                         "device's, expected by launch + max(memory, operations); share of the yardstick");
    struct ulb_table *table = ulb_table_open(columns, sizeof columns / sizeof *columns);
    json_array_foreach(json_object_get(record->root, "cells"), i, cell)
    {
        if (!last || !same_shape(last, cell))
            ulb_table_heading(table, " -- %s %s, %.0f x %.0f --", ulb_row_text(cell, "model"),
                              ulb_row_text(cell, "layer"), ulb_row_number(cell, "m"),
                              ulb_row_number(cell, "k"));
        add_product(table, cell);
        last = cell;
    }
    ulb_table_print(table, out);
}
