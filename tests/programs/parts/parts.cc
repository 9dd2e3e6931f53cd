// SPDX-License-Identifier: Apache-2.0
// Five kinds of work in rounds of different length, SECONDS of CPU time in all, each measured with the thread's own clock. Prints the seconds of each.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

static std::vector<unsigned> numbers(1 << 17), copied(1 << 20);
static std::mt19937_64 engine(26);
static volatile unsigned long long sink;

static double cpu()
{
	timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

template <class Less> __attribute__((noinline)) static void part_sort(Less less)
{
	for (size_t i = 0; i < numbers.size(); i++)
		numbers[i] = unsigned(i) * 2654435761u;
	std::sort(numbers.begin(), numbers.end(), less);
	sink = numbers[1];
}

__attribute__((noinline)) static void part_map()
{
	static std::map<unsigned, std::string> names;

	for (unsigned i = 0; i < 60000; i++)
		names[i * 2654435761u % 4096] = std::to_string(i);
	sink = names.size();
}

__attribute__((noinline)) static void part_loop()
{
	unsigned x = 1;

	for (int i = 0; i < 12000000; i++)
		x = x * 1664525 + 1013904223;
	sink = x;
}

__attribute__((noinline)) static void part_copy()
{
	for (unsigned i = 0; i < 60; i++) {
		std::copy(copied.begin() + i, copied.begin() + (1 << 19), copied.begin() + (1 << 19));
		sink = copied[1 << 19];
	}
}

__attribute__((noinline)) static void part_random()
{
	unsigned long long sum = 0;

	for (int i = 0; i < 3000000; i++)
		sum += engine();
	sink = sum;
}

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		std::function<void()> run;
	} made[] = { { "part_sort", [] { part_sort(std::greater<unsigned>()); } },
		     { "part_map", part_map },
		     { "part_loop", part_loop },
		     { "part_copy", part_copy },
		     { "part_random", part_random } };
	double seconds[5] = { 0 }, end = cpu() + (argc > 1 ? atof(argv[1]) : 1);

	for (int round = 1; cpu() < end; round++)
		for (int i = 0; i < 5; i++) {
			double from = cpu();

			for (int k = 0; k < 1 + round % 7; k++)
				made[i].run();
			seconds[i] += cpu() - from;
		}
	for (int i = 0; i < 5; i++)
		printf("%s %.6f\n", made[i].name, seconds[i]);
}
