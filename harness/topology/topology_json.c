#include "harness/topology/topology_private.h"

#include <stdio.h>
#include <string.h>

static json_t *pu_array(const struct ulb_pu_list *list)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < list->n; i++) {
        if (json_array_append_new(array, json_integer((json_int_t)list->items[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *pu_arrays(const struct ulb_pu_list *lists, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < n; i++) {
        if (json_array_append_new(array, pu_array(&lists[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static int set_absent(json_t *object, const char *key, const char *reason)
{
    char reason_key[64];
    snprintf(reason_key, sizeof reason_key, "%s_reason", key);
    return json_object_set_new(object, key, json_null()) |
           json_object_set_new(object, reason_key, json_string(reason));
}

/* A size, or null and KEY_reason when it is 0. */
static int set_bytes(json_t *object, const char *key, size_t bytes, const char *reason)
{
    return bytes ? json_object_set_new(object, key, json_integer((json_int_t)bytes))
                 : set_absent(object, key, reason);
}

/* A number of things, or null and KEY_reason when it is 0. */
static int set_count(json_t *object, const char *key, unsigned n)
{
    return set_bytes(object, key, n, "the system tells no number");
}

static const char unknown[] = "the system tells no size";

static json_t *caches_json(const struct ulb_cache_share *caches, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < n; i++) {
        json_t *cache = json_pack("{s:o}", "pus", pu_array(&caches[i].pus));
        if (!cache || set_bytes(cache, "bytes", caches[i].bytes, unknown) != 0 ||
            json_array_append(array, cache) != 0) {
            json_decref(array);
            array = NULL;
        }
        json_decref(cache);
    }
    return array;
}

static json_t *class_json(const struct ulb_core_class *class)
{
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o}", "name", class->name, "pus",
                  pu_array(&class->pus), "leaders", pu_array(&class->leaders), "cores", (int)class->cores,
                  "smt", (int)class->smt, "smt_siblings", pu_arrays(class->smt_siblings, class->cores),
                  "l2_clusters", pu_arrays(class->l2_clusters, class->n_l2_clusters), "l3_pus",
                  pu_array(&class->l3_pus), "l3_caches", caches_json(class->l3_caches, class->n_l3_caches));
    if (!object)
        return NULL;
    int failed =
        set_bytes(object, "l1d_bytes", class->l1d_bytes, unknown) |
        set_bytes(object, "l2_bytes", class->l2_bytes, unknown) |
        set_bytes(object, "l3_bytes", class->l3_bytes, class->l3_pus.n ? unknown : "no L3 above this class");
    if (failed) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *classes_json(const struct ulb_topology *topology)
{
    json_t *array = json_array();
    for (size_t c = 0; array && c < topology->n_classes; c++) {
        if (json_array_append_new(array, class_json(&topology->classes[c])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *numa_json(const struct ulb_topology *topology)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < topology->numa_nodes; i++) {
        const struct ulb_numa_node *node = &topology->numa[i];
        json_t *object = json_pack("{s:i, s:o}", "node", (int)node->node, "pus", pu_array(&node->pus));
        int failed =
            !object || set_bytes(object, "memory_bytes", node->memory_bytes, "the system tells no size");
        if (failed || json_array_append(array, object) != 0) {
            json_decref(object);
            json_decref(array);
            return NULL;
        }
        json_decref(object);
    }
    return array;
}

static json_t *isa_json(ulb_isa_set isa)
{
    char names[256];
    json_t *array = json_array();
    ulb_isa_names(isa, names, sizeof names);
    for (char *rest = names, *name; array && (name = strsep(&rest, ","));) {
        if (*name && json_array_append_new(array, json_string(name)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* What only the running machine can tell is null, or empty, with the reason when the topology is replayed. */
static int set_running(json_t *object, const struct ulb_topology *topology)
{
    json_t *hypervisor = topology->hypervisor[0] ? json_string(topology->hypervisor) : json_null();
    int failed = json_object_set_new(object, "isa", isa_json(topology->isa)) |
                 json_object_set_new(object, "hypervisor", hypervisor);
    if (!topology->this_system) {
        static const char reason[] = "replayed, not the running machine";
        failed |= json_object_set_new(object, "isa_reason", json_string(reason)) |
                  json_object_set_new(object, "hypervisor_reason", json_string(reason));
    }
    return failed;
}

static int set_model(json_t *object, const char *model)
{
    return model[0] ? json_object_set_new(object, "cpu_model", json_string(model))
                    : set_absent(object, "cpu_model", "the system tells no name");
}

json_t *ulb_topology_json(const struct ulb_topology *topology)
{
    json_t *object =
        json_pack("{s:b, s:s, s:s?, s:b, s:o, s:o, s:o, s:o, s:o}", "hybrid", topology->hybrid, "how",
                  topology->how, "note", topology->note[0] ? topology->note : NULL, "this_system",
                  topology->this_system, "classes", classes_json(topology), "all_pus",
                  pu_array(&topology->all_pus), "allowed_pus", pu_array(&topology->allowed_pus),
                  "offline_pus", pu_array(&topology->offline_pus), "numa_nodes", numa_json(topology));
    if (!object)
        return NULL;
    int failed = set_model(object, topology->cpu_model) | set_count(object, "packages", topology->packages) |
                 set_bytes(object, "llc_bytes", topology->llc_bytes, unknown) |
                 set_bytes(object, "memory_bytes", topology->memory_bytes, unknown) |
                 set_running(object, topology);
    if (failed) {
        json_decref(object);
        return NULL;
    }
    return object;
}
