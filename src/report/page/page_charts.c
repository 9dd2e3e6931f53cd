/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_charts.h"

#include "base/text/escape.h"
#include "report/page/page_code.h"
#include "report/page/page_kinds.h"
#include "report/page/page_series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- the job's own numbers ---- */

enum { CHART_HEIGHT = 130, SHOWN_NAME = 4 * OWN_NAME };

static const char key_prefix[] = "own:";

static void key_of(const struct own_series *s, char out[SHOWN_NAME])
{
	char name[SHOWN_NAME - sizeof key_prefix];

	snprintf(out, SHOWN_NAME, "%s%s", key_prefix,
		 escape_terminal_into(name, sizeof name, s->name));
}

static void own_chart_json(struct json *j, const struct own_series *s, uint32_t i)
{
	char key[SHOWN_NAME], id[32];
	const char *name = key + sizeof key_prefix - 1;
	const struct page_chart c = {
		.id = id,
		.title = name,
		.note = s->mark ? "numbers in the job's marks" : "a counter of the program",
		.own = true,
		.height = CHART_HEIGHT,
		.lines = { { key, name, PAGE_LINE, "green" } },
	};

	key_of(s, key);
	snprintf(id, sizeof id, "own-%u", i);
	page_chart_json(j, &c);
}

static void own_charts_json(struct json *j, const struct own *own)
{
	for (uint32_t i = 0, n = 0; i < own->nseries && n < OWN_CHARTS; i++)
		if (own_is_first(own, i)) {
			own_chart_json(j, &own->series[i], i);
			n++;
		}
}

static void values_json(struct json *j, const char *key, const double *v, uint32_t n)
{
	json_key(j, key);
	page_pack_numbers(j, v, n);
}

/* The series of this name of all nodes. */
static void all_json(struct json *j, const struct own *own, uint32_t first, struct own_values *v)
{
	uint32_t nodes = own_values_of(own, first, v);

	if (nodes == 1) {
		values_json(j, "mean", v->most, v->n);
		return;
	}
	json_key(j, "instances");
	json_int(j, nodes);
	values_json(j, "min", v->least, v->n);
	values_json(j, "max", v->most, v->n);
}

void page_own_series_json(struct json *j, const struct own *own, uint32_t node, const double *at_s,
			  uint32_t n)
{
	char key[SHOWN_NAME];
	struct own_values v;

	if (!own_values_reserve(&v, n)) {
		j->out->failed = true;
		return;
	}
	memcpy(v.at_s, at_s, n * sizeof *at_s);
	v.one_node = v.gaps = node > 0;
	for (uint32_t i = 0; i < own->nseries; i++) {
		const struct own_series *s = &own->series[i];

		if (node ? s->node != node : !own_is_first(own, i))
			continue;
		key_of(s, key);
		json_key(j, key);
		json_object(j);
		all_json(j, own, i, &v);
		json_object_end(j);
	}
	free(v.at_s);
}

/* ---- heat maps ---- */

/* Cells of all nodes together, and columns of a map. */
enum { CELLS_MAX = 400000, COLUMNS_MAX = 600, COLUMNS_MIN = 8 };
enum { WHOLE = 250, ABSENT = 255, DEVICE_NAME = 64 };

const struct page_map page_maps[PAGE_MAPS] = {
	{ "cores", "CPU of each core", "cpu.used_ratio" },
	{ "gpus", "Each GPU", "gpu.utilization_ratio" },
};

/* No more columns than points. */
uint32_t page_maps_columns(const struct traces *t)
{
	uint32_t devices = 0, points = 1, n;

	for (size_t i = 0; i < PAGE_MAPS; i++) {
		traces_of(t, page_maps[i].metric, true, &n);
		devices += n;
	}
	for (uint32_t i = 1; i < t->nnodes; i++) {
		uint32_t own = (t->node[i].nrows + t->node[i].thinned - 1) / t->node[i].thinned;

		points = own > points ? own : points;
	}
	n = devices ? CELLS_MAX / devices : 0;
	n = n > COLUMNS_MAX ? COLUMNS_MAX : n < COLUMNS_MIN ? 0 : n;
	return n > points ? points : n;
}

