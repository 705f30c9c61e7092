#include "harness/cli/terminal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_DEFAULT = 80, WIDTH_LEAST = 40, WIDTH_MOST = 1000, TEXT_BYTES = 4096 };
enum { INDENT_MOST = 10, ROOM_LEAST = 20 };

static size_t within(unsigned long width)
{
    return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

size_t ulb_terminal_width(FILE *out)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    if (columns && isdigit((unsigned char)columns[0]) && strtoul(columns, NULL, 10) > 0)
        return within(strtoul(columns, NULL, 10));
    if (isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return within(size.ws_col);
    return WIDTH_DEFAULT;
}

static enum ulb_colour_mode colours;

void ulb_set_colours(enum ulb_colour_mode mode)
{
    colours = mode;
}

bool ulb_has_colours(FILE *out)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (colours != ULB_COLOUR_AUTO)
        return colours == ULB_COLOUR_ALWAYS;
    return !(none && none[0]) && !(terminal && strcmp(terminal, "dumb") == 0) && isatty(fileno(out));
}

const char *ulb_colour_name(enum ulb_colour colour)
{
    static const char *const names[] = {[ULB_BOLD] = "bold", [ULB_GREEN] = "green", [ULB_RED] = "red"};
    return names[colour];
}

void ulb_to_ascii(char *text)
{
    char *out = text;
    for (; *text; text++) {
        if ((*text & 0xC0) != 0x80)
            *out++ = *text >= ' ' && *text < 0x7F ? *text : '?';
    }
    *out = '\0';
}

/* Bytes of text that fit into room, cut between words; a word that is longer than that as a whole. */
static size_t line_of(const char *text, size_t room)
{
    size_t length = strlen(text), cut = room;
    if (length <= room)
        return length;
    while (cut > 0 && text[cut] != ' ')
        cut--;
    return cut > 0 ? cut : strcspn(text, " ");
}

void ulb_print_wrapped(FILE *out, const char *head, const char *text)
{
    char words[TEXT_BYTES];
    size_t begin = strlen(head), indent = begin < INDENT_MOST ? begin : INDENT_MOST,
           width = ulb_terminal_width(out);
    snprintf(words, sizeof words, "%s", text);
    ulb_to_ascii(words);
    const char *rest = words;
    fputs(head, out);
    for (;;) {
        size_t length = line_of(rest, width > begin + ROOM_LEAST ? width - begin : ROOM_LEAST);
        fprintf(out, "%.*s\n", (int)length, rest);
        rest += length;
        rest += strspn(rest, " ");
        if (!*rest)
            return;
        fprintf(out, "%*s", (int)indent, "");
        begin = indent;
    }
}

void ulb_print_wrapped_as(FILE *out, const char *head, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ulb_print_wrapped(out, head, text);
}

void ulb_print_note(const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (isatty(STDERR_FILENO))
        ulb_print_wrapped(stderr, "note: ", text);
    else
        fprintf(stderr, "note: %s\n", text);
}
