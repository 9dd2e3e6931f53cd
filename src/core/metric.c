/* SPDX-License-Identifier: Apache-2.0 */
#include "core/metric.h"

#include "base/text/decimal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
	[STATE_ABSENT] = "absent",           [STATE_PRESENT] = "present",
	[STATE_UNSUPPORTED] = "unsupported", [STATE_FORBIDDEN] = "forbidden",
	[STATE_FAILED] = "failed",
};
_Static_assert(sizeof names / sizeof names[0] == STATE_NUMBER_OF, "a name for every state");

const char *state_name(enum state s)
{
	return (unsigned)s < STATE_NUMBER_OF ? names[s] : "unknown";
}

enum state state_of(int negative_errno)
{
	switch (-negative_errno) {
	case ENOENT:
	case ENODEV:
	case ENOSYS:
	case EOPNOTSUPP:
		return STATE_UNSUPPORTED;
	case EACCES:
	case EPERM:
		return STATE_FORBIDDEN;
	default:
		return STATE_FAILED;
	}
}

enum style { STYLE_PLAIN, STYLE_COUNT, STYLE_SI, STYLE_BINARY, STYLE_PERCENT, STYLE_DURATION };

struct unit_row {
	const char *name, *symbol;
	const char
		*rate_word; /* last word of the name of a rate; NULL = "_per_second" is appended */
	enum unit rate;
	enum style style;
};

static const struct unit_row rows[] = {
	[UNIT_ONE] = { "", "", NULL, UNIT_PER_SECOND, STYLE_PLAIN },
	[UNIT_COUNT] = { "count", "", NULL, UNIT_PER_SECOND, STYLE_COUNT },
	[UNIT_RATIO] = { "ratio", "%", NULL, UNIT_PER_SECOND, STYLE_PERCENT },
	[UNIT_SECONDS] = { "seconds", "s", "cores", UNIT_CORES, STYLE_DURATION },
	[UNIT_BYTES] = { "bytes", "B", NULL, UNIT_BYTES_PER_SECOND, STYLE_BINARY },
	[UNIT_JOULES] = { "joules", "J", "watts", UNIT_WATTS, STYLE_SI },
	[UNIT_HERTZ] = { "hertz", "Hz", NULL, UNIT_PER_SECOND, STYLE_SI },
	[UNIT_CELSIUS] = { "celsius", "\u00b0C", NULL, UNIT_PER_SECOND, STYLE_PLAIN },
	[UNIT_CORES] = { "cores", "cores", NULL, UNIT_PER_SECOND, STYLE_PLAIN },
	[UNIT_BYTES_PER_SECOND] = { "bytes_per_second", "B/s", NULL, UNIT_PER_SECOND, STYLE_SI },
	[UNIT_PER_SECOND] = { "per_second", "/s", NULL, UNIT_PER_SECOND, STYLE_SI },
	[UNIT_WATTS] = { "watts", "W", NULL, UNIT_PER_SECOND, STYLE_SI },
	[UNIT_ELAPSED_SECONDS] = { "elapsed_seconds", "s", "ratio", UNIT_RATIO, STYLE_DURATION },
};
_Static_assert(sizeof rows / sizeof rows[0] == UNIT_NUMBER_OF, "a row for every unit");

static const struct unit_row *row_of(enum unit u)
{
	return &rows[(unsigned)u < UNIT_NUMBER_OF ? u : UNIT_ONE];
}

const char *unit_name(enum unit u)
{
	return row_of(u)->name;
}

enum unit unit_rate(enum unit u)
{
	return row_of(u)->rate;
}

enum unit unit_parse(const char *name)
{
	for (unsigned u = 0; u < UNIT_NUMBER_OF; u++)
		if (strcmp(rows[u].name, name) == 0)
			return (enum unit)u;
	return UNIT_NUMBER_OF;
}

void metric_rate_name(const struct metric *m, char *out, size_t size)
{
	const char *word = m->kind == KIND_COUNTER ? row_of(m->unit)->rate_word : NULL;
	const char *last = strrchr(m->name, '_');

	if (m->kind != KIND_COUNTER)
		decimal_print(out, size, "%s", m->name);
	else if (!word)
		decimal_print(out, size, "%s_per_second", m->name);
	else if (last && strcmp(last, m->unit == UNIT_JOULES ? "_joules" : "_seconds") == 0)
		decimal_print(out, size, "%.*s_%s", (int)(last - m->name), m->name, word);
	else
		decimal_print(out, size, "%s_%s", m->name, word);
}

/* v >= 0 scaled to the largest prefix that leaves at least 1, after rounding to one decimal. */
static double scale(double v, double base, unsigned largest, unsigned *prefix)
{
	for (*prefix = 0; *prefix < largest && v >= base - 0.05; (*prefix)++)
		v /= base;
	return v;
}

/* What two decimals would round to one digit, or to 0.00. */
static bool is_little(double v)
{
	return v > 0 && v < 0.095;
}

/* What is said of less: no reader takes 4.3e-05 for a number. */
#define LEAST_SHOWN 0.001

static bool is_tiny(double v)
{
	return v > 0 && v < LEAST_SHOWN * 0.95;
}

