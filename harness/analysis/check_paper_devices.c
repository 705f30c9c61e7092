/* Published values of GPUs: which follow from the devices' bandwidths, rates and launch, and which do not. */
#include "common/units.h"
#include "harness/analysis/check_paper_private.h"
#include "models/platform/platform.h"
#include "shapes/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double INT2_BITS = 2, INT8_BITS = 8, BF16_BITS = 16, SMALL_WEIGHTS = 1600.0 * 1600.0;

/* Operations of one 256-bit dot product of bytes. */
static const double DOT_OPERATIONS = 64;

static double published(const struct ulb_paper_check *check, const char *id)
{
    const struct ulb_paper_row *row = ulb_paper_find(check, id);
    return row ? row->published : NAN;
}

static double read_us(const struct ulb_device_platform *device, double weights, double bits)
{
    return weights * bits / 8 / device->bandwidth * 1e6;
}

/* ---- figures of the platform files ---- */

#define FIGURE(name, expression)                                                                             \
    static double name(const struct ulb_paper_machines *machines, const struct ulb_paper_check *check)       \
    {                                                                                                        \
        (void)machines;                                                                                      \
        (void)check;                                                                                         \
        return expression;                                                                                   \
    }

FIGURE(lnl_gpu_cores, machines->lnl_gpu.cores)
FIGURE(lnl_gpu_bandwidth, machines->lnl_gpu.bandwidth / ULB_GIB)
FIGURE(lnl_gpu_memory, machines->lnl_gpu.memory_bytes / ULB_GB)
FIGURE(lnl_gpu_launch, machines->lnl_gpu.launch_s * 1e6)
FIGURE(lnl_gpu_rate, ulb_device_platform_peak(&machines->lnl_gpu, "int2") / 1e12)
FIGURE(bmg_cores, machines->bmg.cores)
FIGURE(bmg_bandwidth, machines->bmg.bandwidth / ULB_GB)
FIGURE(bmg_memory, machines->bmg.memory_bytes / ULB_GB)
FIGURE(bmg_rate, ulb_device_platform_peak(&machines->bmg, "int2") / 1e12)
FIGURE(rate_ratio,
       ulb_device_platform_peak(&machines->bmg, "int2") / ulb_device_platform_peak(&machines->bmg, "int8"))
FIGURE(a100_over_bmg, machines->a100.bandwidth / machines->bmg.bandwidth)

/* ---- what follows ---- */

FIGURE(bf16_over_int2, BF16_BITS / INT2_BITS)
FIGURE(int8_over_int2, INT8_BITS / INT2_BITS)
FIGURE(bytes_in_a_lane, 32 / INT8_BITS)
FIGURE(a100_over_arl, published(check, "g061") / published(check, "g062"))
FIGURE(a100_over_arlh, published(check, "g061") / published(check, "g063"))
FIGURE(a100_bandwidth_over_arl, machines->a100.bandwidth / machines->arl.bandwidth)
FIGURE(a100_bandwidth_over_arlh, machines->a100.bandwidth / machines->arlh.bandwidth)
FIGURE(small_us, read_us(&machines->lnl_gpu, SMALL_WEIGHTS, INT2_BITS))
FIGURE(small_gibps,
       SMALL_WEIGHTS *INT2_BITS / 8 /
           (read_us(&machines->lnl_gpu, SMALL_WEIGHTS, INT2_BITS) * 1e-6 + machines->lnl_gpu.launch_s) /
           ULB_GIB)
FIGURE(int2_gemm_below, 100 * (1 - published(check, "g036") / published(check, "g037")))
FIGURE(int2_gemm_share, 100 * published(check, "g036") / published(check, "g037"))
FIGURE(gemm_over_cpu, published(check, "g037") / published(check, "g039"))
FIGURE(lnl_cpu_tops, DOT_OPERATIONS *(machines->lnl.classes[0].cores * machines->lnl.classes[0].hz +
                                      machines->lnl.classes[1].cores * machines->lnl.classes[1].hz) /
                         1e12)
FIGURE(llama_16_gb, machines->llama_weights *BF16_BITS / 8 / ULB_GB)
FIGURE(llama_2_gb, machines->llama_weights *INT2_BITS / 8 / ULB_GB)
FIGURE(bmg_over_lnl_gpu, published(check, "g055") / published(check, "g047"))
FIGURE(bmg_bandwidth_over_lnl_gpu, machines->bmg.bandwidth / machines->lnl_gpu.bandwidth)
FIGURE(bmg_over_a100, published(check, "g072") / published(check, "g061"))
FIGURE(arl_cores, machines->arl.classes[0].cores + machines->arl.classes[1].cores)
FIGURE(arlh_cores, machines->arlh.classes[0].cores + machines->arlh.classes[1].cores)
FIGURE(arl_core_gibps, machines->arl.bandwidth / arl_cores(machines, check) / ULB_GIB)
FIGURE(mobilellm_speedup, machines->mobilellm_us_16 / machines->mobilellm_us_2)

/* The alpha that meets both bounds of Amdahl's law which are published of the model. */
static double llama_speedup(const struct ulb_paper_machines *machines, const struct ulb_paper_check *check)
{
    (void)machines;
    const struct ulb_paper_row *row = ulb_paper_find(check, "arl.alpha.8b");
    return row ? ulb_amdahl(row->modelled, BF16_BITS / INT2_BITS) : (double)NAN;
}

