/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/lockfile.h"

#include "base/text/decimal.h"
#include "base/text/json.h"
#include "base/text/jsontree.h"
#include "base/text/textfile.h"
#include "bench/trial.h"
#include "console/command.h"
#include "output/outfile.h"
#include "session/history.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOCK_BYTES = 4 << 20, FINGERPRINT_BYTES = 200 };

static const char *fact_of(const struct push_list *facts, const char *name)
{
	for (uint32_t i = 0; facts && i < facts->n; i++)
		if (!strcmp(facts->v[i].name, name))
			return facts->v[i].text;
	return NULL;
}

/* A user of ssh, which needs one, is no secret by itself: "git+ssh://git@host/". */
static bool is_plain_ssh(const char *line, const char *address, const char *who, size_t n)
{
	return address - line >= 3 && !memcmp(address - 3, "ssh", 3) && !memchr(who, ':', n);
}

/* "https://anna:secret@host/": without who. */
static void put_line(struct bytes *out, const char *line, size_t n)
{
	const char *end = line + n, *at = line;

	while (at < end) {
		const char *address = memmem(at, (size_t)(end - at), "://", 3);
		const char *host = address ? address + 3 : end;
		size_t who = 0;

		bytes_put(out, at, (size_t)(host - at));
		while (host + who < end && !strchr("/@ \t\"", host[who]))
			who++;
		at = host;
		if (host + who < end && host[who] == '@' && !is_plain_ssh(line, address, host, who))
			at = host + who + 1;
	}
}

static bool is_option(const char *line, size_t n)
{
	static const char hash[] = "--hash";
	size_t blank = 0;

	while (blank < n && strchr(" \t", line[blank]))
		blank++;
	return blank < n && line[blank] == '-' &&
	       (n - blank < sizeof hash - 1 || memcmp(line + blank, hash, sizeof hash - 1) != 0);
}

static void put_text(struct bytes *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (!is_option(text, n)) {
			put_line(out, text, n);
			bytes_u8(out, '\n');
		}
		text += n + (text[n] == '\n');
	}
}

/* Is the virtual environment still the one that the trial ran in? */
static bool is_same(const char *directory, const char *fingerprint)
{
	char path[PATH_MAX + 32];
	struct bytes b = { 0 };
	struct err ignored;
	bool same;

	snprintf(path, sizeof path, "%s/sonde.fingerprint", directory);
	same = !textfile_read(path, "fingerprint", FINGERPRINT_BYTES, &b, &ignored) &&
	       b.len == strlen(fingerprint) && !memcmp(b.data, fingerprint, b.len);
	bytes_free(&b);
	return same;
}

/* Of the virtual environment of a stack: its interpreter is DIRECTORY/bin/python. */
static bool of_stack(struct bytes *out, const struct push_list *facts)
{
	const char *fingerprint = fact_of(facts, "stack.fingerprint");
	const char *python = fact_of(facts, "runtime.interpreter"), *bin;
	char directory[PATH_MAX], path[PATH_MAX + 32];
	struct bytes b = { 0 };
	struct err ignored;
	bool found;

	bin = python ? strstr(python, "/bin/") : NULL;
	for (const char *next = bin; next; next = strstr(next + 1, "/bin/"))
		bin = next;
	if (!fingerprint || !bin || (size_t)(bin - python) >= sizeof directory)
		return false;
	snprintf(directory, sizeof directory, "%.*s", (int)(bin - python), python);
	snprintf(path, sizeof path, "%s/requirements.lock", directory);
	found = is_same(directory, fingerprint) &&
		!textfile_read(path, "lock file", LOCK_BYTES, &b, &ignored) && b.len;
	bytes_u8(&b, 0);
	if (found && !b.failed)
		put_text(out, (const char *)b.data);
	bytes_free(&b);
	return found;
}

/* Of Amun: what pipenv locked. */
static bool of_specification(struct bytes *out, const char *specification)
{
	struct pool pool = { 0 };
	struct err ignored;
	const struct jsontree *v =
		specification ? jsontree_read(&pool, specification, strlen(specification), &ignored)
			      : NULL;
	const struct jsontree *lock =
		v ? jsontree_find(jsontree_find(v, "python"), "requirements_locked") : NULL;
	bool found = lock && lock->type == JSONDOC_OBJECT;
	struct bytes b = { 0 };
	struct json j = { .out = &b, .indent = true };

	if (found)
		jsontree_write(&j, lock);
	put_line(out, (const char *)b.data, b.len);
	out->failed |= b.failed;
	bytes_free(&b);
	pool_free(&pool);
	return found;
}

const char *lockfile_make(struct bytes *out, const struct push_list *facts,
			  const char *specification)
{
	if (of_stack(out, facts))
		return "requirements.lock";
	if (of_specification(out, specification))
		return "Pipfile.lock";
	for (uint32_t i = 0; facts && i < facts->n; i++)
		bench_requirement(out, facts->v[i].name, facts->v[i].text, "");
	return out->len ? "requirements.txt" : NULL;
}

