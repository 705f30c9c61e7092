/* Figures hold what the record says. Without gnuplot they cannot be drawn, and these tests are skipped. */
#include "tests/plots/drawn.h"

static void test_roofline(void **state)
{
    (void)state;
    need_gnuplot();
    /* The fastest of each format, and the paper's 256-bit sequences where another row is faster. */
    static const char *const words[] = {
        "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz, 2 cores; yardstick 24.6 GB/s",
        ">beta core 4.73<",
        ">bf16f32-fma-avx512-32x1x2, core: gamma 2.90<",
        ">int8a8-dp-avxvnni-32x1x4, core: gamma 1.02<",
        ">int2a8-pshufb-avxvnni-32x1x4, core: gamma 1.25<",
        ">int2a8-pshufb-avx512vnni-64x1x4, core: gamma 0.78<",
        ">int1a8-blend-avxvnni-32x1x4, core: gamma 2.40<",
        ">int1a8-blend-avx512vnni-32x1x4, core: gamma 0.72<",
        "measured GEMV, cold",
        "bytes/cycle",
        ">beta of this machine, from the beta stage, 24.6 GB/s<",
        ">ARL P 0.8<",
        ">ARL E 0.95<",
        ">ARLH P 1.44<",
        ">ARLH E 1.6<",
        ">LNL P 3.18<",
        ">LNL E 3.52<",
        NULL};
    size_t bytes;
    char *svg = draw_kind(SAMPLE_SERVER, "roofline", "svg", &bytes);
    assert_has(svg, words);
    assert_int_equal(count(svg, "core: gamma "), 6);
    free(svg);
}

/* Multiplies a number of each object of an array by factor; only of those of one format, where it is named.
 */
static void scale(json_t *rows, const char *format, const char *key, double factor)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        double value = json_number_value(json_object_get(row, key));
        const char *of = json_string_value(json_object_get(row, "format"));
        if (!format || (of && strcmp(of, format) == 0))
            assert_int_equal(json_object_set_new(row, key, json_real(value * factor)), 0);
    }
}

/* Points move when a kernel reaches less, not when the memory or the beta stage's clock had another speed. */
static void test_points_are_of_their_own_time(void **state)
{
    (void)state;
    need_gnuplot();
    struct ulb_record record;
    size_t bytes, bytes_now;
    assert_int_equal(sample_record(&record, SAMPLE_SERVER, &err), ULB_OK);
    json_t *cells = json_object_get(record.root, "cells");
    char *png = draw(&record, "roofline", "png", &bytes);
    scale(json_object_get(json_object_get(record.root, "beta"), "cells"), NULL, "bytes_per_cycle", 1.1);
    scale(cells, "bf16", "gbps", 0.7);
    scale(cells, "bf16", "yardstick_gbps", 0.7);
    char *slow = draw(&record, "roofline", "png", &bytes_now);
    assert_int_equal(bytes_now, bytes);
    assert_memory_equal(slow, png, bytes);
    free(slow);
    scale(cells, "bf16", "efficiency", 0.7);
    slow = draw(&record, "roofline", "png", &bytes_now);
    assert_true(bytes_now != bytes || memcmp(slow, png, bytes) != 0);
    free(slow);
    free(png);
    ulb_record_free(&record);
}

static void test_roofline_of_two_classes(void **state)
{
    (void)state;
    need_gnuplot();
    /* 80.5 GB/s over 14 cores are 5.75 GB/s: 1.44 bytes/cycle at 4.0 GHz, 1.60 at 3.6 GHz. */
    static const char *const words[] = {">beta P 1.44<",
                                        ">beta E 1.60<",
                                        ">int1a8-blend-avxvnni-32x1x4, P: gamma 2.40<",
                                        ">int1a8-blend-avxvnni-32x1x4, E: gamma 4.71<",
                                        "stroke-dasharray",
                                        NULL};
    size_t bytes;
    char *svg = draw_kind(SAMPLE_HYBRID, "roofline", "svg", &bytes);
    assert_has(svg, words);
    assert_int_equal(count(svg, "P: gamma ") + count(svg, "E: gamma "), 8);
    free(svg);
}

