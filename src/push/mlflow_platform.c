/* SPDX-License-Identifier: Apache-2.0 */
#include "push/mlflow_platform.h"

#include "report/machine.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *tag, *metadata;
} rows[] = {
	{ "sonde.platform.cpu_model", "host.cpu_model" },
	{ "sonde.platform.cpus_count", "host.cpus_count" },
	{ "sonde.platform.cores_count", "host.cores_count" },
	{ "sonde.platform.memory_bytes", "node.memory_bytes" },
	{ "sonde.platform.gpus_count", "host.gpus_count" },
	{ "sonde.platform.gpu_model", "host.gpu0.model" },
	{ "sonde.platform.architecture", "host.architecture" },
};
_Static_assert(sizeof rows / sizeof rows[0] + 1 <= PLATFORM_TAGS, "and sonde.platform");

const char *mlflow_platform_tag(const char *metadata)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (!strcmp(rows[i].metadata, metadata))
			return rows[i].tag;
	return NULL;
}

/* With a separator between values. What has no room any more is left out whole. */
static void append(char *to, const char *separator, const char *value)
{
	size_t n = strlen(to), more = strlen(value) + (n ? strlen(separator) : 0);

	if (n + more < TAG_VALUE_SIZE)
		snprintf(to + n, TAG_VALUE_SIZE - n, "%s%s", n ? separator : "", value);
}

static bool has(const char *list, const char *value)
{
	size_t n = strlen(value);

	for (const char *at = list; at; at = strstr(at, "; ") ? strstr(at, "; ") + 2 : NULL)
		if (!strncmp(at, value, n) && (!at[n] || !strncmp(at + n, "; ", 2)))
			return true;
	return false;
}

static void take_value(const struct metadata *m, uint32_t node, const char *key, char *to)
{
	const char *text = metadata_text(m, node, key);
	double number = metadata_number(m, node, key);
	char shown[32];

	if (!text && isfinite(number)) {
		snprintf(shown, sizeof shown, "%.0f", number);
		text = shown;
	}
	if (text && !has(to, text))
		append(to, "; ", text);
}

static int take_words(const struct run *r, char *to)
{
	struct machines machines = { 0 };
	int rc = machines_make(&machines, r);

	for (uint32_t i = 0; i < machines.n && !rc; i++)
		append(to, " | ", machines.row[i].words);
	machines_free(&machines);
	return rc;
}

static struct batch_tag *begin(struct batch_tag *tag, const char *key)
{
	snprintf(tag->key, sizeof tag->key, "%s", key);
	tag->value[0] = 0;
	return tag;
}

int mlflow_platform_tags(const struct run *r, struct batch_tag *tags, uint32_t *n)
{
	struct metadata m = { 0 };
	int rc = metadata_make(&m, r);

	for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !rc; i++) {
		struct batch_tag *tag = begin(&tags[*n], rows[i].tag);

		for (uint32_t node = 0; node < r->nnodes; node++)
			take_value(&m, node, rows[i].metadata, tag->value);
		*n += *tag->value != 0;
	}
	if (!rc)
		rc = take_words(r, begin(&tags[*n], "sonde.platform")->value);
	*n += !rc && *tags[*n].value;
	metadata_free(&m);
	return rc;
}
