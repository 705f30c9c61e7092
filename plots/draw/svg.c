#include "plots/draw/svg.h"

#include <ctype.h>
#include <string.h>

struct cursor {
    const char *at, *end;
};

static bool begins(const struct cursor *cursor, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(cursor->end - cursor->at) >= length && memcmp(cursor->at, word, length) == 0;
}

/* Moves behind the next occurrence of word; false, and no move, when there is none. */
static bool skip_past(struct cursor *cursor, const char *word)
{
    const char *found = memmem(cursor->at, (size_t)(cursor->end - cursor->at), word, strlen(word));
    if (!found)
        return false;
    cursor->at = found + strlen(word);
    return true;
}

/* <g onmousemove="gnuplot_svg.showHypertext(evt,'TEXT')" ...><title> </title> becomes
 * <g class="value"><title>TEXT</title>; TEXT is escaped already, its line ends are \n. */
static bool copy_hypertext(struct cursor *cursor, FILE *out)
{
    struct cursor text = *cursor, rest = *cursor;
    if (!begins(cursor, "<g onmousemove=") || !skip_past(&text, "(evt,'") || !skip_past(&rest, "</title>"))
        return false;
    fprintf(out, "<g class=\"value\"><title>");
    for (; text.at < rest.at && *text.at != '\''; text.at++) {
        if (begins(&text, "\\n")) {
            putc('\n', out);
            text.at++;
        } else {
            putc(*text.at, out);
        }
    }
    fprintf(out, "</title>");
    *cursor = rest;
    return true;
}

/* <g ...>, white space, </g> */
static bool skip_empty_group(struct cursor *cursor)
{
    struct cursor next = *cursor;
    if (!begins(cursor, "<g fill=") || !skip_past(&next, ">"))
        return false;
    while (next.at < next.end && isspace((unsigned char)*next.at))
        next.at++;
    if (!begins(&next, "</g>"))
        return false;
    cursor->at = next.at + 4;
    return true;
}

/* <title>gnuplot_plot_3</title> and the filters for boxes behind text, which no figure has. */
static bool skip_useless(struct cursor *cursor)
{
    struct cursor next = *cursor;
    if (begins(cursor, "<filter id="))
        return skip_past(cursor, "</filter>");
    if (!begins(cursor, "<title>"))
        return false;
    next.at += strlen("<title>");
    const char *close = memmem(next.at, (size_t)(next.end - next.at), "</title>", 8);
    const char *plot = close ? memmem(next.at, (size_t)(close - next.at), "_plot_", 6) : NULL;
    if (!plot && !begins(&next, "Gnuplot"))
        return false;
    return skip_past(cursor, "</title>");
}

static bool copy_id(struct cursor *cursor, const char *name, FILE *out)
{
    static const struct {
        const char *word;
        size_t kept; /* bytes in front of the id */
    } ids[] = {{"id='gp", 4}, {"'#gp", 2}, {"id=\"gnuplot_", 4}, {"id=\"figure_plot", 4}};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        if (!begins(cursor, ids[i].word))
            continue;
        fprintf(out, "%.*s%s-", (int)ids[i].kept, ids[i].word, name);
        cursor->at += ids[i].kept;
        return true;
    }
    return false;
}

void ulb_svg_copy(const char *svg, size_t bytes, const char *name, FILE *out)
{
    struct cursor cursor = {svg, svg + bytes};
    while (cursor.at < cursor.end) {
        if (copy_hypertext(&cursor, out) || skip_empty_group(&cursor) || skip_useless(&cursor) ||
            copy_id(&cursor, name, out))
            continue;
        /* Lines that the above left empty are not kept. */
        if (*cursor.at == '\n') {
            while (cursor.at + 1 < cursor.end && isspace((unsigned char)cursor.at[1]))
                cursor.at++;
            putc('\n', out);
        } else {
            putc(*cursor.at, out);
        }
        cursor.at++;
    }
}
