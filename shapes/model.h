/* What a language model is made of: the numbers that give the shapes of its linear layers and what happens
 * between them. From the built-in catalogue, a Hugging Face config.json or the header of a GGUF file. */
#ifndef ULB_SHAPES_MODEL_H
#define ULB_SHAPES_MODEL_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>

enum ulb_norm { ULB_NORM_RMS, ULB_NORM_LAYER };

/* Between up (and gate) and down; with a gate it is applied to the gate. */
enum ulb_ffn_function {
    ULB_FFN_SILU,
    ULB_FFN_GELU,
    ULB_FFN_RELU,
    ULB_FFN_RELU2, /* relu squared */
    ULB_FFN_OTHER, /* matrices are known, the decoder cannot compute it */
};

/* Which parameters the publishers of a family count as active. */
enum ulb_active {
    ULB_ACTIVE_READ,       /* of the blocks what one token reads, and the head */
    ULB_ACTIVE_ALL,        /* the embedding too: all parameters but those of idle experts */
    ULB_ACTIVE_NO_ROUTERS, /* as ULB_ACTIVE_READ without routers */
};

/* Matrices of one size: of layers with a recurrent state, of indexers, of per-layer inputs. */
struct ulb_extra {
    char layer[20];
    unsigned m, k, count;
};
enum { ULB_EXTRAS = 12 };

struct ulb_layer_shape;

struct ulb_model {
    char name[64];      /* as on the command line and in records, lower case: "falcon3-1b" */
    char title[40];     /* as in figures: "Falcon3-1B" */
    char alias[40];     /* another name it is known by, lower case; "": none */
    char source[128];   /* where the numbers come from */
    char derived[1024]; /* what the source leaves out and how it was derived, and what was left out or not
                           read;
                           "": nothing */

    unsigned layers, hidden;
    unsigned vocab; /* 0: not published, so that the head is left out */
    bool tied_head; /* the head's vocab x hidden matrix is the embedding itself */
    bool headless;  /* there is no head: embedding models, encoders, reward models */

    /* Attention. Queries and keys have head_dim elements per head, values v_head_dim. */
    unsigned heads, kv_heads, head_dim, v_head_dim;
    bool qk_norm;                               /* norm of each head's query and key */
    unsigned mla_kv_rank, mla_q_rank, mla_rope; /* latent attention: ranks (kv 0: none; q 0: one matrix q),
                                                   and the elements of head_dim that carry the position */
    double rope_base;                           /* 0: positions are not rotated in */
    unsigned rope_dims;                         /* elements of a head that are rotated, at most head_dim */
    bool gated_query;                           /* q has a gate beside each head's query: twice the rows */

    /* Layers that differ. 0: every layer has attention with a cache of all positions, and a network. */
    unsigned without_attention, without_network;
    unsigned without_cache;    /* layers with attention that read the keys and values of another layer */
    unsigned windowed, window; /* layers whose cache holds the last `window` positions only */
    unsigned index_dim;        /* elements a position and layer that the indexer of sparse attention caches */
    struct ulb_extra extra[ULB_EXTRAS]; /* matrices beside attention and network */
    unsigned n_extra;
    double other_parameters; /* tables beside the embedding, filters, state matrices: no GEMVs */

    /* Feed-forward network. */
    unsigned intermediate; /* of dense layers; unused where every layer has experts */
    bool gated;            /* down(f(gate x) * (up x)), otherwise down(f(up x)) */
    enum ulb_ffn_function function;
    unsigned experts, experts_active; /* of each layer with experts; 0: dense throughout */
    unsigned expert_intermediate;
    unsigned shared_intermediate; /* of the network beside the experts that every token uses; 0: none */
    unsigned dense_layers; /* of a model with experts: layers without, in front unless derived says else */
    enum ulb_active active_rule;

    /* Block. */
    enum ulb_norm norm;
    bool parallel_block; /* attention and feed-forward network read the same input and are added up */
    bool post_norms;     /* also a norm behind attention and behind the network, as in Gemma 2 and 3 */
    bool sub_norms;      /* also a norm in front of o and of down, as in BitNet b1.58 */

