#include "harness/cli/option.h"

#include "harness/cli/terminal.h"
#include "results/record/renamed.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

error_t ulb_refuse_option(struct ulb_error *err, const char *option, const char *value, const char *wanted)
{
    ulb_fail(err, ULB_BAD_INPUT, "--%s '%s': %s", option, value, wanted);
    return EINVAL;
}

bool ulb_take_count(const char **text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *value = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0 && *value >= least && *value <= most;
}

bool ulb_read_count(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    return ulb_take_count(&text, least, most, value) && *text == '\0';
}

/* Moves *text behind a number. Decimals alone: strtod takes 0x10 for 16. */
static bool take_decimals(const char **text, double *value)
{
    char *end;
    *value = strtod(*text, &end);
    size_t length = (size_t)(end - *text);
    if (length == 0 || memchr(*text, 'x', length) || memchr(*text, 'X', length))
        return false;
    *text = end;
    return true;
}

bool ulb_read_number(const char *text, double least, double most, double *value)
{
    return take_decimals(&text, value) && *text == '\0' && *value >= least && *value <= most;
}

bool ulb_read_percent(const char *text, double least, double most, double *share)
{
    double percent;
    if (!take_decimals(&text, &percent) || (*text != '\0' && strcmp(text, "%") != 0) ||
        !(percent >= least && percent <= most))
        return false;
    *share = percent / 100;
    return true;
}

size_t ulb_read_word(const char *text, const char *const *words, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(text, words[i]) != 0)
        i++;
    return i;
}

bool ulb_visit_options(const struct argp *parser, ulb_option_visitor *visitor, void *context)
{
    for (const struct argp_option *o = parser->options; o && (o->name || o->key || o->doc); o++) {
        if (o->name && !(o->flags & OPTION_HIDDEN) && visitor(o, context))
            return true;
    }
    for (const struct argp_child *child = parser->children; child && child->argp; child++) {
        if (ulb_visit_options(child->argp, visitor, context))
            return true;
    }
    return false;
}

char *ulb_lower(char *text)
{
    for (char *at = text; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return text;
}

const char *ulb_current_kernels(const char *text)
{
    static char name[ULB_NAME_BYTES];
    const char *current = ulb_current_name(ULB_NAME_KERNEL, text, name);
    if (current != text)
        ulb_print_note("the kernel %s is %s in this version", text, current);
    return current;
}
