/* SPDX-License-Identifier: Apache-2.0 */
/* energy.c - energy and power as the hardware measures it: Cray's pm_counters; RAPL by powercap,
 * else by perf events; hwmon. See energy.h. */
#include "source/energy.h"

#include "base/clock.h"
#include "base/text/number.h"
#include "source/kept.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Counters are brought up to date up to a second after the fact. */
static const double LATENESS_S = 1;

static double most_in(const struct wrap *w, int64_t elapsed_ns)
{
	return (double)w->most_per_s * ((double)elapsed_ns / (double)NS_PER_S + LATENESS_S);
}

bool wrap_is_lost(const struct wrap *w, int64_t elapsed_ns)
{
	return w->range && most_in(w, elapsed_ns) > (double)w->range;
}

static bool grow(struct wrap *w, int64_t value, int64_t elapsed_ns)
{
	int64_t growth = value - w->last;

	if (elapsed_ns < 0 || wrap_is_lost(w, elapsed_ns))
		return false;
	/* The round is range and one step of the counter, which the kernel does not tell; it is
	 * some 60 uJ, the 2^32nd part of the round. */
	if (growth < 0)
		number_add(&growth, w->range);
	return growth >= 0 && (double)growth <= most_in(w, elapsed_ns) &&
	       !__builtin_add_overflow(w->total, growth, &w->total);
}

enum wrap_step wrap_step(struct wrap *w, int64_t value, int64_t now_ns)
{
	enum wrap_step step = WRAP_BEGUN;

	if (w->begun)
		step = grow(w, value, now_ns - w->last_ns) ? WRAP_GREW : WRAP_BREAK;
	if (step != WRAP_GREW)
		w->total = value;
	w->begun = true;
	w->last = value;
	w->last_ns = now_ns;
	return step;
}

enum { CONSUMED, DRAWN, NODE_POWER, JOB_POWER, METRICS_NUMBER_OF, DERIVED = NODE_POWER };
enum { FILES_PER_S = 16, BREAKS_MAX = 16 };
static const int64_t SLOW_NS = 20 * NS_PER_MS, STILL_NS = 10 * NS_PER_S;

#define ENERGY .domain = "energy", .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM
#define WATTS  .kind = KIND_GAUGE, .unit = UNIT_WATTS

