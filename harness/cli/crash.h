/* A crash inside of somebody else's library. */
#ifndef ULB_HARNESS_CLI_CRASH_H
#define ULB_HARNESS_CLI_CRASH_H

/* From here on a fatal signal in foreign code ends the program with one line that names it and exit code 3.
 * Foreign is a shared library other than the C library, and what runs while code of others is at work. That
 * is a kernel of a plug-in, or hwloc with a file (common/doing.h). Want of memory is blamed if an allocation
 * fails then too. The handler has a stack of its own. A crash in ulb-bench itself stays one, and so does
 * everything under a sanitizer. */
void ulb_catch_crashes(void);

#endif
