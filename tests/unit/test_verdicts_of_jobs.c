/* SPDX-License-Identifier: Apache-2.0 */
/* Many jobs that are made up, each recorded and judged: what is wrong with them is told, and
 * nothing else. Prints precision and recall of each rule; JOBS=2000 makes more of them, FIRST=5000
 * others. */
#include "made_job_write.h"
#include "recording/join.h"
#include "report/summary/summary.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { JOBS = 200 };

struct score {
	unsigned right, invented, missed;
};

static double part(unsigned of, unsigned rest)
{
	return of + rest ? of / (double)(of + rest) : 1;
}

/* The rule itself, or the same of several nodes: "leak-on-nodes". */
static bool is_rule(const char *name, const char *rule)
{
	size_t n = strlen(rule);

	return !strncmp(name, rule, n) && (!name[n] || !strncmp(name + n, "-on-node", 8));
}

static bool says(const struct summary *s, const char *rule)
{
	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (is_rule(s->verdicts[i].rule, rule) &&
		    s->verdicts[i].severity != SEVERITY_CANNOT_TELL)
			return true;
	return false;
}

static void count(struct score *score, const struct made_job *j, const struct summary *s,
		  uint64_t number)
{
	for (int f = 0; f < FAULTS; f++) {
		bool told = says(s, fault_rules[f]);

		score[f].right += told && j->has[f];
		score[f].invented += told && !j->has[f];
		score[f].missed += !told && j->has[f];
		if (told != j->has[f])
			printf("job %llu: %s is %s\n", (unsigned long long)number, fault_rules[f],
			       told ? "invented" : "missed");
	}
}

static void empty(const char *directory)
{
	DIR *d = opendir(directory);
	const struct dirent *e;

	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
}

static void judge(struct score *score, uint64_t number, const char *directory)
{
	struct made_job j = made_job_draw(number), drawn = j;
	struct summary s;
	struct err e = { "" };
	struct run *r;

	made_job_write(&j, directory);
	if (run_open(&r, directory, &e) || summary_make_as(&s, r, &(struct summary_wish){ 0 }, &e))
		fail_msg("%s", e.text);
	count(score, &drawn, &s, number);
	summary_free(&s);
	run_close(r);
	empty(directory);
}

static void test_what_is_wrong_with_a_job_is_told_and_nothing_else(void **state)
{
	const char *wanted = getenv("JOBS");
	uint64_t jobs = wanted ? strtoull(wanted, NULL, 10) : JOBS;
	const char *first = getenv("FIRST");
	uint64_t from = first ? strtoull(first, NULL, 10) : 0;
	struct score score[FAULTS] = { 0 }, all = { 0 };
	char directory[] = "jobs.XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(directory));
	for (uint64_t i = 0; i < jobs; i++)
		judge(score, from + i, directory);
	rmdir(directory);
	for (int f = 0; f < FAULTS; f++) {
		const struct score *x = &score[f];

		printf("%-20s %4u jobs  precision %.3f  recall %.3f\n", fault_rules[f],
		       x->right + x->missed, part(x->right, x->invented),
		       part(x->right, x->missed));
		assert_true(x->right + x->missed >= jobs / 50);
		all.right += x->right;
		all.invented += x->invented;
		all.missed += x->missed;
	}
	printf("%-20s %4u faults in %llu jobs  precision %.3f  recall %.3f\n", "all",
	       all.right + all.missed, (unsigned long long)jobs, part(all.right, all.invented),
	       part(all.right, all.missed));
	for (int f = 0; f < FAULTS; f++) {
		assert_true(part(score[f].right, score[f].invented) >= 0.95);
		assert_true(part(score[f].right, score[f].missed) >= 0.95);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_wrong_with_a_job_is_told_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
