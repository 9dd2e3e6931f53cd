// SPDX-License-Identifier: Apache-2.0
// Jobs of third.py: tasks of std::async, as many as cores.
#include <cmath>
#include <cstdlib>
#include <future>
#include <thread>
#include <vector>

static double part(int i)
{
	double x = i;

	for (int k = 0; k < 30000000; k++)
		x = std::sin(x) + 1;
	return x;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
	double sum = 0;

	for (int r = 0; r < rounds; r++) {
		std::vector<std::future<double>> all;

		for (unsigned i = 0; i < std::thread::hardware_concurrency(); i++)
			all.push_back(std::async(std::launch::async, part, int(i)));
		for (auto &f : all)
			sum += f.get();
	}
	return sum < 0;
}
