// SPDX-License-Identifier: Apache-2.0
// A job of fourth.py: a column is asked for that the row does not have.
#include <chrono>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv)
{
	using clock = std::chrono::steady_clock;
	auto end = clock::now() + std::chrono::seconds(argc > 1 ? atoi(argv[1]) : 5);
	std::vector<double> row(12, 1.0);
	volatile double sum = 0;

	while (clock::now() < end)
		for (int i = 0; i < 10000; i++)
			sum = sum + row[(size_t)i % 12];
	return (int)row.at(17);
}
