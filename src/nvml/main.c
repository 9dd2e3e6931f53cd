/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-nvml - asks NVIDIA's library about the GPUs, in a process that may hang or crash.
 *
 * Started by the source nvidia: descriptor NVIDIA_SOCKET brings a byte for every question, answers
 * go into the memory of NVIDIA_MEMORY (source/gpu/nvidia_page.h). It ends with its parent. Started
 * by hand it does nothing.
 */
#include "nvml/library.h"

#include "base/clock.h"
#include "base/text/number.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the library tells of a GPU: a row for every number that a call gives alone. */

typedef int (*u32_function)(nvml_handle, unsigned *);
typedef int (*u32_of_function)(nvml_handle, int, unsigned *);
typedef int (*u32_with_period_function)(nvml_handle, unsigned *, unsigned *);
typedef int (*u64_function)(nvml_handle, unsigned long long *);
typedef int (*ecc_function)(nvml_handle, int, int, unsigned long long *);
typedef int (*violation_function)(nvml_handle, int, struct nvml_violation *);
typedef int (*utilization_function)(nvml_handle, struct nvml_utilization *);
typedef int (*memory_function)(nvml_handle, struct nvml_memory *);
typedef int (*memory_v2_function)(nvml_handle, struct nvml_memory_v2 *);
typedef int (*bar1_function)(nvml_handle, struct nvml_bar1 *);
typedef int (*rows_function)(nvml_handle, unsigned *, unsigned *, unsigned *, unsigned *);
typedef int (*fields_function)(nvml_handle, int, struct nvml_field *);

/* How a function is called: what beside the handle and the place for the number. */
enum shape { U32, U32_OF, U32_WITH_PERIOD, U64, ECC, VIOLATION };
enum pace { ALWAYS, RARELY };

static const struct reading {
	uint8_t metric, symbol, shape, pace;
	int argument, scale;
} readings[] = {
	{ GPU_POWER, NVML_POWER, U32, ALWAYS, 0, 1000 },
	{ GPU_ENERGY, NVML_ENERGY, U64, ALWAYS, 0, 1 },
	{ GPU_TEMPERATURE, NVML_TEMPERATURE, U32_OF, ALWAYS, 0, 1000 },
	{ GPU_CLOCK, NVML_CLOCK, U32_OF, ALWAYS, 1, 1000000 },
	{ GPU_MEMORY_CLOCK, NVML_CLOCK, U32_OF, ALWAYS, 2, 1000000 },
	{ GPU_GRAPHICS_CLOCK, NVML_CLOCK, U32_OF, ALWAYS, 0, 1000000 },
	{ GPU_VIDEO_CLOCK, NVML_CLOCK, U32_OF, ALWAYS, 3, 1000000 },
	{ GPU_PERFORMANCE_STATE, NVML_PERFORMANCE_STATE, U32, ALWAYS, 0, 1 },
	{ GPU_CLOCK_REASONS, NVML_CLOCK_REASONS, U64, ALWAYS, 0, 1 },
	{ GPU_ENCODER, NVML_ENCODER, U32_WITH_PERIOD, ALWAYS, 0, 1 },
	{ GPU_DECODER, NVML_DECODER, U32_WITH_PERIOD, ALWAYS, 0, 1 },
	{ GPU_THROTTLED_POWER, NVML_VIOLATION, VIOLATION, ALWAYS, 0, 1 },
	{ GPU_THROTTLED_THERMAL, NVML_VIOLATION, VIOLATION, ALWAYS, 1, 1 },
	{ GPU_THROTTLED_SYNC, NVML_VIOLATION, VIOLATION, RARELY, 2, 1 },
	{ GPU_THROTTLED_BOARD, NVML_VIOLATION, VIOLATION, RARELY, 3, 1 },
	{ GPU_THROTTLED_IDLE, NVML_VIOLATION, VIOLATION, RARELY, 4, 1 },
	{ GPU_THROTTLED_RELIABILITY, NVML_VIOLATION, VIOLATION, RARELY, 5, 1 },
	{ GPU_BELOW_APPLICATION_CLOCK, NVML_VIOLATION, VIOLATION, RARELY, 10, 1 },
	{ GPU_BELOW_BASE_CLOCK, NVML_VIOLATION, VIOLATION, RARELY, 11, 1 },
	{ GPU_POWER_LIMIT, NVML_POWER_LIMIT, U32, RARELY, 0, 1000 },
	{ GPU_TEMPERATURE_LIMIT, NVML_THRESHOLD, U32_OF, RARELY, 1, 1000 },
	{ GPU_CLOCK_LIMIT, NVML_CLOCK_MAX, U32_OF, RARELY, 1, 1000000 },
	{ GPU_FAN, NVML_FAN, U32, RARELY, 0, 1 },
	{ GPU_PCIE_REPLAYS, NVML_PCIE_REPLAYS, U32, RARELY, 0, 1 },
	{ GPU_PCIE_GENERATION, NVML_PCIE_GENERATION, U32, RARELY, 0, 1 },
	{ GPU_PCIE_WIDTH, NVML_PCIE_WIDTH, U32, RARELY, 0, 1 },
	{ GPU_ECC_CORRECTED, NVML_ECC, ECC, RARELY, 0, 1 },
	{ GPU_ECC_UNCORRECTED, NVML_ECC, ECC, RARELY, 1, 1 },
};

