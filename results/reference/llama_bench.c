#include "results/reference/llama_bench.h"

#include "common/json.h"
#include "common/slurp.h"
#include "common/text.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* llama-bench writes about 1 KB for a run, and 20 bytes for each of its repetitions. */
static const size_t LARGEST_FILE = (size_t)64 << 20;

struct reading {
    const char *path;
    size_t number; /* of the run, from 1 */
    struct ulb_llama_runs *runs;
};

static enum ulb_status wrong(const struct reading *reading, const char *key, const char *wanted,
                             struct ulb_error *err)
{
    return ulb_fail(err, ULB_BAD_INPUT,
                    "%.200s: run %zu: \"%s\" must be %s; write it with llama-bench -o json", reading->path,
                    reading->number, key, wanted);
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

/* Backends that compute on the CPU. */
static bool is_cpu_backend(const char *word, size_t length)
{
    static const char *const names[] = {"CPU", "BLAS", "AMX"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == length && strncmp(word, names[i], length) == 0)
            return true;
    }
    return length == 0;
}

/* Builds for CPUs name none but these, whatever they say of layers that could be elsewhere; before there was
 * "backends" a build said of each kind whether it is in. */
static bool has_gpu_backend(const json_t *object)
{
    static const char *const old[] = {"cuda", "opencl", "vulkan", "kompute", "metal",
                                      "sycl", "rpc",    "hip",    "musa",    "gpu_blas"};
    const char *backends = json_string_value(json_object_get(object, "backends"));
    if (!backends) {
        for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
            if (json_is_true(json_object_get(object, old[i])))
                return true;
        }
        return false;
    }
    for (const char *word = backends; *word; word += *word == ',') {
        size_t length = strcspn(word, ",");
        if (!is_cpu_backend(word, length))
            return true;
        word += length;
    }
    return false;
}

static bool on_gpu(const json_t *object)
{
    const char *devices = json_string_value(json_object_get(object, "devices"));
    double layers = json_number_value(json_object_get(object, "n_gpu_layers"));
    return layers != 0 && !(devices && strcmp(devices, "none") == 0) && has_gpu_backend(object);
}

/* Bytes of an element of the cache of that type; f16 where none is stated. */
static double element_bytes(const json_t *object, const char *key)
{
    static const struct {
        const char *name;
        double bytes;
    } types[] = {{"f32", 4},          {"f16", 2},          {"bf16", 2},
                 {"q8_0", 34.0 / 32}, {"q4_0", 18.0 / 32}, {"q4_1", 20.0 / 32},
                 {"q5_0", 22.0 / 32}, {"q5_1", 24.0 / 32}, {"iq4_nl", 18.0 / 32}};
    const char *type = json_string_value(json_object_get(object, key));
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, type) == 0)
            return types[i].bytes;
    }
    return type ? (double)NAN : 2;
}

/* Without zero bytes, with which Windows pads names. */
static void copy_text(char *out, size_t bytes, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    size_t length = text ? json_string_length(value) : 0, used = 0;
    for (size_t i = 0; i < length && used + 1 < bytes; i++) {
        if (text[i])
            out[used++] = text[i];
    }
    out[used] = '\0';
    ulb_text_mend(out);
    ulb_text_printable(out);
}

static enum ulb_status read_run(const struct reading *reading, const json_t *object,
                                struct ulb_llama_run *run, struct ulb_error *err)
{
    double threads, depth = 0;
    if (!json_is_string(json_object_get(object, "model_type")))
        return wrong(reading, "model_type", "a text", err);
    copy_text(run->model, sizeof run->model, object, "model_type");
    copy_text(run->build, sizeof run->build, object, "build_commit");
    copy_text(run->cpu, sizeof run->cpu, object, "cpu_info");
    run->key_bytes = element_bytes(object, "type_k");
    run->value_bytes = element_bytes(object, "type_v");
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
        ++*(tokens < 1 ? &reading->runs->prompts : &reading->runs->mixed);
        return ULB_OK;
    }
    run.tokens = tokens > INT32_MAX ? INT32_MAX : (unsigned)tokens;
    status = read_run(reading, object, &run, err);
    if (status != ULB_OK)
        return status;
    struct ulb_llama_run *items = realloc(reading->runs->items, (reading->runs->n + 1) * sizeof *items);
    if (!items)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the runs of %.200s", reading->path);
    reading->runs->items = items;
    items[reading->runs->n++] = run;
    return ULB_OK;
}

/* --- text --- */

/* In the place of UTF-16 of that order, as PowerShell writes it, UTF-8; false: no memory. Halves of pairs
 * that stand alone become '?'. */
static bool decode_utf16(char **text, size_t *bytes, size_t high)
{
    char *out = malloc(*bytes / 2 * 3 + 1);
    size_t used = 0;
    const unsigned char *from = (const unsigned char *)*text;
    for (size_t i = 0; out && i + 1 < *bytes; i += 2) {
        uint32_t c = (uint32_t)from[i + high] << 8 | from[i + 1 - high];
        if (c >= 0xD800 && c < 0xDC00 && i + 3 < *bytes) {
            uint32_t low = (uint32_t)from[i + 2 + high] << 8 | from[i + 3 - high];
            if (low >= 0xDC00 && low < 0xE000) {
                c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
                i += 2;
            }
        }
        if (c >= 0xD800 && c < 0xE000)
            c = '?';
        if (c < 0x80)
            out[used++] = (char)c;
        else if (c < 0x800)
            used += (size_t)sprintf(out + used, "%c%c", (int)(0xC0 | c >> 6), (int)(0x80 | (c & 63)));
        else if (c < 0x10000)
            used += (size_t)sprintf(out + used, "%c%c%c", (int)(0xE0 | c >> 12), (int)(0x80 | (c >> 6 & 63)),
                                    (int)(0x80 | (c & 63)));
        else
            used +=
                (size_t)sprintf(out + used, "%c%c%c%c", (int)(0xF0 | c >> 18), (int)(0x80 | (c >> 12 & 63)),
                                (int)(0x80 | (c >> 6 & 63)), (int)(0x80 | (c & 63)));
    }
    free(*text);
    *text = out;
    *bytes = used;
    return out != NULL;
}

