/* The built-in models, from their own configurations and from the tables of publications. */
#include "shapes/model.h"

#define NAMES(name_, title_, alias_, source_)                                                                \
    .name = name_, .title = title_, .alias = alias_, .source = source_
#define SIZES(layers_, hidden_, intermediate_, vocab_)                                                       \
    .layers = (layers_), .hidden = (hidden_), .intermediate = (intermediate_), .vocab = (vocab_)
#define HEADS(heads_, kv_heads_, dim_)                                                                       \
    .heads = (heads_), .kv_heads = (kv_heads_), .head_dim = (dim_), .v_head_dim = (dim_)
#define ROPE(base_, dims_)           .rope_base = (base_), .rope_dims = (dims_)
#define WINDOWS(layers_, positions_) .windowed = (layers_), .window = (positions_)
#define EXPERTS(all_, active_, size_)                                                                        \
    .experts = (all_), .experts_active = (active_), .expert_intermediate = (size_)
#define LATENT(heads_, q_rank_)                                                                              \
    .heads = (heads_), .kv_heads = (heads_), .head_dim = 192, .v_head_dim = 128, .mla_kv_rank = 512,         \
    .mla_q_rank = (q_rank_), .mla_rope = 64

/* The block of Llama, of BitNet b1.58, of Gemma 3 and of GPT-2, in what they share with others. */
#define LLAMA  .gated = true, .norm = ULB_NORM_RMS, .function = ULB_FFN_SILU
#define BITNET LLAMA, .sub_norms = true, .tied_head = true
#define GEMMA3                                                                                               \
    .gated = true, .norm = ULB_NORM_RMS, .function = ULB_FFN_GELU, .tied_head = true, .qk_norm = true,       \
    .post_norms = true
#define QWEN3 LLAMA, .qk_norm = true, ROPE(1000000, 128)
#define GPT   .norm = ULB_NORM_LAYER, .function = ULB_FFN_GELU

/* Spectra, arXiv 2407.12327: ternary models of Llama's form. Sizes of its table; the vocabulary, padded, is
 * the one that gives the published counts (99.8M, 392M, 3.99B). */
#define TRILM(size_, layers_, hidden_, intermediate_, heads_)                                                \
    {                                                                                                        \
        NAMES("trilm-" size_, "TriLM-" size_, "trilm_" size_ "_unpacked", "Spectra (TriLM), model table"),   \
            SIZES(layers_, hidden_, intermediate_, 50304), HEADS(heads_, heads_, (hidden_) / (heads_)),      \
            ROPE(10000, (hidden_) / (heads_)), LLAMA                                                         \
    }

/* Appendix A of arXiv 2410.16144. It gives no vocabulary; that of bitnet_b1_58, whose large model is its
 * 700M, with a tied head fits all names. */
#define BITNET_CPP(size_, layers_, hidden_, intermediate_, heads_)                                           \
    {                                                                                                        \
        NAMES("bitnet-" size_, "BitNet-" size_, "", "bitnet.cpp, appendix A"),                               \
            SIZES(layers_, hidden_, intermediate_, 32002), HEADS(heads_, heads_, (hidden_) / (heads_)),      \
            ROPE(10000, (hidden_) / (heads_)), BITNET                                                        \
    }

/* The model table of "Low-precision Optimization for LLM Inference" (IPEX, 2023). It gives no intermediate
 * size: 4 x hidden, as these models have. */
#define IPEX(name_, title_, source_, layers_, hidden_, vocab_, heads_)                                       \
    NAMES(name_, title_, "", "IPEX table; " source_), SIZES(layers_, hidden_, 4 * (hidden_), vocab_),        \
        HEADS(heads_, heads_, (hidden_) / (heads_))