/* Sampled by the driver for 20 ms: only where it has no counters of the bytes. In KB/s. */
static const struct reading slow_readings[] = {
	{ GPU_PCIE_SENT_SAMPLED, NVML_PCIE_THROUGHPUT, U32_OF, ALWAYS, 0, 1000 },
	{ GPU_PCIE_RECEIVED_SAMPLED, NVML_PCIE_THROUGHPUT, U32_OF, ALWAYS, 1, 1000 },
};

/* Numbers of nvmlDeviceGetFieldValues; scope ALL_LINKS is their sum over all NVLinks. */
enum { ALL_LINKS = -1 };
static const struct field {
	uint8_t metric, pace;
	unsigned id;
	int scope, scale;
} fields[] = {
	{ GPU_MEMORY_TEMPERATURE, ALWAYS, 82, 0, 1000 },
	{ GPU_PCIE_SENT, ALWAYS, 197, 0, 1 },
	{ GPU_PCIE_RECEIVED, ALWAYS, 198, 0, 1 },
	{ GPU_NVLINK_SENT, ALWAYS, 138, ALL_LINKS, 1 },
	{ GPU_NVLINK_RECEIVED, ALWAYS, 139, ALL_LINKS, 1 },
	{ GPU_NVLINK_CRC_ERRORS, RARELY, 38, 0, 1 },
	{ GPU_NVLINK_REPLAYS, RARELY, 52, 0, 1 },
	{ GPU_NVLINK_RECOVERIES, RARELY, 59, 0, 1 },
};

static void set(struct nvidia_device *d, unsigned metric, int code, uint64_t value, int scale)
{
	int64_t scaled;

	if (code == NVML_SUCCESS && __builtin_mul_overflow(value, (uint64_t)scale, &scaled))
		code = NVIDIA_NOT_READ;
	d->code[metric] = (int16_t)(code >= INT16_MIN && code <= INT16_MAX ? code : INT16_MAX);
	if (code == NVML_SUCCESS)
		d->value[metric] = scaled;
}

/* Is it worth asking? What is not supported does not become so. */
static bool is_asked(const struct nvidia_device *d, unsigned metric)
{
	return d->code[metric] != NVML_NOT_SUPPORTED && d->code[metric] != NVML_INVALID_ARGUMENT &&
	       d->code[metric] != NVIDIA_NO_SYMBOL;
}

static int call(nvml_function f, const struct reading *r, nvml_handle handle, uint64_t *out)
{
	struct nvml_violation violation = { 0 };
	unsigned long long wide = 0;
	unsigned n = 0, period;
	int code = NVIDIA_NO_SYMBOL;

	switch (r->shape) {
	case U32:
		code = ((u32_function)f)(handle, &n);
		break;
	case U32_OF:
		code = ((u32_of_function)f)(handle, r->argument, &n);
		break;
	case U32_WITH_PERIOD:
		code = ((u32_with_period_function)f)(handle, &n, &period);
		break;
	case U64:
		code = ((u64_function)f)(handle, &wide);
		break;
	case ECC: /* 1: since the GPU was made, not since the driver was loaded */
		code = ((ecc_function)f)(handle, r->argument, 1, &wide);
		break;
	case VIOLATION:
		code = ((violation_function)f)(handle, r->argument, &violation);
		wide = violation.violation_ns;
		break;
	}
	*out = wide ? wide : n;
	return code;
}

