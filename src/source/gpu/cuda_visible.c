/* SPDX-License-Identifier: Apache-2.0 */
#include "source/gpu/cuda_visible.h"

#include "base/text/number.h"

#include <string.h>

static struct cuda_device *by_number(uint64_t number, struct cuda_device *devices, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!devices[i].is_mig && devices[i].gpu == number)
			return &devices[i];
	return NULL;
}

/* The one whose UUID begins so; NULL when there is none, or more than one. */
static struct cuda_device *by_uuid(const char *uuid, size_t len, struct cuda_device *devices,
				   size_t n)
{
	struct cuda_device *found = NULL;

	if (len <= 4 || (memcmp(uuid, "GPU-", 4) != 0 && memcmp(uuid, "MIG-", 4) != 0))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (strncmp(devices[i].uuid, uuid, len) != 0)
			continue;
		if (found)
			return NULL;
		found = &devices[i];
	}
	return found;
}

static struct cuda_device *find(const char *word, size_t len, struct cuda_device *devices, size_t n)
{
	const char *end = word;
	uint64_t number;

	if (len && *word >= '0' && *word <= '9')
		return number_u64(&end, &number) && end == word + len
			       ? by_number(number, devices, n)
			       : NULL;
	return by_uuid(word, len, devices, n);
}

size_t cuda_visible(const char *value, struct cuda_device *devices, size_t n)
{
	size_t named = 0;

	for (size_t i = 0; i < n; i++)
		devices[i].named = false;
	for (const char *p = value;; p++) {
		struct cuda_device *d;
		size_t len;

		p = number_skip_blanks(p);
		len = strcspn(p, ", \t");
		d = find(p, len, devices, n);
		if (!d)
			break;
		named += !d->named;
		d->named = true;
		p = number_skip_blanks(p + len);
		if (*p != ',')
			break;
	}
	return named;
}

const char *environ_find(const char *text, size_t len, const char *name)
{
	size_t n = strlen(name);

	while (len) {
		const char *end = memchr(text, '\0', len);
		size_t size = end ? (size_t)(end - text) : len;

		if (!end)
			return NULL; /* cut: half a value is none */
		if (size > n && text[n] == '=' && memcmp(text, name, n) == 0)
			return text + n + 1;
		text += size + 1;
		len -= size + 1;
	}
	return NULL;
}
