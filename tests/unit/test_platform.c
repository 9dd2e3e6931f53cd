/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of whole machines: tests/fixtures/platform/<machine>.tree gives
 * tests/golden/platform-<machine>.txt. UPDATE_GOLDEN=1 writes the golden files anew. */
#include "source/cpulist.h"
#include "source/platform/platform.h"
#include "unit/platform_tree.h"

#include "base/bytes.h"
#include "base/text/escape.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *top(void)
{
	const char *given = getenv("TOP");

	return given ? given : ".";
}

static void put_event(struct bytes *b, const struct event *e)
{
	if (e->kind != EVENT_META)
		return;
	escape_terminal(b, e->name);
	bytes_puts(b, " = ");
	if (e->meta_type == META_TEXT)
		escape_terminal(b, e->text);
	else if (e->meta_type == META_BOOL)
		bytes_puts(b, e->value ? "yes" : "no");
	else
		bytes_printf(b, "%" PRId64, e->value);
	bytes_puts(b, "\n");
}

/* What is said of the machine whose folders are below here. */
static void say(const char *machine, const char *variable, struct bytes *out)
{
	char *environment[] = { (char *)(uintptr_t)variable, NULL }, path[512];
	struct root proc = { 0 }, sys = { 0 }, files = { 0 };
	struct platform p = { .proc = &proc, .sys = &sys, .files = &files };
	struct sample s;

	assert_int_equal(sample_init(&s, 64, 4096), 0);
	p.sample = &s;
	p.environment = *variable ? environment : NULL;
	snprintf(path, sizeof path, "%s/proc", machine);
	root_open(&proc, path);
	snprintf(path, sizeof path, "%s/sys", machine);
	root_open(&sys, path);
	snprintf(path, sizeof path, "%s/files", machine);
	root_open(&files, path);
	platform_say(&p);
	for (uint32_t i = 0; i < s.nevents; i++)
		put_event(out, &s.event[i]);
	bytes_u8(out, 0);
	root_close(&proc);
	root_close(&sys);
	root_close(&files);
	sample_free(&s);
}

static void compare(const char *got, const char *path)
{
	bool update = getenv("UPDATE_GOLDEN") != NULL;
	FILE *f = fopen(path, update ? "w" : "r");
	char want[65536];
	size_t n;

	if (!f)
		fail_msg("%s cannot be opened", path);
	if (update) {
		fputs(got, f);
		fclose(f);
		return;
	}
	n = fread(want, 1, sizeof want - 1, f);
	want[n] = '\0';
	fclose(f);
	assert_string_equal(got, want);
}

static void gives_its_golden_file(void **machine)
{
	char golden[512], variable[256];
	struct bytes b = { 0 };

	platform_tree_make(top(), *machine, variable);
	say(*machine, variable, &b);
	snprintf(golden, sizeof golden, "%s/tests/golden/platform-%s.txt", top(),
		 (const char *)*machine);
	compare((const char *)b.data, golden);
	bytes_free(&b);
}

/* Nothing there is nothing said, but that no container was seen. */
static void an_empty_machine_says_nothing(void **state)
{
	struct bytes b = { 0 };

	(void)state;
	say("no such machine", "", &b);
	assert_string_equal((const char *)b.data,
			    "host.container = none\n"
			    "host.container_evidence = no sign of one was found\n");
	bytes_free(&b);
}

static void lists_of_cpus(void **state)
{
	struct cpulist set, some;

	(void)state;
	assert_true(cpulist_parse(&set, "0-3,8,10-11\n"));
	assert_int_equal(cpulist_count(&set), 7);
	assert_true(cpulist_has(&set, 8) && !cpulist_has(&set, 9));
	assert_int_equal(cpulist_next(&set, 4), 8);
	assert_int_equal(cpulist_next(&set, 12), CPUS_MAX);
	assert_true(cpulist_parse(&some, "1-8"));
	cpulist_remove(&set, &some);
	assert_int_equal(cpulist_count(&set), 3);
	assert_true(cpulist_parse(&set, "\n") && cpulist_count(&set) == 0);
	assert_true(cpulist_parse(&set, "8190-4000000000"));
	assert_int_equal(cpulist_count(&set), 2);
	for (size_t i = 0; i < 6; i++) {
		static const char *const bad[] = { "x", "3-1", "0-", "1,", "1;2", ",1" };

		assert_false(cpulist_parse(&set, bad[i]));
		assert_int_equal(cpulist_count(&set), 0);
	}
}

/* With one thread of eight on, the lists of a large machine are longer than other texts are kept.
 */
static void long_lists_are_whole(void **state)
{
	static const char *const files[] = {
		"sys/devices/system/cpu/online",
		"sys/devices/system/cpu/cpu0/topology/core_siblings_list",
		"sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list",
	};
	struct bytes list = { 0 }, want = { 0 }, b = { 0 };

	(void)state;
	for (unsigned cpu = 0; cpu < 160 * 8; cpu += 8)
		bytes_printf(&list, "%s%u", cpu ? "," : "", cpu);
	bytes_u8(&list, 0);
	assert_true(list.len > 512);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		platform_tree_file("long", files[i], (const char *)list.data, list.len - 1);
	platform_tree_file("long", "sys/devices/system/cpu/cpu0/cache/index3/level", "3", 1);
	platform_tree_file("long", "sys/devices/system/cpu/cpu0/cache/index3/type", "Unified", 7);
	bytes_printf(&want,
		     "host.cpus_online = %s\n"
		     "host.cache_l3_cpus_count = 160\n"
		     "host.cpus_count = 160\n"
		     "host.sockets_count = 1\n"
		     "host.container = none\n"
		     "host.container_evidence = no sign of one was found\n",
		     (const char *)list.data);
	bytes_u8(&want, 0);
	say("long", "", &b);
	assert_string_equal((const char *)b.data, (const char *)want.data);
	bytes_free(&list);
	bytes_free(&want);
	bytes_free(&b);
}

#define MACHINE(machine)                                                                           \
	{                                                                                          \
		machine, gives_its_golden_file, NULL, NULL, (char[])                               \
		{                                                                                  \
			machine                                                                    \
		}                                                                                  \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MACHINE("epyc-2s"),
		MACHINE("hybrid"),
		MACHINE("grace"),
		MACHINE("big-little"),
		MACHINE("guest"),
		MACHINE("old"),
		MACHINE("power9"),
		MACHINE("broken"),
		cmocka_unit_test(an_empty_machine_says_nothing),
		cmocka_unit_test(lists_of_cpus),
		cmocka_unit_test(long_lists_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
