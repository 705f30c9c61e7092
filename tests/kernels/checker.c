#include "tests/kernels/checker.h"

#include "common/rng.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, TOKENS = 3, LONG_K = 20000, L2_AHEAD = 1024 };

static char verdict[1024];

/* Memory between two pages that fault; the data ends at the one behind (at_end) or begins at the one before.
 */
struct guarded {
    char *map;
    size_t map_bytes;
    char *data;
};

static struct guarded guarded_alloc(size_t bytes, int at_end)
{
    size_t body = ulb_round_up(bytes ? bytes : 1, PAGE);
    struct guarded g = {.map_bytes = body + 2 * PAGE};
    g.map = mmap(NULL, g.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.map == MAP_FAILED || mprotect(g.map + PAGE, body, PROT_READ | PROT_WRITE) != 0)
        abort();
    g.data = g.map + PAGE + (at_end ? body - bytes : 0);
    return g;
}

static void guarded_free(struct guarded *g)
{
    munmap(g->map, g->map_bytes);
}

struct buffers {
    struct guarded w, x, x_scale, x_sums, x_sum, x_zero, y;
    struct ulb_activations tokens;
    struct ulb_gemm gemm;
};

/* All but w's content and the tokens'; their rows are as tight as the kernel may ask for. */
static void open_buffers(const struct ulb_problem *problem, const struct ulb_kernel *kernel, size_t n,
                         int at_end, struct buffers *b)
{
    size_t m = problem->weights.m, k = problem->weights.k;
    enum ulb_activation kind = kernel->activation;
    size_t columns = ulb_round_up(k, kernel->kr);
    b->w = guarded_alloc(ulb_layout_bytes(kernel->layout, m, k), at_end);
    b->x = guarded_alloc(columns * n * ulb_activation_bytes(kind), at_end);
    b->x_scale = guarded_alloc(ulb_activation_scales(kind, columns) * n * sizeof(float), at_end);
    b->x_sums = guarded_alloc(ulb_activation_sums(kind, columns) * n * sizeof(int16_t), at_end);
    b->x_sum = guarded_alloc(n * sizeof(int32_t), at_end);
    b->x_zero = guarded_alloc(n * sizeof(int32_t), at_end);
    b->y = guarded_alloc(n * m * sizeof(float), at_end);
    b->tokens = (struct ulb_activations){.kind = kind,
                                         .n = n,
                                         .columns = columns,
                                         .stride = columns,
                                         .x = b->x.data,
                                         .scale = (float *)(void *)b->x_scale.data,
                                         .sums = (int16_t *)(void *)b->x_sums.data,
                                         .sum = (int32_t *)(void *)b->x_sum.data,
                                         .zero = (int32_t *)(void *)b->x_zero.data};
    ulb_problem_pack(problem, kernel->layout, b->w.data, NULL);
    b->gemm = ulb_problem_gemm(problem, b->w.data, (float *)(void *)b->y.data);
    b->gemm.n = n;
    ulb_activations_give(&b->tokens, &b->gemm);
}

/* Three tokens: the problem's own, its negative, and zeros. */
static void fill_three(const struct ulb_problem *problem, struct buffers *b)
{
    size_t k = problem->weights.k;
    float *token = calloc(k, sizeof *token);
    if (!token)
        abort();
    ulb_activations_set(&b->tokens, 0, problem->xf, k);
    for (size_t i = 0; i < k; i++)
        token[i] = -problem->xf[i];
    ulb_activations_set(&b->tokens, 1, token, k);
    memset(token, 0, k * sizeof *token);
    ulb_activations_set(&b->tokens, 2, token, k);
    free(token);
}

static void close_buffers(struct buffers *b)
{
    guarded_free(&b->w);
    guarded_free(&b->x);
    guarded_free(&b->x_scale);
    guarded_free(&b->x_sums);
    guarded_free(&b->x_sum);
    guarded_free(&b->x_zero);
    guarded_free(&b->y);
}

