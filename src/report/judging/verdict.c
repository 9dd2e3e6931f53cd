/* SPDX-License-Identifier: Apache-2.0 */
#include "report/judging/verdict.h"

#include "base/text/decimal.h"
#include "report/summary/summary.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *const severity_names[] = {
	[SEVERITY_NOTE] = "note",
	[SEVERITY_GOOD] = "good",
	[SEVERITY_WARN] = "warn",
	[SEVERITY_BAD] = "bad",
	[SEVERITY_CANNOT_TELL] = "cannot-tell",
	[SEVERITY_NUMBER_OF] = NULL,
};

const char *const confidence_names[] = {
	[CONFIDENCE_LOW] = "low",
	[CONFIDENCE_MEDIUM] = "medium",
	[CONFIDENCE_HIGH] = "high",
	[CONFIDENCE_NUMBER_OF] = NULL,
};

const char *const resource_names[] = {
	[RESOURCE_NONE] = "",     [RESOURCE_CORES] = "cores", [RESOURCE_MEMORY] = "memory",
	[RESOURCE_GPUS] = "gpus", [RESOURCE_TIME] = "time",   [RESOURCE_NUMBER_OF] = NULL,
};

const char *severity_name(enum severity severity)
{
	return severity_names[severity];
}

const char *confidence_name(enum confidence confidence)
{
	return confidence_names[confidence];
}

const char *resource_name(enum resource resource)
{
	return resource_names[resource];
}

const char *verdict_next(const struct summary_verdict *v, char *out, size_t size)
{
	char margin[32];

	if (!*v->next)
		snprintf(out, size, "%s", "");
	else if (v->margin > 0)
		snprintf(out, size, "Next time: %s (%s to spare)", v->next,
			 unit_format(UNIT_RATIO, v->margin, margin, sizeof margin));
	else
		snprintf(out, size, "Next time: %s", v->next);
	return out;
}

/* ---- what to ask the batch system for next time ---- */

/* Of each node, but the time; NAN: not known, not to be asked for. */
struct request {
	double amount[RESOURCE_NUMBER_OF];
	double nodes, tasks; /* tasks of each node, at least 1 */
};

typedef void line_writer(const struct summary *s, const struct request *q, enum resource resource,
			 char *out, size_t size);

/* ---- amounts as batch systems take them ---- */

/* Rounded up, so that it is a round number and never less; of little memory a GiB is much. */
static double memory_mebi(double bytes)
{
	double mebi = bytes / (1 << 20), step = mebi < 128 ? 16 : mebi < 8192 ? 128 : 1024;

	return fmax(1, ceil(mebi / step)) * step;
}

static const char *memory_text(double bytes, const char *mega, const char *giga, char *out,
			       size_t size)
{
	double mebi = memory_mebi(bytes);

	if (fmod(mebi, 1024) != 0)
		snprintf(out, size, "%.0f%s", mebi, mega);
	else
		snprintf(out, size, "%.0f%s", mebi / 1024, giga);
	return out;
}

/* To 5 min, of more than two hours to a quarter. */
static double time_minutes(double seconds)
{
	double step = seconds > 7200 ? 900 : 300;

	return fmax(1, ceil(seconds / step)) * step / 60;
}

static const char *time_text(double seconds, char *out, size_t size)
{
	double minutes = time_minutes(seconds);

	snprintf(out, size, "%02.0f:%02.0f:00", floor(minutes / 60), fmod(minutes, 60));
	return out;
}

/* ---- the systems ---- */

static void slurm_cores(const struct request *q, double asked, char *out, size_t size)
{
	double cores = q->amount[RESOURCE_CORES], of_task = ceil(cores / q->tasks);

	if (isnan(q->tasks)) /* of how many each line would be is not known */
		return;
	/* Beside --ntasks, --ntasks-per-node alone would be only a limit, and ask for more nodes.
	 */
	if (cores < q->tasks && q->nodes > 1)
		snprintf(out, size, "#SBATCH --ntasks=%.0f --ntasks-per-node=%.0f",
			 cores * q->nodes, cores);
	else if (cores < q->tasks)
		snprintf(out, size, "#SBATCH --ntasks=%.0f", cores);
	else if (!(of_task * q->tasks >= asked) || cores > asked) /* else it was asked for */
		snprintf(out, size, "#SBATCH --cpus-per-task=%.0f", of_task);
}

