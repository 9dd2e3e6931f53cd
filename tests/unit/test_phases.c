/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs those three before it */
#include <cmocka.h>

#include "core/phase/phase_meter.h"
#include "core/phase/phase_nest.h"
#include "unit/synthetic_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define NS INT64_C(1000000000)

struct scene_mark {
	uint32_t node;
	double at_s;
	const char *name, *message;
};

static struct run_mark *marks_of(struct synth *s, const struct scene_mark *m, uint32_t n)
{
	struct run_mark *all = calloc(n + 1, sizeof *all);

	for (uint32_t i = 0; i < n; i++)
		all[i + 1] = (struct run_mark){ .node = m[i].node,
						.at_ns = llround(m[i].at_s * 1e9),
						.name = m[i].name,
						.message = m[i].message };
	s->run.marks = all;
	s->run.nmarks = n + 1;
	s->nodes[1].last_ns = s->nodes[2].last_ns = 100 * NS;
	return all;
}

static const char *dump(const struct phases *p, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < p->n && n < size; i++) {
		const struct phase *x = &p->phase[i];

		n += (size_t)snprintf(out + n, size - n, "%s%s%s %u %g-%g", x->name,
				      *x->key ? " " : "", x->key, x->node, x->begin_s, x->end_s);
		if (n < size && (x->told || !isnan(x->size_bytes)))
			n += (size_t)snprintf(out + n, size - n, " %gs %gB", x->duration_s,
					      x->size_bytes);
		if (n < size)
			n += (size_t)snprintf(out + n, size - n, "; ");
	}
	for (uint32_t i = 0; i < p->nloose && n < size; i++)
		n += (size_t)snprintf(out + n, size - n, "%s %s at %g; ",
				      p->loose[i].why == PHASE_NO_START ? "no start" : "left out",
				      p->loose[i].name, p->loose[i].at_s);
	return out;
}

#define CHECK(rules, want, ...)                                                                    \
	check_pairs(rules, (const struct scene_mark[]){ __VA_ARGS__ },                             \
		    sizeof((const struct scene_mark[]){ __VA_ARGS__ }) /                           \
			    sizeof(struct scene_mark),                                             \
		    want)

static void check_pairs(const char *text, const struct scene_mark *m, size_t n, const char *want)
{
	struct synth *s = synth_new(4);
	struct run_mark *all = marks_of(s, m, (uint32_t)n);
	struct phase_rules rules = { 0 };
	struct phases p;
	struct err e = { "" };
	char got[2000];

	if (phase_rules_add(&rules, "site", text, strlen(text), &e))
		fail_msg("%s", e.text);
	assert_int_equal(0, phases_make(&p, &s->run, &rules, &(struct phase_wish){ 0 }, &e));
	assert_string_equal(dump(&p, got, sizeof got), want);
	phases_free(&p);
	phase_rules_free(&rules);
	free(all);
	synth_free(s);
}

static struct run_span bulk[1 << 15];

/* Pack 0 has one span of another name. */
static int unpack(const struct run *r, uint32_t pack, const struct run_span **spans, struct err *e)
{
	(void)r, (void)e;
	for (uint32_t i = 0; i < sizeof bulk / sizeof *bulk; i++)
		bulk[i] = (struct run_span){ .node = 1,
					     .begin_ns = (int64_t)(pack + 1) * NS + i * 10,
					     .end_ns = (int64_t)(pack + 1) * NS + i * 10 + 5,
					     .name = pack || i ? "io" : "setup",
					     .detail = "" };
	*spans = bulk;
	return sizeof bulk / sizeof *bulk;
}

static int make_of_packs(struct phases *p, uint32_t npacks, const char *names, struct err *e)
{
	struct synth *s = synth_new(4);
	struct phase_rules rules = { 0 };
	static const char rule[] = "rule: spans\nphase: *\nspans: *\n";
	int rc;

	s->run.path = "bulk";
	s->run.npacks = npacks;
	s->run.npacked = (uint64_t)npacks << 15;
	s->run.unpack = unpack;
	assert_int_equal(0, phase_rules_add(&rules, "site", rule, strlen(rule), e));
	rc = phases_make(p, &s->run, &rules, &(struct phase_wish){ .names = names }, e);
	phase_rules_free(&rules);
	synth_free(s);
	return rc;
}

