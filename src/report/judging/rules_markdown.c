/* SPDX-License-Identifier: Apache-2.0 */
/* rules_markdown.c - docs/verdicts.md, from the rules and the tables that judge them. */
#include "report/judging/rule.h"
#include "report/judging/rules.h"
#include "report/judging/variables.h"

#include <errno.h>
#include <string.h>

static const char opening[] =
	"# Verdicts\n"
	"\n"
	"Every summary opens with verdicts, the worst and most expensive first: what went "
	"wrong, what was requested and not\n"
	"used, what the job waited for. Each verdict comes from a rule, and rules are data: "
	"this page is made from them.\n"
	"`sonde show --rules FILE`, or `--rules DIR` with files NAME.rules, judges by a "
	"site's own rules too; a\n"
	"rule there replaces the built-in one of its name. `sonde report` takes it, too.\n"
	"A rule without enough data stays silent; one whose figures are missing reports that.\n"
	"\n"
	"# How a rule is written\n"
	"\n"
	"    rule: cores-unused\n"
	"    about: What it looks for, in one sentence.\n"
	"    enough: samples >= 10 and wall_seconds >= 5\n"
	"    needs: cores_asked mean(job.cpu_cores)\n"
	"    when: mean(job.cpu_cores) < 50% * cores_asked\n"
	"    severity: warn\n"
	"    confidence: high\n"
	"    say: {cores_asked:number} cores requested,\n"
	"      {mean(job.cpu_cores):cores} were used.\n"
	"    cannot: Cannot tell whether the cores were used, because none were requested.\n"
	"    proof: job.cpu_cores\n"
	"    threshold: 50% * cores_asked\n"
	"    during: below\n"
	"    request: cores max(1, cores_used_peak)\n"
	"    margin: 20%\n"
	"    cost: wall_seconds * (1 - mean(job.cpu_cores) / cores_asked)\n"
	"    excludes: single-core cores-used\n"
	"    yields: throttled-cgroup\n"
	"\n"
	"An indented line continues the one before it; a line that begins with `#` is a "
	"comment.\n"
	"`about`, `when`, `severity` and `say` must be there. The order of judging:\n"
	"\n"
	"1. If `enough` is false, the rule is silent.\n"
	"2. If a figure of `needs`, or `when` itself, is unknown, it prints `cannot`, or "
	"nothing.\n"
	"3. If `when` is true, it prints `say`; or `briefly`, if there is one and a verdict before it\n"
	"   names what used the CPU time (`{hot_process:text}`).\n"
	"\n"
	"`severity` is one of bad, warn, cannot-tell, note, good; `confidence` of low, "
	"medium (the default),\n"
	"high. `{expression:unit}` in a sentence is a number with its unit (bytes, seconds, "
	"cores, ratio, count,\n"
	"bytes_per_second ...); `whole` rounds it up, `tenths` to one decimal, `number` "
	"leaves it as it is, `signal`\n"
	"names a signal; `{name:text}` is one of the names below.\n"
	"\n"
	"`proof` names the metric that shows it, or a text below that names one, with its "
	"`threshold`. The interval is\n"
	"`from` to `to`, in seconds; with `during: above` or `below`, from the first to the "
	"last time that the metric\n"
	"was on that side of the threshold; else the whole run. `where: most` (or `least`) "
	"names the node or device with\n"
	"most (or least) of it.\n"
	"\n";

/* The same, from what a verdict asks for on: C has a limit for one text. */
static const char opening_rest[] =
	"`request` is what to request next time: cores, memory (bytes) or gpus of each node, "
	"or time (seconds), and\n"
	"how much; `margin` is added. It becomes a line for the job script of Slurm, PBS, "
	"Torque or OAR;\n"
	"OAR itself has no request for memory (sites use their own properties, `-p`), so "
	"there is no such line.\n"
	"If several rules request the same resource, the worst one counts.\n"
	"`cost` is an upper bound of the wall time lost, in seconds. The verdict ends with "
	"it if that is 1 % or more of the run without the time that others took; a\n"
	"warning that costs less than 5 % becomes a note. Verdicts are shown by severity, "
	"then by cost as a\n"
	"share of the time that others left the job (`part-of: own`), or of the whole run "
	"(`part-of: run`: what others took).\n"
	"Notes of `theme: energy and the monitor` come last, behind praise: they are not about the job.\n"
	"`weight` orders a verdict in its place where the cost is not known, and is not printed: "
	"seconds of the run that the\n"
	"verdict is about.\n"
	"`excludes` names the rules that this one silences, so that no two verdicts "
	"contradict each other; of two that\n"
	"exclude each other the first one wins. A rule that costs less than a quarter of another's "
	"cost silences it only if that\n"
	"other one costs less than a quarter of the run, and comes before it only then. Praise does not stand beside a warning that costs "
	"a twentieth of the run\n"
	"or more. `yields` names rules that come before this "
	"one though they may cost less: they\n"
	"name the cause.\n"
	"`theme: WORDS` before rules is their subject. Where a launcher of ranks was "
	"recorded and not the ranks,\n"
	"only those of `theme: how it ended` are judged.\n"
	"\n"
	"What a failed job printed last is searched for the line that tells the reason. Kinds of "
	"errors are data, too, at the end\n"
	"of this page: `error: NAME`, the `words` by which a line is known (separated by `|`; with a "
	"capital letter they match\n"
	"exactly, else in any case) and the `advice`. `error(NAME)` asks for one in a rule. A "
	"site's kinds are asked first.\n"
	"\n"
	"Expressions have numbers (with k M G Ki Mi Gi %), names, `+ - * /`, comparisons, "
	"`and or not`,\n"
	"`if(c, a, b)`, `min`, `max`, `abs` and `known(x)`. An unknown operand "
	"makes the result unknown, unless `and`, `or`\n"
	"or `if` is decided without it.\n";