const struct ulb_model ulb_models[] = {
    {NAMES("falcon3-1b", "Falcon3-1B", "falcon3-1b-instruct", "tiiuae/Falcon3-1B-Instruct config"),
     SIZES(18, 2048, 8192, 131072), HEADS(8, 4, 256), ROPE(1000042, 256), LLAMA},
    {NAMES("mobilellm-1.5b", "MobileLLM-1.5B", "", "facebook/MobileLLM-1.5B model card"),
     SIZES(54, 1600, 4352, 32000), HEADS(25, 5, 64), ROPE(10000, 64), LLAMA, .tied_head = true},
    {NAMES("llama3-8b", "Llama3-8B", "llama-3.1-8b", "Llama-3.1-8B config"), SIZES(32, 4096, 14336, 128256),
     HEADS(32, 8, 128), ROPE(500000, 128), LLAMA},
    {NAMES("bitnet-2b-4t", "BitNet-2B-4T", "bitnet-b1.58-2b-4t", "microsoft/bitnet-b1.58-2B-4T config"),
     SIZES(30, 2560, 6912, 128256), HEADS(20, 5, 128), ROPE(500000, 128), .gated = true, .norm = ULB_NORM_RMS,
     .function = ULB_FFN_RELU2, .sub_norms = true, .tied_head = true},
    {NAMES("bitnet-large", "BitNet-large", "bitnet_b1_58-large", "1bitLLM/bitnet_b1_58-large config"),
     SIZES(24, 1536, 4096, 32002), HEADS(16, 16, 96), ROPE(10000, 96), BITNET},
    {NAMES("bitnet-xl", "BitNet-xl", "bitnet_b1_58-xl", "1bitLLM/bitnet_b1_58-xl config"),
     SIZES(24, 2048, 5460, 32002), HEADS(32, 32, 64), ROPE(10000, 64), BITNET},
    {NAMES("bitnet-3b", "BitNet-3B", "bitnet_b1_58-3b", "1bitLLM/bitnet_b1_58-3B config"),
     SIZES(26, 3200, 8640, 32002), HEADS(32, 32, 100), ROPE(10000, 100), BITNET},
    {NAMES("llama3-8b-1.58", "Llama3-8B-1.58", "llama3-8b-1.58-hf1bitllm", "HF1BitLLM/Llama3-8B-1.58 config"),
     SIZES(32, 4096, 14336, 128256), HEADS(32, 8, 128), ROPE(500000, 128), LLAMA},
    {NAMES("gptj-6b", "GPT-J-6B", "gpt-j-6b", "EleutherAI/gpt-j-6B; IPEX table"),
     SIZES(28, 4096, 16384, 50400), HEADS(16, 16, 256), ROPE(10000, 64), GPT, .parallel_block = true},
    {NAMES("llama2-7b", "Llama2-7B", "llama-2-7b", "Llama-2-7b config"), SIZES(32, 4096, 11008, 32000),
     HEADS(32, 32, 128), ROPE(10000, 128), LLAMA},
    {NAMES("llama2-7b-chat", "Llama2-7B-Chat", "llama-2-7b-chat", "Llama-2-7b-chat config"),
     SIZES(32, 4096, 11008, 32000), HEADS(32, 32, 128), ROPE(10000, 128), LLAMA},
    {NAMES("qwen2.5-0.5b", "Qwen2.5-0.5B", "", "Qwen2.5-0.5B config"), SIZES(24, 896, 4864, 151936),
     HEADS(14, 2, 64), ROPE(1000000, 64), LLAMA, .tied_head = true},
    {NAMES("qwen2.5-1.5b", "Qwen2.5-1.5B", "qwen2.5-1.5b-instruct", "Qwen2.5-1.5B-Instruct config"),
     SIZES(28, 1536, 8960, 151936), HEADS(12, 2, 128), ROPE(1000000, 128), LLAMA, .tied_head = true},
    {NAMES("qwen3-0.6b", "Qwen3-0.6B", "", "Qwen3-0.6B config"), SIZES(28, 1024, 3072, 151936),
     HEADS(16, 8, 128), ROPE(1000000, 128), LLAMA, .qk_norm = true, .tied_head = true},
    {NAMES("qwen3-4b", "Qwen3-4B", "", "Qwen3-4B config"), SIZES(36, 2560, 9728, 151936), HEADS(32, 8, 128),
     ROPE(1000000, 128), LLAMA, .qk_norm = true, .tied_head = true},
    {NAMES("gemma3-1b", "Gemma3-1B", "gemma-3-1b-it", "gemma-3-1b-it config"), SIZES(26, 1152, 6912, 262144),
     HEADS(4, 1, 256), ROPE(1000000, 256), GEMMA3},
    {NAMES("gemma3-4b", "Gemma3-4B", "gemma-3-4b-it", "gemma-3-4b-it config"), SIZES(34, 2560, 10240, 262208),
     HEADS(8, 4, 256), ROPE(1000000, 256), GEMMA3},
    {NAMES("phi3-mini", "Phi-3-mini", "phi-3-mini-4k-instruct", "microsoft/Phi-3-mini-4k config"),
     SIZES(32, 3072, 8192, 32064), HEADS(32, 32, 96), ROPE(10000, 96), LLAMA, .stored_qkv = true,
     .stored_gate_up = true, WINDOWS(32, 2047)},
    {NAMES("phi4-mini", "Phi-4-mini", "phi-4-mini-instruct", "microsoft/Phi-4-mini-instruct config"),
     SIZES(32, 3072, 8192, 200064), HEADS(24, 8, 128), ROPE(10000, 96), LLAMA, .tied_head = true,
     .stored_qkv = true, .stored_gate_up = true},
    {NAMES("mistral-7b", "Mistral-7B", "mistral-7b-v0.1", "mistralai/Mistral-7B-v0.1 config"),
     SIZES(32, 4096, 14336, 32000), HEADS(32, 8, 128), ROPE(10000, 128), LLAMA, WINDOWS(32, 4096)},
    {NAMES("mixtral-8x7b", "Mixtral-8x7B", "mixtral-8x7b-instruct-v0.1", "Mixtral-8x7B-Instruct-v0.1 config"),
     SIZES(32, 4096, 0, 32000), HEADS(32, 8, 128), ROPE(1000000, 128), LLAMA, .experts = 8,
     .experts_active = 2, .expert_intermediate = 14336},
    {NAMES("qwen3-coder-30b-a3b", "Qwen3-Coder-30B-A3B", "qwen3-30b-a3b", "Qwen3-Coder-30B-A3B config"),
     SIZES(48, 2048, 0, 151936), HEADS(32, 4, 128), ROPE(10000000, 128), LLAMA, .qk_norm = true,
     .experts = 128, .experts_active = 8, .expert_intermediate = 768, .active_rule = ULB_ACTIVE_ALL},
    {NAMES("deepseek-v3", "DeepSeek-V3", "", "deepseek-ai/DeepSeek-V3 config"),
     SIZES(61, 7168, 18432, 129280), .heads = 128, .kv_heads = 128, .head_dim = 192, .v_head_dim = 128,
     .mla_kv_rank = 512, .mla_q_rank = 1536, .mla_rope = 64, ROPE(10000, 64), LLAMA, .experts = 256,
     .experts_active = 8, .expert_intermediate = 2048, .shared_intermediate = 2048, .dense_layers = 3,
     .active_rule = ULB_ACTIVE_NO_ROUTERS},
    /* Low-bit models beside BitNet. */
    {NAMES("falcon3-3b", "Falcon3-3B", "falcon3-3b-instruct-1.58bit", "tiiuae/Falcon3-3B-Base config"),
     SIZES(22, 3072, 9216, 131072), HEADS(12, 4, 256), ROPE(1000042, 256), LLAMA},
    {NAMES("falcon3-7b", "Falcon3-7B", "falcon3-7b-instruct-1.58bit", "tiiuae/Falcon3-7B-Base config"),
     SIZES(28, 3072, 23040, 131072), HEADS(12, 4, 256), ROPE(1000042, 256), LLAMA},
    {NAMES("falcon3-10b", "Falcon3-10B", "falcon3-10b-instruct-1.58bit", "tiiuae/Falcon3-10B-Base config"),
     SIZES(40, 3072, 23040, 131072), HEADS(12, 4, 256), ROPE(1000042, 256), LLAMA},
    {NAMES("falcon-e-1b", "Falcon-E-1B", "falcon-e-1b-instruct", "tiiuae/Falcon-E-1B; file of 635 MB"),
     .derived = "intermediate size and key heads by the published file's 635 MB",
     SIZES(24, 2048, 8192, 32768), HEADS(16, 4, 128), ROPE(10000, 128), LLAMA},
    {NAMES("falcon-e-3b", "Falcon-E-3B", "falcon-e-3b-instruct", "tiiuae/Falcon-E-3B; file of 999 MB"),
     .derived = "intermediate size by the published file's 999 MB", SIZES(32, 2048, 13312, 32768),
     HEADS(16, 2, 128), ROPE(10000, 128), LLAMA},
    TRILM("99m", 16, 512, 1280, 8),
    TRILM("190m", 16, 768, 2048, 12),
    TRILM("390m", 24, 1024, 2560, 16),
    TRILM("560m", 24, 1280, 3072, 20),
    TRILM("830m", 24, 1536, 4096, 24),
    TRILM("1.1b", 24, 1792, 5120, 28),
    TRILM("1.5b", 24, 2048, 6144, 32),
    TRILM("2.4b", 30, 2304, 7680, 36),
    TRILM("3.9b", 30, 3072, 9216, 24),
    {NAMES("bonsai-1.7b", "Bonsai-1.7B", "", "1-bit Qwen3-1.7B"), SIZES(28, 2048, 6144, 151936),
     HEADS(16, 8, 128), QWEN3, .tied_head = true},
    {NAMES("bonsai-4b", "Bonsai-4B", "", "1-bit Qwen3-4B"), SIZES(36, 2560, 9728, 151936), HEADS(32, 8, 128),
     QWEN3, .tied_head = true},
    {NAMES("bonsai-8b", "Bonsai-8B", "", "1-bit Qwen3-8B"), SIZES(36, 4096, 12288, 151936), HEADS(32, 8, 128),
     QWEN3},
    /* Dense models. */
    {NAMES("qwen3-1.7b", "Qwen3-1.7B", "", "Qwen3-1.7B config"), SIZES(28, 2048, 6144, 151936),
     HEADS(16, 8, 128), QWEN3, .tied_head = true},
    {NAMES("qwen3-8b", "Qwen3-8B", "", "Qwen3-8B config"), SIZES(36, 4096, 12288, 151936), HEADS(32, 8, 128),
     QWEN3},
    {NAMES("qwen3-14b", "Qwen3-14B", "", "Qwen3-14B config"), SIZES(40, 5120, 17408, 151936),
     HEADS(40, 8, 128), QWEN3},
    {NAMES("qwen3-32b", "Qwen3-32B", "", "Qwen3-32B config"), SIZES(64, 5120, 25600, 151936),
     HEADS(64, 8, 128), QWEN3},
    {NAMES("llama3.2-1b", "Llama3.2-1B", "", "Llama-3.2-1B config"), SIZES(16, 2048, 8192, 128256),
     HEADS(32, 8, 64), ROPE(500000, 64), LLAMA, .tied_head = true},
    {NAMES("llama3.2-3b", "Llama3.2-3B", "", "Llama-3.2-3B config"), SIZES(28, 3072, 8192, 128256),
     HEADS(24, 8, 128), ROPE(500000, 128), LLAMA, .tied_head = true},
    {NAMES("llama3.3-70b", "Llama3.3-70B", "llama3.1-70b", "Llama-3.3-70B config"),
     SIZES(80, 8192, 28672, 128256), HEADS(64, 8, 128), ROPE(500000, 128), LLAMA},
    {NAMES("gemma3-270m", "Gemma3-270M", "", "gemma-3-270m config"), SIZES(18, 640, 2048, 262144),
     HEADS(4, 1, 256), ROPE(1000000, 256), GEMMA3, WINDOWS(15, 512)},
    {NAMES("gemma3-12b", "Gemma3-12B", "", "gemma-3-12b-it config, text"), SIZES(48, 3840, 15360, 262208),
     HEADS(16, 8, 256), ROPE(1000000, 256), GEMMA3, WINDOWS(40, 1024)},
    {NAMES("gemma3-27b", "Gemma3-27B", "", "gemma-3-27b-it config, text"), SIZES(62, 5376, 21504, 262208),
     HEADS(32, 16, 128), ROPE(1000000, 128), GEMMA3, WINDOWS(52, 1024)},
    {NAMES("phi4", "Phi-4", "phi4-14b", "microsoft/phi-4 config"), SIZES(40, 5120, 17920, 100352),
     HEADS(40, 10, 128), ROPE(250000, 128), LLAMA, .stored_qkv = true, .stored_gate_up = true},
    {NAMES("smollm3-3b", "SmolLM3-3B", "smollm3", "HuggingFaceTB/SmolLM3-3B config"),
     SIZES(36, 2048, 11008, 128256), HEADS(16, 4, 128), ROPE(5000000, 128), LLAMA, .tied_head = true},
    {NAMES("mistral-small-24b", "Mistral-Small-24B", "mistral-small-3.1-24b",
           "Mistral-Small-3.1-24B config, text"),
     SIZES(40, 5120, 32768, 131072), HEADS(32, 8, 128), ROPE(1000000000, 128), LLAMA},
    {NAMES("mistral-nemo-12b", "Mistral-Nemo-12B", "mistral-nemo", "Mistral-Nemo-2407 config"),
     SIZES(40, 5120, 14336, 131072), HEADS(32, 8, 128), ROPE(1000000, 128), LLAMA},
    {NAMES("olmo2-1b", "OLMo2-1B", "olmo-2-0425-1b", "allenai/OLMo-2-0425-1B config"),
     SIZES(16, 2048, 8192, 100352), HEADS(16, 16, 128), ROPE(500000, 128), LLAMA, .qk_norm = true,
     .post_norms = true},
    {NAMES("olmo2-7b", "OLMo2-7B", "olmo-2-1124-7b", "allenai/OLMo-2-1124-7B config"),
     SIZES(32, 4096, 11008, 100352), HEADS(32, 32, 128), ROPE(500000, 128), LLAMA, .qk_norm = true,
     .post_norms = true},
    {NAMES("granite3.3-8b", "Granite3.3-8B", "granite-3.3-8b", "ibm-granite/granite-3.3-8b config"),
     SIZES(40, 4096, 12800, 49159), HEADS(32, 8, 128), ROPE(10000000, 128), LLAMA, .tied_head = true},
    /* Experts. */
    {NAMES("qwen3-235b-a22b", "Qwen3-235B-A22B", "", "Qwen3-235B-A22B config"), SIZES(94, 4096, 0, 151936),
     HEADS(64, 4, 128), QWEN3, EXPERTS(128, 8, 1536), .active_rule = ULB_ACTIVE_ALL},
    {NAMES("gpt-oss-20b", "gpt-oss-20B", "", "openai/gpt-oss-20b config"), SIZES(24, 2880, 0, 201088),
     HEADS(64, 8, 64), ROPE(150000, 64), LLAMA, EXPERTS(32, 4, 2880), WINDOWS(12, 128)},
    {NAMES("gpt-oss-120b", "gpt-oss-120B", "", "openai/gpt-oss-120b config"), SIZES(36, 2880, 0, 201088),
     HEADS(64, 8, 64), ROPE(150000, 64), LLAMA, EXPERTS(128, 4, 2880), WINDOWS(18, 128)},
    {NAMES("glm4.5-air", "GLM-4.5-Air", "glm-4.5-air", "zai-org/GLM-4.5-Air config"),
     SIZES(46, 4096, 10944, 151552), HEADS(96, 8, 128), ROPE(1000000, 64), LLAMA, EXPERTS(128, 8, 1408),
     .shared_intermediate = 1408, .dense_layers = 1},
    {NAMES("kimi-k2", "Kimi-K2", "kimi-k2-instruct", "moonshotai/Kimi-K2-Instruct config"),
     SIZES(61, 7168, 18432, 163840), LATENT(64, 1536), ROPE(50000, 64), LLAMA, EXPERTS(384, 8, 2048),
     .shared_intermediate = 2048, .dense_layers = 1, .active_rule = ULB_ACTIVE_NO_ROUTERS},
    {NAMES("minimax-m2", "MiniMax-M2", "", "MiniMaxAI/MiniMax-M2 config"), SIZES(62, 3072, 0, 200064),
     HEADS(48, 8, 128), ROPE(5000000, 64), LLAMA, .qk_norm = true, EXPERTS(256, 8, 1536)},
    BITNET_CPP("125m", 11, 768, 3072, 12),
    BITNET_CPP("350m", 24, 1024, 3072, 16),
    BITNET_CPP("700m", 24, 1536, 4096, 16),
    BITNET_CPP("1b", 24, 2048, 3584, 32),
    BITNET_CPP("1.5b", 28, 1536, 9216, 32),
    BITNET_CPP("2.5b", 30, 2560, 6912, 20),
    BITNET_CPP("3.8b", 24, 3840, 8192, 32),
    BITNET_CPP("7b", 32, 4096, 12032, 32),
    BITNET_CPP("13b", 40, 5120, 13824, 40),
    BITNET_CPP("30b", 60, 6656, 16384, 52),
    BITNET_CPP("70b", 80, 8192, 24576, 64),
    BITNET_CPP("100b", 72, 8192, 45568, 64),
    {IPEX("gpt-117m", "GPT-117M", "tied", 12, 768, 40000, 12), GPT, .tied_head = true, .stored_qkv = true},
    {IPEX("gpt2-1.5b", "GPT-2-1.5B", "tied", 48, 1600, 50257, 25), GPT, .tied_head = true,
     .stored_qkv = true},
    {IPEX("gpt3-175b", "GPT-3-175B", "vocabulary of GPT-2; tied", 96, 12288, 50257, 96), GPT,
     .tied_head = true, .stored_qkv = true},
    {IPEX("megatron-8.3b", "Megatron-8.3B", "tied", 72, 3072, 51200, 24), GPT, .tied_head = true,
     .stored_qkv = true},
    {IPEX("bloom-176b", "BLOOM-176B", "bigscience/bloom", 70, 14336, 250880, 112), GPT, .tied_head = true,
     .stored_qkv = true},
    {NAMES("llama-7b", "LLaMA-7B", "", "IPEX table; llama-7b config"), SIZES(32, 4096, 11008, 32000),
     HEADS(32, 32, 128), ROPE(10000, 128), LLAMA},
    {IPEX("turing-nlg-17b", "Turing-NLG-17B", "tied", 78, 4256, 51200, 28), GPT, .tied_head = true,
     .stored_qkv = true},
    {IPEX("gpt-neox-20b", "GPT-NeoX-20B", "gpt-neox-20b config", 44, 6144, 50432, 64), ROPE(10000, 24), GPT,
     .parallel_block = true, .stored_qkv = true},
    {IPEX("gopher-280b", "Gopher-280B", "no relative positions", 80, 16384, 32000, 128), .norm = ULB_NORM_RMS,
     .function = ULB_FFN_GELU, .tied_head = true},
    {IPEX("mt-nlg-530b", "MT-NLG-530B", "gives no vocabulary", 105, 20480, 0, 128), GPT, .stored_qkv = true},
};
const size_t ulb_model_count = sizeof ulb_models / sizeof *ulb_models;