static void test_spans_in_bulk(void **state)
{
	struct err e = { "" };
	struct phases p;

	(void)state;
	assert_int_equal(0, make_of_packs(&p, 2, NULL, &e));
	assert_int_equal(p.n, 2 << 15);
	assert_string_equal(p.phase[0].name, "setup");
	assert_string_equal(p.phase[p.n - 1].name, "io");
	assert_true(fabs(p.phase[p.n - 1].duration_s - 5e-9) < 1e-15);
	phases_free(&p);
	/* Never some of too many. */
	assert_int_equal(-E2BIG, make_of_packs(&p, 8, NULL, &e));
	assert_int_equal(p.n, 0);
	assert_string_equal(e.text,
			    "bulk has 262144 spans, and phases are made of 250000 at most: choose "
			    "some by name, or see sonde show --spans");
	assert_int_equal(0, make_of_packs(&p, 8, "setup", &e));
	assert_int_equal(p.n, 1);
	phases_free(&p);
}

#define RULE "rule: r\nstart: a\nend: b\n"

static void test_several_and_none(void **state)
{
	(void)state;
	CHECK(RULE, "r 1 1-4; r 1 2-3; ", { 1, 1, "a", "" }, { 1, 2, "a", NULL }, { 1, 3, "b", "" },
	      { 1, 4, "b", "" });
	CHECK(RULE "several: oldest\n", "r 1 1-3; r 1 2-4; ", { 1, 1, "a", "" },
	      { 1, 2, "a", NULL }, { 1, 3, "b", "" }, { 1, 4, "b", "" });
	CHECK(RULE "several: first\n", "r 1 1-3; left out a at 2; left out b at 4; ",
	      { 1, 1, "a", "" }, { 1, 2, "a", NULL }, { 1, 3, "b", "" }, { 1, 4, "b", "" });
	/* An end is of its own node; time says which comes first, not the order of telling. */
	CHECK(RULE, "r 1 1-3; r 2 2-nan; ", { 1, 3, "b", "" }, { 2, 2, "a", "" },
	      { 1, 1, "a", "" });
	CHECK(RULE, "r 1 1-nan; no start b at 0.5; ", { 1, 0.5, "b", "" }, { 1, 1, "a", "" });
	CHECK(RULE "no-end: untold\nno-start: untold\n", "", { 1, 0.5, "b", "" },
	      { 1, 1, "a", "" });
	CHECK("rule: epoch\nstart: epoch\nno-end: next\n",
	      "epoch 1 1-2; epoch 1 2-5; epoch 1 5-100; ", { 1, 1, "epoch", "n=1" },
	      { 1, 2, "epoch", "n=2" }, { 1, 5, "epoch", "n=3" });
}

static void test_the_end_that_is_named_first(void **state)
{
	static const char rule[] = "rule: install\nstart: s\nend: registry e\nseveral: first\n";

	(void)state;
	CHECK(rule, "install 1 1-9; ", { 1, 1, "s", "" }, { 1, 5, "e", "" },
	      { 1, 9, "registry", "" });
	CHECK(rule, "install 1 1-5; ", { 1, 1, "s", "" }, { 1, 5, "e", "" });
}

static void test_keys_stars_and_what_ends_say(void **state)
{
	static const char pull[] = "rule: pull\nstart: pull-start\nend: pull-end\nkey: img type\n"
				   "fields: commas\nduration: diff\nsize: size\nseveral: oldest\n";

	(void)state;
	CHECK(pull, "pull img=a type=x 1 1-4 2.5s 1.2e+06B; pull img=a 1 2-3; ",
	      { 1, 1, "pull-start", "type=x,img=a" }, { 1, 2, "pull-start", "img=a" },
	      { 1, 3, "pull-end", "img=a,diff=soon" },
	      { 1, 4, "pull-end", "img=a,type=x,diff=2.5,size=1.2 MB" });
	/* Other keys do not pair; a size may be the start's. */
	CHECK(pull, "pull img=a 1 1-nan; no start pull-end at 2; ", { 1, 1, "pull-start", "img=a" },
	      { 1, 2, "pull-end", "img=b" });
	CHECK(pull, "pull img=a,b 1 1-2 1s 7B; ", { 1, 1, "pull-start", "img=a,b" },
	      { 1, 2, "pull-end", "img=a,b,size=7" });
	CHECK("rule: any\nphase: *!\nstart: *-on *.on\nend: *-off\n", "x! 1 1-3; y! 1 2-4; ",
	      { 1, 1, "x-on", "" }, { 1, 2, "y.on", "" }, { 1, 3, "x-off", "" },
	      { 1, 4, "y-off", "" });
	/* A name that a rule without a star takes is nothing for one with a star. */
	CHECK("rule: any\nphase: *\nstart: *-on\nend: *-off\n\nrule: own\nstart: x-on\nend: done\n",
	      "own 1 1-4; y 1 2-3; ", { 1, 1, "x-on", "" }, { 1, 2, "y-on", "" },
	      { 1, 3, "y-off", "" }, { 1, 4, "done", "" });
}

