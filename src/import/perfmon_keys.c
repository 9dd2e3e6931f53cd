/* SPDX-License-Identifier: Apache-2.0 */
#include "import/perfmon.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 256, KEY_MAX = 200 };

bool perfmon_key_is_series(const char *key)
{
	return strcmp(key, "child_proc_md") != 0 && strcmp(key, "parent_proc_md") != 0;
}

bool perfmon_host_has(const struct perfmon_host *h, const char *key)
{
	for (uint32_t i = 0; i < h->nkeys; i++)
		if (!strcmp(h->key[i].key, key))
			return true;
	return false;
}

int perfmon_host_add(struct perfmon_host *h, struct store *s, const char *key, uint32_t column,
		     unsigned place)
{
	if (h->nkeys == h->cap) {
		uint32_t cap = h->cap ? h->cap * 2 : 64;
		struct perfmon_key *bigger = reallocarray(h->key, cap, sizeof *bigger);

		if (!bigger)
			return -ENOMEM;
		h->key = bigger;
		h->cap = cap;
	}
	h->key[h->nkeys] = (struct perfmon_key){ store_text(s, key), column, place, 0 };
	return h->key[h->nkeys++].key ? 0 : -ENOMEM;
}

void perfmon_host_free(struct perfmon_host *h)
{
	free(h->key);
	*h = (struct perfmon_host){ 0 };
}

/* What is known to be wrong in perfmon's own numbers. */
static const struct fault {
	const char *begins;
	unsigned place;   /* from this one of its group on */
	const char *why;  /* NULL: it can be mended */
	double times;     /* it was multiplied by this */
	uint64_t zeros;   /* rows in which 0 says that nothing was read */
	const char *ends; /* NULL: whatever */
} faults[] = {
	{ "cpu_time", 0, "perfmon counts user time of live processes only", 1, 0, NULL },
	{ "memory_info.", 1, "perfmon's sum ran on over the keys before it", 1, 0, NULL },
	{ "memory_full_info.", 1, "perfmon's sum ran on over the keys before it", 1, 0, NULL },
	{ "io_counters.", 1, "perfmon's sum ran on over the keys before it", 1, 0, NULL },
	{ "L2cache.derv_", 0, "perfmon divided ratios by the interval", 1, 0, NULL },
	{ "L3cache.derv_", 0, "perfmon divided ratios by the interval", 1, 0, NULL },
	{ "ib_io_counters.", 0, NULL, 4, 0, "_packets" },
	{ "rapl_powercap.", 0, NULL, 1, UINT64_MAX, NULL },
	{ "cpu_percent_sys", 0, NULL, 1, 1, NULL },
};

static bool ends_so(const char *text, const char *end)
{
	size_t n = strlen(text), m = end ? strlen(end) : 0;

	return n >= m && (!m || !strcmp(text + n - m, end));
}

static const struct fault *find_fault(const struct perfmon_host *h, const struct perfmon_key *k)
{
	for (size_t i = 0; i < sizeof faults / sizeof faults[0] && !h->by_sonde; i++)
		if (!strncmp(k->key, faults[i].begins, strlen(faults[i].begins)) &&
		    k->place >= faults[i].place && ends_so(k->key, faults[i].ends))
			return &faults[i];
	return NULL;
}

/* What perfmon worked out of its counts is none, whatever its name. */
static bool may_stand_for(const struct map_key *k, const char *star)
{
	return *star && (!map_star(k->metric) || strncmp(star, "derv_", 5) != 0);
}

/* The map's key; *star is what stands for the *, or NULL. */
static const struct map_key *find_key(const struct map_table *t, const char *key, const char **star)
{
	*star = NULL;
	for (uint32_t i = 0; i < t->nkeys; i++) {
		const struct map_key *k = &t->keys[i];
		const char *at = map_star(k->key);
		size_t n = at ? (size_t)(at - k->key) : 0;

		if (!at && !strcmp(k->key, key))
			return k;
		if (at && !at[1] && !strncmp(k->key, key, n) && may_stand_for(k, key + n)) {
			*star = key + n;
			return k;
		}
	}
	return NULL;
}

