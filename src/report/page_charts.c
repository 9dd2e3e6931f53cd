/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page_charts.h"

#include <string.h>

const char page_process_cpu[] = "process.cpu_seconds";

const struct page_chart page_charts[] = {
	{ .id = "cpu",
	  .source = "cpu",
	  .title = "Cores used",
	  .note = "the machine's by what the kernel did, the job's as a line",
	  .unit = UNIT_CORES,
	  .height = 240,
	  .limit_of = "cores",
	  .limit_label = "Cores present",
	  .lines = { { "node.cpu_user_cores", "User", PAGE_STACK, "blue" },
		     { "node.cpu_nice_cores", "Nice", PAGE_STACK, "sky" },
		     { "node.cpu_system_cores", "System", PAGE_STACK, "orange" },
		     { "node.cpu_irq_cores", "Interrupts", PAGE_STACK, "red" },
		     { "node.cpu_softirq_cores", "Soft interrupts", PAGE_STACK, "green" },
		     { "node.cpu_iowait_cores", "Waiting for disk", PAGE_STACK, "purple" },
		     { "node.cpu_steal_cores", "Stolen by the host", PAGE_STACK, "grey" },
		     { "job.cpu_cores", "This job", PAGE_LINE, "ink" } } },
	{ .id = "job-memory",
	  .source = "job",
	  .title = "Memory of the job",
	  .note = "RSS counts shared pages once for each process, PSS once",
	  .unit = UNIT_BYTES,
	  .height = 170,
	  .lines = { { "job.pss_bytes", "PSS", PAGE_AREA, "blue" },
		     { "job.resident_bytes", "RSS", PAGE_LINE, "red" },
		     { "job.swap_bytes", "Swapped out", PAGE_LINE, "purple" } } },
	{ .id = "memory",
	  .source = "memory",
	  .title = "Memory of the machine",
	  .note = "the machine's by what it holds, the job's as a line",
	  .unit = UNIT_BYTES,
	  .height = 240,
	  .limit_of = "memory",
	  .limit_label = "Memory present",
	  .lines = { { "node.memory_anonymous_bytes", "Programs", PAGE_STACK, "blue" },
		     { "node.memory_shared_bytes", "Shared", PAGE_STACK, "purple" },
		     { "node.memory_file_bytes", "File cache", PAGE_STACK, "sky" },
		     { "node.memory_slab_bytes", "Kernel", PAGE_STACK, "orange" },
		     { "node.memory_page_tables_bytes", "Page tables", PAGE_STACK, "green" },
		     { "node.hugepages_used_bytes", "Huge pages", PAGE_STACK, "grey" },
		     { "node.memory_free_bytes", "Free", PAGE_STACK, "pale" },
		     { "job.pss_bytes", "This job (PSS)", PAGE_LINE, "ink" } } },
	{ .id = "disk",
	  .source = "disk",
	  .title = "Disk",
	  .note = "all disks of the machine",
	  .unit = UNIT_BYTES_PER_SECOND,
	  .height = 170,
	  .lines = { { "disk.read_bytes_per_second", "Read", PAGE_AREA, "blue" },
		     { "disk.written_bytes_per_second", "Written", PAGE_AREA, "red" } } },
	{ .id = "network",
	  .source = "network",
	  .title = "Network",
	  .note = "physical interfaces of the machine",
	  .unit = UNIT_BYTES_PER_SECOND,
	  .height = 170,
	  .lines = { { "network.received_bytes_per_second", "Received", PAGE_AREA, "blue" },
		     { "network.transmitted_bytes_per_second", "Sent", PAGE_AREA, "red" } } },
	{ .id = "pressure",
	  .source = "pressure",
	  .title = "Pressure",
	  .note = "share of time in which tasks waited for a resource",
	  .unit = UNIT_RATIO,
	  .height = 170,
	  .lines = { { "node.pressure_cpu_some_ratio", "CPU, some", PAGE_LINE, "blue" },
		     { "node.pressure_memory_some_ratio", "Memory, some", PAGE_LINE, "orange" },
		     { "node.pressure_memory_full_ratio", "Memory, all", PAGE_LINE, "red" },
		     { "node.pressure_io_some_ratio", "Disk, some", PAGE_LINE, "purple" },
		     { "node.pressure_io_full_ratio", "Disk, all", PAGE_LINE, "green" } } },
};
const size_t npage_charts = sizeof page_charts / sizeof page_charts[0];

const char *page_source_of(const char *metric)
{
	for (size_t c = 0; c < npage_charts; c++)
		for (size_t l = 0; l < PAGE_LINES && page_charts[c].lines[l].metric; l++)
			if (strcmp(page_charts[c].lines[l].metric, metric) == 0)
				return page_charts[c].source;
	return "";
}
