#include "shapes/family.h"

#include <stdio.h>
#include <string.h>

#define SWIGLU .norm = ULB_NORM_RMS, .function = ULB_FFN_SILU, .gated = true
#define GEGLU  .norm = ULB_NORM_RMS, .function = ULB_FFN_GELU, .gated = true
#define PLAIN  .norm = ULB_NORM_LAYER, .function = ULB_FFN_GELU

/* From the configuration classes of Hugging Face's transformers and the architectures of llama.cpp. */
static const struct ulb_family families[] = {
    {" llama ", " llama ", SWIGLU, .defaults = {32, 4096, 11008, 32, 32, 32000}},
    {" mistral ", "", SWIGLU, .defaults = {32, 4096, 14336, 32, 8, 32000}},
    {" mobilellm mixtral qwen2 granite granitemoe phimoe ministral ", " qwen2 granite granitemoe phimoe ",
     SWIGLU},
    {" internlm2 ", " internlm2 ", SWIGLU, .stored_qkv = true},
    {" minicpm ", " minicpm ", SWIGLU, .tied = ULB_TIED_SAID},
    {" smollm3 ", " smollm3 ", SWIGLU, .tied = ULB_TIED_YES},
    {" qwen3 ", " qwen3 ", SWIGLU, .qk_norm = true},
    {" qwen2_moe ", " qwen2moe ", SWIGLU, .experts_own_size = true},
    {" qwen3_moe ", " qwen3moe ", SWIGLU, .qk_norm = true, .experts_own_size = true},
    {" deepseek_v2 deepseek_v3 kimi_k2 ", " deepseek2 ", SWIGLU, .experts_own_size = true},
    {" gpt_oss ", " gpt-oss ", SWIGLU},
    {" olmo2 ", " olmo2 ", SWIGLU, .qk_norm = true, .post_norms = true},
    {" phi3 ", " phi3 ", SWIGLU, .stored_qkv = true, .stored_gate_up = true},
    {" bitnet ", " bitnet bitnet-25 bitnet-b1.58 ", .norm = ULB_NORM_RMS, .function = ULB_FFN_RELU2,
     .gated = true, .sub_norms = true, .tied = ULB_TIED_SAID},
    {" gemma ", " gemma ", GEGLU, .tied = ULB_TIED_YES, .default_head_dim = 256},
    {" gemma2 ", " gemma2 ", GEGLU, .tied = ULB_TIED_YES, .default_head_dim = 256, .post_norms = true},
    {" gemma3 gemma3_text ", " gemma3 ", GEGLU, .tied = ULB_TIED_YES, .default_head_dim = 256,
     .post_norms = true, .qk_norm = true, .defaults = {26, 2304, 9216, 8, 4, 262208}},
    {" stablelm ", " stablelm ", .norm = ULB_NORM_LAYER, .function = ULB_FFN_SILU, .gated = true,
     .rotated = 0.25},
    {" olmo ", " olmo ", .norm = ULB_NORM_LAYER, .function = ULB_FFN_SILU, .gated = true},
    {" cohere cohere2 ", " command-r cohere2 ", .norm = ULB_NORM_LAYER, .function = ULB_FFN_SILU,
     .gated = true, .parallel = true, .tied = ULB_TIED_YES},
    {" nemotron ", " nemotron ", .norm = ULB_NORM_LAYER, .function = ULB_FFN_RELU2, .rotated = 0.5},
    {" starcoder2 ", " starcoder2 ", PLAIN, .tied = ULB_TIED_YES},
    {" gptj ", " gptj ", PLAIN, .parallel = true},
    {" phi ", " phi2 ", PLAIN, .parallel = true, .rotated = 0.5},
    {" gpt_neox ", " gptneox ", PLAIN, .parallel = true, .stored_qkv = true, .rotated = 0.25},
    {" falcon ", " falcon ", PLAIN, .parallel = true, .stored_qkv = true, .tied = ULB_TIED_YES},
    {" gpt2 gpt_bigcode ", " gpt2 starcoder ", PLAIN, .stored_qkv = true, .unrotated = true,
     .tied = ULB_TIED_YES},
    {" bloom mpt ", " bloom mpt ", PLAIN, .stored_qkv = true, .unrotated = true, .tied = ULB_TIED_YES},
    {" opt ", "", .norm = ULB_NORM_LAYER, .function = ULB_FFN_RELU, .unrotated = true, .tied = ULB_TIED_YES},
};

/* True when the list has the word, with a blank on either side. */
static bool has_word(const char *list, const char *word)
{
    char wanted[64];
    int length = snprintf(wanted, sizeof wanted, " %s ", word);
    return word[0] && !strchr(word, ' ') && (size_t)length < sizeof wanted && strstr(list, wanted);
}

const struct ulb_family *ulb_family_of_type(const char *model_type)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (has_word(families[i].types, model_type))
            return &families[i];
    }
    return NULL;
}

const struct ulb_family *ulb_family_of_gguf(const char *architecture)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (has_word(families[i].gguf, architecture))
            return &families[i];
    }
    return NULL;
}

void ulb_family_apply(const struct ulb_family *family, struct ulb_model *model)
{
    model->norm = family->norm;
    model->function = family->function;
    model->gated = family->gated;
    model->parallel_block = family->parallel;
    model->qk_norm = family->qk_norm;
    model->post_norms = family->post_norms;
    model->sub_norms = family->sub_norms;
    model->stored_qkv = family->stored_qkv;
    model->stored_gate_up = family->stored_gate_up;
}
