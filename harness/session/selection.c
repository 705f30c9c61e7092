#include "harness/session/selection.h"

#include "common/filter.h"
#include "common/suggest.h"
#include "common/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum ulb_status match_kernels(struct ulb_selection *selection, struct ulb_error *err)
{
    regex_t filter;
    char name[ULB_KERNEL_NAME_MAX];
    if (!selection->kernels)
        return ULB_OK;
    if (selection->kernels[0] == '\0')
        return ulb_fail(err, ULB_BAD_INPUT, "--kernels names no kernel; see 'ulb-bench list kernels'");
    enum ulb_status status = ulb_filter_compile(&filter, "--kernels", selection->kernels, err);
    if (status != ULB_OK)
        return status;
    selection->matched = calloc(ulb_kernel_count, sizeof *selection->matched);
    if (!selection->matched)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the list of kernels");
    for (size_t i = 0; i < ulb_kernel_count && status == ULB_OK; i++)
        status =
            ulb_filter_match(&filter, ulb_kernel_name(ulb_kernels[i], name), &selection->matched[i], err);
    regfree(&filter);
    return status;
}

enum ulb_status ulb_refuse_format(const char *word, size_t length, struct ulb_error *err)
{
    struct ulb_suggestion suggestion = ulb_suggest(word, length);
    for (size_t i = 0; i < ulb_kernel_count; i++)
        ulb_suggest_name(&suggestion, ulb_kernels[i]->layout->format->name);
    return ulb_refuse_unknown(&suggestion, "unknown format", "see 'ulb-bench list formats'", err);
}

/* Every name in a comma list must be a format of some kernel, and none may come twice; empty words are
 * skipped. */
static enum ulb_status check_formats(const char *list, struct ulb_error *err)
{
    if (list && list[strspn(list, ",")] == '\0')
        return ulb_fail(err, ULB_BAD_INPUT, "--formats names no format; see 'ulb-bench list formats'");
    for (const char *word = list; word && *word;) {
        size_t length = strcspn(word, ",");
        bool found = length == 0;
        for (size_t i = 0; i < ulb_kernel_count && !found; i++) {
            const char *name = ulb_kernels[i]->layout->format->name;
            found = strlen(name) == length && strncmp(name, word, length) == 0;
        }
        if (!found)
            return ulb_refuse_format(word, length, err);
        word += length + (word[length] == ',');
    }
    return list ? ulb_words_differ("format", list, err) : ULB_OK;
}

/* The names that a kernel is asked for by: its own, and what that begins with up to each '-'. */
static void suggest_kernel(struct ulb_suggestion *suggestion, const struct ulb_kernel *kernel)
{
    char name[ULB_KERNEL_NAME_MAX], part[ULB_KERNEL_NAME_MAX];
    ulb_kernel_name(kernel, name);
    for (size_t i = strcspn(name, "-");; i += strcspn(name + i, "-")) {
        snprintf(part, sizeof part, "%.*s", (int)i, name);
        ulb_suggest_name(suggestion, part);
        if (name[i++] == '\0')
            return;
    }
}

enum ulb_status ulb_refuse_kernel_filter(const char *filter, const char *formats, struct ulb_error *err)
{
    char what[200], otherwise[200];
    struct ulb_suggestion suggestion = ulb_suggest(filter, strlen(filter));
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (!formats || ulb_words_have(formats, ulb_kernels[i]->layout->format->name))
            suggest_kernel(&suggestion, ulb_kernels[i]);
    }
    snprintf(what, sizeof what, "no kernel %s%.150s%smatches", formats ? "of " : "", formats ? formats : "",
             formats ? " " : "");
    snprintf(otherwise, sizeof otherwise, "see 'ulb-bench list kernels'%s", ulb_left_out_hint());
    return ulb_refuse_unknown(&suggestion, what, otherwise, err);
}

enum ulb_status ulb_selection_open(struct ulb_selection *selection, const char *formats, const char *kernels,
                                   ulb_isa_set isa, struct ulb_error *err)
{
    *selection = (struct ulb_selection){.formats = formats, .kernels = kernels, .isa = isa};
    enum ulb_status status = match_kernels(selection, err);
    return status == ULB_OK ? check_formats(formats, err) : status;
}

void ulb_selection_close(struct ulb_selection *selection)
{
    free(selection->matched);
    selection->matched = NULL;
}

bool ulb_selection_can_run(const struct ulb_selection *selection, ulb_isa_set needs)
{
    return (needs & ~selection->isa) == 0;
}

bool ulb_selection_wants(const struct ulb_selection *selection, const struct ulb_kernel *kernel)
{
    if (selection->formats && !ulb_words_have(selection->formats, kernel->layout->format->name))
        return false;
    if (!selection->matched) {
        /* Scalar kernels are slow, groups and blocks multiply the formats, and EVEX kernels are their VEX
         * twins where both run: only when named. */
        const struct ulb_format *format = kernel->layout->format;
        bool named =
            selection->formats != NULL || (!format->on_request && format->group == 0 && !format->block);
        bool twin = strcmp(kernel->isa, "avx512vnni256") == 0 && (selection->isa & ULB_ISA_AVXVNNI) != 0;
        return named && !twin && strcmp(kernel->isa, "ref") != 0;
    }
    size_t i = 0;
    while (i < ulb_kernel_count && ulb_kernels[i] != kernel)
        i++;
    return i < ulb_kernel_count && selection->matched[i];
}

/* What none of the kernels that were asked for can run without; the one that lacks least says it for all. */
static enum ulb_status refuse_kernels(const struct ulb_selection *selection, const struct ulb_kernel *least,
                                      size_t others, struct ulb_error *err)
{
    char name[ULB_KERNEL_NAME_MAX], missing[128], more[32] = "";
    if (others > 0)
        snprintf(more, sizeof more, " and %zu more", others);
    return ulb_fail(err, ULB_ENVIRONMENT,
                    "kernel %s%s cannot run here: missing %s; --kernels '-ref-' takes the scalar ones",
                    ulb_kernel_name(least, name), more,
                    ulb_isa_names(least->needs & ~selection->isa, missing, sizeof missing));
}

enum ulb_status ulb_selection_kernels(const struct ulb_selection *selection,
                                      const struct ulb_kernel **kernels, size_t *n, struct ulb_error *err)
{
    const struct ulb_kernel *least = NULL;
    size_t unable = 0;
    *n = 0;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_kernel *kernel = ulb_kernels[i];
        if (!ulb_selection_wants(selection, kernel))
            continue;
        if (ulb_selection_can_run(selection, kernel->needs)) {
            kernels[(*n)++] = kernel;
            continue;
        }
        unable++;
        if (!least || __builtin_popcountll(kernel->needs & ~selection->isa) <
                          __builtin_popcountll(least->needs & ~selection->isa))
            least = kernel;
    }
    if (*n > 0)
        return ULB_OK;
    if (unable > 0)
        return refuse_kernels(selection, least, unable - 1, err);
    const char *formats = selection->formats, *regex = selection->kernels;
    return regex ? ulb_refuse_kernel_filter(regex, formats, err)
                 : ulb_refuse_kernel_filter(formats ? formats : "*", NULL, err);
}
