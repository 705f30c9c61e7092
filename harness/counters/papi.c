/* PAPI: the preset PAPI_TOT_CYC of the calling thread. */
#include "harness/counters/counters_private.h"

#include "common/child.h"

#ifdef ULB_HAVE_PAPI

#include <papi.h>
#include <pthread.h>
#include <string.h>

static int library_version; /* what PAPI_library_init gave: a version, or a negative error */

static void start_library(void)
{
    library_version = PAPI_library_init(PAPI_VER_CURRENT);
    if (library_version > 0) {
        int code = PAPI_thread_init((unsigned long (*)(void))pthread_self);
        if (code != PAPI_OK)
            library_version = code;
    }
}

/* A message that gets no memory makes PAPI (7.0) write the following ones before the list that they belong
 * to, over the heap's own data. The first or the last is then another's, or none. */
static bool messages_are_whole(void)
{
    const char *first = PAPI_strerror(PAPI_OK);
    return first && strcmp(first, "No error") == 0 && PAPI_strerror(1 - PAPI_NUM_ERRORS);
}

static double try_start(void *arg)
{
    (void)arg;
    start_library();
    if (library_version > 0 && !messages_are_whole())
        library_version = PAPI_ENOMEM;
    return library_version;
}

/* If it gets no memory, the library frees twice or spoils the heap. If it may not read sysfs, it ends the
 * program. So a child tries it first. */
static void initialise(void)
{
    double version;
    if (!ulb_ask_child(try_start, NULL, &version))
        library_version = PAPI_ESYS;
    else if (version < 0)
        library_version = (int)version;
    else
        start_library();
}

/* A library that did not start has no words for it. */
static const char *message_of(int code)
{
    const char *text = PAPI_strerror(code);
    return text ? text : code == PAPI_ENOMEM ? "not enough memory" : "a call of the system failed";
}

/* PAPI knows CPUs with cores of several kinds from 7.2 on; before that it counts on one kind and reads 0
 * elsewhere. */
static enum ulb_status check_version(const struct ulb_counter_system *system, struct ulb_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialise);
    if (library_version < 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "the library does not start: %s", message_of(library_version));
    struct ulb_core_pmu pmus[ULB_MAX_CORE_PMUS];
    if (ulb_core_pmus(system->sysfs, pmus) > 0 && library_version < PAPI_VERSION_NUMBER(7, 2, 0, 0))
        return ulb_fail(err, ULB_ENVIRONMENT, "PAPI %d.%d does not know hybrid CPUs; 7.2 or later does",
                        PAPI_VERSION_MAJOR(library_version), PAPI_VERSION_MINOR(library_version));
    return ULB_OK;
}

static enum ulb_status papi_open(struct ulb_cycle_counter *counter, struct ulb_error *err)
{
    enum ulb_status status = check_version(counter->system, err);
    if (status != ULB_OK)
        return status;
    int set = PAPI_NULL;
    int code = PAPI_create_eventset(&set);
    if (code == PAPI_OK)
        code = PAPI_add_event(set, (int)PAPI_TOT_CYC);
    if (code == PAPI_OK)
        code = PAPI_start(set);
    if (code == PAPI_OK) {
        counter->handle = set;
        return ULB_OK;
    }
    if (set != PAPI_NULL) {
        PAPI_cleanup_eventset(set);
        PAPI_destroy_eventset(&set);
    }
    return ulb_fail(err, ULB_ENVIRONMENT, "PAPI_TOT_CYC cannot be counted here: %s", message_of(code));
}

static bool papi_read(struct ulb_cycle_counter *counter, uint64_t *cycles)
{
    long long value = 0;
    int code = PAPI_read(counter->handle, &value);
    *cycles = (uint64_t)value;
    return code == PAPI_OK;
}

static void papi_close(struct ulb_cycle_counter *counter)
{
    long long last;
    PAPI_stop(counter->handle, &last);
    PAPI_cleanup_eventset(counter->handle);
    PAPI_destroy_eventset(&counter->handle);
    PAPI_unregister_thread();
}

const struct ulb_counter_backend ulb_counter_papi = {"papi", papi_open, papi_read, papi_close};

#else

static enum ulb_status papi_open(struct ulb_cycle_counter *counter, struct ulb_error *err)
{
    (void)counter;
    return ulb_fail(err, ULB_ENVIRONMENT, "not in this build; install libpapi-dev and build again");
}

const struct ulb_counter_backend ulb_counter_papi = {"papi", papi_open, NULL, NULL};

#endif
