#include "harness/cli/commands/decode_published.h"

#include "common/units.h"
#include "harness/cli/table.h"
#include "harness/session/json_number.h"
#include "models/models.h"
#include "results/reference/published_speeds.h"
#include "shapes/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *speed_json(const struct ulb_published_speed *speed)
{
    double bound = ulb_decode_roofline(speed->bandwidth, speed->bytes_read);
    json_t *row = json_pack("{s:f, s:s, s:s, s:s, s:s, s:s, s:f, s:f}", "tokens_per_s", speed->tokens_per_s,
                            "machine", speed->cpu, "model", speed->model, "quant", speed->quant, "runtime",
                            speed->runtime, "source", speed->source, "bandwidth_gbps",
                            speed->bandwidth / ULB_GB, "roofline_share", speed->tokens_per_s / bound);
    ulb_set_bytes(row, "threads", speed->threads > 0 ? (long long)speed->threads : -1, "not stated");
    return row;
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static double number_of(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* The catalogue's name of a model that a file may spell in another way. */
static const char *catalogue_name(const char *name)
{
    const struct ulb_model *model = ulb_model_find(name);
    return model ? model->name : name;
}

/* What is published for the model and the format of a run: of one sequence. NULL: no memory. */
static json_t *published_for(const json_t *run, const struct ulb_published_speed *speeds, size_t n,
                             const struct ulb_published_speed **fastest)
{
    bool alone = !(number_of(run, "batch") > 1);
    size_t machines = !alone ? 0
                             : ulb_fastest_published(speeds, n, catalogue_name(text_of(run, "model")),
                                                     text_of(run, "format"), fastest);
    json_t *published = json_array();
    for (size_t i = 0; i < machines; i++) {
        if (json_array_append_new(published, speed_json(fastest[i])) != 0) {
            json_decref(published);
            return NULL;
        }
    }
    return published;
}

static json_t *runs_of(const struct ulb_record *record)
{
    return json_object_get(json_object_get(record->root, "decode"), "runs");
}

enum ulb_status ulb_decode_published(struct ulb_record *record, struct ulb_error *err)
{
    struct ulb_published_speed *speeds;
    size_t n, i;
    json_t *run;
    enum ulb_status status = ulb_published_speeds(&speeds, &n, err);
    if (status != ULB_OK)
        return status;
    const struct ulb_published_speed **fastest = calloc(n, sizeof *fastest);
    bool whole = fastest != NULL;
    json_array_foreach(runs_of(record), i, run)
    {
        whole = whole && json_object_set_new(run, "published", published_for(run, speeds, n, fastest)) == 0;
    }
    free(fastest);
    free(speeds);
    return whole ? ULB_OK : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the published speeds");
}

static bool same_product(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "model"), json_object_get(b, "model")) &&
           json_equal(json_object_get(a, "format"), json_object_get(b, "format"));
}

/* Whether run i is the fastest of those of its model and format, of equal ones the first. */
static bool is_fastest(const json_t *runs, size_t i)
{
    const json_t *run = json_array_get(runs, i), *other;
    bool fastest = true;
    size_t j;
    json_array_foreach(runs, j, other)
    {
        double ours = number_of(run, "tokens_per_s"), theirs = number_of(other, "tokens_per_s");
        if (j != i && same_product(run, other))
            fastest = fastest && (ours > theirs || (!(theirs > ours) && i < j));
    }
    return fastest;
}

static void print_speed(const json_t *run, const json_t *speed, FILE *out)
{
    char head[48], threads[48] = "", text[512];
    const long long n = (long long)json_integer_value(json_object_get(speed, "threads"));
    if (n > 0)
        snprintf(threads, sizeof threads, ", %lld thread%s", n, ULB_S(n));
    snprintf(head, sizeof head, " %-8.15s ", text_of(run, "format"));
    snprintf(text, sizeof text,
             "%.2f tokens/s, %.0f %% of the bandwidth, beside %.2f and %.0f %% here: %s%s; %s %s by %s (%s)",
             number_of(speed, "tokens_per_s"), 100 * number_of(speed, "roofline_share"),
             number_of(run, "tokens_per_s"), 100 * number_of(run, "roofline_share"),
             text_of(speed, "machine"), threads, text_of(speed, "model"), text_of(speed, "quant"),
             text_of(speed, "runtime"), text_of(speed, "source"));
    ulb_print_wrapped(out, head, text);
}

void ulb_print_published(const struct ulb_record *record, FILE *out)
{
    const json_t *runs = runs_of(record), *run, *speed;
    bool begun = false;
    size_t i, j;
    json_array_foreach(runs, i, run)
    {
        if (!is_fastest(runs, i))
            continue;
        json_array_foreach(json_object_get(run, "published"), j, speed)
        {
            if (!begun)
                fprintf(out, "published for the same model and format, the fastest of each machine\n");
            begun = true;
            print_speed(run, speed, out);
        }
    }
}
