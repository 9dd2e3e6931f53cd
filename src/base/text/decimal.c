/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/decimal.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The locale "C" is part of libc: nothing is allocated, and nothing need be freed. */
static locale_t point(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double decimal_parse(const char *text, char **end)
{
	return strtod_l(text, end, point());
}

double decimal_of(const char *text)
{
	char *end;
	double v = decimal_parse(text, &end);

	return end != text && !*end ? v : (double)NAN;
}

bool decimal_are_same(const char *a, const char *b)
{
	return !strcmp(a, b) || decimal_of(a) == decimal_of(b);
}

int decimal_vprint(char *out, size_t size, const char *format, va_list ap)
{
	locale_t callers = uselocale(point()); /* of this thread alone */
	int n = vsnprintf(out, size, format, ap);

	uselocale(callers);
	return n;
}

int decimal_print(char *out, size_t size, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = decimal_vprint(out, size, format, ap);
	va_end(ap);
	return n;
}

void decimal_append(char *out, size_t size, const char *format, ...)
{
	size_t n = strlen(out);
	va_list ap;

	va_start(ap, format);
	decimal_vprint(out + n, size - n, format, ap);
	va_end(ap);
}

/* ---- the fewest digits ---- */

/* Numbers as text where printf and strtod, asked for 15, 16 and 17 digits one
 * after the other, would take most of an export's time.
 *
 * What lies between 1e-4 and 1e15 is a whole number of at most 120 bits over a power of two and one
 * of ten: rounding it, and seeing whether what was rounded is still nearer to it than to any other
 * double, takes a few multiplications and no approximation. The rest is left to printf.
 */

enum { DIGITS_MIN = 15, DIGITS_MAX = 17, FRACTION_BITS = 52, EXPONENT_BIAS = 1023 };

static const double least = 1e-4, limit = 1e15;

__extension__ typedef unsigned __int128 wide;

static const uint64_t power_of_ten[] = {
	1,
	10,
	100,
	1000,
	10000,
	100000,
	1000000,
	10000000,
	100000000,
	1000000000,
	10000000000,
	100000000000,
	1000000000000,
	10000000000000,
	100000000000000,
	1000000000000000,
	10000000000000000,
	100000000000000000,
	1000000000000000000,
	10000000000000000000U,
};

/* v is bits / 2^shift / 10^places, with DIGITS_MAX digits before the point of bits / 2^shift. */
struct scaled {
	wide bits, ulp; /* ulp: by how much bits changes from one double to the next */
	unsigned shift, places;
};

/* How many places there are behind the point of that many digits. */
static unsigned places_of(double v)
{
	static const double begins[] = { 1e-3, 1e-2, 1e-1, 1e0, 1e1,  1e2,  1e3,  1e4,  1e5,
					 1e6,  1e7,  1e8,  1e9, 1e10, 1e11, 1e12, 1e13, 1e14 };
	unsigned places = DIGITS_MAX + 3;

	for (size_t i = 0; i < sizeof begins / sizeof begins[0] && v >= begins[i]; i++)
		places--;
	return places;
}

static struct scaled scale(double v)
{
	struct scaled s = { .places = places_of(v) };
	uint64_t bits, fraction;

	memcpy(&bits, &v, sizeof bits);
	fraction = (bits & ((UINT64_C(1) << FRACTION_BITS) - 1)) | UINT64_C(1) << FRACTION_BITS;
	s.shift = (unsigned)(EXPONENT_BIAS + FRACTION_BITS - (bits >> FRACTION_BITS));
	s.ulp = s.places < 20 ? power_of_ten[s.places] : (wide)power_of_ten[19] * 10;
	s.bits = s.ulp * fraction;
	return s;
}

/* Without the last digits, which are one, ten or a hundred to one of those that stay: rounded as
 * printf does. Whether they mean the same number: half way between two doubles lies nothing that
 * has so few digits. Doubles are as far apart below it as above it: a power of two, where they are
 * not, is exact in the fewest digits. */
static bool round_to(const struct scaled *s, uint64_t to, uint64_t *digits)
{
	uint64_t down = (uint64_t)(s->bits >> s->shift) / to;
	wide step = (wide)to << s->shift, rest = s->bits - step * down;
	bool up = rest * 2 > step || (rest * 2 == step && (down & 1));
	wide off = (up ? step - rest : rest) * 2;

	*digits = down + up;
	return off < s->ulp;
}

/* Written backwards from `end`; where it begins. */
static char *put_whole(char *end, uint64_t v)
{
	do {
		*--end = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	return end;
}

static char *put_places(char *end, uint64_t digits, unsigned places)
{
	for (; !(digits % 10); places--)
		digits /= 10;
	for (; places; places--) {
		*--end = (char)('0' + digits % 10);
		digits /= 10;
	}
	*--end = '.';
	return put_whole(end, digits);
}

static char *put_sign(char *at, bool negative)
{
	if (negative)
		*--at = '-';
	return at;
}

static char *end_of(char out[DECIMAL_ROOM])
{
	out[DECIMAL_ROOM - 1] = '\0';
	return out + DECIMAL_ROOM - 1;
}

const char *decimal_whole(char out[DECIMAL_ROOM], int64_t v)
{
	uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	return put_sign(put_whole(end_of(out), magnitude), v < 0);
}

static const char *print(char out[DECIMAL_ROOM], double v)
{
	for (int digits = DIGITS_MIN; digits <= DIGITS_MAX; digits++) {
		decimal_print(out, DECIMAL_ROOM, "%.*g", digits, v);
		if (decimal_parse(out, NULL) == v)
			break;
	}
	return out;
}

const char *decimal_shortest(char out[DECIMAL_ROOM], double v)
{
	double magnitude = fabs(v);
	struct scaled s;
	uint64_t digits;
	unsigned more = DIGITS_MAX - DIGITS_MIN;

	if (magnitude < limit && magnitude == (double)(uint64_t)magnitude)
		return decimal_whole(out, (int64_t)v);
	if (!(magnitude >= least && magnitude < limit))
		return print(out, v);
	s = scale(magnitude);
	while (!round_to(&s, power_of_ten[more], &digits) && more)
		more--;
	return put_sign(put_places(end_of(out), digits, s.places - more), v < 0);
}
