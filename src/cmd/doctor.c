/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "console/command.h"
#include "sampler/diagnosis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct doctor_options {
	bool json, metrics;
	const char *procfs, *sysfs;
};

static const struct option rows[] = {
	{ .name = "metrics",
	  .help = "List every metric, not only the missing ones.",
	  OPTION_OFFSET(struct doctor_options, metrics) },
	{ .name = "json",
	  .help = "Print the findings as JSON, schema sonde/doctor/1.",
	  OPTION_OFFSET(struct doctor_options, json) },
	{ .name = "procfs",
	  .value = "DIR",
	  .type = ARG_TEXT,
	  .fallback = "/proc",
	  .help = "Read DIR instead of /proc.",
	  OPTION_OFFSET(struct doctor_options, procfs) },
	{ .name = "sysfs",
	  .value = "DIR",
	  .type = ARG_TEXT,
	  .fallback = "/sys",
	  .help = "Read DIR instead of /sys.",
	  OPTION_OFFSET(struct doctor_options, sysfs) },
};

static const struct example examples[] = {
	{ "doctor", "what can be measured here, and how to enable the rest" },
	{ "doctor --metrics", "the same for every metric" },
	{ "doctor --json", "everything, for a script" },
};

static const struct heading {
	const char *text, *key;
} headings[] = {
	[DIAGNOSIS_BATCH] = { "Batch job", "batch" },
	[DIAGNOSIS_SOURCES] = { "Sources", "sources" },
	[DIAGNOSIS_MECHANISMS] = { "Detection of process starts and exits", "mechanisms" },
	[DIAGNOSIS_METRICS] = { "Metrics", "metrics" },
};
_Static_assert(sizeof headings / sizeof headings[0] == DIAGNOSIS_SECTIONS, "one for every section");

static const char *state_word(enum state s)
{
	return s == STATE_PRESENT ? "available" : state_name(s);
}

static void text_line(struct bytes *b, const char *before, const char *text)
{
	if (!text || !*text)
		return;
	bytes_puts(b, before);
	escape_terminal(b, text);
	bytes_puts(b, "\n");
}

static void write_reasons(struct bytes *b, const struct finding *f)
{
	text_line(b, "               note: ", f->note);
	text_line(b, "               why: ", f->reason);
	text_line(b, "               you can: ", f->fix_user);
	text_line(b, "               an administrator can: ", f->fix_admin);
}

static void write_finding(struct bytes *b, const struct finding *f)
{
	bytes_printf(b, "  %-11s  %s: ", state_word(f->state), f->name);
	text_line(b, "", f->what);
	write_reasons(b, f);
}

/* What is missing because its whole source is has been said there. */
static bool is_of_interest(const struct diagnosis *d, const struct finding *f)
{
	const struct diagnosis_list *sources = &d->section[DIAGNOSIS_SOURCES];

	if (f->state == STATE_PRESENT || f->state == STATE_ABSENT)
		return false;
	for (size_t i = 0; i < sources->n; i++)
		if (sources->row[i].state == f->state && *sources->row[i].reason &&
		    strstr(f->reason, sources->row[i].reason))
			return false;
	return true;
}

static bool is_alike(const struct finding *a, const struct finding *b)
{
	return a->state == b->state && strcmp(a->reason, b->reason) == 0;
}

/* The next from i on that is of interest and like f; NULL f: like none before it. */
static size_t next_missing(const struct diagnosis *d, size_t i, const struct finding *f)
{
	const struct diagnosis_list *l = &d->section[DIAGNOSIS_METRICS];

	for (; i < l->n; i++) {
		size_t before = 0;

		if ((f && !is_alike(f, &l->row[i])) || !is_of_interest(d, &l->row[i]))
			continue;
		while (!f && before < i && !is_alike(&l->row[before], &l->row[i]))
			before++;
		if (f || before == i)
			break;
	}
	return i;
}

/* All that are missing for one reason: their names, in lines of 80 columns. */
static void write_alike(struct bytes *b, const struct diagnosis *d, size_t first)
{
	enum { COLUMNS = 80, MARGIN = 15 };
	const struct diagnosis_list *l = &d->section[DIAGNOSIS_METRICS];
	const struct finding *f = &l->row[first];
	size_t next = next_missing(d, first + 1, f), at = MARGIN + strlen(f->name);

	if (next == l->n) {
		write_finding(b, f);
		return;
	}
	bytes_printf(b, "  %-11s  %s", state_word(f->state), f->name);
	for (; next < l->n; next = next_missing(d, next + 1, f)) {
		const char *name = l->row[next].name;
		bool fits = at + strlen(name) + 3 <= COLUMNS;

		bytes_printf(b, fits ? ", %s" : ",\n               %s", name);
		at = strlen(name) + (fits ? at + 2 : MARGIN);
	}
	bytes_puts(b, "\n");
	write_reasons(b, f);
}

