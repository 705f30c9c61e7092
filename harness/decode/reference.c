#include "harness/decode/reference.h"

#include "common/bf16.h"
#include "common/fp16.h"
#include "kernels/activations.h"
#include "harness/verify/test_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reference {
    const struct ulb_decoder_shape *shape;
    const struct ulb_decoder_weights *weights;
    enum ulb_kv_type type;
    size_t layer, position, positions;
    double *x, *normed, *qkv, *attended, *mlp, *result, *router, *product;
    double *share; /* of the active experts */
    size_t *chosen;
    double *keys, *values;   /* [layers][positions][kv_heads * head_dim] */
    int16_t *matrix, *zeros; /* room for the largest one, unpacked and packed anew */
    float *scales, *xf, *yf;
    uint8_t *blocks;
    void *packed, *inputs;
};

/* y = W x for one matrix; scalar kernel, scalar conversion of x. */
static void multiply(struct reference *r, enum ulb_linear linear, size_t expert, const double *x, double *y)
{
    const struct ulb_decoder_weights *weights = r->weights;
    const struct ulb_kernel *kernel = weights->kernel[linear], *reference = ulb_kernel_reference(kernel);
    struct ulb_matrix w = {.m = ulb_linear_rows(r->shape, linear),
                           .k = ulb_linear_columns(r->shape, linear),
                           .values = r->matrix,
                           .scales = r->scales,
                           .zeros = kernel->layout->format->zeros ? r->zeros : NULL,
                           .blocks = r->blocks};
    const char *from = linear == ULB_HEAD ? weights->head : weights->blocks + r->layer * weights->layer_bytes;
    ulb_layout_unpack(kernel->layout, from + weights->offset[linear] + expert * weights->bytes[linear], &w);
    ulb_layout_pack(reference->layout, &w, 0, w.m, r->packed);
    struct ulb_gemm g = {.w = r->packed, .m = w.m, .k = w.k, .n = 1, .m1 = w.m, .y = r->yf, .y_stride = w.m};
    struct ulb_activations a;
    ulb_activations_place(&a, reference->activation, 1, ulb_round_up(w.k, ULB_X_GRAIN), r->inputs);
    for (size_t i = 0; i < w.k; i++)
        r->xf[i] = (float)x[i];
    ulb_activations_set(&a, 0, r->xf, w.k);
    ulb_activations_give(&a, &g);
    reference->run(&g);
    for (size_t i = 0; i < w.m; i++)
        y[i] = (double)r->yf[i];
}

static void norm(const double *x, const float *gain, size_t n, bool centred, double *out)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n && centred; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    double root = sqrt(squares / (double)n + (double)ULB_NORM_EPSILON);
    for (size_t i = 0; i < n; i++)
        out[i] = (double)gain[i] * (x[i] - mean) / root;
}

/* The norm in front of a kind of matrix, into normed. */
static void norm_for(const struct reference *r, enum ulb_linear linear, const double *x)
{
    norm(x, r->weights->gain[linear], ulb_linear_columns(r->shape, linear), r->shape->layer_norm, r->normed);
}

static void rotate(const struct reference *r, double *head)
{
    size_t half = r->shape->rope_dims / 2;
    for (size_t i = 0; i < half; i++) {
        double angle = (double)r->position * pow(r->shape->rope_base, -(double)i / (double)half);
        double a = head[i], b = head[i + half];
        head[i] = a * cos(angle) - b * sin(angle);
        head[i + half] = b * cos(angle) + a * sin(angle);
    }
}

/* What the cache makes of n elements that share a scale. */
static void round_group(enum ulb_kv_type type, const double *x, size_t n, double *out)
{
    double largest = 0, least = type == ULB_KV_Q8_0 ? -127 : -8, most = type == ULB_KV_Q8_0 ? 127 : 7;
    for (size_t i = 0; i < n; i++)
        largest = fabs(x[i]) > fabs(largest) ? x[i] : largest;
    double scale = type == ULB_KV_Q8_0 ? fabs(largest) / 127 : largest / -8;
    scale = (double)ulb_fp16_to_float(ulb_fp16_from_float((float)scale));
    for (size_t i = 0; i < n; i++) {
        if (type == ULB_KV_FP32)
            out[i] = (double)(float)x[i];
        else if (type == ULB_KV_BF16)
            out[i] = (double)ulb_bf16_to_float(ulb_bf16_from_float((float)x[i]));
        else
            out[i] = fabs(scale) > 0 ? scale * fmin(fmax(rint(x[i] / scale), least), most) : 0;
    }
}