static void write_expr(FILE *out, const char *key, const struct rule_expr *x)
{
	if (x->source)
		fprintf(out, "- %s: `%s`\n", key, x->source);
}

static void write_rule(FILE *out, const struct rule *r)
{
	fprintf(out, "\n## `%s` (%s, confidence %s)\n\n%s\n\n", r->name, severity_name(r->severity),
		confidence_name(r->confidence), r->about);
	fprintf(out, "> %s\n\n", r->say.source);
	write_expr(out, "when", &r->when);
	write_expr(out, "enough", &r->enough);
	for (size_t i = 0; i < r->nneeds; i++)
		fprintf(out, "%s`%s`%s", i ? ", " : "- needs: ", r->needs[i].source,
			i + 1 == r->nneeds ? "\n" : "");
	if (r->proof)
		fprintf(out, "- proof: `%s`\n", r->proof);
	write_expr(out, "threshold", &r->threshold);
	if (r->during)
		fprintf(out, "- time: while it was %s that\n",
			r->during == DURING_ABOVE ? "above" : "below");
	write_expr(out, "from", &r->from);
	write_expr(out, "to", &r->to);
	write_expr(out, "cost", &r->cost);
	write_expr(out, "weight", &r->weight);
	if (r->excludes)
		fprintf(out, "- excludes:%.*s\n", (int)strlen(r->excludes) - 1, r->excludes);
	if (r->yields)
		fprintf(out, "- yields to:%.*s\n", (int)strlen(r->yields) - 1, r->yields);
	if (r->resource)
		fprintf(out, "- requests next time: %s `%s`, margin `%s`\n",
			resource_name(r->resource), r->request.source,
			r->margin.source ? r->margin.source : "0");
	if (r->briefly.source)
		fprintf(out, "- briefly: %s\n", r->briefly.source);
	if (r->cannot.source)
		fprintf(out, "- else: %s\n", r->cannot.source);
}

/* A bar would end a cell, and a backtick begin code. */
static void write_words(FILE *out, const char *words)
{
	for (; *words; words++)
		fprintf(out, "%s%c", strchr("|`", *words) ? "\\" : "", *words);
}

static void write_errors(FILE *out, const struct rules *rules)
{
	fputs("\n# Kinds of errors\n\nThe first whose words are in the line counts.\n\n"
	      "| kind | words | advice |\n|---|---|---|\n",
	      out);
	for (size_t i = 0; i < rules->nerrors; i++) {
		fprintf(out, "| `%s` | ", rules->error[i].name);
		write_words(out, rules->error[i].words);
		fprintf(out, " | %s |\n", rules->error[i].advice);
	}
}

int rules_markdown(FILE *out, struct err *e)
{
	struct rules *rules;
	int rc = rules_builtin(&rules, e);

	if (rc)
		return rc;
	fputs(opening, out);
	fputs(opening_rest, out);
	fputs("\n# Figures\n\n| name | unit | what |\n|---|---|---|\n", out);
	for (size_t i = 0; i < nvariables; i++)
		fprintf(out, "| `%s` | %s | %s |\n", variables[i].name,
			unit_name(variables[i].unit), variables[i].help);
	fputs("\n# Functions of a metric\n\n| name | what |\n|---|---|\n", out);
	for (size_t i = 0; i < nvariable_functions; i++)
		fprintf(out, "| `%s(metric)` | %s |\n", variable_functions[i].name,
			variable_functions[i].help);
	fputs("\n# Names\n\nWhat a verdict may contain as `{name:text}`.\n\n| name | what |\n|---|---|\n",
	      out);
	for (size_t i = 0; i < ntext_variables; i++)
		fprintf(out, "| `%s` | %s |\n", text_variables[i].name, text_variables[i].help);
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *r = &rules->rule[i];

		if (r->theme && (i == 0 || !rules->rule[i - 1].theme ||
				 strcmp(r->theme, rules->rule[i - 1].theme) != 0))
			fprintf(out, "\n# Rules: %s\n", r->theme);
		write_rule(out, r);
	}
	write_errors(out, rules);
	rules_free(rules);
	return ferror(out) ? err_set(e, -EIO, "cannot write the verdicts") : 0;
}