static double arl_speedup(const struct ulb_paper_machines *machines, const struct ulb_paper_check *check)
{
    const double weights = 2560.0 * 2560.0, fork_join = machines->arl.fork_join_s;
    (void)check;
    return (weights * BF16_BITS / 8 / machines->arl.bandwidth + fork_join) /
           (weights * INT2_BITS / 8 / machines->arl.bandwidth + fork_join);
}

static const struct ulb_device_rule rules[] = {
    {"g002", bf16_over_int2, NULL},
    {"g006", a100_over_bmg, NULL},
    {"g007", a100_over_arl, NULL},
    {"g008", a100_over_arlh, NULL},
    {"g009", a100_bandwidth_over_arl, NULL},
    {"g010", a100_bandwidth_over_arlh,
     "4 times 456 GB/s over ARLH's 75 GiB/s; no one bandwidth is 17 times ARL's 98 and 20 times 75"},
    {"g013", lnl_gpu_cores, NULL},
    {"g014", lnl_gpu_bandwidth, NULL},
    {"g015", lnl_gpu_memory, NULL},
    {"g017", bmg_cores, NULL},
    {"g018", bmg_memory, NULL},
    {"g019", bmg_bandwidth, NULL},
    {"g022", lnl_gpu_rate, NULL},
    {"g023", bmg_rate, NULL},
    {"g024", rate_ratio, NULL},
    {"g027", small_us, NULL},
    {"g028", lnl_gpu_launch, NULL},
    {"g029", small_gibps,
     "640,000 bytes in 6.1 us of reading and 2 us of launch; 53 are 11 us (GiB) or 12 us (GB)"},
    {"g035", int2_gemm_below, NULL},
    {"g038", int2_gemm_share, NULL},
    {"g039", lnl_cpu_tops,
     "one 256-bit dot product of bytes a cycle and core, 64 operations, at the clocks of IV-B"},
    {"g046", llama_speedup,
     "Amdahl with the alpha that gives both bounds of ARL; 6.3 needs 0.961; by bytes 8.0, with a bf16 head "
     "5.4"},
    {"g049", gemm_over_cpu, NULL},
    {"g053", llama_16_gb, NULL},
    {"g054", llama_2_gb, NULL},
    {"g056", bmg_over_lnl_gpu, NULL},
    {"g057", bmg_bandwidth_over_lnl_gpu, "456 GB/s over 97 GiB/s in one unit; 456 / 97 as printed is 4.70"},
    {"g059", mobilellm_speedup, "bytes over bandwidth and 2 us of launch for each GEMV of the model"},
    {"g071", arl_speedup, "bytes over bandwidth and 1 us of fork and join"},
    {"g073", bmg_over_a100, NULL},
    {"g076", a100_over_bmg, NULL},
    {"c007", arl_cores, NULL},
    {"c008", arlh_cores, NULL},
    {"c009", arl_core_gibps, NULL},
    {"c018", int8_over_int2, NULL},
    {"c019", bf16_over_int2, NULL},
    {"c020", bytes_in_a_lane, NULL},
};

const struct ulb_device_rule *ulb_device_rule_find(const char *id)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].id, id) == 0)
            return &rules[i];
    }
    return NULL;
}

/* ---- the machines ---- */

static enum ulb_status load_device(const char *name, struct ulb_device_platform *device,
                                   struct ulb_error *err)
{
    bool is_device;
    enum ulb_status status = ulb_device_platform_load(name, device, &is_device, err);
    return status == ULB_OK && !is_device ? ulb_fail(err, ULB_BAD_INPUT, "platform %s is no device", name)
                                          : status;
}

/* Weights with the embedding, and the time of a token's GEMVs on a device. */
static enum ulb_status weigh(const char *name, struct ulb_paper_machines *machines, double *weights,
                             struct ulb_error *err)
{
    const struct ulb_model *model = ulb_model_find(name);
    struct ulb_shape_list shapes;
    enum ulb_status status = ulb_model_shapes(model, ULB_FORM_FUSED, &shapes, err);
    if (status != ULB_OK)
        return status;
    *weights = ulb_model_parameters(model, &shapes);
    machines->mobilellm_us_16 = machines->mobilellm_us_2 = 0;
    for (size_t i = 0; i < shapes.n; i++) {
        const struct ulb_layer_shape *shape = &shapes.items[i];
        double launch_us = machines->lnl_gpu.launch_s * 1e6, each = (double)shape->m * (double)shape->k;
        if (ulb_shape_is_head(shape))
            continue;
        machines->mobilellm_us_16 += shape->active * (launch_us + read_us(&machines->bmg, each, BF16_BITS));
        machines->mobilellm_us_2 += shape->active * (launch_us + read_us(&machines->bmg, each, INT2_BITS));
    }
    free(shapes.items);
    return ULB_OK;
}

enum ulb_status ulb_paper_machines_load(struct ulb_paper_machines *machines, struct ulb_error *err)
{
    double unused;
    enum ulb_status status = ulb_platform_load("arl", &machines->arl, err);
    if (status == ULB_OK)
        status = ulb_platform_load("arlh", &machines->arlh, err);
    if (status == ULB_OK)
        status = ulb_platform_load("lnl", &machines->lnl, err);
    if (status == ULB_OK)
        status = load_device("lnl-gpu", &machines->lnl_gpu, err);
    if (status == ULB_OK)
        status = load_device("bmg", &machines->bmg, err);
    if (status == ULB_OK)
        status = load_device("a100", &machines->a100, err);
    if (status == ULB_OK)
        status = weigh("llama3-8b", machines, &machines->llama_weights, err);
    return status == ULB_OK ? weigh("mobilellm-1.5b", machines, &unused, err) : status;
}