static void read_one(struct nvml_session *s, struct nvml_unit *u, const struct reading *r)
{
	nvml_function f;
	uint64_t value = 0;
	int code = NVIDIA_NO_SYMBOL;

	if (!is_asked(&u->told, r->metric))
		return;
	f = session_calls(s, (int32_t)u->told.gpu, r->symbol);
	if (f)
		code = call(f, r, u->handle, &value);
	/* The driver does not know its performance state: P32. */
	if (r->metric == GPU_PERFORMANCE_STATE && code == NVML_SUCCESS && value > 15)
		code = NVIDIA_NOT_READ;
	set(&u->told, r->metric, code, value, r->scale);
}

static void read_utilization(struct nvml_session *s, struct nvml_unit *u)
{
	utilization_function get;
	struct nvml_utilization v = { 0 };
	int code = NVIDIA_NO_SYMBOL;

	if (!is_asked(&u->told, GPU_UTILIZATION))
		return;
	get = (utilization_function)session_calls(s, (int32_t)u->told.gpu, NVML_UTILIZATION);
	if (get)
		code = get(u->handle, &v);
	set(&u->told, GPU_UTILIZATION, code, v.gpu, 1);
	set(&u->told, GPU_MEMORY_UTILIZATION, code, v.memory, 1);
}

/* The older call counts what the driver keeps for itself as used. */
static void read_memory(struct nvml_session *s, struct nvml_unit *u)
{
	int32_t gpu = (int32_t)u->told.gpu;
	struct nvidia_device *d = &u->told;
	memory_v2_function get_v2 = (memory_v2_function)session_calls(s, gpu, NVML_MEMORY_V2);
	struct nvml_memory_v2 v = { .version = NVML_MEMORY_V2_VERSION };
	struct nvml_memory old = { 0 };
	int code = get_v2 ? get_v2(u->handle, &v) : NVIDIA_NO_SYMBOL;

	set(d, GPU_MEMORY_RESERVED, code, v.reserved, 1);
	if (code != NVML_SUCCESS) {
		memory_function get = (memory_function)session_calls(s, gpu, NVML_MEMORY);

		code = get ? get(u->handle, &old) : NVIDIA_NO_SYMBOL;
		v.total = old.total;
		v.free = old.free;
		v.used = old.used;
	}
	set(d, GPU_MEMORY_USED, code, v.used, 1);
	set(d, GPU_MEMORY_FREE, code, v.free, 1);
	set(d, GPU_MEMORY_TOTAL, code, v.total, 1);
}

static void read_bar1(struct nvml_session *s, struct nvml_unit *u)
{
	bar1_function get = (bar1_function)session_calls(s, (int32_t)u->told.gpu, NVML_BAR1);
	struct nvml_bar1 v = { 0 };
	int code = get ? get(u->handle, &v) : NVIDIA_NO_SYMBOL;

	set(&u->told, GPU_BAR1_USED, code, v.used, 1);
	set(&u->told, GPU_BAR1_TOTAL, code, v.total, 1);
}

static void read_rows(struct nvml_session *s, struct nvml_unit *u)
{
	rows_function get =
		(rows_function)session_calls(s, (int32_t)u->told.gpu, NVML_REMAPPED_ROWS);
	unsigned corrected = 0, uncorrected = 0, pending, failed;
	int code = get ? get(u->handle, &corrected, &uncorrected, &pending, &failed)
		       : NVIDIA_NO_SYMBOL;

	set(&u->told, GPU_ROWS_CORRECTED, code, corrected, 1);
	set(&u->told, GPU_ROWS_UNCORRECTED, code, uncorrected, 1);
}

static void read_links(struct nvml_session *s, struct nvml_unit *u)
{
	enum { LINKS_MAX = 18 };
	int32_t gpu = (int32_t)u->told.gpu;
	unsigned active = 0, links = 0;
	int code = NVML_SUCCESS;

	for (int i = 0; i < LINKS_MAX && code == NVML_SUCCESS; i++) {
		u32_of_function get = (u32_of_function)session_calls(s, gpu, NVML_LINK_STATE);
		unsigned up = 0;

		code = get ? get(u->handle, i, &up) : NVIDIA_NO_SYMBOL;
		links += code == NVML_SUCCESS;
		active += code == NVML_SUCCESS && up;
	}
	set(&u->told, GPU_NVLINK_ACTIVE, links ? NVML_SUCCESS : code, active, 1);
}

