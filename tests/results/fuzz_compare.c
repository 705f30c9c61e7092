/* libFuzzer: any bytes are read as a record; what passes is compared with itself and with a sample, by every
 * metric, and written in every form. */
#include "results/compare/compare_write.h"
#include "results/compare/noise_floor.h"
#include "tests/results/sample_record.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const struct ulb_record *base, const struct ulb_record *fresh, int metric, bool force)
{
    const struct ulb_compare_settings settings = {(enum ulb_metric)metric, force ? 0.05 : NAN, force};
    struct ulb_comparison comparison;
    struct ulb_error err;
    if (ulb_compare(base, fresh, &settings, &comparison, &err) == ULB_OK) {
        const struct ulb_compared_files files = {"base.json", "new.json", &comparison};
        char *text;
        size_t bytes, sum = 0;
        FILE *out = open_memstream(&text, &bytes);
        ulb_comparison_markdown(&files, 1, out);
        ulb_comparison_junit(&files, 1, out);
        ulb_comparison_github(&files, 1, out);
        fclose(out);
        free(text);
        json_decref(ulb_comparison_json(&files, 1));
        for (int v = 0; v < ULB_VERDICTS; v++)
            sum += comparison.count[v];
        if (sum != comparison.n)
            abort();
    }
    ulb_comparison_free(&comparison);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ulb_record sample;
    struct ulb_record record;
    struct ulb_error err;
    if (!sample.root && sample_record(&sample, SAMPLE_SERVER, &err) != ULB_OK)
        abort();
    if (ulb_record_parse(&record, (const char *)data, size, "input", &err) != ULB_OK)
        return 0;
    for (int metric = 0; metric < ULB_METRICS; metric++) {
        compare(&record, &record, metric, false);
        compare(&sample, &record, metric, true);
    }
    if (ulb_record_judge_noise(&record, &err) == ULB_OK)
        ulb_record_judge_passes(&record, &sample, &err);
    ulb_record_free(&record);
    return 0;
}
