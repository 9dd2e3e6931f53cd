// SPDX-License-Identifier: Apache-2.0
// Processes and threads: storms, zombies, ping-pong.
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

extern char **environ;

static void spawn_until(double end)
{
	char *const args[] = { "true", NULL };
	while (now() < end) {
		pid_t child;
		if (posix_spawn(&child, "/bin/true", NULL, NULL, args, environ) == 0)
			waitpid(child, NULL, 0);
	}
}

static int exec_spawn(int argc, char **argv)
{
	double end = now() + number(argc, argv, 2);
	int copies = (int)number(argc, argv, 1);
	for (int i = 1; i < copies; i++) {
		if (fork() == 0) {
			spawn_until(end);
			_exit(0);
		}
	}
	spawn_until(end);
	while (wait(NULL) > 0)
		;
	return 0;
}

static int exec_zombies(int argc, char **argv)
{
	int count = (int)number(argc, argv, 1);
	double seconds = number(argc, argv, 2);
	for (int i = 0; i < count; i++) {
		if (fork() == 0)
			_exit(0);
		usleep((useconds_t)(seconds * 1e6 / count / 2));
	}
	usleep((useconds_t)(seconds * 5e5));
	return 0;
}

static int exec_pingpong(int argc, char **argv)
{
	int there[2], back[2];
	char byte = 0;
	if (pipe(there) != 0 || pipe(back) != 0)
		return 1;
	if (fork() == 0) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	for (double end = now() + number(argc, argv, 1); now() < end;) {
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return 1;
	}
	close(there[1]);
	wait(NULL);
	return 0;
}

static void *nothing(void *p)
{
	return p;
}

static int exec_threads(int argc, char **argv)
{
	for (double end = now() + number(argc, argv, 1); now() < end;) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, nothing, NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct verb verbs[] = { { "spawn", exec_spawn },
					     { "zombies", exec_zombies },
					     { "pingpong", exec_pingpong },
					     { "threads", exec_threads },
					     { NULL, NULL } };
	return verb_run(verbs, argc, argv);
}
