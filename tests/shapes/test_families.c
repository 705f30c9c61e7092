/* Families with layers of their own kind: the matrices, parameters and cache that published figures give, and
 * the keys that must not go unread. */
#include "shapes/load.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ulb_error err;

static enum ulb_status parse(const char *text, struct ulb_model *model)
{
    *model = (struct ulb_model){.layers = 0};
    enum ulb_status status = ulb_config_parse(text, strlen(text), model, &err);
    return status == ULB_OK ? ulb_model_check(model, &err) : status;
}

#define LIST4(a) a ", " a ", " a ", " a
#define SIZES(hidden, layers, vocab)                                                                         \
    "\"hidden_size\": " #hidden ", \"num_hidden_layers\": " #layers ", \"vocab_size\": " #vocab ", "
#define HEADS(heads, kv, dim)                                                                                \
    "\"num_attention_heads\": " #heads ", \"num_key_value_heads\": " #kv ", \"head_dim\": " #dim ", "
#define UNTIED "\"tie_word_embeddings\": false}"
#define TIED   "\"tie_word_embeddings\": true}"

static const struct {
    const char *name, *text;
    double parameters, active; /* 1e9, as published; active 0: not published, or all */
    const char *matrices;      /* some of them: "layer MxK count; " */
    double kv_bytes;           /* of 32768 positions in bf16; 0: not judged */
} families[] = {
    {"Qwen3-Next-80B-A3B",
     "{\"model_type\": \"qwen3_next\", " SIZES(2048, 48, 151936) HEADS(
         16, 2,
         256) "\"intermediate_size\": 5120, \"moe_intermediate_size\": 512, "
              "\"shared_expert_intermediate_size\": 512, "
              "\"num_experts\": 512, \"num_experts_per_tok\": 10, \"decoder_sparse_step\": 1, "
              "\"mlp_only_layers\": [], "
              "\"full_attention_interval\": 4, \"linear_conv_kernel_dim\": 4, \"linear_key_head_dim\": 128, "
              "\"linear_num_key_heads\": 16, \"linear_num_value_heads\": 32, \"linear_value_head_dim\": "
              "128, " UNTIED,
     79.67, 3.87, "q 8192x2048 12; delta.qkvz 12288x2048 36; delta.ba 64x2048 36; delta.out 2048x4096 36; ",
     12 * 2 * 512 * 2.0 * 32768},
    {"Qwen3.5-27B",
     "{\"model_type\": \"qwen3_5\", \"text_config\": {\"model_type\": \"qwen3_5_text\", " SIZES(5120, 64,
                                                                                                248320)
         HEADS(
             24, 4,
             256) "\"intermediate_size\": 17408, \"full_attention_interval\": 4, \"attn_output_gate\": true, "
                  "\"linear_conv_kernel_dim\": 4, \"linear_key_head_dim\": 128, \"linear_num_key_heads\": "
                  "16, "
                  "\"linear_num_value_heads\": 48, \"linear_value_head_dim\": 128, "
                  "\"mtp_num_hidden_layers\": 1, " UNTIED ", "
                  "\"vision_config\": {\"hidden_size\": 1152, \"depth\": 27}}",
     26.9, 0,
     "q 12288x5120 16; delta.qkv 10240x5120 48; delta.z 6144x5120 48; delta.b 48x5120 48; "
     "delta.out 5120x6144 48; ",
     16 * 2 * 1024 * 2.0 * 32768},
    {"LFM2-1.2B",
     "{\"model_type\": \"lfm2\", " SIZES(
         2048, 16,
         65536) "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"block_auto_adjust_ff_dim\": "
                "true, "
                "\"block_ff_dim\": 12288, \"block_ffn_dim_multiplier\": 1.0, \"block_multiple_of\": 256, "
                "\"conv_L_cache\": 3, \"conv_dim\": 2048, \"block_dim\": 2048, "
                "\"conv_bias\": false, \"full_attn_idxs\": [2, 5, 8, 10, 12, 14], \"tie_embedding\": true}",
     1.17, 0, "q 2048x2048 6; gate 8192x2048 16; conv.in 6144x2048 10; conv.out 2048x2048 10; ",
     6 * 2 * 512 * 2.0 * 32768},
    {"Falcon-H1-7B",
     "{\"model_type\": \"falcon_h1\", " SIZES(3072, 44, 130048)
         HEADS(12, 2,
               128) "\"intermediate_size\": 12288, \"mamba_d_ssm\": 3072, \"mamba_d_state\": 256, "
                    "\"mamba_n_heads\": 24, "
                    "\"mamba_d_head\": 128, \"mamba_n_groups\": 1, \"mamba_d_conv\": 4, \"mamba_expand\": 2, "
                    "\"mamba_chunk_size\": 256, \"mlp_expansion_factor\": 8, \"ssm_multipliers\": [1, 2, 3, "
                    "4, 5], " UNTIED,
     7.59, 0, "q 1536x3072 44; ssm.in 6680x3072 44; ssm.out 3072x3072 44; down 3072x12288 44; ",
     44 * 2 * 256 * 2.0 * 32768},
    {"Nemotron-H-8B",
     "{\"model_type\": \"nemotron_h\", " SIZES(
         4096, 52,
         131072) "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"attention_head_dim\": 128, "
                 "\"intermediate_size\": 21504, \"hybrid_override_pattern\": "
                 "\"M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-\", \"mamba_num_heads\": 128, "
                 "\"mamba_head_dim\": 64, "
                 "\"ssm_state_size\": 128, \"n_groups\": 8, \"conv_kernel\": 4, \"expand\": 2, "
                 "\"chunk_size\": 128, "
                 "\"mlp_hidden_act\": \"relu2\", " UNTIED,
     8.10, 0, "q 4096x4096 4; ssm.in 18560x4096 24; ssm.out 4096x8192 24; up 21504x4096 24; ",
     4 * 2 * 1024 * 2.0 * 32768},
    {"Granite-4.0-H-Small",
     "{\"model_type\": \"granitemoehybrid\", " SIZES(
         4096, 40,
         100352) "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"intermediate_size\": 768, "
                 "\"shared_intermediate_size\": 1536, \"num_local_experts\": 72, \"num_experts_per_tok\": "
                 "10, "
                 "\"mamba_n_heads\": 128, \"mamba_d_head\": 64, \"mamba_d_state\": 128, \"mamba_n_groups\": "
                 "1, "
                 "\"mamba_d_conv\": 4, \"mamba_expand\": 2, \"position_embedding_type\": \"nope\", "
                 "\"layer_types\": [" LIST4("\"mamba\", \"mamba\", \"mamba\", \"mamba\", \"mamba\", "
                                            "\"attention\", \"mamba\", \"mamba\", "
                                            "\"mamba\", \"mamba\"") "], " TIED,
     32.2, 9, "q 4096x4096 4; ssm.in 16768x4096 36; shared.up 1536x4096 40; router 72x4096 40; ",
     4 * 2 * 1024 * 2.0 * 32768},
    {"Granite-4.0-Micro-H", /* no experts: the shared network is the only one */
     "{\"model_type\": \"granitemoehybrid\", " SIZES(
         2048, 40,
         100352) "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"intermediate_size\": 8192, "
                 "\"shared_intermediate_size\": 8192, \"num_local_experts\": 0, \"num_experts_per_tok\": 0, "
                 "\"mamba_n_heads\": 64, \"mamba_d_head\": 64, \"mamba_d_state\": 128, \"mamba_n_groups\": "
                 "1, "
                 "\"mamba_d_conv\": 4, \"mamba_expand\": 2, \"layer_types\": [" LIST4(
                     "\"mamba\", \"mamba\", \"mamba\", \"mamba\", \"mamba\", \"attention\", \"mamba\", "
                     "\"mamba\", "
                     "\"mamba\", \"mamba\"") "], " TIED,
     3.19, 0, "ssm.in 8512x2048 36; gate 8192x2048 40; ", 0},
    {"Mamba-Codestral-7B",
     "{\"model_type\": \"mamba2\", " SIZES(
         4096, 64, 32768) "\"state_size\": 128, \"num_heads\": 128, \"head_dim\": 64, \"n_groups\": 8, "
                          "\"conv_kernel\": 4, "
                          "\"expand\": 2, \"chunk_size\": 256, \"hidden_act\": \"silu\", " UNTIED,
     7.285, 0, "ssm.in 18560x4096 64; ssm.out 4096x8192 64; ", 0},
    {"mamba-2.8b",
     "{\"model_type\": \"mamba\", " SIZES(
         2560, 64, 50280) "\"intermediate_size\": 5120, \"state_size\": 16, \"time_step_rank\": 160, "
                          "\"conv_kernel\": 4, \"expand\": 2, " TIED,
     2.768, 0, "ssm.in 10240x2560 64; ssm.x 192x5120 64; ssm.dt 5120x160 64; ssm.out 2560x5120 64; ", 0},
    {"Llama-4-Scout",
     "{\"model_type\": \"llama4\", \"text_config\": {\"model_type\": \"llama4_text\", " SIZES(5120, 48,
                                                                                              202048)
         HEADS(
             40, 8,
             128) "\"intermediate_size\": 8192, \"intermediate_size_mlp\": 16384, \"num_local_experts\": 16, "
                  "\"num_experts_per_tok\": 1, \"interleave_moe_layer_step\": 1, \"attention_chunk_size\": "
                  "8192, "
                  "\"no_rope_layers\": [1, 1, 1, 0], \"use_qk_norm\": true, " UNTIED "}",
     107.77, 17, "router 16x5120 48; shared.down 5120x8192 48; expert.up 8192x5120 768; ",
     12 * 2 * 1024 * 2.0 * 32768 + 36 * 2 * 1024 * 2.0 * 8192},
    {"Llama-4-Maverick",
     "{\"model_type\": \"llama4\", \"text_config\": {\"model_type\": \"llama4_text\", " SIZES(
         5120, 48, 202048) HEADS(40, 8, 128) "\"intermediate_size\": 8192, \"intermediate_size_mlp\": 16384, "
                                             "\"num_local_experts\": 128, "
                                             "\"num_experts_per_tok\": 1, \"interleave_moe_layer_step\": 2, "
                                             "\"use_qk_norm\": false, " UNTIED "}",
     400.7, 17, "gate 16384x5120 24; router 128x5120 24; expert.up 8192x5120 3072; ", 0},
    {"gemma-3n-E2B",
     "{\"model_type\": \"gemma3n\", \"text_config\": {\"model_type\": \"gemma3n_text\", " SIZES(2048, 30,
                                                                                                262400)
         HEADS(8, 2, 256) "\"intermediate_size\": 8192, \"altup_num_inputs\": 4, \"laurel_rank\": 64, "
                          "\"hidden_size_per_layer_input\": 256, \"vocab_size_per_layer_input\": 262144, "
                          "\"num_kv_shared_layers\": 10, "
                          "\"sliding_window\": 512, \"activation_sparsity_pattern\": [0.95, 0.0]}}",
     4.46, 0, "altup.proj 2048x2048 6; laurel.left 64x2048 30; per_layer.model 7680x2048 1; ",
     4 * 2 * 512 * 2.0 * 32768 + 16 * 2 * 512 * 2.0 * 512},
    {"GLM-4.5-Air",
     "{\"model_type\": \"glm4_moe\", " SIZES(4096, 46, 151552) HEADS(
         96, 8,
         128) "\"intermediate_size\": 10944, \"moe_intermediate_size\": 1408, \"n_routed_experts\": 128, "
              "\"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"first_k_dense_replace\": 1, "
              "\"num_nextn_predict_layers\": 1, \"use_qk_norm\": false, \"partial_rotary_factor\": "
              "0.5, " UNTIED,
     106.85, 0, "q 12288x4096 46; gate 10944x4096 1; shared.up 1408x4096 45; ", 0},
    {"MiniMax-M2",
     "{\"model_type\": \"minimax_m2\", " SIZES(3072, 62, 200064)
         HEADS(48, 8, 128) "\"intermediate_size\": 1536, \"num_local_experts\": 256, "
                           "\"num_experts_per_tok\": 8, \"rotary_dim\": 64, "
                           "\"shared_intermediate_size\": 0, \"num_mtp_modules\": 3, \"use_mtp\": true, "
                           "\"mtp_transformer_layers\": 1, "
                           "\"use_routing_bias\": true, " UNTIED,
     228.7, 10, "router 256x3072 62; expert.down 3072x1536 15872; ", 0},
    {"DeepSeek-V3.2",
     "{\"model_type\": \"deepseek_v32\", " SIZES(
         7168, 61,
         129280) "\"num_attention_heads\": 128, \"num_key_value_heads\": 128, \"intermediate_size\": 18432, "
                 "\"kv_lora_rank\": 512, \"q_lora_rank\": 1536, \"qk_nope_head_dim\": 128, "
                 "\"qk_rope_head_dim\": 64, "
                 "\"v_head_dim\": 128, \"first_k_dense_replace\": 3, \"moe_layer_freq\": 1, "
                 "\"n_routed_experts\": 256, "
                 "\"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"moe_intermediate_size\": 2048, "
                 "\"index_head_dim\": 128, \"index_n_heads\": 64, \"index_topk\": 2048, "
                 "\"num_nextn_predict_layers\": 1, " UNTIED,
     671.88, 37.4, "index.q_b 8192x1536 61; index.k 128x7168 61; index.weights 64x7168 61; ",
     61 * (512 + 64 + 128) * 2.0 * 32768},
    {"gpt-oss-20b",
     "{\"model_type\": \"gpt_oss\", " SIZES(2880, 24, 201088) HEADS(
         64, 8, 64) "\"intermediate_size\": 2880, \"num_local_experts\": 32, \"experts_per_token\": 4, "
                    "\"num_experts_per_tok\": 4, \"sliding_window\": 128, \"swiglu_limit\": 7.0, " UNTIED,
     20.91, 3.61, "router 32x2880 24; ", 12 * 2 * 512 * 2.0 * (32768 + 128)},
    /* Of the last year. */
    {"Qwen3.5-397B-A17B",
     "{\"model_type\": \"qwen3_5_moe\", \"text_config\": {\"model_type\": \"qwen3_5_moe_text\", " SIZES(
         4096, 60, 248320)
         HEADS(32, 2, 256) "\"moe_intermediate_size\": 1024, "
                           "\"shared_expert_intermediate_size\": 1024, \"num_experts\": 512, "
                           "\"num_experts_per_tok\": 10, "
                           "\"full_attention_interval\": 4, \"attn_output_gate\": true, "
                           "\"linear_conv_kernel_dim\": 4, "
                           "\"linear_key_head_dim\": 128, \"linear_num_key_heads\": 16, "
                           "\"linear_num_value_heads\": 64, "
                           "\"linear_value_head_dim\": 128, \"mtp_num_hidden_layers\": 1, " UNTIED "}",
     397, 17, "q 16384x4096 15; delta.qkv 12288x4096 45; delta.z 8192x4096 45; shared.up 1024x4096 60; ", 0},
    {"GLM-5",
     "{\"model_type\": \"glm_moe_dsa\", " SIZES(
         6144, 78,
         154880) "\"num_attention_heads\": 64, \"num_key_value_heads\": 64, \"intermediate_size\": 12288, "
                 "\"kv_lora_rank\": 512, \"q_lora_rank\": 2048, \"qk_nope_head_dim\": 192, "
                 "\"qk_rope_head_dim\": 64, "
                 "\"qk_head_dim\": 256, \"v_head_dim\": 256, \"first_k_dense_replace\": 3, "
                 "\"n_routed_experts\": 256, "
                 "\"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"moe_intermediate_size\": 2048, "
                 "\"index_head_dim\": 128, \"index_n_heads\": 32, \"index_topk\": 2048, "
                 "\"num_nextn_predict_layers\": 1, " UNTIED,
     744, 40, "q_b 16384x2048 78; kv_b 28672x512 78; index.q_b 4096x2048 78; gate 12288x6144 3; ", 0},
    {"GLM-4.7-Flash",
     "{\"model_type\": \"glm4_moe_lite\", " SIZES(
         2048, 47,
         154880) "\"num_attention_heads\": 20, \"num_key_value_heads\": 20, \"intermediate_size\": 10240, "
                 "\"kv_lora_rank\": 512, \"q_lora_rank\": 768, \"qk_nope_head_dim\": 192, "
                 "\"qk_rope_head_dim\": 64, "
                 "\"v_head_dim\": 256, \"first_k_dense_replace\": 1, \"n_routed_experts\": 64, "
                 "\"n_shared_experts\": 1, "
                 "\"num_experts_per_tok\": 4, \"moe_intermediate_size\": 1536, \"num_nextn_predict_layers\": "
                 "1, " UNTIED,
     30, 0, "q_b 5120x768 47; o 2048x5120 47; expert.up 1536x2048 2944; ", 47 * (512 + 64) * 2.0 * 32768},
    {"Nemotron-3-Nano-30B-A3B",
     "{\"model_type\": \"nemotron_h\", " SIZES(2688, 52, 131072) HEADS(
         32, 2, 128) "\"intermediate_size\": 1856, \"hybrid_override_pattern\": "
                     "\"MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME\", \"mamba_num_heads\": 64, "
                     "\"mamba_head_dim\": 64, \"ssm_state_size\": 128, \"n_groups\": 8, \"conv_kernel\": 4, "
                     "\"expand\": 2, "
                     "\"n_routed_experts\": 128, \"n_shared_experts\": 1, \"num_experts_per_tok\": 6, "
                     "\"moe_intermediate_size\": 1856, \"moe_shared_expert_intermediate_size\": 3712, "
                     "\"mlp_hidden_act\": \"relu2\", \"routed_scaling_factor\": 2.5, " UNTIED,
     31.6, 3.2, "ssm.in 10304x2688 23; q 4096x2688 6; expert.up 1856x2688 2944; shared.down 2688x3712 23; ",
     6 * 2 * 256 * 2.0 * 32768},
    {"Olmo-3-7B",
     "{\"model_type\": \"olmo3\", " SIZES(
         4096, 32,
         100278) "\"num_attention_heads\": 32, \"num_key_value_heads\": 32, \"intermediate_size\": 11008, "
                 "\"sliding_window\": 4096, \"layer_types\": [" LIST4(
                     "\"sliding_attention\", \"sliding_attention\", \"sliding_attention\", "
                     "\"full_attention\"") ", " LIST4("\"sliding_attention\", \"sliding_attention\", "
                                                      "\"sliding_attention\", \"full_attention\"") "],"
                                                                                                   " " UNTIED,
     7.298, 0, "down 4096x11008 32; ", 8 * 2 * 4096 * 2.0 * 32768 + 24 * 2 * 4096 * 2.0 * 4096},
    {"Ministral-3-3B",
     "{\"model_type\": \"mistral3\", \"text_config\": {\"model_type\": \"ministral3\", " SIZES(3072, 26,
                                                                                               131072)
         HEADS(32, 8, 128) "\"intermediate_size\": 9216, \"sliding_window\": null, " TIED ", "
                           "\"vision_config\": {\"hidden_size\": 1024, \"intermediate_size\": 4096, "
                           "\"num_hidden_layers\": 24}}",
     3.429, 0, "q 4096x3072 26; ", 0},
    {"Kimi-K2.5",
     "{\"model_type\": \"kimi_k25\", \"text_config\": {\"model_type\": \"kimi_k2\", " SIZES(
         7168, 61,
         163840) "\"num_attention_heads\": 64, \"num_key_value_heads\": 64, \"intermediate_size\": 18432, "
                 "\"kv_lora_rank\": 512, \"q_lora_rank\": 1536, \"qk_nope_head_dim\": 128, "
                 "\"qk_rope_head_dim\": 64, "
                 "\"v_head_dim\": 128, \"first_k_dense_replace\": 1, \"moe_layer_freq\": 1, "
                 "\"n_routed_experts\": 384, "
                 "\"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"moe_intermediate_size\": 2048, "
                 "\"num_nextn_predict_layers\": 0, " UNTIED
                 ", \"vision_config\": {\"vt_hidden_size\": 1152}}",
     1026.4, 32, "q_b 12288x1536 61; ", 0},
};