static enum unit unit_of_name(const char *name)
{
	for (const char *at = strchr(name, '_'); at; at = strchr(at + 1, '_')) {
		enum unit u = unit_parse(at + 1);

		if (u != UNIT_NUMBER_OF)
			return u;
	}
	return UNIT_ONE;
}

/* In small letters, and nothing but these, digits and _. */
static void put_plain(char *out, size_t size, const char *text)
{
	size_t n = 0;

	for (; *text && n + 1 < size; text++)
		out[n++] =
			isalnum((unsigned char)*text) ? (char)tolower((unsigned char)*text) : '_';
	out[n] = '\0';
}

/* One of the counts that a key is of: perf.l2.l1d_replacement, labelled L1D_REPLACEMENT. */
static int describe_count(struct store *s, const struct map_key *k, const char *star,
			  struct metric *m)
{
	char name[NAME_SIZE];
	int n = snprintf(name, NAME_SIZE / 2, "%.*s", (int)strcspn(k->metric, "*"), k->metric);

	put_plain(name + n, sizeof name - (size_t)n, star);
	*m = (struct metric){ .name = store_text(s, name),
			      .label = store_text(s, star),
			      .help = "As the other program reported it.",
			      .unit = UNIT_COUNT,
			      .kind = KIND_COUNTER,
			      .storage = STORE_REAL,
			      .over_nodes = COMBINE_SUM };
	return m->name && m->label ? 0 : -ENOMEM;
}

/* Sonde's row for a key, ready to be stored. */
static void describe(const struct import *x, const struct map_key *k, struct metric *m)
{
	if (!x->find(k->metric, m))
		*m = (struct metric){ .unit = unit_of_name(k->metric),
				      .kind = KIND_GAUGE,
				      .label = k->header,
				      .help = "As the other program reported it." };
	m->name = k->metric;
	m->formula = NULL;
	m->storage = STORE_REAL;
	m->mul = m->div = 0;
}

/* Whether the rate of a counter is among the host's keys as well, and goes before. */
static bool rate_is_there(const struct perfmon_host *h, const struct metric *counter)
{
	char rate[NAME_SIZE];

	metric_rate_name(counter, rate, sizeof rate);
	for (uint32_t i = 0; i < h->nkeys; i++) {
		const char *star;
		const struct map_key *k = find_key(h->table, h->key[i].key, &star);

		if (k && k->how == MAP_VALUE && h->key[i].present && !strcmp(k->metric, rate))
			return true;
	}
	return false;
}

/* Parts of packages, and what holds them, are measured beside them. */
static bool is_aside(const char *zone)
{
	static const char *const parts[] = { "core", "uncore", "gpu", "psys" };

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (!strncmp(zone, parts[i], strlen(parts[i])))
			return true;
	return false;
}

static int know(struct store_series *s, const struct perfmon_host *h, const struct map_key *k,
		const char *star, const struct import *x)
{
	s->factor = k->factor;
	s->rises = k->how == MAP_RISE;
	if (star && map_star(k->metric))
		return describe_count(x->store, k, star, &s->metric);
	describe(x, k, &s->metric);
	if (k->how == MAP_COUNTER && s->metric.kind == KIND_COUNTER && rate_is_there(h, &s->metric))
		s->metric.kind = KIND_TOTAL;
	if (s->metric.domain && !s->instance) {
		s->instance = star ? star : "all";
		s->aside = star && is_aside(star);
	}
	return 0;
}

/* A metric of its own: perfmon.io_counters_write_count. */
static int make_own(struct store_series *s, struct store *store, const struct map_table *t,
		    const char *key, const char *why)
{
	char name[NAME_SIZE], help[NAME_SIZE];
	int n = snprintf(name, sizeof name, "perfmon.%s", isalpha((unsigned char)*key) ? "" : "x");

	put_plain(name + n, KEY_MAX, key);
	snprintf(help, sizeof help, "As perfmon reported it%s%s.", why ? ": " : "", why ? why : "");
	s->metric = (struct metric){ .name = store_text(store, name),
				     .domain = t->domain,
				     .label = store_text(store, key),
				     .help = store_text(store, help),
				     .unit = UNIT_ONE,
				     .kind = KIND_GAUGE,
				     .storage = STORE_REAL };
	return s->metric.name && s->metric.label && s->metric.help ? 0 : -ENOMEM;
}

