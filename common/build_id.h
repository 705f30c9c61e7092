/* Which build of this program runs: its linker's mark, a hash of all that is in the binary. */
#ifndef ULB_COMMON_BUILD_ID_H
#define ULB_COMMON_BUILD_ID_H

#include <stddef.h>

enum { ULB_BUILD_ID_MAX = 65 };

/* In hexadecimal digits; NULL for a program that was linked without one. The text is out. */
const char *ulb_build_id(char out[ULB_BUILD_ID_MAX]);

/* The length of a commit as `git describe --dirty` names it, without the mark of changes upon it. */
size_t ulb_commit_length(const char *commit);

#endif
