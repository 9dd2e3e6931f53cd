/* SPDX-License-Identifier: Apache-2.0 */
#include "top/document.h"

#include "base/text/json.h"

#include <errno.h>
#include <math.h>

static void put_figures(struct json *j, const double *figure, const enum now_figure *which,
			size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double v = figure[which[i]];
		bool whole = now_figures[which[i]].unit == UNIT_COUNT ||
			     now_figures[which[i]].unit == UNIT_BYTES;

		json_key(j, now_figures[which[i]].name);
		if (whole && fabs(v) < 9e15 && v == floor(v))
			json_int(j, (int64_t)v);
		else
			json_real(j, v);
	}
}

static const enum now_figure of_nodes[] = {
	NOW_CPU,
	NOW_CPU_RATIO,
	NOW_CORES,
	NOW_CPU_TIME,
	NOW_MEMORY,
	NOW_MEMORY_RATIO,
	NOW_MEMORY_LIMIT,
	NOW_READ,
	NOW_WRITTEN,
	NOW_PROCESSES,
	NOW_THREADS,
	NOW_GPU,
	NOW_GPU_MEMORY,
	NOW_GPU_MEMORY_RATIO,
	NOW_GPU_MEMORY_TOTAL,
	NOW_POWER,
	NOW_NODE_CPU,
	NOW_OTHERS_CPU,
	NOW_NODE_CORES,
	NOW_NODE_MEMORY,
	NOW_OTHERS_MEMORY,
	NOW_NODE_MEMORY_TOTAL,
	NOW_LOAD,
};
static const enum now_figure of_processes[] = { NOW_CPU,  NOW_CPU_TIME, NOW_MEMORY,
						NOW_READ, NOW_WRITTEN,  NOW_THREADS };
static const enum now_figure of_gpus[] = {
	NOW_GPU,   NOW_GPU_MEMORY, NOW_GPU_MEMORY_RATIO, NOW_GPU_MEMORY_TOTAL,
	NOW_POWER, NOW_TEMPERATURE
};

#define PUT_FIGURES(j, figure, which)                                                              \
	put_figures(j, figure, which, sizeof(which) / sizeof((which)[0]))

static int put_things(struct json *j, const struct now_node *n, const char *domain, bool processes)
{
	struct now_things t = { 0 };
	int rc = now_things(n, domain, &t);

	json_array(j);
	for (uint32_t i = 0; i < t.n; i++) {
		json_object(j);
		json_key(j, "name");
		json_text(j, t.thing[i].name);
		if (processes) {
			json_key(j, "pid");
			if (t.thing[i].pid)
				json_int(j, t.thing[i].pid);
			else
				json_null(j);
			json_put_text(j, "command_line", t.thing[i].command_line);
			PUT_FIGURES(j, t.thing[i].figure, of_processes);
		} else {
			PUT_FIGURES(j, t.thing[i].figure, of_gpus);
		}
		json_object_end(j);
	}
	json_array_end(j);
	now_things_free(&t);
	return rc;
}

static int put_node(struct json *j, const struct now_node *n)
{
	int rc;

	json_object(j);
	json_key(j, "node");
	json_text(j, n->name);
	json_key(j, "host");
	json_text(j, n->from->host);
	json_key(j, "state");
	json_text(j, now_state_name(n->state));
	json_key(j, "error");
	json_text(j, n->from->error);
	json_key(j, "damages");
	json_int(j, (int64_t)n->from->damages);
	json_key(j, "age_seconds");
	json_real(j, n->age_s);
	json_key(j, "elapsed_seconds");
	json_real(j, n->elapsed_s);
	PUT_FIGURES(j, n->figure, of_nodes);
	json_key(j, "memory_kind");
	json_text(j, isnan(n->figure[NOW_MEMORY]) ? NULL : n->pss ? "pss" : "rss");
	json_key(j, "gpus");
	rc = put_things(j, n, "gpu", false);
	json_key(j, "processes");
	if (!rc)
		rc = put_things(j, n, "process", true);
	json_object_end(j);
	return rc;
}

int top_document_put(struct bytes *out, const struct now *now, const char *title, int64_t utc_ns)
{
	struct json j = { .out = out, .indent = true };
	int rc = 0;

	json_object(&j);
	json_key(&j, "schema");
	json_text(&j, "sonde/top/1");
	json_key(&j, "title");
	json_text(&j, title);
	json_key(&j, "time");
	json_time(&j, utc_ns);
	json_key(&j, "elapsed_seconds");
	json_real(&j, now->elapsed_s);
	PUT_FIGURES(&j, now->figure, of_nodes);
	json_key(&j, "nodes");
	json_array(&j);
	for (uint32_t i = 0; !rc && i < now->n; i++)
		rc = put_node(&j, &now->node[i]);
	json_array_end(&j);
	json_object_end(&j);
	bytes_u8(out, '\n');
	return rc || out->failed ? -ENOMEM : 0;
}
