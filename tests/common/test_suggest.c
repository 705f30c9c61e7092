/* Which known name is suggested for an unknown one. */
#include "common/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"gemv", "gemm", "decode",      "list",       "int8",
                                    "int4", "q4_k", "int2a8-mask", "int2a8-mask"};

static struct ulb_suggestion suggest(const char *word)
{
    struct ulb_suggestion suggestion = ulb_suggest(word, strlen(word));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ulb_suggest_name(&suggestion, names[i]);
    return suggestion;
}

static void test_suggested(void **state)
{
    (void)state;
    static const struct {
        const char *word, *name;
    } rows[] = {
        {"decoed", "decode"},          /* swapped */
        {"deocde", "decode"},          /* swapped */
        {"lst", "list"},               /* missing */
        {"gemvv", "gemv"},             /* surplus */
        {"LIST", "list"},              /* case does not count */
        {"int2a8-msk", "int2a8-mask"}, /* a name that comes twice is no tie */
        {"int8_k_m", "int8"},          /* what the word begins with */
        {"q4_k_m", "q4_k"},
        {"gemx", NULL}, /* two are as near */
        {"int9", NULL}, /* two are as near */
        {"dexxde", "decode"},
        {"dexxxe", NULL}, /* more than a third is wrong */
        {"", NULL},
        {"frobnicate", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ulb_suggestion suggestion = suggest(rows[i].word);
        const char *name = ulb_suggested(&suggestion);
        if (!name != !rows[i].name || (name && strcmp(name, rows[i].name) != 0))
            fail_msg("'%s' suggests %s", rows[i].word, name ? name : "nothing");
    }
}

/* Words of any length, of which only a part counts. */
static void test_long_words(void **state)
{
    (void)state;
    char word[4 * ULB_SUGGEST_BYTES];
    memset(word, 'x', sizeof word);
    for (size_t length = 0; length < sizeof word; length++) {
        struct ulb_suggestion suggestion = ulb_suggest(word, length);
        char name[sizeof word];
        memcpy(name, word, sizeof name);
        name[length] = '\0';
        ulb_suggest_name(&suggestion, name);
        assert_int_equal(ulb_suggested(&suggestion) != NULL, length > 0 && length < ULB_SUGGEST_BYTES);
    }
    struct ulb_suggestion suggestion = ulb_suggest("int8,gemv", 4);
    ulb_suggest_name(&suggestion, "int8");
    assert_string_equal(ulb_suggested(&suggestion), "int8");
}

static void test_message(void **state)
{
    (void)state;
    struct ulb_error err;
    struct ulb_suggestion near = suggest("decod"), far = suggest("fly");
    assert_int_equal(ulb_refuse_unknown(&near, "unknown command", "see --help", &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "unknown command 'decod'; did you mean 'decode'?");
    assert_int_equal(ulb_refuse_unknown(&far, "unknown command", "see --help", &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "unknown command 'fly'; see --help");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_suggested), cmocka_unit_test(test_long_words),
                                       cmocka_unit_test(test_message)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