/* "gpu-0.host": the instance gpu0 of host. False: it is not called so. */
static bool split_host(const struct perfmon_host *h, struct store *s, const char **host,
		       const char **instance)
{
	const char *domain = h->table->domain, *at = h->name;
	char name[NAME_SIZE];
	size_t n = strlen(domain), digits;

	if (strncmp(at, domain, n) != 0 || at[n] != '-')
		return false;
	at += n + 1;
	digits = strspn(at, "0123456789");
	if (digits && !strncmp(at + digits, ".mig", 4)) {
		size_t more = strspn(at + digits + 4, "0123456789");

		if (more && at[digits + 4 + more] == '.')
			digits += 4 + more;
	}
	if (!digits || at[digits] != '.' || !at[digits + 1])
		return false;
	snprintf(name, sizeof name, "%s%.*s", domain, (int)digits, at);
	*instance = store_text(s, name);
	*host = at + digits + 1;
	return *instance;
}

/* perfmon's code and its documentation differ. */
static bool is_times(const char *key)
{
	return !strcmp(key, "time_stamps") || !strcmp(key, "timestamps");
}

static int keep_key(const struct perfmon_host *h, const struct perfmon_key *k,
		    struct store_group *g, const char *instance, const struct import *x)
{
	const struct fault *fault = find_fault(h, k);
	const char *star;
	const struct map_key *known = find_key(h->table, k->key, &star);
	struct store_series *s;
	int rc = 0;

	if (!k->present || is_times(k->key))
		return 0;
	s = store_series(x->store, g);
	if (!s) {
		store_leave_out(x->store, "%.100s: too many keys; %.100s is left out", h->name,
				k->key);
		return 0;
	}
	s->values = k->column;
	s->instance = instance;
	if (known && !(fault && fault->why)) {
		rc = know(s, h, known, star, x);
		s->factor *= fault ? fault->times : 1;
		s->zeros = fault ? fault->zeros : 0;
		return rc;
	}
	rc = make_own(s, x->store, h->table, k->key, fault ? fault->why : NULL);
	s = known && !rc ? store_series(x->store, g) : NULL;
	if (!s)
		return rc; /* nothing is called so by Sonde */
	s->instance = instance;
	rc = know(s, h, known, star, x);
	s->refused = fault->why;
	store_note(x->store, "%.100s is wrong: %s", k->key, fault->why);
	return rc;
}

/* Whether rises are among what the table tells: of intervals, not of instants. */
static bool has_rises(const struct map_table *t)
{
	for (uint32_t i = 0; i < t->nkeys; i++)
		if (t->keys[i].how == MAP_RISE)
			return true;
	return false;
}

static struct store_group *new_group(const struct perfmon_host *h, struct store *s, uint32_t node)
{
	char from[NAME_SIZE];
	struct store_group *g;

	snprintf(from, sizeof from, "%s of %s", h->table->name, h->name);
	for (g = s->node[node].group; g; g = g->next)
		if (!strcmp(g->from, from))
			return NULL;
	g = store_group(s, node);
	if (g)
		g->from = store_text(s, from);
	return g && g->from ? g : NULL;
}

static uint32_t find_times(const struct perfmon_host *h)
{
	for (uint32_t i = 0; i < h->nkeys; i++)
		if (is_times(h->key[i].key))
			return h->key[i].column;
	return 0;
}

