/* What llama-bench writes, as an array, as lines, and damaged. */
#include "results/llama_bench.h"

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

static void write_file(const char *text)
{
    strcpy(path, "/tmp/ulb-llama-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void expect_two(const char *text)
{
    struct ulb_llama_runs runs;
    struct ulb_error err = {""};
    write_file(text);
    if (ulb_llama_bench_read(path, &runs, &err) != ULB_OK)
        fail_msg("%s", err.message);
    unlink(path);
    assert_int_equal(runs.n, 2);
    assert_int_equal(runs.prompts, 1);
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
        const char *backends, *layers;
        bool gpu;
    } cases[] = {
        {"CUDA", "99", true}, {"Vulkan,BLAS", "-1", true}, {"CUDA", "0", false}, {"BLAS", "99", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        struct ulb_llama_runs runs;
        struct ulb_error err = {""};
        snprintf(text, sizeof text,
                 "{\"backends\": \"%s\", \"n_gpu_layers\": %s, \"model_type\": \"x\", \"model_size\": 10, "
                 "\"model_n_params\": 10, \"n_threads\": 1, \"n_prompt\": 0, \"n_gen\": 1, \"avg_ts\": 1}",
                 cases[i].backends, cases[i].layers);
        write_file(text);
        assert_int_equal(ulb_llama_bench_read(path, &runs, &err), ULB_OK);
        unlink(path);
        assert_int_equal(runs.items[0].gpu, cases[i].gpu);
        assert_true(isnan(runs.items[0].stddev));
        ulb_llama_bench_free(&runs);
    }
}

static void expect_refused(const char *text, const char *reason)
{
    struct ulb_llama_runs runs;
    struct ulb_error err = {""};
    write_file(text);
    assert_int_equal(ulb_llama_bench_read(path, &runs, &err), ULB_BAD_INPUT);
    unlink(path);
    assert_null(runs.items);
    if (!strstr(err.message, reason) || !strstr(err.message, path))
        fail_msg("no '%s' or no name in '%s'", reason, err.message);
}

static void damage_is_named(void **state)
{
    (void)state;
    expect_refused("", "no run that generates tokens");
    expect_refused("[]", "no run that generates tokens");
    expect_refused("[" RUN("512", "0", "300") "]", "no run that generates tokens");
    expect_refused("| model | size |", "no JSON behind run 0");
    expect_refused(RUN("0", "128", "40.5") "\n{\"n_prompt\": ", "no JSON behind run 1");
    expect_refused("[1]", "run 1: \"n_prompt\"");
    expect_refused("3", "no JSON");
    expect_refused("[" RUN("0", "128", "40.5") ", " RUN("0", "128", "-1") "]", "run 2: \"avg_ts\"");
    expect_refused("{\"n_prompt\": 0, \"n_gen\": 1}", "\"model_type\"");
    expect_refused("{\"n_prompt\": 0, \"n_gen\": 1, \"model_type\": \"x\"}", "\"model_size\"");
    struct ulb_llama_runs runs;
    struct ulb_error err;
    assert_int_equal(ulb_llama_bench_read("/nonexistent", &runs, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "/nonexistent: No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_and_lines_are_read),
        cmocka_unit_test(a_gpu_is_seen),
        cmocka_unit_test(damage_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
