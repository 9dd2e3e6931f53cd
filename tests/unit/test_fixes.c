/* SPDX-License-Identifier: Apache-2.0 */
/* What would help is said in the recording: of sources that are off, of metrics that are forbidden.
 */
#include "sampler/fixes.h"

#include "source/perf/perf_count.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	fixes_say_source(&s, &k, STATE_FAILED, "it broke");
	assert_string_equal(said(&s, "source.thing.fix_user"), "ask");
	assert_null(said(&s, "source.thing.fix_admin"));
	fixes_say_source(&s, &k, STATE_FORBIDDEN, "no permission");
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

static void that_fit_the_reason(void **state)
{
	static const struct source_fix rows[] = { { "no driver", NULL, "load it" },
						  { "no permission", "ask", NULL },
						  { .words = NULL } };
	const struct source k = { .fixes = rows, .fix_user = "wait", .fix_admin = "buy one" };

	(void)state;
	assert_string_equal(
		fixes_of_source(&k, STATE_UNSUPPORTED, "/sys: no driver is there").admin,
		"load it");
	assert_null(fixes_of_source(&k, STATE_UNSUPPORTED, "/sys: no driver is there").user);
	assert_null(fixes_of_source(&k, STATE_FORBIDDEN, "no permission").admin);
	assert_string_equal(fixes_of_source(&k, STATE_UNSUPPORTED, "none").admin, "buy one");
	/* What a machine has not is no more there for a metric's sake. */
	assert_null(fixes_of_metric(&k, STATE_UNSUPPORTED, "none").admin);
	assert_string_equal(fixes_of_metric(&k, STATE_UNSUPPORTED, "no driver").admin, "load it");
	assert_string_equal(fixes_of_metric(&k, STATE_FORBIDDEN, "else").user, "wait");
}

static const struct source *source_named(const char *name)
{
	for (size_t i = 0; i < nsources; i++)
		if (strcmp(sources[i]->name, name) == 0)
			return sources[i];
	return NULL;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* What perf_event_open answered on which machine; what is then said of why, and of what helps. */
static const struct {
	int given, explained;
	bool of_cpus, of_cgroup, itself_permitted;
	const char *paranoid, *status, *lockdown, *selinux;
	const char *why, *user, *admin; /* user, admin NULL: nothing */
} refusals[] = {
	{ -EACCES, -EACCES, .paranoid = "4", .why = "paranoid is 4", .admin = "paranoid=2" },
	{ -EPERM, -EACCES, .paranoid = "3", .why = "paranoid is 3", .admin = "paranoid=2" },
	{ -EACCES, -EACCES, .of_cpus = true, .paranoid = "2", .why = "their own processes alone",
	  .user = "--perf-scope job", .admin = "paranoid=0" },
	{ -EACCES, -EACCES, .itself_permitted = true, .paranoid = "2", .why = "another user's",
	  .user = "attach as" },
	{ -EPERM, -EPERM, .paranoid = "2", .status = "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n",
	  .why = "seccomp filter", .admin = "seccomp profile" },
	{ -ENOSYS, -EPERM, .paranoid = "4", .status = "Seccomp:\t2\n", .why = "seccomp filter",
	  .admin = "seccomp profile" },
	{ -EPERM, -EPERM, .paranoid = "2", .status = "Seccomp:\t0\n",
	  .lockdown = "none integrity [confidentiality]\n", .why = "locked down",
	  .admin = "lockdown=" },
	{ -EACCES, -EPERM, .paranoid = "2", .lockdown = "[none] integrity confidentiality\n",
	  .selinux = "1", .why = "SELinux", .admin = "perf_event { open" },
	{ -EACCES, -EPERM, .paranoid = "2", .selinux = "0", .why = "security module",
	  .admin = "that module" },
	{ -ENOSYS, -ENOSYS, .why = "no perf events", .admin = "CONFIG_PERF_EVENTS" },
	{ -EMFILE, -EMFILE, .paranoid = "2", .why = "takes an open file", .user = "ulimit -n",
	  .admin = "LimitNOFILE" },
	{ -ENFILE, -ENFILE, .paranoid = "2", .why = "too many files", .admin = "fs.file-max" },
	{ -EINVAL, -EOPNOTSUPP, .of_cpus = true, .of_cgroup = true, .paranoid = "0",
	  .why = "of control groups", .user = "--perf-scope job", .admin = "CONFIG_CGROUP_PERF" },
	{ -ENOENT, -ENOENT, .paranoid = "2", .why = "no such events" },
	{ -EINVAL, -EINVAL, .paranoid = "2", .why = "Invalid argument" },
};

static void check(const char *given, const char *wanted)
{
	if (!wanted)
		assert_null(given);
	else if (!given || !strstr(given, wanted))
		fail_msg("'%s' does not say '%s'", given ? given : "", wanted);
}

static void check_said(enum state s, const char *why, const char *user, const char *admin)
{
	struct fix fix = fixes_of_source(source_named("perf"), s, why);

	check(fix.user, user);
	check(fix.admin, admin);
}

static void of_perf_events(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
		struct root proc, sys;
		struct perf_refusal r = { &proc, &sys, refusals[i].of_cpus, refusals[i].of_cgroup,
					  refusals[i].itself_permitted };
		struct err e;

		assert_int_equal(system("rm -rf p s; mkdir -p p/sys/kernel p/self "
					"s/kernel/security s/fs/selinux"),
				 0);
		if (refusals[i].paranoid)
			write_file("p/sys/kernel/perf_event_paranoid", refusals[i].paranoid);
		if (refusals[i].status)
			write_file("p/self/status", refusals[i].status);
		if (refusals[i].lockdown)
			write_file("s/kernel/security/lockdown", refusals[i].lockdown);
		if (refusals[i].selinux)
			write_file("s/fs/selinux/enforce", refusals[i].selinux);
		assert_int_equal(root_open(&proc, "p") | root_open(&sys, "s"), 0);
		assert_int_equal(perf_explain(&r, refusals[i].given, &e), refusals[i].explained);
		check(e.text, refusals[i].why);
		check_said(state_of(refusals[i].explained), e.text, refusals[i].user,
			   refusals[i].admin);
		root_close(&proc);
		root_close(&sys);
	}
	check_said(STATE_UNSUPPORTED, perf_no_counters, NULL, "pmu=on");
	check_said(STATE_FORBIDDEN, perf_user_mode_only, NULL, "paranoid=1");
	check_said(STATE_UNSUPPORTED, perf_no_group, "--perf-scope job", "proctrack/cgroup");
	check_said(STATE_UNSUPPORTED, perf_no_directory, "--perf-scope job", "cgroup2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_source),
		cmocka_unit_test(of_forbidden_metrics),
		cmocka_unit_test(that_fit_the_reason),
		cmocka_unit_test(of_perf_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