/* Text as UTF-8, and where it begins behind a byte-order mark. */
static bool settle_text(char **text, size_t *bytes, size_t *begin)
{
    const char *t = *text;
    bool little = *bytes >= 2 && ((t[0] == '\xFF' && t[1] == '\xFE') || (t[0] != '\0' && t[1] == '\0'));
    bool big = *bytes >= 2 && ((t[0] == '\xFE' && t[1] == '\xFF') || (t[0] == '\0' && t[1] != '\0'));
    *begin = 0;
    if ((little || big) && !decode_utf16(text, bytes, little ? 1 : 0))
        return false;
    if (*bytes >= 3 && memcmp(*text, "\xEF\xBB\xBF", 3) == 0)
        *begin = 3;
    return true;
}

/* Which of llama-bench's other formats a text without a run is in; NULL: none. */
static const char *other_format(const char *text, size_t bytes)
{
    static const struct {
        const char *word, *format;
    } words[] = {{"CREATE TABLE", "SQL"}, {"INSERT INTO", "SQL"}, {"build_commit,", "CSV"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (memmem(text, bytes, words[i].word, strlen(words[i].word)))
            return words[i].format;
    }
    return (bytes > 0 && text[0] == '|') || memmem(text, bytes, "\n|", 2) ? "Markdown" : NULL;
}

/* --- the file --- */

/* Moves behind what stands between objects; false at the end. A line that holds other text is passed over. */
static bool find_object(const char *text, size_t bytes, size_t *at)
{
    while (*at < bytes && text[*at] != '{') {
        if (strchr(" \t\r\n,[]", text[*at]) && text[*at]) {
            ++*at;
            continue;
        }
        const char *end = memchr(text + *at, '\n', bytes - *at);
        *at = end ? (size_t)(end - text) + 1 : bytes;
    }
    return *at < bytes;
}

/* One object after the other. */
static enum ulb_status add_objects(struct reading *reading, const char *text, size_t bytes, size_t at,
                                   struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    while (status == ULB_OK && find_object(text, bytes, &at)) {
        json_error_t why;
        json_t *object = json_loadb(text + at, bytes - at, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &why);
        if (!object && json_error_code(&why) == json_error_premature_end_of_input) {
            reading->runs->cut++;
            return ULB_OK;
        }
        if (!object && !ulb_json_lacks_memory(&why))
            return ulb_fail(err, ULB_BAD_INPUT, "%.200s: no JSON behind run %zu: %s", reading->path,
                            reading->number, why.text);
        status = object && ulb_json_printable(object)
                     ? add_run(reading, object, err)
                     : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read %.200s", reading->path);
        at += (size_t)why.position;
        json_decref(object);
    }
    return status;
}

/* Why a file gave no run. */
static enum ulb_status without_runs(const struct reading *reading, const char *text, size_t bytes,
                                    size_t mixed, size_t cut, struct ulb_error *err)
{
    const char *format = reading->number == 0 ? other_format(text, bytes) : NULL;
    if (bytes == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "%.200s is empty; write it with llama-bench -o json",
                        reading->path);
    if (format)
        return ulb_fail(err, ULB_BAD_INPUT, "%.200s is %s; write it with llama-bench -o json", reading->path,
                        format);
    if (cut > 0)
        return ulb_fail(err, ULB_BAD_INPUT, "%.200s ends inside a run; let llama-bench end", reading->path);
    if (mixed > 0)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "%.200s: runs of prompt and generation together cannot be bounded; let llama-bench "
                        "run with -n in the place of -pg",
                        reading->path);
    return ulb_fail(err, ULB_BAD_INPUT, "%.200s: no run that generates tokens; let llama-bench run with -n",
                    reading->path);
}

enum ulb_status ulb_llama_bench_read(const char *path, struct ulb_llama_runs *runs, struct ulb_error *err)
{
    const struct ulb_llama_runs before = *runs;
    struct reading reading = {.path = path, .runs = runs};
    char *text = NULL;
    size_t bytes = 0, begin = 0;
    enum ulb_status status = ulb_slurp(path, LARGEST_FILE, &text, &bytes, err);
    if (status == ULB_OK && !settle_text(&text, &bytes, &begin))
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read %.200s", path);
    if (status == ULB_OK)
        status = add_objects(&reading, text, bytes, begin, err);
    if (status == ULB_OK && runs->n == before.n)
        status = without_runs(&reading, text + begin, bytes - begin, runs->mixed - before.mixed,
                              runs->cut - before.cut, err);
    free(text);
    if (status != ULB_OK)
        ulb_llama_bench_free(runs);
    return status;
}

void ulb_llama_bench_free(struct ulb_llama_runs *runs)
{
    free(runs->items);
    *runs = (struct ulb_llama_runs){0};
}