#define VARIABLE "env."
#define MASKED   "***"

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a file of advice");
}

static const char *campaign_fact(const struct campaign *c, uint32_t trial, const char *name)
{
	return bench_environment_text(campaign_environment(c, trial), name);
}

/* ---- packages ---- */

/* "numpy==1.26.4", a line each behind indent. Returns how many. */
static uint32_t put_packages(struct bytes *out, const struct campaign *c, uint32_t trial,
			     const char *indent)
{
	const struct bench_environment *v = campaign_environment(c, trial);
	uint32_t n = 0;

	for (uint32_t i = 0; v && i < v->n; i++)
		n += bench_requirement(out, v->fact[i].name, v->fact[i].text, indent);
	return n;
}

int advicefile_lock(const char *path, const struct campaign *c, const struct advice *a,
		    struct err *e)
{
	const struct candidate *lead = a->candidate;
	struct bytes b = { 0 };
	int rc;

	if (!a->ntaken || (lead->standing != STANDING_LEADS))
		return err_set(e, -ENOENT, "no combination leads: there is nothing to lock");
	bytes_printf(&b, "# The packages of what leads by sonde bench advise (%s).\n",
		     advice_verdict_name(a->verdict));
	if (!put_packages(&b, c, lead->group->trial[0], ""))
		rc = err_set(e, -ENOENT, "the packages of what leads are not known");
	else
		rc = b.failed ? no_memory(e) : drawfile_save_path(path, &b, e);
	bytes_free(&b);
	return rc;
}

/* ---- what a sweep can run ---- */

static bool is_of(const char *text, const char *more)
{
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr(more, *p))
			return false;
	return *text;
}

/* Has the variable the parameter's value in each trial? */
static bool sets(const struct campaign *c, const struct advice *a, const char *variable,
		 const char *parameter)
{
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t k = 0; k < a->candidate[i].group->n; k++) {
			uint32_t trial = a->candidate[i].group->trial[k];
			const char *value = campaign_fact(c, trial, variable);
			const char *said = campaign_text(c, trial, parameter);

			if (said && (!value || !decimal_are_same(value, said)))
				return false;
		}
	return true;
}

/* The fact of the variable by which a parameter is set; NULL: there is none. */
static const char *variable_of(const struct campaign *c, const struct advice *a, uint32_t trial,
			       const char *parameter)
{
	const struct bench_environment *v = campaign_environment(c, trial);

	for (uint32_t i = 0; v && i < v->n; i++)
		if (!strncmp(v->fact[i].name, VARIABLE, strlen(VARIABLE)) &&
		    sets(c, a, v->fact[i].name, parameter))
			return v->fact[i].name;
	return NULL;
}

