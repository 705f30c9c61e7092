#include "results/history/history_key.h"

#include "common/text.h"

#include <math.h>
#include <stdio.h>

void ulb_machine_key(const struct ulb_record *record, char out[ULB_MACHINE_KEY_MAX])
{
    const char *model = ulb_record_text(record, "machine.cpu_model");
    double cores = ulb_record_number(record, "machine.cores");
    char name[129];
    snprintf(name, sizeof name, "%s", model ? model : "unknown CPU");
    ulb_text_mend(name);
    snprintf(out, ULB_MACHINE_KEY_MAX, "%s, %.0f cores", name, isfinite(cores) ? cores : 0);
}

char *ulb_compiler_key(const struct ulb_record *record)
{
    const char *compiler = ulb_record_text(record, "build.compiler");
    const char *flags = ulb_record_text(record, "build.flags");
    const char *space = flags && *flags != ' ' ? " " : "";
    char *out;
    if (asprintf(&out, "%s%s%s", compiler ? compiler : "unknown compiler", space, flags ? flags : "") < 0)
        return NULL;
    return out;
}
