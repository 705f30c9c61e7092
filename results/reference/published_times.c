#include "results/reference/published_times.h"

#include "results/reference/csv_table.h"

#include <string.h>

/* The file, which ulb_embed() ends with a zero byte. */
extern const unsigned char ulb_published_times_csv[];

enum { DEVICE, FORMAT, M, K, RUNTIME, US, SOURCE, N_FIELDS };

struct taking {
    const char *device;
    struct ulb_published_time *rows;
    size_t n;
};

static const char *take_row(char **fields, void *arg)
{
    struct taking *taking = arg;
    struct ulb_published_time row;
    if (!ulb_csv_copy(row.device, sizeof row.device, fields[DEVICE]) ||
        !ulb_csv_copy(row.format, sizeof row.format, fields[FORMAT]) ||
        !ulb_csv_copy(row.runtime, sizeof row.runtime, fields[RUNTIME]) ||
        !ulb_csv_copy(row.source, sizeof row.source, fields[SOURCE]))
        return "a text field is empty or too long";
    if (!ulb_csv_number(fields[M], &row.m) || !ulb_csv_number(fields[K], &row.k) ||
        !ulb_csv_number(fields[US], &row.us) || !(row.m > 0 && row.k > 0 && row.us > 0))
        return "m, k and us must be numbers above 0";
    if (taking->n == ULB_PUBLISHED_TIMES)
        return "the table has too many rows";
    if (strstr(taking->device, row.device))
        taking->rows[taking->n++] = row;
    return NULL;
}

enum ulb_status ulb_published_times(const char *device, struct ulb_published_time *rows, size_t *n,
                                    struct ulb_error *err)
{
    struct taking taking = {device, rows, 0};
    const struct ulb_csv_table table = {"published-device-times.csv", "device,format,m,k,runtime,us,source",
                                        N_FIELDS, take_row, &taking};
    const char *text = (const char *)ulb_published_times_csv;
    enum ulb_status status = ulb_csv_read(&table, text, strlen(text), err);
    *n = taking.n;
    return status;
}
