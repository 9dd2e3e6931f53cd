/* SPDX-License-Identifier: Apache-2.0 */
/* probe: prints what a process inherits, so that two ways of starting it can be compared. */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_environment(void)
{
	for (char **e = environ; *e; e++)
		if (strncmp(*e, "SONDE_", 6) != 0)
			printf("env %s\n", *e);
}

static void print_limits(void)
{
	struct rlimit l;

	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (getrlimit((__rlimit_resource_t)i, &l) == 0)
			printf("limit %d %llu %llu\n", i, (unsigned long long)l.rlim_cur,
			       (unsigned long long)l.rlim_max);
}

static void print_signals(void)
{
	struct sigaction act;
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int sig = 1; sig < NSIG; sig++) {
		if (sigismember(&mask, sig) == 1)
			printf("blocked %d\n", sig);
		if (sigaction(sig, NULL, &act) == 0 && act.sa_handler != SIG_DFL)
			printf("ignored %d\n", sig);
	}
}

static void print_affinity(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &set))
				printf("cpu %zu\n", cpu);
	printf("scheduler %d nice %d\n", sched_getscheduler(0), getpriority(PRIO_PROCESS, 0));
	printf("timer slack %d\n", prctl(PR_GET_TIMERSLACK));
}

/* Descriptors above the standard three must not come from whoever started us. */
static void print_descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		int flags = fcntl(fd, F_GETFL);

		if (flags >= 0)
			printf("descriptor %d flags %o\n", fd, (unsigned)flags);
	}
}

static void print_file(const char *path)
{
	char line[256];
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f))
		printf("%s %s", path, line);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	char cwd[4096], line[256];
	mode_t mask = umask(0);

	umask(mask);
	print_descriptors();
	for (int i = 1; i < argc; i++)
		printf("argument %s\n", argv[i]);
	print_environment();
	print_limits();
	print_signals();
	print_affinity();
	printf("cwd %s\n", getcwd(cwd, sizeof(cwd)) ? cwd : "?");
	printf("umask %o\n", (unsigned)mask);
	printf("group %d session %d\n", (int)getpgrp(), (int)getsid(0));
	printf("user %d %d group %d %d\n", (int)getuid(), (int)geteuid(), (int)getgid(),
	       (int)getegid());
	printf("dumpable %d no_new_privs %d\n", prctl(PR_GET_DUMPABLE),
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	print_file("/proc/self/oom_score_adj");
	print_file("/proc/self/cgroup");
	while (fgets(line, sizeof(line), stdin))
		printf("stdin %s", line);
	fputs("to stderr\n", stderr);
	return 0;
}
