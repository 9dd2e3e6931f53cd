/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c - the tasks of pipelines: for a terminal, as Markdown and as JSON; their manual. */
#include "report/summary/pipeline.h"

#include "base/text/escape.h"
#include "base/text/json.h"
#include "report/assets.h"
#include "report/lines.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULES_SHOWN = 12, PASTED = 6, NAME = 33 };

/* ---- what to paste ---- */

/* Two digits, rounded up. */
static double rounded(double v)
{
	double step = 1;

	while (v / step > 99)
		step *= 10;
	return ceil(v / step) * step;
}

/* What a placeholder stands for; NAN: it is not known. */
static double value_of(const char *name, size_t n, const struct pipeline *p,
		       const struct pipeline_rule *r)
{
	const double spare = 1.2, patience = 1.5, nearly = 0.1, least = 100e6;
	double cpus = fmax(1, ceil(r->cores_max - nearly)), jobs;
	double memory = r->peaks ? fmax(least, spare * r->peak_bytes) : NAN;

	if (isnan(r->cores_max))
		cpus = NAN;
	if (!strncmp(name, "cpus", n))
		return cpus;
	if (!strncmp(name, "memory_mb", n))
		return rounded(memory / 1e6);
	if (!strncmp(name, "memory_mib", n))
		return rounded(memory / (1 << 20));
	if (!strncmp(name, "minutes", n))
		return ceil(patience * r->wall_max_s / 60);
	if (!strncmp(name, "gpus", n))
		return r->gpus ? (double)r->gpus : NAN;
	jobs = fmin(p->job_cores / cpus, p->job_memory_bytes / memory);
	return isnan(jobs) ? NAN : fmax(1, floor(jobs));
}

static const char *const placeholders[] = { "cpus",    "memory_mb", "memory_mib",
					    "minutes", "gpus",      "jobs" };

/* A line of which something is not known is left out: at is where it began. */
static void paste_line(struct bytes *out, const char *line, const struct pipeline *p,
		       const struct pipeline_rule *r)
{
	size_t at = out->len;

	while (*line) {
		size_t n = strcspn(line, "{"), k = 0, len;

		bytes_put(out, line, n);
		line += n;
		if (!*line)
			break;
		len = strcspn(line + 1, "}");
		if (!strncmp(line, "{rule}", 6)) {
			bytes_puts(out, r->name);
			line += 6;
			continue;
		}
		for (; k < sizeof placeholders / sizeof placeholders[0]; k++)
			if (strlen(placeholders[k]) == len &&
			    !memcmp(placeholders[k], line + 1, len))
				break;
		if (k == sizeof placeholders / sizeof placeholders[0]) {
			bytes_u8(out, '{');
			line++;
			continue;
		}
		if (!(value_of(placeholders[k], len + 1, p, r) < 1e15)) {
			out->len = at;
			return;
		}
		bytes_printf(out, "%.0f", value_of(placeholders[k], len + 1, p, r));
		line += len + 2;
	}
	bytes_u8(out, '\n');
}

/* All rules as one, of what needs most. */
static struct pipeline_rule most_of(const struct pipeline *p)
{
	struct pipeline_rule all = {
		.name = "", .peak_bytes = NAN, .cores_max = NAN, .wall_max_s = NAN
	};

	for (uint32_t i = 0; i < p->nrules; i++) {
		const struct pipeline_rule *r = &p->rule[i];

		all.peaks += r->peaks;
		all.peak_bytes = fmax(all.peak_bytes, r->peak_bytes);
		all.cores_max = fmax(all.cores_max, r->cores_max);
		all.wall_max_s = fmax(all.wall_max_s, r->wall_max_s);
		all.unfinished += r->unfinished;
	}
	return all;
}

void pipeline_paste(struct bytes *out, const struct pipeline *p, const struct pipeline_rule *rule)
{
	const struct pipeline_rule all = rule ? *rule : most_of(p);
	const struct pipeline_words *w = &p->tool->list[rule ? PIPELINE_PASTE : PIPELINE_PASTE_ALL];

	/* Without a task that ended, nothing is known of what one needs. */
	if (isnan(all.wall_max_s) || (rule && !pipeline_is_plain(rule->name)))
		return;
	for (uint32_t i = 0; i < w->n; i++)
		paste_line(out, w->word[i], p, &all);
}

