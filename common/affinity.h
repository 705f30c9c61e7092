/* How many PUs an affinity can name here. */
#ifndef ULB_COMMON_AFFINITY_H
#define ULB_COMMON_AFFINITY_H

enum { ULB_AFFINITY_SETS = 8 }; /* cpu_set_t in a row, of CPU_SETSIZE PUs each */

#endif
