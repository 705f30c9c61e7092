/* What llama-bench writes, as an array, as lines, and damaged. */
#include "results/reference/llama_bench.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define RUN(prompt, tokens, speed)                                                                           \
    "{\"build_commit\": \"b5a1\", \"backends\": \"CPU\", \"n_gpu_layers\": 99, \"model_type\": "             \
    "\"llama 1B Q4_0\", \"model_size\": 923000000, \"model_n_params\": 1669000000, \"n_threads\": 8, "       \
    "\"n_prompt\": " prompt ", \"n_gen\": " tokens ", \"avg_ts\": " speed ", \"stddev_ts\": 0.25}"

static char path[64];

static void write_file(const char *text, size_t bytes)
{
    strcpy(path, "/tmp/ulb-llama-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, bytes), bytes);
    close(fd);
}

static void expect_two_of(const char *text, size_t bytes)
{
    struct ulb_llama_runs runs = {0};
    struct ulb_error err = {""};
    write_file(text, bytes);
    if (ulb_llama_bench_read(path, &runs, &err) != ULB_OK)
        fail_msg("%s", err.message);
    unlink(path);
    assert_int_equal(runs.n, 2);
    assert_int_equal(runs.prompts + runs.mixed, 1);
    assert_string_equal(runs.items[0].model, "llama 1B Q4_0");
    assert_string_equal(runs.items[0].build, "b5a1");
    assert_int_equal(runs.items[0].threads, 8);
    assert_int_equal(runs.items[0].tokens, 128);
    assert_int_equal(runs.items[1].tokens, 32);
    assert_true(fabs(runs.items[0].tokens_per_s - 40.5) < 1e-9);
    assert_true(fabs(runs.items[1].tokens_per_s - 41) < 1e-9);
    assert_true(fabs(runs.items[0].stddev - 0.25) < 1e-9);
    assert_true(fabs(runs.items[0].weight_bytes - 923e6) < 1 && fabs(runs.items[0].weights - 1669e6) < 1);
    assert_false(runs.items[0].gpu);
    ulb_llama_bench_free(&runs);
}

static void expect_two(const char *text)
{
    expect_two_of(text, strlen(text));
}

static void arrays_and_lines_are_read(void **state)
{
    (void)state;
    expect_two("[\n" RUN("512", "0", "300") ",\n" RUN("0", "128", "40.5") ",\n" RUN("0", "32", "41") "\n]\n");
    expect_two(RUN("512", "0", "300") "\n" RUN("0", "128", "40.5") "\n" RUN("0", "32", "41") "\n");
    /* Both kinds, as when the outputs of two calls are joined. */
    expect_two("[" RUN("512", "16", "300") "]\n" RUN("0", "128", "40.5") "[" RUN("0", "32", "41") "]");
}

static void a_gpu_is_seen(void **state)
{
    (void)state;
    static const struct {
        const char *build, *layers;
        bool gpu;
    } cases[] = {{"\"backends\": \"CUDA\"", "99", true},
                 {"\"backends\": \"Vulkan,BLAS\"", "-1", true},
                 {"\"backends\": \"CUDA\"", "0", false},
                 {"\"backends\": \"BLAS\"", "99", false},
                 {"\"backends\": \"CPU,BLAS\"", "99", false},
                 {"\"backends\": \"CUDA\", \"devices\": \"none\"", "99", false},
                 {"\"backends\": \"CUDA\", \"devices\": \"CUDA0\"", "99", true},
                 {"\"cuda\": true, \"metal\": false", "99", true},
                 {"\"cuda\": false, \"metal\": false, \"blas\": true", "99", false},
                 {"\"vulkan\": true", "0", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        struct ulb_llama_runs runs = {0};
        struct ulb_error err = {""};
        snprintf(text, sizeof text,
                 "{%s, \"n_gpu_layers\": %s, \"model_type\": \"x\", \"model_size\": 10, "
                 "\"model_n_params\": 10, \"n_threads\": 1, \"n_prompt\": 0, \"n_gen\": 1, \"avg_ts\": 1}",
                 cases[i].build, cases[i].layers);
        write_file(text, strlen(text));
        assert_int_equal(ulb_llama_bench_read(path, &runs, &err), ULB_OK);
        unlink(path);
        assert_int_equal(runs.items[0].gpu, cases[i].gpu);
        assert_true(isnan(runs.items[0].stddev));
        ulb_llama_bench_free(&runs);
    }
}

/* What shells and loaders make of the same three runs. */
static void noise_and_encodings_are_read(void **state)
{
    (void)state;
#define LINES "[\n" RUN("512", "0", "300") ",\n" RUN("0", "128", "40.5") ",\n" RUN("0", "32", "41") "\n]\n"
    expect_two("ggml_vulkan: Found 1 devices {of a kind}:\n[warning] a line\n" LINES
               "\nbuild: b5a1 (5163)\n");
    expect_two("\xEF\xBB\xBF" LINES);
    char wide[8192];
    for (size_t big = 0; big < 2; big++) {
        for (int mark = 0; mark < 2; mark++) {
            size_t n = 0;
            for (const char *c = mark ? "\xFE" LINES : LINES; *c; c++, n += 2) {
                wide[n + 1 - big] = (unsigned char)*c == 0xFE ? '\xFE' : 0;
                wide[n + big] = (unsigned char)*c == 0xFE ? '\xFF' : *c;
            }
            expect_two_of(wide, n);
        }
    }
    /* llama-bench was killed: the array is not closed, or ends inside a run. */
    expect_two("[\n" RUN("512", "0", "300") ",\n" RUN("0", "128", "40.5") ",\n" RUN("0", "32", "41"));
    expect_two("[\n" RUN("512", "0", "300") ",\n" RUN("0", "128", "40.5") ",\n" RUN(
        "0", "32", "41") ",\n{\"build_commit\": \"b5");
}

static void files_add_up(void **state)
{
    (void)state;
    struct ulb_llama_runs runs = {0};
    struct ulb_error err;
    for (size_t i = 1; i <= 2; i++) {
        write_file("[" RUN("0", "128", "40.5") "]", strlen("[" RUN("0", "128", "40.5") "]"));
        assert_int_equal(ulb_llama_bench_read(path, &runs, &err), ULB_OK);
        unlink(path);
        assert_int_equal(runs.n, i);
    }
    /* A file without a run is refused however many there are already. */
    write_file("[]", 2);
    assert_int_equal(ulb_llama_bench_read(path, &runs, &err), ULB_BAD_INPUT);
    unlink(path);
    assert_null(runs.items);
}

static void cpu_and_cache_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *more;
        double keys, values;
        const char *cpu;
    } cases[] = {{"", 2, 2, ""},
                 {"\"type_k\": \"q8_0\", \"type_v\": \"f32\", \"cpu_info\": \"A\\u0000B\",", 1.0625, 4, "AB"},
                 {"\"type_k\": \"q4_0\", \"cpu_info\": \"x\\u001b[1my\",", 0.5625, 2, "x?[1my"},
                 {"\"type_v\": \"new\",", 2, NAN, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        struct ulb_llama_runs runs = {0};
        struct ulb_error err = {""};
        snprintf(text, sizeof text,
                 "{%s \"model_type\": \"x\", \"model_size\": 10, \"model_n_params\": 10, \"n_threads\": 1, "
                 "\"n_prompt\": 0, \"n_gen\": 1, \"avg_ts\": 1}",
                 cases[i].more);
        write_file(text, strlen(text));
        if (ulb_llama_bench_read(path, &runs, &err) != ULB_OK)
            fail_msg("%s", err.message);
        unlink(path);
        assert_true(runs.items[0].key_bytes == cases[i].keys);
        assert_true(runs.items[0].value_bytes == cases[i].values || isnan(cases[i].values));
        assert_string_equal(runs.items[0].cpu, cases[i].cpu);
        ulb_llama_bench_free(&runs);
    }
}

static void expect_refused(const char *text, const char *reason)
{
    struct ulb_llama_runs runs = {0};
    struct ulb_error err = {""};
    write_file(text, strlen(text));
    assert_int_equal(ulb_llama_bench_read(path, &runs, &err), ULB_BAD_INPUT);
    unlink(path);
    assert_null(runs.items);
    if (!strstr(err.message, reason) || !strstr(err.message, path))
        fail_msg("no '%s' or no name in '%s'", reason, err.message);
}

static void damage_is_named(void **state)
{
    (void)state;
    expect_refused("", "is empty");
    expect_refused("[]", "no run that generates tokens");
    expect_refused("[" RUN("512", "0", "300") "]", "no run that generates tokens");
    expect_refused("| model | size |", "is Markdown; write it with llama-bench -o json");
    expect_refused("\n| model | size |\n", "is Markdown");
    expect_refused("build_commit,build_number\n\"1\",\"2\"\n", "is CSV");
    expect_refused("CREATE TABLE IF NOT EXISTS test (a TEXT);", "is SQL");
    expect_refused("INSERT INTO test (a) VALUES ('1');", "is SQL");
    expect_refused("[" RUN("512", "16", "300") "]", "prompt and generation together");
    expect_refused("{\"n_prompt\": ", "ends inside a run");
    expect_refused(RUN("0", "128", "40.5") "\n{\"n_prompt\" 3}", "no JSON behind run 1");
    expect_refused("[1]", "no run that generates tokens");
    expect_refused("3", "no run that generates tokens");
    expect_refused("[" RUN("0", "128", "40.5") ", " RUN("0", "128", "-1") "]", "run 2: \"avg_ts\"");
    expect_refused("{\"n_prompt\": 0, \"n_gen\": 1}", "\"model_type\"");
    expect_refused("{\"n_prompt\": 0, \"n_gen\": 1, \"model_type\": \"x\"}", "\"model_size\"");
    struct ulb_llama_runs runs = {0};
    struct ulb_error err;
    assert_int_equal(ulb_llama_bench_read("/nonexistent", &runs, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "/nonexistent could not be opened: No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_and_encodings_are_read),
        cmocka_unit_test(files_add_up),
        cmocka_unit_test(cpu_and_cache_are_read),
        cmocka_unit_test(arrays_and_lines_are_read),
        cmocka_unit_test(a_gpu_is_seen),
        cmocka_unit_test(damage_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
