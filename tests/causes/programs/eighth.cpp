// SPDX-License-Identifier: Apache-2.0
// The C++ programs of the eighth set: eighth keep | eighth matrices THREADS SECONDS.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

static double now()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

static unsigned long mix(unsigned long x, int rounds)
{
	for (int i = 0; i < rounds; i++)
		x = x * 6364136223846793005UL + (x >> 29);
	return x;
}

static void matrices(double seconds)
{
	const int n = 96;
	std::vector<double> a(n * n, 1.5), b(n * n, 0.5), c(n * n);
	for (double end = now() + seconds; now() < end;)
		for (int i = 0; i < n; i++)
			for (int k = 0; k < n; k++)
				for (int j = 0; j < n; j++)
					c[i * n + j] += a[i * n + k] * b[k * n + j];
	if (c[0] < 0)
		std::cout << c[0];
}

int main(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], "matrices")) {
		std::vector<std::thread> threads;
		for (int i = 0; i < atoi(argv[2]); i++)
			threads.emplace_back(matrices, atof(argv[3]));
		for (auto &t : threads)
			t.join();
		return 0;
	}
	std::vector<std::string> kept; // every state, for ever
	for (unsigned long x = 1;;) {
		x = mix(x, 6000000);
		kept.emplace_back(1000000, 'a' + x % 26);
	}
}