static void paste_most(struct bytes *out, const struct pipeline *p, uint32_t most)
{
	pipeline_paste(out, p, NULL);
	for (uint32_t i = 0; i < p->nrules && i < most; i++)
		pipeline_paste(out, p, &p->rule[i]);
}

/* ---- for a terminal ---- */

static const char *peak_text(char out[32], const struct pipeline_rule *r)
{
	char bytes[CELL];

	cell_text(bytes, UNIT_BYTES, r->peak_bytes);
	if (r->peaks < r->tasks && !isnan(r->peak_bytes))
		snprintf(out, 32, ">= %s", bytes);
	else
		snprintf(out, 32, "%s", bytes);
	return out;
}

static void rule_line(struct bytes *b, const struct pipeline_rule *r, bool gpus)
{
	char median[CELL], most[CELL], cores[CELL], read[CELL], written[CELL], gpu[CELL], peak[32];
	char name[NAME];

	bytes_printf(b, "%6u %9s %9s %12s %6s %9s %9s", r->tasks,
		     cell_text(median, UNIT_SECONDS, r->wall_median_s),
		     cell_text(most, UNIT_SECONDS, r->wall_max_s), peak_text(peak, r),
		     cell_cores(cores, r->cores), cell_text(read, UNIT_BYTES, r->read_bytes),
		     cell_text(written, UNIT_BYTES, r->written_bytes));
	if (gpus)
		bytes_printf(b, " %9s", cell_text(gpu, UNIT_BYTES, r->gpu_bytes));
	bytes_printf(b, "  %s\n", escape_terminal_into(name, sizeof name, r->name));
}

static bool has_gpus(const struct pipeline *p)
{
	for (uint32_t i = 0; i < p->nrules; i++)
		if (p->rule[i].gpus)
			return true;
	return false;
}

/* What a reader has to know of the figures. */
static void doubts(struct bytes *b, const struct pipelines *p, const struct pipeline *of)
{
	uint32_t tasks = 0, unfinished = 0;

	for (uint32_t i = 0; i < of->nrules; i++) {
		tasks += of->rule[i].tasks - of->rule[i].peaks;
		unfinished += of->rule[i].unfinished;
	}
	if (tasks)
		bytes_printf(
			b,
			"Of %u of %u tasks the peak may be larger (>=) or is not known: they, or "
			"parts of them, ended before a sample. A shorter interval (sonde run "
			"-i) shows more.\n",
			tasks, of->ntasks);
	if (unfinished)
		bytes_printf(b, "%u %s did not end.\n", unfinished,
			     unfinished == 1 ? "task" : "tasks");
	if (of->nameless)
		bytes_printf(b,
			     "Of some tasks %s's own records of the name are not there; they are "
			     "named after their program.\n",
			     of->tool->label);
	if (p->strays)
		bytes_printf(b,
			     "%u short processes have no known parent; what they used (%.1f s of "
			     "CPU time) is in no task.\n",
			     p->strays, p->strays_cpu_s);
}

static void longest_line(struct bytes *b, const struct summary *s, const struct pipeline_rule *r)
{
	const struct summary_process *x =
		r->longest == UINT32_MAX ? NULL : &s->processes[r->longest];
	char text[81], time[CELL];

	if (!x || r->tasks < 2)
		return;
	escape_terminal_into(text, sizeof text, x->command_line ? x->command_line : x->name);
	bytes_printf(b, "%9s  %s\n", cell_text(time, UNIT_SECONDS, r->wall_max_s), text);
}

