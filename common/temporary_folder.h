/* Folders for what other programs read and write. */
#ifndef ULB_COMMON_TEMPORARY_FOLDER_H
#define ULB_COMMON_TEMPORARY_FOLDER_H

#include <limits.h>
#include <stdbool.h>

/* Makes a folder of its own, "NAME-" and six characters, in TMPDIR or /tmp. false: it could not be made, and
 * folder says which. */
bool ulb_temporary_folder_make(char folder[PATH_MAX], const char *name);

/* With all that lies in it. */
void ulb_temporary_folder_remove(const char *folder);

#endif
