/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c - the processes that used most, what each command used, and those that crashed. */
#include "base/text/decimal.h"
#include "core/crash.h"
#include "report/summary/parts.h"
#include "report/summary/summary.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is asked of a process or a command; ids in the run, 0 when it has no such metric. */
struct ids {
	uint32_t processes, cpu, peak_rss, rss, read, written;
};

static double final_of(const struct run *r, uint32_t instance, const char *metric)
{
	double v;

	return run_final_value(r, instance, metric, &v) ? v : NAN;
}

static double either(double a, double b)
{
	return isnan(a) ? b : a;
}

/* What its end said; of what still lives, the last that was seen. */
static struct summary_process process_of(const struct run *r, const struct series_index *x,
					 const struct ids *ids, uint32_t i)
{
	const struct run_instance *in = &r->instances[i];
	const char *pid = run_label(r, i, "pid");
	const char *unnamed = run_label(r, i, "unnamed_children_seconds");
	struct summary_process p = {
		.instance = i, .name = in->name, .pid = NAN, .gpu_bytes = NAN
	};

	p.host = r->nodes[in->node].host;
	p.command_line = run_label(r, i, "command_line");
	if (pid && *pid)
		p.pid = decimal_parse(pid, NULL);
	if (unnamed)
		p.unnamed_s = fmax(0, decimal_parse(unnamed, NULL));
	p.start_s = run_seconds(r, in->node, in->birth_ns);
	p.end_s = in->end_ns == INT64_MAX ? NAN : run_seconds(r, in->node, in->end_ns);
	p.cpu_s = either(final_of(r, i, "process.cpu_seconds"), series_index_last(x, i, ids->cpu));
	p.read_bytes =
		either(final_of(r, i, "process.read_bytes"), series_index_last(x, i, ids->read));
	p.written_bytes = either(final_of(r, i, "process.written_bytes"),
				 series_index_last(x, i, ids->written));
	p.peak_rss_bytes = either(
		final_of(r, i, "process.peak_resident_bytes"),
		either(series_index_max(x, i, ids->peak_rss), series_index_max(x, i, ids->rss)));
	return p;
}

static double by_cpu(const struct summary_process *p)
{
	return p->cpu_s;
}

static double by_memory(const struct summary_process *p)
{
	return p->peak_rss_bytes;
}

static double by_io(const struct summary_process *p)
{
	return fmax(p->read_bytes, 0) + fmax(p->written_bytes, 0);
}

/* Keeps the largest SUMMARY_TOP, largest first; what used nothing has no place. */
static void offer(struct summary_process *top, uint32_t *n, const struct summary_process *p,
		  double (*by)(const struct summary_process *))
{
	double v = by(p);
	uint32_t at = *n;

	if (!(v > 0) || (*n == SUMMARY_TOP && v <= by(&top[*n - 1])))
		return;
	if (*n < SUMMARY_TOP)
		++*n;
	else
		at--;
	for (; at && by(&top[at - 1]) < v; at--)
		top[at] = top[at - 1];
	top[at] = *p;
}

static double add(double a, double b)
{
	if (isnan(a) || isnan(b))
		return either(a, b);
	return a + b;
}

static struct summary_command command_of(const struct run *r, const struct series_index *x,
					 const struct ids *ids, uint32_t i)
{
	return (struct summary_command){
		.name = r->instances[i].name,
		.processes = series_index_last(x, i, ids->processes),
		.cpu_s = series_index_last(x, i, ids->cpu),
		.peak_rss_bytes = series_index_max(x, i, ids->peak_rss),
		.read_bytes = series_index_last(x, i, ids->read),
		.written_bytes = series_index_last(x, i, ids->written),
	};
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct summary_command *)a)->name,
		      ((const struct summary_command *)b)->name);
}