static bool holds(const struct ulb_shape_list *list, const char *text, size_t length)
{
    char one[96];
    for (size_t i = 0; i < list->n; i++) {
        const struct ulb_layer_shape *shape = &list->items[i];
        snprintf(one, sizeof one, "%s %zux%zu %u", shape->layer, shape->m, shape->k, shape->count);
        if (strlen(one) == length && strncmp(one, text, length) == 0)
            return true;
    }
    return false;
}

static void published_figures(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        struct ulb_model model;
        struct ulb_shape_list list;
        if (parse(families[i].text, &model) != ULB_OK)
            fail_msg("%s: %s", families[i].name, err.message);
        assert_int_equal(ulb_model_shapes(&model, ULB_FORM_STORED, &list, &err), ULB_OK);
        double parameters = ulb_model_parameters(&model, &list) / 1e9;
        double active = ulb_model_active_parameters(&model, &list) / 1e9;
        if (fabs(parameters / families[i].parameters - 1) > 0.005)
            fail_msg("%s: %.3f of %.3f", families[i].name, parameters, families[i].parameters);
        if (families[i].active > 0 && fabs(active / families[i].active - 1) > 0.05)
            fail_msg("%s: %.3f active of %.3f", families[i].name, active, families[i].active);
        for (const char *at = families[i].matrices; *at; at += strcspn(at, ";") + 2) {
            if (!holds(&list, at, strcspn(at, ";")))
                fail_msg("%s has no %.*s", families[i].name, (int)strcspn(at, ";"), at);
        }
        double cache = ulb_model_kv_bytes(&model, 32768, 2);
        if (families[i].kv_bytes > 0 && cache != families[i].kv_bytes)
            fail_msg("%s: keys and values take %.0f, not %.0f bytes", families[i].name, cache,
                     families[i].kv_bytes);
        free(list.items);
    }
}

