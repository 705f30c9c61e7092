#include "kernels/vector/attention.h"
#include "kernels/vector/vector.h"

#include <string.h>

extern const struct ulb_vector_ops *const ulb_vector_tables[]; /* narrow to wide, NULL-terminated */

extern const struct ulb_attention_ops *const ulb_attention_tables[];

const struct ulb_vector_ops *ulb_vector_ops(ulb_isa_set isa)
{
    const struct ulb_vector_ops *best = ulb_vector_tables[0];
    for (size_t i = 1; ulb_vector_tables[i]; i++) {
        if ((ulb_vector_tables[i]->needs & ~isa) == 0)
            best = ulb_vector_tables[i];
    }
    return best;
}

const struct ulb_attention_ops *ulb_attention_ops(ulb_isa_set isa)
{
    const struct ulb_attention_ops *best = ulb_attention_tables[0];
    for (size_t i = 1; ulb_attention_tables[i]; i++) {
        if ((ulb_attention_tables[i]->needs & ~isa) == 0)
            best = ulb_attention_tables[i];
    }
    return best;
}

/* Of a line of ULB_KV_LINES elements, and of its share of a position's scale. */
static const struct {
    const char *name;
    size_t line_bytes, scale_bytes;
} kv_types[ULB_KV_TYPES] = {{"bf16", 64, 0}, {"q8_0", 32, 2}, {"q4_0", 16, 2}, {"fp32", 128, 0}};

const char *ulb_kv_type_name(enum ulb_kv_type type)
{
    return kv_types[type].name;
}

bool ulb_kv_type_parse(const char *name, enum ulb_kv_type *type)
{
    for (int i = 0; i < ULB_KV_TYPES; i++) {
        if (strcmp(name, kv_types[i].name) == 0) {
            *type = (enum ulb_kv_type)i;
            return true;
        }
    }
    return false;
}

size_t ulb_kv_padded(size_t dims)
{
    return (dims + ULB_KV_LINES - 1) / ULB_KV_LINES * ULB_KV_LINES;
}

size_t ulb_kv_half_bytes(enum ulb_kv_type type, size_t dims)
{
    size_t line = kv_types[type].line_bytes + kv_types[type].scale_bytes;
    return ulb_kv_padded(dims) * ULB_KV_BLOCKS * line;
}

size_t ulb_kv_position_bytes(enum ulb_kv_type type, size_t dims)
{
    size_t groups = ulb_kv_padded(dims) / ULB_KV_LINES;
    return 2 * (dims * kv_types[type].line_bytes / ULB_KV_LINES + groups * kv_types[type].scale_bytes);
}
