// SPDX-License-Identifier: Apache-2.0
// Multiplies matrices as a textbook does, for judge.py.
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 500;
	std::vector<std::vector<double>> a(n, std::vector<double>(n, 1.5)), b(a), c(n, std::vector<double>(n));
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				c[i][k] += a[i][j] * b[j][k];
	printf("%f\n", c[n / 2][n / 3]);
}
