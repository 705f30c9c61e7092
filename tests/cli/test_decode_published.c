/* Published speeds beside decoded runs: those of the run's model and format, in the record and in the table.
 */
#include "harness/cli/commands/decode_published.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka last: it needs the headers above. */
#include <cmocka.h>

static struct ulb_record record_of(const char *runs)
{
    json_error_t error;
    json_t *array = json_loads(runs, 0, &error);
    if (!array)
        fail_msg("%s", error.text);
    struct ulb_record record = {json_pack("{s:{s:o}}", "decode", "runs", array)};
    struct ulb_error err = {""};
    assert_non_null(record.root);
    if (ulb_decode_published(&record, &err) != ULB_OK)
        fail_msg("%s", err.message);
    return record;
}

static const json_t *published_of(const struct ulb_record *record, size_t run)
{
    const json_t *runs = json_object_get(json_object_get(record->root, "decode"), "runs");
    const json_t *published = json_object_get(json_array_get(runs, run), "published");
    assert_true(json_is_array(published));
    return published;
}

static char *table_of(const struct ulb_record *record)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    ulb_print_published(record, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    return n;
}

/* In any spelling of the model, of its instruct tune too; other formats and models have none. */
static void model_and_format_must_be_the_same(void **state)
{
    (void)state;
    struct ulb_record record = record_of("[{\"model\": \"Llama-3.1-8B-Instruct\", \"format\": \"q4_0\"},"
                                         " {\"model\": \"llama3-8b\", \"format\": \"int1\"},"
                                         " {\"model\": \"falcon3-1b\", \"format\": \"q4_0\"},"
                                         " {\"model\": \"my own\", \"format\": \"q4_0\"}]");
    const json_t *published = published_of(&record, 0), *speed;
    size_t i;
    assert_true(json_array_size(published) >= 2);
    json_array_foreach(published, i, speed)
    {
        assert_true(json_real_value(json_object_get(speed, "tokens_per_s")) > 0);
        assert_true(json_string_length(json_object_get(speed, "machine")) > 0);
        assert_true(json_string_length(json_object_get(speed, "source")) > 0);
        double share = json_real_value(json_object_get(speed, "roofline_share"));
        assert_true(share > 0 && share < 1.05);
    }
    for (size_t run = 1; run < 4; run++)
        assert_int_equal(json_array_size(published_of(&record, run)), 0);
    ulb_record_free(&record);
}

/* One line a machine, beside the fastest of the runs of that model and format, within the screen. */
static void table_names_machine_source_and_ours(void **state)
{
    (void)state;
    struct ulb_record record = record_of(
        "[{\"model\": \"llama3-8b\", \"format\": \"q4_0\", \"tokens_per_s\": 3.25, \"roofline_share\": 0.5},"
        " {\"model\": \"llama3-8b\", \"format\": \"q4_0\", \"tokens_per_s\": 4.75, \"roofline_share\": "
        "0.6}]");
    assert_int_equal(setenv("COLUMNS", "200", 1), 0); /* lines as a whole, to look for words in them */
    char *table = table_of(&record);
    assert_int_equal(count(table, "AMD Ryzen 9 7950X"), 1);
    assert_int_equal(count(table, "3.25"), 0);
    assert_int_equal(count(table, "beside 4.75"), json_array_size(published_of(&record, 0)));
    assert_non_null(strstr(table, "ikawrakow/ik_llama.cpp"));
    for (const char *line = table; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 200);
    free(table);
    ulb_record_free(&record);
}

static void nothing_is_printed_of_nothing(void **state)
{
    (void)state;
    struct ulb_record record =
        record_of("[{\"model\": \"falcon3-1b\", \"format\": \"bf16\", \"tokens_per_s\": 3}]");
    char *table = table_of(&record);
    assert_string_equal(table, "");
    free(table);
    ulb_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_and_format_must_be_the_same),
        cmocka_unit_test(table_names_machine_source_and_ours),
        cmocka_unit_test(nothing_is_printed_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
