/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of nodes, as Slurm writes them. */
#include "core/host/hostlist.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void joined(const struct hostlist *h, struct bytes *out)
{
	bytes_reset(out);
	for (uint32_t i = 0; i < h->n; i++) {
		bytes_puts(out, i ? " " : "");
		bytes_puts(out, hostlist_name(h, i));
	}
	bytes_u8(out, '\0');
}

static void compressed(const struct hostlist *h, struct bytes *out)
{
	bytes_reset(out);
	hostlist_compress(h, out);
	bytes_u8(out, '\0');
}

static void a_list_has_its_names_in_order(void **unused)
{
	static const struct {
		const char *list, *names, *again; /* again NULL: as list */
	} cases[] = {
		{ "n1", "n1", NULL },
		{ "n[1-3]", "n1 n2 n3", NULL },
		{ "n[1-3,7],x0[08-10]", "n1 n2 n3 n7 x008 x009 x010", "n[1-3,7],x[008-010]" },
		{ "a[01-02,7]b[1-2],c", "a01b1 a01b2 a02b1 a02b2 a7b1 a7b2 c",
		  "a01b[1-2],a02b[1-2],a7b[1-2],c" },
		{ "n[9-11]", "n9 n10 n11", NULL },
		{ "n[09-11]", "n09 n10 n11", NULL },
		{ "n[1,01]", "n1 n01", NULL },
		{ "n[3,2,2-3]", "n3 n2 n2 n3", NULL },
		{ "[1-2]", "1 2", NULL },
		{ "n[1-2]-ib.site2", "n1-ib.site2 n2-ib.site2", NULL },
		{ "r[1-2]c[1-2]n[1-2]", "r1c1n1 r1c1n2 r1c2n1 r1c2n2 r2c1n1 r2c1n2 r2c2n1 r2c2n2",
		  "r1c1n[1-2],r1c2n[1-2],r2c1n[1-2],r2c2n[1-2]" },
		{ "a[1,3][5,7-8]", "a15 a17 a18 a35 a37 a38", "a[15,17-18,35,37-38]" },
		{ ",n1,,n2\n", "n1 n2", "n[1-2]" },
		{ "n-1", "n-1", NULL },
		{ "n[998-1001]", "n998 n999 n1000 n1001", NULL },
		{ "n[001-2]", "n001 n002", "n[001-002]" },
		{ "n[0-0]", "n0", "n0" },
		{ "r[1-2]n[09-10]-ib,login", "r1n09-ib r1n10-ib r2n09-ib r2n10-ib login",
		  "r1n[09-10]-ib,r2n[09-10]-ib,login" },
		{ "a[1]b[2]c[3]d[4]", "a1b2c3d4", "a1b2c3d4" },
		{ "n[000000000000000001]", "n000000000000000001", "n000000000000000001" },
		{ "n 1", "n 1", "n,1" },
		{ "[01-02]-[1,3]", "01-1 01-3 02-1 02-3", "01-[1,3],02-[1,3]" },
	};
	struct bytes text = { 0 };

	(void)unused;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct hostlist h = { 0 };
		struct err e = { "" };

		assert_int_equal(hostlist_expand(&h, cases[i].list, &e), 0);
		joined(&h, &text);
		assert_string_equal((const char *)text.data, cases[i].names);
		compressed(&h, &text);
		assert_string_equal((const char *)text.data,
				    cases[i].again ? cases[i].again : cases[i].list);
		hostlist_free(&h);
	}
	bytes_free(&text);
}

static void what_is_no_list_is_refused_where_it_breaks(void **unused)
{
	static const struct {
		const char *list;
		int code;
		const char *why;
	} cases[] = {
		{ "n[1-3", -EINVAL, "byte 6 of the list of nodes: a ']' is missing" },
		{ "n[1-3;4]", -EINVAL, "byte 6 of the list of nodes: a ',' or ']' should be here" },
		{ "n[]", -EINVAL, "byte 3 of the list of nodes: a number is missing" },
		{ "n[1-]", -EINVAL, "byte 5 of the list of nodes: a number is missing" },
		{ "n[a-b]", -EINVAL, "byte 3 of the list of nodes: a number is missing" },
		{ "n[[1-2]]", -EINVAL, "byte 3 of the list of nodes: a number is missing" },
		{ "n[000x111]", -EINVAL,
		  "byte 6 of the list of nodes: a ',' or ']' should be here" },
		{ "n[3-1]", -EINVAL,
		  "byte 6 of the list of nodes: the range before this goes backwards" },
		{ "n[1,[2-3]]", -EINVAL, "byte 5 of the list of nodes: a number is missing" },
		{ "n[1,]", -EINVAL, "byte 5 of the list of nodes: a number is missing" },
		{ "n[,1]", -EINVAL, "byte 3 of the list of nodes: a number is missing" },
		{ "n[-1]", -EINVAL, "byte 3 of the list of nodes: a number is missing" },
		{ "n[1 - 2]", -EINVAL, "byte 4 of the list of nodes: a ',' or ']' should be here" },
		{ "n[1-2-3]", -EINVAL, "byte 6 of the list of nodes: a ',' or ']' should be here" },
		{ "n[1][", -EINVAL, "byte 6 of the list of nodes: a number is missing" },
		{ "n[%n]", -EINVAL, "byte 3 of the list of nodes: a number is missing" },
		{ "n1]", -EINVAL, "byte 3 of the list of nodes: this is not part of a name" },
		{ "n\x1b[1]", -EINVAL, "byte 2 of the list of nodes: this is not part of a name" },
		{ "", -EINVAL, "the list of nodes is empty" },
		{ ", ,", -EINVAL, "the list of nodes is empty" },
		{ "a,n[0-999999]", -E2BIG,
		  "byte 14 of the list of nodes: these are more nodes than any machine has" },
		{ "n[1-300][1-300]", -E2BIG,
		  "byte 16 of the list of nodes: these are more nodes than any machine has" },
		{ "n[0-999999999999999999][0-999999999999999999][0-999999999999999999]", -E2BIG,
		  "byte 68 of the list of nodes: these are more nodes than any machine has" },
		{ "n[1-2][1-2][1-2][1-2][1-2][1-2][1-2][1-2][1-2]", -E2BIG,
		  "byte 42 of the list of nodes: one name has too many brackets" },
		{ "n[18446744073709551615]", -E2BIG,
		  "byte 3 of the list of nodes: the number is too long" },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct hostlist h = { 0 };
		struct err e = { "" };

		assert_int_equal(hostlist_add(&h, "kept", 4, NULL), 0);
		assert_int_equal(hostlist_expand(&h, cases[i].list, &e), cases[i].code);
		assert_string_equal(e.text, cases[i].why);
		assert_int_equal(h.n, 1);
		assert_int_equal(h.text.len, 5);
		hostlist_free(&h);
	}
}