static void map_json(struct json *j, const struct traces *t, const struct run *r,
		     const struct trace *x, uint32_t n, uint32_t columns)
{
	double *room = calloc((size_t)3 * columns, sizeof *room);
	struct trace_columns c = { room, room + columns, room + (size_t)2 * columns, columns };
	struct bytes cells = { .failed = !room };
	char name[DEVICE_NAME];

	json_key(j, "columns");
	json_int(j, columns);
	json_key(j, "end");
	json_real(j, t->to_s);
	json_key(j, "names");
	json_array(j);
	for (uint32_t i = 0; i < n && room; i++) {
		const char *text = r->instances[x[i].instance].name;

		json_text(j, escape_terminal_into(name, sizeof name, text ? text : ""));
		traces_columns(t, &x[i], &c);
		for (uint32_t k = 0; k < columns; k++)
			bytes_u8(&cells,
				 isnan(c.mean[k])
					 ? ABSENT
					 : (uint8_t)lround(WHOLE * fmin(fmax(c.mean[k], 0), 1)));
	}
	json_array_end(j);
	json_key(j, "cells");
	if (cells.failed)
		j->out->failed = true;
	else
		page_pack_bytes(j, cells.data, cells.len);
	bytes_free(&cells);
	free(room);
}

void page_maps_json(struct json *j, const struct traces *t, const struct run *r, uint32_t node,
		    uint32_t columns)
{
	uint32_t n;

	json_key(j, "maps");
	json_object(j);
	for (size_t i = 0; i < PAGE_MAPS && columns; i++) {
		const struct trace *x = traces_of_node(t, page_maps[i].metric, true, node, &n);

		/* of the node itself there is no device */
		for (; n && !x->instance; n--)
			x++;
		if (!n)
			continue;
		json_key(j, page_maps[i].id);
		json_object(j);
		map_json(j, t, r, x, n, columns);
		json_object_end(j);
	}
	json_object_end(j);
}

/* ---- charts ---- */

enum { PROOF_HEIGHT = 170 };

static bool has_values(const struct page_series *d, uint32_t drawn)
{
	uint32_t n;

	return traces_of(d->traces, d->drawn[drawn].metric, false, &n);
}

static bool is_shown(const struct page_series *d, const struct page_chart *c)
{
	for (uint32_t i = 0; c->optional && i < d->ndrawn; i++)
		for (size_t l = 0; l < PAGE_LINES && c->lines[l].metric; l++)
			if (!strcmp(c->lines[l].metric, d->drawn[i].metric) && has_values(d, i))
				return true;
	return !c->optional;
}

static bool is_charted(const char *metric)
{
	for (size_t c = 0; c < npage_charts; c++)
		for (size_t l = 0; l < PAGE_LINES && page_charts[c].lines[l].metric; l++)
			if (!strcmp(page_charts[c].lines[l].metric, metric))
				return true;
	return false;
}

static void proof_json(struct json *j, const struct page_series *d, const struct run *r, uint32_t i)
{
	const struct page_drawn *drawn = &d->drawn[i];
	const struct metric *row = page_metric(r, drawn->metric, NULL);
	char id[32], name[200], title[300], key[sizeof drawn->key];
	struct page_chart c = { .id = id,
				.title = title,
				.note = escape_terminal_into(key, sizeof key, drawn->key),
				.unit = page_unit(r, drawn->metric),
				.height = PROOF_HEIGHT,
				.lines = { { drawn->key, title, PAGE_AREA, "blue" } } };

	snprintf(id, sizeof id, "proof-%u", i);
	snprintf(name, sizeof name, *drawn->instance ? "%s of %s" : "%s",
		 row && row->label ? row->label : drawn->metric, drawn->instance);
	escape_terminal_into(title, sizeof title, name);
	page_chart_json(j, &c);
}

static void maps_json(struct json *j)
{
	json_key(j, "maps");
	json_array(j);
	for (size_t i = 0; i < PAGE_MAPS; i++) {
		json_object(j);
		json_key(j, "id");
		json_text(j, page_maps[i].id);
		json_key(j, "title");
		json_text(j, page_maps[i].title);
		json_key(j, "metric");
		json_text(j, page_maps[i].metric);
		json_object_end(j);
	}
	json_array_end(j);
}

void page_charts_json(struct json *j, const struct page_series *d, const struct own *own,
		      const struct page_kinds *waits, const struct page_kinds *code,
		      const struct run *r)
{
	json_key(j, "charts");
	json_array(j);
	own_charts_json(j, own);
	for (size_t c = 0; c < npage_charts; c++) {
		if (is_shown(d, &page_charts[c]))
			page_chart_json(j, &page_charts[c]);
		if (c)
			continue;
		page_waits_chart_json(j, waits); /* beside the cores */
		page_code_chart_json(j, code);   /* which are a part of them */
	}
	for (uint32_t i = 0; i < d->ndrawn; i++)
		if (!is_charted(d->drawn[i].key) && has_values(d, i))
			proof_json(j, d, r, i);
	json_array_end(j);
	maps_json(j);
}
