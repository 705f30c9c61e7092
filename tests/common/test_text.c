/* Text in memory: what is written is there, and what found no room is known. */
#include "common/text.h"

#include "common/status.h"

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

/* What differs is seen, however far behind it is, and characters stay whole. */
static void test_differing(void **state)
{
    (void)state;
    char a[256], b[256], one[ULB_DIFFERING_BYTES], other[ULB_DIFFERING_BYTES];
    ulb_text_differing("absent", "8", one, other);
    assert_string_equal(one, "absent");
    assert_string_equal(other, "8");
    for (size_t i = 0; i < 120; i += 2)
        memcpy(a + i, "\xC3\x9C", 2);
    strcpy(a + 120, "avx2");
    strcpy(b, a);
    strcpy(b + 123, "1 and more");
    ulb_text_differing(a, b, one, other);
    assert_true(strncmp(one, "...\xC3\x9C", 5) == 0 && strstr(one, "\x9C"
                                                                   "avx2"));
    assert_true(strncmp(other, "...\xC3\x9C", 5) == 0 && strstr(other, "\x9C"
                                                                       "avx1 and more"));
    for (size_t i = 0; i < 240; i += 2)
        memcpy(a + i, "\xC3\x9C", 2);
    a[240] = '\0';
    ulb_text_differing("x", a, one, other);
    assert_true(strlen(other) < sizeof other && strcmp(other + strlen(other) - 5, "\xC3\x9C...") == 0);
}

/* What a terminal obeys, and bytes that are no character, become '?'; all else stays. */
static void test_printable(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"", ""},
        {"plain, caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
         "plain, caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"},
        {"a\033[31mb", "a?[31mb"},
        {"a\nulb-bench: b\r\t\177", "a?ulb-bench: b???"},
        {"a\xC2\x9B"
         "31m",
         "a?31m"}, /* C1: a CSI in two bytes */
        {"\x9B"
         "31m",
         "?31m"}, /* and in one, no UTF-8 */
        {"a\xE2\x80\xAE"
         "b\xE2\x81\xA6"
         "c\xE2\x80\x8F\xD8\x9C",
         "a?b?c??"}, /* direction */
        {"a\xE2\x80\xA8"
         "b",
         "a?b"},                                     /* line separator */
        {"\xC0\x8A\xE0\x80\x8A", "?????"},           /* newlines, overlong */
        {"\xED\xA0\x80\xF5\x80\x80\x80", "???????"}, /* a surrogate; above U+10FFFF */
        {"ab\xE2\x82", "ab??"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[64];
        strcpy(text, texts[i][0]);
        assert_int_equal(ulb_text_is_printable(text), strcmp(texts[i][0], texts[i][1]) == 0);
        ulb_text_printable(text);
        assert_string_equal(text, texts[i][1]);
        assert_true(ulb_text_is_printable(text));
    }
}

static void test_messages_are_one_line(void **state)
{
    (void)state;
    struct ulb_error err;
    assert_int_equal(ulb_fail(&err, ULB_BAD_INPUT, "no %s", "x\nulb-bench: y\033[2J"), ULB_BAD_INPUT);
    assert_string_equal(err.message, "no x?ulb-bench: y?[2J");
    ulb_fail_prefix(&err, ULB_BAD_INPUT, "a\rb");
    assert_string_equal(err.message, "a?b: no x?ulb-bench: y?[2J");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),      cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_mend),      cmocka_unit_test(test_differing),
        cmocka_unit_test(test_printable), cmocka_unit_test(test_messages_are_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
