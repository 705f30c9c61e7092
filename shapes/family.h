/* Internal to shapes/: what all models of one kind have in common and their files therefore do not say. */
#ifndef ULB_SHAPES_FAMILY_H
#define ULB_SHAPES_FAMILY_H

#include "shapes/model.h"

enum ulb_tied { ULB_TIED_NO, ULB_TIED_YES, ULB_TIED_SAID /* the file must say it */ };

struct ulb_family {
    const char *types; /* words of "model_type" in a config.json, between blanks: " llama mistral " */
    const char *gguf;  /* words of "general.architecture" in a GGUF file */
    enum ulb_norm norm;
    enum ulb_ffn_function function;
    enum ulb_tied tied; /* when the file does not say */
    bool gated, parallel, qk_norm, post_norms, sub_norms, stored_qkv, stored_gate_up;
    bool unrotated;            /* positions are learned, or added to the attention's scores */
    bool experts_own_size;     /* experts never have the intermediate size of dense layers */
    double rotated;            /* share of a head that is rotated by default; 0: all */
    unsigned default_head_dim; /* 0: hidden / heads */
    /* Defaults of the configuration's class, which nested configurations leave out; layers 0: unknown. */
    struct {
        unsigned layers, hidden, intermediate, heads, kv_heads, vocab;
    } defaults;
};

/* NULL when no family has that word. */
const struct ulb_family *ulb_family_of_type(const char *model_type);
const struct ulb_family *ulb_family_of_gguf(const char *architecture);

/* Fills in what the family says: gates, norms, form of the block and of the files. */
void ulb_family_apply(const struct ulb_family *family, struct ulb_model *model);

#endif
