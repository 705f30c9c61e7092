/* Text in memory: what is written is there, and what found no room is known. */
#include "common/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

static void test_text(void **state)
{
    (void)state;
    struct ulb_text text;
    assert_true(ulb_text_open(&text));
    assert_true(ulb_text_close(&text));
    assert_string_equal(text.data, "");
    free(text.data);

    assert_true(ulb_text_open(&text));
    for (int i = 0; i < 10000; i++)
        fprintf(text.out, "%04d\n", i);
    assert_true(ulb_text_close(&text));
    assert_int_equal(text.bytes, 50000);
    assert_int_equal(strlen(text.data), 50000);
    assert_memory_equal(text.data + 49990, "9998\n9999\n", 10);
    free(text.data);
}

/* A megabyte at a time until the limit of the address space is met. */
static void test_no_room(void **state)
{
    (void)state;
#ifndef SANITIZED /* a sanitizer needs the address space */
    enum { PIECE = 1 << 20, PIECES = 1024 };
    struct rlimit before, small = {(rlim_t)256 << 20, 0};
    struct ulb_text text;
    char *piece = calloc(1, PIECE);
    assert_non_null(piece);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    assert_true(ulb_text_open(&text));
    for (int i = 0; i < PIECES; i++)
        fwrite(piece, 1, PIECE, text.out);
    assert_false(ulb_text_close(&text));
    assert_null(text.data);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    free(piece);
#endif
}

/* Characters of two, three and four bytes, whole and cut. */
static void test_mend(void **state)
{
    (void)state;
    static const char *const texts[][2] = {{"", ""},
                                           {"abc", "abc"},
                                           {"\xC3\xA9", "\xC3\xA9"},
                                           {"ab\xC3", "ab"},
                                           {"\xE2\x82\xAC", "\xE2\x82\xAC"},
                                           {"a\xE2\x82", "a"},
                                           {"a\xE2", "a"},
                                           {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
                                           {"x\xF0\x9F\x98", "x"},
                                           {"\xC3\xA9\xF0", "\xC3\xA9"},
                                           {"\x80\x80", "\x80\x80"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[16];
        strcpy(text, texts[i][0]);
        ulb_text_mend(text);
        assert_string_equal(text, texts[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_mend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