static void test_fields_and_sizes(void **state)
{
	static const struct {
		const char *text;
		double want;
	} sizes[] = { { "12", 12 },         { "12 B", 12 },         { "1.5kB", 1500 },
		      { "1.2 MB ", 1.2e6 }, { "2GiB", 2147483648 }, { "ago 1.2MB", 1.2e6 },
		      { "3 TB", 3e12 },     { "x1 MB", NAN },       { "MB", NAN },
		      { "", NAN },          { "1.2.3", NAN },       { "1 meter", NAN },
		      { "0x10", NAN },      { "1e400", NAN },       { "-1", NAN },
		      { "4 kib", 4096 } };
	char out[16];

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		double got = NAN;

		assert_int_equal(phase_size(sizes[i].text, 1000, &got), !isnan(sizes[i].want));
		if (!isnan(sizes[i].want))
			assert_true(fabs(got - sizes[i].want) < 1e-6 * sizes[i].want);
	}
	assert_true(phase_field(PHASE_COMMAS, "x,img=a,b,c=d=e", "img", out, sizeof out));
	assert_string_equal(out, "a,b");
	assert_true(phase_field(PHASE_COMMAS, "x,img=a,b,c=d=e", "c", out, sizeof out));
	assert_string_equal(out, "d=e");
	assert_false(phase_field(PHASE_COMMAS, "ximg=a", "img", out, sizeof out));
	assert_false(phase_field(PHASE_COMMAS, "img=0123456789abcdef", "img", out, sizeof out));
	assert_true(phase_field(PHASE_BLANKS, "a=1 'b' img=\"two words\"", "img", out, sizeof out));
	assert_string_equal(out, "two words");
}

static void test_faults_are_told(void **state)
{
	static const char *const wrong[][2] = {
		{ "start: a\n", "site:1:1: 'start:' stands before the first 'rule:'" },
		{ "rule: A\n", "site:1:1: a rule's name is made of" },
		{ "rule: r\nabout: x\n", "site:1:1: rule r has neither 'start:' nor 'spans:'" },
		{ "rule: r\nstart: a\n", "site:1:1: rule r has no 'end:'" },
		{ "rule: r\nstart: a\nend: *\n", "rule r has a * in its ends" },
		{ "rule: r\nstart: a* b\nend: c*\n", "rule r has a * in some of its names" },
		{ "rule: r\nphase: *\nstart: a\nend: b\n", "rule r has a * in 'phase:'" },
		{ "rule: r\nstart: a\n  b**\n", "site:3:3: start: a name has one * at most" },
		{ "rule: r\nspans: *\nkey: k\n", "rule r has 'spans:'" },
		{ "rule: r\nseveral: all\n", "site:2:10: several: it is one of newest, oldest" },
		{ "rule: r\nkind: x\n", "site:2:1: 'kind' is not a key; see docs/phases.md" },
		{ "rule: r\nspans: *\nrule: r\nspans: *\n", "site:3:1: there is a rule r already" },
		{ "rule: r\nkey: a b c d e f g h i\n", "site:2:22: key: these are more than 8" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct phase_rules rules = { 0 };
		struct err e = { "" };

		assert_int_not_equal(
			0, phase_rules_add(&rules, "site", wrong[i][0], strlen(wrong[i][0]), &e));
		if (!strstr(e.text, wrong[i][1]))
			fail_msg("wanted '%s', got '%s'", wrong[i][1], e.text);
		phase_rules_free(&rules);
	}
}

static void test_a_later_text_replaces_a_rule(void **state)
{
	static const char first[] = "rule: x\nspans: a\n\nrule: y\nspans: b\n";
	static const char site[] = "rule: x\nstart: s\nend: e\n";
	struct phase_rules rules = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(0, phase_rules_add(&rules, "in", first, sizeof first - 1, &e));
	assert_int_equal(0, phase_rules_add(&rules, "site", site, sizeof site - 1, &e));
	assert_int_equal(2, rules.n);
	assert_int_equal(0, rules.rule[0].spans.n);
	assert_string_equal("s", rules.rule[0].start.word[0]);
	phase_rules_free(&rules);
}

/* ---- how they lie to each other ---- */

static bool lies_in(const struct phase *x, const struct phase *y)
{
	return y->begin_s <= x->begin_s && x->end_s <= y->end_s;
}

static bool cross(const struct phase *x, const struct phase *y)
{
	return x->begin_s < y->end_s && y->begin_s < x->end_s && !lies_in(x, y) && !lies_in(y, x);
}

static void test_nesting_is_what_a_look_at_all_pairs_gives(void **state)
{
	struct phase all[60];
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct phases p = { .phase = all, .n = 1 + (uint32_t)round % 60 };

		for (uint32_t i = 0; i < p.n; i++) {
			uint32_t begin = (seed = seed * 1103515245 + 12345) >> 16 & 63;
			uint32_t takes = 1 + ((seed = seed * 1103515245 + 12345) >> 16 & 15);

			all[i] = (struct phase){ .node = 1 + (i & 1),
						 .begin_s = begin,
						 .end_s = begin + takes };
		}
		assert_int_equal(0, phases_nest(&p, &(struct run){ 0 }));
		for (uint32_t i = 0; i < p.n; i++) {
			uint32_t depth = 0, same = 0;
			bool crosses = false;

			for (uint32_t k = 0; k < p.n; k++) {
				if (k == i || all[k].node != all[i].node)
					continue;
				same += lies_in(&all[i], &all[k]) && lies_in(&all[k], &all[i]);
				depth += lies_in(&all[i], &all[k]) && !lies_in(&all[k], &all[i]);
				crosses |= cross(&all[i], &all[k]);
			}
			/* Of equal ones one lies in the other. */
			assert_in_range(all[i].depth, depth, depth + same);
			assert_int_equal(all[i].crosses, crosses);
		}
	}
}