static void take_field(struct nvidia_device *d, const struct field *f, const struct nvml_field *v)
{
	enum { U32_TYPE = 1, ULONG_TYPE, U64_TYPE, I64_TYPE, I32_TYPE, U16_TYPE };
	uint64_t value;
	int code = v->code;

	switch (v->type) {
	case U32_TYPE:
		value = v->value.u32;
		break;
	case ULONG_TYPE:
	case U64_TYPE:
		value = v->value.u64;
		break;
	case I64_TYPE:
		value = (uint64_t)v->value.i64;
		break;
	case I32_TYPE:
		value = (uint64_t)v->value.i32;
		break;
	case U16_TYPE:
		value = v->value.u16;
		break;
	default: /* none is given as a real number */
		value = 0;
		code = code ? code : NVML_NOT_SUPPORTED;
		break;
	}
	set(d, f->metric, code, value, f->scale);
}

static void read_fields(struct nvml_session *s, struct nvml_unit *u, bool rarely)
{
	fields_function get = (fields_function)session_calls(s, (int32_t)u->told.gpu, NVML_FIELDS);
	enum { NFIELDS = sizeof fields / sizeof fields[0] };
	const struct field *asked[NFIELDS];
	struct nvml_field v[NFIELDS] = { 0 };
	int n = 0, code;

	for (const struct field *f = fields; f < fields + NFIELDS; f++) {
		if (!is_asked(&u->told, f->metric) || (f->pace == RARELY && !rarely))
			continue;
		v[n].id = f->id;
		v[n].scope = (unsigned)f->scope;
		asked[n++] = f;
	}
	if (!n)
		return;
	code = get ? get(u->handle, n, v) : NVIDIA_NO_SYMBOL;
	for (int i = 0; i < n; i++) {
		if (code != NVML_SUCCESS)
			v[i].code = code;
		take_field(&u->told, asked[i], &v[i]);
	}
}

/* What was read in the last answer is not news; what was refused still is. */
static void forget_values(struct nvidia_device *d)
{
	for (int i = 0; i < GPU_MEASURED; i++)
		if (d->code[i] == NVML_SUCCESS)
			d->code[i] = NVIDIA_NOT_READ;
}

void unit_read(struct nvml_session *s, struct nvml_unit *u, bool rarely)
{
	int16_t slow[2] = { u->told.code[GPU_PCIE_SENT_SAMPLED],
			    u->told.code[GPU_PCIE_RECEIVED_SAMPLED] };

	if (!u->handle)
		return;
	forget_values(&u->told);
	u->told.code[GPU_PCIE_SENT_SAMPLED] = slow[0];
	u->told.code[GPU_PCIE_RECEIVED_SAMPLED] = slow[1];
	read_utilization(s, u);
	read_memory(s, u);
	for (const struct reading *r = readings; r < readings + sizeof readings / sizeof *r; r++)
		if (r->pace == ALWAYS || rarely)
			read_one(s, u, r);
	read_fields(s, u, rarely);
	unit_read_processes(s, u);
	unit_read_uses(s, u);
	if (rarely && is_asked(&u->told, GPU_BAR1_USED))
		read_bar1(s, u);
	if (rarely && is_asked(&u->told, GPU_ROWS_CORRECTED))
		read_rows(s, u);
	if (rarely && is_asked(&u->told, GPU_NVLINK_ACTIVE))
		read_links(s, u);
}

/* What takes the driver 20 ms each, for the next answer. */
static void unit_read_slow(struct nvml_session *s, struct nvml_unit *u)
{
	for (const struct reading *r = slow_readings;
	     u->handle && r < slow_readings + sizeof slow_readings / sizeof *r; r++)
		if (u->told.mig >= 0)
			u->told.code[r->metric] = NVML_NOT_SUPPORTED;
		else if (u->told.code[GPU_PCIE_SENT] == NVML_SUCCESS)
			u->told.code[r->metric] = NVIDIA_NEEDLESS;
		else
			read_one(s, u, r);
}

enum { RARE_PASSES = 10 /* readings */ };

static struct nvidia_page *map_page(void)
{
	struct stat st;
	void *memory;

	if (fstat(NVIDIA_MEMORY, &st) || st.st_size != (off_t)sizeof(struct nvidia_page))
		return NULL;
	memory = mmap(NULL, sizeof(struct nvidia_page), PROT_READ | PROT_WRITE, MAP_SHARED,
		      NVIDIA_MEMORY, 0);
	if (memory == MAP_FAILED)
		return NULL;
	return ((struct nvidia_page *)memory)->layout == sizeof(struct nvidia_page) ? memory : NULL;
}

