/* config.json in the spellings that are out there, what they leave out, and what must be refused. */
#include "shapes/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct ulb_error err;

static void describe(const struct ulb_shape_list *list, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->n; i++)
        used +=
            (size_t)snprintf(text + used, bytes - used, "%s %zux%zu %u of %u; ", list->items[i].layer,
                             list->items[i].m, list->items[i].k, list->items[i].active, list->items[i].count);
}

static void parse(const char *text, struct ulb_model *model)
{
    *model = (struct ulb_model){.layers = 0};
    if (ulb_config_parse(text, strlen(text), model, &err) != ULB_OK || ulb_model_check(model, &err) != ULB_OK)
        fail_msg("%s\n%s", err.message, text);
}

/* Configurations of the catalogue's models, as their files spell them, shortened to what is read; decoys and
 * traps of the files are kept. */
static const struct {
    const char *name, *text;
} known[] = {
    {"falcon3-1b",
     "{\"model_type\": \"llama\", \"head_dim\": 256, \"hidden_act\": \"silu\", \"hidden_size\": 2048, "
     "\"intermediate_size\": 8192, \"num_attention_heads\": 8, \"num_hidden_layers\": 18, "
     "\"num_key_value_heads\": 4, "
     "\"rope_scaling\": null, \"rope_theta\": 1000042, \"tie_word_embeddings\": false, \"vocab_size\": "
     "131072}"},
    {"mobilellm-1.5b",
     "{\"model_type\": \"mobilellm\", \"head_dim\": 64, \"hidden_act\": \"silu\", \"hidden_size\": 1600, "
     "\"intermediate_size\": 4352, \"layer_sharing\": false, \"num_attention_heads\": 25, "
     "\"num_hidden_layers\": 54, "
     "\"num_key_value_heads\": 5, \"share_embedding\": true, \"tie_word_embeddings\": false, \"vocab_size\": "
     "32000}"},
    {"llama3-8b",
     "{\"model_type\": \"llama\", \"eos_token_id\": [128001, 128008], \"hidden_size\": 4096, "
     "\"intermediate_size\": 14336, \"num_attention_heads\": 32, \"num_hidden_layers\": 32, "
     "\"num_key_value_heads\": 8, \"rope_scaling\": {\"factor\": 8.0, \"rope_type\": \"llama3\"}, "
     "\"rope_theta\": 500000.0, \"tie_word_embeddings\": false, \"vocab_size\": 128256}"},
    {"bitnet-2b-4t",
     "{\"architectures\": [\"BitNetForCausalLM\"], \"model_type\": \"bitnet\", \"hidden_act\": \"relu2\", "
     "\"hidden_size\": 2560, \"intermediate_size\": 6912, \"num_attention_heads\": 20, "
     "\"num_hidden_layers\": 30, "
     "\"num_key_value_heads\": 5, \"rope_theta\": 500000.0, \"tie_word_embeddings\": true, \"vocab_size\": "
     "128256}"},
    {"bitnet-3b",
     "{\"architectures\": [\"BitnetForCausalLM\"], \"model_type\": \"llama\", \"hidden_act\": \"silu\", "
     "\"hidden_size\": 3200, \"intermediate_size\": 8640, \"num_attention_heads\": 32, "
     "\"num_hidden_layers\": 26, "
     "\"num_key_value_heads\": 32, \"rope_theta\": 10000.0, \"tie_word_embeddings\": true, \"vocab_size\": "
     "32002}"},
    {"llama3-8b-1.58", /* the real file has quantization_config twice */
     "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"intermediate_size\": 14336, "
     "\"num_attention_heads\": 32, "
     "\"num_hidden_layers\": 32, \"num_key_value_heads\": 8, \"quantization_config\": {\"quant_method\": "
     "\"bitnet\"}, "
     "\"rope_theta\": 500000.0, \"tie_word_embeddings\": false, \"vocab_size\": 128256, "
     "\"quantization_config\": {\"quant_method\": \"bitnet\", \"hidden_size\": 1}}"},
    {"gptj-6b",
     "{\"model_type\": \"gptj\", \"activation_function\": \"gelu_new\", \"n_embd\": 4096, \"n_head\": 16, "
     "\"n_inner\": null, \"n_layer\": 28, \"rotary_dim\": 64, \"task_specific_params\": "
     "{\"text-generation\": "
     "{\"n_layer\": 3}}, \"tie_word_embeddings\": false, \"vocab_size\": 50400}"},
    {"llama2-7b-chat", /* no num_key_value_heads */
     "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"intermediate_size\": 11008, "
     "\"num_attention_heads\": 32, "
     "\"num_hidden_layers\": 32, \"tie_word_embeddings\": false, \"vocab_size\": 32000}"},
    {"qwen2.5-0.5b", "{\"model_type\": \"qwen2\", \"hidden_size\": 896, \"intermediate_size\": 4864, "
                     "\"num_attention_heads\": 14, "
                     "\"num_hidden_layers\": 24, \"num_key_value_heads\": 2, \"rope_theta\": 1000000.0, "
                     "\"tie_word_embeddings\": true, \"vocab_size\": 151936}"},
    {"qwen3-4b",
     "{\"model_type\": \"qwen3\", \"head_dim\": 128, \"hidden_size\": 2560, \"intermediate_size\": 9728, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 36, \"num_key_value_heads\": 8, \"rope_theta\": "
     "1000000, "
     "\"tie_word_embeddings\": true, \"vocab_size\": 151936}"},
    {"gemma3-1b", /* tied by its class; a relic beside the function that counts */
     "{\"model_type\": \"gemma3_text\", \"head_dim\": 256, \"hidden_activation\": \"gelu_pytorch_tanh\", "
     "\"hidden_act\": \"silu\", \"hidden_size\": 1152, \"intermediate_size\": 6912, \"num_attention_heads\": "
     "4, "
     "\"num_hidden_layers\": 26, \"num_key_value_heads\": 1, \"rope_theta\": 1000000, \"vocab_size\": "
     "262144}"},
    {"gemma3-4b", /* nested, with the defaults of its class left out, and a decoy */
     "{\"model_type\": \"gemma3\", \"text_config\": {\"hidden_size\": 2560, \"intermediate_size\": 10240, "
     "\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 34, \"rope_theta\": 1000000}, "
     "\"vision_config\": {\"hidden_size\": 1152, \"intermediate_size\": 4304, \"num_attention_heads\": 16, "
     "\"num_hidden_layers\": 27, \"model_type\": \"siglip_vision_model\"}}"},
    {"phi3-mini", "{\"model_type\": \"phi3\", \"hidden_size\": 3072, \"intermediate_size\": 8192, "
                  "\"num_attention_heads\": 32, "
                  "\"num_hidden_layers\": 32, \"num_key_value_heads\": 32, \"rope_theta\": 10000.0, "
                  "\"tie_word_embeddings\": false, \"vocab_size\": 32064}"},
    {"phi4-mini", "{\"model_type\": \"phi3\", \"hidden_size\": 3072, \"intermediate_size\": 8192, "
                  "\"num_attention_heads\": 24, "
                  "\"num_hidden_layers\": 32, \"num_key_value_heads\": 8, \"partial_rotary_factor\": 0.75, "
                  "\"tie_word_embeddings\": true, \"vocab_size\": 200064}"},
    {"phi4-mini", /* as transformers 5 writes what is rotated */
     "{\"model_type\": \"phi3\", \"hidden_size\": 3072, \"intermediate_size\": 8192, "
     "\"num_attention_heads\": 24, "
     "\"num_hidden_layers\": 32, \"num_key_value_heads\": 8, \"rope_parameters\": {\"rope_theta\": "
     "10000.0, \"partial_rotary_factor\": 0.75, \"rope_type\": \"default\"}, "
     "\"tie_word_embeddings\": true, \"vocab_size\": 200064}"},
    {"mixtral-8x7b", "{\"model_type\": \"mixtral\", \"hidden_size\": 4096, \"intermediate_size\": 14336, "
                     "\"num_attention_heads\": 32, "
                     "\"num_experts_per_tok\": 2, \"num_hidden_layers\": 32, \"num_key_value_heads\": 8, "
                     "\"num_local_experts\": 8, "
                     "\"rope_theta\": 1000000.0, \"tie_word_embeddings\": false, \"vocab_size\": 32000}"},
    {"mixtral-8x7b", /* an early conversion */
     "{\"model_type\": \"mistral\", \"hidden_size\": 4096, \"intermediate_size\": 14336, "
     "\"num_attention_heads\": 32, "
     "\"num_experts\": 8, \"num_experts_per_token\": 2, \"num_hidden_layers\": 32, \"num_key_value_heads\": "
     "8, "
     "\"rope_theta\": 1000000.0, \"vocab_size\": 32000}"},
    {"qwen3-coder-30b-a3b",
     "{\"model_type\": \"qwen3_moe\", \"decoder_sparse_step\": 1, \"head_dim\": 128, \"hidden_size\": 2048, "
     "\"intermediate_size\": 5472, \"mlp_only_layers\": [], \"moe_intermediate_size\": 768, "
     "\"num_attention_heads\": 32, \"num_experts\": 128, \"num_experts_per_tok\": 8, \"num_hidden_layers\": "
     "48, "
     "\"num_key_value_heads\": 4, \"rope_theta\": 10000000, \"shared_expert_intermediate_size\": 0, "
     "\"tie_word_embeddings\": false, \"vocab_size\": 151936}"},
    {"deepseek-v3", "{\"model_type\": \"deepseek_v3\", \"first_k_dense_replace\": 3, \"hidden_size\": 7168, "
                    "\"intermediate_size\": 18432, \"kv_lora_rank\": 512, \"moe_intermediate_size\": 2048, "
                    "\"moe_layer_freq\": 1, "
                    "\"n_routed_experts\": 256, \"n_shared_experts\": 1, \"num_attention_heads\": 128, "
                    "\"num_experts_per_tok\": 8, "
                    "\"num_hidden_layers\": 61, \"num_key_value_heads\": 128, \"num_nextn_predict_layers\": "
                    "1, \"q_lora_rank\": 1536, "
                    "\"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, \"rope_theta\": 10000, "
                    "\"tie_word_embeddings\": false, "
                    "\"v_head_dim\": 128, \"vocab_size\": 129280}"},
    /* Spellings beside transformers' own. */
    {"deepseek-v3", /* DeepSeek's inference code */
     "{\"vocab_size\": 129280, \"dim\": 7168, \"inter_dim\": 18432, \"moe_inter_dim\": 2048, \"n_layers\": "
     "61, "
     "\"n_dense_layers\": 3, \"n_heads\": 128, \"n_routed_experts\": 256, \"n_shared_experts\": 1, "
     "\"n_activated_experts\": 8, \"q_lora_rank\": 1536, \"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128, "
     "\"qk_rope_head_dim\": 64, \"v_head_dim\": 128, \"dtype\": \"fp8\"}"},
    {"mistral-7b", /* Mistral's params.json and MLX */
     "{\"dim\": 4096, \"n_layers\": 32, \"head_dim\": 128, \"hidden_dim\": 14336, \"n_heads\": 32, "
     "\"n_kv_heads\": 8, \"norm_eps\": 1e-05, \"vocab_size\": 32000}"},
    {"llama2-7b", /* Llama's params.json: the intermediate size follows */
     "{\"dim\": 4096, \"multiple_of\": 256, \"n_heads\": 32, \"n_layers\": 32, \"norm_eps\": 1e-06, "
     "\"vocab_size\": 32000}"},
    {"llama3-8b", /* the same with a factor */
     "{\"dim\": 4096, \"n_layers\": 32, \"n_heads\": 32, \"n_kv_heads\": 8, \"vocab_size\": 128256, "
     "\"multiple_of\": 1024, \"ffn_dim_multiplier\": 1.3, \"rope_theta\": 500000.0}"},
    {"llama2-7b", /* a vision model around it, sizes left out; whole numbers written as real ones */
     "{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"llama\", \"hidden_size\": 4096.0, "
     "\"num_hidden_layers\": 32.0}, \"vocab_size\": 32000, \"tie_word_embeddings\": false, "
     "\"vision_config\": {\"hidden_size\": 1024}}"},
    {"bloom-176b",
     "{\"model_type\": \"bloom\", \"n_embed\": 14336, \"n_layer\": 70, \"num_attention_heads\": 112, "
     "\"vocab_size\": 250880}"},
    {"gpt-neox-20b", "{\"model_type\": \"gpt_neox\", \"hidden_size\": 6144, \"intermediate_size\": 24576, "
                     "\"num_attention_heads\": 64, "
                     "\"num_hidden_layers\": 44, \"rotary_pct\": 0.25, \"rotary_emb_base\": 10000, "
                     "\"use_parallel_residual\": true, "
                     "\"tie_word_embeddings\": false, \"vocab_size\": 50432}"},
    {"gpt2-1.5b",
     "{\"model_type\": \"gpt2\", \"activation_function\": \"gelu_new\", \"n_ctx\": 1024, \"n_embd\": 1600, "
     "\"n_head\": 25, \"n_layer\": 48, \"n_positions\": 1024, \"vocab_size\": 50257}"},
};