/* Token 1 is the negative of token 0, token 2 gives zeros; token 0 is compared with the truth. */
static const char *check_tokens(const struct ulb_problem *problem, const struct ulb_kernel *kernel,
                                const float *y)
{
    struct ulb_error err;
    size_t m = problem->weights.m;
    if (ulb_problem_check(problem, kernel, y, &err) != ULB_OK) {
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
    memset(b->y.data, 0xFF, bytes);
    for (size_t begin = 0; begin < b->gemm.m; begin = piece.m1) {
        piece.m0 = begin;
        piece.m1 = begin + kernel->mr * (1 + ulb_rng_below(&rng, 3));
        if (piece.m1 > b->gemm.m)
            piece.m1 = b->gemm.m;
        kernel->run(&piece);
    }
    return memcmp(b->y.data, whole, bytes) == 0 ? "" : "the run in pieces differs from the whole run";
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

/* The same, one token, for a kernel that may ask for the pieces itself; one: its rows. */
static const char *check_more(const struct ulb_kernel *kernel, struct buffers *b, const float *one)
{
    struct pieces pieces = {{kernel->mr + b->gemm.k}, b->gemm.m, kernel->mr};
    struct ulb_gemm piece = b->gemm;
    size_t calls = 0, bytes = piece.m * sizeof(float);
    piece.n = 1;
    piece.more = next_piece;
    piece.rows = &pieces;
    memset(b->y.data, 0xFF, bytes);
    for (; next_piece(&pieces, &piece.m0, &piece.m1); calls++)
        kernel->run(&piece);
    if (kernel->tables && b->gemm.k <= LONG_K && calls > 1)
        return "a kernel with tables did not ask for more rows";
    return memcmp(b->y.data, one, bytes) == 0 ? "" : "rows that were asked for differ from the whole run";
}

/* The first token alone: the bits of several, whole, unless the row says otherwise, and then its truth. */
static const char *check_one(const struct ulb_problem *problem, const struct ulb_kernel *kernel,
                             struct buffers *b, const float *whole)
{
    struct ulb_gemm alone = b->gemm;
    struct ulb_error err;
    const size_t bytes = alone.m * sizeof(float);
    float *one = malloc(bytes);
    if (!one)
        abort();
    alone.n = 1;
    memset(b->y.data, 0xFF, bytes);
    kernel->run(&alone);
    memcpy(one, b->y.data, bytes);
    const char *fault = "";
    if (!kernel->tokens_round && memcmp(one, whole, bytes) != 0)
        fault = "the first token alone gives another result";
    else if (ulb_problem_check(problem, kernel, one, &err) != ULB_OK)
        fault = "the first token alone is not its truth";
    else
        fault = check_more(kernel, b, one);
    free(one);
    return fault;
}

/* Rows outside [m0, m1) must not be touched. */
static const char *check_canaries(const struct ulb_kernel *kernel, struct buffers *b)
{
    struct ulb_gemm piece = b->gemm;
    if (piece.m <= 2 * kernel->mr)
        return "";
    piece.n = 1;
    piece.m0 = kernel->mr;
    piece.m1 = 2 * kernel->mr;
    memset(b->y.data, 0x5A, piece.m * sizeof(float));
    kernel->run(&piece);
    for (size_t i = 0; i < piece.m * sizeof(float); i++) {
        size_t row = i / sizeof(float);
        if ((row < piece.m0 || row >= piece.m1) && b->y.data[i] != 0x5A)
            return "a row outside the range was written";
    }
    return "";
}

static const char *check_buffers(const struct ulb_problem *problem, const struct ulb_kernel *kernel,
                                 int at_end)
{
    struct buffers b;
    open_buffers(problem, kernel, TOKENS, at_end, &b);
    fill_three(problem, &b);
    size_t bytes = TOKENS * problem->weights.m * sizeof(float);
    float *whole = malloc(bytes);
    if (!whole)
        abort();
    memset(b.y.data, 0xFF, bytes);
    b.gemm.l2_ahead = kernel->prefetch_choice && at_end ? L2_AHEAD : 0;
    kernel->run(&b.gemm);
    memcpy(whole, b.y.data, bytes);
    const char *fault = check_tokens(problem, kernel, whole);
    /* Prefetches that go elsewhere may be another piece of code. */
    b.gemm.l2_ahead = kernel->prefetch_choice && !at_end ? L2_AHEAD : 0;
    kernel->run(&b.gemm);
    if (!*fault && memcmp(whole, b.y.data, bytes) != 0)
        fault = "a second run differs from the first";
    if (!*fault)
        fault = check_split(kernel, &b, whole);
    if (!*fault)
        fault = check_one(problem, kernel, &b, whole);
    if (!*fault)
        fault = check_canaries(kernel, &b);
    free(whole);
    close_buffers(&b);
    return fault;
}

static const char *check_here(const struct ulb_kernel *kernel, const struct check *check)
{
    struct ulb_problem problem;
    struct ulb_error err;
    if (ulb_problem_open(&problem, kernel, check->m, check->k, check->fill, 42, NULL, &err) != ULB_OK)
        return "the problem could not be made";
    const char *fault = "";
    /* Reads before a buffer do not depend on K: shorter rows show them. */
    for (int at_end = check->k > LONG_K; at_end < 2 && !*fault; at_end++)
        fault = check_buffers(&problem, kernel, at_end);
    ulb_problem_close(&problem);
    return fault;
}

/* The last token alone must give the same bits, for logits should not depend on how many are computed at
 * once, unless the row says that it rounds otherwise; y then is that token's, for its truth. */
static bool last_token_alone_is_the_same(const struct ulb_kernel *kernel, struct buffers *b)
{
    const struct ulb_activations *all = &b->tokens;
    const size_t last = all->n - 1, m = b->gemm.m, bytes = m * sizeof(float);
    struct ulb_activations one = *all;
    struct ulb_gemm alone = b->gemm;
    float *y = (float *)(void *)b->y.data + last * m, *together = malloc(bytes);
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
    kernel->run(&alone);
    bool same = memcmp(together, y, bytes) == 0;
    free(together);
    return same;
}

static const char *check_tokens_here(const struct ulb_kernel *kernel, const struct check *check)
{
    struct ulb_problem problem;
    struct ulb_error err;
    if (ulb_problem_open_tokens(&problem, kernel, check->m, check->k, check->tokens, check->fill, 42, NULL,
                                &err) != ULB_OK)
        return "the problem could not be made";
    enum ulb_status status = ULB_OK;
    for (int at_end = 0; at_end < 2 && status == ULB_OK; at_end++) {
        struct buffers b;
        open_buffers(&problem, kernel, check->tokens, at_end, &b);
        for (size_t i = 0; i < check->tokens; i++)
            ulb_activations_set(&b.tokens, i, problem.xf + i * problem.x.columns, check->k);
        memset(b.y.data, 0xFF, check->tokens * check->m * sizeof(float));
        b.gemm.l2_ahead = kernel->prefetch_choice && at_end ? L2_AHEAD : 0;
        kernel->run(&b.gemm);
        status = ulb_problem_check(&problem, kernel, (const float *)(const void *)b.y.data, &err);
        if (status == ULB_OK && !last_token_alone_is_the_same(kernel, &b))
            status = kernel->tokens_round
                         ? ulb_problem_check(&problem, kernel, (const float *)(const void *)b.y.data, &err)
                         : ulb_fail(&err, ULB_FINDING, "the last token alone gives another result");
        close_buffers(&b);
    }
    ulb_problem_close(&problem);
    snprintf(verdict, sizeof verdict, "%s", status == ULB_OK ? "" : err.message);
    return verdict;
}

/* Which of the checks the child is at, for the parent to tell when a signal ends it. */
static size_t *shared_index(void)
{
    static size_t *index;
    if (!index)
        index = mmap(NULL, sizeof *index, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (index == MAP_FAILED)
        abort();
    return index;
}

static void work_in_child(const struct ulb_kernel *kernel, const struct check *checks, size_t n, int channel)
{
    const char *fault = "";
    size_t *index = shared_index();
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    for (*index = 0; *index < n; ++*index) {
        const struct check *check = &checks[*index];
        fault = check->tokens ? check_tokens_here(kernel, check) : check_here(kernel, check);
        if (*fault)
            break;
    }
    ssize_t written = write(channel, fault, strlen(fault));
    _exit(written < 0);
}

/* In a child process: a fault or a trap is a verdict like any other. One for all checks of a kernel, because
 * under a sanitizer a fork takes longer than most of them. */
const char *check_kernel(const struct ulb_kernel *kernel, const struct check *checks, size_t n)
{
    static char message[sizeof verdict + 128];
    int channel[2], status = 0;
    if (pipe(channel) != 0)
        abort();
    fflush(NULL);
    *shared_index() = 0;
    pid_t child = fork();
    if (child == 0)
        work_in_child(kernel, checks, n, channel[1]);
    close(channel[1]);
    ssize_t length = read(channel[0], verdict, sizeof verdict - 1);
    close(channel[0]);
    verdict[length > 0 ? length : 0] = '\0';
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        snprintf(verdict, sizeof verdict, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0) /* as a sanitizer ends it */
        snprintf(verdict, sizeof verdict, "ended with status %d", WEXITSTATUS(status));
    if (!*verdict)
        return "";
    const struct check *at = &checks[*shared_index()];
    snprintf(message, sizeof message, "%zux%zu, fill %d, %zu tokens: %s", at->m, at->k, at->fill, at->tokens,
             verdict);
    return message;
}
