// SPDX-License-Identifier: Apache-2.0
// Threads that count in one table, under one lock: ninth THREADS WORDS.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

static std::mutex lock;
static std::unordered_map<unsigned, long> table;

static void count(unsigned seed, long words)
{
	for (long i = 0; i < words; i += 2000) {
		std::lock_guard<std::mutex> held(lock);
		for (int k = 0; k < 2000; k++) {
			seed = seed * 1103515245 + 12345;
			table[seed >> 20]++;
		}
	}
}

int main(int n, char **arg)
{
	int threads = n > 2 ? (int)strtol(arg[1], nullptr, 10) : 2;
	std::vector<std::thread> all;
	for (int i = 0; i < threads; i++)
		all.emplace_back(count, i, n > 2 ? strtol(arg[2], nullptr, 10) / threads : 1000);
	for (auto &t : all)
		t.join();
	printf("%zu\n", table.size());
}
