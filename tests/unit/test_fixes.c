/* SPDX-License-Identifier: Apache-2.0 */
/* What would help is said in the recording: of sources that are off, of metrics that are forbidden.
 */
#include "sampler/fixes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const char *said(const struct sample *s, const char *key)
{
	for (uint32_t i = 0; i < s->nevents; i++)
		if (s->event[i].kind == EVENT_META && strcmp(s->event[i].name, key) == 0)
			return s->event[i].text;
	return NULL;
}

/* A source with a fix for an administrator, whose rows have one measured metric at the beginning.
 */
static const struct source *any_source(void)
{
	for (size_t i = 0; i < nsources; i++)
		if (sources[i]->open && sources[i]->fix_admin && sources[i]->nmetrics > 1 &&
		    !sources[i]->metrics[1].formula)
			return sources[i];
	return NULL;
}

static void of_a_source(void **state)
{
	const struct source k = { .name = "thing", .fix_user = "ask", .fix_admin = "allow it" };
	struct sample s;

	(void)state;
	assert_int_equal(sample_init(&s, 64, 64), 0);
	fixes_say_source(&s, &k, STATE_FAILED);
	assert_string_equal(said(&s, "source.thing.fix_user"), "ask");
	assert_null(said(&s, "source.thing.fix_admin"));
	fixes_say_source(&s, &k, STATE_FORBIDDEN);
	assert_string_equal(said(&s, "source.thing.fix_admin"), "allow it");
	sample_free(&s);
}

static void of_forbidden_metrics(void **state)
{
	const struct source *k = any_source();
	char key[160];
	struct sample s;
	uint32_t slot, before;

	(void)state;
	assert_non_null(k);
	assert_int_equal(sample_init(&s, 64, 64), 0);
	for (int i = 0; i < 3; i++) {
		slot = sample_series(&s, k->metrics, 2, 0);
		sample_refuse(&s, slot, STATE_UNSUPPORTED, "it has none");
		sample_refuse(&s, slot + 1, STATE_FORBIDDEN, "no permission");
	}
	before = s.nevents;
	fixes_say_metrics(&s);
	snprintf(key, sizeof key, "metric.%s.fix_admin", k->metrics[1].name);
	assert_string_equal(said(&s, key), k->fix_admin);
	snprintf(key, sizeof key, "metric.%s.fix_admin", k->metrics[0].name);
	assert_null(said(&s, key));
	assert_int_equal(s.nevents - before, 1 + (k->fix_user != NULL)); /* once, not of each */
	sample_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_source),
		cmocka_unit_test(of_forbidden_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
