/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/batch_id.h"

#include "base/number.h"

#include <string.h>

int64_t bench_batch_id(const char *word)
{
	int64_t id;

	if (!strncmp(word, "bench:", 6))
		word += 6;
	return number_i64(&word, &id) && !*word && id > 0 ? id : 0;
}
