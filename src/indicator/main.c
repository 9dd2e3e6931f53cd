/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-indicator - the built-in benchmarks: sonde bench run matmul. Its first word is which one;
 * the others are its options.
 */
#include "base/text/escape.h"
#include "indicator/indicator.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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