static const struct metric metrics[] = {
	[CONSUMED] = { "energy.consumed_joules", ENERGY, .kind = KIND_COUNTER, .unit = UNIT_JOULES,
		       .mul = 1, .div = 1000000, .label = "Energy",
		       .help = "Energy measured by the hardware of a package, its memory or the "
			       "node, for all users; the total counts each joule once." },
	[DRAWN] = { "energy.meter_watts", ENERGY, WATTS, .mul = 1, .div = 1000000,
		    .label = "Power, by its meter",
		    .help = "Power measured by a meter of the node or of a module, averaged as the "
			    "meter does." },
	[NODE_POWER] = { "node.power_watts", WATTS, .over_nodes = COMBINE_SUM,
			 .formula = "if(known(energy.consumed_watts), energy.consumed_watts, "
				    "energy.meter_watts)",
			 .label = "Power",
			 .help = "Power that is measured on the node: of all of it (pm_counters), "
				 "else "
				 "of packages and their memory (RAPL), else by its meters." },
	[JOB_POWER] = { "job.power_apportioned_watts", WATTS, .over_nodes = COMBINE_SUM,
			.formula = "node.power_watts * min(1, job.cpu_cores / node.cpu_used_cores)",
			.label = "Power, apportioned",
			.help = "Apportioned, not measured: the node's power times the job's share "
				"of the CPU time that was used, idle power included." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == METRICS_NUMBER_OF, "a row for every index");

struct zone *energy_add(struct energy *x, const char *by, const char *name)
{
	struct zone *z = x->nzones < ZONES_MAX ? &x->zone[x->nzones++] : NULL;

	if (!z)
		return NULL;
	*z = (struct zone){ .by = by, .package = -1 };
	snprintf(z->name, sizeof z->name, "%s", name);
	return z;
}

static int read_perf(const struct zone *z, int64_t *uj)
{
	uint64_t raw;
	ssize_t n = read(z->fd, &raw, sizeof raw);
	double v;

	if (n != (ssize_t)sizeof raw)
		return n < 0 ? -errno : -ENODATA;
	v = (double)raw * z->scale * 1e6;
	if (v >= 9e18)
		return -ERANGE;
	*uj = llround(v);
	return 0;
}

/* In millionths of a joule or a watt. */
static int read_text(const struct zone *z, int64_t *out)
{
	char text[128];
	const char *p = text;
	ssize_t n = file_reread(z->fd, text, sizeof text);

	if (n <= 0)
		return n < 0 ? (int)n : -ENODATA;
	if (!number_i64(&p, out))
		return sysfs_no_number(p);
	if (*out < 0)
		return -ERANGE;
	if (z->form != ZONE_JOULES)
		return *p == '\n' || !*p ? 0 : -EBADMSG;
	if (*number_skip_blanks(p) != 'J')
		return -EBADMSG;
	return __builtin_mul_overflow(*out, 1000000, out) ? -ERANGE : 0;
}

static int read_zone(const struct zone *z, int64_t *out)
{
	int r = z->form == ZONE_PERF ? read_perf(z, out) : read_text(z, out);

	return r == 0 && z->counter.range && *out > z->counter.range ? -ERANGE : r;
}

static void label_package(struct sample *s, const struct zone *z)
{
	char text[24];

	if (z->package < 0)
		return;
	snprintf(text, sizeof text, "%" PRId64, z->package);
	sample_label(s, z->instance, "package", text);
}

/* The zone that is named before the last '/' of its name. */
static uint32_t parent_of(const struct energy *x, const struct zone *z)
{
	const char *slash = strrchr(z->name, '/');

	for (const struct zone *y = x->zone; slash && y < z; y++)
		if (strlen(y->name) == (size_t)(slash - z->name) &&
		    strncmp(y->name, z->name, strlen(y->name)) == 0)
			return y->instance;
	return 0;
}

static uint32_t row_of(const struct zone *z)
{
	return z->form == ZONE_MICROWATTS ? DRAWN : CONSUMED;
}

/* Firmware may be asked by the kernel, and take its time. */
static bool is_slow(const struct zone *z)
{
	int64_t start_ns, v;

	for (int tries = 0; tries < 2; tries++) {
		start_ns = clock_mono_ns();
		read_zone(z, &v);
		if (clock_mono_ns() - start_ns < SLOW_NS)
			return false;
	}
	return true;
}

static void refuse(struct zone *z, struct sample *s, enum state state, const char *reason)
{
	sample_refuse(s, z->slot, state, reason);
	file_close(&z->fd);
}

static void examine(struct zone *z, struct sample *s, int64_t interval_ns)
{
	char reason[160];

	if (z->error) {
		refuse(z, s, state_of(z->error),
		       z->error == -EACCES ? "only root may read it" : strerror(-z->error));
	} else if (wrap_is_lost(&z->counter, interval_ns) &&
		   z->counter.range / z->counter.most_per_s < 2) {
		refuse(z, s, STATE_FAILED, "its range is too small to be followed");
	} else if (wrap_is_lost(&z->counter, interval_ns)) {
		snprintf(reason, sizeof reason,
			 "between two samples it can wrap more than once: sample at least "
			 "every %" PRId64 " s",
			 z->counter.range / z->counter.most_per_s - 1);
		refuse(z, s, STATE_FAILED, reason);
	} else if (is_slow(z)) {
		refuse(z, s, STATE_FAILED, "to read it takes more than 20 ms");
	}
}

static void tell(const struct energy *x, struct zone *z, struct sample *s, int64_t interval_ns)
{
	z->instance = sample_instance(s, metrics[CONSUMED].domain, z->name, parent_of(x, z),
				      clock_mono_ns(), z->aside ? INSTANCE_ASIDE : 0);
	sample_label(s, z->instance, "value", "measured");
	sample_label(s, z->instance, "by", z->by);
	sample_label(s, z->instance, "kind", z->kind);
	label_package(s, z);
	if (z->instance)
		z->slot = sample_series(s, &metrics[row_of(z)], 1, z->instance);
	examine(z, s, interval_ns);
}

static bool any_readable(const struct energy *x, uint32_t first)
{
	for (uint32_t i = first; i < x->nzones; i++)
		if (x->zone[i].fd)
			return true;
	return false;
}

static bool any_counted(const struct energy *x, uint32_t first)
{
	for (uint32_t i = first; i < x->nzones; i++)
		if (x->zone[i].fd && !x->zone[i].aside)
			return true;
	return false;
}

static void set_aside(struct energy *x, uint32_t first)
{
	for (uint32_t i = first; i < x->nzones; i++)
		x->zone[i].aside = true;
}

/* RAPL: by powercap; where that may not be read or is not there, by perf events. */
static int find_rapl(struct energy *x, const struct root *sys)
{
	uint32_t first = x->nzones, n;
	int powercap = energy_find_powercap(x, sys), perf;

	if (any_readable(x, first))
		return 0;
	n = x->nzones;
	perf = energy_find_perf(x, sys);
	if (!any_readable(x, n))
		return powercap ? powercap : perf;
	memmove(x->zone + first, x->zone + n, (x->nzones - n) * sizeof *x->zone);
	x->nzones -= n - first;
	return 0;
}

/* The ways in their order, that of the whole node first; what a later one tells is beside what an
 * earlier one has told. Returns the error of the first that is there and may not be read. */
static int find(struct energy *x, const struct root *sys)
{
	static int (*const ways[])(struct energy *, const struct root *) = { energy_find_cray,
									     find_rapl,
									     energy_find_hwmon };
	bool counted = false;
	int error = 0;

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		uint32_t first = x->nzones;
		int r = ways[i](x, sys);

		if (counted)
			set_aside(x, first);
		counted |= any_counted(x, first);
		error = error ? error : r;
	}
	return error;
}