static int compare_cpu(const void *a, const void *b)
{
	double x = either(((const struct summary_command *)a)->cpu_s, -1);
	double y = either(((const struct summary_command *)b)->cpu_s, -1);

	return x == y ? compare_names(a, b) : x < y ? 1 : -1;
}

/* A command of several nodes, or one with living processes, becomes one row. */
static uint32_t merge(struct summary_command *c, uint32_t n)
{
	uint32_t kept = 0;

	qsort(c, n, sizeof *c, compare_names);
	for (uint32_t i = 0; i < n; i++) {
		struct summary_command *to = kept ? &c[kept - 1] : NULL;

		if (!to || strcmp(to->name, c[i].name) != 0) {
			c[kept++] = c[i];
			continue;
		}
		to->processes = add(to->processes, c[i].processes);
		to->cpu_s = add(to->cpu_s, c[i].cpu_s);
		to->peak_rss_bytes = fmax(to->peak_rss_bytes, c[i].peak_rss_bytes);
		to->read_bytes = add(to->read_bytes, c[i].read_bytes);
		to->written_bytes = add(to->written_bytes, c[i].written_bytes);
	}
	qsort(c, kept, sizeof *c, compare_cpu);
	return kept;
}

static struct summary_command living(const struct summary_process *p)
{
	return (struct summary_command){
		.name = p->name,
		.processes = 1,
		.cpu_s = p->cpu_s,
		.peak_rss_bytes = p->peak_rss_bytes,
		.read_bytes = p->read_bytes,
		.written_bytes = p->written_bytes,
	};
}

static bool is(const struct run_instance *i, const char *domain)
{
	return i->domain && i->name && strcmp(i->domain, domain) == 0;
}

static uint32_t count(const struct run *r, const char *domain)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < r->ninstances; i++)
		n += is(&r->instances[i], domain);
	return n;
}

static uint32_t metric_of(const struct run *r, const char *domain, const char *noun)
{
	char name[64];

	snprintf(name, sizeof name, "%s.%s", domain, noun);
	return run_find_metric(r, name);
}

static struct ids ids_of(const struct run *r, const char *domain)
{
	return (struct ids){
		.processes = metric_of(r, domain, "processes"),
		.cpu = metric_of(r, domain, "cpu_seconds"),
		.peak_rss = metric_of(r, domain, "peak_resident_bytes"),
		.rss = metric_of(r, domain, "resident_bytes"),
		.read = metric_of(r, domain, "read_bytes"),
		.written = metric_of(r, domain, "written_bytes"),
	};
}

static void ask_of(struct series_index *x, const struct ids *ids)
{
	x->asked[ids->processes] |= SERIES_LAST;
	x->asked[ids->cpu] |= SERIES_LAST;
	x->asked[ids->peak_rss] |= SERIES_MAX;
	x->asked[ids->rss] |= SERIES_MAX;
	x->asked[ids->read] |= SERIES_LAST;
	x->asked[ids->written] |= SERIES_LAST;
}

void summary_processes_ask(struct series_index *x)
{
	const struct ids process = ids_of(x->run, "process"), command = ids_of(x->run, "command");

	ask_of(x, &process);
	ask_of(x, &command);
	series_index_ask(x, "gpu_process.memory_bytes", SERIES_MAX);
}

/* A process of a host's recorders: one that was lost, or had to end, leaves it open; who went on
 * tells all of it. */
struct seen {
	uint32_t host, node;
	bool open, goes_on;
	double born_s; /* or found */
	struct summary_process *process;
};

static int compare_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->process->pid != y->process->pid)
		return x->process->pid < y->process->pid ? -1 : 1;
	return x->born_s < y->born_s ? -1 : x->born_s > y->born_s;
}

