/* SPDX-License-Identifier: Apache-2.0 */
/* perf.c - hardware and software counters of the job, by perf_event_open(2). What is counted
 * depends on the CPU (events/), on what was asked for, and on what is permitted:
 * source/perf/perf_plan.h makes a recording's rows from these, with the formulas of the CPU's file.
 */
#include "source/perf/perf.h"
#include "source/perf/perf_count.h"
#include "source/perf/perf_session.h"

#include <string.h>

#define ROW(name_, unit_, nodes_, label_, help_)                                                   \
	{                                                                                          \
		"perf." name_, .unit = (unit_), .kind = KIND_GAUGE, .over_nodes = (nodes_),        \
			       .label = (label_), .help = (help_)                                  \
	}
#define RATIO(name, label, help)  ROW(name, UNIT_RATIO, COMBINE_MEAN, label, help)
#define NUMBER(name, label, help) ROW(name, UNIT_ONE, COMBINE_MEAN, label, help)
#define BANDWIDTH(name, label, help)                                                               \
	ROW(name "_bytes_per_second", UNIT_BYTES_PER_SECOND, COMBINE_SUM, label, help)
#define SPEED(name, label, help) ROW(name "_per_second", UNIT_PER_SECOND, COMBINE_SUM, label, help)
#define WATTS(name, label, help) ROW(name "_watts", UNIT_WATTS, COMBINE_SUM, label, help)

#define EVENT(name_, label_, help_)                                                                \
	{                                                                                          \
		"perf." name_, .unit = UNIT_COUNT, .kind = KIND_COUNTER,                           \
			       .over_nodes = COMBINE_SUM, .label = (label_), .help = (help_)       \
	}
#define TIME(name_, label_, help_)                                                                 \
	{                                                                                          \
		"perf." name_ "_seconds", .unit = UNIT_SECONDS, .div = 1000000000,                 \
					  .kind = KIND_COUNTER, .over_nodes = COMBINE_SUM,         \
					  .label = (label_), .help = (help_)                       \
	}
#define TIMES(group, title)                                                                                \
	TIME(group ".enabled", title ": wanted",                                                           \
	     "CPU time in which the events of this group should have been counted."),                      \
		TIME(group ".running", title ": counted",                                                  \
		     "CPU time in which the events of this group were counted; less when they took turns " \
		     "with others."),                                                                      \
		RATIO(group ".share_ratio", title ": share counted",                                       \
		      "Part of the CPU time in which the events of this group were counted; what follows " \
		      "from them is scaled by it.")

#define FLOPS(group, which)                                                                        \
	TIMES(group, which " operations"),                                                         \
		SPEED(group ".flops", which " operations",                                         \
		      which " floating-point operations; a fused multiply and add counts two.")
#define PRECISION(group, which)                                                                    \
	FLOPS(group, which),                                                                       \
		SPEED(group ".instructions", which " instructions",                                \
		      which " floating-point instructions."),                                      \
		RATIO(group ".vector_ratio", which " vector instructions",                         \
		      "Part of the " which " instructions that are of vectors."),                  \
		RATIO(group ".packed_ratio", which " operations in vectors",                       \
		      "Part of the " which " operations that are done in vectors."),               \
		RATIO(group ".avx512_ratio", which " operations in AVX-512",                       \
		      "Part of the " which " operations that are done in vectors of 512 bits."),   \
		RATIO(group ".sve_ratio", which " operations in SVE",                              \
		      "Part of the " which " operations that are done in SVE vectors."),           \
		NUMBER(group ".flops_per_instruction", which " operations per instruction",        \
		       "Operations of one " which " instruction; a fused one counts twice as an "  \
		       "instruction, too.")

