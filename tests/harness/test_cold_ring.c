/* The walk through the cold ring: pieces inside the mapping, aligned, and no byte again before the whole ring
 * was read, however the sizes are mixed. */
#include "harness/memory/cold_ring.h"

#include "common/fp16.h"
#include "common/rng.h"

#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, RING = 64 * PAGE, LARGEST = 9 * PAGE, PIECES = 4000 };

/* No memory behind it: the walk only counts. */
static struct ulb_arena ring_of(size_t ring_bytes, size_t mapping_bytes)
{
    return (struct ulb_arena){.pages = {.data = (void *)(uintptr_t)(1 << 21), .bytes = mapping_bytes},
                              .ring_bytes = ring_bytes};
}

static size_t take(struct ulb_arena *arena, size_t bytes, size_t alignment)
{
    size_t at = (size_t)((char *)ulb_arena_next(arena, bytes, alignment) - (char *)arena->pages.data);
    assert_int_equal(at % alignment, 0);
    assert_true(at + bytes <= arena->pages.bytes);
    return at;
}

/* last[i]: bytes read in all when line i was read; least: between two readings of one line. */
static void no_byte_comes_again_before_the_ring_was_read(void **state)
{
    (void)state;
    enum { LINES = (RING + LARGEST) / 64 };
    struct ulb_arena arena = ring_of(RING, RING + LARGEST);
    struct ulb_rng rng = {7};
    size_t *last = calloc(LINES, sizeof *last), read = 0, least = SIZE_MAX;
    assert_non_null(last);
    for (int i = 0; i < PIECES; i++) {
        size_t lines = 1 + ulb_rng_below(&rng, LARGEST / 64);
        size_t first = take(&arena, 64 * lines, i % 3 ? 64 : PAGE) / 64;
        for (size_t line = first; line < first + lines; line++) {
            read += 64;
            if (last[line] > 0 && read - last[line] < least)
                least = read - last[line];
            last[line] = read;
        }
    }
    free(last);
    /* What alignment skips is not read. */
    assert_in_range(least, RING - RING / 10, RING);
}

static void every_line_of_the_ring_is_used(void **state)
{
    (void)state;
    struct ulb_arena arena = ring_of(RING, RING + LARGEST);
    char seen[RING / PAGE] = {0};
    for (int i = 0; i < RING / PAGE; i++)
        seen[take(&arena, PAGE, PAGE) / PAGE] = 1;
    for (int i = 0; i < RING / PAGE; i++)
        assert_true(seen[i]);
    assert_int_equal(take(&arena, PAGE, PAGE), 0);
}

/* A ring smaller than the piece, and a mapping without room behind the ring. */
static void pieces_that_do_not_fit_begin_anew(void **state)
{
    (void)state;
    struct ulb_arena small = ring_of(PAGE, PAGE + LARGEST);
    for (int i = 0; i < 3; i++)
        assert_int_equal(take(&small, LARGEST, 64), 0);
    struct ulb_arena tight = ring_of(8 * PAGE, 8 * PAGE);
    assert_int_equal(take(&tight, 3 * PAGE, 64), 0);
    assert_int_equal(take(&tight, 3 * PAGE, 64), 3 * PAGE);
    assert_int_equal(take(&tight, 3 * PAGE, 64), 0);
}

/* Scales are read from it as floats, halves, bfloat16 and exponents: arithmetic with denormals takes some
 * CPUs a hundred cycles. */
static void the_ring_holds_normal_numbers(void **state)
{
    (void)state;
    struct ulb_error err = {0};
    struct ulb_team *team = NULL;
    struct ulb_arena arena;
    unsigned pu = (unsigned)sched_getcpu();
    assert_int_equal(ulb_team_start(&team, &pu, 1, &err), ULB_OK);
    assert_int_equal(ulb_arena_open(&arena, RING, LARGEST, ULB_PAGES_SMALL, team, &err), ULB_OK);
    const uint8_t *bytes = arena.pages.data;
    for (size_t i = 0; i < arena.pages.bytes; i++)
        assert_in_range(bytes[i], 63, 191);
    for (size_t i = 0; i + sizeof(float) <= arena.pages.bytes; i += sizeof(uint16_t)) {
        uint16_t half;
        float single;
        memcpy(&half, bytes + i, sizeof half);
        memcpy(&single, bytes + i, sizeof single);
        assert_true(fabsf(ulb_fp16_to_float(half)) >= 1 && fabsf(ulb_fp16_to_float(half)) <= 2);
        assert_true(fabsf(single) >= 0.5f && fabsf(single) <= 2);
    }
    ulb_arena_close(&arena);
    ulb_team_stop(team);
}

/* Small pages, where a fault backs one alone; a part that begins and ends inside of a page. */
static void parts_of_a_mapping_are_backed(void **state)
{
    (void)state;
    enum { PAGES = 64, POPULATE_WRITE = 23 };
    struct ulb_pages pages;
    struct ulb_error err;
    unsigned char resident[PAGES];
    assert_int_equal(ulb_pages_map(&pages, PAGES * PAGE, ULB_PAGES_SMALL, &err), ULB_OK);
    char *data = pages.data;
    if (sysconf(_SC_PAGESIZE) != PAGE || madvise(data, PAGE, POPULATE_WRITE) != 0)
        skip(); /* another size, or a kernel before 5.14 */
    ulb_pages_back(data + 8 * PAGE + 100, 20 * PAGE);
    assert_int_equal(mincore(data, PAGES * PAGE, resident), 0);
    for (size_t i = 0; i < PAGES; i++) {
        assert_int_equal(resident[i] & 1, i == 0 || (i >= 8 && i <= 28));
        assert_int_equal(data[i * PAGE], 0);
    }
    ulb_pages_unmap(&pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_byte_comes_again_before_the_ring_was_read),
        cmocka_unit_test(every_line_of_the_ring_is_used),
        cmocka_unit_test(pieces_that_do_not_fit_begin_anew),
        cmocka_unit_test(the_ring_holds_normal_numbers),
        cmocka_unit_test(parts_of_a_mapping_are_backed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
