#include "harness/session/describe_machine.h"

#include "common/build_id.h"
#include "common/cgroup.h"
#include "common/emulation.h"
#include "harness/session/build_info.h"
#include "harness/session/json_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static const double SLEEP_REPORTED = 0.01; /* seconds */

/* First line of a file without its newline; false when it cannot be read. */
static bool first_line(const char *path, char *out, size_t out_bytes)
{
    FILE *file = fopen(path, "re");
    bool read = file && fgets(out, (int)out_bytes, file);
    if (file)
        fclose(file);
    if (read)
        out[strcspn(out, "\n")] = '\0';
    return read;
}

static bool cpuinfo_field(const char *key, char *out, size_t out_bytes)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (colon && strncmp(line, key, strlen(key)) == 0) {
            snprintf(out, out_bytes, "%s", colon + 1 + strspn(colon + 1, " \t"));
            out[strcspn(out, "\n")] = '\0';
            found = true;
        }
    }
    if (file)
        fclose(file);
    return found;
}

static json_t *isa_json(ulb_isa_set isa)
{
    json_t *list = json_array();
    char names[256];
    ulb_isa_names(isa, names, sizeof names);
    for (char *word = strtok(names, ","); word; word = strtok(NULL, ","))
        json_array_append_new(list, json_string(word));
    return list;
}

static json_t *machine_json(const struct ulb_session *session)
{
    const struct ulb_topology *topology = &session->machine.topology;
    struct utsname name;
    double load;
    char governor[64], microcode[64];
    long long available = ulb_memory_available();
    uname(&name);
    bool has_load = getloadavg(&load, 1) == 1;
    unsigned cores = 0;
    for (size_t c = 0; c < topology->n_classes; c++)
        cores += topology->classes[c].cores;
    json_t *machine = json_pack("{s:s, s:i, s:s, s:s, s:o}", "cpu_model", topology->cpu_model, "cores",
                                (int)cores, "kernel_release", name.release, "architecture", name.machine,
                                "isa", isa_json(topology->isa));
    if (!machine)
        return NULL;
    static const char unknown[] = "the system does not tell";
    ulb_set_bytes(machine, "memory_bytes", topology->memory_bytes ? (long long)topology->memory_bytes : -1,
                  unknown);
    bool has_governor =
        first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor);
    bool has_microcode = cpuinfo_field("microcode", microcode, sizeof microcode);
    ulb_set_text(machine, "governor", has_governor ? governor : NULL, "no cpufreq for cpu0");
    ulb_set_text(machine, "microcode", has_microcode ? microcode : NULL, "not in /proc/cpuinfo");
    ulb_set_text(machine, "hypervisor", topology->hypervisor[0] ? topology->hypervisor : NULL, "none seen");
    ulb_set_figure(machine, "load_average", has_load ? load : NAN, unknown);
    json_object_set_new(machine, "emulated", json_boolean(ulb_emulator() != NULL));
    ulb_set_bytes(machine, "memory_available_bytes", available, unknown);
    return machine;
}

/* Core frequency by class, all threads of the set busy: mean over the class's threads. NULL when out of
 * memory. */
static json_t *hz_json(const struct ulb_session *session)
{
    double *hz = calloc(session->machine.pus.n, sizeof *hz);
    if (!hz)
        return NULL;
    json_t *object = json_object();
    ulb_team_clock(session->machine.team, hz);
    for (size_t c = 0; c < session->machine.topology.n_classes; c++) {
        double sum = 0;
        size_t n = 0;
        for (size_t t = 0; t < session->machine.pus.n; t++) {
            if (ulb_topology_class_of(&session->machine.topology, session->machine.pus.items[t]) ==
                &session->machine.topology.classes[c]) {
                sum += hz[t];
                n++;
            }
        }
        if (n > 0)
            json_object_set_new(object, session->machine.topology.classes[c].name,
                                json_real(sum / (double)n));
    }
    free(hz);
    return object;
}