static void round_head(enum ulb_kv_type type, const double *x, size_t dims, double *out)
{
    for (size_t i = 0; i < dims; i += ULB_KV_LINES)
        round_group(type, x + i, dims - i < ULB_KV_LINES ? dims - i : ULB_KV_LINES, out + i);
}

/* One query head over all positions so far. */
static void attend(const struct reference *r, const double *q, size_t kv_head, double *out)
{
    size_t dims = r->shape->head_dim, stride = r->shape->kv_heads * dims;
    size_t base = r->layer * r->positions * stride + kv_head * dims;
    double total = 0;
    memset(out, 0, dims * sizeof *out);
    bool windowed = ulb_layer_windowed(r->shape, r->layer) && r->position >= r->shape->window;
    for (size_t p = windowed ? r->position + 1 - r->shape->window : 0; p <= r->position; p++) {
        double score = 0;
        for (size_t d = 0; d < dims; d++)
            score += q[d] * r->keys[base + p * stride + d];
        double share = exp(score / sqrt((double)dims));
        total += share;
        for (size_t d = 0; d < dims; d++)
            out[d] += share * r->values[base + p * stride + d];
    }
    for (size_t d = 0; d < dims; d++)
        out[d] /= total;
}

static void run_attention(struct reference *r)
{
    const struct ulb_decoder_shape *s = r->shape;
    size_t dims = s->head_dim, stride = s->kv_heads * dims;
    double *keys = r->keys + (r->layer * r->positions + r->position) * stride;
    double *values = r->values + (r->layer * r->positions + r->position) * stride;
    norm_for(r, ULB_QKV, r->x);
    multiply(r, ULB_QKV, 0, r->normed, r->qkv);
    for (size_t head = 0; head < s->heads + s->kv_heads; head++) {
        if (s->qk_norm)
            norm(r->qkv + head * dims, r->weights->qk_gain, dims, false, r->qkv + head * dims);
        rotate(r, r->qkv + head * dims);
    }
    for (size_t i = 0; i < stride; i += dims) {
        round_head(r->type, r->qkv + s->heads * dims + i, dims, keys + i);
        round_head(r->type, r->qkv + s->heads * dims + stride + i, dims, values + i);
    }
    for (size_t head = 0; head < s->heads; head++)
        attend(r, r->qkv + head * dims, head / (s->heads / s->kv_heads), r->attended + head * dims);
}