static void slurm_memory(const struct summary *s, const struct request *q, char *out, size_t size)
{
	double cores = q->amount[RESOURCE_CORES], bytes = q->amount[RESOURCE_MEMORY];
	bool of_core = s->memory_asked_per_core && cores >= 1;
	char text[32];

	memory_text(of_core ? bytes / cores : bytes, "M", "G", text, sizeof text);
	snprintf(out, size, "#SBATCH --%s=%s", of_core ? "mem-per-cpu" : "mem", text);
}

static void slurm_line(const struct summary *s, const struct request *q, enum resource resource,
		       char *out, size_t size)
{
	char text[32];

	switch (resource) {
	case RESOURCE_CORES:
		slurm_cores(q, s->cores_asked / s->nhosts, out, size);
		break;
	case RESOURCE_MEMORY:
		slurm_memory(s, q, out, size);
		break;
	case RESOURCE_GPUS:
		snprintf(out, size, "#SBATCH --gres=gpu:%.0f", q->amount[RESOURCE_GPUS]);
		break;
	case RESOURCE_TIME:
		snprintf(out, size, "#SBATCH --time=%s",
			 time_text(q->amount[RESOURCE_TIME], text, sizeof text));
		break;
	default:
		break;
	}
}

static void pbs_line(const struct summary *s, const struct request *q, enum resource resource,
		     char *out, size_t size)
{
	char text[32];

	(void)s;
	if (resource == RESOURCE_TIME) {
		snprintf(out, size, "#PBS -l walltime=%s",
			 time_text(q->amount[RESOURCE_TIME], text, sizeof text));
		return;
	}
	snprintf(out, size, "#PBS -l select=%.0f", q->nodes);
	if (q->amount[RESOURCE_CORES] >= 1)
		decimal_append(out, size, ":ncpus=%.0f", q->amount[RESOURCE_CORES]);
	if (q->tasks > 1 && q->tasks <= q->amount[RESOURCE_CORES])
		decimal_append(out, size, ":mpiprocs=%.0f", q->tasks);
	if (q->amount[RESOURCE_MEMORY] > 0)
		decimal_append(
			out, size, ":mem=%s",
			memory_text(q->amount[RESOURCE_MEMORY], "mb", "gb", text, sizeof text));
	if (q->amount[RESOURCE_GPUS] >= 1)
		decimal_append(out, size, ":ngpus=%.0f", q->amount[RESOURCE_GPUS]);
}

/* Its mem is of the whole job. */
static void torque_line(const struct summary *s, const struct request *q, enum resource resource,
			char *out, size_t size)
{
	char text[32];

	if (resource == RESOURCE_TIME) {
		pbs_line(s, q, resource, out, size);
	} else if (resource == RESOURCE_MEMORY) {
		snprintf(out, size, "#PBS -l mem=%s",
			 memory_text(q->amount[RESOURCE_MEMORY] * q->nodes, "mb", "gb", text,
				     sizeof text));
	} else {
		snprintf(out, size, "#PBS -l nodes=%.0f", q->nodes);
		if (q->amount[RESOURCE_CORES] >= 1)
			decimal_append(out, size, ":ppn=%.0f", q->amount[RESOURCE_CORES]);
		if (q->amount[RESOURCE_GPUS] >= 1)
			decimal_append(out, size, ":gpus=%.0f", q->amount[RESOURCE_GPUS]);
	}
}

/* It has no request for memory: a site's own properties say how much cores or nodes have. */
static void oar_line(const struct summary *s, const struct request *q, enum resource resource,
		     char *out, size_t size)
{
	char text[32];

	(void)s;
	if (resource == RESOURCE_MEMORY)
		return;
	snprintf(out, size, "#OAR -l nodes=%.0f", q->nodes);
	if (q->amount[RESOURCE_GPUS] >= 1)
		decimal_append(out, size, "/gpu=%.0f", q->amount[RESOURCE_GPUS]);
	else if (q->amount[RESOURCE_CORES] >= 1)
		decimal_append(out, size, "/core=%.0f", q->amount[RESOURCE_CORES]);
	if (q->amount[RESOURCE_TIME] > 0)
		decimal_append(out, size, ",walltime=%s",
			       time_text(q->amount[RESOURCE_TIME], text, sizeof text));
}