static void spellings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct ulb_model *wanted = ulb_model_find(known[i].name);
        struct ulb_model model;
        assert_non_null(wanted);
        parse(known[i].text, &model);
        for (int form = ULB_FORM_FUSED; form <= ULB_FORM_STORED; form++) {
            struct ulb_shape_list a, b;
            char got[2048], want[2048];
            assert_int_equal(ulb_model_shapes(&model, (enum ulb_form)form, &a, &err), ULB_OK);
            assert_int_equal(ulb_model_shapes(wanted, (enum ulb_form)form, &b, &err), ULB_OK);
            describe(&a, got, sizeof got);
            describe(&b, want, sizeof want);
            if (strcmp(got, want) != 0)
                fail_msg("%s: %s\ninstead of %s", known[i].text, got, want);
            free(a.items);
            free(b.items);
        }
#define SAME(field)                                                                                          \
    if (model.field != wanted->field)                                                                        \
    fail_msg("%s: " #field " is %g instead of %g", known[i].text, (double)model.field, (double)wanted->field)
        SAME(tied_head);
        SAME(gated);
        SAME(function);
        SAME(norm);
        SAME(parallel_block);
        SAME(qk_norm);
        SAME(post_norms);
        SAME(sub_norms);
        SAME(rope_base);
        SAME(rope_dims);
        SAME(stored_qkv);
#undef SAME
    }
}

