// SPDX-License-Identifier: Apache-2.0
// What waits for what never comes, and what dies of a signal.
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void *other_way(void *p)
{
	pthread_mutex_lock(&second);
	sleep(1);
	pthread_mutex_lock(&first);
	return p;
}

static int exec_deadlock(int argc, char **argv)
{
	pthread_t thread;
	(void)argc;
	(void)argv;
	pthread_mutex_lock(&first);
	if (pthread_create(&thread, NULL, other_way, NULL) != 0)
		return 1;
	sleep(1);
	pthread_mutex_lock(&second);
	return 0;
}

// The server is a child that accepts and never answers; it ends with its parent's connection.
static int exec_socket(int argc, char **argv)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof here;
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	char answer;
	(void)argc;
	(void)argv;
	if (bind(server, (struct sockaddr *)&here, sizeof here) != 0 || listen(server, 1) != 0 ||
	    getsockname(server, (struct sockaddr *)&here, &size) != 0)
		return 1;
	if (connect(client, (struct sockaddr *)&here, sizeof here) != 0 ||
	    write(client, "GET", 3) != 3)
		return 1;
	return read(client, &answer, 1) != 1;
}

static int exec_input(int argc, char **argv)
{
	char line[100];
	int ends[2];
	(void)argc;
	(void)argv;
	// As if somebody else held the other end open.
	if (pipe(ends) != 0 || dup2(ends[0], 0) < 0)
		return 1;
	return !fgets(line, sizeof line, stdin);
}

static int exec_flock(int argc, char **argv)
{
	int ready[2];
	char byte;
	if (pipe(ready) != 0)
		return 1;
	if (fork() == 0) {
		int held = open("database.lock", O_CREAT | O_RDWR, 0600);
		flock(held, LOCK_EX);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		sleep((unsigned)number(argc, argv, 1));
		_exit(0);
	}
	if (read(ready[0], &byte, 1) != 1)
		return 1;
	int wanted = open("database.lock", O_CREAT | O_RDWR, 0600);
	flock(wanted, LOCK_EX);
	wait(NULL);
	return 0;
}

static int exec_crash(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int *volatile nowhere = (int *)16;
	compute(number(argc, argv, 2));
	if (strcmp(how, "segv") == 0)
		*nowhere = 1;
	else if (strcmp(how, "ill") == 0)
		__builtin_trap();
	abort();
}

int main(int argc, char **argv)
{
	static const struct verb verbs[] = {
		{ "deadlock", exec_deadlock }, { "socket", exec_socket }, { "input", exec_input },
		{ "flock", exec_flock },       { "crash", exec_crash },   { NULL, NULL }
	};
	return verb_run(verbs, argc, argv);
}