/* ---- totals and figures ---- */

static const struct metric load = { "node.load", .unit = UNIT_ONE, .kind = KIND_GAUGE,
				    .over_nodes = COMBINE_MEAN, .label = "Load" };
static const struct metric cpu = { "job.cpu_seconds", .unit = UNIT_SECONDS, .kind = KIND_COUNTER,
				   .over_nodes = COMBINE_SUM, .label = "Job CPU" };

static void test_totals(void **state)
{
	static const struct scene_mark m[] = {
		{ 1, 1, "a-start", "k=1" },   { 1, 3, "a-end", "k=1 size=10" },
		{ 1, 2, "a-start", "k=2" },   { 1, 4, "a-end", "k=2 size=20" },
		{ 2, 1.5, "a-start", "k=1" }, { 2, 2, "a-end", "k=1" },
		{ 2, 9, "a-start", "k=3" },
	};
	static const char rule[] = "rule: a\nstart: a-start\nend: a-end\nkey: k\nsize: size\n";
	struct synth *s = synth_new(4);
	struct run_mark *all = marks_of(s, m, sizeof m / sizeof m[0]);
	struct phase_rules rules = { 0 };
	struct phase_totals t;
	struct phases p;
	struct err e;

	(void)state;
	assert_int_equal(0, phase_rules_add(&rules, "r", rule, sizeof rule - 1, &e));
	assert_int_equal(0, phases_make(&p, &s->run, &rules, &(struct phase_wish){ 0 }, &e));
	assert_int_equal(0, phase_totals_make(&t, &p));
	assert_int_equal(t.first[1], 1);
	assert_int_equal(t.total[0].n, 4);
	assert_int_equal(t.total[0].unfinished, 1);
	assert_true(t.total[0].total_s == 4.5 && t.total[0].mean_s == 1.5);
	assert_true(t.total[0].min_s == 0.5 && t.total[0].max_s == 2);
	assert_true(t.total[0].covered_s == 3.5);
	assert_true(t.total[0].first_begin_s == 1 && t.total[0].last_begin_s == 9);
	assert_true(t.total[0].starts_apart_s == 0.5);
	assert_true(t.total[0].size_bytes == 30 && t.total[0].bytes_per_second == 7.5);
	/* By key: 1, 2, 3; by node: 1, 2; by both: four. */
	assert_int_equal(t.first[2] - t.first[1], 3);
	assert_string_equal(t.total[t.first[1]].key, "k=1");
	assert_true(t.total[t.first[1]].total_s == 2.5);
	assert_true(isnan(t.total[t.first[2] - 1].total_s));
	assert_int_equal(t.first[3] - t.first[2], 2);
	assert_int_equal(t.n - t.first[3], 4);
	phase_totals_free(&t);
	phases_free(&p);
	phase_rules_free(&rules);
	free(all);
	synth_free(s);
}

/* Ten seconds of a node: a gauge that is its second, a rate that is 1 core up to second 5, then 3.
 */
static struct synth *metered(void)
{
	struct synth *s = synth_new(3);
	uint32_t a = synth_series(s, 1, synth_metric(s, load), 0);
	uint32_t b = synth_series(s, 1, synth_metric(s, cpu), 0);

