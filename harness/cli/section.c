#include "harness/cli/section.h"

#include <string.h>

/* "cells" is an array in the record; here it becomes an object, so that every output is one, with what
 * belongs to the cells beside them. */
static json_t *section_json(const struct ulb_record *record, const struct ulb_section_command *command)
{
    json_t *value = json_object_get(record->root, command->section);
    if (!json_is_array(value))
        return json_incref(value);
    json_t *document = json_pack("{s:O}", command->section, value);
    for (const char *const *key = command->beside; key && *key && document; key++) {
        json_t *more = json_object_get(record->root, *key);
        if (more && json_object_set(document, *key, more) != 0) {
            json_decref(document);
            document = NULL;
        }
    }
    return document;
}

/* Whether a run that did not come to its end has measured something. */
static bool has_cells(const struct ulb_record *record, const struct ulb_section_command *command)
{
    const json_t *value = json_object_get(record->root, command->section);
    return json_array_size(json_is_object(value) ? json_object_get(value, "cells") : value) > 0;
}

/* Where --out says; what was measured of an interrupted run too. */
static enum ulb_status write_record(const struct ulb_section_command *command,
                                    const struct ulb_measure_options *options,
                                    const struct ulb_record *record, struct ulb_error *err)
{
    char stem[4096], path[4128];
    ulb_output_stem(options->out, command->section, stem, sizeof stem);
    snprintf(path, sizeof path, "%s.json", stem);
    enum ulb_status status = ulb_record_write(record, path, err);
    if (status == ULB_OK)
        fprintf(stderr, "record: %s\n", path);
    return status;
}

enum ulb_status ulb_section_measure(const struct ulb_section_command *command,
                                    struct ulb_measure_options *options, struct ulb_error *err)
{
    enum ulb_status status = ulb_refuse_platform(options, err);
    if (status == ULB_OK && options->out_given)
        status = ulb_make_folder(options->out, err);
    if (status != ULB_OK)
        return status;
    struct ulb_record record;
    status = ulb_measure_run(options, command->stage, &record, err);
    if (record.root && (status == ULB_OK || status == ULB_INTERRUPTED || has_cells(&record, command))) {
        struct ulb_error unwritten;
        ulb_print_warnings(&record);
        if (options->out_given && write_record(command, options, &record, &unwritten) != ULB_OK &&
            status == ULB_OK) {
            *err = unwritten;
            status = ULB_ENVIRONMENT;
        }
        if (!options->json)
            command->print(&record, stdout);
        else if (ulb_print_json(section_json(&record, command), &unwritten) != ULB_OK && status == ULB_OK) {
            *err = unwritten;
            status = ULB_ENVIRONMENT;
        }
    }
    ulb_record_free(&record);
    return status;
}

enum ulb_status ulb_section_run(const struct ulb_section_command *command, int argc, char **argv,
                                struct ulb_error *err)
{
    struct ulb_measure_options options;
    bool done;
    enum ulb_status status =
        ulb_measure_parse(argc, argv, command->options ? command->options : &ulb_measure_argp, command->doc,
                          &options, &done, err);
    if (status != ULB_OK || done)
        return status;
    return ulb_section_measure(command, &options, err);
}
