/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comparison_facts.c - what the recorders said of machines and jobs in A and did not say in B, or
 * the other way round.
 *
 * An input is a file that a job read and did not write (`run --files`): its key is the path, its
 * value the size and time. A key's values are a set: how many runs or nodes said which does not
 * count. What is another one each time (times, ids, a batch system's own variables) is left out.
 */
#include "base/array.h"
#include "report/comparison/comparison.h"
#include "report/lines.h"
#include "report/machine.h"
#include "report/summary/filesused.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct said {
	const char *key, *text;
	unsigned kind; /* row of kinds */
	enum comparison_group group;
};

static const char *const kind_names[] = { "hardware", "software", "job", "input", "environment" };
enum { HARDWARE, SOFTWARE, JOB, INPUT, ENVIRONMENT, LEFT_OUT };

/* The first that matches. */
static const struct {
	const char *glob;
	unsigned kind;
} kinds[] = {
	{ "host.boot_id", LEFT_OUT },
	{ "host.cpu_hertz", LEFT_OUT },
	{ "host.*_evidence", LEFT_OUT },
	{ "host.kernel*", SOFTWARE },
	{ "host.distribution*", SOFTWARE },
	{ "host.sysctl.*", SOFTWARE },
	{ "host.vulnerability.*", SOFTWARE },
	{ "host.clock_source", SOFTWARE },
	{ "host.transparent_hugepages*", SOFTWARE },
	{ "host.*driver*", SOFTWARE },
	{ "host.firmware_*", SOFTWARE },
	{ "host.container", SOFTWARE },
	{ "host.user_namespace", SOFTWARE },
	{ "host.*", HARDWARE },
	{ "node.host", HARDWARE },
	{ "node.cores_*", HARDWARE },
	{ "node.memory_bytes", HARDWARE },
	{ "sonde.version", SOFTWARE },
	{ "runtime*", SOFTWARE },
	{ "package.*", SOFTWARE },
	{ "os_release.*", SOFTWARE },
	{ "hwinfo.platform.*", SOFTWARE },
	{ "hwinfo.*", HARDWARE },
	{ "script", SOFTWARE },
	{ "script.git_*", SOFTWARE },
	{ "stack.module_*", SOFTWARE },
	{ "stack.image", SOFTWARE },
	{ "script.arguments", JOB },
	{ "trial.jobs", JOB },
	{ "trial.cpus", JOB },
	{ "env.*", ENVIRONMENT },
	{ "component", SOFTWARE },
	{ "parameter.*", JOB },
	{ "run.interval_ns", SOFTWARE },
	{ "job.command", JOB },
	{ "job.working_directory", JOB },
	{ "job.limit.*", JOB },
	{ "job.affinity", JOB },
	{ "job.memory_nodes", JOB },
	{ "job.*_asked*", JOB },
	{ "job.nodes_count", JOB },
	{ "job.*ranks_count", JOB },
	{ "job.queue", JOB },
	{ "job.peak_memory_kind", JOB },
	{ "job.exit_code", JOB },
	{ "job.signal", JOB },
	{ "job.environment.SLURM*", LEFT_OUT },
	{ "job.environment.PBS*", LEFT_OUT },
	{ "job.environment.OAR*", LEFT_OUT },
	{ "job.environment.LS[BF]*", LEFT_OUT },
	{ "job.environment.FLUX*", LEFT_OUT },
	{ "job.environment.JOB_*", LEFT_OUT },
	{ "job.environment.PMI*", LEFT_OUT },
	{ "job.environment.OMPI_*", LEFT_OUT },
	{ "job.environment.PRTE_*", LEFT_OUT },
	{ "job.environment.MPI_LOCAL*", LEFT_OUT },
	{ "job.environment.HYDRA*", LEFT_OUT },
	{ "job.environment.SONDE*", LEFT_OUT },
	{ "job.environment.SSH_*", LEFT_OUT },
	{ "job.environment.XDG_*", LEFT_OUT },
	{ "job.environment.TMP*", LEFT_OUT },
	{ "job.environment.*PWD", LEFT_OUT },
	{ "job.environment.SHLVL", LEFT_OUT },
	{ "job.environment.HOSTNAME", LEFT_OUT },
	{ "job.environment.INVOCATION_ID", LEFT_OUT },
	{ "job.environment.JOURNAL_STREAM", LEFT_OUT },
	{ "job.environment._", LEFT_OUT },
	{ "job.environment.*", ENVIRONMENT },
};

static unsigned kind_of(const char *key)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (!fnmatch(kinds[i].glob, key, 0))
			return kinds[i].kind;
	return LEFT_OUT;
}

static void say(struct comparison *x, const char *key, const char *text, unsigned kind,
		enum comparison_group group)
{
	void *grown = array_room(x->said, x->nsaid, &x->said_cap, sizeof *x->said);
	struct said s = { .key = pool_text(&x->pool, key, strlen(key)),
			  .text = text,
			  .kind = kind,
			  .group = group };

	if (grown)
		x->said = grown;
	if (!grown || !s.key || !s.text)
		x->failed = true;
	else
		x->said[x->nsaid++] = s;
}

void comparison_say_text(struct comparison *x, const char *key, const char *text,
			 enum comparison_group group)
{
	unsigned kind = kind_of(key);

	if (kind != LEFT_OUT)
		say(x, key, pool_text(&x->pool, text, strlen(text)), kind, group);
}

static const char *text_of(struct comparison *x, const struct run_meta *m)
{
	struct bytes b = { 0 };
	const char *kept;

	if (m->type == META_TEXT)
		bytes_puts(&b, m->text ? m->text : "");
	else if (m->type == META_REAL)
		bytes_printf(&b, "%.12g", m->real);
	else if (m->type == META_BOOL)
		bytes_puts(&b, m->value ? "true" : "false");
	else
		bytes_printf(&b, "%" PRId64, m->value);
	kept = b.failed ? NULL : pool_text(&x->pool, b.len ? (const char *)b.data : "", b.len);
	bytes_free(&b);
	return kept;
}

