/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-indicator - the built-in benchmarks: sonde bench run matmul. Its first word is which one;
 * the others are its options.
 */
#include "base/text/escape.h"
#include "core/describe.h"
#include "indicator/indicator.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PARAMETERS, RESULT, INFO };

void figure_add(struct figure *f, double value)
{
	if (f->n < FIGURE_REPEATS)
		f->value[f->n++] = value;
}

double figure_mean(const struct figure *f)
{
	double sum = 0;

	for (uint32_t i = 0; i < f->n; i++)
		sum += f->value[i];
	return f->n ? sum / f->n : (double)NAN;
}

static void measured_begin(struct measured *t)
{
	*t = (struct measured){ .score = NAN };
	t->parameters = (struct json){ .out = &t->text[PARAMETERS] };
	t->result = (struct json){ .out = &t->text[RESULT] };
	t->info = (struct json){ .out = &t->text[INFO] };
	json_object(&t->parameters);
	json_object(&t->result);
	json_object(&t->info);
}

static void put(struct json *j, const char *name, const char *what, double value)
{
	char key[64];

	snprintf(key, sizeof key, "%s%s", name, what);
	json_put_real(j, key, value);
}

void measured_figure(struct measured *t, const char *name, const struct figure *f)
{
	struct figure sorted = *f;
	struct description d = describe(sorted.value, sorted.n);
	bool any = f->n > 0;

	put(&t->result, name, "", any ? d.mean : (double)NAN);
	put(&t->result, name, "_stdev", any ? d.sd : (double)NAN);
	put(&t->result, name, "_min", any ? d.min : (double)NAN);
	put(&t->result, name, "_max", any ? d.max : (double)NAN);
	put(&t->result, name, "_cv", any ? d.cv : (double)NAN);
}

void measured_score(struct measured *t, double value, double reference)
{
	t->score = value > 0 ? fmax(-1, fmin(1, log10(value / reference))) : (double)NAN;
}

static void put_part(struct bytes *out, const char *key, const struct bytes *part)
{
	bytes_printf(out, ",\n  \"%s\": ", key);
	bytes_put(out, part->data, part->len);
	out->failed |= part->failed;
}

/* The whole document, with a newline. False: out of memory. */
static bool measured_end(struct measured *t, const char *indicator, struct bytes *out)
{
	struct json j = { .out = out, .indent = true };

	json_object_end(&t->parameters);
	json_object_end(&t->result);
	json_object_end(&t->info);
	json_object(&j);
	json_put_text(&j, "name", indicator);
	json_put_text(&j, "component", t->component);
	json_put_text(&j, "version", SONDE_VERSION);
	json_put_real(&j, "overall_score", t->score);
	put_part(out, "@parameters", &t->text[PARAMETERS]);
	put_part(out, "@result", &t->text[RESULT]);
	put_part(out, "info", &t->text[INFO]);
	json_object_end(&j);
	bytes_u8(out, '\n');
	return !out->failed;
}

static void measured_free(struct measured *t)
{
	for (size_t i = 0; i < sizeof t->text / sizeof t->text[0]; i++)
		bytes_free(&t->text[i]);
}

#define INDICATOR(x, what) extern const struct indicator indicator_##x;
#include "indicators.def"
#undef INDICATOR

static const struct indicator *const indicators[] = {
#define INDICATOR(x, what) &indicator_##x,
#include "indicators.def"
#undef INDICATOR
};

enum { DONE = 0, FAILED = 1, USAGE = 2 };

static int say(const struct bytes *b, int to)
{
	for (size_t at = 0; !b->failed && at < b->len;) {
		ssize_t n = write(to, b->data + at, b->len - at);

		if (n > 0)
			at += (size_t)n;
		else if (n == 0 || errno != EINTR)
			return FAILED;
	}
	return b->failed ? FAILED : DONE;
}

static void complain(const char *name, const char *sentence)
{
	struct bytes b = { 0 };

	escape_terminal(&b, name);
	bytes_puts(&b, ": ");
	escape_terminal(&b, sentence);
	bytes_u8(&b, '\n');
	say(&b, STDERR_FILENO);
	bytes_free(&b);
}

static int help(const struct indicator *x)
{
	struct bytes b = { 0 };
	int code;

	bytes_printf(&b, "usage: sonde bench run %s [options]\n\noptions:\n", x->name);
	for (size_t i = 0; i < x->noptions; i++) {
		const struct option *o = &x->options[i];
		char range[80];

		args_range_text(o, range, sizeof range);
		bytes_printf(&b, "  --%s %s\n      %s", o->name, o->value ? o->value : "", o->help);
		if (o->fallback || *range)
			bytes_printf(&b, " (%s%s%s%s)", o->fallback ? "default " : "",
				     o->fallback ? o->fallback : "",
				     o->fallback && *range ? "; " : "", range);
		bytes_u8(&b, '\n');
	}
	code = say(&b, STDOUT_FILENO);
	bytes_free(&b);
	return code;
}

static int measure(const struct indicator *x, const struct wish *w)
{
	struct bytes out = { 0 };
	struct err e = { "" };
	struct measured t;
	int rc, code = FAILED;

	measured_begin(&t);
	rc = x->measure(w, &t, &e);
	if (rc)
		complain(x->name, e.text);
	else if (measured_end(&t, x->indicator, &out))
		code = say(&out, STDOUT_FILENO);
	else
		complain(x->name, "out of memory");
	measured_free(&t);
	bytes_free(&out);
	return rc == -EINVAL ? USAGE : code;
}

int main(int argc, char **argv)
{
	const struct indicator *x = NULL;
	struct args args = { argc - 2, argv + 2, false, 0 };
	struct wish w = { 0 };
	struct err e = { "" };
	int rc;

	prctl(PR_SET_NAME, "sonde-indicator");
	for (size_t i = 0; argc > 1 && i < sizeof indicators / sizeof indicators[0]; i++)
		if (!strcmp(indicators[i]->name, argv[1]))
			x = indicators[i];
	if (!x) {
		complain("sonde-indicator", "which one? sonde bench list --builtin has them");
		return USAGE;
	}
	rc = args_parse(x->options, x->noptions, &w, &args, &e);
	if (rc > 0)
		return help(x);
	if (!rc && args.first < args.argc)
		rc = err_set(&e, -EINVAL, "it takes options only, not '%.100s'",
			     args.argv[args.first]);
	if (rc) {
		complain(x->name, e.text);
		return USAGE;
	}
	return measure(x, &w);
}