static json_t *clock_json(const struct ulb_session *session)
{
    json_t *clock = json_pack("{s:s, s:o, s:f}", "cycles_source", session->machine.clock.name, "hz",
                              hz_json(session), "timer_step_ns", 1e9 * ulb_timer_step());
    if (clock && session->machine.clock.reason[0])
        json_object_set_new(clock, "counters_reason", json_string(session->machine.clock.reason));
    return clock;
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *settings_json(const struct ulb_session *session)
{
    const struct ulb_settings *settings = &session->settings;
    char mask[256];
    return json_pack("{s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:b, s:s, s:I, s:I}",
                     "command", text_or_null(settings->command), "device", text_or_null(settings->device),
                     "set", settings->set ? settings->set : "all", "split",
                     ulb_split_name(settings->splits[0]), "models", text_or_null(settings->models), "shapes",
                     text_or_null(settings->shapes), "tokens", text_or_null(settings->tokens), "formats",
                     text_or_null(settings->formats), "kernel_library", text_or_null(settings->libraries),
                     "kernels", text_or_null(settings->kernels), "quick", settings->quick, "warm",
                     settings->warm, "aa", settings->aa, "best_kernels", settings->best_kernels, "isa_mask",
                     ulb_isa_names(settings->isa_mask, mask, sizeof mask), "seed", (json_int_t)settings->seed,
                     "ring_bytes", (json_int_t)settings->ring_bytes);
}

static json_t *fork_join_json(const struct ulb_session *session)
{
    const char *policy = getenv("OMP_WAIT_POLICY"), *spins = getenv("GOMP_SPINCOUNT");
    double openmp = ulb_openmp_fork_join(session->machine.pus.items, session->machine.pus.n);
    json_t *object = json_pack("{s:o, s:o}", "omp_wait_policy", text_or_null(policy), "gomp_spincount",
                               text_or_null(spins));
    ulb_set_figure(object, "team_us", 1e6 * session->machine.fork_join_s, "not measured");
    ulb_set_figure(object, "openmp_us", 1e6 * openmp,
                   "the OpenMP runtime got no process, memory or thread for each PU");
    return object;
}

/* Cores that "all" does not take, and cores that are taken twice. */
static enum ulb_status warn_of_set(struct ulb_session *session, struct ulb_error *err)
{
    const struct ulb_topology *topology = &session->machine.topology;
    const char *set = session->settings.set ? session->settings.set : "all";
    struct ulb_pu_list left_out;
    char text[64];
    enum ulb_status status = ULB_OK;
    if (strcmp(set, "all") == 0 && ulb_topology_left_out(topology, &left_out))
        status =
            ulb_record_warn(session->record, err,
                            "set all leaves out the LP-E cores, PUs %s, which lie behind another path to "
                            "memory; --set P,E,LP-E takes them too",
                            ulb_pu_list_text(&left_out, text, sizeof text));
    const struct ulb_pu_list *core = ulb_topology_shared_core(topology, &session->machine.pus);
    if (status == ULB_OK && core)
        status = ulb_record_warn(session->record, err,
                                 "set %.40s: PUs %s are one core; names such as P and all take one of each",
                                 set, ulb_pu_list_text(core, text, sizeof text));
    return status;
}

/* What a container or sandbox does to the figures. */
static enum ulb_status warn_of_confinement(struct ulb_session *session, struct ulb_error *err)
{
    double cpus = ulb_cgroup_cpus("");
    int refused = ulb_team_pin_refused(session->machine.team);
    enum ulb_status status = ULB_OK;
    if (cpus < (double)session->machine.pus.n)
        status = ulb_record_warn(session->record, err,
                                 "noisy: CPU quota: %.2g CPUs' worth of time for %zu threads, which are "
                                 "stopped in mid-sample when it is used "
                                 "up; raise the container's quota or take fewer cores with --set",
                                 cpus, session->machine.pus.n);
    if (status == ULB_OK && refused)
        status = ulb_record_warn(session->record, err,
                                 "noisy: threads are not pinned (%s) and may change cores; allow "
                                 "sched_setaffinity in the container's seccomp "
                                 "profile",
                                 strerror(refused));
    return status;
}

static enum ulb_status warn_of_conditions(struct ulb_session *session, struct ulb_error *err)
{
    double load[1];
    char governor[64];
    enum ulb_status status = ULB_OK;
    const char *emulator = ulb_emulator();
    if (emulator)
        status = ulb_record_warn(session->record, err,
                                 "emulated by %s: results are checked, no figure is of any CPU", emulator);
    if (status == ULB_OK && getloadavg(load, 1) == 1 &&
        load[0] > 0.5 + 0.25 * (double)session->machine.topology.allowed_pus.n)
        status =
            ulb_record_warn(session->record, err, "other load: load average %.1f on %zu PUs at the start",
                            load[0], session->machine.topology.allowed_pus.n);
    if (status == ULB_OK && session->machine.topology.hypervisor[0])
        status = ulb_record_warn(session->record, err, "guest of %s: neighbours may disturb the figures",
                                 session->machine.topology.hypervisor);
    if (status == ULB_OK &&
        first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor) &&
        strcmp(governor, "performance") != 0)
        status = ulb_record_warn(session->record, err,
                                 "cpufreq governor is %s: clocks may ramp during the run", governor);
    if (status == ULB_OK)
        status = warn_of_set(session, err);
    return status == ULB_OK ? warn_of_confinement(session, err) : status;
}

