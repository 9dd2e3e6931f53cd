/* SPDX-License-Identifier: Apache-2.0 */
#include "report/machine.h"

#include "base/text/escape.h"
#include "report/lines.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "; " or ", " before what is not the first. */
static void part(struct bytes *b, const char *separator)
{
	bytes_puts(b, b->len ? separator : "");
}

static void processors(struct bytes *b, const struct metadata *m, uint32_t node)
{
	double sockets = metadata_number(m, node, "host.sockets_count");
	double cores = metadata_number(m, node, "host.cores_count");
	double cpus = metadata_number(m, node, "node.cores_present");
	const char *model = metadata_text(m, node, "host.cpu_model");

	if (!model && isnan(cores) && isnan(cpus))
		return;
	if (sockets > 1)
		bytes_printf(b, "%.0f x ", sockets);
	bytes_puts(b, model ? model : "processor");
	if (cores > 0 && cpus > cores)
		bytes_printf(b, " (%.0f cores, %.0f threads)", cores, cpus);
	else if (cpus > 0)
		bytes_printf(b, " (%.0f core%s)", cpus, cpus > 1 ? "s" : "");
}

static void memory(struct bytes *b, const struct metadata *m, uint32_t node)
{
	double bytes = metadata_number(m, node, "node.memory_bytes");
	double nodes = metadata_number(m, node, "host.numa_nodes_count");
	char text[64];

	if (isnan(bytes))
		return;
	part(b, ", ");
	bytes_puts(b, unit_format(UNIT_BYTES, bytes, text, sizeof text));
	if (nodes > 1)
		bytes_printf(b, " in %.0f NUMA nodes", nodes);
}

static const char *gpu_text(const struct metadata *m, uint32_t node, uint32_t gpu, const char *what)
{
	char key[64];

	snprintf(key, sizeof key, "host.gpu%u.%s", gpu, what);
	return metadata_text(m, node, key);
}

static const char *gpu_name(const struct metadata *m, uint32_t node, uint32_t gpu)
{
	const char *model = gpu_text(m, node, gpu, "model");

	if (!model)
		model = gpu_text(m, node, gpu, "vendor");
	return model ? model : "unknown";
}

/* Those alike, one behind the other, are told together: "8 x NVIDIA H200". */
static void gpus(struct bytes *b, const struct metadata *m, uint32_t node)
{
	enum { GPUS_TOLD = 64 };
	double count = metadata_number(m, node, "host.gpus_count");
	uint32_t n = count > 0 ? (uint32_t)fmin(count, GPUS_TOLD) : 0;

	for (uint32_t i = 0, alike; i < n; i += alike) {
		const char *name = gpu_name(m, node, i);

		for (alike = 1; i + alike < n && !strcmp(name, gpu_name(m, node, i + alike));)
			alike++;
		part(b, ", ");
		if (alike > 1)
			bytes_printf(b, "%u x ", alike);
		bytes_puts(b, name);
		bytes_puts(b, gpu_text(m, node, i, "model") ? "" : " GPU");
	}
}

static void system_of(struct bytes *b, const struct metadata *m, uint32_t node)
{
	const char *kernel = metadata_text(m, node, "host.kernel");
	const char *release = metadata_text(m, node, "host.kernel_release");
	const char *distribution = metadata_text(m, node, "host.distribution");

	if (release) {
		part(b, "; ");
		bytes_printf(b, "%.64s %.100s", kernel ? kernel : "kernel", release);
	}
	if (distribution) {
		part(b, ", ");
		bytes_puts(b, distribution);
	}
}

/* What makes its speed different from that of a plain machine. */
static void surroundings(struct bytes *b, const struct metadata *m, uint32_t node)
{
	const char *hypervisor = metadata_text(m, node, "host.virtualisation");
	const char *container = metadata_text(m, node, "host.container");
	const char *governor = metadata_text(m, node, "host.cpu_governor");

	if (hypervisor && strcmp(hypervisor, "none") != 0) {
		part(b, "; ");
		bytes_printf(b, "a virtual machine (%.64s)", hypervisor);
	}
	if (container && strcmp(container, "none") != 0) {
		part(b, "; ");
		bytes_printf(b, "in a container (%.64s)", container);
	}
	if (governor && strcmp(governor, "performance") != 0) {
		part(b, "; ");
		bytes_printf(b, "governor %.64s", governor);
	}
}

/* "2 x AMD EPYC 7763 (128 cores, 256 threads), 503.4 GiB, 4 x NVIDIA A100; Linux 5.14 ..."; nothing
 * when nothing is known. Not escaped. */
static void machine_words(struct bytes *out, const struct metadata *m, uint32_t node)
{
	struct bytes b = { 0 };

	processors(&b, m, node);
	memory(&b, m, node);
	gpus(&b, m, node);
	system_of(&b, m, node);
	surroundings(&b, m, node);
	if (b.len)
		bytes_put(out, b.data, b.len);
	out->failed |= b.failed;
	bytes_free(&b);
}