/* Every sample, unless they are many; meters average over a second or so themselves. */
static void set_period(struct energy *x)
{
	if (x->nzones > FILES_PER_S)
		x->period_ns = x->nzones * NS_PER_S / FILES_PER_S;
	for (const struct zone *z = x->zone; z < x->zone + x->nzones; z++)
		if (row_of(z) == DRAWN && x->period_ns < NS_PER_S)
			x->period_ns = NS_PER_S;
}

static void energy_close(void *state)
{
	struct energy *x = state;

	for (struct zone *z = x->zone; z < x->zone + x->nzones; z++)
		file_close(&z->fd);
	file_close(&x->freshness);
}

static int energy_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct energy *x = state;
	int r = find(x, &env->sys);

	if (!any_readable(x, 0)) {
		energy_close(x);
		if (r)
			return err_set(e, r, "this machine counts energy, but not for you: %s",
				       strerror(-r));
		return err_set(e, -ENODEV,
			       "no counter of energy: no RAPL in %s/class/powercap, no perf events "
			       "\"power\", no pm_counters, no hwmon meter",
			       env->sys.path);
	}
	for (struct zone *z = x->zone; z < x->zone + x->nzones; z++)
		tell(x, z, s, env->interval_ns);
	set_period(x);
	sample_catalogue(s, &metrics[DERIVED], METRICS_NUMBER_OF - DERIVED);
	return 0;
}

/* What was used since the last reading is not known: a series that begins anew has no rate there.
 */
static void begin_again(struct zone *z, struct sample *s)
{
	char text[ZONE_NAME_SIZE + 128];

	if (++z->breaks > BREAKS_MAX) {
		refuse(z, s, STATE_FAILED, "its counter jumps");
		return;
	}
	snprintf(text, sizeof text,
		 "%.63s: its counter was reset, or wrapped more than once between two "
		 "readings; what was used in between is not known",
		 z->name);
	sample_mark(s, 0, s->mono_ns, "energy.unknown", text);
	sample_series_end(s, z->slot, 1);
	z->slot = sample_series(s, &metrics[CONSUMED], 1, z->instance);
}

/* What is on uses energy; only parts of a package may be switched off. */
static bool is_always_on(const struct zone *z)
{
	static const char *const kinds[] = { "package", "dram", "psys", "node" };

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(z->kind, kinds[i]) == 0)
			return true;
	return false;
}

/* A counter that has not moved is not one of 0 W: nothing new is known, and after a while it has
 * failed. */
static bool stands_still(struct zone *z, struct sample *s, int64_t v)
{
	bool still = is_always_on(z) && z->counter.begun && v == z->counter.last;
	bool failed = still && s->mono_ns - z->counter.last_ns >= STILL_NS;

	if (failed && !z->failed)
		sample_refuse(s, z->slot, STATE_FAILED, "its counter stands still");
	else if (z->failed && !failed)
		sample_refuse(s, z->slot, STATE_PRESENT, NULL);
	z->failed = failed;
	return still;
}

static void put(struct zone *z, struct sample *s, int64_t v)
{
	if (row_of(z) == DRAWN) {
		sample_put(s, z->slot, v);
		return;
	}
	if (stands_still(z, s, v))
		return;
	if (wrap_step(&z->counter, v, s->mono_ns) == WRAP_BREAK)
		begin_again(z, s);
	if (z->fd)
		sample_put(s, z->slot, z->counter.total);
}

static void read_one(struct zone *z, struct sample *s)
{
	int64_t v;
	int r = read_zone(z, &v);

	if (r < 0 && z->failed)
		z->failed = false; /* it is told why anew */
	sysfs_put_state(s, z->slot, &z->error, r);
	if (r == 0)
		put(z, s, v);
}

static int energy_read(void *state, struct sample *s)
{
	struct energy *x = state;
	bool fresh;

	if (x->period_ns && !period_is_due(&x->period, s, x->period_ns))
		return 0;
	fresh = energy_cray_is_fresh(x);
	for (struct zone *z = x->zone; z < x->zone + x->nzones; z++) {
		if (z->failed && !period_is_due(&z->failed_looks, s, NS_PER_S))
			continue;
		if (z->fd && (fresh || z->form != ZONE_JOULES))
			read_one(z, s);
		else if (z->fd)
			stands_still(z, s, z->counter.last);
	}
	return 0;
}

const struct source source_energy = {
	.name = "energy",
	.what = "energy and power that the hardware measures",
	.fix_admin =
		"where there is RAPL: chmod a+r /sys/class/powercap/intel-rapl*/energy_uj after "
		"each boot, or sysctl kernel.perf_event_paranoid=0; users can then see traces of "
		"what others compute (CVE-2020-8694)",
	SOURCE_METRICS(metrics),
	.size = sizeof(struct energy),
	.open = energy_open,
	.read = energy_read,
	.close = energy_close,
};
