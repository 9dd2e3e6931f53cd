/* SPDX-License-Identifier: Apache-2.0 */
/* spin MICROSECONDS [EXIT_CODE [PERCENT]]: spins until its own CPU clock shows that much, then
 * exits. With PERCENT it rests after each millisecond, and takes that much of a core: for who only
 * has to be there. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int64_t want = argc > 1 ? strtoll(argv[1], NULL, 10) * 1000 : 0;
	int code = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	int percent = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 100;
	int64_t spun, rested = 0;
	struct timespec t;

	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
		spun = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
		if (percent > 0 && percent < 100 && spun - rested >= 1000000) {
			t = (struct timespec){ .tv_nsec = 1000000L * (100 - percent) / percent };
			nanosleep(&t, NULL);
			rested = spun;
		}
	} while (spun < want);
	_exit(code);
}