/* The document of a platform's models: each sequence once per source of its gamma, labelled. */
static const char model_text[] =
    "{\"kind\": \"model\", \"platform\": {\"title\": \"A chip\"}, \"classes\": ["
    "{\"name\": \"P\", \"beta_bytes_per_cycle\": 3.175}, {\"name\": \"E\", \"beta_bytes_per_cycle\": 3.519}],"
    "\"ceilings\": [{\"format\": \"int1\", \"sequence\": \"blend\", \"class\": \"P\", \"gamma_from\": "
    "\"paper\","
    " \"gamma_cycles\": 2.4, \"ceiling_bytes_per_cycle\": 1.667}],"
    "\"totals\": [{\"format\": \"int1\", \"sequence\": \"blend\", \"gamma_from\": \"paper\", \"gibps\": "
    "37.2}],"
    "\"port_bounds\": {\"ceilings\": [{\"format\": \"int1\", \"sequence\": \"blend\", \"class\": \"E\","
    " \"gamma_from\": \"port bound\", \"core\": \"skymont\", \"gamma_cycles\": 4, "
    "\"ceiling_bytes_per_cycle\": 1},"
    "{\"format\": \"int1\", \"sequence\": \"blend\", \"class\": \"LP-E\", \"gamma_from\": \"port bound\","
    " \"gamma_cycles\": 3.9, \"ceiling_bytes_per_cycle\": 1.03},"
    "{\"format\": \"int1\", \"sequence\": \"none\", \"class\": \"P\", \"gamma_from\": \"port bound\","
    " \"gamma_cycles\": null, \"ceiling_bytes_per_cycle\": null}]},"
    "\"modelled_int1\": {\"ceilings\": [{\"format\": \"int1\", \"sequence\": \"table\", \"class\": \"P\","
    " \"gamma_from\": \"modelled\", \"gamma_cycles\": 0.548, \"ceiling_bytes_per_cycle\": 7.3}],"
    "\"totals\": [{\"format\": \"int1\", \"sequence\": \"table\", \"gamma_from\": \"modelled\", \"gibps\": "
    "97}]}}";

static void test_model(void **state)
{
    (void)state;
    need_gnuplot();
    static const char *const words[] = {">int1 blend, P: gamma 2.400, paper<",
                                        ">int1 blend, E: gamma 4.000, port bound of skymont<",
                                        ">int1 table, P: gamma 0.548, modelled<",
                                        ">beta P 3.17<",
                                        ">beta E 3.52<",
                                        "37.2 blend (paper)",
                                        "97.0 table (modelled)",
                                        "A chip",
                                        "stroke-dasharray",
                                        NULL};
    struct ulb_record record = {json_loads(model_text, 0, NULL)};
    assert_non_null(record.root);
    assert_true(ulb_is_model(&record));
    size_t bytes;
    char *svg = draw(&record, "roofline", "svg", &bytes);
    assert_has(svg, words);
    /* A class without a beta and a gamma that could not be had have no curve. */
    assert_int_equal(count(svg, ": gamma ") - count(svg, "<title>int1"), 3);
    free(svg);
    ulb_record_free(&record);
}

