/* Words of comma lists. */
#include "common/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct ulb_error err;

static void test_words_differ(void **state)
{
    (void)state;
    static const char *const fine[] = {"", ",", "a", "a,b", "a,aa,aaa", ",a,,b,"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        assert_int_equal(ulb_words_differ("word", fine[i], &err), ULB_OK);
    static const char *const twice[] = {"aa,aa", "b,aa,a,aa", ",aa,,b,aa,", "a,aa,aa"};
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++) {
        assert_int_equal(ulb_words_differ("word", twice[i], &err), ULB_BAD_INPUT);
        assert_string_equal(err.message, "word 'aa' is named twice");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words_differ)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
