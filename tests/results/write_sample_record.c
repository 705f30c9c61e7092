/* sample_record FOLDER: writes one record of each kind, FOLDER/0.json and so on, and last one that holds
 * everything. */
#include "tests/results/sample_record.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    struct ulb_error err = {"usage: sample_record FOLDER"};
    enum ulb_status status = argc == 2 ? ULB_OK : ULB_BAD_INPUT;
    for (int kind = 0; kind <= SAMPLE_KINDS && status == ULB_OK; kind++) {
        struct ulb_record record;
        char path[4096];
        snprintf(path, sizeof path, "%s/%d.json", argv[1], kind);
        status = sample_record(&record, kind < SAMPLE_KINDS ? (enum sample_kind)kind : SAMPLE_SERVER, &err);
        if (status == ULB_OK && kind == SAMPLE_KINDS)
            status = sample_add_rest(&record, &err);
        if (status != ULB_OK)
            break;
        status = ulb_record_write(&record, path, &err);
        ulb_record_free(&record);
    }
    if (status != ULB_OK)
        fprintf(stderr, "sample_record: %s\n", err.message);
    return ulb_exit_code(status);
}
