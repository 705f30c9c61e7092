#include "harness/opencl/device_selection.h"

#include "common/filter.h"
#include "common/suggest.h"
#include "common/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls visit for every kernel and path, in the order of files; it returns false to end that. */
typedef bool visit_fn(const struct ulb_device_choice *choice, void *context);

static void visit_all(visit_fn *visit, void *context)
{
    for (const struct ulb_device_file *const *file = ulb_device_files; *file; file++) {
        for (size_t i = 0; i < (*file)->n; i++) {
            for (int path = 0; path < ULB_DEVICE_PATHS; path++) {
                const struct ulb_device_choice choice = {*file, &(*file)->kernels[i],
                                                         (enum ulb_device_path)path};
                if ((choice.kernel->paths >> path & 1) && !visit(&choice, context))
                    return;
            }
        }
    }
}

static bool count(const struct ulb_device_choice *choice, void *context)
{
    (void)choice;
    ++*(size_t *)context;
    return true;
}

struct matching {
    struct ulb_device_selection *selection;
    const char *formats;
    const regex_t *filter; /* NULL: none */
    struct ulb_error *err;
    enum ulb_status status;
};

static bool match(const struct ulb_device_choice *choice, void *context)
{
    struct matching *matching = context;
    char name[ULB_KERNEL_NAME_MAX];
    bool matches = true;
    if (matching->formats && !ulb_words_have(matching->formats, choice->kernel->layout->format->name))
        return true;
    if (matching->filter)
        matching->status =
            ulb_filter_match(matching->filter, ulb_device_kernel_name(choice->kernel, choice->path, name),
                             &matches, matching->err);
    if (matching->status == ULB_OK && matches)
        matching->selection->choices[matching->selection->n++] = *choice;
    return matching->status == ULB_OK;
}

struct format_search {
    const char *word;
    size_t length;
    bool found;
};

static bool is_format(const struct ulb_device_choice *choice, void *context)
{
    struct format_search *search = context;
    const char *name = choice->kernel->layout->format->name;
    search->found = strlen(name) == search->length && strncmp(name, search->word, search->length) == 0;
    return !search->found;
}

/* The formats that device kernels have, in a text for users. */
struct known_formats {
    struct ulb_suggestion suggestion;
    const char *last;
    char text[96];
};

static bool know_format(const struct ulb_device_choice *choice, void *context)
{
    struct known_formats *known = context;
    const char *name = choice->kernel->layout->format->name;
    const size_t used = strlen(known->text);
    if (name == known->last)
        return true;
    known->last = name;
    ulb_suggest_name(&known->suggestion, name);
    snprintf(known->text + used, sizeof known->text - used, "%s%s", used ? ", " : "they have ", name);
    return true;
}

static enum ulb_status check_formats(const char *list, struct ulb_error *err)
{
    for (const char *word = list; word && *word;) {
        struct format_search search = {word, strcspn(word, ","), false};
        visit_all(is_format, &search);
        if (!search.found && search.length > 0) {
            struct known_formats known = {ulb_suggest(word, search.length), NULL, ""};
            visit_all(know_format, &known);
            return ulb_refuse_unknown(&known.suggestion, "devices have no kernels of the format", known.text,
                                      err);
        }
        word += search.length + (word[search.length] == ',');
    }
    return ULB_OK;
}

static bool suggest_name(const struct ulb_device_choice *choice, void *context)
{
    char name[ULB_KERNEL_NAME_MAX];
    ulb_suggest_name(context, ulb_device_kernel_name(choice->kernel, choice->path, name));
    return true;
}

static enum ulb_status refuse_all(const char *formats, const char *kernels, struct ulb_error *err)
{
    const char *word = kernels ? kernels : formats;
    struct ulb_suggestion suggestion = ulb_suggest(word, strlen(word));
    visit_all(suggest_name, &suggestion);
    return ulb_refuse_unknown(&suggestion, "no kernel of devices matches",
                              "'ulb-bench verify --device ID' names all", err);
}

enum ulb_status ulb_device_select(struct ulb_device_selection *selection, const char *formats,
                                  const char *kernels, struct ulb_error *err)
{
    size_t all = 0;
    regex_t filter;
    *selection = (struct ulb_device_selection){.named = kernels != NULL};
    enum ulb_status status = check_formats(formats, err);
    if (status == ULB_OK && kernels)
        status = ulb_filter_compile(&filter, "--kernels", kernels, err);
    if (status != ULB_OK)
        return status;
    visit_all(count, &all);
    selection->choices = calloc(all, sizeof *selection->choices);
    if (!selection->choices)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the list of kernels");
    struct matching matching = {selection, formats, kernels ? &filter : NULL, err, status};
    if (status == ULB_OK)
        visit_all(match, &matching);
    if (kernels)
        regfree(&filter);
    if (matching.status == ULB_OK && selection->n == 0)
        return refuse_all(formats, kernels, err);
    return matching.status;
}

void ulb_device_selection_close(struct ulb_device_selection *selection)
{
    free(selection->choices);
    *selection = (struct ulb_device_selection){0};
}