/* Every block form that only a key tells, by one size each. */
static void families(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shapes;
    } cases[] = {
        {"{\"model_type\": \"falcon\", \"hidden_size\": 4544, \"multi_query\": true, "
         "\"num_attention_heads\": 71, "
         "\"num_hidden_layers\": 32, \"new_decoder_architecture\": false, \"parallel_attn\": true, "
         "\"vocab_size\": 65024}",
         "qkv 4672x4544 32 of 32; o 4544x4544 32 of 32; up 18176x4544 32 of 32; down 4544x18176 32 of 32; "
         "lm_head 65024x4544 1 of 1; "},
        {"{\"model_type\": \"mpt\", \"d_model\": 4096, \"n_heads\": 32, \"n_layers\": 32, "
         "\"expansion_ratio\": 4, "
         "\"vocab_size\": 50432}",
         "qkv 12288x4096 32 of 32; o 4096x4096 32 of 32; up 16384x4096 32 of 32; down 4096x16384 32 of 32; "
         "lm_head 50432x4096 1 of 1; "},
        {"{\"model_type\": \"opt\", \"hidden_size\": 768, \"ffn_dim\": 3072, \"num_attention_heads\": 12, "
         "\"num_hidden_layers\": 12, \"word_embed_proj_dim\": 768, \"activation_function\": \"relu\", "
         "\"vocab_size\": 50272}",
         "q 768x768 12 of 12; k 768x768 12 of 12; v 768x768 12 of 12; o 768x768 12 of 12; up 3072x768 12 of "
         "12; "
         "down 768x3072 12 of 12; lm_head 50272x768 1 of 1; "},
        {"{\"model_type\": \"qwen2_moe\", \"hidden_size\": 2048, \"intermediate_size\": 5632, "
         "\"moe_intermediate_size\": 1408, \"shared_expert_intermediate_size\": 5632, "
         "\"num_attention_heads\": 16, "
         "\"num_key_value_heads\": 16, \"num_hidden_layers\": 24, \"num_experts\": 60, "
         "\"num_experts_per_tok\": 4, "
         "\"decoder_sparse_step\": 2, \"tie_word_embeddings\": false, \"vocab_size\": 151936}",
         "q 2048x2048 24 of 24; k 2048x2048 24 of 24; v 2048x2048 24 of 24; o 2048x2048 24 of 24; "
         "gate 5632x2048 12 of 12; up 5632x2048 12 of 12; down 2048x5632 12 of 12; router 60x2048 12 of 12; "
         "shared.gate 5632x2048 12 of 12; shared.up 5632x2048 12 of 12; shared.down 2048x5632 12 of 12; "
         "expert.gate 1408x2048 48 of 720; expert.up 1408x2048 48 of 720; expert.down 2048x1408 48 of 720; "
         "lm_head 151936x2048 1 of 1; "},
        {"{\"dim\": 2048, \"inter_dim\": 10944, \"moe_inter_dim\": 1408, \"n_layers\": 2, "
         "\"n_dense_layers\": 1, "
         "\"n_heads\": 16, \"n_routed_experts\": 64, \"n_shared_experts\": 2, \"n_activated_experts\": 6, "
         "\"q_lora_rank\": 0, \"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, "
         "\"v_head_dim\": 128, \"vocab_size\": 102400}",
         "q 3072x2048 2 of 2; kv_a 576x2048 2 of 2; kv_b 4096x512 2 of 2; o 2048x2048 2 of 2; "
         "gate 10944x2048 1 of 1; up 10944x2048 1 of 1; down 2048x10944 1 of 1; router 64x2048 1 of 1; "
         "shared.gate 2816x2048 1 of 1; shared.up 2816x2048 1 of 1; shared.down 2048x2816 1 of 1; "
         "expert.gate 1408x2048 6 of 64; expert.up 1408x2048 6 of 64; expert.down 2048x1408 6 of 64; "
         "lm_head 102400x2048 1 of 1; "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ulb_model model;
        struct ulb_shape_list list;
        char got[2048];
        parse(cases[i].text, &model);
        assert_int_equal(ulb_model_shapes(&model, ULB_FORM_STORED, &list, &err), ULB_OK);
        describe(&list, got, sizeof got);
        if (strcmp(got, cases[i].shapes) != 0)
            fail_msg("%s: %s\ninstead of %s", cases[i].text, got, cases[i].shapes);
        free(list.items);
    }
}