static void pipeline_text(struct bytes *b, const struct pipelines *p, const struct pipeline *of,
			  const struct summary *s, bool all)
{
	uint32_t most = all || of->nrules < RULES_SHOWN ? of->nrules : RULES_SHOWN;
	struct bytes lines = { 0 };

	bytes_printf(b, "%s: %u %s by %u %s\n%6s %9s %9s %12s %6s %9s %9s%s  name\n",
		     of->tool->label, of->ntasks, of->ntasks == 1 ? "task" : "tasks", of->nrules,
		     of->nrules == 1 ? "name" : "names", "tasks", "median", "longest",
		     "peak memory", "cores", "read", "written", has_gpus(of) ? " GPU memory" : "");
	for (uint32_t i = 0; i < most; i++)
		rule_line(b, &of->rule[i], has_gpus(of));
	if (most < of->nrules)
		bytes_printf(b, "and %u more names: --all\n", of->nrules - most);
	if (all) {
		bytes_puts(b, "\nThe longest of each\n");
		for (uint32_t i = 0; i < most; i++)
			longest_line(b, s, &of->rule[i]);
	}
	paste_most(&lines, of, all ? UINT32_MAX : PASTED);
	if (lines.len) {
		bytes_puts(b, "\nTo paste: 1.2 times the peak memory, 1.5 times the longest "
			      "time\n\n");
		bytes_put(b, lines.data, lines.len);
	}
	b->failed |= lines.failed;
	bytes_free(&lines);
	bytes_puts(b, "\n");
	doubts(b, p, of);
}

void pipelines_text(struct bytes *b, const struct pipelines *p, const struct summary *s, bool all)
{
	for (uint32_t i = 0; i < p->n; i++) {
		bytes_puts(b, i ? "\n" : "");
		pipeline_text(b, p, &p->of[i], s, all);
	}
	if (p->n && s->nprocesses < 0.9 * s->processes_started)
		bytes_printf(
			b,
			"%.0f %% of the processes are known by themselves: tasks among the others, "
			"which are short and many, are in no table.\n",
			100 * s->nprocesses / s->processes_started);
}

/* ---- as Markdown ---- */

void pipelines_markdown(struct bytes *b, const struct pipelines *p)
{
	char median[CELL], most[CELL], cores[CELL], read[CELL], written[CELL], peak[32];

	for (uint32_t i = 0; i < p->n; i++) {
		const struct pipeline *of = &p->of[i];
		struct bytes lines = { 0 };

		bytes_puts(b, "\n| ");
		escape_markdown(b, of->tool->label);
		bytes_puts(b, " | tasks | median | longest | peak memory | cores | read | written "
			      "|\n|---|---|---|---|---|---|---|---|\n");
		for (uint32_t k = 0; k < of->nrules && k < RULES_SHOWN; k++) {
			const struct pipeline_rule *r = &of->rule[k];

			bytes_puts(b, "| ");
			escape_markdown(b, r->name);
			bytes_printf(b, " | %u | %s | %s | %s | %s | %s | %s |\n", r->tasks,
				     cell_text(median, UNIT_SECONDS, r->wall_median_s),
				     cell_text(most, UNIT_SECONDS, r->wall_max_s),
				     peak_text(peak, r), cell_cores(cores, r->cores),
				     cell_text(read, UNIT_BYTES, r->read_bytes),
				     cell_text(written, UNIT_BYTES, r->written_bytes));
		}
		paste_most(&lines, of, RULES_SHOWN);
		if (lines.len) {
			bytes_puts(b, "\n```\n");
			bytes_put(b, lines.data, lines.len);
			bytes_puts(b, "```\n");
		}
		b->failed |= lines.failed;
		bytes_free(&lines);
	}
}

/* ---- as JSON ---- */

static void process_json(struct json *j, const char *key, const struct summary *s, uint32_t at)
{
	json_key(j, key);
	if (at == UINT32_MAX) {
		json_null(j);
		return;
	}
	json_object(j);
	json_put_text(j, "name", s->processes[at].name);
	json_put_text(j, "command_line", s->processes[at].command_line);
	json_put_text(j, "host", s->processes[at].host);
	json_put_real(j, "pid", s->processes[at].pid);
	json_put_real(j, "start_seconds", s->processes[at].start_s);
	json_object_end(j);
}

static void paste_json(struct json *j, const struct pipeline *of, const struct pipeline_rule *r)
{
	struct bytes lines = { 0 };

	pipeline_paste(&lines, of, r);
	bytes_u8(&lines, 0);
	json_put_text(j, "paste", lines.failed || lines.len < 2 ? NULL : (const char *)lines.data);
	bytes_free(&lines);
}