enum ulb_status ulb_machine_warn_of_sleep(struct ulb_session *session, struct ulb_error *err)
{
    double slept = ulb_slept() - session->machine.slept_before;
    if (slept < SLEEP_REPORTED)
        return ULB_OK;
    return ulb_record_warn(
        session->record, err,
        "the system was suspended for %.0f s during the run; the sample that it fell into was repeated",
        slept);
}

const char *ulb_build_version(void)
{
    return ULB_BUILD_VERSION;
}

static json_t *build_json(void)
{
    char id[ULB_BUILD_ID_MAX];
    json_t *build =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:I}", "version", ULB_BUILD_VERSION, "commit", ULB_BUILD_COMMIT,
                  "compiler", ULB_BUILD_COMPILER, "flags", ULB_BUILD_FLAGS, "build_type", ULB_BUILD_TYPE,
                  "kernels_left_out", (json_int_t)ulb_left_out_count);
    if (build)
        ulb_set_text(build, "id", ulb_build_id(id), "linked without --build-id");
    return build;
}

enum ulb_status ulb_machine_describe(struct ulb_session *session, struct ulb_error *err)
{
    struct {
        const char *section;
        json_t *value;
    } sections[] = {
        {"machine", machine_json(session)},
        {"build", build_json()},
        {"topology", ulb_topology_json(&session->machine.topology)},
        {"clock", clock_json(session)},
        {"settings", settings_json(session)},
        {"fork_join", fork_join_json(session)},
    };
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (status == ULB_OK)
            status = ulb_record_set(session->record, sections[i].section, sections[i].value, err);
        else
            json_decref(sections[i].value);
    }
    return status == ULB_OK ? warn_of_conditions(session, err) : status;
}

enum ulb_status ulb_machine_huge_pages(struct ulb_session *session, struct ulb_error *err)
{
    char mode[128];
    json_t *machine = json_object_get(session->record->root, "machine");
    const struct ulb_arena *arena = &session->arena;
    if (!machine)
        return ULB_OK;
    bool known = first_line("/sys/kernel/mm/transparent_hugepage/enabled", mode, sizeof mode);
    json_t *value =
        json_pack("{s:b, s:I}", "asked", arena->pages.data && arena->pages.asked == ULB_PAGES_HUGE,
                  "ring_bytes", (json_int_t)arena->ring_bytes);
    if (!value || json_object_set_new(machine, "huge_pages", value) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the record");
    if (!arena->pages.data)
        ulb_set_text(value, "got_bytes", NULL, "nothing was read from memory");
    else if (arena->huge_bytes >= 0)
        json_object_set_new(value, "got_bytes", json_integer(arena->huge_bytes));
    else
        ulb_set_text(value, "got_bytes", NULL, "/proc/self/smaps cannot be read");
    ulb_set_text(value, "mode", known ? mode : NULL, "the kernel has no transparent huge pages");
    if (arena->pages.data && arena->pages.asked == ULB_PAGES_HUGE && arena->huge_bytes >= 0 &&
        (size_t)arena->huge_bytes < arena->pages.bytes / 2)
        return ulb_record_warn(session->record, err, "huge pages: asked for, got %.0f %% of the ring",
                               100.0 * (double)arena->huge_bytes / (double)arena->pages.bytes);
    return ULB_OK;
}
