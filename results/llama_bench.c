#include "results/llama_bench.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    const char *path;
    size_t number; /* of the run, from 1 */
    struct ulb_llama_runs *runs;
};

static enum ulb_status wrong(const struct reading *reading, const char *key, const char *wanted,
                             struct ulb_error *err)
{
    return ulb_fail(err, ULB_BAD_INPUT, "%s: run %zu: \"%s\" must be %s; write it with llama-bench -o json",
                    reading->path, reading->number, key, wanted);
}

/* A number of at least least. */
static enum ulb_status take(const struct reading *reading, const json_t *object, const char *key,
                            double least, double *value, struct ulb_error *err)
{
    const json_t *item = json_object_get(object, key);
    *value = json_number_value(item);
    if (json_is_number(item) && *value >= least && *value <= 1e15)
        return ULB_OK;
    return wrong(reading, key, least > 0 ? "a number above 0" : "a number of at least 0", err);
}

/* Builds for CPUs name none but these, whatever they say of layers that could be elsewhere. */
static bool on_gpu(const json_t *object)
{
    const char *backends = json_string_value(json_object_get(object, "backends"));
    double layers = json_number_value(json_object_get(object, "n_gpu_layers"));
    return layers != 0 && backends && strcmp(backends, "CPU") != 0 && strcmp(backends, "BLAS,CPU") != 0 &&
           strcmp(backends, "BLAS") != 0;
}

static void copy_text(char *out, size_t bytes, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    size_t i = 0;
    for (; text && text[i] && i + 1 < bytes; i++)
        out[i] = (unsigned char)text[i] < ' ' ? '?' : text[i];
    out[i] = '\0';
}

static enum ulb_status read_run(const struct reading *reading, const json_t *object,
                                struct ulb_llama_run *run, struct ulb_error *err)
{
    double threads, depth = 0;
    if (!json_is_string(json_object_get(object, "model_type")))
        return wrong(reading, "model_type", "a text", err);
    copy_text(run->model, sizeof run->model, object, "model_type");
    copy_text(run->build, sizeof run->build, object, "build_commit");
    run->gpu = on_gpu(object);
    enum ulb_status status = take(reading, object, "model_size", 1, &run->weight_bytes, err);
    if (status == ULB_OK)
        status = take(reading, object, "model_n_params", 1, &run->weights, err);
    if (status == ULB_OK)
        status = take(reading, object, "n_threads", 1, &threads, err);
    if (status == ULB_OK)
        status = take(reading, object, "avg_ts", 1e-6, &run->tokens_per_s, err);
    if (status == ULB_OK && json_object_get(object, "n_depth"))
        status = take(reading, object, "n_depth", 0, &depth, err);
    if (status != ULB_OK)
        return status;
    const json_t *stddev = json_object_get(object, "stddev_ts");
    run->stddev = json_is_number(stddev) ? json_number_value(stddev) : (double)NAN;
    run->threads = threads > UINT16_MAX ? UINT16_MAX : (unsigned)threads;
    run->depth = depth > INT32_MAX ? INT32_MAX : (unsigned)depth;
    return ULB_OK;
}

static enum ulb_status add_run(struct reading *reading, const json_t *object, struct ulb_error *err)
{
    double prompt, tokens;
    struct ulb_llama_run run = {.model = ""};
    reading->number++;
    enum ulb_status status = take(reading, object, "n_prompt", 0, &prompt, err);
    if (status == ULB_OK)
        status = take(reading, object, "n_gen", 0, &tokens, err);
    if (status != ULB_OK)
        return status;
    if (prompt > 0 || tokens < 1) {
        reading->runs->prompts++;
        return ULB_OK;
    }
    run.tokens = tokens > INT32_MAX ? INT32_MAX : (unsigned)tokens;
    status = read_run(reading, object, &run, err);
    if (status != ULB_OK)
        return status;
    struct ulb_llama_run *items = realloc(reading->runs->items, (reading->runs->n + 1) * sizeof *items);
    if (!items)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the runs of %s", reading->path);
    reading->runs->items = items;
    items[reading->runs->n++] = run;
    return ULB_OK;
}

/* One document: a run, or an array of them. */
static enum ulb_status add_document(struct reading *reading, const json_t *document, struct ulb_error *err)
{
    size_t i;
    json_t *object;
    if (!json_is_array(document))
        return add_run(reading, document, err);
    json_array_foreach(document, i, object)
    {
        enum ulb_status status = add_run(reading, object, err);
        if (status != ULB_OK)
            return status;
    }
    return ULB_OK;
}

/* Behind white space; EOF at the end. */
static int peek(FILE *file)
{
    int c;
    while ((c = getc(file)) == ' ' || c == '\n' || c == '\r' || c == '\t')
        ;
    if (c != EOF)
        ungetc(c, file);
    return c;
}

enum ulb_status ulb_llama_bench_read(const char *path, struct ulb_llama_runs *runs, struct ulb_error *err)
{
    struct reading reading = {.path = path, .runs = runs};
    enum ulb_status status = ULB_OK;
    *runs = (struct ulb_llama_runs){0};
    FILE *file = fopen(path, "re");
    if (!file)
        return ulb_fail(err, ULB_BAD_INPUT, "%s: %s", path, strerror(errno));
    while (status == ULB_OK && peek(file) != EOF) {
        json_error_t error;
        json_t *document = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error);
        status = document ? add_document(&reading, document, err)
                          : ulb_fail(err, ULB_BAD_INPUT, "%s: no JSON behind run %zu: %s", path,
                                     reading.number, error.text);
        json_decref(document);
    }
    if (status == ULB_OK && ferror(file))
        status = ulb_fail(err, ULB_BAD_INPUT, "%s: it cannot be read", path);
    fclose(file);
    if (status == ULB_OK && runs->n == 0)
        status = ulb_fail(err, ULB_BAD_INPUT, "%s: no run that generates tokens; let llama-bench run with -n",
                          path);
    if (status != ULB_OK)
        ulb_llama_bench_free(runs);
    return status;
}

void ulb_llama_bench_free(struct ulb_llama_runs *runs)
{
    free(runs->items);
    *runs = (struct ulb_llama_runs){0};
}
