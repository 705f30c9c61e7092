/* A library of one kernel, int8 weights by a plain loop, with one of the mistakes that newcomers make:
 * MISTAKE is its word, AT the M from which on it shows, so that a kernel may pass its check and go wrong when
 * it is timed. */
#include "kernels/plugin.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef AT
#define AT 1
#endif

enum mistake {
    none,
    behind,     /* writes y[m1] */
    before,     /* writes y[m0 - 1] */
    overreads,  /* reads a page behind the weights */
    wrongrows,  /* computes all rows of the matrix */
    spoilsw,    /* writes the weights, and puts them back */
    spoilsx,    /* the same of the activations */
    fivetokens, /* wrong from 5 tokens on */
    forever,    /* never returns */
    crashes,    /* a null pointer */
    overflows,  /* the stack */
    illegal,    /* an instruction that no CPU has */
    leaves,     /* exit(0) */
    prints,     /* on standard output */
    threads,    /* starts one and waits for it */
    moves,      /* to the first CPU alone */
    rounds      /* down from then on */
};

static void *nothing(void *argument)
{
    return argument;
}

static void use_stack(void)
{
    volatile char large[64 << 20];
    large[0] = 1;
    large[sizeof large - 1] = large[0];
}

static void move(void)
{
    cpu_set_t set, first;
    sched_getaffinity(0, sizeof set, &set);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        CPU_ZERO(&first);
        CPU_SET(cpu, &first);
        if (CPU_ISSET(cpu, &set) && sched_setaffinity(0, sizeof first, &first) == 0)
            return;
    }
}

/* What goes wrong before the first row. */
static void go_wrong(enum mistake mistake)
{
    volatile int on = 1;
    volatile int *volatile nowhere = NULL;
    pthread_t thread;
    switch (mistake) {
    case forever:
        while (on)
            ;
        break;
    case crashes:
        *nowhere = 1;
        break;
    case overflows:
        use_stack();
        break;
    case illegal:
        __builtin_trap();
    case leaves:
        exit(0);
    case prints:
        printf("hello from the kernel\n");
        break;
    case threads:
        if (pthread_create(&thread, NULL, nothing, NULL) == 0)
            pthread_join(thread, NULL);
        break;
    case moves:
        move();
        break;
    case rounds:
#if defined(__x86_64__)
        __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x2000);
#endif
        break;
    default:
        break;
    }
}

static void run(const struct ulb_gemm *g)
{
    const enum mistake mistake = g->m >= AT ? MISTAKE : none;
    const float *scales = ulb_row_scales(g, &ulb_int8_rows);
    const size_t m0 = mistake == wrongrows ? 0 : g->m0, m1 = mistake == wrongrows ? g->m : g->m1;
    go_wrong(mistake);
    for (size_t n = 0; n < g->n; n++) {
        int8_t *x = (int8_t *)(uintptr_t)g->x + n * g->x_stride;
        float *y = g->y + n * g->y_stride;
        for (size_t m = m0; m < m1; m++) {
            int8_t *w = (int8_t *)(uintptr_t)g->w + m * g->k;
            int32_t dot = mistake == fivetokens && g->n >= 5 && n == 4;
            for (size_t k = 0; k < g->k; k++)
                dot += w[k] * x[k];
            if (mistake == overreads)
                dot += 0 * ((volatile int8_t *)w)[g->k + 4096];
            if (mistake == spoilsw)
                *(volatile int8_t *)w = *(volatile int8_t *)w;
            if (mistake == spoilsx)
                *(volatile int8_t *)x = *(volatile int8_t *)x;
            ulb_epilogue_rows(y + m, &dot, scales + m, 1, 0, g->x_scale[n]);
        }
        if (mistake == behind)
            *(volatile float *)(y + m1) = 0;
        if (mistake == before)
            *((volatile float *)(y + m0) - 1) = 0;
    }
}

static const struct ulb_kernel kernel = {
    .abi = ULB_KERNEL_ABI,
    .variant = "newcomer",
    .isa = "any",
    .layout = &ulb_int8_rows,
    .activation = ULB_ACT_A8,
    .mr = 1,
    .nr = 1,
    .kr = 1,
    .bytes_per_step = 32,
    .run = run,
};

const struct ulb_kernel_library ulb_kernel_library = {ULB_KERNEL_ABI,
                                                      (const struct ulb_kernel *const[]){&kernel}, 1};