void comparison_say(struct comparison *x, const struct run *r, enum comparison_group group)
{
	struct metadata m = { 0 };

	if (metadata_make(&m, r))
		x->failed = true;
	for (uint32_t i = 0; i < m.n && !x->failed; i++) {
		const struct run_meta *said = &r->metas[m.id[i]];
		unsigned kind = kind_of(said->key);

		if (kind != LEFT_OUT)
			say(x, said->key, text_of(x, said), kind, group);
	}
	metadata_free(&m);
}

static void say_input(struct comparison *x, const struct used_sum *s, enum comparison_group group)
{
	char bytes[CELL], when[40] = "?", text[CELL + 64];
	time_t t = (time_t)s->value[USED_MODIFIED];
	struct tm tm;

	if (gmtime_r(&t, &tm))
		strftime(when, sizeof when, "%Y-%m-%d %H:%M:%SZ", &tm);
	snprintf(text, sizeof text, "%s (%.0f bytes) of %s",
		 cell_text(bytes, UNIT_BYTES, s->value[USED_SIZE]), s->value[USED_SIZE], when);
	say(x, s->name, pool_text(&x->pool, text, strlen(text)), INPUT, group);
}

/* What was read has a name of its own only in part. */
static bool has_nameless(const struct used_sum *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].value[USED_FOLDED] > 0 || (s[i].value[USED_READ] > 0 && *s[i].name != '/'))
			return true;
	return false;
}

void comparison_say_inputs(struct comparison *x, const struct files_used *u,
			   enum comparison_group group)
{
	struct used_sum *s = NULL;
	size_t n = 0;
	struct err e;

	if (!u || u->refused) {
		x->inputs[group] = INPUTS_UNKNOWN;
		return;
	}
	if (used_sums(&s, &n, u, u->run, USED_BY_FILE, &e))
		x->failed = true;
	if ((u->by_positions || u->lost > 0 || has_nameless(s, n)) &&
	    x->inputs[group] == INPUTS_ALL)
		x->inputs[group] = INPUTS_SOME;
	for (size_t i = 0; i < n; i++)
		if (used_kind(&s[i]) == USED_INPUT)
			say_input(x, &s[i], group);
	used_sums_free(s, n);
}

/* That only one side read it is known where all that the other read is. */
static bool is_comparable(const struct comparison *x, const struct said *s, uint32_t n)
{
	enum comparison_group first = s[0].group, last = s[n - 1].group;

	if (s->kind != INPUT)
		return true;
	if (x->inputs[GROUP_A] == INPUTS_UNKNOWN || x->inputs[GROUP_B] == INPUTS_UNKNOWN)
		return false;
	return first != last || x->inputs[first == GROUP_A ? GROUP_B : GROUP_A] == INPUTS_ALL;
}

static int order(const void *a, const void *b)
{
	const struct said *x = a, *y = b;
	int c;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	c = strcmp(x->key, y->key);
	if (!c && x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return c ? c : strcmp(x->text, y->text);
}

/* Each value that a group said of one key, once; none when it said nothing. */
static const char *values(struct comparison *x, const struct said *s, uint32_t n,
			  enum comparison_group group, const char *none)
{
	enum { VALUES_SHOWN = 4 };
	struct bytes b = { 0 };
	const char *last = NULL, *kept;
	uint32_t different = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (s[i].group != group || (last && !strcmp(last, s[i].text)))
			continue;
		last = s[i].text;
		if (different++ < VALUES_SHOWN)
			bytes_printf(&b, "%s%s", different > 1 ? ", " : "", last);
	}
	if (!last)
		return none;
	if (different > VALUES_SHOWN)
		bytes_printf(&b, " and %u more", different - VALUES_SHOWN);
	kept = b.failed ? NULL : pool_text(&x->pool, b.len ? (const char *)b.data : "", b.len);
	x->failed |= !kept;
	bytes_free(&b);
	return kept;
}

/* Both groups said the same set of values; each is sorted, a's first. */
static bool alike(const struct said *s, uint32_t n)
{
	uint32_t a = 0, b = 0, end;

	while (b < n && s[b].group == GROUP_A)
		b++;
	end = b;
	while (a < end && b < n && !strcmp(s[a].text, s[b].text)) {
		const char *text = s[a].text;

		while (a < end && !strcmp(s[a].text, text))
			a++;
		while (b < n && !strcmp(s[b].text, text))
			b++;
	}
	return a == end && b == n;
}

int comparison_facts(struct comparison *x)
{
	uint32_t n;

	x->fact = calloc(x->nsaid + 1u, sizeof *x->fact);
	if (!x->fact)
		return -1;
	if (x->nsaid)
		qsort(x->said, x->nsaid, sizeof *x->said, order);
	for (uint32_t i = 0; i < x->nsaid; i += n) {
		const struct said *s = &x->said[i];
		const char *none = s->kind == INPUT ? "(not read)" : NULL;

		for (n = 1; i + n < x->nsaid && s[n].kind == s->kind && !strcmp(s->key, s[n].key);)
			n++;
		if (!is_comparable(x, s, n) || alike(s, n))
			continue;
		x->fact[x->nfacts++] = (struct comparison_fact){
			.key = s->key,
			.what = kind_names[s->kind],
			.a = values(x, s, n, GROUP_A, none),
			.b = values(x, s, n, GROUP_B, none),
		};
	}
	return x->failed ? -1 : 0;
}
