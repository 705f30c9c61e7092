/* Models by name or file, one or a comma list. */
#include "shapes/load.h"

#include "common/suggest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool names_a_file(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot &&
           (strcmp(dot, ".json") == 0 || strcmp(dot, ".gguf") == 0 || strcmp(dot, ".safetensors") == 0);
}

/* A URL, or OWNER/NAME of a hub, where no such file is. */
static bool is_remote(const char *name)
{
    const char *slash = strchr(name, '/');
    bool path = name[0] == '.' || name[0] == '~' || names_a_file(name);
    return strstr(name, "://") || (slash && slash != name && !strchr(slash + 1, '/') && slash[1] && !path);
}

static enum ulb_status refuse_remote(const char *name, struct ulb_error *err)
{
    const char *slash = strrchr(name, '/');
    const struct ulb_model *known = ulb_model_find(slash + 1);
    if (known)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "'%.150s' is no file here, and nothing is downloaded; the catalogue has it as '%s'",
                        name, known->name);
    return ulb_fail(err, ULB_BAD_INPUT,
                    "'%.150s' is no file here, and nothing is downloaded; download its config.json, GGUF or "
                    "safetensors and "
                    "give the path",
                    name);
}

enum ulb_status ulb_model_load(const char *name, struct ulb_model *model, struct ulb_error *err)
{
    const struct ulb_model *known = strchr(name, '/') ? NULL : ulb_model_find(name);
    bool exact = known && (strcmp(known->name, name) == 0 || strcmp(known->alias, name) == 0);
    bool here = access(name, F_OK) == 0;
    if (known && (exact || !here)) { /* a file or folder goes before a name that is only alike */
        *model = *known;
        return ULB_OK;
    }
    if (here || names_a_file(name))
        return ulb_model_load_file(name, model, err);
    if (is_remote(name))
        return refuse_remote(name, err);
    struct ulb_suggestion suggestion = ulb_suggest(name, strlen(name));
    for (size_t i = 0; i < ulb_model_count && !strchr(name, '/'); i++)
        ulb_suggest_name(&suggestion, ulb_models[i].name);
    if (!ulb_suggested(&suggestion) && strpbrk(name, "/."))
        return ulb_model_load_file(name, model, err);
    return ulb_refuse_unknown(&suggestion, "unknown model",
                              "see 'ulb-bench list models', or give a model's file or folder", err);
}

static enum ulb_status add(struct ulb_model_list *list, const char *name, struct ulb_error *err)
{
    struct ulb_model *model = &list->items[list->n];
    enum ulb_status status = ulb_model_load(name, model, err);
    if (status != ULB_OK)
        return status;
    list->n++;
    for (struct ulb_model *other = list->items; other < model; other++) {
        if (strcmp(other->name, model->name) == 0)
            return ulb_fail(err, ULB_BAD_INPUT, "model '%s' is named twice", model->name);
    }
    return ULB_OK;
}

enum ulb_status ulb_model_list_load(const char *names, struct ulb_model_list *list, struct ulb_error *err)
{
    size_t most = 1;
    for (const char *at = names; *at; at++)
        most += *at == ',';
    char *copy = strdup(names), *rest = copy;
    *list = (struct ulb_model_list){calloc(most, sizeof *list->items), 0};
    enum ulb_status status = ULB_OK;
    if (!copy || !list->items)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu models", most);
    for (char *name; status == ULB_OK && (name = strsep(&rest, ","));) {
        if (name[0])
            status = add(list, name, err);
    }
    free(copy);
    if (status == ULB_OK && list->n == 0)
        status = ulb_fail(err, ULB_BAD_INPUT, "--models names no model; see 'ulb-bench list models'");
    return status;
}

void ulb_model_list_free(struct ulb_model_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        ulb_model_free(&list->items[i]);
    free(list->items);
    *list = (struct ulb_model_list){NULL, 0};
}