static const struct {
	const char *scheduler;
	line_writer *line;
} systems[] = {
	{ "slurm", slurm_line },
	{ "pbs", pbs_line },
	{ "torque", torque_line },
	{ "oar", oar_line },
};

/* The batch system's own processes, shells and Sonde count, too. */
static const double memory_least = 128 << 20;

/* Of several verdicts on one resource the worst, which is first, has the word. */
static bool is_told(const struct summary *s, uint32_t verdict)
{
	for (uint32_t i = 0; i < verdict; i++)
		if (s->verdicts[i].resource == s->verdicts[verdict].resource)
			return true;
	return false;
}

/* As they were asked for, else as they ran. */
static double tasks_of_node(const struct summary *s)
{
	double tasks = s->tasks_asked;

	for (uint32_t i = 0; isnan(s->tasks_asked) && i < s->nsteps; i++)
		tasks = fmax(tasks, s->steps[i].n);
	if (isnan(tasks) && s->layout_unknown)
		return NAN;
	return tasks > s->nhosts ? ceil(tasks / s->nhosts) : 1;
}

/* What was asked for, with what the verdicts advise in its place. */
static struct request request_of(const struct summary *s)
{
	double hosts = s->nhosts;
	struct request q = {
		.amount = {
			[RESOURCE_NONE] = NAN,
			[RESOURCE_CORES] = s->cores_asked / hosts,
			[RESOURCE_MEMORY] = s->memory_asked_bytes / hosts,
			[RESOURCE_GPUS] = s->gpus_asked / hosts,
			[RESOURCE_TIME] = s->time_limit_s,
		},
		.nodes = s->nodes_asked >= 1 ? s->nodes_asked : hosts,
		.tasks = tasks_of_node(s),
	};

	for (uint32_t i = 0; i < s->nverdicts; i++) {
		const struct summary_verdict *v = &s->verdicts[i];

		if (v->resource && !is_told(s, i))
			q.amount[v->resource] =
				v->resource == RESOURCE_CORES || v->resource == RESOURCE_GPUS
					? ceil(v->amount)
				: v->resource == RESOURCE_MEMORY ? fmax(v->amount, memory_least)
								 : v->amount;
	}
	return q;
}

/* What the line asks for, rounded as the system takes it; of each node, but the time. */
static double granted(const struct summary *s, const struct request *q, enum resource resource)
{
	double amount = q->amount[resource], parts = 1;

	if (resource == RESOURCE_TIME)
		return 60 * time_minutes(amount);
	if (resource == RESOURCE_CORES)
		return strcmp(s->scheduler, "slurm") == 0 && amount >= q->tasks
			       ? ceil(amount / q->tasks) * q->tasks
			       : amount;
	if (resource != RESOURCE_MEMORY)
		return amount;
	if (strcmp(s->scheduler, "slurm") == 0 && s->memory_asked_per_core &&
	    q->amount[RESOURCE_CORES] >= 1)
		parts = q->amount[RESOURCE_CORES];
	else if (strcmp(s->scheduler, "torque") == 0)
		parts = 1 / q->nodes;
	return memory_mebi(amount / parts) * parts * (1 << 20);
}

/* With what rounding adds, so that what is to spare is what is to spare. */
static void take_granted(const struct summary *s, const struct request *q,
			 struct summary_verdict *v)
{
	double needed = v->amount / (1 + v->margin), given = granted(s, q, v->resource);

	if (!(v->margin > 0) || !(given >= needed))
		return;
	v->amount = given;
	v->margin = given / needed - 1;
}

void requests_write(struct summary *s)
{
	struct request q = request_of(s);
	line_writer *line = NULL;

	for (size_t i = 0; s->scheduler && i < sizeof systems / sizeof systems[0]; i++)
		if (strcmp(systems[i].scheduler, s->scheduler) == 0)
			line = systems[i].line;
	for (uint32_t i = 0; i < s->nverdicts; i++) {
		struct summary_verdict *v = &s->verdicts[i];

		v->next[0] = '\0';
		if (line && v->resource && v->amount > 0 && !is_told(s, i))
			line(s, &q, v->resource, v->next, sizeof v->next);
		if (v->next[0])
			take_granted(s, &q, v);
	}
}
