/* JSON from files: texts that will be printed may hold nothing that a terminal obeys. */
#ifndef ULB_COMMON_JSON_H
#define ULB_COMMON_JSON_H

#include "common/status.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses a document that a file holds. Its reader makes it printable, or refuses texts that are not.
 * ULB_BAD_INPUT names the place, "NAME: line 3, column 7: ...", ULB_ENVIRONMENT the want of memory; *document
 * is then NULL. */
enum ulb_status ulb_json_load(json_t **document, const char *text, size_t bytes, size_t flags,
                              const char *name, struct ulb_error *err);

/* Set by whoever allocates for jansson (results/record/json_reserve.h) when there was no memory: jansson may
 * call the text wrong then. */
extern atomic_bool ulb_json_ran_out;

/* Whether jansson gave no document for want of memory, which is no fault of the text. */
bool ulb_json_lacks_memory(const json_error_t *error);

/* Makes every text and key of a document printable; false: no memory. */
bool ulb_json_printable(json_t *document);

/* Hash of a sequence of documents, begun with 0: equal where json_equal() holds for all of them; where it
 * does not, chance makes it so once in 2^64. No protection against a sequence made for that. */
uint64_t ulb_json_hash_more(uint64_t hash, const json_t *document);

#endif
