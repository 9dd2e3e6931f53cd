/* SPDX-License-Identifier: Apache-2.0 */
/* blame_json.c - where the difference in CPU time lies, for programs: names are whole. */
#include "base/text/json.h"
#include "report/comparison/blame.h"

#include <math.h>

static const char *const kinds[] = {
	[BLAME_NAMED] = "named",           [BLAME_MODULE] = "renamed or inlined",
	[BLAME_OTHERS] = "others",         [BLAME_SHORT] = "too short to be sampled",
	[BLAME_UNSAMPLED] = "not sampled", [BLAME_KERNEL] = "kernel",
};
_Static_assert(sizeof kinds / sizeof kinds[0] == BLAME_KINDS, "a name each");

static void put_text(struct json *j, const char *key, const struct bytes *text)
{
	struct bytes copy = { 0 };

	bytes_put(&copy, text->data, text->len);
	bytes_u8(&copy, 0);
	json_put_text(j, key, text->len && !copy.failed ? (const char *)copy.data : NULL);
	j->out->failed |= copy.failed;
	bytes_free(&copy);
}

static void put_values(struct json *j, const struct blame *b, const struct blame_part *p, int side)
{
	json_key(j, side ? "values_b" : "values_a");
	json_array(j);
	for (uint32_t i = 0; i < b->nruns; i++)
		if (b->run[i].side == side)
			json_real(j, p ? p->value[i] : b->run[i].whole_s);
	json_array_end(j);
}

/* Members of an open object; p NULL: the whole. */
static void put_difference(struct json *j, const struct blame *b, const struct compared *c,
			   const struct blame_part *p)
{
	json_put_real(j, "a_seconds", c->a);
	json_put_real(j, "b_seconds", c->b);
	json_put_real(j, "difference_seconds", c->difference);
	json_put_real(j, "low_seconds", c->low);
	json_put_real(j, "high_seconds", c->high);
	json_put_real(j, "difference_ratio", blame_points(b, c->difference) / 100);
	json_put_real(j, "low_ratio", blame_points(b, c->low) / 100);
	json_put_real(j, "high_ratio", blame_points(b, c->high) / 100);
	json_put_real(j, "p_different", c->p);
	json_put_real(j, "p_without_drift", c->p_drift);
	put_values(j, b, p, 0);
	put_values(j, b, p, 1);
}

static void put_part(struct json *j, const struct blame *b, const struct blame_part *p)
{
	bool sampled = p->level != BLAME_COMMAND && p->kind < BLAME_SHORT;
	struct bytes words = { 0 };

	json_object(j);
	json_put_text(j, "name", p->name);
	json_put_text(j, "kind", kinds[p->kind]);
	json_put_text(j, "module", *p->module ? p->module : NULL);
	json_put_bool(j, "blamed", p->blamed);
	json_put_real(j, "p_corrected", p->p);
	json_put_real(j, "counted_low_seconds", p->counted_low);
	json_put_real(j, "counted_high_seconds", p->counted_high);
	json_put_real(j, "samples_a", sampled ? p->samples[0] : NAN);
	json_put_real(j, "samples_b", sampled ? p->samples[1] : NAN);
	put_difference(j, b, &p->result, p);
	if (*p->module)
		blame_module_words(&words, b, p->module);
	put_text(j, "module_changed", &words);
	bytes_free(&words);
	json_object_end(j);
}

static void put_level(struct json *j, const struct blame *b, enum blame_level level)
{
	json_key(j, blame_level_names[level]);
	json_array(j);
	for (uint32_t i = 0; i < b->nparts; i++)
		if (b->judged && b->part[i].level == level)
			put_part(j, b, &b->part[i]);
	json_array_end(j);
}

void blame_json(struct json *j, const struct blame *b)
{
	struct bytes sentence = { 0 };

	if (blame_is_empty(b)) {
		json_null(j);
		return;
	}
	blame_sentence(&sentence, b);
	json_object(j);
	put_text(j, "sentence", &sentence);
	put_text(j, "refused", &b->refused);
	put_text(j, "note", &b->note);
	json_put_real(j, "level", b->level);
	json_key(j, "parts");
	json_int(j, b->judged ? b->nparts : 0);
	json_key(j, "whole");
	if (b->judged) {
		json_object(j);
		put_difference(j, b, &b->whole, NULL);
		json_object_end(j);
	} else {
		json_null(j);
	}
	for (int level = 0; level < BLAME_LEVELS; level++)
		put_level(j, b, (enum blame_level)level);
	json_object_end(j);
	bytes_free(&sentence);
}
