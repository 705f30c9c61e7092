#include "harness/cli/completion.h"

#include "common/isa.h"
#include "harness/cli/cli.h"
#include "harness/cli/option.h"

#include <argp.h>
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 64 };

/* A command line, the cursor at the end of its last word. */
struct line {
    char **words;
    int n;
    bool names_command; /* words[0] may be a command */
    struct ulb_error *err;
    enum ulb_status status;
};

/* What the name of a value in a usage text stands for. Names in lower case that are not here stand for
 * themselves; others, such as N, cannot be completed. */
static const struct type {
    const char *name;
    const char *list;    /* the names of 'ulb-bench list LIST' */
    const char *choices; /* parted by commas, and blanks behind them */
    const char *files;   /* a pattern of file names */
} types[] = {
    {.name = "FORMAT", .list = "formats"},
    {.name = "KERNEL", .list = "kernels"},
    {.name = "MODEL", .list = "models"},
    {.name = "PLATFORM", .list = "platforms"},
    {.name = "FIGURE", .list = "figures"},
    {.name = "MxK", .list = "shapes"},
    {.name = "SECTION", .choices = ULB_EXPORT_SECTIONS},
    {.name = "SET", .choices = "P,E,LP-E,all"},
    {.name = "TARGET", .choices = "pvc,dg2-g10,lnl-m,bmg-g21"},
    {.name = "FILE", .files = "*"},
    {.name = "BASE_PROGRAM", .files = "*"},
    {.name = "DIR", .files = "*/"},
    {.name = "LIBRARY", .files = "*.so"},
    {.name = "RECORD", .files = "*.json"},
    {.name = "BASE", .files = "*.json"},
    {.name = "NEW", .files = "*.json"},
};
enum { N_TYPES = sizeof types / sizeof *types };

/* ---- candidates ---- */

static void offer(const char *candidate, const char *what, const char *begun)
{
    if (strncmp(candidate, begun, strlen(begun)) == 0)
        printf("%s\t%s\n", candidate, what);
}

static void offer_choices(const char *choices, const char *begun)
{
    for (const char *at = choices; *at; at += strspn(at, ", ")) {
        char word[WORD_MAX];
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        offer(word, "", begun);
        at += length;
    }
}

/* A shape has no name: options take it as MxK. */
static void offer_row(const json_t *row, const char *begun)
{
    const char *name, *what = "";
    char shape[WORD_MAX];
    long long m, k;
    if (json_unpack((json_t *)row, "{s:s}", "name", &name) != 0) {
        if (json_unpack((json_t *)row, "{s:I, s:I, s:s}", "m", &m, "k", &k, "model", &what) != 0)
            return;
        snprintf(shape, sizeof shape, "%lldx%lld", m, k);
        name = shape;
    }
    if (json_unpack((json_t *)row, "{s:s}", "summary", &what) != 0)
        json_unpack((json_t *)row, "{s:s}", "title", &what);
    offer(name, what, begun);
}

static enum ulb_status offer_list(const char *list, const char *begun, struct ulb_error *err)
{
    size_t i;
    const json_t *row;
    json_t *rows = json_array();
    enum ulb_status status = ulb_list_rows(list, rows, err);
    json_array_foreach(rows, i, row) offer_row(row, begun);
    json_decref(rows);
    return status;
}

static bool is_literal(const char *name)
{
    bool lower = false;
    for (; *name; name++) {
        if (isupper((unsigned char)*name))
            return false;
        lower |= islower((unsigned char)*name) != 0;
    }
    return lower;
}

static enum ulb_status offer_values(const char *name, const char *begun, struct ulb_error *err)
{
    char bits[512];
    if (strcmp(name, "BIT") == 0) {
        offer_choices(ulb_isa_names(~(ulb_isa_set)0, bits, sizeof bits), begun);
        return ULB_OK;
    }
    for (const struct type *type = types; type < types + N_TYPES; type++) {
        if (strcmp(type->name, name) != 0)
            continue;
        if (type->files)
            printf("%s\n", type->files);
        if (type->choices)
            offer_choices(type->choices, begun);
        return type->list ? offer_list(type->list, begun, err) : ULB_OK;
    }
    if (is_literal(name))
        offer(name, "", begun);
    return ULB_OK;
}

/* usage: alternatives parted by '|', of which a comma list takes several when ",..." is behind them. */
static enum ulb_status complete_value(const char *usage, size_t stays, const char *word,
                                      struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    const char *repeats = strstr(usage, ",..."), *comma = repeats ? strrchr(word + stays, ',') : NULL;
    size_t length = repeats ? (size_t)(repeats - usage) : strlen(usage);
    if (comma)
        stays = (size_t)(comma + 1 - word);
    printf("%.*s\n", (int)stays, word);
    for (const char *at = usage; at < usage + length && status == ULB_OK; at += *at == '|') {
        char name[WORD_MAX];
        size_t part = strcspn(at, "|");
        if (part > (size_t)(usage + length - at))
            part = (size_t)(usage + length - at);
        snprintf(name, sizeof name, "%.*s", (int)part, at);
        status = offer_values(name, word + stays, err);
        at += part;
    }
    return status;
}

/* ---- options ---- */

static bool offer_option(const struct argp_option *option, void *begun)
{
    char name[WORD_MAX];
    snprintf(name, sizeof name, "--%s", option->name);
    offer(name, option->doc ? option->doc : "", begun);
    return false;
}

/* The word asks for an option: by its long name, up to '=', or as the last letter of "-abc". */
struct wanted {
    const char *word;
    const struct argp_option *found;
};

