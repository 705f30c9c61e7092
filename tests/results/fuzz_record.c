/* libFuzzer: any bytes are read as a record; what passes is read in full, written and read again. */
#include "results/record/record.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ulb_record record, again;
    struct ulb_error err;
    if (ulb_record_parse(&record, (const char *)data, size, "input", &err) != ULB_OK)
        return 0;
    struct ulb_cell *cells;
    size_t n;
    if (ulb_record_cells(&record, &cells, &n, &err) != ULB_OK)
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