/* Products on a device: the quotient of 16 and 2 bits stands under the bars, 8 bits are left out of times. */
static void test_model_of_a_device(void **state)
{
    (void)state;
    need_gnuplot();
    struct ulb_record record = {
        json_loads("{\"kind\": \"model\", \"platform\": {\"title\": \"A device\", "
                   "\"launch_us\": 2, \"bandwidth_gbps\": 100},"
                   "\"gemv\": [{\"model\": \"m\", \"layer\": \"o\", \"m\": 64, "
                   "\"n\": 1, \"k\": 32, \"format\": \"bf16\", \"predicted_us\": 12},"
                   "{\"model\": \"m\", \"layer\": \"o\", \"m\": 64, \"n\": 1, \"k\": 32, "
                   "\"format\": \"int8\", \"predicted_us\": 7},"
                   "{\"model\": \"m\", \"layer\": \"o\", \"m\": 64, \"n\": 1, \"k\": 32, "
                   "\"format\": \"int2\", \"predicted_us\": 3}],"
                   "\"gemm\": [{\"model\": \"m\", \"layer\": \"o\", \"m\": 64, "
                   "\"n\": 1, \"k\": 32, \"format\": \"int8\", \"tops\": 50}]}",
                   0, NULL)};
    assert_non_null(record.root);
    size_t bytes;
    char *svg = draw(&record, "times", "svg", &bytes);
    assert_non_null(strstr(svg, ">m o 64 x 32: 4.0 times<"));
    assert_non_null(strstr(svg, "with 2 us of launch"));
    assert_true(strstr(svg, ">bf16<") && strstr(svg, ">int2<") && !strstr(svg, ">int8<"));
    free(svg);
    svg = draw(&record, "gemm", "svg", &bytes);
    assert_true(strstr(svg, ">m o 64 x 32<") && strstr(svg, ">int8<"));
    free(svg);
    ulb_record_free(&record);
}

/* A platform may have 16 gammas of four classes. */
static void test_model_of_many_sequences(void **state)
{
    (void)state;
    need_gnuplot();
    struct ulb_record record = {json_loads(model_text, 0, NULL)};
    json_t *ceilings = json_object_get(record.root, "ceilings");
    for (int i = 0; i < 60; i++) {
        char sequence[8];
        snprintf(sequence, sizeof sequence, "s%d", i);
        json_t *row = json_deep_copy(json_array_get(ceilings, 0));
        json_object_set_new(row, "sequence", json_string(sequence));
        json_array_append_new(ceilings, row);
    }
    size_t bytes;
    char *svg = draw(&record, "roofline", "svg", &bytes);
    assert_int_equal(count(svg, ": gamma ") - count(svg, "<title>int1"), 63);
    free(svg);
    ulb_record_free(&record);
}