#define PLAIN                                                                                                \
    "\"hidden_size\": 64, \"intermediate_size\": 128, \"num_attention_heads\": 4, \"num_hidden_layers\": "   \
    "2, "                                                                                                    \
    "\"vocab_size\": 100, \"tie_word_embeddings\": false"
#define LLAMA "{\"model_type\": \"llama\", " PLAIN

static void unread_keys(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word; /* what the refusal or `derived` says */
        bool refused;
    } cases[] = {
        {LLAMA ", \"mamba_d_ssm\": 96}", "mamba_d_ssm is 96", true},
        {LLAMA ", \"conv_dim\": 64}", "conv_dim is 64", true},
        {LLAMA ", \"mlp_type\": \"gated\"}", "mlp_type is", true},
        {LLAMA ", \"mlp_type\": \"default\"}", "", false},
        {LLAMA ", \"d_conv\": 4}", "d_conv is 4", true},
        {LLAMA ", \"conv_kernel\": 4}", "conv_kernel is 4", true},
        {LLAMA ", \"experts_per_token\": 2}", "experts_per_token is 2", true},
        {LLAMA ", \"ffn_config\": {\"moe_num_experts\": 16}}", "ffn_config.moe_num_experts", true},
        {LLAMA ", \"num_experts\": 4, \"num_experts_per_tok\": 1, \"mlp_layer_types\": [\"dense\", \"odd\"]}",
         "layer 1 is neither dense nor sparse", true},
        {LLAMA
         ", \"num_experts\": 4, \"num_experts_per_tok\": 1, \"mlp_layer_types\": [\"sparse\", \"dense\"]}",
         "1 layers are dense", false},
        {LLAMA ", \"num_experts\": 4, \"num_experts_per_tok\": 1, \"num_shared_experts\": 2, "
               "\"shared_expert_intermediate_size\": 64}",
         "whether it is that of each", true},
        {LLAMA ", \"attn_type_list\": [1, 0]}", "attn_type_list", true},
        {LLAMA ", \"engram_layers\": [1, 2]}", "engram_layers", true},
        {LLAMA ", \"loop_count\": 2}", "loop_count", true},
        {LLAMA ", \"ffn_gated\": {\"layers\": 3}}", "ffn_gated.layers", true},
        {LLAMA ", \"tie_projections\": false}", "tie_projections", true},
        {LLAMA ", \"layer_types\": [\"full_attention\", \"linear_attention\"]}",
         "layers \"linear_attention\"", true},
        {LLAMA ", \"layer_types\": [\"full_attention\"]}", "layer_types names 1 layers", true},
        {LLAMA ", \"block_pattern\": \"ab\"}", "block_pattern", true},
        {LLAMA ", \"shared_intermediate_size\": 96}", "shared_intermediate_size", true},
        {LLAMA ", \"use_residual_mlp\": true}", "use_residual_mlp", true},
        {LLAMA ", \"moe\": {\"num_experts\": 4, \"num_experts_per_tok\": 1, \"hyper_dim\": 3}}",
         "moe.hyper_dim", true},
        {LLAMA ", \"moe\": {\"num_experts\": 4}, \"num_local_experts\": 8}", "disagree", true},
        {LLAMA ", \"architectures\": [\"LlamaForCausalLMEagle3\"]}", "draft", true},
        /* Of the last year, with layers that are not known: refused by type, or by key where the type is
           changed. */
        {"{\"model_type\": \"mimo_v2_flash\", " PLAIN "}", "\"mimo_v2_flash\" is not known", true},
        {LLAMA ", \"swa_num_attention_heads\": 64, \"hybrid_layer_pattern\": [0, 1]}", "is not read", true},
        {"{\"model_type\": \"gemma4\", \"text_config\": {\"model_type\": \"gemma4_text\", " PLAIN "}}",
         "\"gemma4_text\" is not known", true},
        {"{\"model_type\": \"kimi_linear\", " PLAIN "}", "\"kimi_linear\" is not known", true},
        {LLAMA ", \"linear_attn_config\": {\"num_heads\": 32, \"kda_layers\": [1]}}", "linear_attn_config",
         true},
        {LLAMA ", \"attn_res_block_size\": 4}", "attn_res_block_size", true},
        {"{\"model_type\": \"qwen3_next\", " PLAIN "}", "head_dim is missing, which every", true},
        {"{\"model_type\": \"nemotron_h\", " PLAIN
         ", \"hybrid_override_pattern\": \"MX\", \"mamba_num_heads\": 2, "
         "\"ssm_state_size\": 8, \"moe_intermediate_size\": 8}",
         "layer 1 is none", true},
        {LLAMA ", \"mamba_d_ssm\": 0, \"num_extra_experts\": null, \"use_layer_x\": false}", "", false},
        {LLAMA ", \"warmup_steps\": 20}", "not read: warmup_steps", false},
        {LLAMA ", \"trainer\": {\"note\": \"x\"}}", "not read: trainer", false},
        {LLAMA
         ", \"rope_scaling\": {\"factor\": 8.0}, \"attention_dropout\": 0.1, \"torch_dtype\": \"bfloat16\", "
         "\"max_position_embeddings\": 4096, \"mlp_bias\": false, \"initializer_range\": NaN}",
         "", false},
        {LLAMA ", \"architectures\": [\"LlamaModel\"]}", "no lm_head", false},
        {LLAMA ", \"num_nextn_predict_layers\": 2}", "2 blocks that predict further tokens left out (0.00e9)",
         false},
        {LLAMA ", \"vision_config\": {\"hidden_size\": 1000, \"num_hidden_layers\": 10, "
               "\"intermediate_size\": 4000}}",
         "vision tower left out (0.12e9 in its blocks)", false},
        {"{\"model_type\": \"paligemma\", \"hidden_size\": 99, \"text_config\": {\"model_type\": "
         "\"gemma\", " PLAIN "}}",
         "not read, around the text model: hidden_size 99", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ulb_model model;
        enum ulb_status status = parse(cases[i].text, &model);
        if (status != (cases[i].refused ? ULB_BAD_INPUT : ULB_OK))
            fail_msg("status %d (%s): %s", status, err.message, cases[i].text);
        if (!strstr(cases[i].refused ? err.message : model.derived, cases[i].word))
            fail_msg("'%s' does not say '%s'", cases[i].refused ? err.message : model.derived, cases[i].word);
        if (!cases[i].refused && strstr(model.derived, "not read") && !strstr(cases[i].word, "not read"))
            fail_msg("'%s' of %s", model.derived, cases[i].text);
    }
}