static void what_was_derived_is_said(void **state)
{
    (void)state;
    struct ulb_model model;
    parse("{\"dim\": 4096, \"multiple_of\": 256, \"n_heads\": 32, \"n_layers\": 32, \"vocab_size\": 32000}",
          &model);
    static const char *const said[] = {
        "model_type llama by the spelling", "intermediate_size = 11008 by multiple_of",
        "num_key_value_heads = num_attention_heads", "head_dim = hidden_size / num_attention_heads",
        "tie_word_embeddings = false"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (!strstr(model.derived, said[i]))
            fail_msg("'%s' does not say '%s'", model.derived, said[i]);
    }
    parse(known[0].text, &model);
    assert_string_equal(model.derived, "");
}

#define REST                                                                                                 \
    "\"intermediate_size\": 64, \"num_attention_heads\": 4, \"num_hidden_layers\": 2, \"vocab_size\": 100, " \
    "\"tie_word_embeddings\": false}"
#define LLAMA "{\"model_type\": \"llama\", "
#define SIZED LLAMA "\"hidden_size\": 32, "

static void what_must_be_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "not the JSON"},
        {"{", "not the JSON"},
        {"[]", "begins with {"},
        {"\"llama\"", "not the JSON"},
        {"{} x", "not the JSON"},
        {"{\"model_type\": \"llama\"", "not the JSON"},
        {"{\"hidden_size\": 01}", "not the JSON"},
        {LLAMA "\"hidden_size\": NaN, " REST, "hidden_size is NaN or Infinity"},
        {LLAMA "\"hidden_size\": -Infinity, " REST, "hidden_size is NaN or Infinity"},
        {"{\"hidden_size\": 1e999}", "not the JSON"},
        {"{\"hidden_size\": 123456789012345678901234567890}", "not the JSON"},
        {"{\"hidden_size\": \"\xff\xfe\"}", "not the JSON"},
        {"{}", "no model_type"},
        {"{\"model_type\": null, " REST, "no model_type"},
        {"{\"model_type\": 3, " REST, "model_type is no string"},
        {"{\"model_type\": \"t5\", " REST, "model_type \"t5\" is not known"},
        {"{\"model_type\": \"llama mistral\", " REST, "is not known"},
        {"{\"model_type\": \"\", " REST, "is not known"},
        {LLAMA REST, "hidden_size is missing"},
        {LLAMA "\"hidden_size\": null, " REST, "hidden_size is missing"},
        {LLAMA "\"hidden_size\": \"32\", " REST, "hidden_size is \"32\"; it must be a whole number"},
        {LLAMA "\"hidden_size\": true, " REST, "hidden_size is true"},
        {LLAMA "\"hidden_size\": -32, " REST, "hidden_size is -32"},
        {LLAMA "\"hidden_size\": 32.5, " REST, "hidden_size is 32.5"},
        {LLAMA "\"hidden_size\": 1000000000000000000, " REST, "hidden_size is 1000000000000000000"},
        {LLAMA "\"hidden_size\": 1e18, " REST, "hidden_size is 1e18"},
        {LLAMA "\"hidden_size\": [], " REST, "hidden_size is []"},
        {LLAMA "\"hidden_size\": {}, " REST, "hidden_size is {}"},
        {LLAMA "\"hidden_size\": 0, " REST, "the hidden size: 0"},
        {LLAMA "\"hidden_size\": 2000000000, " REST, "the hidden size: 2000000000"},
        {LLAMA "\"hidden_size\": 33, " REST, "4 heads do not divide the hidden size 33"},
        {LLAMA "\"hidden_size\": 32, \"dim\": 64, " REST, "hidden_size and dim disagree"},
        {LLAMA "\"hidden_size\": 32, \"hidden_size\": 64, " REST, "\"hidden_size\" stands there twice"},
        {SIZED "\"x\": 1, \"x\": 2, \"vocab_size\": 9, " REST, "\"vocab_size\" stands there twice"},
        {SIZED "\"x\": 1, \"x\": 2, \"vocab\\u005fsize\": 9, " REST, "not be left"},
        {SIZED "\"num_key_value_heads\": 3, " REST, "3 key heads do not divide 4 heads"},
        {SIZED "\"num_key_value_heads\": 0, " REST, "key heads: 0"},
        {SIZED "\"num_key_value_heads\": [4, 2], " REST, "differs between layers"},
        {SIZED "\"head_dim\": 2000000000, " REST, "the size of a head: 2000000000"},
        {SIZED "\"num_local_experts\": 8, " REST, "num_experts_per_tok is missing"},
        {SIZED "\"num_local_experts\": 8, \"num_experts_per_tok\": 9, " REST, "9 experts of 8"},
        {SIZED "\"num_local_experts\": 8, \"num_experts\": 4, \"num_experts_per_tok\": 2, " REST, "disagree"},
        {SIZED "\"kv_lora_rank\": 8, " REST, "qk_nope_head_dim is missing"},
        {SIZED "\"layer_sharing\": true, " REST, "layer_sharing"},
        {SIZED "\"hidden_act\": \"sine\", " REST, "\"sine\" is not known"},
        {SIZED "\"hidden_act\": 3, " REST, "is not known"},
        {SIZED "\"rope_theta\": \"x\", " REST, "rope_theta is \"x\""},
        {SIZED "\"rotary_dim\": 99, " REST, "99 of the 8 elements of a head cannot be rotated"},
        {SIZED "\"text_config\": 3, " REST, "text_config is no object"},
        {SIZED "\"text_config\": {\"hidden_size\": 64, \"model_type\": \"llama\"}, " REST,
         "hidden_size is 64 in the text model's configuration and 32 around it"},
        {"{\"text_config\": {\"model_type\": \"llama\", \"hidden_size\": \"x\"}, " REST,
         "hidden_size is \"x\""},
        {"{\"model_type\": \"qwen3_moe\", \"hidden_size\": 32, \"num_experts\": 8, \"num_experts_per_tok\": "
         "2, " REST,
         "moe_intermediate_size is missing"},
        {"{\"model_type\": \"bitnet\", \"hidden_size\": 32, \"intermediate_size\": 64, "
         "\"num_attention_heads\": 4, "
         "\"num_hidden_layers\": 2, \"vocab_size\": 100}",
         "tie_word_embeddings is missing"},
        {"{\"model_type\": \"opt\", \"hidden_size\": 32, \"word_embed_proj_dim\": 16, " REST,
         "word_embed_proj_dim 16"},
        {"{\"dim\": 32, \"n_layers\": 2, \"n_heads\": 4, \"vocab_size\": 100}",
         "intermediate_size is missing"},
        {"{\"dim\": 32, \"n_layers\": 2, \"n_heads\": 4, \"vocab_size\": -1, \"multiple_of\": 8}",
         "vocab_size is -1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ulb_model model = {.layers = 0};
        const char *text = cases[i].text, *message = cases[i].message;
        enum ulb_status status = ulb_config_parse(text, strlen(text), &model, &err);
        if (status == ULB_OK)
            status = ulb_model_check(&model, &err);
        if (status != ULB_BAD_INPUT)
            fail_msg("status %d: %s", status, text);
        if (strcmp(message, "not be left") == 0)
            message = "stands there twice"; /* a name behind an escape, where another key is there twice */
        if (!strstr(err.message, message))
            fail_msg("'%s' does not say '%s': %s", err.message, message, text);
    }
}

