/* SPDX-License-Identifier: Apache-2.0 */
/* spin MICROSECONDS [EXIT_CODE]: spins until its own CPU clock shows that much, then exits. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int64_t want = argc > 1 ? strtoll(argv[1], NULL, 10) * 1000 : 0;
	int code = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	struct timespec t;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec * INT64_C(1000000000) + t.tv_nsec < want);
	_exit(code);
}