static void write_missing(struct bytes *b, const struct diagnosis *d)
{
	const struct diagnosis_list *l = &d->section[DIAGNOSIS_METRICS];
	size_t i = next_missing(d, 0, NULL);

	bytes_puts(b, i < l->n ? "Unavailable metrics of the sources\n" : "");
	for (; i < l->n; i = next_missing(d, i + 1, NULL))
		write_alike(b, d, i);
}

static void write_metrics(struct bytes *b, const struct diagnosis *d, bool all)
{
	const struct diagnosis_list *l = &d->section[DIAGNOSIS_METRICS];
	size_t available = 0;

	for (size_t i = 0; i < l->n; i++)
		available += l->row[i].state == STATE_PRESENT;
	bytes_printf(b, "%zu of %zu are available%s\n", available, l->n,
		     all ? "" : "; --metrics lists them");
	if (!all)
		write_missing(b, d);
	for (size_t i = 0; all && i < l->n; i++)
		write_finding(b, &l->row[i]);
}

static void write_text(struct bytes *b, const struct diagnosis *d, bool all_metrics)
{
	for (int i = 0; i < DIAGNOSIS_SECTIONS; i++) {
		const struct diagnosis_list *l = &d->section[i];

		if (!l->n)
			continue;
		bytes_printf(b, "%s%s%s", i ? "\n" : "", headings[i].text,
			     i == DIAGNOSIS_METRICS ? ": " : "\n");
		for (size_t k = 0; i != DIAGNOSIS_METRICS && k < l->n; k++)
			write_finding(b, &l->row[k]);
	}
	write_metrics(b, d, all_metrics);
}

static void json_pair(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_text(j, text);
}

static void write_json(struct bytes *b, const struct diagnosis *d)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_pair(&j, "schema", "sonde/doctor/1");
	for (int i = 0; i < DIAGNOSIS_SECTIONS; i++) {
		const struct diagnosis_list *l = &d->section[i];

		json_key(&j, headings[i].key);
		json_array(&j);
		for (const struct finding *f = l->row; f < l->row + l->n; f++) {
			json_object(&j);
			json_pair(&j, "name", f->name);
			json_pair(&j, "what", f->what);
			json_pair(&j, "state", state_word(f->state));
			json_pair(&j, "reason", *f->reason ? f->reason : NULL);
			json_pair(&j, "note", *f->note ? f->note : NULL);
			json_pair(&j, "fix_user", f->fix_user);
			json_pair(&j, "fix_admin", f->fix_admin);
			json_object_end(&j);
		}
		json_array_end(&j);
	}
	json_object_end(&j);
	bytes_puts(b, "\n");
}

static bool has_failed(const struct diagnosis *d)
{
	for (int i = 0; i < DIAGNOSIS_SECTIONS; i++)
		for (size_t k = 0; k < d->section[i].n; k++)
			if (d->section[i].row[k].state == STATE_FAILED)
				return true;
	return false;
}

static int print(const struct diagnosis *d, const struct doctor_options *o)
{
	struct bytes b = { 0 };
	bool written;

	if (o->json)
		write_json(&b, d);
	else
		write_text(&b, d, o->metrics);
	written = !b.failed && fwrite(b.data, 1, b.len, stdout) == b.len && !fflush(stdout);
	bytes_free(&b);
	if (written)
		return has_failed(d) ? EXIT_FAILED : EXIT_OK;
	say("doctor: cannot write the findings to standard output");
	return EXIT_FAILED;
}

static int doctor_exec(const void *options, int noperands, char **operands)
{
	const struct doctor_options *o = options;
	struct diagnosis *d;
	struct err e = { "there is no memory" };
	int code = EXIT_FAILED;

	if (noperands) {
		say("doctor: unexpected argument '%s'; it takes no operands", operands[0]);
		return EXIT_USAGE;
	}
	d = calloc(1, sizeof *d);
	if (d && diagnosis_make(d, o->procfs, o->sysfs, &e) == 0)
		code = print(d, o);
	else
		say("doctor: %s", e.text);
	free(d);
	return code;
}

const struct command command_doctor = {
	.name = "doctor",
	.operands = "",
	.what = "Show what can be measured here, and how to enable the rest",
	.description =
		"Shows the current batch job, opens every source once, as `sonde run` does, and "
		"tries each way to detect process starts and exits. For each it prints a state: "
		"available; unsupported (this machine does not have it); forbidden (it exists, "
		"but you may not read it); or failed (it should have worked), with the reason and "
		"with what you or an administrator can do. A metric may also be absent: there is "
		"currently no device for it, such as a disk. Each recording stores what was "
		"missing and why: see findings in `sonde show --json`.\n\n"
		"Exit code 1 means that something failed; unsupported and forbidden sources do "
		"not count as failures.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct doctor_options),
	COMMAND_EXAMPLES(examples),
	.exec = doctor_exec,
};
