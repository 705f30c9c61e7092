/* From samples to overlap to prediction, on samples that are made, not measured: what they were made with
 * must come out, through the record and into cells of other shapes. */
#include "harness/grid/calibration_shapes.h"
#include "harness/grid/overlap_calibration.h"
#include "harness/grid/prediction.h"
#include "common/stats.h"
#include "shapes/model.h"
#include "shapes/shapes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 5, PER_ROUND = 3, JUDGED = 2, THREADS = 2 };

static const double HZ = 3e9, GAMMA = 0.75, LOOP = 80e-6, YARDSTICK = 30e9, FORK_JOIN = 0.4e-6,
                    READ_SHARE = 0.75, PEAK_SHARE = 0.4;

static struct ulb_error err;

/* A machine of one class with two cores, and a grid of one kernel with two judged cells. */
struct scene {
    struct ulb_machine machine;
    struct ulb_settings settings;
    struct ulb_core_class cls;
    unsigned pus[THREADS];
    struct ulb_record record;
    struct ulb_grid grid;
    struct ulb_grid_cell cells[JUDGED + ULB_OVERLAP_SHAPES];
    double us[JUDGED + ULB_OVERLAP_SHAPES][ROUNDS * PER_ROUND],
        round_yardstick[JUDGED + ULB_OVERLAP_SHAPES][ROUNDS], round_peak[JUDGED + ULB_OVERLAP_SHAPES][ROUNDS],
        read_us[JUDGED + ULB_OVERLAP_SHAPES][ROUNDS], loop_s[JUDGED + ULB_OVERLAP_SHAPES][ROUNDS];
    struct ulb_core_rate rate;
    struct ulb_overlap overlap;
    struct ulb_tile_range ranges[THREADS];
    double thread_shares[THREADS];
};

/* A kernel whose name tests of this file need not know: integer, exact, without or with tables. */
static const struct ulb_kernel *some_kernel(bool tables)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (ulb_kernels[i]->uses_lut == tables && ulb_kernels[i]->layout->format->bits < 8 &&
            ulb_kernels[i]->mr > 1)
            return ulb_kernels[i];
    }
    return NULL;
}

static void set_scene(struct scene *s, const struct ulb_kernel *kernel)
{
    memset(s, 0, sizeof *s);
    s->cls = (struct ulb_core_class){.name = "core", .cores = THREADS};
    s->pus[1] = 1;
    s->machine.topology = (struct ulb_topology){.n_classes = 1, .classes = {s->cls}};
    s->machine.pus = (struct ulb_pu_list){.items = s->pus, .n = THREADS};
    s->settings.seed = 1;
    s->machine.fork_join_s = FORK_JOIN;
    assert_int_equal(ulb_record_new(&s->record, &err), ULB_OK);
    s->rate = (struct ulb_core_rate){GAMMA, HZ, LOOP};
    s->overlap = (struct ulb_overlap){NAN, NAN, NAN, NAN};
    s->thread_shares[0] = s->thread_shares[1] = 1;
    s->grid = (struct ulb_grid){
        .cells = s->cells,
        .judged = JUDGED,
        .n = JUDGED + ULB_OVERLAP_SHAPES,
        .plan = {.machine = &s->machine, .settings = &s->settings, .rounds = ROUNDS, .predicts = true},
        .n_kernels = 1,
        .overlaps = &s->overlap,
        .rates = &s->rate,
        .ranges = s->ranges,
        .thread_shares = s->thread_shares};
    for (size_t i = 0; i < s->grid.n; i++) {
        struct ulb_shape shape = {i ? 1600 : 28672, i ? 1600 : 4096};
        if (i >= JUDGED)
            shape = ulb_overlap_shape(kernel, THREADS, i - JUDGED);
        s->cells[i] = (struct ulb_grid_cell){.kernel = kernel,
                                             .model = i < JUDGED ? "m" : NULL,
                                             .m = shape.m,
                                             .k = shape.k,
                                             .us = s->us[i],
                                             .round_yardstick = s->round_yardstick[i],
                                             .round_peak = s->round_peak[i],
                                             .read_us = s->read_us[i],
                                             .loop_s = s->loop_s[i],
                                             .per_round = PER_ROUND,
                                             .n = 1,
                                             .bytes = ulb_layout_bytes(kernel->layout, shape.m, shape.k)};
    }
}

/* Samples as the truth has them; the yardstick changes from round to round, and memory time with it, and so
 * does what neighbours leave of the cores. */
static void fill_samples(struct scene *s, const struct ulb_overlap *truth)
{
    for (size_t i = 0; i < s->grid.n; i++) {
        struct ulb_grid_cell *cell = &s->cells[i];
        for (size_t round = 0; round < ROUNDS; round++) {
            double yardstick = YARDSTICK * (1 + 0.1 * (double)round), slower = 1 + 0.15 * (double)(round % 3);
            struct ulb_core_rate rate = {GAMMA * slower, HZ, LOOP * slower};
            struct ulb_prediction p = ulb_predict_cell(&s->grid, cell, yardstick, &rate);
            double seconds = ulb_predict_overlap(&p.plain, p.tiles, (double)cell->k, truth);
            assert_true(seconds > 0);
            cell->loop_s[cell->n_rounds] = LOOP * slower;
            cell->round_peak[cell->n_rounds] =
                1e-9 * 2 * (double)cell->m * (double)cell->k / (PEAK_SHARE * seconds);
            cell->read_us[cell->n_rounds] = READ_SHARE * 1e6 * seconds;
            cell->round_yardstick[cell->n_rounds++] = yardstick;
            for (size_t j = 0; j < PER_ROUND; j++)
                cell->us[cell->n_samples++] = 1e6 * seconds;
        }
    }
}

