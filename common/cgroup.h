/* Limits that a container puts on this process, by either version of Linux control groups.
 *
 * A limit may stand in the process's own group or in any above it; the tightest counts. Where the file system
 * of the groups shows only the container's own part of the tree, the paths of /proc/self/cgroup do not exist
 * there, and what stands at its root is the container's. */
#ifndef ULB_COMMON_CGROUP_H
#define ULB_COMMON_CGROUP_H

/* root is put before /proc and /sys: "" on a real system, a folder with a tree of files in tests. */

/* CPUs' worth of time that the process may use: quota / period of cpu.max, or of cpu.cfs_quota_us and
 * cpu.cfs_period_us. INFINITY without a quota. */
double ulb_cgroup_cpus(const char *root);

/* Bytes left below the limit (memory.max, memory.limit_in_bytes), page cache that can be dropped counted as
 * free; -1 without a limit. */
long long ulb_cgroup_memory_left(const char *root);

#endif
