/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-nvml - asks NVIDIA's library about the GPUs, in a process that may hang or crash.
 *
 * Started by the source nvidia: descriptor NVIDIA_SOCKET brings a byte for every question, answers
 * go into the memory of NVIDIA_MEMORY (source/gpu/nvidia_page.h). It ends with its parent. Started
 * by hand it does nothing.
 */
#include "base/clock.h"
#include "base/text/number.h"
#include "nvml/library.h"

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

enum { RARELY = 10 /* readings */ };

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
		unit_read(s, &s->unit[i], s->passes % RARELY == 0);
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
