/* SPDX-License-Identifier: Apache-2.0 */
/* cascade_print.c - the numbers of pools, for a terminal and as JSON. */
#include "base/clock.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "report/phases/cascade.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *shown(char *out, size_t size, const char *text)
{
	return escape_terminal_into(out, size, text);
}

/* ---- text ---- */

static void put_seconds(struct bytes *b, int width, double v)
{
	if (isnan(v))
		bytes_printf(b, " %*s", width, "-");
	else
		bytes_printf(b, " %*.3f", width, v);
}

static void text_of_images(struct bytes *b, const struct cascade_node *n)
{
	char value[PHASE_VALUE_MAX], name[300];

	for (uint32_t i = 0; i < n->images; i++) {
		const struct phase *x = n->image[i];

		if (!phase_field(PHASE_COMMAS, x->text, "img", value, sizeof value))
			value[0] = '\0';
		bytes_printf(b, "  %s:%s", x->name, shown(name, sizeof name, value));
		if (isnan(x->duration_s))
			bytes_puts(b, " has no end\n");
		else
			bytes_printf(b, " %.3f\n", x->duration_s);
	}
}

static void text_of_lacks(struct bytes *b, const struct cascade_node *n)
{
	const char *lack;

	for (unsigned i = 0; (lack = cascade_lack_name(n, i)); i++)
		bytes_printf(b, "%s %s", i ? "," : "  it lacks", lack);
	if (n->lacks)
		bytes_puts(b, n->counts ? "\n" : ", and is in no total\n");
	else if (!n->counts)
		bytes_puts(b, "  its installation has no end: it is in no total\n");
	if (n->unreadable_sizes)
		bytes_printf(b, "  sizes that are none: %u\n", n->unreadable_sizes);
}

static void text_of_node(struct bytes *b, const struct cascade_report *c,
			 const struct cascade_node *n)
{
	char name[300], time[64] = "-";

	if (n->start_utc_ns != INT64_MAX)
		cascade_time(c, n->start_utc_ns, CASCADE_SHOWN_TIME, time, sizeof time);
	bytes_printf(b, "%s  %s\n", time, shown(name, sizeof name, n->host));
	put_seconds(b, 9, n->nodeprep_s);
	put_seconds(b, 9, n->docker_install_s);
	put_seconds(b, 9, n->private_registry_s);
	put_seconds(b, 9, n->container_pull_s);
	put_seconds(b, 9, n->global_resources_s);
	put_seconds(b, 9, n->acquisition_s);
	bytes_u8(b, '\n');
	text_of_images(b, n);
	text_of_lacks(b, n);
}

static void text_of_total(struct bytes *b, const char *name, double total, uint32_t n)
{
	bytes_printf(b, "total %s: %.5f avg: ", name, total);
	if (n)
		bytes_printf(b, "%.5f\n", total / n);
	else
		bytes_puts(b, "-\n");
}

static void text_of_pool(struct bytes *b, const struct cascade_report *c,
			 const struct cascade_pool *p)
{
	char name[600], title[1100];

	bytes_printf(b, "%s\n", shown(title, sizeof title, cascade_title(p, name, sizeof name)));
	bytes_printf(b, "graphing data from %s with pk=%s\n",
		     shown(title, sizeof title, c->run->path),
		     *p->name ? shown(name, sizeof name, p->name) : "-");
	for (uint32_t i = 0; i < p->nimages; i++)
		bytes_printf(b, "size of %s: %.0f\n", shown(name, sizeof name, p->image[i].name),
			     c->as_graph_py ? trunc(p->image[i].size_bytes)
					    : round(p->image[i].size_bytes));
	bytes_puts(b, "nodeready variance:");
	put_seconds(b, 0, p->variance_s);
	bytes_printf(b, "\n\n %9s %9s %9s %9s %9s %9s\n", "NODEPREP", "INSTALL", "REGISTRY",
		     "CONTAINER", "RESOURCES", "ACQUIRED");
	for (uint32_t i = 0; i < p->nnodes; i++)
		text_of_node(b, c, &p->node[i]);
	bytes_printf(b, "\nnodes: %u of %u\n", p->ncounted, p->nnodes);
	text_of_total(b, "gr", p->global_resources_s, p->ncounted);
	text_of_total(b, "acq", p->acquisition_s, p->ncounted);
}

void cascade_report_text(struct bytes *b, const struct cascade_report *c)
{
	for (uint32_t i = 0; i < c->pools.n; i++) {
		if (i)
			bytes_u8(b, '\n');
		text_of_pool(b, c, &c->pools.pool[i]);
	}
}

