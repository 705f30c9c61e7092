/* A crash inside of somebody else's library. */
#ifndef ULB_HARNESS_CLI_CRASH_H
#define ULB_HARNESS_CLI_CRASH_H

/* From here on a fatal signal in a shared library that is not the C library, or while code of others is at
 * work (common/doing.h: a kernel of a plug-in, hwloc with a file), ends the program with one line that names
 * it and exit code 3. Want of memory is blamed where an allocation fails then too. The handler has a stack of
 * its own. A crash in ulb-bench itself stays one, and so does everything where a sanitizer watches. */
void ulb_catch_crashes(void);

#endif
