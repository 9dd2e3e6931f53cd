/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meminfo.h - the fields that /proc/meminfo of the node and meminfo of a NUMA node in /sys share.
 *
 * X(key, word of the metric's name, label, sentence), in runs: the two files have them in another
 * order. Kibibytes, but for MEMINFO_PAGES and MEMINFO_SURPLUS, which are numbers of huge pages.
 */
#ifndef SONDE_SOURCE_MEMINFO_H
#define SONDE_SOURCE_MEMINFO_H

#include "core/metric.h"

#define MEMINFO_USE(X)                                                                             \
	X("SwapCached", "swap_cached", "Swap cached", "Memory that is in swap as well.")           \
	X("Active", "memory_active", "Active", "Memory used lately.")                              \
	X("Inactive", "memory_inactive", "Inactive", "Memory not used lately.")                    \
	X("Active(anon)", "memory_active_anon", "Active anonymous",                                \
	  "Anonymous and shared memory used lately.")                                              \
	X("Inactive(anon)", "memory_inactive_anon", "Inactive anonymous",                          \
	  "Anonymous and shared memory not used lately.")                                          \
	X("Active(file)", "memory_active_file", "Active file", "Page cache used lately.")          \
	X("Inactive(file)", "memory_inactive_file", "Inactive file",                               \
	  "Page cache not used lately, the first to be reclaimed.")                                \
	X("Unevictable", "memory_unevictable", "Unevictable", "Memory that cannot be reclaimed.")  \
	X("Mlocked", "memory_locked", "Locked", "Memory locked by mlock.")
#define MEMINFO_WRITING(X)                                                                         \
	X("Dirty", "memory_dirty", "Dirty", "Page cache that waits to be written.")                \
	X("Writeback", "memory_writeback", "Writeback", "Page cache that is being written.")
#define MEMINFO_ANONYMOUS(X)                                                                       \
	X("AnonPages", "memory_anonymous", "Anonymous", "Heaps, stacks and other private memory.")
#define MEMINFO_MAPPED(X) X("Mapped", "memory_mapped", "Mapped", "Files mapped into processes.")
#define MEMINFO_SHARED(X)                                                                          \
	X("Shmem", "memory_shared", "Shared", "Shared memory and tmpfs, /dev/shm included.")
#define MEMINFO_SLAB(X)                                                                            \
	X("KReclaimable", "memory_kernel_reclaimable", "Kernel, reclaimable",                      \
	  "Kernel memory that can be reclaimed, slab included.")                                   \
	X("Slab", "memory_slab", "Slab", "Kernel data structures.")                                \
	X("SReclaimable", "memory_slab_reclaimable", "Slab, reclaimable",                          \
	  "Kernel caches that can be reclaimed.")                                                  \
	X("SUnreclaim", "memory_slab_unreclaimable", "Slab, unreclaimable",                        \
	  "Kernel data structures that must stay.")
#define MEMINFO_KERNEL(X)                                                                          \
	X("KernelStack", "memory_kernel_stack", "Kernel stacks", "Kernel stacks of threads.")      \
	X("PageTables", "memory_page_tables", "Page tables", "Page tables of processes.")
#define MEMINFO_HUGE(X)                                                                            \
	X("AnonHugePages", "memory_anonymous_huge", "Anonymous huge pages",                        \
	  "Anonymous memory in transparent huge pages.")                                           \
	X("ShmemHugePages", "memory_shared_huge", "Shared huge pages",                             \
	  "Shared memory in transparent huge pages.")                                              \
	X("FileHugePages", "memory_file_huge", "File huge pages",                                  \
	  "Page cache in transparent huge pages.")
#define MEMINFO_PAGES(X)                                                                           \
	X("HugePages_Total", "hugepages_total", "Huge pages", "Huge pages of the default size.")   \
	X("HugePages_Free", "hugepages_free", "Huge pages free", "Huge pages nothing uses.")
#define MEMINFO_SURPLUS(X)                                                                         \
	X("HugePages_Surp", "hugepages_surplus", "Huge pages surplus",                             \
	  "Huge pages beyond the configured number.")

#endif
