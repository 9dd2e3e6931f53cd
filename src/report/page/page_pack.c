/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_pack.h"

#include "base/text/base64.h"

#include <math.h>
#include <string.h>

enum { FRACTION_BITS = 11, EXPONENT_MAX = 30, ABSENT = 0xffff };

void page_pack_bytes(struct json *j, const void *data, size_t n)
{
	struct bytes text = { 0 };

	base64_encode(&text, data, n);
	bytes_u8(&text, 0);
	if (text.failed)
		j->out->failed = true;
	else
		json_text(j, (const char *)text.data);
	bytes_free(&text);
}

/* The power of two of which the largest number is a little less than 2^(FRACTION_BITS +
 * EXPONENT_MAX). */
static int scale_for(double largest)
{
	int exponent;

	frexp(largest, &exponent);
	return exponent - (FRACTION_BITS + EXPONENT_MAX);
}

/* v >= 0, in units of 2^scale. What is below 2^FRACTION_BITS of them has exponent 0; else the bit
 * above the fraction is always there and adds one to the exponent before it. */
static uint16_t pack(double v, int scale)
{
	double units = ldexp(v, -scale);
	int exponent;

	frexp(units, &exponent);
	exponent = exponent > FRACTION_BITS ? exponent - FRACTION_BITS - 1 : 0;
	return (uint16_t)((exponent << FRACTION_BITS) + (int)nearbyint(ldexp(units, -exponent)));
}

static void put_floats(struct json *j, const double *v, size_t n)
{
	struct bytes raw = { 0 };

	for (size_t i = 0; i < n; i++) {
		float f = (float)v[i];
		uint32_t bits;

		memcpy(&bits, &f, sizeof bits);
		bytes_u32(&raw, bits);
	}
	if (raw.failed)
		j->out->failed = true;
	else
		page_pack_bytes(j, raw.data, raw.len);
	bytes_free(&raw);
}

static void put_packed(struct json *j, const double *v, size_t n, double largest)
{
	int scale = scale_for(largest);
	struct bytes raw = { 0 };

	for (size_t i = 0; i < n; i++) {
		uint16_t bits = isnan(v[i]) ? ABSENT : pack(v[i], scale);

		bytes_u8(&raw, (uint8_t)(bits & 255));
		bytes_u8(&raw, (uint8_t)(bits >> 8));
	}
	json_object(j);
	json_key(j, "scale");
	json_int(j, scale);
	json_key(j, "values");
	if (raw.failed)
		j->out->failed = true;
	else
		page_pack_bytes(j, raw.data, raw.len);
	json_object_end(j);
	bytes_free(&raw);
}

void page_pack_numbers(struct json *j, const double *v, size_t n)
{
	double least = INFINITY, largest = -INFINITY;
	bool constant = true;

	for (size_t i = 0; i < n; i++) {
		least = fmin(least, v[i]);
		largest = fmax(largest, v[i]);
		constant = constant && (v[i] == v[0] || (isnan(v[i]) && isnan(v[0])));
	}
	if (!n || !(least <= largest))
		json_null(j);
	else if (constant)
		json_real(j, v[0]);
	else if (least < 0 || isinf(largest))
		put_floats(j, v, n);
	else
		put_packed(j, v, n, largest);
}
