/* SPDX-License-Identifier: Apache-2.0 */
/* rules_markdown.c - docs/verdicts.md, from the rules and the tables that judge them. */
#include "report/rule.h"
#include "report/rules.h"
#include "report/variables.h"

#include <errno.h>

static const char opening[] =
	"# Verdicts\n\n"
	"Every summary opens with sentences, worst first: what went wrong, what was asked for "
	"and not used,\n"
	"what the job waited for. Each comes from a rule, and rules are data: this page is made "
	"from them.\n"
	"`sonde show --rules FILE` judges by a site's own rules too; a rule there replaces the "
	"built-in one of\n"
	"its name. A rule without enough data says nothing, and one whose figures are missing "
	"says so.\n\n"
	"# How a rule is written\n\n"
	"    rule: cores-unused\n"
	"    about: What it looks for, in one sentence.\n"
	"    enough: samples >= 10 and wall_seconds >= 5\n"
	"    needs: cores_asked mean(job.cpu_cores)\n"
	"    when: mean(job.cpu_cores) < 50% * cores_asked\n"
	"    severity: warn\n"
	"    say: {cores_asked:number} cores were asked for,\n"
	"      {mean(job.cpu_cores):cores} were used.\n"
	"    cannot: Cannot tell whether the cores were used, because nobody said how many.\n"
	"    proof: job.cpu_cores\n"
	"    threshold: 50% * cores_asked\n"
	"    from: idle_head_seconds\n"
	"    to: wall_seconds\n\n"
	"An indented line continues the one before it; a line that begins with `#` is a "
	"comment.\n"
	"`about`, `when`, `severity` and `say` must be there. The order of judging:\n\n"
	"1. When `enough` does not hold, the rule is silent.\n"
	"2. When something that it `needs`, or `when` itself, is not known, it says `cannot`, "
	"or nothing.\n"
	"3. When `when` holds, it says `say`.\n\n"
	"`severity` is one of bad, warn, cannot-tell, note, good. `{expression:unit}` in a "
	"sentence is a number\n"
	"with its unit (bytes, seconds, cores, ratio, count, bytes_per_second ...); `whole` "
	"rounds it up, `number`\n"
	"leaves it as it is, `signal` names a signal. `proof` names the metric to look at, "
	"between the seconds\n"
	"`from` and `to` (else the whole run), against `threshold`.\n\n"
	"Expressions have numbers (with k M G Ki Mi Gi %), names, `+ - * /`, comparisons, `and "
	"or not`,\n"
	"`if(c, a, b)`, `min`, `max`, `abs` and `known(x)`. What is not known makes what it "
	"touches unknown.\n";

static void write_expr(FILE *out, const char *key, const struct rule_expr *x)
{
	if (x->source)
		fprintf(out, "- %s: `%s`\n", key, x->source);
}

static void write_rule(FILE *out, const struct rule *r)
{
	fprintf(out, "\n## `%s` (%s)\n\n%s\n\n", r->name, severity_name(r->severity), r->about);
	fprintf(out, "> %s\n\n", r->say.source);
	write_expr(out, "when", &r->when);
	write_expr(out, "enough", &r->enough);
	for (size_t i = 0; i < r->nneeds; i++)
		fprintf(out, "%s`%s`%s", i ? ", " : "- needs: ", r->needs[i].source,
			i + 1 == r->nneeds ? "\n" : "");
	if (r->proof)
		fprintf(out, "- proof: `%s`\n", r->proof);
	write_expr(out, "threshold", &r->threshold);
	if (r->cannot.source)
		fprintf(out, "- else: %s\n", r->cannot.source);
}

int rules_markdown(FILE *out, struct err *e)
{
	struct rules *rules;
	int rc = rules_builtin(&rules, e);

	if (rc)
		return rc;
	fputs(opening, out);
	fputs("\n# Figures\n\n| name | unit | what |\n|---|---|---|\n", out);
	for (size_t i = 0; i < nvariables; i++)
		fprintf(out, "| `%s` | %s | %s |\n", variables[i].name,
			unit_name(variables[i].unit), variables[i].help);
	fputs("\n# Functions of a metric\n\n| name | what |\n|---|---|\n", out);
	for (size_t i = 0; i < nvariable_functions; i++)
		fprintf(out, "| `%s(metric)` | %s |\n", variable_functions[i].name,
			variable_functions[i].help);
	fputs("\n# The built-in rules\n", out);
	for (size_t i = 0; i < rules->n; i++)
		write_rule(out, &rules->rule[i]);
	rules_free(rules);
	return ferror(out) ? err_set(e, -EIO, "cannot write the verdicts") : 0;
}
