/* A crash inside of somebody else's library. */
#ifndef ULB_HARNESS_CLI_CRASH_H
#define ULB_HARNESS_CLI_CRASH_H

/* From here on a fatal signal in a shared library that is not the C library (hwloc and PAPI do not survive an
 * allocation that fails; a kernel of a plug-in may be no good) ends the program with one line that names the
 * library, and exit code 3. A crash in ulb-bench itself stays one, and so does everything where a sanitizer
 * watches. */
void ulb_catch_crashes(void);

#endif