static void check_truth(bool tables, const struct ulb_overlap *truth)
{
    const struct ulb_kernel *kernel = some_kernel(tables);
    if (!kernel)
        skip(); /* no such kernel on this architecture */
    struct scene *s = malloc(sizeof *s);
    assert_non_null(s);
    set_scene(s, kernel);
    fill_samples(s, truth);
    assert_int_equal(ulb_overlap_measure(&s->grid, &s->record, &err), ULB_OK);
    struct ulb_overlap_cell *cells;
    size_t n;
    assert_int_equal(ulb_record_overlaps(&s->record, &cells, &n, &err), ULB_OK);
    assert_int_equal(n, 1);
    assert_int_equal(cells->n_samples, ROUNDS);
    assert_true(fabs(cells->overlap - truth->c) < 0.01);
    assert_true(fabs(cells->tile_us - 1e6 * truth->tile_s) < 0.005);
    assert_true(fabs(cells->call_us - 1e6 * truth->call_s) < 0.05);
    assert_true(fabs(cells->column_ns - 1e9 * truth->column_s) < 0.05);
    for (size_t i = 0; i < ROUNDS; i++)
        assert_true(fabs(cells->overlap_samples[i] - truth->c) < 0.01);
    assert_true(cells->overlap_mad < 0.01);
    ulb_overlaps_free(cells, n);
    for (size_t i = 0; i < JUDGED; i++) {
        struct ulb_cell cell;
        ulb_grid_result(&s->grid, 0, &s->cells[i], &cell);
        assert_true(fabs(cell.residual) < 0.005);
        assert_true(fabs(cell.residual_plain) > 0.02);
        assert_true(fabs(cell.read_share - READ_SHARE) < 1e-9);
        assert_true(fabs(cell.peak_share - PEAK_SHARE) < 1e-9);
        if (strcmp(cell.bound, "memory") == 0)
            assert_non_null(strstr(cell.verdict, "75 % of a plain read of its size: loads do not run ahead"));
        assert_true(fabs(cell.us / cell.predicted_plain_us - 1 - cell.residual_plain) < 1e-12);
        assert_string_equal(cell.predicted_reason, "");
    }
    ulb_record_free(&s->record);
    free(s);
}

static void overlap_comes_out_as_it_went_in(void **state)
{
    (void)state;
    check_truth(false, &(struct ulb_overlap){.c = 0.2, .tile_s = 0.15e-6, .call_s = 0.5e-6});
    check_truth(false, &(struct ulb_overlap){.c = 0.9});
    check_truth(true, &(struct ulb_overlap){.c = 0.6, .column_s = 1.2e-9});
}

/* No samples of the calibrating cells: the plain prediction stands, the other is absent with its reason. */
static void without_calibration_no_overlap(void **state)
{
    (void)state;
    struct scene *s = malloc(sizeof *s);
    assert_non_null(s);
    set_scene(s, some_kernel(false) ? some_kernel(false) : ulb_kernels[0]);
    fill_samples(s, &(struct ulb_overlap){.c = 0.2});
    s->cells[JUDGED].n_rounds = 0;
    assert_int_equal(ulb_overlap_measure(&s->grid, &s->record, &err), ULB_OK);
    struct ulb_overlap_cell *cells;
    size_t n;
    assert_int_equal(ulb_record_overlaps(&s->record, &cells, &n, &err), ULB_OK);
    assert_true(n == 1 && isnan(cells->overlap) && isnan(cells->tile_us));
    assert_string_equal(cells->reason, "interrupted before it was measured");
    ulb_overlaps_free(cells, n);
    struct ulb_cell cell;
    ulb_grid_result(&s->grid, 0, &s->cells[0], &cell);
    assert_true(isnan(cell.predicted_us) && isnan(cell.residual) && cell.predicted_plain_us > 0);
    assert_string_equal(cell.predicted_reason, "the kernel's overlap was not measured");
    ulb_record_free(&s->record);
    free(s);
}

/* Fused as the grid runs them, and in the catalogue's other form. */
static void expect_nobodys(const struct ulb_shape *shape)
{
    struct ulb_shape_list list;
    for (size_t i = 0; i < 2 * ulb_model_count; i++) {
        const struct ulb_model *model = &ulb_models[i / 2];
        enum ulb_form form = i % 2 ? ULB_FORM_STORED : ULB_FORM_FUSED;
        assert_int_equal(ulb_model_shapes(model, form, &list, &err), ULB_OK);
        for (size_t l = 0; l < list.n; l++) {
            if (list.items[l].k == shape->k && list.items[l].m == shape->m)
                fail_msg("%s of %s has the shape %zux%zu", list.items[l].layer, model->name, shape->m,
                         shape->k);
        }
        free(list.items);
    }
}

/* Nothing is padded, every thread has the same number of whole tiles, and no model has the shape. */
static void shapes_are_whole_tiles_and_nobodys(void **state)
{
    (void)state;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_kernel *kernel = ulb_kernels[i];
        for (size_t threads = 1; threads <= 64; threads = threads * 3 + 1) {
            for (size_t s = 0; s < ULB_OVERLAP_SHAPES; s++) {
                struct ulb_shape shape = ulb_overlap_shape(kernel, threads, s);
                assert_true(shape.m > 0);
                assert_int_equal(shape.m % (kernel->mr * threads), 0);
                assert_int_equal(shape.m % (kernel->layout->tile_m * threads), 0);
                assert_int_equal(ulb_layout_columns(kernel->layout, shape.k), shape.k);
                assert_int_equal(shape.k % kernel->kr, 0);
                expect_nobodys(&shape);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap_comes_out_as_it_went_in),
        cmocka_unit_test(without_calibration_no_overlap),
        cmocka_unit_test(shapes_are_whole_tiles_and_nobodys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
