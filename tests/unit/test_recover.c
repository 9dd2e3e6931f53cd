/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "recording/recover.h"
#include "unit/recording_truth.h"

struct told {
	char to[64];
	int n;
};

static void wrote(void *ctx, const char *name)
{
	assert_string_equal(name, "node-host.sonde");
	((struct told *)ctx)->n++;
}

/* Recover t into a directory of its own and open that. */
static struct run *recovered(const struct truth *t, struct told *told)
{
	struct err e = { "" };
	struct run *r;
	int fd;

	*told = (struct told){ .to = "sonde_recovered_XXXXXX" };
	assert_non_null(mkdtemp(told->to));
	fd = open(told->to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	if (recover(r, fd, false, wrote, told, &e))
		fail_msg("%s", e.text);
	assert_true(recover(r, fd, false, wrote, told, &e) < 0); /* nothing is overwritten */
	assert_int_equal(told->n, 1);
	run_close(r);
	close(fd);
	assert_int_equal(run_open(&r, told->to, NULL), 0);
	assert_int_equal(r->ndamages, 0);
	return r;
}

static void test_a_killed_recording_is_recovered_whole(void **state)
{
	struct truth *t = truth_new(2, &(struct writer_options){ .chunk_rows = 20 });
	struct told told;
	struct run *r;

	(void)state;
	truth_samples(t, 75);
	writer_abandon(t->w);
	r = recovered(t, &told);
	assert_int_equal(truth_check(t, r), t->nvalues);
	assert_int_equal(r->nodes[1].rows, 75);
	assert_false(r->nodes[1].complete);
	run_close(r);
	directory_remove(told.to);
	truth_free(t);
}

static void test_a_whole_recording_stays_complete(void **state)
{
	struct truth *t = truth_new(2, NULL);
	struct told told;
	struct run *r;

	(void)state;
	truth_samples(t, 10);
	writer_close(t->w, NULL);
	r = recovered(t, &told);
	assert_int_equal(truth_check(t, r), t->nvalues);
	assert_true(r->nodes[1].complete);
	run_close(r);
	directory_remove(told.to);
	truth_free(t);
}

static void test_what_was_lost_is_not_forgotten(void **state)
{
	struct truth *t = truth_new(2, &(struct writer_options){ .chunk_rows = 20 });
	struct told told;
	struct stat st;
	struct run *r;
	uint64_t n;
	int fd;

	(void)state;
	truth_samples(t, 75);
	writer_close(t->w, NULL);
	fd = openat(t->fd, "node-host.sonde", O_RDWR | O_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pwrite(fd, "\0\0\0\0\0\0\0\0", 8, st.st_size / 2), 8);
	close(fd);
	r = recovered(t, &told);
	n = truth_check(t, r);
	assert_true(n > 0 && n < t->nvalues);
	assert_false(r->nodes[1].complete);
	run_close(r);
	directory_remove(told.to);
	truth_free(t);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_killed_recording_is_recovered_whole),
	cmocka_unit_test(test_a_whole_recording_stays_complete),
	cmocka_unit_test(test_what_was_lost_is_not_forgotten),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