/* clang-format off */
static const struct metric metrics[] = {
	TIMES("hardware", "Hardware"),
	EVENT("hardware.cycles", "Cycles", "Cycles of the cores in which they were not halted."),
	EVENT("hardware.instructions", "Instructions", "Instructions that were retired."),
	EVENT("hardware.ref_cycles", "Reference cycles",
	      "Cycles at the constant reference frequency in which the cores were not halted."),
	EVENT("hardware.branches", "Branches", "Branch instructions that were retired."),
	EVENT("hardware.branch_misses", "Branch misses", "Branches that were mispredicted."),
	EVENT("hardware.cache_references", "Cache references",
	      "References of the last-level cache on Intel, of the L2 cache on AMD, of the L1 data cache elsewhere."),
	EVENT("hardware.cache_misses", "Cache misses",
	      "Misses of the last-level cache on Intel, of the L2 cache on AMD, of the L1 data cache elsewhere."),
	EVENT("hardware.stalled_cycles_frontend", "Cycles stalled, frontend",
	      "Cycles in which no instructions were delivered."),
	EVENT("hardware.stalled_cycles_backend", "Cycles stalled, backend",
	      "Cycles in which no instructions could be taken."),
	NUMBER("hardware.instructions_per_cycle", "IPC", "Instructions per cycle."),
	ROW("hardware.frequency_hertz", UNIT_HERTZ, COMBINE_MEAN, "Frequency while running",
	    "Cycles per second of CPU time; too low by the time in the kernel where only user mode is counted."),
	RATIO("hardware.frequency_ratio", "Frequency to reference", "Cycles per reference cycle."),
	RATIO("hardware.cache_miss_ratio", "Cache miss ratio",
	      "Part of the cache references that missed: of the last-level cache on Intel, of the L2 cache on AMD, "
	      "of the L1 data cache elsewhere."),
	NUMBER("hardware.cache_misses_per_instruction", "Cache misses per instruction",
	       "Cache misses per instruction, of the level that cache_misses counts."),
	RATIO("hardware.branch_miss_ratio", "Branch miss ratio", "Part of the branches that were mispredicted."),
	NUMBER("hardware.branches_per_instruction", "Branches per instruction", "Branches per instruction."),

	TIMES("software", "Software"),
	TIME("software.task_clock", "Task clock", "CPU time as perf events count it."),
	EVENT("software.page_faults", "Page faults", "Page faults."),
	EVENT("software.minor_faults", "Minor faults", "Page faults without I/O."),
	EVENT("software.major_faults", "Major faults", "Page faults that waited for I/O."),
	EVENT("software.context_switches", "Context switches",
	      "Context switches; counted only where the kernel's mode may be counted. job.voluntary_switches and "
	      "job.involuntary_switches are there in any case."),
	EVENT("software.cpu_migrations", "Migrations",
	      "Moves to another core; counted only where the kernel's mode may be counted. job.migrations is there in any case."),
	EVENT("software.alignment_faults", "Alignment faults", "Unaligned accesses that the kernel fixed up."),
	EVENT("software.emulation_faults", "Emulation faults", "Instructions that the kernel emulated."),

	TIMES("l2", "L2"),
	BANDWIDTH("l2.load", "L2 to L1D", "Lines that the L1 data cache took from the L2 cache."),
	BANDWIDTH("l2.evict", "L1D to L2", "Lines that the L1 data cache wrote back to the L2 cache."),
	BANDWIDTH("l2.bandwidth", "L2 bandwidth", "Lines between the L1 caches and the L2 cache, both ways."),
	BANDWIDTH("l2.request", "L2 requests", "Lines that the L1 caches asked the L2 cache for, without prefetches."),
	BANDWIDTH("l2.store", "L2 stores", "Lines that were stored in the L2 cache."),

	TIMES("l2cache", "L2 cache"),
	NUMBER("l2cache.requests_per_instruction", "L2 requests per instruction", "Requests of the L2 cache per instruction."),
	NUMBER("l2cache.misses_per_instruction", "L2 misses per instruction", "Misses of the L2 cache per instruction."),
	RATIO("l2cache.miss_ratio", "L2 miss ratio", "Part of the requests of the L2 cache that missed."),
	RATIO("l2cache.demand_miss_ratio", "L2 demand miss ratio",
	      "Part of the requests of the L2 cache that missed, without prefetches."),
	RATIO("l2cache.load_miss_ratio", "L2 load miss ratio", "Load misses of the L2 cache to its requests."),

	TIMES("l3", "L3"),
	BANDWIDTH("l3.load", "L3 to L2", "Lines that the L2 cache took from the L3 cache."),
	BANDWIDTH("l3.evict", "L2 to L3", "Lines that the L2 cache wrote back to the L3 cache."),
	BANDWIDTH("l3.bandwidth", "L3 bandwidth", "Lines between the L2 and the L3 cache, both ways."),
	BANDWIDTH("l3.l2_fill", "Fills of L2", "Lines that the L2 cache took from the L3 cache or from memory."),
	BANDWIDTH("l3.l2_evict", "L2 write-backs", "Lines that the L2 cache wrote to the L3 cache or to memory."),
	BANDWIDTH("l3.l2_drop", "Dropped by L2", "Lines that the L2 cache dropped without writing them."),
	BANDWIDTH("l3.l2_boundary", "L2 boundary",
	          "Lines between the L2 cache and what lies behind it, both ways: the most that the L3 cache may have moved."),

	TIMES("l3cache", "L3 cache"),
	NUMBER("l3cache.requests_per_instruction", "L3 requests per instruction", "References of the L3 cache per instruction."),
	NUMBER("l3cache.misses_per_instruction", "L3 misses per instruction", "Misses of the L3 cache per instruction."),
	RATIO("l3cache.miss_ratio", "L3 miss ratio", "Part of the references of the L3 cache that missed."),
	RATIO("l3cache.load_miss_ratio", "L3 load miss ratio", "Part of the loads that reached the L3 cache and missed it."),
	BANDWIDTH("l3cache.access", "L3 accesses", "Lines requested from the L3 caches."),
	RATIO("l3cache.read_miss_ratio", "L3 read miss ratio", "Part of the reads of the last-level cache that missed."),
	NUMBER("l3cache.read_misses_per_instruction", "L3 read misses per instruction",
	       "Read misses of the last-level cache per instruction."),

	PRECISION("flops_sp", "single precision"),
	PRECISION("flops_dp", "double precision"),
	FLOPS("flops_hp", "half precision"),

	TIMES("flops", "FLOP"),
	SPEED("flops.flops", "Floating-point operations",
	      "Floating-point operations of all precisions; a fused multiply and add counts two."),
	RATIO("flops.scalar_ratio", "Scalar operations", "Part of the operations that are not done in vectors."),
	RATIO("flops.sve_ratio", "SVE operations", "Part of the operations that are done in SVE vectors."),
	SPEED("flops.avx_instructions", "AVX instructions", "256-bit AVX instructions of every kind."),
	SPEED("flops.dp_at_most_flops", "DP operations, at most",
	      "Double precision operations if every 256-bit AVX instruction did four."),
	SPEED("flops.scalar_instructions", "Scalar FP instructions", "Scalar floating-point instructions."),
	SPEED("flops.simd_instructions", "SIMD instructions", "SIMD instructions, those of integers included."),

	TIMES("fp_precision", "FP precision"),
	RATIO("fp_precision.dp_ratio", "Double precision share",
	      "Part of the floating-point instructions that are of double precision."),
	SPEED("fp_precision.dp_flops", "DP operations, estimated",
	      "Double precision operations: all of them, shared out by the instructions of each precision."),

	TIMES("vector", "Vector"),
	RATIO("vector.vector_ratio", "Vector share", "Part of the floating-point instructions that are of vectors."),
	RATIO("vector.width_512_ratio", "512-bit share", "Part of the vector operations that are 512 bits wide."),
	RATIO("vector.sve_ratio", "SVE share", "Part of the instructions that are of SVE."),
	RATIO("vector.simd_ratio", "SIMD share", "Part of the instructions that are SIMD."),

	TIMES("memory", "Memory"),
	BANDWIDTH("memory.read", "Memory reads", "Lines read from memory, as the cores see it."),
	BANDWIDTH("memory.read_local", "Local memory reads", "Lines read from memory of the own socket."),
	BANDWIDTH("memory.write", "Memory writes", "Lines written to memory, as the cores see it."),
	BANDWIDTH("memory.bandwidth", "Memory bandwidth", "Lines read from memory and written to it, as the cores see it."),
	RATIO("memory.remote_ratio", "Remote memory share", "Part of the lines read that came from another socket's memory."),
	NUMBER("memory.flops_per_byte", "Arithmetic intensity",
	       "Floating-point operations per byte read from memory; needs the group of operations, too."),

	TIMES("memory_node", "Memory of the node"),
	BANDWIDTH("memory_node.read", "Node memory reads", "Bytes read from memory by all of the node, devices included."),
	BANDWIDTH("memory_node.write", "Node memory writes", "Bytes written to memory by all of the node, devices included."),
	BANDWIDTH("memory_node.bandwidth", "Node memory bandwidth",
	          "Bytes read from memory and written to it by all of the node, devices included."),

	TIMES("topdown", "Top-down"),
	RATIO("topdown.frontend_ratio", "Frontend bound", "Part of the slots that stayed empty because no instructions came."),
	RATIO("topdown.backend_ratio", "Backend bound",
	      "Part of the slots that stayed empty because data or execution units were missing."),
	RATIO("topdown.bad_speculation_ratio", "Bad speculation",
	      "Part of the slots whose work was discarded, or waited for the recovery."),
	RATIO("topdown.retiring_ratio", "Retiring", "Part of the slots whose work was of use."),
	RATIO("topdown.smt_contention_ratio", "SMT contention", "Part of the slots that the core's other thread took."),
	RATIO("topdown.heavy_ratio", "Heavy operations", "Part of the slots that retired parts of complex instructions."),
	RATIO("topdown.light_ratio", "Light operations", "Part of the slots that retired simple instructions."),
	RATIO("topdown.branch_mispredict_ratio", "Branch mispredictions", "Part of the slots lost to mispredicted branches."),
	RATIO("topdown.fetch_latency_ratio", "Fetch latency", "Part of the slots lost while instructions were waited for."),
	RATIO("topdown.memory_bound_ratio", "Memory bound", "Part of the slots lost while data were waited for."),
	RATIO("topdown.core_bound_ratio", "Core bound", "Part of the slots lost to busy execution units."),
	RATIO("topdown.frontend_stall_ratio", "Frontend stalls", "Part of the cycles without instructions to begin."),
	RATIO("topdown.backend_stall_ratio", "Backend stalls", "Part of the cycles in which no instruction could begin or end."),

	TIMES("energy", "Energy"),
	WATTS("energy.cores", "Core power", "Power of the cores, as their own counters estimate it."),
	WATTS("energy.l2", "L2 power", "Power of the L2 cache, as the cores' counters estimate it."),
	WATTS("energy.memory", "Memory power", "Power of the memory, as the cores' counters estimate it."),
};
/* clang-format on */

const struct metric *perf_metric(const char *name)
{
	for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
		if (!strcmp(metrics[i].name, name))
			return &metrics[i];
	return NULL;
}

static int perf_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	return perf_session_open(state, env, s, e);
}

static int perf_read(void *state, struct sample *s)
{
	return perf_session_read(state, s);
}

static int perf_joined(void *state, pid_t launcher, bool runs, struct sample *s)
{
	return perf_session_joined(state, launcher, runs, s);
}

static int perf_adopted(void *state, const pid_t *pids, size_t n, struct sample *s)
{
	return perf_session_adopted(state, pids, n, s);
}

static void perf_close(void *state)
{
	perf_session_close(state);
}

const struct source source_perf = {
	.name = "perf",
	.what = "hardware and software counters of the job, by perf events",
	.fixes = perf_fixes,
	SOURCE_METRICS(metrics),
	.declares_itself = true,
	.size = sizeof(struct perf_session),
	.open = perf_open,
	.read = perf_read,
	.joined = perf_joined,
	.adopted = perf_adopted,
	.close = perf_close,
};
