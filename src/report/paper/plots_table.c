/* SPDX-License-Identifier: Apache-2.0 */
#include "report/paper/plots.h"

static const struct plot_row rows[] = {
	{ .name = "nodes-job-cores",
	  .title = "Cores used by the job, node by node",
	  .note = "one row per node",
	  .source = "job",
	  .kind = PLOT_NODES,
	  .metric = "job.cpu_cores",
	  .unit = UNIT_CORES },
	{ .name = "nodes-job-cores-lines",
	  .title = "Cores used by the job on each node",
	  .note = "",
	  .source = "job",
	  .kind = PLOT_NODE_LINES,
	  .metric = "job.cpu_cores",
	  .unit = UNIT_CORES },
	{ .name = "nodes-cpu",
	  .title = "CPU use of each machine, by all its users",
	  .note = "one row per node",
	  .source = "cpu",
	  .kind = PLOT_NODES,
	  .metric = "node.cpu_used_ratio",
	  .unit = UNIT_RATIO },
	{ .name = "nodes-memory",
	  .title = "Memory in use on each machine",
	  .note = "one row per node, without reclaimable memory",
	  .source = "memory",
	  .kind = PLOT_NODES,
	  .metric = "node.memory_used_ratio",
	  .unit = UNIT_RATIO },
	{ .name = "nodes-network-received",
	  .title = "Network, received by each node",
	  .note = "one row per node",
	  .source = "network",
	  .kind = PLOT_NODES,
	  .metric = "network.received_bytes_per_second",
	  .unit = UNIT_BYTES_PER_SECOND },
	{ .name = "nodes-network-sent",
	  .title = "Network, sent by each node",
	  .note = "one row per node",
	  .source = "network",
	  .kind = PLOT_NODES,
	  .metric = "network.transmitted_bytes_per_second",
	  .unit = UNIT_BYTES_PER_SECOND },
	{ .name = "nodes-disk-written",
	  .title = "Disks, written by each node",
	  .note = "one row per node",
	  .source = "disk",
	  .kind = PLOT_NODES,
	  .metric = "disk.written_bytes_per_second",
	  .unit = UNIT_BYTES_PER_SECOND },
	{ .name = "cores",
	  .title = "CPU of each core",
	  .note = "one row per CPU in the kernel's numbering, all users",
	  .source = "cpu",
	  .kind = PLOT_CORES,
	  .metric = "cpu.used_ratio",
	  .unit = UNIT_RATIO },
	{ .name = "power",
	  .title = "Power",
	  .note = "as measured by the machine, all users",
	  .source = "energy",
	  .kind = PLOT_TOTAL,
	  .metric = "node.power_watts",
	  .unit = UNIT_WATTS },
	{ .name = "gpus-utilization",
	  .title = "Each GPU: share of time in use",
	  .note = "",
	  .source = "nvidia",
	  .kind = PLOT_INSTANCES,
	  .metric = "gpu.utilization_ratio",
	  .unit = UNIT_RATIO },
	{ .name = "gpus-memory",
	  .title = "Each GPU: memory in use",
	  .note = "",
	  .source = "nvidia",
	  .kind = PLOT_INSTANCES,
	  .metric = "gpu.memory_used_bytes",
	  .unit = UNIT_BYTES },
	{ .name = "gpus-power",
	  .title = "Each GPU: power",
	  .note = "",
	  .source = "nvidia",
	  .kind = PLOT_INSTANCES,
	  .metric = "gpu.power_watts",
	  .unit = UNIT_WATTS },
	{ .name = "roofline",
	  .title = "Roofline",
	  .note = "points below the slope are limited by memory, points below the level by "
		  "computation",
	  .source = "perf",
	  .kind = PLOT_ROOFLINE,
	  .metric = "" },
};
const struct plot_set plots_of_sonde = { rows, sizeof rows / sizeof rows[0], true, 3 };

/* perfmon's set and names. Its load is in percent of a core. */
#define PERFMON(KIND, GROUP, FILE, TITLE, ...)                                                     \
	{                                                                                          \
		.name = FILE, .title = TITLE, .note = "", .source = "", .kind = KIND,              \
		.group = GROUP, __VA_ARGS__                                                        \
	}
#define AVERAGE(GROUP, FILE, TITLE, ...)                                                           \
	PERFMON(PLOT_PERFMON_ALL, GROUP, "Average_" FILE "_all_nodes", TITLE, __VA_ARGS__)
#define TOTAL(GROUP, FILE, TITLE, ...)                                                             \
	PERFMON(PLOT_PERFMON_ALL, GROUP, "Total_" FILE "_all_nodes", TITLE, .total = true,         \
		__VA_ARGS__)
#define EACH(GROUP, FILE, TITLE, ...)                                                              \
	PERFMON(PLOT_PERFMON_EACH, GROUP, FILE "_per_node", TITLE, __VA_ARGS__)

