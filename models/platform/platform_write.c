#include "models/platform/platform.h"

#include "common/units.h"

#include <math.h>

static json_t *gamma_json(const struct ulb_platform *platform, const struct ulb_platform_gamma *gamma)
{
    json_t *cycles = json_object();
    for (size_t c = 0; c < platform->n_classes; c++)
        json_object_set_new(cycles, platform->classes[c].name, json_real(gamma->cycles[c]));
    return json_pack("{s:s, s:s, s:f, s:o}", "format", gamma->format, "sequence", gamma->sequence,
                     "bytes_per_step", gamma->bytes_per_step, "cycles", cycles);
}

static json_t *class_json(const struct ulb_platform_class *class)
{
    json_t *row = json_pack("{s:s, s:i}", "name", class->name, "cores", (int)class->cores);
    if (!isnan(class->hz))
        json_object_set_new(row, "ghz", json_real(class->hz / 1e9));
    if (class->core[0])
        json_object_set_new(row, "core", json_string(class->core));
    return row;
}

json_t *ulb_platform_json(const struct ulb_platform *platform)
{
    json_t *classes = json_array(), *gammas = json_array();
    for (size_t c = 0; c < platform->n_classes; c++)
        json_array_append_new(classes, class_json(&platform->classes[c]));
    for (size_t i = 0; i < platform->n_gammas; i++)
        json_array_append_new(gammas, gamma_json(platform, &platform->gammas[i]));
    json_t *document = json_pack("{s:s, s:s, s:s, s:o, s:f, s:o}", "name", platform->name, "title",
                                 platform->title, "source", platform->source, "classes", classes,
                                 "bandwidth_gbps", platform->bandwidth / ULB_GB, "gammas", gammas);
    if (platform->n_unused > 0) {
        json_t *unused = json_array();
        for (size_t c = 0; c < platform->n_unused; c++)
            json_array_append_new(unused, class_json(&platform->unused[c]));
        json_object_set_new(document, "unused_classes", unused);
    }
    if (isnan(platform->fork_join_s)) {
        json_object_set_new(document, "fork_join_us", json_null());
        json_object_set_new(document, "fork_join_us_reason", json_string("not known for this platform"));
    } else {
        json_object_set_new(document, "fork_join_us", json_real(platform->fork_join_s * 1e6));
    }
    return document;
}
