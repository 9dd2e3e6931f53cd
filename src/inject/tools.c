/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/range.h"
#include "lib/span.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Regions, shared work, tasks and barriers of OpenMP become spans: a tool that an OpenMP
 * runtime with the tools interface (OMPT) of OpenMP 5 finds by $OMP_TOOL_LIBRARIES.
 *
 * A thread of a team learns of the end of a region when the next one begins, so the barrier there
 * and its part of the region end when the region did, not when the thread was told.
 */

/* As omp-tools.h of OpenMP 5 has them. */
typedef void (*function)(void);
typedef function (*lookup)(const char *name);
union data {
	uint64_t value;
	void *pointer;
};
struct result {
	int (*initialize)(lookup find, int device, union data *tool);
	void (*finalize)(union data *tool);
	union data tool;
};
enum endpoint { BEGIN = 1, END, BEGIN_END };
enum callback {
	PARALLEL_BEGIN = 3,
	PARALLEL_END = 4,
	TASK_CREATE = 5,
	TASK_SCHEDULE = 6,
	IMPLICIT_TASK = 7,
	WORK = 20,
	SYNC_REGION = 23,
};
enum { TASK_INITIAL = 1, TASK_EXPLICIT = 4 };       /* flags of a task */
enum { STATUS_COMPLETE = 1, STATUS_CANCEL = 3 };    /* why a thread leaves one */
enum { KNOWN = 4096, NEAR = 16, TEXT_BYTES = 256 }; /* places whose names are known; tried */
#define IS_TASK (UINT64_C(1) << 63)

/* Kinds of work, as the standard numbers them and LLVM goes on; then what is none. */
enum work { WORK_LAST = 13, PARALLEL, TASK, WORK_NUMBER_OF };
static const char *const kinds[WORK_NUMBER_OF] = {
	[1] = "OpenMP loop",
	[2] = "OpenMP sections",
	[3] = "OpenMP single",
	[5] = "OpenMP workshare",
	[6] = "OpenMP distribute",
	[7] = "OpenMP taskloop",
	[8] = "OpenMP scope",
	[10] = "OpenMP loop (static)",
	[11] = "OpenMP loop (dynamic)",
	[12] = "OpenMP loop (guided)",
	[13] = "OpenMP loop (other)",
	[PARALLEL] = "OpenMP parallel",
	[TASK] = "OpenMP task",
};
/* Kinds of waiting. */
enum { WAITS = 11 };
static const char *const waits[WAITS] = {
	[1] = "OpenMP barrier",
	[2] = "OpenMP barrier (implicit)",
	[3] = "OpenMP barrier",
	[4] = "OpenMP barrier (implementation)",
	[5] = "OpenMP taskwait",
	[6] = "OpenMP taskgroup",
	[8] = "OpenMP barrier (implicit)",
	[9] = "OpenMP barrier (implicit)",
	[10] = "OpenMP barrier (teams)",
};

/* A region, until its last thread has left it. */
struct region {
	uint32_t name;
	uint32_t refs;
	int64_t ended_ns; /* 0: it goes on */
};

/* The stacks of a thread. */
static const char of_regions, of_work, of_tasks, of_waits;

/* ---- names ---- */

/* The function where it is known, else the place in its file. */
static void place_text(const void *code, char out[TEXT_BYTES])
{
	const char *at = (const char *)code - 1; /* it is where a call comes back to */
	Dl_info info;
	const char *file;

	if (!dladdr(at, &info) || !info.dli_fname)
		snprintf(out, TEXT_BYTES, "%p", code);
	else if (info.dli_sname)
		snprintf(out, TEXT_BYTES, "%s", info.dli_sname);
	else {
		file = strrchr(info.dli_fname, '/');
		snprintf(out, TEXT_BYTES, "%s+0x%zx", file ? file + 1 : info.dli_fname,
			 (size_t)(at - (const char *)info.dli_fbase));
	}
}

/* Once for each place: what it is called costs a walk over all symbols of its file. */
static struct {
	uint64_t key;  /* the address and the kind; 0: nothing is here */
	uint32_t name; /* 0: not yet */
} known[KNOWN];

/* "OpenMP loop: solve". */
static uint32_t name_at(enum work kind, const void *code)
{
	uint64_t key = (uint64_t)(uintptr_t)code << 8 | kind, none = 0;
	size_t i = (key * UINT64_C(0x9e3779b97f4a7c15) >> 40) % KNOWN;
	char text[TEXT_BYTES];
	uint32_t name;

	for (size_t n = 0; code && n < NEAR; n++, i = (i + 1) % KNOWN, none = 0)
		if (__atomic_compare_exchange_n(&known[i].key, &none, key, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED) ||
		    none == key)
			break;
	name = none == key ? __atomic_load_n(&known[i].name, __ATOMIC_RELAXED) : 0;
	if (name)
		return name;
	if (code)
		place_text(code, text);
	name = range_name(code ? kinds[kind] : NULL, code ? text : kinds[kind]);
	if (known[i].key == key)
		__atomic_store_n(&known[i].name, name, __ATOMIC_RELAXED);
	return name;
}

/* ---- regions ---- */

static void region_leave(struct region *r)
{
	if (!__atomic_sub_fetch(&r->refs, 1, __ATOMIC_ACQ_REL))
		free(r);
}

