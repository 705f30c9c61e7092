#include "tests/results/compare_records.h"

#include "results/compare/noise_floor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka last: it needs the headers above. */
#include <cmocka.h>

struct ulb_error err;
double noise(size_t cell, size_t round, unsigned seed)
{
    uint64_t x = (cell * 1000 + round + 1) * 0x9E3779B97F4A7C15u + seed * 0xD1B54A32D192ED03u;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9u;
    x ^= x >> 32;
    return 1 + 0.02 * ((double)(x % 1000) / 1000 - 0.5);
}

struct ulb_record make(unsigned seed)
{
    struct ulb_record record;
    if (sample_record(&record, SAMPLE_SERVER, &err) != ULB_OK)
        fail_msg("%s", err.message);
    json_t *cells = json_object_get(record.root, "cells"), *cell;
    size_t i;
    json_array_foreach(cells, i, cell)
    {
        json_t *samples = json_array();
        double us = json_number_value(json_object_get(cell, "us"));
        for (size_t r = 0; r < ROUNDS; r++) {
            double now = us * noise(i, r, seed);
            json_array_append_new(samples, json_real(1.2 * now));
            json_array_append_new(samples, json_real(now));
            json_array_append_new(samples, json_real(1.1 * now));
        }
        json_object_set_new(cell, "us_samples", samples);
        json_object_set_new(cell, "samples_per_round", json_integer(3));
        json_object_set_new(cell, "disturbed_samples", json_array());
    }
    json_t *yardstick = json_array_get(json_object_get(json_object_get(record.root, "beta"), "yardstick"), 0);
    json_t *gbps = json_array(), *hz = json_array();
    for (size_t r = 0; r < ROUNDS; r++) {
        json_array_append_new(gbps, json_real(json_number_value(json_object_get(yardstick, "gbps"))));
        json_array_append_new(hz, json_real(2.6e9));
    }
    json_object_set_new(yardstick, "gbps_samples", gbps);
    json_object_set_new(yardstick, "hz_samples", hz);
    assert_int_equal(ulb_record_judge_noise(&record, &err), ULB_OK);
    return record;
}

json_t *yardstick_of(struct ulb_record *record)
{
    return json_array_get(json_object_get(json_object_get(record->root, "beta"), "yardstick"), 0);
}

void scale(json_t *array, double factor, size_t from)
{
    for (size_t i = from; i < json_array_size(array); i++)
        json_array_set_new(array, i, json_real(factor * json_number_value(json_array_get(array, i))));
}

void slow_down(struct ulb_record *record, const char *kernel, double factor, size_t from)
{
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(record->root, "cells"), i, cell)
    {
        const char *name = json_string_value(json_object_get(cell, "kernel"));
        if (!kernel || strcmp(name, kernel) == 0)
            scale(json_object_get(cell, "us_samples"), factor, from);
    }
}
