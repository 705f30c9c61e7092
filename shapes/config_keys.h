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
    ULB_KEY_SCALED_ROPE,
    ULB_KEY_SHARED_EMBEDDING,
    ULB_KEY_LAYER_SHARING,
    ULB_KEY_MULTI_QUERY,
    ULB_KEY_NEW_DECODER,
    ULB_KEY_PARALLEL,
    ULB_KEY_FUNCTION,
    ULB_KEY_TYPE,
    ULB_KEY_ARCHITECTURES,
    ULB_KEY_NESTED,
    ULB_KEY_QK_DIM,
    ULB_KEY_QK_NORM,
    ULB_KEY_ATTENTION_TYPE,
    ULB_KEY_INDEX_HEADS,
    ULB_KEY_INDEX_DIM,
    ULB_KEY_INDEX_TOPK,
    ULB_KEY_WINDOW,
    ULB_KEY_USE_WINDOW,
    ULB_KEY_WINDOW_PATTERN,
    ULB_KEY_WINDOW_LAYERS,
    ULB_KEY_CHUNK,
    ULB_KEY_LAYER_TYPES,
    ULB_KEY_FULL_INTERVAL,
    ULB_KEY_FULL_LAYERS,
    ULB_KEY_HYBRID_PATTERN,
    ULB_KEY_MOE_ENABLED,
    ULB_KEY_MOE_LAYERS,
    ULB_KEY_MOE_LAST,
    ULB_KEY_MLP_TYPES,
    ULB_KEY_MLP_SIZE,
    ULB_KEY_SHARED_ABSOLUTE,
    ULB_KEY_MTP,
    ULB_KEY_ADJUST_FFN,
    ULB_KEY_FFN_MULTIPLE,
    ULB_KEY_FFN_SCALE,
    ULB_KEY_SSM_INNER,
    ULB_KEY_SSM_HEADS,
    ULB_KEY_SSM_HEAD_DIM,
    ULB_KEY_SSM_STATE,
    ULB_KEY_SSM_GROUPS,
    ULB_KEY_SSM_RANK,
    ULB_KEY_SSM_EXPAND,
    ULB_KEY_CONV,
    ULB_KEY_CONV_DIM,
    ULB_KEY_DELTA_K_HEADS,
    ULB_KEY_DELTA_V_HEADS,
    ULB_KEY_DELTA_K_DIM,
    ULB_KEY_DELTA_V_DIM,
    ULB_KEY_QUERY_GATE,
    ULB_KEY_ALTUP,
    ULB_KEY_LAUREL,
    ULB_KEY_PER_LAYER_DIM,
    ULB_KEY_PER_LAYER_VOCAB,
    ULB_KEY_SHARED_CACHE,
    ULB_KEYS
};

/* A configuration: where the language model stands, and what stands around it. */
enum { ULB_CONFIG_PARTS = 3 };
struct ulb_config {
    json_t *root;         /* owned */
    const json_t *model;  /* root, or its object "text_config" */
    const json_t *around; /* root when the model is nested, else NULL */
    const json_t
        *parts[ULB_CONFIG_PARTS]; /* objects with more keys of the model's level: "moe", "attn_config" */
    const char *part_names[ULB_CONFIG_PARTS];
    const char *off; /* an object that another key switches off; NULL: none */
    unsigned n_parts;
    bool read[ULB_KEYS]; /* keys of the model's level that were asked for */
};

/* How NaN and Infinity stand in parsed JSON, as json_dumps() writes it. */
#define ULB_JSON_NOT_FINITE "\"?\""

/* Longest text of a configuration or header and of an index, and the memory that its values may take. */
enum { ULB_JSON_BYTES_MAX = 8 << 20, ULB_INDEX_BYTES_MAX = 16 << 20, ULB_JSON_MEMORY_MAX = 40 << 20 };

/* Parses JSON of a file. A byte order mark is passed over; NaN and Infinity become a string, so that only a
 * key that is read refuses them. The text may be changed. Too much memory is ULB_BAD_INPUT. */
enum ulb_status ulb_json_parse(char *text, size_t bytes, size_t flags, json_t **out, bool *repeated,
                               struct ulb_error *err);

/* Parses the text. Keys that are read must not stand there twice; others may, as in files of HF1BitLLM. */
enum ulb_status ulb_config_open(struct ulb_config *config, const char *text, size_t bytes,
                                struct ulb_error *err);
void ulb_config_close(struct ulb_config *config);

/* The value of a key at the model's level in whatever spelling, and which (NULL: not wanted); NULL when it is
 * absent or null. Two spellings that disagree are ULB_BAD_INPUT. */
enum ulb_status ulb_config_value(struct ulb_config *config, enum ulb_config_key key, const json_t **value,
                                 const char **spelling, struct ulb_error *err);

/* The same of any object. */
enum ulb_status ulb_config_value_of(const json_t *object, enum ulb_config_key key, const json_t **value,
                                    const char **spelling, struct ulb_error *err);

/* A whole number from 0 to 2^31 - 1, or a list of the same number for every layer. *found is false, and *out
 * as it was, when the key is absent. */
enum ulb_status ulb_config_count(struct ulb_config *config, enum ulb_config_key key, unsigned *out,
                                 bool *found, struct ulb_error *err);
enum ulb_status ulb_config_count_of(const json_t *object, enum ulb_config_key key, unsigned *out, bool *found,
                                    struct ulb_error *err);

/* A number, and true or false; absent leaves *out as it was. */
enum ulb_status ulb_config_real(struct ulb_config *config, enum ulb_config_key key, double min, double max,
                                double *out, struct ulb_error *err);
enum ulb_status ulb_config_real_of(const json_t *object, enum ulb_config_key key, double min, double max,
                                   double *out, struct ulb_error *err);
enum ulb_status ulb_config_bool(struct ulb_config *config, enum ulb_config_key key, bool *out, bool *found,
                                struct ulb_error *err);
enum ulb_status ulb_config_bool_of(const json_t *object, enum ulb_config_key key, bool *out, bool *found,
                                   struct ulb_error *err);

/* Elements of a list; *found is false when the key is absent, and another type is refused. */
enum ulb_status ulb_config_list(struct ulb_config *config, enum ulb_config_key key, const json_t **list,
                                bool *found, struct ulb_error *err);

/* The key that is spelled so; ULB_KEYS: none. */
enum ulb_config_key ulb_config_key_of(const char *spelling, size_t length);

/* The usual spelling, for messages. */
const char *ulb_config_name(enum ulb_config_key key);

#endif
