/* What hwloc knows: opening the topology, the PUs that may be used, the facts about each core. */
#include "harness/topology/topology_private.h"

#include "common/affinity.h"
#include "common/doing.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Format version that the head of an XML export states; 0 when there is none. */
static int xml_format(const char *path)
{
    char head[1024];
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    size_t n = fread(head, 1, sizeof head - 1, file);
    fclose(file);
    head[n] = '\0';
    const char *tag = strstr(head, "<topology");
    const char *version = tag ? strstr(tag, "version=\"") : NULL;
    return version ? atoi(version + strlen("version=\"")) : 0;
}

static enum ulb_status xml_refused(const char *path, int cause, struct ulb_error *err)
{
    if (cause == ENOENT || cause == EACCES || cause == EISDIR)
        return ulb_fail(err, ULB_BAD_INPUT, "HWLOC_XMLFILE=%s: %s; give a file written by `lstopo --of xml`",
                        path, strerror(cause));
    int format = xml_format(path);
    if (format >= 3)
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "HWLOC_XMLFILE=%s: XML format %d is too new for the hwloc in use, which reads format 2; "
            "write the file with the lstopo of hwloc 2, or ask the newer lstopo for format 2",
            path, format);
    return ulb_fail(
        err, ULB_BAD_INPUT,
        "HWLOC_XMLFILE=%s: hwloc cannot read it as a topology; give a file written by `lstopo --of xml`",
        path);
}

/* hwloc moves the calling thread from PU to PU while it looks at the caches. If it cannot move it back, it
 * says nothing: what may be used would then be one PU. */
static enum ulb_status load(hwloc_topology_t hw, int *cause, struct ulb_error *err)
{
    cpu_set_t before[ULB_AFFINITY_SETS], after[ULB_AFFINITY_SETS];
    memset(before, 0, sizeof before);
    memset(after, 0, sizeof after);
    bool known = sched_getaffinity(0, sizeof before, before) == 0;
    errno = 0;
    int failed = hwloc_topology_load(hw) < 0;
    *cause = errno;
    if (failed)
        return ULB_ENVIRONMENT;
    if (known && sched_getaffinity(0, sizeof after, after) == 0 && memcmp(before, after, sizeof after) != 0 &&
        sched_setaffinity(0, sizeof before, before) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "the thread's CPU affinity could not be restored: %s",
                        strerror(errno));
    return ULB_OK;
}

/* What the environment has hwloc read in the place of the running machine. */
struct source {
    const char *variable, *value; /* NULL: the running machine */
};

static struct source find_source(void)
{
    static const char *const variables[] = {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value)
            return (struct source){variables[i], value};
    }
    return (struct source){NULL, NULL};
}

static bool is_from(const struct source *source, const char *variable)
{
    return source->variable && strcmp(source->variable, variable) == 0;
}

const char *ulb_topology_variable(void)
{
    struct source source = find_source();
    return source.variable ? source.variable : "hwloc's environment";
}

/* hwloc itself passes over a folder that is not there. */
static enum ulb_status check_root(const char *root, struct ulb_error *err)
{
    char path[PATH_MAX];
    int used = snprintf(path, sizeof path, "%s/sys/devices/system/cpu", root);
    if (used > 0 && (size_t)used < sizeof path && access(path, R_OK | X_OK) == 0)
        return ULB_OK;
    return ulb_fail(
        err, ULB_BAD_INPUT,
        "HWLOC_FSROOT=%.200s: it has no sys/devices/system/cpu; give the root of a copied system, "
        "or unset it",
        root);
}

static enum ulb_status refused(const struct source *source, int cause, struct ulb_error *err)
{
    if (cause == ENOMEM)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the topology");
    if (is_from(source, "HWLOC_XMLFILE"))
        return xml_refused(source->value, cause, err);
    if (is_from(source, "HWLOC_SYNTHETIC"))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "HWLOC_SYNTHETIC='%.200s': hwloc cannot read it as a machine; write one such as "
                        "'core:4 pu:2', or unset it",
                        source->value);
    return ulb_fail(err, ULB_ENVIRONMENT,
                    "hwloc could not discover the machine: %s; are /sys and /proc mounted?", strerror(cause));
}

