/* Text written into memory through a stream. Unlike with open_memstream(), which goes on without what found
 * no room, memory that runs out is known when the stream is closed. */
#ifndef ULB_COMMON_TEXT_H
#define ULB_COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ulb_text {
    FILE *out;
    char *data; /* what was written and a 0 behind it, once the stream is closed */
    size_t bytes, room;
    bool failed;
};

/* Opens the stream out; false, with nothing to close, when out of memory. The struct must stay where it is.
 */
bool ulb_text_open(struct ulb_text *text);

/* Closes the stream. data is to be freed; false and data NULL when some of it found no room. */
bool ulb_text_close(struct ulb_text *text);

/* Whether a text holds nothing but whole characters of UTF-8, none of which a terminal obeys: control
 * characters (C0, C1, DEL), separators of lines, and those that turn the direction of writing. */
bool ulb_text_is_printable(const char *text);

/* '?' in the place of each that it must not hold; the text becomes shorter where they had several bytes.
 * Names and texts of files pass through this before they are printed, once, where they are read. */
void ulb_text_printable(char *text);

/* Two texts in short, for a message that says what differs: where they are too long, what is around the first
 * difference, with "..." for what is left out. Whole characters of UTF-8. */
enum { ULB_DIFFERING_BYTES = 96 };
void ulb_text_differing(const char *one, const char *other, char short_one[ULB_DIFFERING_BYTES],
                        char short_other[ULB_DIFFERING_BYTES]);

/* A text that was cut may end inside a character of UTF-8: cuts what there is of it. */
void ulb_text_mend(char *text);

#endif