static uint32_t find_seen(struct seen *seen, const struct summary *s, const struct run *r,
			  const uint32_t *host)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nprocesses; i++) {
		struct summary_process *p = &s->processes[i];
		uint32_t node = r->instances[p->instance].node;
		bool open = isnan(p->end_s);
		bool goes_on = run_label(r, p->instance, "goes_on") != NULL;

		if ((open || goes_on) && !isnan(p->pid))
			seen[n++] = (struct seen){ host[node], node, open, goes_on, p->start_s, p };
	}
	qsort(seen, n, sizeof *seen, compare_seen);
	return n;
}

/* Of a process that two recorders have, one after the other, the second tells all. */
static int find_told_again(struct summary *s, const struct run *r, struct err *e)
{
	struct seen *seen = calloc((size_t)s->nprocesses + 1, sizeof *seen);
	uint32_t *host = calloc(r->nnodes, sizeof *host), n;
	int bad = seen && host ? run_hosts(r, host) : -ENOMEM;

	n = bad ? 0 : find_seen(seen, s, r, host);
	for (uint32_t i = 1; i < n; i++) {
		const struct seen *before = &seen[i - 1], *x = &seen[i];

		if (!x->goes_on || !before->open || before->host != x->host ||
		    before->node == x->node || before->process->pid != x->process->pid)
			continue;
		before->process->counted_already = true;
		x->process->start_s = before->process->start_s;
	}
	free(seen);
	free(host);
	return bad ? err_set(e, bad, "out of memory for the processes of %.300s", r->path) : 0;
}

/* "solver (1234)" or "1234": the pid of a process that a GPU's driver names. */
static double pid_on_gpu(const char *name)
{
	const char *open = strrchr(name, '(');

	return decimal_parse(open ? open + 1 : name, NULL);
}

enum { ON_GPUS_MAX = 1024 };

static void find_on_gpus(struct summary *s, const struct run *r, const struct series_index *x)
{
	uint32_t memory = run_find_metric(r, "gpu_process.memory_bytes"), n = 0;

	for (uint32_t i = 1; i < r->ninstances && n < ON_GPUS_MAX; i++) {
		const struct run_instance *in = &r->instances[i];
		double pid, bytes;

		if (!is(in, "gpu_process"))
			continue;
		n++;
		pid = pid_on_gpu(in->name);
		bytes = series_index_max(x, i, memory);
		for (uint32_t k = s->nprocesses; k; k--) {
			struct summary_process *p = &s->processes[k - 1];

			if (r->instances[p->instance].node != in->node || p->pid != pid ||
			    r->instances[p->instance].birth_ns > in->birth_ns)
				continue;
			p->gpu_bytes = add(p->gpu_bytes, bytes);
			p->gpus++;
			break;
		}
	}
}

/* Processes of a storm that no sample saw, so that nobody had time to name them. What is known of a
 * few of them is not what they did. */
static const char nameless[] = "?";

int summary_processes_make(struct summary *s, const struct run *r, const struct series_index *x,
			   struct err *e)
{
	struct ids process = ids_of(r, "process"), command = ids_of(r, "command");
	uint32_t processes = count(r, "process");
	int bad;

	/* A command's rows hold its ended processes; those that live are added. */
	s->commands = calloc((size_t)count(r, "command") + processes + 1, sizeof *s->commands);
	s->processes = calloc((size_t)processes + 1, sizeof *s->processes);
	if (!s->commands || !s->processes)
		return err_set(e, -ENOMEM, "out of memory for the processes of %.300s", r->path);
	for (uint32_t i = 1; i < r->ninstances; i++) {
		if (is(&r->instances[i], "command")) {
			s->commands[s->ncommands++] = command_of(r, x, &command, i);
		} else if (is(&r->instances[i], "process")) {
			s->processes[s->nprocesses++] = process_of(r, x, &process, i);
		}
	}
	find_on_gpus(s, r, x);
	bad = find_told_again(s, r, e);
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		const struct summary_process *p = &s->processes[i];

