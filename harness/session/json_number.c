#include "harness/session/json_number.h"

#include <math.h>
#include <stdio.h>

static void set_absent(json_t *row, const char *key, const char *reason)
{
    char reason_key[64];
    snprintf(reason_key, sizeof reason_key, "%s_reason", key);
    json_object_set_new(row, key, json_null());
    json_object_set_new(row, reason_key, json_string(reason));
}

void ulb_set_figure(json_t *row, const char *key, double value, const char *reason)
{
    if (isfinite(value))
        json_object_set_new(row, key, json_real(value));
    else
        set_absent(row, key, reason);
}

void ulb_set_bytes(json_t *row, const char *key, long long bytes, const char *reason)
{
    if (bytes >= 0)
        json_object_set_new(row, key, json_integer(bytes));
    else
        set_absent(row, key, reason);
}

void ulb_set_text(json_t *row, const char *key, const char *value, const char *reason)
{
    if (value)
        json_object_set_new(row, key, json_string(value));
    else
        set_absent(row, key, reason);
}