    /* How the model's own files hold its matrices. */
    bool stored_qkv, stored_gate_up; /* q, k and v, or gate and up, as one */
    /* Of a GGUF file whose blocks these numbers do not describe (blocks of different sizes, other kinds of
     * layers): its matrices as they are, owned by the model. NULL: the numbers give them. */
    struct ulb_layer_shape *stored;
    size_t n_stored;
    double stored_bytes, stored_bytes_per_token; /* of a GGUF file: all tensors, and what a token reads of
                                                    the matrices, the head included; NAN when the size of a
                                                    type is not known; else 0 */
};

/* Matrices of one size and purpose. M = output features (rows of W), K = input features. */
struct ulb_layer_shape {
    char layer[32]; /* "q", "k", "v", "o", "gate", "up", "down", "qkv", "gate_up"; "expert.up", "shared.up",
                       "router"; "q_a", "q_b", "kv_a", "kv_b"; "lm_head" */
    size_t m, k;
    unsigned count;  /* matrices of this shape in the whole model */
    unsigned active; /* of those, how many one token reads */
    struct {
        const char *layer;
        size_t m;
    } parts[3];       /* of a fused one, from the top row on */
    unsigned n_parts; /* 0: not fused */
};

enum ulb_form {
    ULB_FORM_FUSED,  /* what reads the same input as one matrix: q, k, v; gate, up. As inference runs them */
    ULB_FORM_STORED, /* as the model's own files hold them */
};

struct ulb_shape_list {
    struct ulb_layer_shape *items; /* freed by the caller */
    size_t n;
};

/* The linear layers of all blocks, then "lm_head" (vocab x hidden, also when tied). The embedding itself,
 * of which a token reads one row, norms and biases are not among them. ULB_ENVIRONMENT without memory. */
enum ulb_status ulb_model_shapes(const struct ulb_model *model, enum ulb_form form,
                                 struct ulb_shape_list *list, struct ulb_error *err);

/* True for the vocab x hidden matrix, which engines quantise otherwise than the blocks, or not at all. */
bool ulb_shape_is_head(const struct ulb_layer_shape *shape);

/* Weights of the blocks' linear layers that exist, and that one token reads. */
struct ulb_weights {
    double total, active;
};
struct ulb_weights ulb_shape_weights(const struct ulb_shape_list *list);

/* Parameters of the linear layers, the embedding and other_parameters. Norms and biases are excluded, a tied
 * head is counted once. The list is the model's, in whatever form. */
double ulb_model_parameters(const struct ulb_model *model, const struct ulb_shape_list *list);

/* Active parameters as the model's publisher counts them (active_rule); without experts: all. */
double ulb_model_active_parameters(const struct ulb_model *model, const struct ulb_shape_list *list);

/* Bytes of keys and values after so many positions: of layers with a cache of their own, windows and latent
 * sizes included. NAN when the model's numbers do not give them. */
double ulb_model_kv_bytes(const struct ulb_model *model, double positions, double bytes_per_element);

/* What values a model's weights were trained to take: "ternary" (BitNet, Falcon-E, TriLM), "binary" (Bonsai),
 * else "". By the model's name, or by the norms that only BitNet's blocks have. */
const char *ulb_model_trained_as(const struct ulb_model *model);

/* ULB_BAD_INPUT names the first number that no model can have: sizes of 1 to 2^24, heads that kv_heads does
 * not divide, more active experts than experts... */
enum ulb_status ulb_model_check(const struct ulb_model *model, struct ulb_error *err);

void ulb_model_free(struct ulb_model *model);

/* The built-in catalogue. */
extern const struct ulb_model ulb_models[];
extern const size_t ulb_model_count;

/* By name or alias in any case and with any separators; NULL when unknown. */
const struct ulb_model *ulb_model_find(const char *name);

/* A model of the catalogue or, when no name fits, of a file: a config.json of Hugging Face or a folder with
 * one, or a GGUF file. ULB_BAD_INPUT when there is none, and when a file leaves out what nothing gives or
 * contradicts itself. To be freed with ulb_model_free(). */
enum ulb_status ulb_model_load(const char *name, struct ulb_model *model, struct ulb_error *err);

struct ulb_model_list {
    struct ulb_model *items;
    size_t n;
};

/* The models of a comma list: at least one, and none twice. The list may be freed after a failure too. */
enum ulb_status ulb_model_list_load(const char *names, struct ulb_model_list *list, struct ulb_error *err);
void ulb_model_list_free(struct ulb_model_list *list);

#endif