static double function_of(enum ulb_ffn_function function, double v)
{
    switch (function) {
    case ULB_FFN_SILU:
        return v / (1 + exp(-v));
    case ULB_FFN_GELU:
        return v / 2 * (1 + tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
    case ULB_FFN_RELU:
        return v > 0 ? v : 0;
    case ULB_FFN_RELU2:
        return v > 0 ? v * v : 0;
    case ULB_FFN_OTHER: /* ulb_decoder_shape_of() refuses it */
        break;
    }
    return NAN;
}

/* result += share * down(f(gate x) . up x) of one expert. */
static void run_expert(struct reference *r, size_t expert, double share)
{
    size_t n = r->shape->intermediate;
    norm_for(r, ULB_GATE_UP, r->x);
    multiply(r, ULB_GATE_UP, expert, r->normed, r->mlp);
    for (size_t i = 0; i < n; i++)
        r->mlp[i] = function_of(r->shape->function, r->mlp[i]) * (r->shape->gated ? r->mlp[n + i] : 1);
    if (r->shape->sub_norms)
        norm_for(r, ULB_DOWN, r->mlp);
    multiply(r, ULB_DOWN, expert, r->shape->sub_norms ? r->normed : r->mlp, r->product);
    for (size_t i = 0; i < r->shape->hidden; i++)
        r->result[i] += share * r->product[i];
}

/* The active experts: largest logits first, weighted by a softmax over their own. */
static void choose(struct reference *r)
{
    double total = 0, largest = 0;
    norm_for(r, ULB_ROUTER, r->x);
    multiply(r, ULB_ROUTER, 0, r->normed, r->router);
    for (size_t i = 0; i < r->shape->active; i++) {
        size_t best = 0;
        for (size_t expert = 1; expert < r->shape->experts; expert++)
            best = r->router[expert] > r->router[best] ? expert : best;
        largest = i == 0 ? r->router[best] : largest;
        r->chosen[i] = best;
        r->share[i] = exp(r->router[best] - largest);
        total += r->share[i];
        r->router[best] = -HUGE_VAL;
    }
    for (size_t i = 0; i < r->shape->active; i++)
        r->share[i] /= total;
}

static void run_mlp(struct reference *r)
{
    r->chosen[0] = 0;
    r->share[0] = 1;
    if (r->shape->experts > 1)
        choose(r);
    memset(r->result, 0, r->shape->hidden * sizeof *r->result);
    for (size_t i = 0; i < r->shape->active; i++)
        run_expert(r, r->chosen[i], r->share[i]);
}

static void add_attention(struct reference *r)
{
    if (r->shape->sub_norms)
        norm_for(r, ULB_O, r->attended);
    multiply(r, ULB_O, 0, r->shape->sub_norms ? r->normed : r->attended, r->product);
    for (size_t i = 0; i < r->shape->hidden; i++)
        r->x[i] += r->product[i];
}

static void run_layer(struct reference *r)
{
    run_attention(r);
    if (!r->shape->parallel)
        add_attention(r);
    run_mlp(r);
    if (r->shape->parallel)
        add_attention(r);
    for (size_t i = 0; i < r->shape->hidden; i++)
        r->x[i] += r->result[i];
}

static size_t largest_of(const struct ulb_decoder_shape *shape,
                         size_t (*of)(const struct ulb_decoder_shape *, enum ulb_linear))
{
    size_t most = 0;
    for (int linear = 0; linear < ULB_LINEARS; linear++) {
        size_t now = of(shape, (enum ulb_linear)linear);
        most = now > most ? now : most;
    }
    return most;
}

/* Room for everything, generously: of each array the largest that any matrix asks for. */
static bool allocate(struct reference *r)
{
    const struct ulb_decoder_shape *s = r->shape;
    size_t m = largest_of(s, ulb_linear_rows),
           k = ulb_round_up(largest_of(s, ulb_linear_columns), ULB_X_GRAIN);
    size_t cache = s->layers * r->positions * s->kv_heads * s->head_dim;
    double **const vectors[] = {&r->x,      &r->normed, &r->qkv,     &r->attended, &r->mlp,
                                &r->result, &r->router, &r->product, &r->share};
    bool done = true;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        done = (*vectors[i] = calloc(m + k, sizeof(double))) && done;
    r->keys = calloc(cache, sizeof *r->keys);
    r->values = calloc(cache, sizeof *r->values);
    r->matrix = calloc(m * k, sizeof *r->matrix);
    r->zeros = calloc(m * k, sizeof *r->zeros);
    r->blocks = calloc(m * k, 2);
    r->scales = calloc(m * k, sizeof *r->scales);
    r->xf = calloc(k, sizeof *r->xf);
    r->yf = calloc(m, sizeof *r->yf);
    r->chosen = calloc(s->active, sizeof *r->chosen);
    r->packed = aligned_alloc(ULB_CACHE_LINE, ulb_round_up(8 * m * k, ULB_CACHE_LINE));
    r->inputs = aligned_alloc(ULB_CACHE_LINE, ulb_activations_bytes(ULB_ACT_F32, 1, k));
    return done && r->keys && r->values && r->matrix && r->zeros && r->blocks && r->scales && r->xf &&
           r->yf && r->chosen && r->packed && r->inputs;
}

static void release(struct reference *r)
{
    void *const all[] = {r->x,       r->normed, r->qkv,  r->attended, r->mlp,    r->result, r->router,
                         r->product, r->share,  r->keys, r->values,   r->matrix, r->zeros,  r->blocks,
                         r->scales,  r->xf,     r->yf,   r->chosen,   r->packed, r->inputs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

enum ulb_status ulb_decode_reference(const struct ulb_decoder_shape *shape,
                                     const struct ulb_decoder_weights *weights, enum ulb_kv_type type,
                                     const uint32_t *tokens, size_t n, double *logits, struct ulb_error *err)
{
    struct reference r = {.shape = shape, .weights = weights, .type = type, .positions = n};
    bool done = allocate(&r);
    for (r.position = 0; r.position < n && done; r.position++) {
        const uint16_t *row = weights->embedding + tokens[r.position] % weights->embeddings * shape->hidden;
        for (size_t i = 0; i < shape->hidden; i++)
            r.x[i] = (double)ulb_bf16_to_float(row[i]);
        for (r.layer = 0; r.layer < shape->layers; r.layer++)
            run_layer(&r);
    }
    if (done) {
        norm_for(&r, ULB_HEAD, r.x);
        multiply(&r, ULB_HEAD, 0, r.normed, logits);
    }
    release(&r);
    return done ? ULB_OK : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the decoder's reference");
}

double ulb_decode_distance(const float *logits, const double *reference, size_t n)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        difference += ((double)logits[i] - reference[i]) * ((double)logits[i] - reference[i]);
        size += reference[i] * reference[i];
    }
    return sqrt(difference / size);
}
