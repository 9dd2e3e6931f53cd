/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/charts.h"
#include "chart/svg.h"
#include "report/paper/plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Plots as perfmon drew them: all nodes together, and a line for each. */

enum { COLUMNS = 400, NAMED = 12, HOST = 80 };

/* A trace of each node; of parts of a node (packages, ...) what they add up to. */
struct hosts {
	struct trace *x;
	uint32_t n;
	bool own; /* the points are this list's */
};

static bool is_part(const struct plots *p, const struct trace *x, const char *part)
{
	const char *kind = run_label(p->run, x->instance, "kind");

	return kind && !strcmp(kind, part);
}

static bool add_part(const struct plots *p, struct hosts *h, const struct trace *x)
{
	uint32_t npoints = p->traces->node[x->node].npoints;
	struct trace *to = h->n ? &h->x[h->n - 1] : NULL;

	if (!to || to->node != x->node) {
		to = &h->x[h->n];
		*to = (struct trace){ .node = x->node,
				      .point = calloc(npoints + 1u, sizeof *to->point) };
		if (!to->point)
			return false;
		h->n++;
	}
	for (uint32_t i = 0; i < npoints; i++) {
		struct trace_point *t = &to->point[i];

		if (!(x->point[i].weight > 0))
			continue;
		t->sum += x->point[i].sum;
		t->weight = fmax(t->weight, x->point[i].weight);
		t->min += x->point[i].min;
		t->max += x->point[i].max;
	}
	return true;
}

static bool hosts_make(struct hosts *h, const struct plots *p, const struct plot_row *row)
{
	uint32_t n;
	const struct trace *x = traces_of(p->traces, row->metric, row->part != NULL, &n);
	bool good = true;

	*h = (struct hosts){ .own = row->part };
	h->x = calloc(n + 1u, sizeof *h->x);
	if (!h->x)
		return false;
	for (uint32_t i = 0; i < n && good; i++) {
		if (!row->part)
			h->x[h->n++] = x[i];
		else if (is_part(p, &x[i], row->part))
			good = add_part(p, h, &x[i]);
	}
	return good;
}

static void hosts_free(struct hosts *h)
{
	for (uint32_t i = 0; h->own && i < h->n; i++)
		free(h->x[i].point);
	free(h->x);
}

bool plots_perfmon_there(const struct plots *p, const struct plot_row *row)
{
	struct hosts h;
	bool there = hosts_make(&h, p, row) && h.n;

	hosts_free(&h);
	return there;
}

/* "CPU Load: average/node 312 %, max/node 400 %": the mean of the nodes' means, the most of any. */
static void make_title(const struct plots *p, const struct hosts *h, const struct plot_row *row,
		       char *out, size_t size)
{
	double means = 0, most = NAN;
	char mean_text[32], most_text[32];
	uint32_t known = 0;

	for (uint32_t i = 0; i < h->n; i++) {
		double sum = 0, weight = 0;

		for (uint32_t k = 0; k < p->traces->node[h->x[i].node].npoints; k++) {
			const struct trace_point *t = &h->x[i].point[k];

			sum += t->sum;
			weight += t->weight;
			if (t->weight > 0)
				most = fmax(most, (double)t->max);
		}
		if (weight > 0) {
			means += sum / weight;
			known++;
		}
	}
	snprintf(out, size, "%s: average/node %s, max/node %s", row->title,
		 unit_format(row->unit, known ? means / known : NAN, mean_text, sizeof mean_text),
		 unit_format(row->unit, most, most_text, sizeof most_text));
}

static void draw_all(const struct plots *p, const struct hosts *h, const struct plot_row *row,
		     struct bytes *drawing, const struct box *at, struct time_chart *t)
{
	double *room = calloc((size_t)6 * COLUMNS, sizeof *room);
	double *times = room, *sum = room + COLUMNS, *count = sum + COLUMNS;
	struct layer layer = { .colour = colour_series(0), .role = LAYER_AREA, .n = COLUMNS };

	if (!room) {
		drawing->failed = true;
		return;
	}
	for (uint32_t i = 0; i < h->n; i++) {
		struct trace_columns c = { count + COLUMNS, count + (size_t)2 * COLUMNS,
					   count + (size_t)3 * COLUMNS, COLUMNS };

		traces_columns(p->traces, &h->x[i], &c);
		for (uint32_t k = 0; k < COLUMNS; k++)
			if (!isnan(c.mean[k])) {
				sum[k] += c.mean[k];
				count[k]++;
			}
	}
	for (uint32_t k = 0; k < COLUMNS; k++) {
		times[k] = (k + 0.5) * p->to_s / COLUMNS;
		sum[k] = count[k] > 0 ? sum[k] / (row->total ? 1 : count[k]) : NAN;
	}
	layer.label = row->total ? "total of all nodes" : "average of all nodes";
	layer.at = times;
	layer.mean = sum;
	t->layer = &layer;
	t->nlayers = 1;
	time_chart_draw(drawing, at, t);
	free(room);
}

static void draw_each(const struct plots *p, const struct hosts *h, struct bytes *drawing,
		      const struct box *at, struct time_chart *t)
{
	struct plot_values *values = calloc(h->n + 1u, sizeof *values);
	struct layer *layer = calloc(h->n + 1u, sizeof *layer);
	char(*name)[HOST] = calloc(h->n + 1u, sizeof *name);

	if (!values || !layer || !name)
		drawing->failed = true;
	for (uint32_t i = 0; i < h->n && !drawing->failed; i++) {
		if (!plot_values_of_trace(p, &h->x[i], &values[i])) {
			drawing->failed = true;
			break;
		}
		layer[i] = (struct layer){ .label = plots_host(p, h->x[i].node, name[i], HOST),
					   .colour = colour_series(i),
					   .dash = (enum dash)(i / COLOUR_SERIES % DASH_NUMBER_OF),
					   .at = values[i].at,
					   .mean = values[i].mean,
					   .n = values[i].n };
	}
	t->layer = layer;
	t->nlayers = h->n;
	t->unnamed = h->n > NAMED;
	if (!drawing->failed)
		time_chart_draw(drawing, at, t);
	for (uint32_t i = 0; values && i < h->n; i++)
		free(values[i].at);
	free(values);
	free(layer);
	free(name);
}

void plots_perfmon_draw(const struct plots *p, const struct plot *x, struct bytes *drawing,
			const struct box *at)
{
	struct time_chart t = {
		.unit = x->row->unit, .log = x->row->log, .to_s = p->to_s, .limit = NAN
	};
	char title[200], note[64];
	struct hosts h;

	if (!hosts_make(&h, p, x->row)) {
		drawing->failed = true;
		hosts_free(&h);
		return;
	}
	make_title(p, &h, x->row, title, sizeof title);
	snprintf(note, sizeof note, "%u node%s%s", h.n, h.n == 1 ? "" : "s",
		 x->row->kind == PLOT_PERFMON_EACH && h.n > NAMED ? ", a line each" : "");
	t.title = title;
	t.note = note;
	if (x->row->kind == PLOT_PERFMON_ALL)
		draw_all(p, &h, x->row, drawing, at, &t);
	else
		draw_each(p, &h, drawing, at, &t);
	hosts_free(&h);
}