static void as_many_as_there_may_be(void **unused)
{
	struct hostlist h = { 0 };
	char list[64], name[HOSTLIST_NAME + 4];

	(void)unused;
	snprintf(list, sizeof list, "n[1-%d]", HOSTLIST_MAX);
	assert_int_equal(hostlist_expand(&h, list, NULL), 0);
	assert_int_equal(h.n, HOSTLIST_MAX);
	assert_string_equal(hostlist_name(&h, HOSTLIST_MAX - 1), "n65536");
	assert_int_equal(hostlist_add(&h, "m", 1, NULL), -E2BIG);
	hostlist_free(&h);

	memset(name, 'x', sizeof name);
	assert_int_equal(hostlist_add(&h, name, HOSTLIST_NAME, NULL), -E2BIG);
	assert_int_equal(hostlist_add(&h, name, HOSTLIST_NAME - 1, NULL), 0);
	name[HOSTLIST_NAME] = '\0';
	assert_int_equal(hostlist_expand(&h, name, NULL), -E2BIG);
	memcpy(name + HOSTLIST_NAME - 10, "[1]", 4);
	assert_int_equal(hostlist_expand(&h, name, NULL), -E2BIG);
	hostlist_free(&h);
}

static void names_are_found_with_and_without_their_domain(void **unused)
{
	struct hostlist h = { 0 };

	(void)unused;
	assert_int_equal(hostlist_expand(&h, "n10,n1.site,n2,n2.other,n3", NULL), 0);
	assert_int_equal(hostlist_find(&h, "n1"), 1);
	assert_int_equal(hostlist_find(&h, "n1.site"), 1);
	assert_int_equal(hostlist_find(&h, "n1.elsewhere"), -1);
	assert_int_equal(hostlist_find(&h, "n2.other"), 3);
	assert_int_equal(hostlist_find(&h, "n2.site"), 2);
	assert_int_equal(hostlist_find(&h, "n3.site"), 4);
	assert_int_equal(hostlist_find(&h, "n"), -1);
	assert_int_equal(hostlist_find(&h, ""), -1);
	hostlist_free(&h);
}

static void slots_are_nodes_once(void **unused)
{
	static const char *const slots[] = { "p2", "p2", "p1", "p1", "p3", "p2", "p1", "p3", "p2" };
	struct hostlist h = { 0 };
	struct bytes text = { 0 };
	uint32_t near = 0;

	(void)unused;
	for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
		assert_int_equal(hostlist_add_once(&h, slots[i], 2, &near, NULL), 0);
	joined(&h, &text);
	assert_string_equal((const char *)text.data, "p2 p1 p3");
	hostlist_free(&h);

	/* In turns, among those of a list that was there before. */
	assert_int_equal(hostlist_expand(&h, "n[7,7,3]", NULL), 0);
	for (int i = 0; i < 2 * HOSTLIST_MAX; i++) {
		char name[16];
		int n = snprintf(name, sizeof name, "n%d", i % (HOSTLIST_MAX - 1));

		assert_int_equal(hostlist_add_once(&h, name, (size_t)n, &near, NULL), 0);
	}
	assert_int_equal(h.n, HOSTLIST_MAX);
	assert_string_equal(hostlist_name(&h, 3), "n0");
	assert_int_equal(hostlist_add_once(&h, "n65534", 6, &near, NULL), 0);
	assert_int_equal(near, HOSTLIST_MAX - 1);
	assert_int_equal(hostlist_add_once(&h, "n7", 2, &near, NULL), 0);
	assert_int_equal(near, 0);
	assert_int_equal(hostlist_add_once(&h, "other", 5, &near, NULL), -E2BIG);
	bytes_free(&text);
	hostlist_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_has_its_names_in_order),
		cmocka_unit_test(what_is_no_list_is_refused_where_it_breaks),
		cmocka_unit_test(as_many_as_there_may_be),
		cmocka_unit_test(names_are_found_with_and_without_their_domain),
		cmocka_unit_test(slots_are_nodes_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