/* Is a word of the arguments the parameter's value? Then the variable alone does not set it. */
static bool is_argument(const char *arguments, const char *value)
{
	size_t n = strlen(value);

	for (const char *p = arguments; p && (p = strstr(p, value)); p++)
		if ((p == arguments || strchr(" =", p[-1])) && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

struct step {
	uint32_t trial;
	const char *variable; /* NULL: it repeats what was tried */
};

/* NULL, or why a sweep cannot run it. */
static const char *look_at(struct step *x, const struct campaign *c, const struct advice *a,
			   const struct advice_step *s)
{
	const char *arguments;
	const struct bench_environment *v;

	x->trial = a->candidate[s->candidate].group->trial[0];
	x->variable = NULL;
	v = campaign_environment(c, x->trial);
	arguments = campaign_fact(c, x->trial, "script.arguments");
	for (uint32_t i = 0; v && i < v->n; i++)
		if (!strncmp(v->fact[i].name, VARIABLE, strlen(VARIABLE)) &&
		    strstr(v->fact[i].text, MASKED))
			return "a variable of it is secret";
	if (arguments && !is_of(arguments, " ._+,:=/@%-"))
		return "its arguments need quotes";
	if (campaign_fact(c, x->trial, "stack.image") ||
	    campaign_fact(c, x->trial, "stack.module_1"))
		return "it ran in an image or with modules";
	if (!s->parameter)
		return NULL;
	x->variable = variable_of(c, a, x->trial, s->parameter);
	if (!x->variable)
		return "no variable is known by which the parameter is set";
	if (is_argument(arguments, campaign_text(c, x->trial, s->parameter)))
		return "an argument has the parameter's value, too";
	return NULL;
}

static bool has_same_fact(const struct campaign *c, uint32_t a, uint32_t b, const char *name)
{
	const char *x = campaign_fact(c, a, name), *y = campaign_fact(c, b, name);

	return x && y ? !strcmp(x, y) : x == y;
}

static bool is_same_version(const struct campaign *c, uint32_t a, uint32_t b)
{
	const char *x = c->g.row[a].version, *y = c->g.row[b].version;

	return x && y ? !strcmp(x, y) : x == y;
}

static void quote(struct bytes *out, const char *text)
{
	struct json j = { .out = out };

	json_text(&j, text);
}

static void put_environment(struct bytes *out, const struct campaign *c, const struct step *x,
			    const char *value, uint32_t number)
{
	const struct bench_environment *v = campaign_environment(c, x->trial);
	uint32_t n = 0;

	bytes_printf(out, "    - name: step-%u\n      environment: {", number);
	for (uint32_t i = 0; v && i < v->n; i++) {
		const char *name = v->fact[i].name;

		if (strncmp(name, VARIABLE, strlen(VARIABLE)) != 0)
			continue;
		bytes_puts(out, n++ ? ", " : "");
		quote(out, name + strlen(VARIABLE));
		bytes_puts(out, ": ");
		quote(out, x->variable && !strcmp(name, x->variable) ? value : v->fact[i].text);
	}
	bytes_puts(out, "}\n");
}

static void put_arguments(struct bytes *out, const char *arguments)
{
	if (!arguments)
		return;
	bytes_puts(out, "arguments: [");
	for (const char *at = arguments; *at;) {
		size_t n = strcspn(at, " ");

		bytes_printf(out, "%s\"%.*s\"", at == arguments ? "" : ", ", (int)n, at);
		at += n + strspn(at + n, " ");
	}
	bytes_puts(out, "]\n");
}

static int read_script(struct bytes *out, const char *store, int64_t batch, struct err *e)
{
	const struct history_options where = { .store = store };
	const struct field v = field_int(batch), *row = NULL;
	struct database *s = NULL;
	int rc = history_open(&s, &where, "bench advise", e);

	if (!rc)
		rc = database_first(s, "SELECT origin FROM batches WHERE id = $1", &v, 1, &row, e);
	if (rc > 0 && row && row[0].s)
		bytes_puts(out, row[0].s);
	bytes_u8(out, 0);
	database_close(s);
	if (rc >= 0 && !out->failed && access((const char *)out->data, X_OK))
		return err_set(e, -ENOENT,
			       "the script of what leads, '%.200s', is not a program on this "
			       "machine",
			       (const char *)out->data);
	return rc < 0 ? rc : out->failed ? no_memory(e) : 0;
}

struct steps {
	struct bytes environments;
	uint32_t n, repeats, first; /* first: a trial of the first one */
};

static void take_steps(struct steps *x, const struct campaign *c, const struct advice *a,
		       const char *path)
{
	for (uint32_t i = 0; i < a->nsteps; i++) {
		const struct advice_step *s = &a->step[i];
		struct step one;
		const char *why = look_at(&one, c, a, s);

		if (!why && x->n &&
		    (!has_same_fact(c, one.trial, x->first, "stack.fingerprint") ||
		     !has_same_fact(c, one.trial, x->first, "script.arguments") ||
		     !is_same_version(c, one.trial, x->first)))
			why = !has_same_fact(c, one.trial, x->first, "stack.fingerprint")
				      ? "its software differs from that of the step before"
				      : "its arguments or its script differ from those of the step before";
		if (why) {
			say("bench advise: not in %.200s: step %u: %s", path, i + 1, why);
			continue;
		}
		x->first = x->n ? x->first : one.trial;
		x->n++;
		x->repeats = s->repeats > x->repeats ? s->repeats : x->repeats;
		put_environment(&x->environments, c, &one, s->value, i + 1);
	}
	bytes_u8(&x->environments, 0);
}

static void put_spec(struct bytes *b, const struct campaign *c, const struct steps *x,
		     const char *script)
{
	bytes_puts(b, "# What to try next, by sonde bench advise: run it with sonde bench sweep.\n"
		      "# Each step has as many trials as the one that needs most.\n"
		      "script: ");
	quote(b, script);
	bytes_u8(b, '\n');
	put_arguments(b, campaign_fact(c, x->first, "script.arguments"));
	bytes_printf(b, "batch_size: %u\n", x->repeats);
	if (campaign_fact(c, x->first, "stack.fingerprint")) {
		bytes_puts(b, "python:\n  requirements_locked: |\n");
		put_packages(b, c, x->first, "    ");
	}
	bytes_printf(b, "matrix:\n  environments:\n%s", (const char *)x->environments.data);
}

int advicefile_spec(const char *path, const char *store, const struct campaign *c,
		    const struct advice *a, struct err *e)
{
	struct bytes b = { 0 }, script = { 0 };
	struct steps x = { .n = 0 };
	int rc;

	take_steps(&x, c, a, path);
	if (x.environments.failed)
		rc = no_memory(e);
	else if (!x.n)
		rc = err_set(e, -ENOENT, "there is no next step that a sweep can run");
	else
		rc = read_script(&script, store, c->g.row[x.first].batch_id, e);
	if (!rc) {
		put_spec(&b, c, &x, (const char *)script.data);
		rc = b.failed ? no_memory(e) : drawfile_save_path(path, &b, e);
	}
	bytes_free(&x.environments);
	bytes_free(&script);
	bytes_free(&b);
	return rc;
}
