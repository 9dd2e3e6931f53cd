// SPDX-License-Identifier: Apache-2.0
// A table of particles written with std::endl, which flushes each line.
#include <cstdlib>
#include <fstream>

int main(int argc, char **argv)
{
	std::ofstream out("particles.csv");
	for (long i = 0, n = argc > 1 ? std::atol(argv[1]) * 1000 : 0; i < n; i++)
		out << i << ',' << i * 0.5 << std::endl;
}