static bool is_wanted(const struct argp_option *option, void *context)
{
    struct wanted *wanted = context;
    const char *word = wanted->word;
    bool same = word[1] == '-' ? strncmp(word + 2, option->name, strcspn(word + 2, "=")) == 0 &&
                                     strlen(option->name) == strcspn(word + 2, "=")
                               : word[1] != '\0' && word[strlen(word) - 1] == option->key;
    if (same)
        wanted->found = option;
    return same;
}

/* The option that the word names, when it takes a value; else NULL. */
static const struct argp_option *valued_option(const struct argp *parser, const char *word)
{
    struct wanted wanted = {.word = word};
    if (word[0] == '-')
        ulb_visit_options(parser, is_wanted, &wanted);
    return wanted.found && wanted.found->arg ? wanted.found : NULL;
}

static void complete_option(const struct argp *parser, const char *begun)
{
    static const struct argp_option common[] = {{"help", 0, NULL, 0, "show the options", 0},
                                                {"version", 0, NULL, 0, "show the version", 0}};
    printf("\n");
    ulb_visit_options(parser, offer_option, (void *)begun);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        offer_option(&common[i], (void *)begun);
}

/* ---- arguments ---- */

/* The usage of the argument at a place in one line of a usage text. It is "" if the words before it are those
 * of another line, or there is none. What ends in "..." stands for all that follow. */
static void usage_at(const char *usage, size_t length, char **before, int place, char *out, size_t bytes)
{
    const char *end = usage + length, *at = usage;
    for (int i = 0;; i++) {
        size_t part = strcspn(at, " \n");
        snprintf(out, bytes, "%.*s", (int)part, at);
        if (i == place)
            return;
        if (is_literal(out) && !strchr(out, '|') && strcmp(out, before[i]) != 0)
            break;
        bool repeats = part > 3 && strcmp(out + part - 3, "...") == 0;
        if (at + part >= end && !repeats)
            break;
        at += repeats ? 0 : part + 1;
    }
    out[0] = '\0';
}

/* The usage of the arguments: the parser's, or that of the first child that has one. */
static const char *arguments_of(const struct argp *parser)
{
    const char *usage = parser->args_doc;
    for (const struct argp_child *child = parser->children; !usage && child && child->argp; child++)
        usage = arguments_of(child->argp);
    return usage;
}

static enum ulb_status complete_argument(const struct line *line, const struct argp *parser)
{
    enum ulb_status status = ULB_OK;
    const char *word = line->words[line->n - 1];
    char **before = calloc((size_t)line->n, sizeof *before), usage[256], rest[1024] = "";
    int place = 0;
    if (!before)
        return ulb_fail(line->err, ULB_ENVIRONMENT, "not enough memory to complete a word");
    for (int i = 0; i < line->n - 1; i++) {
        const char *given = line->words[i];
        if (given[0] != '-')
            before[place++] = line->words[i];
        else if (!strchr(given, '=') && valued_option(parser, given))
            i++;
    }
    for (const char *at = arguments_of(parser); at && *at; at += *at == '\n') {
        size_t length = strcspn(at, "\n"), used = strlen(rest);
        usage_at(at, length, before, place, usage, sizeof usage);
        if (strstr(usage, "..."))
            *strstr(usage, "...") = '\0';
        snprintf(rest + used, sizeof rest - used, "%s%s", used && usage[0] ? "|" : "", usage);
        at += length;
    }
    free(before);
    status = complete_value(rest, 0, word, line->err);
    for (size_t i = 0; i < ulb_command_count && line->names_command && status == ULB_OK; i++)
        offer(ulb_commands[i]->name, ulb_commands[i]->summary, word);
    return status;
}

static void complete_line(const struct argp *parser, void *context)
{
    struct line *line = context;
    const char *word = line->words[line->n - 1], *equals = strchr(word, '=');
    const char *previous = line->n > 1 ? line->words[line->n - 2] : "";
    const struct argp_option *option = strchr(previous, '=') ? NULL : valued_option(parser, previous);
    if (option) {
        line->status = complete_value(option->arg, 0, word, line->err);
    } else if (strncmp(word, "--", 2) == 0 && equals) {
        option = valued_option(parser, word);
        line->status =
            complete_value(option ? option->arg : "", (size_t)(equals + 1 - word), word, line->err);
    } else if (word[0] == '-') {
        complete_option(parser, word);
    } else {
        line->status = complete_argument(line, parser);
    }
}

/* Bash parts "--name=value" at '=': what it makes of it is read as "--name value". */
static int drop_equals(char **words, int n)
{
    static char nothing[] = "";
    int kept = 0;
    for (int i = 0; i < n; i++) {
        bool parting = strcmp(words[i], "=") == 0 && kept > 0 && strncmp(words[kept - 1], "--", 2) == 0;
        if (!parting)
            words[kept++] = words[i];
        else if (i == n - 1)
            words[kept++] = nothing;
    }
    return kept;
}

enum ulb_status ulb_complete(int n, char **words, struct ulb_error *err)
{
    struct line line = {.words = words, .n = drop_equals(words, n), .err = err};
    const struct ulb_command *command = line.n > 1 ? ulb_find_command(words[0]) : NULL;
    line.names_command = line.n == 1;
    if (command) {
        line.words++;
        line.n--;
    }
    if (!command)
        command = ulb_commands[0];
    char name[WORD_MAX], *argv[] = {name, NULL};
    snprintf(name, sizeof name, "ulb-bench %s", command->name);
    ulb_read_parser(complete_line, &line);
    enum ulb_status status = command->run(1, argv, err);
    ulb_read_parser(NULL, NULL);
    return status == ULB_OK ? line.status : status;
}
