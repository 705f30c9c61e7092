/* Memory of JSON documents. A record grows one small allocation at a time, in hundreds of places; none of
 * them can do anything sensible when memory runs out. So there is a reserve for that hour, enough to end the
 * run and write what was measured, and after that a mark on every document made since. */
#ifndef ULB_RESULTS_RECORD_JSON_RESERVE_H
#define ULB_RESULTS_RECORD_JSON_RESERVE_H

#include <stdbool.h>

/* Puts the reserve aside and lets jansson allocate through it; before any document is made. Not having it is
 * no failure: then the first refusal marks. */
void ulb_json_memory_open(void);

/* Whether memory ran out in spite of the reserve: documents may lack parts and must not be given out. */
bool ulb_json_memory_short(void);

/* Gives the reserve back. */
void ulb_json_memory_close(void);

#endif
