/* Internal to shapes/: what all models of one kind have in common and their files therefore do not say. */
#ifndef ULB_SHAPES_FAMILY_H
#define ULB_SHAPES_FAMILY_H

#include "shapes/model.h"

/* What stands in layers without attention, or beside it. */
enum ulb_mixer {
    ULB_MIXER_NONE,
    ULB_MIXER_MAMBA,
    ULB_MIXER_MAMBA2,
    ULB_MIXER_DELTA_NET,       /* gated delta-net of Qwen3-Next: q, k, v and gate as one matrix */
    ULB_MIXER_DELTA_NET_SPLIT, /* of Qwen3.5 */
    ULB_MIXER_CONV,            /* gated short convolution of LFM2 */
};

enum ulb_tied { ULB_TIED_NO, ULB_TIED_YES, ULB_TIED_SAID /* the file must say it */ };

struct ulb_family {
    const char *types; /* words of "model_type" in a config.json, between blanks: " llama mistral " */
    const char *gguf;  /* words of "general.architecture" in a GGUF file */
    const char
        *needs; /* keys that every config.json of the family has, between blanks; NULL: none beside sizes */
    enum ulb_norm norm;
    enum ulb_ffn_function function;
    enum ulb_tied tied; /* when the file does not say */
    bool gated, parallel, qk_norm, post_norms, sub_norms, stored_qkv, stored_gate_up;
    enum ulb_mixer mixer;
    bool mixer_everywhere; /* each layer has it: beside attention, or in its place where there are no heads */
    bool attentionless;
    bool one_part_a_layer; /* a layer is attention, mixer or network, never two of them */
    bool gated_query;
    bool per_layer_inputs; /* Gemma 3n */
    bool shared_size;      /* "shared_intermediate_size" is that of a network beside the experts */
    enum ulb_active active;
    unsigned full_every;   /* one layer in so many attends to all positions, the others to a window, where the
                              file says no more than the window; 1: all, 0: none */
    bool unrotated;        /* positions are learned, or added to the attention's scores */
    bool experts_own_size; /* experts never have the intermediate size of dense layers */
    double rotated;        /* share of a head that is rotated by default; 0: all */
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
