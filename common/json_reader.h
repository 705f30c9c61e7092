/* A JSON document read from its beginning to its end, value by value, through a window of fixed size: what a
 * caller does not keep takes no memory. */
#ifndef ULB_COMMON_JSON_READER_H
#define ULB_COMMON_JSON_READER_H

#include "common/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ulb_json_reader {
    const char *name;    /* of the document, for messages */
    FILE *file;          /* NULL: all of it is in the window */
    char *room;          /* the window of a file */
    const char *window;  /* [end] */
    size_t at, end;      /* next byte; behind the last one */
    size_t passed, most; /* bytes before the window; how many the document may have */
    int line, column;    /* of the last character before at, as jansson counts */
    bool ended, failed;  /* the file has no more; it could not be read, errno says why */
    int error;
};

/* The file at path, "-" is standard input; also a pipe. ULB_BAD_INPUT: it cannot be opened, ULB_ENVIRONMENT:
 * no memory. */
enum ulb_status ulb_json_open(struct ulb_json_reader *reader, const char *path, size_t most,
                              struct ulb_error *err);
/* The same of text[bytes], which stays the caller's. */
void ulb_json_open_text(struct ulb_json_reader *reader, const char *text, size_t bytes, const char *name);
void ulb_json_close(struct ulb_json_reader *reader);

/* The next byte behind white space, which stays there; EOF at the end and where no more can be read. */
int ulb_json_next(struct ulb_json_reader *reader);

/* Takes the next byte behind white space if it is this one. */
bool ulb_json_take(struct ulb_json_reader *reader, char byte);

/* Takes a whole value, with jansson's flags. ULB_BAD_INPUT names the place, "NAME: line 3, column 7: ...",
 * also of a file that cannot be read or is too large; ULB_ENVIRONMENT: no memory. */
enum ulb_status ulb_json_value(struct ulb_json_reader *reader, size_t flags, json_t **value,
                               struct ulb_error *err);

/* Whether the document ends here, as it must: ULB_BAD_INPUT names what is behind it. */
enum ulb_status ulb_json_end(struct ulb_json_reader *reader, struct ulb_error *err);

/* Refuses the document at its next byte: "NAME: line 3, column 7: WANTED expected near ','". */
enum ulb_status ulb_json_unexpected(struct ulb_json_reader *reader, const char *wanted,
                                    struct ulb_error *err);

#endif
