#include "shapes/family.h"

#include <stdio.h>
#include <string.h>

#define SWIGLU .norm = ULB_NORM_RMS, .function = ULB_FFN_SILU, .gated = true
#define GEGLU  .norm = ULB_NORM_RMS, .function = ULB_FFN_GELU, .gated = true
#define PLAIN  .norm = ULB_NORM_LAYER, .function = ULB_FFN_GELU

#define EXPERTS SWIGLU, .experts_own_size = true

/* From the configuration classes of Hugging Face's transformers and the architectures of llama.cpp. */
static const struct ulb_family families[] = {
    {" llama ", " llama ", NULL, SWIGLU, .defaults = {32, 4096, 11008, 32, 0, 32000}},
    {" mistral ", "", NULL, SWIGLU, .defaults = {32, 4096, 14336, 32, 8, 32000}},
    {" mobilellm mixtral qwen2 granite granitemoe phimoe ministral ", " qwen2 granite granitemoe phimoe ",
     NULL, SWIGLU, .full_every = 1},
    {" ministral3 ", " mistral3 ", "head_dim", SWIGLU, .full_every = 1},
    {" seed_oss ernie4_5 internlm3 ", " seed_oss ernie4_5 internlm3 ", "head_dim", SWIGLU,
     .tied = ULB_TIED_SAID},
    {" hunyuan_v1_dense ", " hunyuan-dense ", "head_dim", SWIGLU, .qk_norm = true, .tied = ULB_TIED_SAID},
    {" mimo ", "", "num_nextn_predict_layers head_dim", SWIGLU, .tied = ULB_TIED_SAID},
    {" qwen2_vl qwen2_5_vl ", " qwen2vl ", "vision_config", SWIGLU, .full_every = 1},
    {" qwen3_vl_text ", " qwen3vl ", "head_dim", SWIGLU, .qk_norm = true},
    {" qwen3_vl_moe_text ", " qwen3vlmoe ", "head_dim num_experts", EXPERTS, .qk_norm = true,
     .active = ULB_ACTIVE_ALL},
    {" granitemoeshared ", "", "num_local_experts shared_intermediate_size", SWIGLU, .tied = ULB_TIED_SAID,
     .shared_size = true},
    {" internlm2 ", " internlm2 ", NULL, SWIGLU, .stored_qkv = true},
    {" minicpm ", " minicpm ", NULL, SWIGLU, .tied = ULB_TIED_SAID},
    {" minicpm3 ", " minicpm3 ", "qk_nope_head_dim qk_rope_head_dim", SWIGLU, .tied = ULB_TIED_SAID},
    {" smollm3 ", " smollm3 ", NULL, SWIGLU, .tied = ULB_TIED_YES, .full_every = 1},
    {" qwen3 ", " qwen3 ", NULL, SWIGLU, .qk_norm = true, .full_every = 1},
    {" qwen2_moe ", " qwen2moe ", NULL, EXPERTS, .active = ULB_ACTIVE_ALL, .full_every = 1},
    {" qwen3_moe ", " qwen3moe ", NULL, EXPERTS, .qk_norm = true, .active = ULB_ACTIVE_ALL, .full_every = 1},
    {" deepseek_v2 deepseek_v3 kimi_k2 ", " deepseek2 ", NULL, EXPERTS, .active = ULB_ACTIVE_NO_ROUTERS},
    {" deepseek_v32 glm_moe_dsa ", " glm-dsa ", "kv_lora_rank q_lora_rank index_n_heads index_head_dim",
     EXPERTS},
    {" glm4_moe_lite ", "", "kv_lora_rank", EXPERTS},
    {" deepseek ", " deepseek ", "n_routed_experts n_shared_experts", EXPERTS},
    {" glm4_moe ", " glm4moe ", "head_dim n_routed_experts", EXPERTS, .rotated = 0.5},
    {" bailing_moe bailing_moe_v2 ", " bailingmoe bailingmoe2 ", "num_experts moe_intermediate_size", EXPERTS,
     .stored_qkv = true, .tied = ULB_TIED_SAID},
    {" ernie4_5_moe ", " ernie4_5-moe ", "moe_num_experts moe_k", EXPERTS, .tied = ULB_TIED_SAID},
    {" minimax_m2 ", " minimax-m2 ", "head_dim num_local_experts", SWIGLU, .qk_norm = true},
    {" olmoe ", " olmoe ", "num_experts", SWIGLU, .qk_norm = true},
    {" gpt_oss ", " gpt-oss ", NULL, SWIGLU, .full_every = 2},
    {" llama4_text ", " llama4 ",
     "num_attention_heads num_key_value_heads intermediate_size_mlp num_local_experts", SWIGLU,
     .full_every = 4, .active = ULB_ACTIVE_ALL, .defaults = {48, 5120, 8192, 40, 8, 202048}},
    {" olmo2 ", " olmo2 ", NULL, SWIGLU, .qk_norm = true, .post_norms = true},
    {" olmo3 ", " olmo3 ", "layer_types", SWIGLU, .qk_norm = true, .post_norms = true, .full_every = 4},
    {" exaone4 ", " exaone4 ", "head_dim", SWIGLU, .qk_norm = true, .post_norms = true, .tied = ULB_TIED_SAID,
     .full_every = 4},
    {" glm4 ", " glm4 ", "head_dim", SWIGLU, .post_norms = true, .stored_gate_up = true, .rotated = 0.5},
    {" chatglm ", " chatglm ", "padded_vocab_size multi_query_attention", SWIGLU, .stored_qkv = true,
     .stored_gate_up = true, .rotated = 0.5},
    {" phi3 ", " phi3 ", NULL, SWIGLU, .stored_qkv = true, .stored_gate_up = true},
    {" bitnet ", " bitnet bitnet-25 bitnet-b1.58 ", NULL, .norm = ULB_NORM_RMS, .function = ULB_FFN_RELU2,
     .gated = true, .sub_norms = true, .tied = ULB_TIED_SAID},
    {" arcee ", " arcee ", "head_dim", .norm = ULB_NORM_RMS, .function = ULB_FFN_RELU2},
    {" apertus ", " apertus ", "qk_norm", .norm = ULB_NORM_RMS, .function = ULB_FFN_OTHER, .qk_norm = true},
    {" gemma ", " gemma ", NULL, GEGLU, .tied = ULB_TIED_YES, .default_head_dim = 256},
    {" gemma2 ", " gemma2 ", NULL, GEGLU, .tied = ULB_TIED_YES, .default_head_dim = 256, .post_norms = true,
     .full_every = 2},
    {" gemma3 gemma3_text ", " gemma3 ", NULL, GEGLU, .tied = ULB_TIED_YES, .default_head_dim = 256,
     .post_norms = true, .qk_norm = true, .full_every = 6, .defaults = {26, 2304, 9216, 8, 4, 262208}},
    {" gemma3n_text ", " gemma3n ", "laurel_rank altup_num_inputs hidden_size_per_layer_input", GEGLU,
     .tied = ULB_TIED_YES, .default_head_dim = 256, .post_norms = true, .qk_norm = true, .full_every = 5,
     .per_layer_inputs = true},
    {" stablelm ", " stablelm ", NULL, .norm = ULB_NORM_LAYER, .function = ULB_FFN_SILU, .gated = true,
     .rotated = 0.25},
    {" olmo ", " olmo ", NULL, .norm = ULB_NORM_LAYER, .function = ULB_FFN_SILU, .gated = true},
    {" cohere ", " command-r ", NULL, .norm = ULB_NORM_LAYER, .function = ULB_FFN_SILU, .gated = true,
     .parallel = true, .tied = ULB_TIED_YES},
    {" cohere2 ", " cohere2 ", NULL, .norm = ULB_NORM_LAYER, .function = ULB_FFN_SILU, .gated = true,
     .parallel = true, .tied = ULB_TIED_YES, .full_every = 4},
    {" nemotron ", " nemotron ", NULL, .norm = ULB_NORM_LAYER, .function = ULB_FFN_RELU2, .rotated = 0.5},
    {" starcoder2 ", " starcoder2 ", NULL, PLAIN, .tied = ULB_TIED_YES},
    {" gptj ", " gptj ", NULL, PLAIN, .parallel = true},
    {" codegen ", "", "rotary_dim n_embd", PLAIN, .parallel = true, .stored_qkv = true},
    {" phi ", " phi2 ", NULL, PLAIN, .parallel = true, .rotated = 0.5},
    {" gpt_neox ", " gptneox ", NULL, PLAIN, .parallel = true, .stored_qkv = true, .rotated = 0.25},
    {" falcon ", " falcon ", NULL, PLAIN, .parallel = true, .stored_qkv = true, .tied = ULB_TIED_YES},
    {" RefinedWebModel RefinedWeb ", "", "multi_query n_head", PLAIN, .parallel = true, .stored_qkv = true,
     .tied = ULB_TIED_YES},
    {" gpt2 gpt_bigcode ", " gpt2 starcoder ", NULL, PLAIN, .stored_qkv = true, .unrotated = true,
     .tied = ULB_TIED_YES},
    {" bloom mpt ", " bloom mpt ", NULL, PLAIN, .stored_qkv = true, .unrotated = true, .tied = ULB_TIED_YES},
    {" opt ", "", NULL, .norm = ULB_NORM_LAYER, .function = ULB_FFN_RELU, .unrotated = true,
     .tied = ULB_TIED_YES},
    /* Layers with a recurrent state. */
    {" qwen3_next ", " qwen3next ", "head_dim linear_num_key_heads linear_num_value_heads", EXPERTS,
     .qk_norm = true, .gated_query = true, .mixer = ULB_MIXER_DELTA_NET, .active = ULB_ACTIVE_ALL,
     .rotated = 0.25},
    {" qwen3_5_text ", " qwen35 ", "head_dim linear_num_key_heads linear_num_value_heads intermediate_size",
     SWIGLU, .qk_norm = true, .gated_query = true, .mixer = ULB_MIXER_DELTA_NET_SPLIT, .rotated = 0.25},
    {" qwen3_5_moe_text ", " qwen35moe ", "head_dim linear_num_key_heads linear_num_value_heads num_experts",
     EXPERTS, .qk_norm = true, .gated_query = true, .mixer = ULB_MIXER_DELTA_NET_SPLIT,
     .active = ULB_ACTIVE_ALL, .rotated = 0.25},
    {" lfm2 ", " lfm2 ", "conv_L_cache", SWIGLU, .qk_norm = true, .tied = ULB_TIED_YES,
     .mixer = ULB_MIXER_CONV},
    {" lfm2_moe ", " lfm2moe ", "conv_L_cache num_experts", EXPERTS, .qk_norm = true, .tied = ULB_TIED_YES,
     .mixer = ULB_MIXER_CONV},
    {" falcon_h1 ", " falcon-h1 ", "head_dim mamba_d_ssm mamba_d_state mamba_n_heads", SWIGLU,
     .mixer = ULB_MIXER_MAMBA2, .mixer_everywhere = true},
    {" granitemoehybrid ", " granitehybrid ", "layer_types shared_intermediate_size mamba_n_heads", SWIGLU,
     .shared_size = true, .tied = ULB_TIED_SAID, .mixer = ULB_MIXER_MAMBA2},
    {" nemotron_h ", " nemotron_h nemotron_h_moe ", "mamba_num_heads ssm_state_size", .norm = ULB_NORM_RMS,
     .function = ULB_FFN_RELU2, .experts_own_size = true, .mixer = ULB_MIXER_MAMBA2,
     .one_part_a_layer = true},
    {" mamba2 ", " mamba2 ", "state_size num_heads head_dim", .norm = ULB_NORM_RMS, .mixer = ULB_MIXER_MAMBA2,
     .mixer_everywhere = true, .attentionless = true, .one_part_a_layer = true},
    {" mamba ", " mamba ", "state_size time_step_rank", .norm = ULB_NORM_RMS, .mixer = ULB_MIXER_MAMBA,
     .mixer_everywhere = true, .attentionless = true, .one_part_a_layer = true, .tied = ULB_TIED_YES},
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
    model->gated_query = family->gated_query;
    model->active_rule = family->active;
}