/* Experts, ties and key heads that stand in objects of their own or under other names. */
static void nested_keys(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned experts, kv_heads;
        bool tied;
    } cases[] = {
        {"{\"dim\": 64, \"n_layers\": 2, \"n_heads\": 4, \"hidden_dim\": 128, \"vocab_size\": 100, \"moe\": "
         "{\"num_experts\": 8, \"num_experts_per_tok\": 2}}",
         8, 4, false},
        {"{\"dim\": 64, \"n_layers\": 2, \"n_heads\": 4, \"hidden_dim\": 128, \"vocab_size\": 100, "
         "\"tied_embeddings\": true}",
         0, 4, true},
        {"{\"dim\": 64, \"n_layers\": 2, \"n_heads\": 4, \"hidden_dim\": 128, \"vocab_size\": 100, "
         "\"moe_enabled\": "
         "false, \"moe_args\": {\"num_experts\": 8}, \"enable_weight_tying\": true}",
         0, 4, true},
        {"{\"dim\": 2048, \"n_layers\": 2, \"n_heads\": 4, \"hidden_dim\": 128, \"vocab_size\": 100, "
         "\"use_scaled_rope\": true}",
         0, 4, true},
        {"{\"model_type\": \"mpt\", \"d_model\": 64, \"n_heads\": 4, \"n_layers\": 2, \"vocab_size\": 100, "
         "\"attn_config\": {\"kv_n_heads\": 2, \"attn_type\": \"grouped_query_attention\"}}",
         0, 2, true},
        {"{\"model_type\": \"mpt\", \"d_model\": 64, \"n_heads\": 4, \"n_layers\": 2, \"vocab_size\": 100, "
         "\"attn_config\": {\"attn_type\": \"multiquery_attention\"}}",
         0, 1, true},
        {"{\"model_type\": \"llava\", \"text_config\": {" PLAIN ", \"model_type\": \"llama\"}}", 0, 4, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ulb_model model;
        if (parse(cases[i].text, &model) != ULB_OK)
            fail_msg("%s: %s", err.message, cases[i].text);
        if (model.experts != cases[i].experts || model.kv_heads != cases[i].kv_heads ||
            model.tied_head != cases[i].tied)
            fail_msg("%u experts, %u key heads, tied %d: %s", model.experts, model.kv_heads, model.tied_head,
                     cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_figures),
        cmocka_unit_test(unread_keys),
        cmocka_unit_test(nested_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