/* ---- JSON ---- */

/* What is empty is not known. */
static const char *known(const char *text)
{
	return *text ? text : NULL;
}

static const char *field_of(const struct phase *x, const char *key, char value[PHASE_VALUE_MAX])
{
	return phase_field(PHASE_COMMAS, x->text, key, value, PHASE_VALUE_MAX) ? known(value)
									       : NULL;
}

static void json_of_image(struct json *j, const struct phase *x)
{
	char value[PHASE_VALUE_MAX];

	json_object(j);
	json_put_text(j, "phase", x->name);
	json_put_text(j, "image", field_of(x, "img", value));
	json_put_text(j, "mode", field_of(x, "grtype", value));
	json_put_real(j, "seconds", x->duration_s);
	json_object_end(j);
}

static void json_of_node(struct json *j, const struct cascade_node *n)
{
	const char *lack;

	json_object(j);
	json_put_text(j, "node", n->host);
	json_key(j, "start_time");
	if (n->start_utc_ns == INT64_MAX)
		json_null(j);
	else
		json_time(j, n->start_utc_ns);
	json_put_bool(j, "counts", n->counts);
	json_key(j, "lacks");
	json_array(j);
	for (unsigned i = 0; (lack = cascade_lack_name(n, i)); i++)
		json_text(j, lack);
	json_array_end(j);
	json_put_int(j, "unreadable_sizes", n->unreadable_sizes);
	json_put_real(j, "nodeprep_seconds", n->nodeprep_s);
	json_put_real(j, "docker_install_seconds", n->docker_install_s);
	json_put_real(j, "private_registry_setup_seconds", n->private_registry_s);
	json_put_real(j, "container_pull_seconds", n->container_pull_s);
	json_put_real(j, "global_resources_seconds", n->global_resources_s);
	json_put_real(j, "pull_seconds", n->pull_s);
	json_put_real(j, "save_seconds", n->save_s);
	json_put_real(j, "load_seconds", n->load_s);
	json_put_real(j, "torrent_seconds", n->torrent_s);
	json_put_real(j, "acquisition_seconds", n->acquisition_s);
	json_key(j, "images");
	json_array(j);
	for (uint32_t i = 0; i < n->images; i++)
		json_of_image(j, n->image[i]);
	json_array_end(j);
	json_object_end(j);
}

static void json_of_sizes(struct json *j, const struct cascade_report *c,
			  const struct cascade_pool *p)
{
	json_key(j, "images");
	json_array(j);
	for (uint32_t i = 0; i < p->nimages; i++) {
		double size = p->image[i].size_bytes;

		json_object(j);
		json_put_text(j, "image", p->image[i].name);
		json_put_real(j, "size_bytes", c->as_graph_py ? trunc(size) : round(size));
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_of_pool(struct json *j, const struct cascade_report *c,
			 const struct cascade_pool *p)
{
	double n = p->ncounted ? (double)p->ncounted : (double)NAN;

	json_object(j);
	json_put_text(j, "pool", known(p->name));
	json_put_text(j, "offer", known(p->offer));
	json_put_text(j, "sku", known(p->sku));
	json_put_int(j, "counted_nodes", p->ncounted);
	json_put_real(j, "nodeready_variance_seconds", p->variance_s);
	json_put_real(j, "global_resources_seconds", p->global_resources_s);
	json_put_real(j, "mean_global_resources_seconds", p->global_resources_s / n);
	json_put_real(j, "acquisition_seconds", p->acquisition_s);
	json_put_real(j, "mean_acquisition_seconds", p->acquisition_s / n);
	json_of_sizes(j, c, p);
	json_key(j, "nodes");
	json_array(j);
	for (uint32_t i = 0; i < p->nnodes; i++)
		json_of_node(j, &p->node[i]);
	json_array_end(j);
	json_object_end(j);
}

void cascade_report_json(struct bytes *b, const struct cascade_report *c)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/cascade/1");
	json_put_text(&j, "recording", c->run->path);
	json_put_int(&j, "damages", c->run->ndamages);
	json_put_bool(&j, "as_graph_py", c->as_graph_py);
	json_key(&j, "pools");
	json_array(&j);
	for (uint32_t i = 0; i < c->pools.n; i++)
		json_of_pool(&j, c, &c->pools.pool[i]);
	json_array_end(&j);
	json_object_end(&j);
	bytes_u8(b, '\n');
}
