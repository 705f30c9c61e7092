/* Internal to shapes/: a config.json while it becomes a model, one function for each group of keys. */
#ifndef ULB_SHAPES_CONFIG_READER_H
#define ULB_SHAPES_CONFIG_READER_H

#include "shapes/config_keys.h"
#include "shapes/family.h"

struct ulb_config_reader {
    struct ulb_config config;
    const struct ulb_family *family;
    bool reference; /* no model_type: a params.json of a reference implementation */
    struct ulb_model *model;
};

/* The refusal of a key that nothing else gives. */
enum ulb_status ulb_config_missing(enum ulb_config_key key, struct ulb_error *err);

/* A number that must be there, or that the class of a nested configuration has by default (0: none). */
enum ulb_status ulb_config_take(struct ulb_config_reader *r, enum ulb_config_key key, unsigned by_default,
                                unsigned *out, struct ulb_error *err);

/* Adds matrices beside attention and network; ULB_BAD_INPUT for sizes that cannot be. */
enum ulb_status ulb_config_add_extra(struct ulb_model *model, const char *layer, double m, double k,
                                     unsigned count, struct ulb_error *err);

/* The groups, in the order in which they are read. */
enum ulb_status ulb_config_read_attention(struct ulb_config_reader *r, struct ulb_error *err);
enum ulb_status ulb_config_read_layers(struct ulb_config_reader *r, struct ulb_error *err);
enum ulb_status ulb_config_read_experts(struct ulb_config_reader *r, struct ulb_error *err);
enum ulb_status ulb_config_read_windows(struct ulb_config_reader *r, struct ulb_error *err);

/* Names what stands beside the language model and is left out: vision towers, blocks that predict further
 * tokens. */
enum ulb_status ulb_config_note_left_out(struct ulb_config_reader *r, struct ulb_error *err);

/* Refuses a key of the model's level that was not read and can change the weights. Names in `derived` those
 * that cannot and are no known harmless ones. */
enum ulb_status ulb_config_check_unread(struct ulb_config_reader *r, struct ulb_error *err);

#endif