static void fail(struct nvidia_page *p, enum nvidia_failure how, int code, const char *text)
{
	p->failure = (int32_t)how;
	p->failure_code = code;
	snprintf(p->failure_text, sizeof p->failure_text, "%s", text);
	atomic_store_explicit(&p->stage, NVIDIA_FAILED, memory_order_release);
}

static void read_versions(struct nvml_session *s)
{
	typedef int (*text_function)(char *, unsigned);
	typedef int (*number_function)(int *);
	text_function driver = (text_function)session_calls(s, -1, NVML_DRIVER_VERSION);
	number_function cuda;

	if (!driver || driver(s->page->driver, sizeof s->page->driver) != NVML_SUCCESS)
		s->page->driver[0] = '\0';
	cuda = (number_function)session_calls(s, -1, NVML_CUDA_VERSION);
	if (!cuda || cuda(&s->page->cuda) != NVML_SUCCESS)
		s->page->cuda = 0;
}

/* What this process costs: told with every answer. */
static void weigh(struct nvidia_page *p)
{
	char text[128];
	const char *at = text;
	int64_t size, resident;
	ssize_t n;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	p->cpu_ns = clock_cpu_ns();
	if (fd < 0)
		return;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (number_i64(&at, &size) && number_i64(&at, &resident))
		p->resident_bytes = resident * sysconf(_SC_PAGESIZE);
}

static void read_all(struct nvml_session *s)
{
	s->page->read_ns = clock_mono_ns();
	for (uint32_t i = 0; i < s->nunits; i++)
		unit_read(s, &s->unit[i], s->passes % RARE_PASSES == 0);
	s->passes++;
	for (uint32_t i = 0; i < s->nunits; i++)
		s->page->device[i] = s->unit[i].told;
	s->page->ndevices = s->nunits;
	weigh(s->page);
	s->page->took_ns = clock_mono_ns() - s->page->read_ns;
	session_calls_nothing(s);
}

static void read_slow(struct nvml_session *s)
{
	for (uint32_t i = 0; i < s->nunits; i++)
		unit_read_slow(s, &s->unit[i]);
	session_calls_nothing(s);
}

static bool begin(struct nvml_session *s)
{
	typedef int (*init_function)(void);
	typedef const char *(*error_function)(int);
	char why[256] = "";
	int missing = nvml_load(&s->api, why, sizeof why), code;
	error_function words;
	const char *text;

	if (missing) {
		fail(s->page, missing < 0 ? NVIDIA_NO_LIBRARY : NVIDIA_NO_FUNCTION, 0,
		     missing < 0 ? why : s->api.name[missing - 1]);
		return false;
	}
	code = ((init_function)session_calls(s, -1, NVML_INIT))();
	if (code == NVML_SUCCESS)
		code = session_list(s);
	if (code == NVML_SUCCESS) {
		read_versions(s);
		return true;
	}
	words = (error_function)s->api.function[NVML_ERROR_STRING];
	text = words ? words(code) : NULL;
	fail(s->page, NVIDIA_NVML, code, text ? text : "");
	return false;
}

/* False: the parent has gone. */
static bool wait_until(int64_t due_ns)
{
	struct pollfd parent = { .fd = NVIDIA_SOCKET, .events = POLLRDHUP };
	int64_t left_ms;

	while ((left_ms = (due_ns - clock_mono_ns()) / NS_PER_MS) > 0)
		if (poll(&parent, 1, left_ms < 60000 ? (int)left_ms : 60000) > 0)
			return false;
	return true;
}

int main(void)
{
	struct nvml_session s = { .page = map_page() };
	char question;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "sonde-nvml");
	if (!s.page || getppid() != s.page->parent)
		return EXIT_FAILURE;
	s.unit = calloc(NVIDIA_DEVICES_MAX, sizeof *s.unit);
	if (!s.unit || !begin(&s))
		return EXIT_FAILURE;
	read_all(&s);
	atomic_store_explicit(&s.page->stage, NVIDIA_READY, memory_order_release);
	read_slow(&s);
	while (read(NVIDIA_SOCKET, &question, 1) == 1 && wait_until(s.page->due_ns)) {
		read_all(&s);
		atomic_fetch_add_explicit(&s.page->answered, 1, memory_order_release);
		read_slow(&s);
	}
	return EXIT_SUCCESS;
}
