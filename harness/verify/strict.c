#include "harness/verify/strict.h"

#include "common/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, GUARD = 16 * PAGE, TOKENS = 3, LONG_K = 20000, DISTANCE = 1024, CANARY = 0x5A };

static char verdict[1024];

/* Odd while the kernel is at work; somebody else may look at it. */
static volatile size_t *counted;

static void call(const struct ulb_kernel *kernel, const struct ulb_gemm *gemm)
{
    ++*counted;
    kernel->run(gemm);
    ++*counted;
}

/* Memory between two stretches of pages that fault. The data begins right behind the one before, or ends at
 * the one behind once it was moved there. Kept from test case to test case: to map and fill it for each takes
 * long. */
struct guarded {
    char *map;
    size_t room; /* between the two */
    char *data;
    size_t bytes;
};

static void guarded_take(struct guarded *g, size_t bytes)
{
    size_t room = ulb_round_up(bytes ? bytes : 1, PAGE);
    if (room > g->room) {
        if (g->map)
            munmap(g->map, g->room + 2 * GUARD);
        g->map = mmap(NULL, room + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (g->map == MAP_FAILED)
            abort();
        g->room = room;
    }
    if (mprotect(g->map + GUARD, g->room, PROT_READ | PROT_WRITE) != 0)
        abort();
    g->data = g->map + GUARD;
    g->bytes = bytes;
}

static void guarded_move_to_end(struct guarded *g)
{
    g->data = memmove(g->map + GUARD + g->room - g->bytes, g->data, g->bytes);
}

static void guarded_protect(const struct guarded *g, int protection)
{
    if (mprotect(g->map + GUARD, g->room, protection) != 0)
        abort();
}

/* What lies between the data and the pages that fault. */
static void guarded_set_slack(const struct guarded *g)
{
    const size_t before = (size_t)(g->data - g->map) - GUARD;
    memset(g->map + GUARD, CANARY, before);
    memset(g->data + g->bytes, CANARY, g->room - before - g->bytes);
}

static bool guarded_has_slack(const struct guarded *g)
{
    for (const char *at = g->map + GUARD; at < g->map + GUARD + g->room; at++) {
        if ((at < g->data || at >= g->data + g->bytes) && *at != CANARY)
            return false;
    }
    return true;
}

enum { W, X, X_SCALE, X_SUMS, X_SUM, X_ZERO, Y, BUFFERS };

static const char *const buffer_names[BUFFERS] = {"weights",
                                                  "activations",
                                                  "activations' scales",
                                                  "activations' sums",
                                                  "tokens' sums",
                                                  "tokens' zero points",
                                                  "results"};

static struct buffers {
    struct guarded of[BUFFERS];
    struct ulb_activations tokens;
    struct ulb_gemm gemm;
} buffers;

/* All but the results: what a kernel may read and not write. */
static void protect_inputs(const struct buffers *b, int protection)
{
    for (size_t i = 0; i < Y; i++)
        guarded_protect(&b->of[i], protection);
}

/* tokens and gemm of where the data is now. */
static void point_at_buffers(const struct ulb_test_case *test_case, struct buffers *b)
{
    const size_t n = b->tokens.n;
    b->tokens.x = b->of[X].data;
    b->tokens.scale = (float *)(void *)b->of[X_SCALE].data;
    b->tokens.sums = (int16_t *)(void *)b->of[X_SUMS].data;
    b->tokens.sum = (int32_t *)(void *)b->of[X_SUM].data;
    b->tokens.zero = (int32_t *)(void *)b->of[X_ZERO].data;
    b->gemm = ulb_test_case_gemm(test_case, b->of[W].data, (float *)(void *)b->of[Y].data);
    b->gemm.n = n;
    ulb_activations_give(&b->tokens, &b->gemm);
}

/* All but the tokens' content, at the beginnings. Rows of tokens are as tight as the kernel may require. */
static struct buffers *fill_buffers(const struct ulb_test_case *test_case, const struct ulb_kernel *kernel,
                                    size_t n)
{
    struct buffers *b = &buffers;
    const enum ulb_activation kind = kernel->activation;
    const size_t m = test_case->weights.m, columns = ulb_round_up(test_case->weights.k, kernel->kr);
    guarded_take(&b->of[W], ulb_layout_bytes(kernel->layout, m, test_case->weights.k));
    guarded_take(&b->of[X], columns * n * ulb_activation_bytes(kind));
    guarded_take(&b->of[X_SCALE], ulb_activation_scales(kind, columns) * n * sizeof(float));
    guarded_take(&b->of[X_SUMS], ulb_activation_sums(kind, columns) * n * sizeof(int16_t));
    guarded_take(&b->of[X_SUM], n * sizeof(int32_t));
    guarded_take(&b->of[X_ZERO], n * sizeof(int32_t));
    guarded_take(&b->of[Y], n * m * sizeof(float));
    b->tokens = (struct ulb_activations){.kind = kind, .n = n, .columns = columns, .stride = columns};
    point_at_buffers(test_case, b);
    ulb_test_case_pack(test_case, kernel->layout, b->of[W].data, NULL);
    return b;
}

static void move_to_ends(const struct ulb_test_case *test_case, struct buffers *b)
{
    protect_inputs(b, PROT_READ | PROT_WRITE);
    for (size_t i = 0; i < BUFFERS; i++)
        guarded_move_to_end(&b->of[i]);
    point_at_buffers(test_case, b);
}

/* Three tokens: the test case's own, its negative, and zeros. */
static void fill_three(const struct ulb_test_case *test_case, struct buffers *b)
{
    size_t k = test_case->weights.k;
    float *token = calloc(k, sizeof *token);
    if (!token)
        abort();
    ulb_activations_set(&b->tokens, 0, test_case->xf, k);
    for (size_t i = 0; i < k; i++)
        token[i] = -test_case->xf[i];
    ulb_activations_set(&b->tokens, 1, token, k);
    memset(token, 0, k * sizeof *token);
    ulb_activations_set(&b->tokens, 2, token, k);
    free(token);
}

/* Token 1 is the negative of token 0, token 2 gives zeros; token 0 is compared with the reference. */
static const char *check_tokens(const struct ulb_test_case *test_case, const struct ulb_kernel *kernel,
                                const float *y)
{
    struct ulb_error err;
    size_t m = test_case->weights.m;
    if (ulb_test_case_check(test_case, kernel, y, &err) != ULB_OK) {
        snprintf(verdict, sizeof verdict, "%s", err.message);
        return verdict;
    }
    for (size_t i = 0; i < m; i++) {
        if (y[m + i] != -y[i])
            return "the second token's result is not the first one's negative";
        if (y[2 * m + i] != 0)
            return "a token of zeros does not give zeros";
    }
    return "";
}

/* The same rows in pieces of random size, each a multiple of mr, must give the same bits. */
static const char *check_split(const struct ulb_kernel *kernel, struct buffers *b, const float *whole)
{
    struct ulb_rng rng = {kernel->mr + b->gemm.k};
    struct ulb_gemm piece = b->gemm;
    size_t bytes = TOKENS * piece.m * sizeof(float);
    memset(b->of[Y].data, 0xFF, bytes);
    for (size_t begin = 0; begin < b->gemm.m; begin = piece.m1) {
        piece.m0 = begin;
        piece.m1 = begin + kernel->mr * (1 + ulb_rng_below(&rng, 3));
        if (piece.m1 > b->gemm.m)
            piece.m1 = b->gemm.m;
        call(kernel, &piece);
    }
    return memcmp(b->of[Y].data, whole, bytes) == 0 ? "" : "the run in pieces differs from the whole run";
}

struct pieces {
    struct ulb_rng rng;
    size_t left, mr; /* rows [0, left) are still to be given, from the back, as a thief is */
};

static bool next_piece(void *arg, size_t *m0, size_t *m1)
{
    struct pieces *pieces = arg;
    size_t tiles = (pieces->left + pieces->mr - 1) / pieces->mr, taken = 1 + ulb_rng_below(&pieces->rng, 3);
    if (tiles == 0)
        return false;
    *m1 = pieces->left;
    *m0 = pieces->left = (tiles > taken ? tiles - taken : 0) * pieces->mr;
    return true;
}

/* The same, one token, for a kernel that takes the pieces itself by more(). one: its rows. */
static const char *check_more(const struct ulb_kernel *kernel, struct buffers *b, const float *one)
{
    struct pieces pieces = {{kernel->mr + b->gemm.k}, b->gemm.m, kernel->mr};
    struct ulb_gemm piece = b->gemm;
    size_t calls = 0, bytes = piece.m * sizeof(float);
    piece.n = 1;
    piece.more = next_piece;
    piece.rows = &pieces;
    memset(b->of[Y].data, 0xFF, bytes);
    for (; next_piece(&pieces, &piece.m0, &piece.m1); calls++)
        call(kernel, &piece);
    if (kernel->uses_lut && b->gemm.k <= LONG_K && calls > 1)
        return "a kernel with tables did not ask for more rows";
    return memcmp(b->of[Y].data, one, bytes) == 0 ? "" : "rows that were asked for differ from the whole run";
}

/* A kernel may read blocks as files hold them, row by row. It adds up one token's sums over lanes of columns,
 * and those of a register tile over lanes of rows. Bits of several tokens are then not those of one. */
static bool rounds_by_batch(const struct ulb_kernel *kernel)
{
    return kernel->layout->format->block && kernel->mr == 1 && kernel->nr > 1;
}

/* The first token alone: its reference, and unless the kernel rounds by batch the bits of several, whole. */
static const char *check_one(const struct ulb_test_case *test_case, const struct ulb_kernel *kernel,
                             struct buffers *b, const float *whole)
{
    struct ulb_gemm alone = b->gemm;
    struct ulb_error err;
    const size_t bytes = alone.m * sizeof(float);
    float *one = malloc(bytes);
    if (!one)
        abort();
    alone.n = 1;
    memset(b->of[Y].data, 0xFF, bytes);
    call(kernel, &alone);
    memcpy(one, b->of[Y].data, bytes);
    const char *fault = "";
    if (!rounds_by_batch(kernel) && memcmp(one, whole, bytes) != 0)
        fault = "the first token alone gives another result";
    else if (ulb_test_case_check(test_case, kernel, one, &err) != ULB_OK)
        fault = "the first token alone is not its reference";
    else
        fault = check_more(kernel, b, one);
    free(one);
    return fault;
}

/* Rows outside [m0, m1) of so many tokens must not be touched. */
static const char *check_canaries(const struct ulb_kernel *kernel, struct buffers *b, size_t tokens)
{
    struct ulb_gemm piece = b->gemm;
    const size_t bytes = tokens * piece.m * sizeof(float);
    if (piece.m <= kernel->mr)
        return "";
    piece.n = tokens;
    piece.m0 = piece.m > 2 * kernel->mr ? kernel->mr : 0;
    piece.m1 = piece.m0 + kernel->mr;
    memset(b->of[Y].data, CANARY, bytes);
    call(kernel, &piece);
    for (size_t i = 0; i < bytes; i++) {
        size_t row = i / sizeof(float) % piece.m;
        if ((row < piece.m0 || row >= piece.m1) && b->of[Y].data[i] != CANARY)
            return "writes a row outside of [m0, m1)";
    }
    return "";
}

/* Prefetches that go elsewhere may be another piece of code. */
enum { PIECES = 3 };

static struct ulb_prefetch setting_of(const struct ulb_kernel *kernel, size_t piece)
{
    static const struct ulb_prefetch settings[][PIECES] = {
        [ULB_PREFETCH_TUNABLE] = {{ULB_PREFETCH_OWN, 0},
                                  {ULB_PREFETCH_L2, DISTANCE},
                                  {ULB_PREFETCH_L1, DISTANCE}},
        [ULB_PREFETCH_OWN_OR_NONE] = {{ULB_PREFETCH_OWN, 0}, {ULB_PREFETCH_NONE, 0}, {ULB_PREFETCH_NONE, 0}}};
    return settings[kernel->prefetch.kind][piece];
}

/* first: the piece of code that goes first, where prefetches are a choice; the last is left for what follows.
 */
static const char *check_buffers(const struct ulb_test_case *test_case, const struct ulb_kernel *kernel,
                                 size_t first, struct buffers *b)
{
    size_t bytes = TOKENS * test_case->weights.m * sizeof(float);
    float *whole = malloc(bytes);
    if (!whole)
        abort();
    memset(b->of[Y].data, 0xFF, bytes);
    b->gemm.prefetch = setting_of(kernel, first);
    call(kernel, &b->gemm);
    memcpy(whole, b->of[Y].data, bytes);
    const char *fault = check_tokens(test_case, kernel, whole);
    for (size_t i = 1; i < PIECES; i++) {
        b->gemm.prefetch = setting_of(kernel, (first + i) % PIECES);
        call(kernel, &b->gemm);
        if (!*fault && memcmp(whole, b->of[Y].data, bytes) != 0)
            fault = "a second run differs from the first";
    }
    if (!*fault)
        fault = check_split(kernel, b, whole);
    if (!*fault)
        fault = check_one(test_case, kernel, b, whole);
    if (!*fault)
        fault = check_canaries(kernel, b, 1);
    if (!*fault)
        fault = check_canaries(kernel, b, TOKENS);
    free(whole);
    return fault;
}

/* Between the two ends of the guarded memory: what the kernel reads becomes read-only, what it must not write
 * is looked at. */
static void close_buffers(const struct buffers *b)
{
    guarded_set_slack(&b->of[Y]);
    protect_inputs(b, PROT_READ);
}

static const char *slack_fault(const struct buffers *b, const char *fault)
{
    return *fault || guarded_has_slack(&b->of[Y]) ? fault : "writes outside of its results";
}

static const char *check_here(const struct ulb_test_case *test_case, const struct ulb_kernel *kernel)
{
    const char *fault = "";
    struct buffers *b = fill_buffers(test_case, kernel, TOKENS);
    fill_three(test_case, b);
    close_buffers(b);
    /* Reads before a buffer do not depend on K: shorter rows show them. */
    if (test_case->weights.k <= LONG_K)
        fault = slack_fault(b, check_buffers(test_case, kernel, 0, b));
    move_to_ends(test_case, b);
    close_buffers(b);
    if (!*fault)
        fault = slack_fault(b, check_buffers(test_case, kernel, 1, b));
    return fault;
}

/* The last token alone must give the same bits, unless the kernel says that it rounds otherwise. Logits
 * should not depend on how many are computed at once. y then is that token's, for its reference. */
static bool last_token_alone_is_the_same(const struct ulb_kernel *kernel, struct buffers *b)
{
    const struct ulb_activations *all = &b->tokens;
    const size_t last = all->n - 1, m = b->gemm.m, bytes = m * sizeof(float);
    struct ulb_activations one = *all;
    struct ulb_gemm alone = b->gemm;
    float *y = (float *)(void *)b->of[Y].data + last * m, *together = malloc(bytes);
    if (!together)
        abort();
    memcpy(together, y, bytes);
    one.n = 1;
    one.x = (char *)all->x + last * all->stride * ulb_activation_bytes(all->kind);
    one.scale += last * ulb_activation_scales(all->kind, all->columns);
    one.sums += last * ulb_activation_sums(all->kind, all->columns);
    one.sum += last;
    one.zero += last;
    alone.n = 1;
    alone.y = y;
    ulb_activations_give(&one, &alone);
    memset(y, 0xFF, bytes);
    call(kernel, &alone);
    bool same = memcmp(together, y, bytes) == 0;
    free(together);
    return same;
}

static const char *check_tokens_here(const struct ulb_test_case *test_case, const struct ulb_kernel *kernel,
                                     size_t tokens)
{
    struct ulb_error err;
    enum ulb_status status = ULB_OK;
    const char *fault = "";
    struct buffers *b = fill_buffers(test_case, kernel, tokens);
    for (size_t i = 0; i < tokens; i++)
        ulb_activations_set(&b->tokens, i, test_case->xf + i * test_case->x.columns, test_case->weights.k);
    for (int at_end = 0; at_end < 2 && status == ULB_OK && !*fault; at_end++) {
        const float *y;
        if (at_end)
            move_to_ends(test_case, b);
        close_buffers(b);
        y = (const float *)(const void *)b->of[Y].data;
        memset(b->of[Y].data, 0xFF, b->of[Y].bytes);
        b->gemm.prefetch = setting_of(kernel, at_end ? 1 + tokens % 2 : 0);
        call(kernel, &b->gemm);
        status = ulb_test_case_check(test_case, kernel, y, &err);
        if (status == ULB_OK && !last_token_alone_is_the_same(kernel, b))
            status = rounds_by_batch(kernel)
                         ? ulb_test_case_check(test_case, kernel, y, &err)
                         : ulb_fail(&err, ULB_FINDING, "the last token alone gives another result");
        fault = slack_fault(b, "");
    }
    if (status == ULB_OK)
        return fault;
    snprintf(verdict, sizeof verdict, "%s", err.message);
    return verdict;
}

const char *ulb_strict_check(const struct ulb_kernel *kernel, const struct ulb_test_case *test_case,
                             size_t tokens, volatile size_t *counter)
{
    static volatile size_t own;
    counted = counter ? counter : &own;
    return tokens ? check_tokens_here(test_case, kernel, tokens) : check_here(test_case, kernel);
}

bool ulb_strict_place(const void *address, char *text, size_t bytes)
{
    const char *at = address;
    for (size_t i = 0; i < BUFFERS; i++) {
        const struct guarded *g = &buffers.of[i];
        if (!g->map || at < g->map || at >= g->map + g->room + 2 * GUARD)
            continue;
        const char *how = at < g->map + GUARD              ? "touches memory before its"
                          : at >= g->map + GUARD + g->room ? "touches memory behind its"
                                                           : "writes its";
        snprintf(text, bytes, "%s %s", how, buffer_names[i]);
        return true;
    }
    return false;
}