static int add(struct machines *x, const struct metadata *m, uint32_t node)
{
	struct bytes words = { 0 };
	uint32_t i = 0;

	machine_words(&words, m, node);
	bytes_u8(&words, '\0');
	if (words.failed) {
		bytes_free(&words);
		return -ENOMEM;
	}
	while (i < x->n && strcmp(x->row[i].words, (const char *)words.data) != 0)
		i++;
	if (i == x->n && i < MACHINES_MAX && words.len > 1) {
		x->row[x->n++].words = (char *)words.data;
		words = (struct bytes){ 0 };
	}
	if (i < x->n)
		x->row[i].nodes++;
	bytes_free(&words);
	return 0;
}

int machines_make(struct machines *x, const struct run *r)
{
	uint32_t *host = calloc(r->nnodes + 1, sizeof *host);
	struct metadata m = { 0 };
	int rc = -ENOMEM;

	*x = (struct machines){ .row = calloc(r->nnodes + 1, sizeof *x->row) };
	if (host && x->row)
		rc = metadata_make(&m, r);
	if (!rc)
		rc = run_hosts(r, host);
	for (uint32_t i = 1; !rc && i < r->nnodes; i++)
		if (host[i] == i)
			rc = add(x, &m, i);
	metadata_free(&m);
	free(host);
	if (rc)
		machines_free(x);
	return rc;
}

void machines_free(struct machines *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		free(x->row[i].words);
	free(x->row);
	*x = (struct machines){ 0 };
}

void machine_print(const struct run *r, FILE *out)
{
	struct machines x;
	struct lines l;

	if (machines_make(&x, r))
		return;
	lines_fit(&l, out);
	for (uint32_t i = 0; i < x.n; i++) {
		struct bytes *b = lines_add(&l, "machine", NULL);

		if (x.row[i].nodes > 1)
			bytes_printf(b, "%u nodes: ", x.row[i].nodes);
		escape_terminal(b, x.row[i].words);
	}
	lines_write(&l, out, false, UINT_MAX, "");
	lines_free(&l);
	machines_free(&x);
}

static int order(const struct run_meta *a, uint32_t node, const char *key)
{
	if (a->node != node)
		return a->node < node ? -1 : 1;
	return strcmp(a->key, key);
}

static int by_key(const void *a, const void *b, void *run)
{
	const struct run *r = run;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = order(&r->metas[x], r->metas[y].node, r->metas[y].key);

	return c ? c : x < y ? -1 : 1;
}

int metadata_make(struct metadata *m, const struct run *r)
{
	uint32_t n = 0;

	*m = (struct metadata){ .run = r, .id = calloc(r->nmetas + 1, sizeof *m->id) };
	if (!m->id)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->nmetas; i++)
		m->id[n++] = i;
	qsort_r(m->id, n, sizeof *m->id, by_key, (void *)(uintptr_t)r);
	for (uint32_t i = 0; i < n; i++) {
		const struct run_meta *said = &r->metas[m->id[i]];

		if (i + 1 == n ||
		    order(said, r->metas[m->id[i + 1]].node, r->metas[m->id[i + 1]].key) != 0)
			m->id[m->n++] = m->id[i];
	}
	return 0;
}

void metadata_free(struct metadata *m)
{
	free(m->id);
	*m = (struct metadata){ 0 };
}

/* The first that does not come before the key. */
static uint32_t lower_bound(const struct metadata *m, uint32_t node, const char *key)
{
	uint32_t low = 0, high = m->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (order(&m->run->metas[m->id[mid]], node, key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* NULL when it was never said. */
static const struct run_meta *metadata_find(const struct metadata *m, uint32_t node,
					    const char *key)
{
	uint32_t i = lower_bound(m, node, key);
	const struct run_meta *said = i < m->n ? &m->run->metas[m->id[i]] : NULL;

	return said && order(said, node, key) == 0 ? said : NULL;
}

const char *metadata_text(const struct metadata *m, uint32_t node, const char *key)
{
	const struct run_meta *said = metadata_find(m, node, key);

	return said && said->type == META_TEXT && said->text && *said->text ? said->text : NULL;
}

double metadata_number(const struct metadata *m, uint32_t node, const char *key)
{
	const struct run_meta *said = metadata_find(m, node, key);

	return said ? run_meta_number(said) : NAN;
}

static void put_value(struct json *j, const struct run_meta *said)
{
	switch (said->type) {
	case META_INT:
		json_int(j, said->value);
		break;
	case META_REAL:
		json_real(j, said->real);
		break;
	case META_BOOL:
		json_bool(j, said->value != 0);
		break;
	default:
		json_text(j, said->text);
		break;
	}
}

void metadata_json(struct json *j, const struct metadata *m, uint32_t node)
{
	json_object(j);
	for (uint32_t i = lower_bound(m, node, ""); i < m->n; i++) {
		const struct run_meta *said = &m->run->metas[m->id[i]];

		if (said->node != node)
			break;
		json_key(j, said->key);
		put_value(j, said);
	}
	json_object_end(j);
}
