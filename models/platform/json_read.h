/* Internal to models/platform/: typed reading of JSON objects. Every function that fails says where, what
 * stands there and what is wanted, with ULB_BAD_INPUT. */
#ifndef ULB_MODELS_PLATFORM_JSON_READ_H
#define ULB_MODELS_PLATFORM_JSON_READ_H

#include "common/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* One object of the document: where it stands, for messages. */
struct ulb_place {
    const char *origin; /* file or built-in name */
    char path[72];      /* "" or "classes[1]." */
    const json_t *object;
};

/* What a number may be, ends included. */
struct ulb_range {
    double min, max;
    bool whole;
    const char *wanted;
};

/* Makes the place of the object key[index] inside outer. */
void ulb_json_enter(struct ulb_place *inner, const struct ulb_place *outer, const char *key, size_t index,
                    const json_t *object);

/* The value of a key that must be there. */
enum ulb_status ulb_json_require(const struct ulb_place *place, const char *key, const char *wanted,
                                 const json_t **value, struct ulb_error *err);

/* Fails: the value is not what is wanted. */
enum ulb_status ulb_json_refuse(const struct ulb_place *place, const char *key, const char *wanted,
                                const json_t *value, struct ulb_error *err);

/* 1 to out_bytes - 1 printable characters. */
enum ulb_status ulb_json_string(const struct ulb_place *place, const char *key, char *out, size_t out_bytes,
                                struct ulb_error *err);

enum ulb_status ulb_json_number(const struct ulb_place *place, const char *key, const struct ulb_range *range,
                                double *out, struct ulb_error *err);

/* Name, title and source of a platform; their rooms are those of struct ulb_platform. */
enum { ULB_PLATFORM_NAME = 32, ULB_PLATFORM_TITLE = 96, ULB_PLATFORM_SOURCE = 160 };
enum ulb_status ulb_json_heading(const struct ulb_place *place, char name[ULB_PLATFORM_NAME],
                                 char title[ULB_PLATFORM_TITLE], char source[ULB_PLATFORM_SOURCE],
                                 struct ulb_error *err);

/* Bytes/s, of either bandwidth_gibps or bandwidth_gbps. */
enum ulb_status ulb_json_bandwidth(const struct ulb_place *place, double *bytes_per_s, struct ulb_error *err);

/* A list of min to max objects. */
enum ulb_status ulb_json_list(const struct ulb_place *place, const char *key, size_t min, size_t max,
                              const json_t **list, struct ulb_error *err);

/* Refuses every other key: a misspelt one would otherwise pass for a missing one. */
enum ulb_status ulb_json_known_keys(const struct ulb_place *place, const char *const *known, size_t n_known,
                                    struct ulb_error *err);

#endif