/* Objects in objects: refused before they exhaust the stack. */
static void nesting(void **state)
{
    (void)state;
    enum { LEVELS = 100000 };
    struct ulb_model model = {.layers = 0};
    char *text = malloc(6 * LEVELS);
    size_t n = 0;
    assert_non_null(text);
    for (int i = 0; i < LEVELS; i++)
        n += (size_t)sprintf(text + n, "{\"a\":"); /* NOLINT: it fits */
    assert_int_equal(ulb_config_parse(text, n, &model, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "depth"));
    memset(text, '[', LEVELS);
    assert_int_equal(ulb_config_parse(text, LEVELS, &model, &err), ULB_BAD_INPUT);
    free(text);
}

/* The file's name or its folder's is the model's, and a folder stands for the config.json in it. */
static void names(void **state)
{
    (void)state;
    char folder[] = "/tmp/ulb-config-XXXXXX", path[256], name[64];
    struct ulb_model model;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/config.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(known[0].text, file);
    fclose(file);
    for (size_t i = 0; i < sizeof name - 1 && folder[i + 5]; i++) {
        char c = folder[i + 5];
        name[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
        name[i + 1] = '\0';
    }
    assert_int_equal(ulb_model_load(path, &model, &err), ULB_OK);
    assert_string_equal(model.name, name);
    assert_int_equal(ulb_model_load(folder, &model, &err), ULB_OK);
    assert_string_equal(model.name, name);
    char other[300];
    snprintf(other, sizeof other, "%s/My Model,2.config.json", folder);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(ulb_model_load(other, &model, &err), ULB_OK);
    assert_string_equal(model.name, "my-model-2");
    assert_string_equal(model.title, "My-Model-2");
    unlink(other);
    assert_int_equal(ulb_model_load(folder, &model, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "holds no config.json"));
    assert_int_equal(ulb_model_load("/dev/zero", &model, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "no regular file"));
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings),
        cmocka_unit_test(families),
        cmocka_unit_test(what_was_derived_is_said),
        cmocka_unit_test(what_must_be_refused),
        cmocka_unit_test(nesting),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