#define LOAD        .metric = "job.cpu_cores", .unit = UNIT_RATIO
#define MEMORY      .metric = "job.resident_bytes", .unit = UNIT_BYTES
#define BANDWIDTH   .metric = "perf.memory.read_bytes_per_second", .unit = UNIT_BYTES_PER_SECOND
#define BYTES(OF)   .metric = OF "_bytes_per_second", .unit = UNIT_BYTES_PER_SECOND, .log = true
#define PACKETS(OF) .metric = OF "_packets_per_second", .unit = UNIT_PER_SECOND, .log = true
#define POWER(OF)   .metric = "energy.consumed_watts", .unit = UNIT_WATTS, .part = OF

static const struct plot_row perfmon_rows[] = {
	AVERAGE(0, "CPU_Load", "CPU Load", LOAD),
	AVERAGE(0, "Memory", "Memory", MEMORY),
	AVERAGE(0, "Memory_Bandwidth_(Read)", "Memory Bandwidth (Read)", BANDWIDTH),
	TOTAL(1, "Output_Traffic", "Output Traffic", BYTES("network.transmitted")),
	TOTAL(1, "Input_Traffic", "Input Traffic", BYTES("network.received")),
	TOTAL(1, "Packets_Output", "Packets Output", PACKETS("network.transmitted")),
	TOTAL(1, "Packets_Input", "Packets Input", PACKETS("network.received")),
	TOTAL(2, "Interconnect_Output_Traffic", "Interconnect Output Traffic",
	      BYTES("infiniband.transmitted")),
	TOTAL(2, "Interconnect_Input_Traffic", "Interconnect Input Traffic",
	      BYTES("infiniband.received")),
	TOTAL(2, "Interconnect_Packets_Output", "Interconnect Packets Output",
	      PACKETS("infiniband.transmitted")),
	TOTAL(2, "Interconnect_Packets_Input", "Interconnect Packets Input",
	      PACKETS("infiniband.received")),
	TOTAL(3, "RAPL_Package_Power", "RAPL Package Power", POWER("package")),
	TOTAL(3, "RAPL_DRAM_Power", "RAPL DRAM Power", POWER("dram")),
	TOTAL(3, "RAPL_Core_Power", "RAPL Core Power", POWER("core")),
	TOTAL(3, "RAPL_Uncore_Power", "RAPL Uncore Power", POWER("uncore")),
	EACH(4, "CPU_Load", "CPU Load", LOAD),
	EACH(4, "Memory", "Memory", MEMORY),
	EACH(4, "Memory_Bandwidth_(Read)", "Memory Bandwidth (Read)", BANDWIDTH),
	EACH(5, "Output_Traffic", "Output Traffic", BYTES("network.transmitted")),
	EACH(5, "Input_Traffic", "Input Traffic", BYTES("network.received")),
	EACH(5, "Packets_Output", "Packets Output", PACKETS("network.transmitted")),
	EACH(5, "Packets_Input", "Packets Input", PACKETS("network.received")),
	EACH(6, "Interconnect_Output_Traffic", "Interconnect Output Traffic",
	     BYTES("infiniband.transmitted")),
	EACH(6, "Interconnect_Input_Traffic", "Interconnect Input Traffic",
	     BYTES("infiniband.received")),
	EACH(6, "Interconnect_Packets_Output", "Interconnect Packets Output",
	     PACKETS("infiniband.transmitted")),
	EACH(6, "Interconnect_Packets_Input", "Interconnect Packets Input",
	     PACKETS("infiniband.received")),
	EACH(7, "RAPL_Package_Power", "RAPL Package Power", POWER("package")),
	EACH(7, "RAPL_DRAM_Power", "RAPL DRAM Power", POWER("dram")),
	EACH(7, "RAPL_Core_Power", "RAPL Core Power", POWER("core")),
	EACH(7, "RAPL_Uncore_Power", "RAPL Uncore Power", POWER("uncore")),
};
const struct plot_set plots_of_perfmon = { perfmon_rows,
					   sizeof perfmon_rows / sizeof perfmon_rows[0], false, 4 };

const char plot_operations[] = "perf.flops.flops_per_second";
const char *const plot_operations_by_precision[] = { "perf.flops_dp.flops_per_second",
						     "perf.flops_sp.flops_per_second",
						     "perf.flops_hp.flops_per_second" };
_Static_assert(sizeof plot_operations_by_precision / sizeof plot_operations_by_precision[0] ==
		       PLOT_PRECISIONS,
	       "all of them");

const struct plot_traffic plot_traffics[] = {
	{ "perf.memory.bandwidth_bytes_per_second", "of memory traffic" },
	{ "perf.memory.read_bytes_per_second", "read from memory" },
};
_Static_assert(sizeof plot_traffics / sizeof plot_traffics[0] == PLOT_TRAFFICS, "all of them");

const char plot_roofline_missing[] =
	"Floating-point operations and memory traffic were not counted. To count them, use sonde "
	"run --perf flops,flops_dp,flops_sp,memory, where the CPU has the counters and "
	"kernel.perf_event_paranoid permits it; sonde doctor shows whether it does.";