static void rule_json(struct json *j, const struct pipeline *of, const struct pipeline_rule *r,
		      const struct summary *s)
{
	json_object(j);
	json_put_text(j, "name", r->name);
	json_put_int(j, "tasks", r->tasks);
	json_put_int(j, "unfinished", r->unfinished);
	json_put_real(j, "wall_median_seconds", r->wall_median_s);
	json_put_real(j, "wall_max_seconds", r->wall_max_s);
	json_put_real(j, "wall_seconds", r->wall_s);
	json_put_real(j, "cpu_seconds", r->cpu_s);
	json_put_real(j, "cores_used", r->cores);
	json_put_real(j, "cores_used_max", r->cores_max);
	json_put_real(j, "peak_memory_bytes", r->peak_bytes);
	json_put_int(j, "tasks_with_peak_memory", r->peaks);
	json_put_real(j, "read_bytes", r->read_bytes);
	json_put_real(j, "written_bytes", r->written_bytes);
	json_put_real(j, "gpu_memory_bytes", r->gpu_bytes);
	json_put_int(j, "gpus", r->gpus);
	process_json(j, "longest", s, r->longest);
	process_json(j, "largest", s, r->largest);
	paste_json(j, of, r);
	json_object_end(j);
}

void pipelines_json(struct bytes *b, const struct pipelines *p, const struct summary *s)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/pipelines/1");
	json_put_text(&j, "recording", s->path);
	json_put_real(&j, "processes_known_ratio",
		      s->processes_started > 0 ? s->nprocesses / s->processes_started : NAN);
	json_put_int(&j, "processes_without_parent", p->strays);
	json_put_real(&j, "processes_without_parent_cpu_seconds", p->strays_cpu_s);
	json_key(&j, "pipelines");
	json_array(&j);
	for (uint32_t i = 0; i < p->n; i++) {
		json_object(&j);
		json_put_text(&j, "tool", p->of[i].tool->name);
		json_put_text(&j, "label", p->of[i].tool->label);
		json_put_int(&j, "tasks", p->of[i].ntasks);
		json_put_bool(&j, "names_missing", p->of[i].nameless);
		paste_json(&j, &p->of[i], NULL);
		json_key(&j, "rules");
		json_array(&j);
		for (uint32_t k = 0; k < p->of[i].nrules; k++)
			rule_json(&j, &p->of[i], &p->of[i].rule[k], s);
		json_array_end(&j);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	bytes_puts(b, "\n");
}

/* ---- the manual ---- */

static const char opening[] =
	"# Pipelines\n\n"
	"    sonde show --pipelines DIR          # tasks of Snakemake, Nextflow, make and others, by rule\n"
	"    sonde show --pipelines --json DIR   # the same for programs (schema/pipelines.json)\n\n"
	"A task is a process that a workflow tool started, with everything that this one started. For each rule, the table has:\n\n"
	"- **tasks**, the **median** and the **longest** wall time;\n"
	"- **peak memory** of the task that had most: the peaks (RSS) of its processes that ran at the same time, added up. What "
	"they share counts several times. A process that ends before a sample has no peak. `>=`: in some task, such a process ran for more than a tenth of it, so that the peak may be "
	"larger; `-`: no process was sampled;\n"
	"- **cores**: CPU time divided by wall time; **read** and **written**: what went through read and write calls; GPU memory, "
	"if a task was seen on a GPU.\n\n"
	"Below the table are lines to paste, in the tool's own words: 1.2 times the peak memory (at least 100 MB), 1.5 times the longest time, and as many cores "
	"as the busiest task used. What is not known is left out. The report page and `show --markdown` have the same tables; the first page of the PDF has their first rows.\n\n"
	"# Names\n\n"
	"- Snakemake: the rule, from the command line of a job script or of a rule with `run:`, else from `.snakemake/metadata` in the "
	"folder where the job was started.\n"
	"- Nextflow: the process, from the first lines of `.command.run` in the task's work folder, where a sample saw the task.\n"
	"- make and Ninja do not say the target in a command line. What a task writes is there: `-o FILE`, `> FILE`, `ar rcs FILE` and the like, "
	"of the task or of what it started. Such a task is `app: cc`; several files of a program that end alike are one rule, `*.o: cc`. "
	"Files in `/tmp`, and of unknown programs those without `.` and `/`, are not taken. A command line is cut after 256 bytes: what is behind is not seen.\n"
	"- The others, and those of GNU parallel, xargs and CWL, have the name of their program. Of a shell, it is the first program that it runs, "
	"without `mkdir`, `cd` and the like.\n\n"
	"Sonde reads those files when it shows the recording. If they are not there any more, tasks have the name of their program, and a line says so. "
	"Use a shorter interval (`sonde run -i 200ms`) for tasks of less than a few seconds.\n\n";

