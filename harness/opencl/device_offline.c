#include "harness/opencl/device_offline.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned ulb_offline_lanes(const char *target)
{
    static const char *const of_8[] = {"dg2", "acm", "mtl", "arl"};
    for (size_t i = 0; i < sizeof of_8 / sizeof *of_8; i++) {
        if (strncmp(target, of_8[i], strlen(of_8[i])) == 0)
            return 8;
    }
    return 16;
}

/* ---- the disassembly ---- */

struct lines {
    char **at;
    size_t n;
};

/* Splits text in place; to be freed by the caller. */
static struct lines split(char *text)
{
    size_t room = 1;
    for (const char *c = text; *c; c++)
        room += *c == '\n';
    struct lines lines = {calloc(room, sizeof *lines.at), 0};
    for (char *line = text, *end; lines.at && line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        lines.at[lines.n++] = line;
    }
    return lines;
}

/* The mnemonic of a line, behind its predicate; "" for labels and empty lines. */
static const char *mnemonic(const char *line)
{
    if (*line != ' ' && *line != '(')
        return "";
    if (*line == '(') {
        const char *behind = strchr(line, ')');
        line = behind ? behind + 1 : line;
    }
    while (*line == ' ')
        line++;
    if (*line == '(') {
        const char *behind = strchr(line, ')');
        line = behind ? behind + 1 : line;
        while (*line == ' ')
            line++;
    }
    return line;
}

static bool is(const char *line, const char *begin)
{
    return strncmp(mnemonic(line), begin, strlen(begin)) == 0;
}

static bool branches(const char *line)
{
    return is(line, "jmpi") || is(line, "goto") || is(line, "while") || is(line, "brc");
}

/* The line of a label such as L128, which line names; SIZE_MAX: none before it. */
static size_t target_of(const struct lines *lines, size_t branch)
{
    const char *at = lines->at[branch];
    for (; (at = strchr(at, 'L')) != NULL; at++) {
        size_t length = 1;
        while (isdigit((unsigned char)at[length]))
            length++;
        for (size_t i = 0; i < branch && length > 1; i++) {
            if (strncmp(lines->at[i], at, length) == 0 && lines->at[i][length] == ':')
                return i;
        }
    }
    return SIZE_MAX;
}

/* The shortest loop from *begin to *end that has all matrix instructions. */
static bool find_loop(const struct lines *lines, size_t *begin, size_t *end)
{
    size_t first = SIZE_MAX, last = 0, shortest = SIZE_MAX;
    for (size_t i = 0; i < lines->n; i++) {
        if (!is(lines->at[i], "dpas"))
            continue;
        first = first == SIZE_MAX ? i : first;
        last = i;
    }
    for (size_t i = last; first != SIZE_MAX && i < lines->n; i++) {
        size_t target = branches(lines->at[i]) ? target_of(lines, i) : SIZE_MAX;
        if (target > first || i - target >= shortest)
            continue;
        shortest = i - target;
        *begin = target;
        *end = i;
    }
    return shortest != SIZE_MAX;
}

/* Registers that a message moves, of its comment "wr:2+1, rd:0": data written and read, no addresses. */
static double registers_of(const char *line)
{
    unsigned written = 0, read = 0;
    const char *comment = strstr(line, "// wr:");
    if (!comment || sscanf(comment, "// wr:%*u+%u, rd:%u", &written, &read) != 2)
        return 1;
    return written + read;
}

static void count_line(const char *line, struct ulb_device_loop *loop)
{
    unsigned tokens = 8;
    if (!*mnemonic(line))
        return;
    if (is(line, "dpas")) {
        const char *size = strchr(mnemonic(line), '.');
        if (size)
            sscanf(size, ".8x%u", &tokens);
        loop->matrix++;
        loop->matrix_tokens += tokens;
    } else if (is(line, "send")) {
        loop->messages++;
        loop->registers += registers_of(line);
    } else {
        loop->vector++;
    }
}

enum ulb_status ulb_offline_parse(const char *assembly, size_t bytes, struct ulb_device_loop *loop,
                                  struct ulb_error *err)
{
    size_t begin = 1, end = 0;
    char *text = strndup(assembly, bytes);
    struct lines lines = text ? split(text) : (struct lines){0};
    enum ulb_status status = ULB_OK;
    *loop = (struct ulb_device_loop){0};
    if (!lines.at)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for a disassembly");
    else if (!find_loop(&lines, &begin, &end))
        status = ulb_fail(err, ULB_ENVIRONMENT, "no loop of the disassembly has all matrix instructions");
    for (size_t i = begin; status == ULB_OK && i <= end; i++)
        count_line(lines.at[i], loop);
    free(lines.at);
    free(text);
    return status;
}
