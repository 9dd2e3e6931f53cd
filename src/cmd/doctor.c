/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/escape.h"
#include "base/json.h"
#include "cmd/command.h"
#include "cmd/say.h"
#include "core/finding.h"
#include "sampler/mechanism.h"
#include "source/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct doctor_options {
	bool json;
	const char *procfs, *sysfs;
};

static const struct option rows[] = {
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
	{ "doctor", "what can be measured here, and what would help" },
	{ "doctor --json", "the same for a script" },
};

enum { SLOTS = 1 << 18, EVENTS = 1 << 17, FINDINGS_MAX = 256, PATIENCE_S = 10 };

/* What was found, in the order shown. */
enum section { SOURCES, MECHANISMS, METRICS, SECTION_NUMBER_OF };
static const struct heading {
	const char *text, *key;
} headings[] = {
	[SOURCES] = { "Sources", "sources" },
	[MECHANISMS] = { "How processes are followed", "mechanisms" },
	[METRICS] = { "What the sources cannot give here", "metrics" },
};
_Static_assert(sizeof headings / sizeof headings[0] == SECTION_NUMBER_OF, "one for every section");

struct diagnosis {
	struct list {
		size_t n;
		struct finding row[FINDINGS_MAX];
	} section[SECTION_NUMBER_OF];
};

/* NULL when there is no room, which the tables do not need. */
static struct finding *add(struct list *l, const char *name, const char *what)
{
	struct finding *f = l->n < FINDINGS_MAX ? &l->row[l->n++] : NULL;

	if (f)
		*f = (struct finding){ .name = name, .what = what, .state = STATE_PRESENT };
	return f;
}

static void check_source(const struct source *k, const struct source_env *env, struct sample *s,
			 struct list *out)
{
	struct finding *f = add(out, k->name, k->what);
	void *state = calloc(1, k->size);
	struct err e = { "there is no memory" };
	int r = -ENOMEM;

	if (state && f) {
		r = k->open(state, env, s, &e);
		sample_begin(s, 0, 0);
		if (r == 0) {
			r = k->read(state, s);
			k->close(state);
			err_set(&e, r, "its files cannot be read, or are not as expected: %s",
				strerror(-r));
		}
	}
	free(state);
	if (!f || r == 0)
		return;
	f->state = state_of(r);
	snprintf(f->reason, sizeof f->reason, "%.255s", e.text);
	f->fix_user = k->fix_user;
	if (f->state != STATE_FAILED)
		f->fix_admin = k->fix_admin;
}

static const struct metric *metric_of(const struct sample *s, uint32_t series)
{
	for (uint32_t i = 0; i < s->nevents; i++) {
		const struct event *e = &s->event[i];

		if (e->kind == EVENT_SERIES && series - e->id < e->count)
			return &e->metric[series - e->id];
	}
	return NULL;
}

/* Each refused metric once, however many instances it was refused for. */
static void collect_refused(const struct sample *s, struct list *out)
{
	for (uint32_t i = 0; i < s->nevents; i++) {
		const struct event *e = &s->event[i];
		const struct metric *m = e->kind == EVENT_STATE ? metric_of(s, e->id) : NULL;
		struct finding *f;
		size_t k = 0;

		if (!m || e->state == STATE_PRESENT)
			continue;
		while (k < out->n &&
		       (out->row[k].name != m->name || strcmp(out->row[k].reason, e->text)))
			k++;
		f = k < out->n ? NULL : add(out, m->name, m->label);
		if (!f)
			continue;
		f->state = e->state;
		snprintf(f->reason, sizeof f->reason, "%s", e->text);
	}
}

static int examine(const struct doctor_options *o, struct diagnosis *d, struct err *e)
{
	struct source_env env = { .interval_ns = NS_PER_S, .patience_ns = PATIENCE_S * NS_PER_S };
	struct list *mechanisms = &d->section[MECHANISMS];
	struct sample s;
	int r = root_open(&env.proc, o->procfs);

	if (r < 0)
		return err_set(e, r, "%s: %s; give a directory", o->procfs, strerror(-r));
	r = root_open(&env.sys, o->sysfs);
	if (r < 0)
		err_set(e, r, "%s: %s; give a directory", o->sysfs, strerror(-r));
	else if ((r = sample_init(&s, SLOTS, EVENTS)) < 0)
		err_set(e, r, "there is no memory for a sample");
	for (size_t i = 0; r == 0 && i < nsources; i++)
		if (sources[i]->open)
			check_source(sources[i], &env, &s, &d->section[SOURCES]);
	if (r == 0) {
		mechanisms->n = mechanism_check(&env.proc, mechanisms->row);
		collect_refused(&s, &d->section[METRICS]);
		sample_free(&s);
	}
	root_close(&env.sys);
	root_close(&env.proc);
	return r;
}

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

static void write_text(struct bytes *b, const struct diagnosis *d)
{
	for (int i = 0; i < SECTION_NUMBER_OF; i++) {
		const struct list *l = &d->section[i];

		if (!l->n)
			continue;
		bytes_printf(b, "%s%s\n", i ? "\n" : "", headings[i].text);
		for (const struct finding *f = l->row; f < l->row + l->n; f++) {
			bytes_printf(b, "  %-11s  %s: ", state_word(f->state), f->name);
			text_line(b, "", f->what);
			text_line(b, "               why: ", f->reason);
			text_line(b, "               you can: ", f->fix_user);
			text_line(b, "               an administrator can: ", f->fix_admin);
		}
	}
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
	for (int i = 0; i < SECTION_NUMBER_OF; i++) {
		const struct list *l = &d->section[i];

		json_key(&j, headings[i].key);
		json_array(&j);
		for (const struct finding *f = l->row; f < l->row + l->n; f++) {
			json_object(&j);
			json_pair(&j, "name", f->name);
			json_pair(&j, "what", f->what);
			json_pair(&j, "state", state_word(f->state));
			json_pair(&j, "reason", *f->reason ? f->reason : NULL);
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
	for (int i = 0; i < SECTION_NUMBER_OF; i++)
		for (size_t k = 0; k < d->section[i].n; k++)
			if (d->section[i].row[k].state == STATE_FAILED)
				return true;
	return false;
}

static int print(const struct diagnosis *d, bool json)
{
	struct bytes b = { 0 };
	bool written;

	if (json)
		write_json(&b, d);
	else
		write_text(&b, d);
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
		say("doctor: '%s' is too much; it takes no operands", operands[0]);
		return EXIT_USAGE;
	}
	d = calloc(1, sizeof *d);
	if (d && examine(o, d, &e) == 0)
		code = print(d, o->json);
	else
		say("doctor: %s", e.text);
	free(d);
	return code;
}

const struct command command_doctor = {
	.name = "doctor",
	.operands = "",
	.what = "Say what can be measured here, and what would help",
	.description =
		"Opens every source once, as `sonde run` would, tries the ways in which processes "
		"are followed, and says of each whether it is available, unsupported (this machine "
		"has no such thing), forbidden (it is there and you may not read it) or failed (it "
		"should have worked), with the reason and with what you or an administrator can "
		"do.\n\n"
		"Exit code 1 means that something failed; what is unsupported or forbidden is no "
		"failure.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct doctor_options),
	COMMAND_EXAMPLES(examples),
	.exec = doctor_exec,
};
