/* libFuzzer: any bytes are read as a record; what passes is read in full, written and read again. Read cell
 * by cell they must fare the same. */
#include "results/record/record.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum ulb_status count(struct ulb_cell *cell, const json_t *json, void *context, struct ulb_error *err)
{
    (void)cell, (void)json, (void)err;
    ++*(size_t *)context;
    return ULB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ulb_record record, again;
    struct ulb_error err, other;
    size_t visited = 0;
    const struct ulb_cell_visitor visitor = {count, &visited};
    enum ulb_status status = ulb_record_parse(&record, (const char *)data, size, "input", &err);
    if (ulb_record_parse_visiting(&again, (const char *)data, size, "input", &visitor, &other) != status ||
        (status != ULB_OK && strcmp(err.message, other.message) != 0))
        abort();
    ulb_record_free(&again);
    if (status != ULB_OK)
        return 0;
    struct ulb_cell *cells;
    size_t n;
    if (ulb_record_cells(&record, &cells, &n, &err) != ULB_OK || n != visited)
        abort();
    for (size_t i = 0; i < n; i++) {
        if (ulb_record_add_cell(&record, &cells[i], &err) != ULB_OK)
            abort();
    }
    ulb_cells_free(cells, n);
    char *text = json_dumps(record.root, 0);
    if (!text || ulb_record_parse(&again, text, strlen(text), "output", &err) != ULB_OK)
        abort();
    ulb_record_free(&again);
    free(text);
    ulb_record_free(&record);
    return 0;
}
