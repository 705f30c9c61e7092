#include "results/record/json_reserve.h"

#include "common/json.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

/* A full run's record and its text take a few MB. */
static const size_t RESERVE = (size_t)8 << 20;

static void *_Atomic reserve;

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory)
        return memory;
    void *spare = atomic_exchange(&reserve, NULL);
    if (spare) {
        free(spare);
        memory = malloc(bytes);
    }
    if (!memory)
        atomic_store(&ulb_json_ran_out, true);
    return memory;
}

void ulb_json_memory_open(void)
{
    atomic_store(&reserve, malloc(RESERVE));
    json_set_alloc_funcs(allocate, free);
}

bool ulb_json_memory_short(void)
{
    return atomic_load(&ulb_json_ran_out);
}

void ulb_json_memory_close(void)
{
    free(atomic_exchange(&reserve, NULL));
}
