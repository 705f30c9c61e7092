/* Figures of a JSON document that may be absent: null with the reason beside it, never 0. */
#ifndef ULB_HARNESS_SESSION_JSON_NUMBER_H
#define ULB_HARNESS_SESSION_JSON_NUMBER_H

#include <jansson.h>

/* Sets key to a number; one that is not finite becomes null with "<key>_reason". */
void ulb_set_figure(json_t *row, const char *key, double value, const char *reason);

/* The same for a size in bytes; a negative one is absent. */
void ulb_set_bytes(json_t *row, const char *key, long long bytes, const char *reason);

/* The same for a text; NULL is absent. */
void ulb_set_text(json_t *row, const char *key, const char *value, const char *reason);

#endif
