#include "results/reference/published_speeds.h"

#include "common/units.h"
#include "results/reference/csv_table.h"

#include <stdlib.h>
#include <string.h>

/* The file, which ulb_embed() ends with a zero byte. */
extern const unsigned char ulb_published_speeds_csv[];

static const char header[] = "cpu,bandwidth_gbs,bandwidth_kind,model,quant,our_model,our_format,file_bytes,"
                             "unread_bytes,threads,runtime,tokens_per_s,verdict,source";

enum {
    CPU,
    GBS,
    KIND,
    MODEL,
    QUANT,
    OUR_MODEL,
    OUR_FORMAT,
    FILE_BYTES,
    UNREAD,
    THREADS,
    RUNTIME,
    SPEED,
    VERDICT,
    SOURCE,
    N_FIELDS
};

struct rows {
    struct ulb_published_speed *items;
    size_t n;
};

static bool parse_kind(const char *text, enum ulb_bandwidth_kind *kind)
{
    static const char *const names[] = {[ULB_BANDWIDTH_MEASURED] = "measured",
                                        [ULB_BANDWIDTH_STATED] = "stated",
                                        [ULB_BANDWIDTH_MAX_SEEN] = "max-seen",
                                        [ULB_BANDWIDTH_THEORETICAL] = "theoretical"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            *kind = (enum ulb_bandwidth_kind)i;
            return true;
        }
    }
    return false;
}

static bool copy_or_empty(char *out, size_t out_bytes, const char *text)
{
    out[0] = '\0';
    return *text == '\0' || ulb_csv_copy(out, out_bytes, text);
}

static const char *parse_row(char **fields, struct ulb_published_speed *row)
{
    double gbs, bytes, unread, threads;
    if (!ulb_csv_copy(row->cpu, sizeof row->cpu, fields[CPU]) ||
        !ulb_csv_copy(row->model, sizeof row->model, fields[MODEL]) ||
        !ulb_csv_copy(row->quant, sizeof row->quant, fields[QUANT]) ||
        !ulb_csv_copy(row->runtime, sizeof row->runtime, fields[RUNTIME]) ||
        !ulb_csv_copy(row->source, sizeof row->source, fields[SOURCE]))
        return "a text field is empty or too long";
    if (!copy_or_empty(row->our_model, sizeof row->our_model, fields[OUR_MODEL]) ||
        !copy_or_empty(row->our_format, sizeof row->our_format, fields[OUR_FORMAT]))
        return "our_model or our_format is too long";
    if (!parse_kind(fields[KIND], &row->kind))
        return "bandwidth_kind must be measured, stated, max-seen or theoretical";
    if (!ulb_csv_number(fields[GBS], &gbs) || !ulb_csv_number(fields[FILE_BYTES], &bytes) ||
        !ulb_csv_number(fields[UNREAD], &unread) || !ulb_csv_number(fields[THREADS], &threads) ||
        !ulb_csv_number(fields[SPEED], &row->tokens_per_s))
        return "bandwidth, bytes, threads and tokens_per_s must be numbers";
    if (!(gbs > 0 && unread >= 0 && bytes > unread && threads >= 0 && row->tokens_per_s > 0))
        return "bandwidth and speed must be above 0, file_bytes above unread_bytes";
    row->broken = strcmp(fields[VERDICT], "broken") == 0;
    if (!row->broken && strcmp(fields[VERDICT], "sound") != 0)
        return "verdict must be sound or broken";
    row->bandwidth = gbs * ULB_GB;
    row->bytes_read = bytes - unread;
    row->threads = (unsigned)threads;
    return NULL;
}

static const char *take_row(char **fields, void *arg)
{
    struct rows *rows = arg;
    struct ulb_published_speed row = {.cpu = ""};
    const char *wrong = parse_row(fields, &row);
    if (wrong)
        return wrong;
    struct ulb_published_speed *items = realloc(rows->items, (rows->n + 1) * sizeof *items);
    if (!items)
        return "not enough memory for the rows up to here";
    rows->items = items;
    rows->items[rows->n++] = row;
    return NULL;
}

enum ulb_status ulb_published_speeds(struct ulb_published_speed **out, size_t *n, struct ulb_error *err)
{
    struct rows rows = {0};
    const struct ulb_csv_table table = {"published-decode-speeds.csv", header, N_FIELDS, take_row, &rows};
    const char *csv = (const char *)ulb_published_speeds_csv;
    enum ulb_status status = ulb_csv_read(&table, csv, strlen(csv), err);
    if (status != ULB_OK) {
        free(rows.items);
        rows = (struct rows){0};
    }
    *out = rows.items;
    *n = rows.n;
    return status;
}

static bool is_of(const struct ulb_published_speed *row, const char *model, const char *format)
{
    return !row->broken && row->our_model[0] && strcmp(row->our_model, model) == 0 &&
           strcmp(row->our_format, format) == 0;
}

size_t ulb_fastest_published(const struct ulb_published_speed *rows, size_t n, const char *model,
                             const char *format, const struct ulb_published_speed **fastest)
{
    size_t machines = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        if (!is_of(&rows[i], model, format))
            continue;
        while (at < machines && strcmp(fastest[at]->cpu, rows[i].cpu) != 0)
            at++;
        if (at == machines)
            fastest[machines++] = &rows[i];
        else if (rows[i].tokens_per_s > fastest[at]->tokens_per_s)
            fastest[at] = &rows[i];
    }
    return machines;
}

bool ulb_speed_possible(double tokens_per_s, double bound, enum ulb_bandwidth_kind kind)
{
    return tokens_per_s <= bound * (kind == ULB_BANDWIDTH_MAX_SEEN ? 1.05 : 1.02);
}