static const char how_to_write[] =
	"# How a tool is written\n\n"
	"Tools are data, in the files of `pipelines/`. `sonde show --pipeline-rules FILE`, or a folder with files NAME.pipelines, adds "
	"those of your site: a tool there replaces the built-in one of its name.\n\n"
	"    tool: mytool\n"
	"    label: My Tool\n"
	"    about: One sentence.\n"
	"    driver: * mytool\n"
	"    skip: helper git*\n"
	"    task: */mytool-job *--step {rule} *\n"
	"    paste: |step {rule}: cpus={cpus}\n\n"
	"- `driver`: the name of processes (`python3 mytool`) whose children are tasks, without those named in `skip`. A driver within a driver, "
	"as in a recursive make, is none of its tasks. `skip-short`: likewise, of processes that ended before a sample of their own program.\n"
	"- `task`: the command line of a process that is a task, with or without a driver. `rule`: the command line of a driver's child that says its "
	"name.\n"
	"- `{rule}` is the name: letters, digits and `_ . - :`, as few as possible; before `*` and at the end, as many as possible. `*` is any text, "
	"`?` any character, `[abc]` one of these.\n"
	"- `file`, `beside`, `line`: a word of a command line, such as `*/.command.sh`; the file in its folder to read instead; a line among "
	"its first 4 KiB that says the name. `records: snakemake`: look in `.snakemake/metadata`.\n"
	"- `output`: words of a command line behind which a file stands that the task writes; one that ends in `=` is followed by it at once, and `>` is the shell's. "
	"`builds`: programs whose file may have any name.\n"
	"- `paste`: a line for each rule, behind `|`; `paste-all`: a line for all tasks. `{cpus}`, `{memory_mb}`, `{memory_mib}`, `{minutes}`, `{gpus}`, and "
	"`{jobs}`: how many tasks the job's cores and memory have room for. A line with a value that is not known is left out. Rules with other "
	"characters in their names have none.\n\n"
	"All but `label`, `about`, `file`, `beside` and `records` may come several times. A command line has at most 256 bytes, with secrets masked.\n\n"
	"# The tools\n";

static void words_of(struct bytes *out, const char *what, const struct pipeline_words *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		bytes_printf(out, "%s`%s`", i ? ", " : what, w->word[i]);
	if (w->n)
		bytes_puts(out, "\n\n");
}

int pipelines_manual(struct bytes *out, struct err *e)
{
	struct pipeline_tools t = { 0 };
	int rc = pipeline_tools_add(&t, "pipelines", asset_pipelines,
				    (size_t)(asset_pipelines_end - asset_pipelines), e);

	bytes_puts(out, opening);
	bytes_puts(out, how_to_write);
	for (uint32_t i = 0; i < t.n && !rc; i++) {
		const struct pipeline_tool *x = &t.tool[i];

		bytes_printf(out, "\n## %s\n\n%s Tool `%s`.\n\n", x->label,
			     x->about ? x->about : "", x->name);
		words_of(out, "drivers ", &x->list[PIPELINE_DRIVER]);
		words_of(out, "tasks ", &x->list[PIPELINE_TASK]);
		words_of(out, "rules ", &x->list[PIPELINE_RULE]);
		words_of(out, "files behind ", &x->list[PIPELINE_OUTPUT]);
		words_of(out, "left out ", &x->list[PIPELINE_SKIP]);
		while (out->len > 1 && out->data[out->len - 2] == '\n')
			out->len--;
	}
	pipeline_tools_free(&t);
	if (!rc && out->failed)
		rc = err_set(e, -ENOMEM, "out of memory");
	return rc;
}
