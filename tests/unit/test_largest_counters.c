/* SPDX-License-Identifier: Apache-2.0 */
/* Each fixture of /proc and /sys, its numbers replaced by the largest that there are, before the
 * sources open it or after: nothing that comes out is below zero, and no sum overflows, which
 * UndefinedBehaviorSanitizer sees. */
#include "unit/node.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH = 1024, TEXT = 1 << 16 };

struct change {
	size_t digits; /* a number of fewer stays */
	const char *to;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_within_word(char c)
{
	return c && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.,", c);
}

static void write_file(const char *path, const char *text, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n);
	close(fd);
}

static void change_numbers(struct bytes *out, const char *text, const struct change *c)
{
	char before = ' ';

	while (*text) {
		size_t n = strspn(text, "0123456789");

		if (n && n >= c->digits && !is_within_word(before) && !is_within_word(text[n]))
			bytes_puts(out, c->to);
		else
			bytes_put(out, text, n ? n : 1);
		text += n ? n : 1;
		before = is_digit(text[-1]) ? '0' : text[-1];
	}
}

static void copy_file(const char *from, const char *to, const struct change *c)
{
	static char text[TEXT];
	struct bytes b = { 0 };
	int fd = open(from, O_RDONLY);
	ssize_t n = read(fd, text, sizeof text - 1);

	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	if (c) {
		change_numbers(&b, text, c);
		write_file(to, (const char *)b.data, b.len);
	} else {
		write_file(to, text, n < 0 ? 0 : (size_t)n);
	}
	bytes_free(&b);
}

static void copy_link(const char *from, const char *to)
{
	char target[PATH];
	ssize_t n = readlink(from, target, sizeof target - 1);

	if (n < 0)
		return;
	target[n] = '\0';
	unlink(to);
	assert_int_equal(symlink(target, to), 0);
}

static void copy_tree(const char *from, const char *to, const struct change *c)
{
	DIR *dir = opendir(from);
	struct dirent *d;

	assert_non_null(dir);
	mkdir(to, 0700);
	while ((d = readdir(dir))) {
		char source[PATH], target[PATH];

		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		snprintf(source, sizeof source, "%s/%s", from, d->d_name);
		snprintf(target, sizeof target, "%s/%s", to, d->d_name);
		if (d->d_type == DT_DIR)
			copy_tree(source, target, c);
		else if (d->d_type == DT_LNK)
			copy_link(source, target);
		else if (d->d_type == DT_REG)
			copy_file(source, target, c);
	}
	closedir(dir);
}

/* How many values there are. */
static size_t check_values(const struct node *n, const char *machine)
{
	size_t values = 0;

	for (uint32_t i = 1; i < n->sample.nslots; i++) {
		const struct slot *s = &n->sample.slot[i];

		if (!s->series || n->sample.state[i] != STATE_PRESENT)
			continue;
		values++;
		if (s->metric->unit != UNIT_CELSIUS && n->sample.value[i] < 0)
			fail_msg("%s: %s is %" PRId64, machine, s->metric->name,
				 n->sample.value[i]);
	}
	return values;
}

static size_t read_large(const char *fixture, const char *machine, const struct change *c,
			 bool opened_before)
{
	char proc[] = "tree/proc", sys[] = "tree/sys";
	struct node n;
	size_t values;

	copy_tree(fixture, "tree", opened_before ? NULL : c);
	node_open_with(&n, proc, sys, 1 << 14);
	if (opened_before) {
		node_read_at(&n, 500);
		copy_tree(fixture, "tree", c);
	}
	for (int i = 1; i <= 12; i++)
		node_read_at(&n, i * INT64_C(10000000000));
	values = check_values(&n, machine);
	node_close(&n);
	assert_int_equal(system("rm -rf tree"), 0);
	return values;
}

static size_t read_each_way(const char *fixtures, const char *machine)
{
	static const struct change changes[] = {
		{ 4, "9223372036854775807" },  { 4, "6148914691236517204" },
		{ 4, "18446744073709551615" }, { 1, "9223372036854775807" },
		{ 1, "6148914691236517204" },
	};
	char path[PATH], proc[PATH + 8];
	size_t values = 0;

	snprintf(path, sizeof path, "%s/%s", fixtures, machine);
	snprintf(proc, sizeof proc, "%s/proc", path);
	if (access(proc, F_OK))
		return 0;
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
		for (int before = 0; before < 2; before++)
			values += read_large(path, machine, &changes[i], before);
	return values;
}

static void largest_counters_overflow_nothing(void **state)
{
	const char *top = getenv("TOP");
	char fixtures[PATH / 2];
	size_t values = 0;
	struct dirent *d;
	DIR *dir;

	(void)state;
	snprintf(fixtures, sizeof fixtures, "%s/tests/fixtures", top ? top : ".");
	dir = opendir(fixtures);
	assert_non_null(dir);
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.' && d->d_type == DT_DIR)
			values += read_each_way(fixtures, d->d_name);
	closedir(dir);
	print_message("%zu values\n", values);
	assert_true(values > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(largest_counters_overflow_nothing) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