/* Documents may come from strangers too. */
static void test_damaged_model(void **state)
{
    (void)state;
    char path[256];
    struct ulb_record record = {json_loads(model_text, 0, NULL)};
    assert_int_equal(ulb_figure_draw(&record, "bars", "svg", prefix, path, sizeof path, &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "figure bars: the document has no GEMVs to draw");
    assert_int_equal(ulb_figure_draw(&record, "beta", "svg", prefix, path, sizeof path, &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "unknown figure 'beta' of a modelled platform; figures are roofline, "
                                     "bars, gemm, times, tokens, speedup");
    assert_int_equal(ulb_figure_draw(&record, "times", "svg", prefix, path, sizeof path, &err),
                     ULB_BAD_INPUT);
    assert_string_equal(err.message,
                        "figure times: there are no products of a device with 16 and 2 bits to draw");
    json_object_set_new(record.root, "ceilings", json_integer(3));
    json_object_set_new(record.root, "modelled_int1", json_string("ceilings"));
    json_object_del(record.root, "port_bounds");
    assert_int_equal(ulb_figure_draw(&record, "roofline", "svg", prefix, path, sizeof path, &err),
                     ULB_BAD_INPUT);
    assert_string_equal(err.message, "figure roofline: the document has no ceilings to draw a roofline from");
    ulb_record_free(&record);

    need_gnuplot();
    record.root = json_loads(model_text, 0, NULL);
    json_t *row = json_array_get(json_object_get(record.root, "ceilings"), 0);
    json_object_set_new(row, "sequence", json_string("\"\nquit\n`id`"));
    json_object_set_new(row, "gamma_cycles", json_string("much"));
    json_object_set_new(json_array_get(json_object_get(record.root, "classes"), 1), "name", json_integer(1));
    size_t bytes;
    char *svg = draw(&record, "roofline", "svg", &bytes);
    assert_non_null(strstr(svg, "int1 ??quit??id?, P: gamma nan"));
    free(svg);
    ulb_record_free(&record);
}

/* Pointing at a place shows its values, without a script; ids do not clash on a page. */
static void test_values_on_pointing(void **state)
{
    (void)state;
    need_gnuplot();
    static const char *const words[] = {
        "<g class=\"value\"><title>int1a8-blend-avx512vnni-32x1x4\nllama3-8b down, 4096 "
        "x 14336, N = 1\n",
        " % of the yardstick\n",
        "memory-bound, ",
        "id='bars-gpPt5'",
        "'#bars-gpPt6'",
        NULL};
    size_t bytes;
    char *svg = draw_kind(SAMPLE_SERVER, "bars", "svg", &bytes);
    assert_has(svg, words);
    assert_int_equal(count(svg, "<g class=\"value\">"), 4 * 12);
    assert_null(strstr(svg, "onmouse"));
    assert_null(strstr(svg, "'#gp"));
    assert_null(strstr(svg, "id='gp"));
    assert_null(strstr(svg, "_plot_1</title>"));
    assert_int_equal(count(svg, "<g "), count(svg, "</g>"));
    free(svg);
}

/* A bad spell in the beta stage: the line stands where the yardstick says, and the figure says so. */
static void test_sounder_beta(void **state)
{
    (void)state;
    need_gnuplot();
    static const char *const words[] = {
        ">beta core 4.73<", ">beta from the yardstick, 24.6 GB/s; the beta stage got only 12.3<", NULL};
    struct ulb_record record;
    size_t i, bytes;
    json_t *cell;
    assert_int_equal(sample_record(&record, SAMPLE_SERVER, &err), ULB_OK);
    json_array_foreach(json_object_get(json_object_get(record.root, "beta"), "cells"), i, cell)
    {
        if (strcmp(json_string_value(json_object_get(cell, "set")), "all") != 0)
            continue;
        json_object_set_new(cell, "gbps", json_real(12.3));
        json_object_set_new(cell, "bytes_per_cycle", json_real(12.3 / 2 / 2.6));
    }
    char *svg = draw(&record, "roofline", "svg", &bytes);
    assert_has(svg, words);
    free(svg);
    ulb_record_free(&record);
}

static void test_figures_of_the_rest(void **state)
{
    (void)state;
    need_gnuplot();
    static const struct {
        const char *figure, *words[8];
    } figures[] = {
        {"gamma",
         {"port bound, by a model of this core", ">int1a8-blend-avxvnni-32x1x4<", "port bound 1.150"}},
        {"prediction", {"within 5 %", "|residual| ", "observed / predicted time"}},
        {"gemm",
         {"llama3-8b o 4096 x 4096, 2 threads", "compute limit, int8 dot products: 1400 GOP/s", "> 512<"}},
        {"groups", {">one scale a row<", ">groups of 32 columns<", ">int8<", "what the yardstick allows"}},
        {"tokens", {">falcon3-1b<", ">llama3-8b *<", "extrapolated", "Amdahl's bound", "context 128"}},
        {"split", {">llama3-8b *, int1<", ">attention<", ">fork/join<", "time of one token, ms"}},
        {"prefill", {">llama3-8b *, int1<", ">GEMM<", ">waiting<", "time to the first token, ms"}},
        {"prompts",
         {"tokens of the prompt", ">llama3-8b *, int1<", ">weights read once a step<", ">compute limit<",
          "prompt of 8", "memory"}},
        {"energy", {"energy, J/token", ">int1<"}},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        size_t bytes;
        char *svg = draw_rest(figures[i].figure, "svg", &bytes);
        assert_non_null(strstr(svg, "yardstick 24.6 GB/s<"));
        for (size_t w = 0; figures[i].words[w]; w++) {
            if (!strstr(svg, figures[i].words[w]))
                fail_msg("'%s' is not in the figure %s", figures[i].words[w], figures[i].figure);
        }
        free(svg);
        free(draw_rest(figures[i].figure, "png", &bytes));
        char *text = draw_rest(figures[i].figure, "txt", &bytes);
        assert_non_null(strstr(text, "yardstick"));
        free(text);
    }
}

/* Runs of one model and format on several sets of cores and by several splits stand apart. */
static void test_groups_of_decode_runs(void **state)
{
    (void)state;
    need_gnuplot();
    struct ulb_record record;
    size_t bytes;
    assert_int_equal(sample_record(&record, SAMPLE_SERVER, &err), ULB_OK);
    assert_int_equal(sample_add_rest(&record, &err), ULB_OK);
    json_t *runs = json_object_get(json_object_get(record.root, "decode"), "runs");
    json_t *again = json_deep_copy(json_array_get(runs, 0));
    json_object_set_new(json_array_get(runs, 0), "split", json_string("dynamic"));
    json_object_set_new(again, "split", json_string("weighted"));
    json_array_append_new(runs, again);
    char *svg = draw(&record, "tokens", "svg", &bytes);
    assert_non_null(strstr(svg, ">falcon3-1b, dynamic<"));
    assert_non_null(strstr(svg, ">falcon3-1b, weighted<"));
    free(svg);
    json_object_set_new(again, "set", json_string("E"));
    svg = draw(&record, "split", "svg", &bytes);
    assert_non_null(strstr(svg, ">falcon3-1b, E, weighted, bf16<"));
    free(svg);
    ulb_record_free(&record);
}

/* A record of the command decode has no beta stage. */
static void test_yardsticks_of_decode_runs(void **state)
{
    (void)state;
    need_gnuplot();
    struct ulb_record record;
    size_t bytes;
    assert_int_equal(sample_record(&record, SAMPLE_SERVER, &err), ULB_OK);
    assert_int_equal(sample_add_rest(&record, &err), ULB_OK);
    json_object_clear(json_object_get(record.root, "beta"));
    json_t *run = json_array_get(json_object_get(json_object_get(record.root, "decode"), "runs"), 1);
    json_object_set_new(run, "yardstick_gbps", json_real(31.25));
    char *svg = draw(&record, "split", "svg", &bytes);
    assert_non_null(strstr(svg, "yardstick 24.6 to 31.2 GB/s<"));
    free(svg);
    ulb_record_free(&record);
}

static void test_bars(void **state)
{
    (void)state;
    need_gnuplot();
    static const char *const words[] = {
        ">falcon3-1b<",
        ">mobilellm-1.5b<",
        ">llama3-8b<",
        ">gate_up 28672 x 4096<",
        ">down 4096 x 14336<",
        ">yardstick; a bar is the share of it that was reached beside it, 24.6 GB/s<",
        "GB/s (1e9 bytes/s)",
        "cold weights",
        ">int8: int8a8-dp-avxvnni-32x1x4<",
        NULL};
    /* One bar for each of the 12 shapes, and the legend's sample. */
    static const char *const colours[] = {
        "polygon fill = 'rgb(153, 153, 153)'", "polygon fill = 'rgb(  0, 114, 178)'",
        "polygon fill = 'rgb(  0, 158, 115)'", "polygon fill = 'rgb(230, 159,   0)'"};
    size_t bytes;
    char *svg = draw_kind(SAMPLE_SERVER, "bars", "svg", &bytes);
    assert_has(svg, words);
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        assert_int_equal(count(svg, colours[i]), 13);
    free(svg);
    /* A cell measured while memory was twice as fast keeps its bar: its share is the same. */
    struct ulb_record record;
    assert_int_equal(sample_record(&record, SAMPLE_SERVER, &err), ULB_OK);
    char *before = draw(&record, "bars", "txt", &bytes);
    scale(json_object_get(record.root, "cells"), "bf16", "gbps", 2);
    scale(json_object_get(record.root, "cells"), "bf16", "yardstick_gbps", 2);
    char *after = draw(&record, "bars", "txt", &bytes);
    assert_string_equal(before, after);
    free(before);
    free(after);
    ulb_record_free(&record);
}

static void test_kernels_and_beta(void **state)
{
    (void)state;
    need_gnuplot();
    static const char *const kernels[] = {">int2a8-pshufb-avx512vnni256-32x1x4<",
                                          ">int2a8-pshufb-avx2-32x1x4<", NULL};
    static const char *const beta[] = {">set P<", ">set E<", ">set all<", ">cores reading<", NULL};
    size_t bytes;
    char *svg = draw_kind(SAMPLE_SERVER, "kernels", "svg", &bytes);
    assert_has(svg, kernels);
    assert_int_equal(count(svg, "<text>0."), 9 * 12);
    free(svg);
    svg = draw_kind(SAMPLE_HYBRID, "beta", "svg", &bytes);
    assert_has(svg, beta);
    free(svg);
}

static bool can_draw(enum sample_kind kind, const char *figure)
{
    struct ulb_record record;
    assert_int_equal(sample_record(&record, kind, &err), ULB_OK);
    enum ulb_status status = ulb_figure_check(&record, figure, &err);
    ulb_record_free(&record);
    return status == ULB_OK;
}

static void test_formats(void **state)
{
    (void)state;
    need_gnuplot();
    size_t drawn = 0;
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        for (size_t i = 0; i < ulb_figure_count; i++) {
            const char *figure = ulb_figures[i].name;
            size_t bytes;
            if (!can_draw((enum sample_kind)kind, figure))
                continue;
            drawn++;
            char *file = draw_kind((enum sample_kind)kind, figure, "png", &bytes);
            assert_memory_equal(file, "\x89PNG\r\n\x1a\n", 8);
            /* Width, big-endian, in the header: 800 pixels at least. */
            assert_true((unsigned char)file[18] * 256 + (unsigned char)file[19] >= 800);
            assert_true(bytes > 5000);
            free(file);
            file = draw_kind((enum sample_kind)kind, figure, "pdf", &bytes);
            assert_memory_equal(file, "%PDF-", 5);
            free(file);
            file = draw_kind((enum sample_kind)kind, figure, "txt", &bytes);
            assert_true(strstr(file, "yardstick") != NULL || kind == SAMPLE_LONGEST);
            free(file);
        }
    }
    assert_int_equal(drawn, 6 + 6 + 5 + 10);
}

/* Records may come from strangers: names are text, whatever stands in them. */
static void test_names_are_not_commands(void **state)
{
    (void)state;
    need_gnuplot();
    struct ulb_record record;
    char trap[256];
    assert_int_equal(sample_record(&record, SAMPLE_SERVER, &err), ULB_OK);
    assert_int_equal(sample_add_rest(&record, &err), ULB_OK);
    snprintf(trap, sizeof trap, "\"; system(\"touch %s/trap\") #`touch %s/trap`", folder, folder);
    json_object_set_new(json_object_get(record.root, "machine"), "cpu_model", json_string(trap));
    json_t *cells = json_object_get(record.root, "cells"), *cell;
    size_t i;
    json_array_foreach(cells, i, cell)
    {
        json_object_set_new(cell, "model", json_string("a<b&c'\\n`id`"));
        json_object_set_new(cell, "layer", json_string("\"\nquit%g"));
    }
    json_t *run = json_array_get(json_object_get(json_object_get(record.root, "decode"), "runs"), 0);
    json_object_set_new(run, "model", json_string("\"\nquit\n`id`"));
    for (size_t figure = 0; figure < ulb_figure_count; figure++) {
        size_t bytes;
        if (strcmp(ulb_figures[figure].name, "speedup") == 0 || /* of modelled platforms alone */
            strcmp(ulb_figures[figure].name, "times") == 0 ||   /* of devices */
            strcmp(ulb_figures[figure].name, "errors") == 0 ||  /* of the command formats */
            strcmp(ulb_figures[figure].name, "trend") == 0)     /* of the history */
            continue;
        char *svg = draw(&record, ulb_figures[figure].name, "svg", &bytes);
        bool bars = strcmp(ulb_figures[figure].name, "bars") == 0;
        assert_true(!bars || strstr(svg, "a&lt;b&amp;c'?n?id?") != NULL);
        assert_true(!bars || strstr(svg, "??quit%g") != NULL);
        free(svg);
    }
    ulb_record_free(&record);
}

static void test_devices(void **state)
{
    (void)state;
    need_gnuplot();
    struct ulb_record record;
    size_t bytes;
    assert_int_equal(sample_record(&record, SAMPLE_SERVER, &err), ULB_OK);
    assert_int_equal(ulb_figure_check(&record, "devices", &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "the record has no device's bandwidth to draw"));
    assert_int_equal(sample_add_rest(&record, &err), ULB_OK);
    char *svg = draw(&record, "devices", "svg", &bytes);
    assert_non_null(strstr(svg, "Read bandwidth of Arc ??id? by size"));
    assert_non_null(strstr(svg, "yardstick 96.5 GB/s"));
    assert_non_null(strstr(svg, "strided-512, 0.25 MiB"));
    assert_non_null(strstr(svg, "block-2048, 2048 MiB"));
    free(svg);
    ulb_record_free(&record);
}

/* A cell of the history: its levels, the commits of the change, and texts that are no commands. */
static void test_trend(void **state)
{
    (void)state;
    need_gnuplot();
    json_t *points = json_array();
    for (int i = 0; i < 40; i++) {
        char commit[16];
        snprintf(commit, sizeof commit, "c%02d", i);
        json_array_append_new(points, json_pack("{s:s, s:f, s:f, s:n}", "commit", commit, "value",
                                                i < 25 ? 0.9 : 0.8, "lo", 0.79, "hi"));
    }
    struct ulb_record record = {json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:o, s:[{s:i, s:i, s:f}, {s:i, s:i, s:f}],"
        " s:[{s:i, s:f, s:s, s:n}]}",
        "kind", "trend", "metric", "efficiency", "unit", "", "key", "\"\nquit\n`id` n1", "place",
        "CPU, 2 cores", "points", points, "levels", "from", 0, "to", 25, "median", 0.9, "from", 25, "to", 40,
        "median", 0.8, "changes", "at", 25, "ratio", 0.889, "before_commit", "c24", "after_commit")};
    static const char *const words[] = {">efficiency, %<", "CPU, 2 cores",        ">-11.1 %<", ">c24<",
                                        ">c00<",           ">median of a level<", NULL};
    size_t bytes;
    assert_non_null(record.root);
    char *svg = draw(&record, "trend", "svg", &bytes);
    assert_has(svg, words);
    free(svg);
    free(draw(&record, "trend", "txt", &bytes));
    assert_int_equal(ulb_figure_check(&record, "bars", &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "unknown figure 'bars' of a trend; figures are trend");
    json_object_set_new(record.root, "points", json_array());
    assert_int_equal(ulb_figure_check(&record, "trend", &err), ULB_BAD_INPUT);
    ulb_record_free(&record);
}

static void test_unknown_names(void **state)
{
    (void)state;
    struct ulb_record record;
    char path[256];
    assert_int_equal(sample_record(&record, SAMPLE_ABSENT, &err), ULB_OK);
    assert_int_equal(ulb_figure_draw(&record, "pie", "svg", prefix, path, sizeof path, &err), ULB_BAD_INPUT);
    assert_string_equal(
        err.message,
        "unknown figure 'pie' of a record; figures are roofline, bars, kernels, gemm, times, tokens, beta, "
        "devices, gamma, prediction, groups, errors, split, prefill, prompts, energy");
    assert_int_equal(ulb_figure_draw(&record, "bars", "gif", prefix, path, sizeof path, &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "unknown format 'gif' of figures; formats are svg, png, pdf, txt");
    assert_int_equal(ulb_figure_draw(&record, "roofline", "svg", prefix, path, sizeof path, &err),
                     ULB_BAD_INPUT);
    assert_string_equal(err.message, "figure roofline: the record has no gamma to draw a roofline from");
    ulb_record_free(&record);
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    assert_int_equal(ulb_figure_draw(&record, "bars", "svg", prefix, path, sizeof path, &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "figure bars: the record has no GEMV results to draw");
    assert_int_equal(ulb_figure_draw(&record, "beta", "svg", prefix, path, sizeof path, &err), ULB_BAD_INPUT);
    ulb_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_roofline, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_points_are_of_their_own_time, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_roofline_of_two_classes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_model, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_model_of_a_device, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_model_of_many_sequences, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_damaged_model, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_values_on_pointing, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_sounder_beta, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_figures_of_the_rest, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_groups_of_decode_runs, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_yardsticks_of_decode_runs, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_bars, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_kernels_and_beta, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_formats, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_names_are_not_commands, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_devices, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_trend, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_unknown_names, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
