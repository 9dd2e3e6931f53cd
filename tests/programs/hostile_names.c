/* SPDX-License-Identifier: Apache-2.0 */
/* hostile_names [MILLISECONDS]: processes whose names attack whoever prints them. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const names[] = {
	"\033[31mred\033]0;t\a",
	"<script>x()<",
	"\"'`$(id)&",
	"new\nline\r\ttab",
	"=1+1|'calc'!A",
	"\xff\xfe\xc3(\xa0",
	"\xe2\x80\xae"
	"rtl\xc2\x9b"
	"31m",
	"a\\b\\\\n%s%n",
	") R 1 1 (",
	"</script>-->",
	"@SUM(A1)",
	"-2+3",
	"",
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static void spin(int64_t ns)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec * INT64_C(1000000000) + t.tv_nsec < ns);
}

int main(int argc, char **argv)
{
	useconds_t us = (argc > 1 ? (useconds_t)strtoul(argv[1], NULL, 10) : 600) * 1000;

	for (int i = 0; i < NAMES; i++) {
		if (fork() == 0) {
			prctl(PR_SET_NAME, names[i]);
			spin(i ? 20000000
			       : 100000000); /* the first is the one that a short summary names */
			usleep(us);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
