/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patterns.c - uses CPU time in one known way: patterns HOW SECONDS
 *   compile   compiles a regular expression for each text
 *   match     compiles it once, and matches
 *   measured  calls a function that tells a profiler of each call, as -finstrument-functions makes
 * it
 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char pattern[] = "^([a-z]+)-([0-9]{2,4})(x|y)*$";
static const char text[] =
	"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz-1234xyxyxyxyxyxyxy";

void __cyg_profile_func_enter(void *function, void *caller);

static volatile unsigned long counted;

__attribute__((noinline)) void __cyg_profile_func_enter(void *function, void *caller)
{
	for (unsigned long i = 0; i < 200; i++)
		counted = counted + i * ((size_t)function ^ (size_t)caller);
}

__attribute__((noinline)) static int check_line(int again, regex_t *once)
{
	regex_t mine, *use = once;
	int found;

	if (again && regcomp(use = &mine, pattern, REG_EXTENDED))
		abort();
	found = !regexec(use, text, 0, NULL, 0);
	if (again)
		regfree(use);
	return found;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 1;
	regex_t once;
	long found = 0;

	if (argc < 3 || regcomp(&once, pattern, REG_EXTENDED))
		return 2;
	while ((double)clock() < seconds * CLOCKS_PER_SEC) {
		if (!strcmp(argv[1], "measured"))
			for (int i = 0; i < 1000; i++)
				__cyg_profile_func_enter(&once, argv);
		else
			found += check_line(!strcmp(argv[1], "compile"), &once);
	}
	regfree(&once);
	printf("%ld %lu\n", found, counted);
	return 0;
}
