/* Figures of more than has room. */
#include "tests/plots/drawn.h"

/* Many memory nodes, or cores that share an L2: those that have no room are counted, the whole set has it. */
static void test_beta_of_many_sets(void **state)
{
    (void)state;
    need_gnuplot();
    static const char *const words[] = {">set P<",      ">set E<",          ">set all<",
                                        ">set node12<", ">7 further sets<", NULL};
    struct ulb_record record;
    size_t bytes;
    assert_int_equal(sample_record(&record, SAMPLE_HYBRID, &err), ULB_OK);
    for (int node = 0; node < 20; node++) {
        struct ulb_beta_cell cell = {.threads = 1, .level = "mem", .gbps = 10, .bytes_per_cycle = 4};
        snprintf(cell.set, sizeof cell.set, "node%d", node);
        assert_int_equal(ulb_record_add_beta(&record, &cell, &err), ULB_OK);
    }
    char *svg = draw(&record, "beta", "svg", &bytes);
    assert_has(svg, words);
    free(svg);
    ulb_record_free(&record);
}

/* More formats than have room of their own: their cells are drawn, or the legend says that they are not. */
static void test_many_formats(void **state)
{
    (void)state;
    need_gnuplot();
    static const char *const figures[][2] = {{"prediction", ">further formats<"},
                                             {"gemm", ">further formats are left out<"}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const char *const words[] = {">format7<", figures[i][1], NULL};
        struct ulb_record record;
        struct ulb_cell *cells;
        size_t bytes, n;
        assert_int_equal(sample_record(&record, SAMPLE_SERVER, &err), ULB_OK);
        assert_int_equal(ulb_record_cells(&record, &cells, &n, &err), ULB_OK);
        assert_true(n > 0);
        for (int format = 0; format < 30; format++) {
            for (size_t tokens = 1; tokens <= 4; tokens += 3) {
                struct ulb_cell cell = cells[0];
                snprintf(cell.format, sizeof cell.format, "format%d", format);
                snprintf(cell.kernel, sizeof cell.kernel, "format%da8-mask-avx2-32x1x4", format);
                cell.n = tokens;
                cell.gops = 100 + format;
                cell.noise = 0;
                assert_int_equal(ulb_record_add_cell(&record, &cell, &err), ULB_OK);
            }
        }
        ulb_cells_free(cells, n);
        char *svg = draw(&record, figures[i][0], "svg", &bytes);
        assert_has(svg, words);
        free(svg);
        ulb_record_free(&record);
    }
}

/* Every format has its curve, however many there are. */
static void test_roofline_of_many_formats(void **state)
{
    (void)state;
    need_gnuplot();
    struct ulb_record record;
    size_t bytes;
    char title[64];
    assert_int_equal(sample_record(&record, SAMPLE_SERVER, &err), ULB_OK);
    for (int format = 0; format < 40; format++) {
        struct ulb_gamma_cell cell = {.isa = "avx2",
                                      .cls = "core",
                                      .gamma_cycles = 1 + format / 10.0,
                                      .bytes_per_step = 8,
                                      .verified = true};
        snprintf(cell.format, sizeof cell.format, "format%d", format);
        snprintf(cell.kernel, sizeof cell.kernel, "format%da8-mask-avx2-32x1x4", format);
        assert_int_equal(ulb_record_add_gamma(&record, &cell, &err), ULB_OK);
    }
    /* Of none of them the port bound is known. */
    char *svg = draw(&record, "gamma", "svg", &bytes);
    assert_has(svg, (const char *const[]){"its port bound is not known", NULL});
    assert_null(strstr(svg, "nan"));
    free(svg);
    svg = draw(&record, "roofline", "svg", &bytes);
    for (int format = 0; format < 40; format++) {
        snprintf(title, sizeof title, ">format%da8-mask-avx2-32x1x4, core: gamma", format);
        assert_has(svg, (const char *const[]){title, NULL});
    }
    free(svg);
    ulb_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_beta_of_many_sets, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_many_formats, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_roofline_of_many_formats, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