static void parallel_begin(union data *task, const void *frame, union data *parallel,
			   unsigned threads, int flags, const void *code)
{
	struct region *r = malloc(sizeof *r);
	uint32_t name = name_at(PARALLEL, code);

	(void)task, (void)frame, (void)threads, (void)flags;
	if (r)
		*r = (struct region){ .name = name, .refs = 1 };
	parallel->pointer = r;
	range_push(&of_regions, name);
}

static void parallel_end(union data *parallel, union data *task, int flags, const void *code)
{
	struct region *r = parallel->pointer;

	(void)task, (void)flags, (void)code;
	range_pop(&of_regions);
	if (!r)
		return;
	__atomic_store_n(&r->ended_ns, span_now_ns(), __ATOMIC_RELEASE);
	region_leave(r);
}

/* Of the task of a thread that the region was not begun by; 0: it has not ended, or is another. */
static int64_t region_end_ns(const union data *task)
{
	const struct region *r = task && !(task->value & IS_TASK) ? task->pointer : NULL;

	return r ? __atomic_load_n(&r->ended_ns, __ATOMIC_ACQUIRE) : 0;
}

static void implicit_task(enum endpoint at, union data *parallel, union data *task,
			  unsigned threads, unsigned number, int flags)
{
	struct region *r;

	(void)threads;
	if (flags & TASK_INITIAL || number == 0)
		return;
	if (at == BEGIN) {
		r = parallel ? parallel->pointer : NULL;
		task->pointer = r;
		if (r) {
			__atomic_add_fetch(&r->refs, 1, __ATOMIC_RELAXED);
			range_push(&of_regions, r->name);
		}
	} else if (task && task->pointer) {
		r = task->pointer;
		range_pop_at(&of_regions, region_end_ns(task));
		task->pointer = NULL;
		region_leave(r);
	}
}

/* ---- work, tasks, waits ---- */

static void work(int kind, enum endpoint at, union data *parallel, union data *task, uint64_t count,
		 const void *code)
{
	(void)parallel, (void)task, (void)count;
	/* a single that another thread does has no name here: it is over at once */
	if (kind < 0 || kind > WORK_LAST || !kinds[kind])
		return;
	if (at == BEGIN)
		range_push(&of_work, name_at((enum work)kind, code));
	else if (at == END)
		range_pop(&of_work);
}

static void task_create(union data *by, const void *frame, union data *new, int flags, int depends,
			const void *code)
{
	(void)by, (void)frame, (void)depends;
	if (flags & TASK_EXPLICIT)
		new->value = IS_TASK | name_at(TASK, code);
}

/* One that is left and comes back goes on meanwhile, around the others that its thread does. */
static void task_schedule(union data *before, int status, union data *next)
{
	static const uint64_t begun = UINT64_C(1) << 62;

	if (before && before->value & IS_TASK &&
	    (status == STATUS_COMPLETE || status == STATUS_CANCEL))
		range_pop(&of_tasks);
	if (!next || !(next->value & IS_TASK) || next->value & begun)
		return;
	range_push(&of_tasks, (uint32_t)next->value);
	next->value |= begun;
}

static void sync_region(int kind, enum endpoint at, union data *parallel, union data *task,
			const void *code)
{
	(void)parallel, (void)code;
	if (kind < 0 || kind >= WAITS || !waits[kind])
		return;
	if (at == BEGIN)
		range_push(&of_waits, range_name(NULL, waits[kind]));
	else if (at == END)
		range_pop_at(&of_waits, region_end_ns(task));
}

/* ---- the runtime's ---- */

static int begin(lookup find, int device, union data *tool)
{
	static const struct {
		enum callback of;
		function f;
	} rows[] = {
		{ PARALLEL_BEGIN, (function)parallel_begin },
		{ PARALLEL_END, (function)parallel_end },
		{ TASK_CREATE, (function)task_create },
		{ TASK_SCHEDULE, (function)task_schedule },
		{ IMPLICIT_TASK, (function)implicit_task },
		{ WORK, (function)work },
		{ SYNC_REGION, (function)sync_region },
	};
	int (*set)(enum callback of, function f) =
		(int (*)(enum callback, function))find("ompt_set_callback");

	(void)device, (void)tool;
	for (size_t i = 0; set && i < sizeof rows / sizeof rows[0]; i++)
		set(rows[i].of, rows[i].f);
	return set != NULL;
}

static void end(union data *tool)
{
	(void)tool;
}

__attribute__((visibility("default"))) struct result *ompt_start_tool(unsigned version,
								      const char *runtime);

/* A runtime asks each library that is loaded, also where this one is for something else. */
struct result *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct result result = { begin, end, { 0 } };
	const char *wanted = secure_getenv("OMP_TOOL_LIBRARIES");

	(void)version, (void)runtime;
	return wanted && strstr(wanted, "libsonde_inject.so") ? &result : NULL;
}

/*
 * Kernels, copies, fences, regions and sections of Kokkos become spans, its events and
 * what it declares marks, and what it has allocated in each space a counter: functions that Kokkos
 * finds by name in the library of $KOKKOS_TOOLS_LIBS.
 *
 * No fences are asked for, so that a program runs as without this: of a kernel of another device
 * the span is the time that its launch took.
 */

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
