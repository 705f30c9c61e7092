#include "harness/decode/token_rest.h"

#include "common/emulation.h"
#include "harness/decode/measure_decode.h"
#include "harness/session/checkpoint.h"
#include "results/record/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Small, so that its weights are soon made. */
static const char MODEL[] = "mobilellm-1.5b";
enum { LAYERS = 8, LAYERS_MOST = 54, TOKENS = 12, CONTEXT = 4096, FORMATS = 2, LIST_BYTES = 64, TRIES = 2 };

/* Two that every row of the model fits; else the first and the last. */
static void list_formats(const struct ulb_kernel *const *kernels, size_t n, char list[LIST_BYTES])
{
    static const char *const wanted[FORMATS] = {"int4", "int2"};
    const char *found[FORMATS] = {kernels[0]->layout->format->name, kernels[n - 1]->layout->format->name};
    for (size_t i = 0; i < n; i++) {
        for (size_t f = 0; f < FORMATS; f++) {
            if (strcmp(kernels[i]->layout->format->name, wanted[f]) == 0)
                found[f] = wanted[f];
        }
    }
    snprintf(list, LIST_BYTES, "%s%s%s", found[0], strcmp(found[0], found[1]) == 0 ? "" : ",",
             strcmp(found[0], found[1]) == 0 ? "" : found[1]);
}

/* So many that no part of head and layers, 100 MB and 6 MB each at least, stays in the last-level cache from
 * one token to the next. */
static size_t layers_for(size_t llc_bytes)
{
    const size_t head = 100 << 20, layer = 6 << 20;
    size_t wanted = 4 * llc_bytes > head ? (4 * llc_bytes - head) / layer + 1 : 0;
    return wanted < LAYERS ? LAYERS : wanted < LAYERS_MOST ? wanted : LAYERS_MOST;
}

/* As of a quick run. What its yardstick reads, weights, may come from a cache in part: no speed of memory. */
static enum ulb_status decode(struct ulb_session *session, const char *formats, struct ulb_error *err)
{
    const struct ulb_decode_settings settings = {.model = MODEL,
                                                 .formats = formats,
                                                 .tokens = TOKENS,
                                                 .context = CONTEXT,
                                                 .layers = layers_for(session->machine.topology.llc_bytes)};
    const struct ulb_settings saved = session->settings;
    double most_gbps = session->most_gbps;
    session->settings.quick = true;
    enum ulb_status status = ulb_decode_measure(session, &settings, err);
    session->settings = saved;
    session->most_gbps = most_gbps;
    return status;
}

/* Again while the tokens vary too much to say anything; the steadiest try is kept. */
static enum ulb_status decode_steadily(struct ulb_session *session, const char *formats,
                                       struct ulb_error *err)
{
    json_t *root = session->record->root, *kept = NULL;
    double least = INFINITY;
    enum ulb_status status = ULB_OK;
    for (int i = 0; i < TRIES && least > ULB_DECODED_NOISY && status == ULB_OK; i++) {
        json_object_del(root, "decode");
        status = decode(session, formats, err);
        double noise = ulb_decoded_noise(session->record);
        if (status == ULB_OK && (!kept || noise < least)) {
            json_decref(kept);
            kept = json_incref(json_object_get(root, "decode"));
            least = noise;
        }
    }
    if (kept && json_object_set_new(root, "decode", kept) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the tokens decoded");
    return status;
}

/* Interrupted and wrong is the run's; what is missing is the rest's alone. */
static enum ulb_status or_warn(struct ulb_session *session, enum ulb_status status, struct ulb_error *err)
{
    if (status != ULB_ENVIRONMENT && status != ULB_BAD_INPUT)
        return status;
    const struct ulb_error why = *err;
    return ulb_record_warn(session->record, err,
                           "a token's rest was not measured, tokens/s are of products only: %s", why.message);
}

enum ulb_status ulb_token_rest_measure(struct ulb_session *session, const struct ulb_kernel *const *kernels,
                                       size_t n, struct ulb_error *err)
{
    struct ulb_journal_entry entry;
    const json_t *saved;
    char formats[LIST_BYTES];
    if (n == 0 || ulb_emulator())
        return ULB_OK;
    enum ulb_status status = ulb_entry_begin(session, &entry, &saved, err, "a token's rest");
    if (status != ULB_OK)
        return status;
    if (saved) {
        json_t *decode = json_object_get(saved, "decode");
        return json_is_object(decode) || json_is_null(decode)
                   ? ulb_record_set(session->record, "decode", json_incref(decode), err)
                   : ulb_entry_damaged(&entry, err);
    }
    list_formats(kernels, n, formats);
    status = or_warn(session, decode_steadily(session, formats, err), err);
    return status == ULB_OK && session->journal
               ? ulb_entry_end(
                     session, &entry,
                     json_pack("{s:O?}", "decode", json_object_get(session->record->root, "decode")), err)
               : status;
}
