/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/columnar/flatbuffer.h"

#include <string.h>

/* So that what comes next, of so many bytes, ends where `align` divides. */
static void align(struct flatbuffer *f, size_t bytes, size_t to)
{
	while ((f->reversed.len + bytes) % to && !f->reversed.failed)
		bytes_u8(&f->reversed, 0);
}

void flatbuffer_put(struct flatbuffer *f, uint64_t v, size_t size)
{
	align(f, size, size);
	for (size_t i = size; i; i--)
		bytes_u8(&f->reversed, (uint8_t)(v >> 8 * (i - 1)));
}

static flatbuffer_ref here(const struct flatbuffer *f)
{
	return (flatbuffer_ref)f->reversed.len;
}

static void put_ref(struct flatbuffer *f, flatbuffer_ref ref)
{
	align(f, sizeof(ref), sizeof(ref));
	flatbuffer_put(f, here(f) + sizeof(ref) - ref, sizeof(ref));
}

flatbuffer_ref flatbuffer_binary_text(struct flatbuffer *f, const void *text, size_t n)
{
	const uint8_t *at = text;

	align(f, n + 1, sizeof(uint32_t));
	bytes_u8(&f->reversed, 0);
	for (size_t i = n; i; i--)
		bytes_u8(&f->reversed, at[i - 1]);
	flatbuffer_put(f, n, sizeof(uint32_t));
	return here(f);
}

flatbuffer_ref flatbuffer_text(struct flatbuffer *f, const char *text)
{
	return flatbuffer_binary_text(f, text, strlen(text));
}

/* Its length comes before the elements, of which some are of 8 bytes. */
void flatbuffer_vector(struct flatbuffer *f, size_t bytes)
{
	align(f, bytes, sizeof(uint64_t));
}

flatbuffer_ref flatbuffer_vector_end(struct flatbuffer *f, size_t n)
{
	flatbuffer_put(f, n, sizeof(uint32_t));
	return here(f);
}

flatbuffer_ref flatbuffer_vector_of_refs(struct flatbuffer *f, const flatbuffer_ref *refs, size_t n)
{
	flatbuffer_vector(f, n * sizeof(*refs));
	for (size_t i = n; i; i--)
		put_ref(f, refs[i - 1]);
	return flatbuffer_vector_end(f, n);
}

void flatbuffer_table(struct flatbuffer *f)
{
	memset(f->field, 0, sizeof(f->field));
	f->begin = here(f);
}

void flatbuffer_number(struct flatbuffer *f, unsigned field, uint64_t v, size_t size)
{
	flatbuffer_put(f, v, size);
	f->field[field] = here(f);
}

void flatbuffer_refer(struct flatbuffer *f, unsigned field, flatbuffer_ref ref)
{
	if (!ref)
		return;
	put_ref(f, ref);
	f->field[field] = here(f);
}

flatbuffer_ref flatbuffer_table_end(struct flatbuffer *f)
{
	flatbuffer_ref table;
	uint32_t to_fields;

	flatbuffer_put(f, 0, sizeof(to_fields));
	table = here(f);
	for (unsigned i = FLATBUFFER_FIELDS; i; i--)
		flatbuffer_put(f, f->field[i - 1] ? table - f->field[i - 1] : 0, sizeof(uint16_t));
	flatbuffer_put(f, table - f->begin, sizeof(uint16_t));
	flatbuffer_put(f, sizeof(uint16_t) * (2 + FLATBUFFER_FIELDS), sizeof(uint16_t));
	to_fields = here(f) - table;
	for (size_t i = 0; i < sizeof(to_fields) && !f->reversed.failed; i++)
		f->reversed.data[table - 1 - i] = (uint8_t)(to_fields >> 8 * i);
	return table;
}

void flatbuffer_end(struct flatbuffer *f, flatbuffer_ref root, struct bytes *out)
{
	align(f, sizeof(root), sizeof(uint64_t));
	put_ref(f, root);
	out->failed |= f->reversed.failed;
	if (bytes_room(out, f->reversed.len))
		for (size_t i = f->reversed.len; i; i--)
			out->data[out->len++] = f->reversed.data[i - 1];
	bytes_reset(&f->reversed);
}

void flatbuffer_free(struct flatbuffer *f)
{
	bytes_free(&f->reversed);
}