/* The file or the description is set by hand. hwloc itself follows the environment, but if what that names is
 * broken, it continues with the running machine without a word. */
static enum ulb_status open_once(const struct source *source, hwloc_topology_t *hw, struct ulb_error *err)
{
    if (hwloc_topology_init(hw) < 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "hwloc could not start: %s", strerror(errno));
    int failed = hwloc_topology_set_flags(*hw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    errno = 0;
    if (!failed && is_from(source, "HWLOC_XMLFILE"))
        failed = hwloc_topology_set_xml(*hw, source->value) < 0;
    else if (!failed && is_from(source, "HWLOC_SYNTHETIC"))
        failed = hwloc_topology_set_synthetic(*hw, source->value) < 0;
    int cause = errno;
    err->message[0] = '\0';
    if (!failed && load(*hw, &cause, err) == ULB_OK)
        return ULB_OK;
    hwloc_topology_destroy(*hw);
    *hw = NULL;
    return err->message[0] ? ULB_ENVIRONMENT : refused(source, cause, err);
}

static bool same_topology(hwloc_topology_t a, hwloc_topology_t b)
{
    hwloc_topology_diff_t differences = NULL;
    bool same = hwloc_topology_diff_build(a, b, 0, &differences) == 0 && !differences;
    hwloc_topology_diff_destroy(differences);
    return same;
}

/* A running machine is discovered twice. hwloc leaves out without a word what it cannot read or has no memory
 * for, such as a cache. Nothing tells a machine without it from one that was half read. */
enum ulb_status ulb_hwloc_open(hwloc_topology_t *hw, struct ulb_error *err)
{
    const struct source source = find_source(), here = {NULL, NULL};
    /* What hwloc would print is in ulb_topology's note. Plug-ins of an installed hwloc belong to that
     * version, which need not be the one linked in. They find devices; caches and cores are found without. */
    if (setenv("HWLOC_HIDE_ERRORS", "2", 0) != 0 || setenv("HWLOC_PLUGINS_PATH", "", 0) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "the environment of hwloc could not be set: %s",
                        strerror(errno));
    if (is_from(&source, "HWLOC_FSROOT") && check_root(source.value, err) != ULB_OK)
        return ULB_BAD_INPUT;
    if (source.variable)
        ulb_doing_set(NULL, "hwloc", "what it names is damaged or no topology", 0, "reading %s=%.150s",
                      source.variable, source.value);
    hwloc_topology_t again = NULL;
    enum ulb_status status = open_once(&source, hw, err);
    ulb_doing_end();
    if (status != ULB_OK || source.variable)
        return status;
    status = open_once(&here, &again, err);
    if (status == ULB_OK && !same_topology(*hw, again))
        status = ulb_fail(err, ULB_ENVIRONMENT,
                          "hwloc, asked twice, described two different machines; run again, with more memory "
                          "free and no CPU going on or off line");
    if (again)
        hwloc_topology_destroy(again);
    if (status != ULB_OK) {
        hwloc_topology_destroy(*hw);
        *hw = NULL;
    }
    return status;
}

/* cgroup by hwloc, taskset by the thread's own mask; a replayed machine has its recorded set only. */
enum ulb_status ulb_allowed_pus(hwloc_topology_t hw, hwloc_bitmap_t allowed, struct ulb_error *err)
{
    int failed = hwloc_bitmap_and(allowed, hwloc_topology_get_allowed_cpuset(hw),
                                  hwloc_topology_get_topology_cpuset(hw));
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();
    failed = failed < 0 || !bound;
    if (!failed && hwloc_topology_is_thissystem(hw))
        failed = hwloc_get_cpubind(hw, bound, HWLOC_CPUBIND_THREAD) < 0 ||
                 hwloc_bitmap_and(allowed, allowed, bound) < 0;
    hwloc_bitmap_free(bound);
    if (failed)
        return ulb_fail(err, ULB_ENVIRONMENT, "the PUs that may be used could not be read: %s",
                        strerror(errno));
    if (hwloc_bitmap_iszero(allowed))
        return ulb_fail(
            err, ULB_ENVIRONMENT,
            "no PU of the topology may be used; check taskset, the cgroup's cpuset and HWLOC_XMLFILE");
    return ULB_OK;
}

static unsigned long larger(unsigned long a, unsigned long b)
{
    return a > b ? a : b;
}

static enum ulb_core_type type_of_name(const char *name)
{
    static const struct {
        const char *name;
        enum ulb_core_type type;
    } names[] = {
        {"IntelCore", ULB_TYPE_PERFORMANCE},
        {"IntelAtom", ULB_TYPE_EFFICIENCY},
        {"IntelLowPower", ULB_TYPE_LOW_POWER}, /* from hwloc 2.13 on */
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i].name) == 0)
            return names[i].type;
    }
    return ULB_TYPE_UNKNOWN;
}

