#include "common/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { ROOM_LEAST = 4096 };

static bool grow(struct ulb_text *text, size_t needed)
{
    size_t room = text->room ? text->room : ROOM_LEAST;
    while (room < needed)
        room *= 2;
    char *data = room > text->room ? realloc(text->data, room) : text->data;
    if (!data)
        return false;
    text->data = data;
    text->room = room;
    return true;
}

/* 0 says an error here, unlike write(2). */
static ssize_t append(void *cookie, const char *bytes, size_t n)
{
    struct ulb_text *text = cookie;
    if (text->failed || !grow(text, text->bytes + n + 1)) {
        text->failed = true;
        return 0;
    }
    memcpy(text->data + text->bytes, bytes, n);
    text->bytes += n;
    text->data[text->bytes] = '\0';
    return (ssize_t)n;
}

bool ulb_text_open(struct ulb_text *text)
{
    *text = (struct ulb_text){NULL, NULL, 0, 0, false};
    if (grow(text, 1)) {
        text->data[0] = '\0';
        text->out = fopencookie(text, "w", (cookie_io_functions_t){.write = append});
    }
    if (text->out)
        return true;
    free(text->data);
    *text = (struct ulb_text){NULL, NULL, 0, 0, true};
    return false;
}

bool ulb_text_close(struct ulb_text *text)
{
    text->failed |= ferror(text->out) != 0;
    text->failed |= fclose(text->out) != 0;
    if (text->failed) {
        free(text->data);
        text->data = NULL;
    }
    return !text->failed;
}

/* Bytes of the character of UTF-8 at text, and its number; 0: there is none. */
static size_t read_character(const char *text, uint32_t *number)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)text[0];
    size_t length = first < 0x80   ? 1
                    : first < 0xC0 ? 0
                    : first < 0xE0 ? 2
                    : first < 0xF0 ? 3
                    : first < 0xF8 ? 4
                                   : 0;
    *number = length < 2 ? first : first & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)text[i] & 0xC0) != 0x80)
            return 0;
        *number = *number << 6 | ((unsigned char)text[i] & 0x3F);
    }
    bool valid = length < 2 ||
                 (*number >= least[length] && *number <= 0x10FFFF && (*number < 0xD800 || *number > 0xDFFF));
    return valid ? length : 0;
}

/* Control characters, separators of lines, and what turns the direction of writing. */
static bool is_obeyed(uint32_t number)
{
    return number < 0x20 || (number >= 0x7F && number < 0xA0) || number == 0x61C || number == 0x200E ||
           number == 0x200F || (number >= 0x2028 && number <= 0x202E) ||
           (number >= 0x2066 && number <= 0x2069);
}

bool ulb_text_is_printable(const char *text)
{
    uint32_t number;
    for (size_t length; *text; text += length) {
        while (*text >= ' ' && *text <= '~')
            text++;
        if (*text == '\0')
            break;
        length = read_character(text, &number);
        if (length == 0 || is_obeyed(number))
            return false;
    }
    return true;
}

void ulb_text_printable(char *text)
{
    uint32_t number;
    char *to = text;
    for (size_t length; *text; text += length) {
        length = read_character(text, &number);
        bool shown = length > 0 && !is_obeyed(number);
        length = length > 0 ? length : 1;
        if (shown)
            memmove(to, text, length);
        else
            *to = '?';
        to += shown ? length : 1;
    }
    *to = '\0';
}

void ulb_text_mend(char *text)
{
    size_t length = strlen(text), at = length;
    while (at > 0 && ((unsigned char)text[at - 1] & 0xC0) == 0x80)
        at--;
    if (at == 0 || (unsigned char)text[at - 1] < 0xC0)
        return; /* no first byte: an ASCII character, or no UTF-8 */
    unsigned char first = (unsigned char)text[at - 1];
    size_t needed = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (length - (at - 1) < needed)
        text[at - 1] = '\0';
}

static bool starts_character(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

static void put_from(const char *text, size_t from, char out[ULB_DIFFERING_BYTES])
{
    enum { ROOM = ULB_DIFFERING_BYTES - 3 };
    if (snprintf(out, ROOM, "%s%s", from > 0 ? "..." : "", text + from) < ROOM)
        return;
    ulb_text_mend(out);
    strcat(out, "...");
}

void ulb_text_differing(const char *one, const char *other, char short_one[ULB_DIFFERING_BYTES],
                        char short_other[ULB_DIFFERING_BYTES])
{
    enum { BEFORE = 24, SEEN = 64 };
    size_t at = 0;
    while (one[at] && one[at] == other[at])
        at++;
    size_t from = at > SEEN ? at - BEFORE : 0;
    while (from > 0 && !starts_character(one[from]))
        from--;
    put_from(one, from, short_one);
    put_from(other, from, short_other);
}
