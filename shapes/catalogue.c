/* Shapes derived from the models' own configurations: q/k/v and gate/up fused, M = output features. */
#include "shapes/shapes.h"

#include <string.h>

/* The four fused linear layers that every block of these architectures has, one of each per block. */
#define ULB_BLOCK_SHAPES(blocks, qkv_m, hidden_k, ffn)                                                       \
    .layers = (blocks), .hidden = (hidden_k), .n_shapes = 4,                                                 \
    .shapes = {{"qkv", (qkv_m), (hidden_k), (blocks), (blocks)},                                             \
               {"o", (hidden_k), (hidden_k), (blocks), (blocks)},                                            \
               {"gate_up", 2 * (ffn), (hidden_k), (blocks), (blocks)},                                       \
               {"down", (hidden_k), (ffn), (blocks), (blocks)}}

const struct ulb_model ulb_models[] = {
    {.name = "falcon3-1b",
     .title = "Falcon3-1B",
     .source = "tiiuae/Falcon3-1B-Instruct config",
     .vocab = 131072,
     ULB_BLOCK_SHAPES(18, 4096, 2048, 8192)},
    {.name = "mobilellm-1.5b",
     .title = "MobileLLM-1.5B",
     .source = "facebook/MobileLLM-1.5B model card",
     .vocab = 32000,
     .tied_head = true,
     ULB_BLOCK_SHAPES(54, 2240, 1600, 4352)},
    {.name = "llama3-8b",
     .title = "Llama3-8B",
     .source = "Llama-3.1-8B config",
     .vocab = 128256,
     ULB_BLOCK_SHAPES(32, 6144, 4096, 14336)},
    {.name = "bitnet-2b-4t",
     .title = "BitNet-2B-4T",
     .source = "microsoft/bitnet-b1.58-2B-4T config",
     .vocab = 128256,
     .tied_head = true,
     ULB_BLOCK_SHAPES(30, 3840, 2560, 6912)},
};
const size_t ulb_model_count = sizeof ulb_models / sizeof *ulb_models;

const struct ulb_model *ulb_model_find(const char *name)
{
    for (size_t i = 0; i < ulb_model_count; i++) {
        if (strcmp(ulb_models[i].name, name) == 0)
            return &ulb_models[i];
    }
    return NULL;
}

double ulb_model_parameters(const struct ulb_model *model)
{
    double head = (double)model->vocab * model->hidden;
    double sum = model->tied_head ? head : 2 * head;
    for (size_t i = 0; i < model->n_shapes; i++) {
        const struct ulb_layer_shape *shape = &model->shapes[i];
        sum += (double)shape->m * (double)shape->k * shape->count;
    }
    return sum;
}