int perfmon_host_keep(struct perfmon_host *h, const struct import *x, struct err *e)
{
	const char *host = h->name, *instance = NULL;
	struct store_group *g;
	int64_t node;
	int rc = 0;

	if (!find_times(h)) {
		store_leave_out(x->store, "%.100s in %s has no time_stamps", h->name,
				h->table->name);
		return 0;
	}
	if (h->table->domain && !split_host(h, x->store, &host, &instance)) {
		store_leave_out(x->store, "%.100s in %s is not a %s-N.HOST", h->name,
				h->table->name, h->table->domain);
		return 0;
	}
	node = store_node(x->store, host);
	g = node < 0 ? NULL : new_group(h, x->store, (uint32_t)node);
	if (!g) {
		store_leave_out(x->store, "%.100s in %s is there twice, or one host too many",
				h->name, h->table->name);
		return 0;
	}
	x->store->nseries -= h->nkeys; /* each is counted again when it becomes a series */
	g->times = find_times(h);
	g->of_intervals = !h->by_sonde && has_rises(h->table);
	for (uint32_t i = 0; i < h->nkeys && !rc; i++)
		rc = keep_key(h, &h->key[i], g, instance, x);
	return rc ? err_set(e, rc, "out of memory") : 0;
}

/* ---- what a host is: meta_data.json ---- */

enum { META_NAME = 200 };

/* Keys that Sonde's own recordings have stay what they are, others get a scope. */
static bool is_own(const char *key)
{
	static const char *const scopes[] = { "host.", "node.", "job." };

	for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
		if (!strncmp(key, scopes[i], strlen(scopes[i])))
			return true;
	return false;
}

static void key_name(const char *group, const char *key, char *out, size_t size)
{
	char *c = out;

	if (!*group && is_own(key))
		snprintf(out, size, "%s", key);
	else
		snprintf(out, size, "perfmon.%.80s%s%.80s", group, *group ? "_" : "", key);
	while ((c = strpbrk(c, " \t()/:-"))) /* CPU(s), Socket(s), L1d cache */
		*c = '_';
	for (c = out; *c; c++)
		*c = (char)tolower((unsigned char)*c);
}

/* Said by the import itself. */
static bool is_taken(const char *key)
{
	return !strcmp(key, "node.host") || !strncmp(key, "run.", 4);
}

static void keep(const struct jsondoc *j, enum jsondoc_token t, const char *key, struct store *s,
		 uint32_t node)
{
	switch (t) {
	case JSONDOC_STRING:
		store_meta_text(s, node, key, j->text);
		break;
	case JSONDOC_NUMBER:
		store_meta_number(s, node, key, j->number, j->whole);
		break;
	case JSONDOC_TRUE:
	case JSONDOC_FALSE:
		store_meta_text(s, node, key, t == JSONDOC_TRUE ? "true" : "false");
		break;
	default:
		break;
	}
}

struct taking {
	struct jsondoc *json;
	const struct import *x;
	uint32_t node;
	bool *by_sonde;
	struct err *e;
};

/* The members of the host, or of one group of it. */
static int take_members(struct taking *k, const char *group)
{
	enum jsondoc_token t;
	int rc = 0;

	while (!rc && (t = jsondoc_next(k->json, k->e)) != JSONDOC_OBJECT_END) {
		char name[META_NAME], plain[META_NAME];

		if (t != JSONDOC_KEY)
			return -EINVAL;
		snprintf(plain, sizeof plain, "%s", k->json->text);
		key_name(group, plain, name, sizeof name);
		t = jsondoc_next(k->json, k->e);
		*k->by_sonde |= !strcmp(plain, "sonde.version") && t == JSONDOC_STRING;
		if (t == JSONDOC_OBJECT && !*group)
			rc = take_members(k, plain);
		else if (t == JSONDOC_OBJECT || t == JSONDOC_ARRAY)
			rc = jsondoc_skip(k->json, t, k->e) ? 0 : -EINVAL;
		else if (t == JSONDOC_BAD)
			rc = -EINVAL;
		else if (!is_taken(plain))
			keep(k->json, t, name, k->x->store, k->node);
	}
	return rc;
}

int perfmon_meta_take(struct jsondoc *j, const struct import *x, const char *host, bool *by_sonde,
		      struct err *e)
{
	int64_t node = store_node(x->store, host);
	struct taking k = { j, x, (uint32_t)node, by_sonde, e };

	if (node < 0) {
		store_leave_out(x->store, "%.100s is one host too many", host);
		return jsondoc_skip(j, JSONDOC_OBJECT, e) ? 0 : -EINVAL;
	}
	return take_members(&k, "");
}
