/* The screen that results are shown on: its width, colours, and text that fits it. */
#ifndef ULB_HARNESS_CLI_TERMINAL_H
#define ULB_HARNESS_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Columns of out: COLUMNS where that is a number, else the terminal's, else 80; at least 40. */
size_t ulb_terminal_width(FILE *out);

enum ulb_colour_mode { ULB_COLOUR_AUTO, ULB_COLOUR_ALWAYS, ULB_COLOUR_NEVER };

/* What --color says. AUTO, as at the start: on terminals if neither NO_COLOR nor TERM=dumb is set. */
void ulb_set_colours(enum ulb_colour_mode mode);
bool ulb_has_colours(FILE *out);

/* Of a row of a table. */
enum ulb_colour { ULB_BOLD, ULB_GREEN, ULB_RED };
/* The name by which libsmartcols knows it. */
const char *ulb_colour_name(enum ulb_colour colour);

/* One '?' for each character that is no printable ASCII, so that bytes are columns and no text drives the
 * terminal. In place. */
void ulb_to_ascii(char *text);

/* Prints text behind head, which is printable already. What does not fit goes on below, between words, under
 * the begin of text, 10 columns in at most. A word that is longer than a line is not broken. */
void ulb_print_wrapped(FILE *out, const char *head, const char *text);
void ulb_print_wrapped_as(FILE *out, const char *head, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One line on standard error behind "note: "; on a terminal as ulb_print_wrapped prints it. */
void ulb_print_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