		if (p->counted_already)
			continue;
		offer(s->by_cpu, &s->nby_cpu, p, by_cpu);
		offer(s->by_memory, &s->nby_memory, p, by_memory);
		offer(s->by_io, &s->nby_io, p, by_io);
		if (isnan(p->end_s))
			s->commands[s->ncommands++] = living(p);
	}
	for (uint32_t i = 0; i < s->ncommands; i++)
		if (s->commands[i].name && !strcmp(s->commands[i].name, nameless))
			s->commands[i].cpu_s = s->commands[i].peak_rss_bytes =
				s->commands[i].read_bytes = s->commands[i].written_bytes = NAN;
	s->ncommands = merge(s->commands, s->ncommands);
	return bad;
}

double summary_compressors_s(const struct summary *s)
{
	static const char names[] =
		" gzip gunzip zcat pigz unpigz bzip2 bunzip2 lbzip2 pbzip2 xz unxz "
		"lzma zstd unzstd zstdmt lz4 lzop brotli 7z 7za 7zr zip unzip ";
	double sum = 0;

	for (uint32_t i = 0; i < s->ncommands; i++) {
		const char *name = s->commands[i].name;
		char word[32];

		snprintf(word, sizeof word, " %.*s ", (int)strcspn(name, " "), name);
		if (strlen(word) > 2 && strstr(names, word))
			sum += s->commands[i].cpu_s;
	}
	return s->ncommands ? sum : NAN;
}

const char *summary_command_shown(const struct summary_command *c)
{
	return strcmp(c->name, nameless) != 0 ? c->name : "(no sample saw them)";
}

const struct summary_command *summary_most_started(const struct summary *s)
{
	const struct summary_command *most = NULL;

	for (uint32_t i = 0; i < s->ncommands; i++)
		if (strcmp(s->commands[i].name, nameless) != 0 &&
		    (!most || s->commands[i].processes > most->processes))
			most = &s->commands[i];
	return most;
}

double summary_unseen_peak(const struct summary *s)
{
	double seen = s->nhosts == 1 && s->hosts ? s->hosts[0].held_bytes : NAN;
	bool of_one = s->peak_memory_kind && strcmp(s->peak_memory_kind, "process") == 0 &&
		      s->peak_memory_bytes > seen;

	return of_one && s->nby_memory && s->by_memory[0].peak_rss_bytes < s->peak_memory_bytes
		       ? s->peak_memory_bytes
		       : NAN;
}

/* ---- those that crashed ---- */

/* Of the commands of the job, or of a host, the first that this signal ended; 0: none. */
static uint32_t crashed_command(const struct run *r, double signal, const char *host)
{
	uint32_t first = 0;
	double first_s = INFINITY;

	for (uint32_t i = 1; i < r->ninstances && signal > 0; i++) {
		const struct run_instance *in = &r->instances[i];
		const char *had = run_label(r, i, "signal");

		if (in->parent || !in->domain || strcmp(in->domain, "process") != 0 || !had ||
		    decimal_of(had) != signal ||
		    (host && strcmp(r->nodes[in->node].host, host) != 0) ||
		    !(run_seconds(r, in->node, in->end_ns) < first_s))
			continue;
		first = i;
		first_s = run_seconds(r, in->node, in->end_ns);
	}
	return first;
}

void summary_crashes_make(struct summary *s, const struct run *r)
{
	struct story *y = &s->story;
	uint32_t command = crashed_command(r, s->signal, NULL);
	uint32_t death = crashed_command(r, y->death_signal, y->death_host);
	uint32_t known = crash_of(r, command) ? command : y->died_instance;

	crash_say(r, command, y->crash, sizeof y->crash);
	crash_say(r, y->died_instance, y->died_crash, sizeof y->died_crash);
	crash_say(r, death, y->death_crash, sizeof y->death_crash);
	crash_say(r, y->hidden_instance, y->hidden_crash, sizeof y->hidden_crash);
	if (crash_of(r, known))
		y->crash_stack = crash_is_of_stack(crash_of(r, known));
}
