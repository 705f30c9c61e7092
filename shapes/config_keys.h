/* Internal to shapes/: the keys of a config.json in all their spellings, and typed reading of them. */
#ifndef ULB_SHAPES_CONFIG_KEYS_H
#define ULB_SHAPES_CONFIG_KEYS_H

#include "common/status.h"

#include <jansson.h>
#include <stdbool.h>

enum ulb_config_key {
    ULB_KEY_HIDDEN,
    ULB_KEY_INTERMEDIATE,
    ULB_KEY_LAYERS,
    ULB_KEY_HEADS,
    ULB_KEY_KV_HEADS,
    ULB_KEY_HEAD_DIM,
    ULB_KEY_VOCAB,
    ULB_KEY_EXPERTS,
    ULB_KEY_EXPERTS_ACTIVE,
    ULB_KEY_EXPERTS_SHARED,
    ULB_KEY_EXPERT_INTERMEDIATE,
    ULB_KEY_SHARED_INTERMEDIATE,
    ULB_KEY_DENSE_LAYERS,
    ULB_KEY_SPARSE_STEP,
    ULB_KEY_MOE_FREQUENCY,
    ULB_KEY_DENSE_LIST,
    ULB_KEY_KV_RANK,
    ULB_KEY_Q_RANK,
    ULB_KEY_NOPE_DIM,
    ULB_KEY_ROPE_DIM,
    ULB_KEY_V_DIM,
    ULB_KEY_ROPE_BASE,
    ULB_KEY_ROPE_PARAMETERS,
    ULB_KEY_ROTARY_DIMS,
    ULB_KEY_ROTARY_SHARE,
    ULB_KEY_EXPANSION,
    ULB_KEY_MULTIPLE,
    ULB_KEY_FFN_FACTOR,
    ULB_KEY_PROJECTION,
    ULB_KEY_TIED,
    ULB_KEY_SHARED_EMBEDDING,
    ULB_KEY_LAYER_SHARING,
    ULB_KEY_MULTI_QUERY,
    ULB_KEY_NEW_DECODER,
    ULB_KEY_PARALLEL,
    ULB_KEY_FUNCTION,
    ULB_KEY_TYPE,
    ULB_KEY_ARCHITECTURES,
    ULB_KEY_NESTED,
    ULB_KEYS
};

/* A configuration: where the language model stands, and what stands around it. */
struct ulb_config {
    json_t *root;         /* owned */
    const json_t *model;  /* root, or its object "text_config" */
    const json_t *around; /* root when the model is nested, else NULL */
};

/* Parses the text. Keys that are read must not stand there twice; others may, as in files of HF1BitLLM. */
enum ulb_status ulb_config_open(struct ulb_config *config, const char *text, size_t bytes,
                                struct ulb_error *err);
void ulb_config_close(struct ulb_config *config);

/* The value of a key in whatever spelling, and which (NULL: not wanted); NULL when it is absent or null.
 * Two spellings that disagree are ULB_BAD_INPUT. */
enum ulb_status ulb_config_value(const json_t *object, enum ulb_config_key key, const json_t **value,
                                 const char **spelling, struct ulb_error *err);

/* A whole number from 0 to 2^31 - 1, or a list of the same number for every layer. *found is false, and *out
 * as it was, when the key is absent. Sizes that stand inside and around and disagree are refused. */
enum ulb_status ulb_config_count(const struct ulb_config *config, enum ulb_config_key key, unsigned *out,
                                 bool *found, struct ulb_error *err);

/* A number, and true or false; absent leaves *out as it was. */
enum ulb_status ulb_config_real(const json_t *object, enum ulb_config_key key, double min, double max,
                                double *out, struct ulb_error *err);
enum ulb_status ulb_config_bool(const json_t *object, enum ulb_config_key key, bool *out, bool *found,
                                struct ulb_error *err);

/* The usual spelling, for messages. */
const char *ulb_config_name(enum ulb_config_key key);

#endif