/* If kinds disagree within a core, the faster is believed: SMT siblings share one pipeline. */
static void read_kind(hwloc_topology_t hw, hwloc_const_bitmap_t pu, struct ulb_core *core)
{
    int kind = hwloc_cpukinds_get_by_cpuset(hw, pu, 0);
    unsigned n = 0;
    struct hwloc_info_s *infos = NULL;
    if (kind < 0 || hwloc_cpukinds_get_info(hw, (unsigned)kind, NULL, NULL, &n, &infos, 0) < 0)
        return;
    for (unsigned i = 0; i < n; i++) {
        const char *value = infos[i].value;
        if (strcmp(infos[i].name, "FrequencyMaxMHz") == 0)
            core->max_mhz = larger(core->max_mhz, strtoul(value, NULL, 10));
        else if (strcmp(infos[i].name, "LinuxCapacity") == 0)
            core->capacity = larger(core->capacity, strtoul(value, NULL, 10));
        else if (strcmp(infos[i].name, "CoreType") == 0) {
            enum ulb_core_type type = type_of_name(value);
            if (type != ULB_TYPE_UNKNOWN && (core->type == ULB_TYPE_UNKNOWN || type < core->type))
                core->type = type;
        }
    }
}

static void read_caches(hwloc_obj_t object, struct ulb_core *core)
{
    for (hwloc_obj_t at = object; at; at = at->parent) {
        if (at->type == HWLOC_OBJ_L1CACHE)
            core->l1d_bytes = (size_t)at->attr->cache.size;
        else if (at->type == HWLOC_OBJ_L2CACHE)
            core->l2_bytes = (size_t)at->attr->cache.size;
        else if (at->type == HWLOC_OBJ_L3CACHE)
            core->has_l3 = true;
    }
}

static bool add_core(hwloc_topology_t hw, hwloc_obj_t object, struct ulb_cores *cores)
{
    struct ulb_core *core = &cores->items[cores->n];
    *core = (struct ulb_core){.pus = hwloc_bitmap_dup(object->cpuset)};
    if (!core->pus)
        return false;
    cores->n++;
    hwloc_obj_t pu = NULL;
    while ((pu = hwloc_get_next_obj_inside_cpuset_by_type(hw, core->pus, HWLOC_OBJ_PU, pu)))
        read_kind(hw, pu->cpuset, core);
    hwloc_obj_t lowest = hwloc_get_next_obj_inside_cpuset_by_type(hw, core->pus, HWLOC_OBJ_PU, NULL);
    read_caches(lowest, core);
    return true;
}

/* One entry per core in the order of hwloc; a PU without a core above it is a core of its own. */
enum ulb_status ulb_cores_collect(hwloc_topology_t hw, struct ulb_cores *cores, struct ulb_error *err)
{
    int n = hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_PU);
    *cores = (struct ulb_cores){calloc((size_t)n, sizeof *cores->items), 0};
    bool good = cores->items != NULL;
    hwloc_obj_t previous = NULL;
    for (hwloc_obj_t pu = NULL; good && (pu = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_PU, pu));) {
        hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(hw, HWLOC_OBJ_CORE, pu);
        if (!core || core != previous)
            good = add_core(hw, core ? core : pu, cores);
        previous = core;
    }
    if (good)
        return ULB_OK;
    ulb_cores_free(cores);
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for a topology of %d PUs", n);
}

void ulb_cores_free(struct ulb_cores *cores)
{
    for (size_t i = 0; i < cores->n; i++)
        hwloc_bitmap_free(cores->items[i].pus);
    free(cores->items);
    *cores = (struct ulb_cores){NULL, 0};
}
