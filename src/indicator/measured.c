/* SPDX-License-Identifier: Apache-2.0 */
#include "indicator/measured.h"

#include "core/describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

void measured_begin(struct measured *t)
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

bool measured_end(struct measured *t, const char *indicator, struct bytes *out)
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

void measured_free(struct measured *t)
{
	for (size_t i = 0; i < sizeof t->text / sizeof t->text[0]; i++)
		bytes_free(&t->text[i]);
}
