/* SPDX-License-Identifier: Apache-2.0 */
/* Whose page tables are walked when the budget is short, in a /proc made for it. */
#include "base/clock.h"
#include "sampler/tree/tree_state.h"
#include "tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { WALKED = 500, NEW = 600 };

struct made {
	char dir[32];
	struct root proc;
	struct tree tree;
};

static void add(struct made *m, pid_t pid, int64_t walk_ns)
{
	char path[32];
	struct process *p = table_add(&m->tree.table, pid, 1);

	snprintf(path, sizeof path, "%d/smaps_rollup", (int)pid);
	tree_put(
		m->dir, path,
		"Rss: 400 kB\nPss: 300 kB\nPrivate_Clean: 0 kB\nPrivate_Dirty: 200 kB\nSwap: 0 kB\n");
	assert_non_null(p);
	p->pss_bytes = walk_ns ? 1 : -1;
	p->walk_ns = walk_ns;
	p->walk_cost_ns = 15000;
	p->read_ns = 1;
	p->stat.rss_pages = 100;
	p->walk_due = true;
}

static void begin(struct made *m, int64_t budget_ns)
{
	memset(m, 0, sizeof *m);
	snprintf(m->dir, sizeof m->dir, "%s", "walkXXXXXX");
	assert_non_null(mkdtemp(m->dir));
	assert_int_equal(root_open(&m->proc, m->dir), 0);
	m->tree.reading = (struct reading){ .proc = &m->proc, .page_bytes = 4096 };
	m->tree.due = READ_STAT;
	m->tree.walk_budget_ns = budget_ns;
	assert_int_equal(table_init(&m->tree.table), 0);
}

static void end(struct made *m)
{
	table_free(&m->tree.table);
	root_close(&m->proc);
}

static bool was_walked(struct made *m, pid_t pid)
{
	return table_find(&m->tree.table, pid)->walked_now;
}

static void a_part_is_kept_for_who_was_never_walked(void **unused)
{
	struct made m;

	(void)unused;
	begin(&m, NS_PER_MS);
	add(&m, WALKED, 1);
	add(&m, NEW, 0);
	walk_step(&m.tree);
	assert_true(was_walked(&m, NEW));
	assert_false(was_walked(&m, WALKED));
	assert_int_equal(table_find(&m.tree.table, NEW)->pss_bytes, 300 << 10);
	m.tree.walk_budget_ns = 10 * NS_PER_MS;
	walk_step(&m.tree);
	assert_true(was_walked(&m, WALKED));
	end(&m);
}

/* One that has forked and grew from 40 to 100 MiB: by its own memory or not. */
static bool others_are_outdated(int own_kb)
{
	struct process *p;
	struct made m;
	bool outdated;

	begin(&m, 10 * NS_PER_MS);
	add(&m, WALKED, 1);
	tree_put(
		m.dir, "500/smaps_rollup",
		"Rss: 102400 kB\nPss: 80000 kB\nPrivate_Clean: 0 kB\nPrivate_Dirty: %d kB\nSwap: 0 "
		"kB\n",
		own_kb);
	p = table_find(&m.tree.table, WALKED);
	p->has_forked = true;
	p->noted_shared_bytes = 40 << 20;
	p->walk_rss_bytes = 40 << 20;
	p->stat.rss_pages = 25600;
	walk_step(&m.tree);
	assert_true(was_walked(&m, WALKED));
	outdated = m.tree.shared_since_ns > 0;
	end(&m);
	return outdated;
}

static void what_one_has_alone_makes_no_other_old(void **unused)
{
	(void)unused;
	assert_false(others_are_outdated(60 << 10));
	assert_true(others_are_outdated(20 << 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_has_alone_makes_no_other_old),
		cmocka_unit_test(a_part_is_kept_for_who_was_never_walked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