static void format_binary(double v, char *out, size_t size)
{
	static const char *const prefixes[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
	unsigned p;

	v = scale(v, 1024, 6, &p);
	decimal_print(out, size, "%.*f %sB", p ? 1 : 0, v, prefixes[p]);
}

static void format_si(enum unit u, double v, char *out, size_t size)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
	unsigned p;

	v = scale(v, 1000, 6, &p);
	if (u == UNIT_PER_SECOND && p == 0)
		decimal_print(out, size,
			      is_tiny(v)        ? "<0.001/s"
			      : is_little(v)    ? "%#.2g/s"
			      : v < 10 && v > 0 ? "%.2f/s"
						: "%.0f/s",
			      v);
	else if (u == UNIT_BYTES_PER_SECOND && p == 0)
		decimal_print(out, size, "%.0f B/s", v);
	else
		decimal_print(out, size, "%.1f %s%s", v, prefixes[p], row_of(u)->symbol);
}

static void format_count(double v, char *out, size_t size)
{
	static const char *const prefixes[] = { "", " k", " M", " G", " T", " P", " E" };
	unsigned p = 0;

	if (v >= 999999.5)
		v = scale(v, 1000, 6, &p);
	decimal_print(out, size, "%.*f%s", p || v != floor(v) ? 1 : 0, v, prefixes[p]);
}

static void format_duration(double v, char *out, size_t size)
{
	double whole = floor(v + 0.5);

	if (v == 0)
		decimal_print(out, size, "0 s");
	else if (v < 0.9995e-6)
		decimal_print(out, size, "%.0f ns", v * 1e9);
	else if (v < 0.9995e-3)
		decimal_print(out, size, "%.0f us", v * 1e6);
	else if (v < 0.9995)
		decimal_print(out, size, "%.0f ms", v * 1e3);
	else if (v < 9.995)
		decimal_print(out, size, "%.2f s", v);
	else if (v < 59.95)
		decimal_print(out, size, "%.1f s", v);
	else if (whole < 3600)
		decimal_print(out, size, "%.0f min %02.0f s", floor(whole / 60), fmod(whole, 60));
	else if (whole < 86400)
		decimal_print(out, size, "%.0f h %02.0f min", floor(whole / 3600),
			      floor(fmod(whole, 3600) / 60));
	else
		decimal_print(out, size, "%.0f d %02.0f h", floor(whole / 86400),
			      floor(fmod(whole, 86400) / 3600));
}

static void format_percent(double v, char *out, size_t size)
{
	double percent = v * 100;

	if (percent > 0 && percent < 0.05)
		decimal_print(out, size, "<0.1 %%");
	else
		decimal_print(out, size, "%.*f %%", percent > 0 && percent < 9.95 ? 1 : 0, percent);
}

static void format_plain(enum unit u, double v, char *out, size_t size)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
	const char *symbol = row_of(u)->symbol, *space = *symbol ? " " : "";
	unsigned p = 0;

	if (v >= 1e6) {
		v = scale(v, 1000, 6, &p);
		decimal_print(out, size, "%.1f %s%s", v, prefixes[p], symbol);
	} else if (u != UNIT_CELSIUS && is_tiny(v)) {
		decimal_print(out, size, "<0.001%s%s", space, symbol);
	} else if (u != UNIT_CELSIUS && is_little(v)) {
		decimal_print(out, size, "%#.2g%s%s", v, space, symbol);
	} else {
		decimal_print(out, size, "%.*f%s%s", u == UNIT_CELSIUS || v >= 99.995 ? 1 : 2, v,
			      space, symbol);
	}
}

const char *unit_format(enum unit u, double value, char *out, size_t size)
{
	bool plain = row_of(u)->style == STYLE_PLAIN || u == UNIT_PER_SECOND;
	double v = value < 0 && plain && is_tiny(-value) ? 0 : fabs(value);
	size_t sign = value < 0 && v > 0 && size > 1;

	if (!isfinite(value)) {
		decimal_print(out, size, "unknown");
		return out;
	}
	if (sign)
		out[0] = '-';
	switch (row_of(u)->style) {
	case STYLE_BINARY:
		format_binary(v, out + sign, size - sign);
		break;
	case STYLE_SI:
		format_si(u, v, out + sign, size - sign);
		break;
	case STYLE_COUNT:
		format_count(v, out + sign, size - sign);
		break;
	case STYLE_DURATION:
		format_duration(v, out + sign, size - sign);
		break;
	case STYLE_PERCENT:
		format_percent(v, out + sign, size - sign);
		break;
	case STYLE_PLAIN:
		format_plain(u, v, out + sign, size - sign);
	}
	return out;
}

static const char *const kind_names[] = {
	[KIND_COUNTER] = "counter",
	[KIND_GAUGE] = "gauge",
	[KIND_STATE] = "state",
	[KIND_TOTAL] = "total",
};
_Static_assert(sizeof kind_names / sizeof kind_names[0] == KIND_NUMBER_OF, "a name for every kind");

static const char *const combine_names[] = {
	[COMBINE_NONE] = "none", [COMBINE_SUM] = "sum", [COMBINE_MEAN] = "mean",
	[COMBINE_MAX] = "max",   [COMBINE_MIN] = "min",
};
_Static_assert(sizeof combine_names / sizeof combine_names[0] == COMBINE_NUMBER_OF,
	       "a name for every way");

const char *kind_name(enum kind k)
{
	return (unsigned)k < KIND_NUMBER_OF ? kind_names[k] : "unknown";
}

const char *combine_name(enum combine c)
{
	return (unsigned)c < COMBINE_NUMBER_OF ? combine_names[c] : "unknown";
}
