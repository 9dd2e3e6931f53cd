/* SPDX-License-Identifier: Apache-2.0 */
/* pressure.c - pressure stall of the node: /proc/pressure/, Documentation/accounting/psi.rst. */
#include "base/clock.h"
#include "base/text/number.h"
#include "source/kept.h"
#include "source/period.h"
#include "source/source.h"

#include <errno.h>
#include <string.h>

/* Each stall has two rows side by side: its time and its average. "full" of cpu is left out: the
 * kernel says it means nothing for a whole node, and gives 0. */
enum { TOTAL, AVG10, ROWS };

#define STALL(word, heading, sentence)                                                             \
	{ "node.pressure_" word "_seconds",                                                        \
	  .unit = UNIT_ELAPSED_SECONDS,                                                            \
	  .mul = 1,                                                                                \
	  .div = 1000000,                                                                          \
	  .kind = KIND_COUNTER,                                                                    \
	  .over_nodes = COMBINE_MEAN,                                                              \
	  .label = heading,                                                                        \
	  .help = "Time in which " sentence "." },                                                 \
	{                                                                                          \
		"node.pressure_" word "_avg10_ratio",                                              \
			.unit = UNIT_RATIO, .mul = 1, .div = 10000, .kind = KIND_GAUGE,            \
			.over_nodes = COMBINE_MEAN, .label = heading ", 10 s",                     \
			.help = "Share of the last 10 s in which " sentence "."                    \
	}

static const struct metric metrics[] = {
	STALL("cpu_some", "CPU pressure, some", "some task waited for a core"),
	STALL("memory_some", "Memory pressure, some", "some task waited for memory"),
	STALL("memory_full", "Memory pressure, full", "all tasks that could run waited for memory"),
	STALL("io_some", "I/O pressure, some", "some task waited for I/O"),
	STALL("io_full", "I/O pressure, full", "all tasks that could run waited for I/O"),
	STALL("irq_full", "Interrupt pressure, full", "interrupts kept tasks from running"),
};

enum { CPU, MEMORY, IO, IRQ, NFILES };
static const char *const paths[] = {
	[CPU] = "pressure/cpu",
	[MEMORY] = "pressure/memory",
	[IO] = "pressure/io",
	[IRQ] = "pressure/irq", /* since Linux 6.1 */
};
_Static_assert(sizeof paths / sizeof paths[0] == NFILES, "a path for every file");

static const struct stall {
	uint32_t file;
	const char *line;
} stalls[] = {
	{ CPU, "some " }, { MEMORY, "some " }, { MEMORY, "full " },
	{ IO, "some " },  { IO, "full " },     { IRQ, "full " },
};
enum { NSTALLS = sizeof stalls / sizeof stalls[0] };
_Static_assert(sizeof metrics / sizeof metrics[0] == NSTALLS * ROWS, "two rows for every stall");

/* Its times are totals, which lose nothing; its averages the kernel makes anew every 2 s. */
static const int64_t period_ns = NS_PER_S;

struct pressure {
	struct period period;
	struct kept file[NFILES];
	uint32_t slot; /* of NSTALLS * ROWS series */
};

/* What follows key on this line; the NUL of key when it is not there, which is not a number. */
static const char *value_of(const char *line, const char *key)
{
	const char *end = line + strcspn(line, "\n");
	const char *at = memmem(line, (size_t)(end - line), key, strlen(key));

	return at ? at + strlen(key) : key + strlen(key);
}

static bool scan_stall(const struct pressure *x, struct sample *s, uint32_t i)
{
	const char *line = number_find_line(x->file[stalls[i].file].text, stalls[i].line);
	const char *total = line ? value_of(line, "total=") : "";
	const char *avg10 = line ? value_of(line, "avg10=") : "";
	int64_t us, hundredths;

	if (!number_i64(&total, &us) || us < 0)
		return false;
	if (!x->slot)
		return true;
	sample_put(s, x->slot + i * ROWS + TOTAL, us);
	if (number_fixed(&avg10, 2, &hundredths))
		sample_put(s, x->slot + i * ROWS + AVG10, hundredths);
	return true;
}

static void pressure_close(void *state)
{
	struct pressure *x = state;

	for (int f = 0; f < NFILES; f++)
		kept_close(&x->file[f]);
}

static void refuse_file(const struct pressure *x, struct sample *s, uint32_t file, int error,
			const struct err *why)
{
	const char *reason = error == -ENOENT ? "this kernel does not report it" : why->text;

	for (uint32_t i = 0; x->slot && i < NSTALLS * ROWS; i++)
		if (stalls[i / ROWS].file == file)
			sample_refuse(s, x->slot + i, state_of(error), reason);
}

static int pressure_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct pressure *x = state;
	struct err why[NFILES];
	int error[NFILES], opened = 0;

	for (uint32_t f = 0; f < NFILES; f++) {
		error[f] = kept_open(&x->file[f], &env->proc, paths[f], 0, &why[f]);
		opened += error[f] == 0;
	}
	if (!opened && state_of(error[CPU]) == STATE_UNSUPPORTED)
		return err_set(e, error[CPU], "%s/%s: this kernel does not account for pressure",
			       env->proc.path, paths[CPU]);
	if (!opened)
		return err_set(e, error[CPU], "%s", why[CPU].text);
	x->slot = sample_series(s, metrics, NSTALLS * ROWS, 0);
	for (uint32_t f = 0; f < NFILES; f++)
		if (error[f])
			refuse_file(x, s, f, error[f], &why[f]);
	return 0;
}

static int pressure_read(void *state, struct sample *s)
{
	struct pressure *x = state;
	int result = 0, r[NFILES] = { 0 };

	if (!period_is_due(&x->period, s, period_ns))
		return 0;
	for (uint32_t f = 0; f < NFILES; f++) {
		r[f] = x->file[f].text ? kept_read_same(&x->file[f]) : 0;
		if (r[f] < 0)
			result = r[f];
	}
	for (uint32_t i = 0; i < NSTALLS; i++) {
		uint32_t slot = x->slot ? x->slot + i * ROWS : 0;

		if (r[stalls[i].file] == 1 && sample_stood(s, slot))
			sample_hold(s, slot, ROWS);
		else if (x->file[stalls[i].file].len && !scan_stall(x, s, i))
			result = -EBADMSG;
	}
	return result;
}

const struct source source_pressure = {
	.name = "pressure",
	.what = "pressure stall of the node: CPU, memory, I/O, interrupts",
	.fix_admin = "use a kernel with CONFIG_PSI, and boot it with psi=1",
	SOURCE_METRICS(metrics),
	.size = sizeof(struct pressure),
	.open = pressure_open,
	.read = pressure_read,
	.close = pressure_close,
};
