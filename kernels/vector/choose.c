#include "kernels/vector/vector.h"

extern const struct ulb_vector_ops *const ulb_vector_tables[]; /* narrow to wide, NULL-terminated */

const struct ulb_vector_ops *ulb_vector_ops(ulb_isa_set isa)
{
    const struct ulb_vector_ops *best = ulb_vector_tables[0];
    for (size_t i = 1; ulb_vector_tables[i]; i++) {
        if ((ulb_vector_tables[i]->needs & ~isa) == 0)
            best = ulb_vector_tables[i];
    }
    return best;
}
