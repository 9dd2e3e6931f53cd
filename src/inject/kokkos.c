/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kokkos.c - kernels, copies, fences, regions and sections of Kokkos become spans, its events and
 * what it declares marks, and what it has allocated in each space a counter: functions that Kokkos
 * finds by name in the library of $KOKKOS_TOOLS_LIBS.
 *
 * No fences are asked for, so that a program runs as without this: of a kernel of another device
 * the span is the time that its launch took.
 */
#include "inject/range.h"
#include "lib/span.h"

#include <stdio.h>

#define PUBLIC __attribute__((visibility("default")))

enum { SPACE_BYTES = 64, SETTINGS = 256, COPY_BYTES = 512 };

/* As Kokkos passes them by value. */
struct space {
	char name[SPACE_BYTES];
};
/* The first says whether Kokkos is to wait for devices around what it reports. */
struct settings {
	bool on[SETTINGS];
};

/* Domains of ranges that end in the order of a stack. */
static const char regions, copies;

PUBLIC void kokkosp_request_tool_settings(uint32_t n, struct settings *s);
PUBLIC void kokkosp_push_profile_region(const char *name);
PUBLIC void kokkosp_pop_profile_region(void);
PUBLIC void kokkosp_profile_event(const char *name);
PUBLIC void kokkosp_begin_deep_copy(struct space to, const char *to_name, const void *to_at,
				    struct space from, const char *from_name);
PUBLIC void kokkosp_end_deep_copy(void);
PUBLIC void kokkosp_create_profile_section(const char *name, uint32_t *section);
PUBLIC void kokkosp_start_profile_section(uint32_t section);
PUBLIC void kokkosp_stop_profile_section(uint32_t section);

void kokkosp_request_tool_settings(uint32_t n, struct settings *s)
{
	if (n)
		s->on[0] = false;
}

/* ---- what ends by its number, in the thread that it began in ---- */

#define KIND(kind)                                                                                 \
	PUBLIC void kokkosp_begin_##kind(const char *name, uint32_t device, uint64_t *id);         \
	PUBLIC void kokkosp_begin_##kind(const char *name, uint32_t device, uint64_t *id)          \
	{                                                                                          \
		(void)device;                                                                      \
		*id = sonde_begin(range_name(#kind, name));                                        \
	}                                                                                          \
	PUBLIC void kokkosp_end_##kind(uint64_t id);                                               \
	PUBLIC void kokkosp_end_##kind(uint64_t id)                                                \
	{                                                                                          \
		sonde_span_end(id);                                                                \
	}

KIND(parallel_for)
KIND(parallel_reduce)
KIND(parallel_scan)
KIND(fence)

/* ---- regions, copies, events ---- */

void kokkosp_push_profile_region(const char *name)
{
	range_push(&regions, range_name(NULL, name));
}

void kokkosp_pop_profile_region(void)
{
	range_pop(&regions);
}

void kokkosp_profile_event(const char *name)
{
	sonde_mark(range_name(NULL, name));
}

/* Behind these come an address and the number of bytes. */
void kokkosp_begin_deep_copy(struct space to, const char *to_name, const void *to_at,
			     struct space from, const char *from_name)
{
	char text[COPY_BYTES];

	(void)to, (void)to_at, (void)from;
	snprintf(text, sizeof text, "%s <- %s", to_name ? to_name : "", from_name ? from_name : "");
	range_push(&copies, range_name("deep_copy", text));
}

void kokkosp_end_deep_copy(void)
{
	range_pop(&copies);
}

/* ---- memory, by space ---- */

enum { SPACES = 16 };

/* NULL: there are more. Names stay; bytes are what is allocated now. */
static int64_t *bytes_of(const struct space *s, uint32_t *name)
{
	static struct {
		uint32_t name;
		int64_t bytes;
	} spaces[SPACES];
	char text[SPACE_BYTES + 32];

	snprintf(text, sizeof text, "Kokkos %.*s bytes", SPACE_BYTES, s->name);
	*name = range_name(NULL, text);
	for (int i = 0; *name && i < SPACES; i++) {
		uint32_t none = 0;

		__atomic_compare_exchange_n(&spaces[i].name, &none, *name, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
		if (!none || none == *name)
			return &spaces[i].bytes;
	}
	return NULL;
}

static void add_bytes(const struct space *s, int64_t more)
{
	uint32_t name;
	int64_t *bytes = bytes_of(s, &name);

	if (bytes)
		sonde_counter(name, (double)__atomic_add_fetch(bytes, more, __ATOMIC_RELAXED));
}

PUBLIC void kokkosp_allocate_data(struct space s, const char *name, const void *at, uint64_t n);
PUBLIC void kokkosp_deallocate_data(struct space s, const char *name, const void *at, uint64_t n);
PUBLIC void kokkosp_declare_metadata(const char *key, const char *value);
PUBLIC void kokkosp_dual_view_sync(const char *name, const void *at, bool to_device);
PUBLIC void kokkosp_dual_view_modify(const char *name, const void *at, bool on_device);

void kokkosp_allocate_data(struct space s, const char *name, const void *at, uint64_t n)
{
	(void)name, (void)at;
	add_bytes(&s, (int64_t)n);
}

void kokkosp_deallocate_data(struct space s, const char *name, const void *at, uint64_t n)
{
	(void)name, (void)at;
	add_bytes(&s, -(int64_t)n);
}

/* ---- what it declares ---- */

void kokkosp_declare_metadata(const char *key, const char *value)
{
	const struct sonde_arg arg = sonde_arg_text(range_name(NULL, key), value);

	sonde_mark_with(range_name(NULL, "metadata"), &arg, 1);
}

static void mark_view(const char *what, const char *name, bool device)
{
	const struct sonde_arg arg =
		sonde_arg_text(range_name(NULL, "on"), device ? "device" : "host");

	sonde_mark_with(range_name(what, name), &arg, 1);
}

void kokkosp_dual_view_sync(const char *name, const void *at, bool to_device)
{
	(void)at;
	mark_view("dual_view_sync", name, to_device);
}

void kokkosp_dual_view_modify(const char *name, const void *at, bool on_device)
{
	(void)at;
	mark_view("dual_view_modify", name, on_device);
}

/* ---- sections, which may overlap, and of which several have one name ----
 *
 * Their number is that of the name and one of their own. */

enum { NAME_BITS = 15, NAME_MASK = (1 << NAME_BITS) - 1 };
_Static_assert(RING_NAMES_MAX + RING_TEXTS_MAX < 1 << NAME_BITS, "names have room");

static struct range_key key_of(uint32_t section)
{
	static const char sections;

	return (struct range_key){ .domain = &sections, .id = { section } };
}

void kokkosp_create_profile_section(const char *name, uint32_t *section)
{
	static uint32_t last;

	*section = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) << NAME_BITS |
		   (range_name(NULL, name) & NAME_MASK);
}

void kokkosp_start_profile_section(uint32_t section)
{
	const struct range_key k = key_of(section);

	range_begin(&k, section & NAME_MASK, NULL);
}

void kokkosp_stop_profile_section(uint32_t section)
{
	const struct range_key k = key_of(section);

	range_end(&k);
}
