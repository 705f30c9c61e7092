#include "tests/topology/topology_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool replay(const char *directory, const char *file)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s/%s.xml", ULB_SOURCE_DIR, directory, file);
    unsetenv("HWLOC_THISSYSTEM");
    setenv("HWLOC_XMLFILE", path, 1);
    return access(path, R_OK) == 0;
}

static void check_list(const struct ulb_pu_list *list, const char *expected)
{
    char text[512];
    assert_string_equal(ulb_pu_list_text(list, text, sizeof text), expected);
}

static void check_lists(const struct ulb_pu_list *lists, size_t n, const char *expected,
                        const struct ulb_pu_list *each)
{
    char all[1024] = "", one[256];
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? " " : "",
                 ulb_pu_list_text(&lists[i], one, sizeof one));
    }
    if (expected) {
        assert_string_equal(all, expected);
        return;
    }
    assert_int_equal(n, each->n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(lists[i].n, 1);
        assert_int_equal(lists[i].items[0], each->items[i]);
    }
}

static void check_l3(const struct ulb_core_class *class, const char *expected)
{
    char all[256] = "", pus[128];
    size_t under = 0;
    for (size_t i = 0; i < class->n_l3_caches; i++) {
        const struct ulb_cache_share *l3 = &class->l3_caches[i];
        size_t used = strlen(all);
        under += l3->pus.n;
        snprintf(all + used, sizeof all - used, "%s%s:%zu", i ? " " : "",
                 ulb_pu_list_text(&l3->pus, pus, sizeof pus), l3->bytes / 1024);
    }
    assert_int_equal(class->l3_pus.n, under);
    if (strchr(expected, ':')) {
        assert_string_equal(all, expected);
        return;
    }
    check_list(&class->l3_pus, expected);
    assert_int_equal(class->n_l3_caches, *expected != '\0');
    if (class->n_l3_caches == 1)
        assert_int_equal(class->l3_caches[0].bytes, class->l3_bytes);
}

static void check_class(const struct ulb_core_class *class, const struct expected_class *expected)
{
    assert_string_equal(class->name, expected->name);
    check_list(&class->pus, expected->pus);
    check_list(&class->leaders, expected->leaders);
    assert_int_equal(class->cores, expected->cores);
    assert_int_equal(class->smt, expected->smt);
    check_lists(class->smt_siblings, class->cores, expected->siblings, &class->pus);
    check_lists(class->l2_clusters, class->n_l2_clusters, expected->l2_clusters, &class->pus);
    check_l3(class, expected->l3_pus);
    assert_int_equal(class->l1d_bytes, expected->l1d_kib * 1024);
    assert_int_equal(class->l2_bytes, expected->l2_kib * 1024);
    assert_int_equal(class->l3_bytes, expected->l3_kib * 1024);
}

static void check_class_of(const struct ulb_topology *topology)
{
    for (size_t i = 0; i < topology->all_pus.n; i++) {
        unsigned pu = topology->all_pus.items[i];
        const struct ulb_core_class *class = ulb_topology_class_of(topology, pu);
        assert_non_null(class);
        assert_true(ulb_pu_list_has(&class->pus, pu));
    }
    assert_null(ulb_topology_class_of(topology, 100000));
}

void check_machine(const struct expected_machine *expected)
{
    struct ulb_topology topology;
    struct ulb_error err = {""};
    assert_int_equal(ulb_topology_load(&topology, &err), ULB_OK);
    assert_string_equal(err.message, "");
    assert_int_equal(topology.hybrid, expected->hybrid);
    assert_string_equal(topology.how, expected->how);
    assert_string_equal(topology.note, "");
    assert_false(topology.this_system);
    assert_int_equal(topology.isa, 0);
    assert_string_equal(topology.hypervisor, "");
    check_list(&topology.allowed_pus, expected->allowed);
    check_list(&topology.offline_pus, expected->offline);
    assert_int_equal(topology.packages, expected->packages);
    assert_int_equal(topology.numa_nodes, 1);
    assert_int_equal(topology.numa[0].pus.n, topology.all_pus.n);
    assert_int_equal(topology.llc_bytes, expected->llc_kib * 1024);
    assert_int_equal(topology.n_classes, expected->n_classes);
    for (size_t c = 0; c < expected->n_classes; c++)
        check_class(&topology.classes[c], &expected->classes[c]);
    check_class_of(&topology);
    ulb_topology_free(&topology);
}
