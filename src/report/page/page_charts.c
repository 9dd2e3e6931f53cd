/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_charts.h"

#include <string.h>

const struct page_chart page_charts[] = {
	{ .id = "cpu",
	  .source = "cpu",
	  .title = "Cores used",
	  .note = "machine by CPU state, job as a line",
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
		     { "job.hugetlb_bytes", "Huge pages", PAGE_LINE, "orange" },
		     { "job.memory_files_bytes", "Files in memory", PAGE_LINE, "green" },
		     { "job.swap_bytes", "Swapped out", PAGE_LINE, "purple" } } },
	{ .id = "memory",
	  .source = "memory",
	  .title = "Memory of the machine",
	  .note = "machine by kind of memory, job as a line",
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
	{ .id = "gpu",
	  .source = "gpu",
	  .title = "GPUs",
	  .note = "mean of all, and the busiest one",
	  .unit = UNIT_RATIO,
	  .height = 170,
	  .optional = true,
	  .lines = { { "gpu.utilization_ratio", "Running kernels", PAGE_AREA, "green" },
		     { "gpu.memory_used_ratio", "Memory used", PAGE_LINE, "purple" },
		     { "gpu.job_sm_utilization_ratio", "This job", PAGE_LINE, "ink" } } },
	{ .id = "gpu-power",
	  .source = "gpu",
	  .title = "Power of the GPUs",
	  .note = "total of all GPUs",
	  .unit = UNIT_WATTS,
	  .height = 170,
	  .optional = true,
	  .lines = { { "gpu.power_watts", "Drawn", PAGE_AREA, "orange" } } },
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
	{ .id = "fabric",
	  .source = "infiniband",
	  .title = "Fabric",
	  .note = "InfiniBand, Omni-Path and RoCE ports of the machine",
	  .unit = UNIT_BYTES_PER_SECOND,
	  .height = 170,
	  .optional = true,
	  .lines = { { "infiniband.received_bytes_per_second", "Received", PAGE_AREA, "blue" },
		     { "infiniband.transmitted_bytes_per_second", "Sent", PAGE_AREA, "red" } } },
	{ .id = "fabric-use",
	  .source = "infiniband",
	  .title = "Fabric: links in use",
	  .note = "busiest port relative to its link speed",
	  .unit = UNIT_RATIO,
	  .height = 170,
	  .optional = true,
	  .lines = { { "infiniband.receive_used_ratio", "Receiving", PAGE_LINE, "blue" },
		     { "infiniband.transmit_used_ratio", "Sending", PAGE_LINE, "red" } } },
	{ .id = "fabric-slingshot",
	  .source = "slingshot",
	  .title = "Slingshot",
	  .note = "Slingshot adapters of the machine",
	  .unit = UNIT_BYTES_PER_SECOND,
	  .height = 170,
	  .optional = true,
	  .lines = { { "slingshot.received_bytes_per_second", "Received", PAGE_AREA, "blue" },
		     { "slingshot.transmitted_bytes_per_second", "Sent", PAGE_AREA, "red" } } },
	{ .id = "fabric-slingshot-use",
	  .source = "slingshot",
	  .title = "Slingshot: links in use",
	  .note = "busiest port relative to its link speed",
	  .unit = UNIT_RATIO,
	  .height = 170,
	  .optional = true,
	  .lines = { { "slingshot.receive_used_ratio", "Receiving", PAGE_LINE, "blue" },
		     { "slingshot.transmit_used_ratio", "Sending", PAGE_LINE, "red" } } },
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

static void line_json(struct json *j, const struct page_line *l)
{
	static const char *const role[] = {
		[PAGE_STACK] = "stack", [PAGE_LINE] = "line", [PAGE_AREA] = "area"
	};

	json_object(j);
	json_put_text(j, "metric", l->metric);
	json_put_text(j, "label", l->label);
	json_put_text(j, "role", role[l->role]);
	json_put_text(j, "colour", l->colour);
	json_object_end(j);
}

void page_chart_json(struct json *j, const struct page_chart *c)
{
	json_object(j);
	json_put_text(j, "id", c->id);
	json_put_text(j, "title", c->title);
	json_put_text(j, "note", c->note);
	json_put_text(j, "unit", c->own ? "own" : unit_name(c->unit));
	json_put_int(j, "height", c->height);
	if (c->limit_of) {
		json_key(j, "limit");
		json_object(j);
		json_put_text(j, "of", c->limit_of);
		json_put_text(j, "label", c->limit_label);
		json_object_end(j);
	}
	json_key(j, "lines");
	json_array(j);
	for (size_t l = 0; l < PAGE_LINES && c->lines[l].metric; l++)
		line_json(j, &c->lines[l]);
	json_array_end(j);
	json_object_end(j);
}