	for (int i = 0; i <= 10; i++) {
		synth_row(s, 1, i);
		if (i != 8) /* absent, not zero */
			synth_put(s, a, i);
		synth_put(s, b, i <= 5 ? i : 5 + (i - 5) * 3);
	}
	return s;
}

static const struct phase_figure *figure(const struct phase_meter *m, const struct phase_figure *of,
					 uint32_t row, const char *name)
{
	for (uint32_t i = 0; i < m->nmetrics; i++)
		if (!strcmp(m->metric[i].name, name))
			return &of[row * m->nmetrics + i];
	fail_msg("no metric %s", name);
	return NULL;
}

static void test_figures(void **state)
{
	static const struct scene_mark m[] = {
		{ 1, 1.5, "a-start", "" }, { 1, 3.5, "a-end", "" },   { 1, 4.5, "b-start", "" },
		{ 1, 7, "b-end", "" },     { 1, 6.1, "c-start", "" }, { 1, 6.2, "c-end", "" },
		{ 1, 7.2, "d-start", "" }, { 1, 7.9, "d-end", "" },   { 1, 50, "e-start", "" },
		{ 1, 60, "e-end", "" },
	};
	static const char rule[] = "rule: r\nphase: *\nstart: *-start\nend: *-end\n";
	struct synth *s = metered();
	struct run_mark *all = marks_of(s, m, sizeof m / sizeof m[0]);
	struct phase_rules rules = { 0 };
	struct phase_totals t;
	struct phase_meter x;
	struct phases p;
	struct err e = { "" };
	const struct phase_figure *f;

	(void)state;
	assert_int_equal(0, phase_rules_add(&rules, "r", rule, sizeof rule - 1, &e));
	assert_int_equal(0, phases_make(&p, &s->run, &rules, &(struct phase_wish){ 0 }, &e));
	assert_int_equal(0, phase_totals_make(&t, &p));
	if (phase_meter_make(&x, &s->run, &p, &t, "*", &e))
		fail_msg("%s", e.text);
	assert_int_equal(x.nmetrics, 2);

	f = figure(&x, x.of_phase, 0, "job.cpu_cores"); /* a */
	assert_true(fabs(f->total - 2) < 1e-9 && fabs(f->mean - 1) < 1e-9);
	assert_true(fabs(f->known_s - 2) < 1e-9 && f->most == 1);
	f = figure(&x, x.of_phase, 1, "job.cpu_cores"); /* b: half a second of 1, two of 3 */
	assert_true(fabs(f->total - 6.5) < 1e-9 && fabs(f->mean - 2.6) < 1e-9 && f->most == 3);
	/* c lies within one interval, of which nobody knows when its CPU time was used. */
	f = figure(&x, x.of_phase, 2, "job.cpu_cores");
	assert_true(isnan(f->total) && isnan(f->mean) && isnan(f->most));
	assert_true(fabs(f->known_s - 0.1) < 1e-9 && f->inner_s == 0);
	/* A reading stands for the time before it: of seconds 1 to 3.5 those are 2, 3 and 4. */
	f = figure(&x, x.of_phase, 0, "node.load");
	assert_true(fabs(f->mean - (0.5 * 2 + 3 + 0.5 * 4) / 2) < 1e-9 && isnan(f->total));
	/* The reading of second 8 is not there, and is no 0. */
	f = figure(&x, x.of_phase, 3, "node.load");
	assert_true(isnan(f->mean) && isnan(f->most) && f->known_s == 0);
	/* After the end of the recording nothing is known. */
	f = figure(&x, x.of_phase, 4, "job.cpu_cores");
	assert_true(isnan(f->mean) && isnan(f->total));
	f = figure(&x, x.of_total, 0, "job.cpu_cores");
	assert_true(fabs(f->total - 2) < 1e-9);
	for (uint32_t i = 0; i < x.nmetrics; i++)
		if (!strcmp(x.metric[i].name, "job.cpu_cores"))
			assert_string_equal(x.metric[i].total_name, "job.cpu_seconds");
	phase_meter_free(&x);
	phase_totals_free(&t);
	phases_free(&p);
	phase_rules_free(&rules);
	free(all);
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans_in_bulk),
		cmocka_unit_test(test_several_and_none),
		cmocka_unit_test(test_the_end_that_is_named_first),
		cmocka_unit_test(test_keys_stars_and_what_ends_say),
		cmocka_unit_test(test_fields_and_sizes),
		cmocka_unit_test(test_faults_are_told),
		cmocka_unit_test(test_a_later_text_replaces_a_rule),
		cmocka_unit_test(test_nesting_is_what_a_look_at_all_pairs_gives),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
