/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia.c - NVIDIA GPUs: NVML, asked by the helper sonde-nvml (src/nvml/), once a second at most.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/helper.h"
#include "base/process.h"
#include "base/text/number.h"
#include "source/gpu/nvidia_page.h"
#include "source/gpu/nvidia_units.h"
#include "source/kept.h"
#include "source/procfile.h"
#include "source/source.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * The helper process sonde-nvml, as the recorder sees it.
 *
 * It may hang or crash inside NVIDIA's library; nothing here waits for it. Whoever has waited long
 * enough stops it: a process that hangs in the kernel is left behind.
 */
struct nvidia_helper {
	pid_t pid;
	int socket;
	uint32_t asked;
	struct nvidia_page *page; /* NULL: not started */
};

/* ---- Driver ---- */

/* What is seen of NVIDIA's driver without asking it: is it there, for whom. Nothing here touches a
 * GPU, and nothing blocks. */

/* Is there a driver to ask? 0, or -ENODEV with a sentence. $SONDE_NVML says yes. In some containers
 * only its device file is seen, in WSL neither. */
static int nvidia_driver_find(const struct source_env *env, struct err *e)
{
	bool here = strcmp(env->proc.path, "/proc") == 0;

	if (getenv("SONDE_NVML"))
		return 0;
	if (here && (access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0))
		return 0;
	if (!sysfs_exists(&env->proc, "driver/nvidia/version"))
		return err_set(e, -ENODEV, "no NVIDIA driver is loaded");
	if (!here)
		return err_set(e, -ENODEV,
			       "NVIDIA's driver is asked for this machine's /proc only");
	return 0;
}

/* It names processes as the host does: are those the pids of env->proc? */
static bool nvidia_driver_shares_pids(const struct source_env *env)
{
	char target[64];
	ssize_t n = readlink("/proc/self/ns/pid", target, sizeof target - 1);

	if (strcmp(env->proc.path, "/proc") != 0)
		return true; /* a fixture's pids are what they are */
	target[n > 0 ? n : 0] = '\0';
	return strcmp(target, PID_NAMESPACE_INITIAL) == 0;
}

/* How many GPUs it has, whoever may use them; 0: it does not say. */
static uint32_t nvidia_driver_boards(const struct root *proc)
{
	_Alignas(struct dirent64) char buf[4096];
	int dir = root_file(proc, "driver/nvidia/gpus");
	uint32_t boards = 0;
	ssize_t n;

	if (dir < 0)
		return 0;
	while ((n = getdents64(dir, buf, sizeof buf)) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *entry =
				(const struct dirent64 *)(const void *)(buf + at);

			boards += entry->d_name[0] != '.';
			at += entry->d_reclen;
		}
	file_close(&dir);
	return boards;
}

/* ---- Helper ---- */

_Static_assert(NVIDIA_SOCKET == (int)HELPER_SOCKET && NVIDIA_MEMORY == (int)HELPER_MEMORY,
	       "as helpers have them");

/* A page for it, zero but for what the helper must know. Its descriptor, or -errno. */
static int make_page(struct nvidia_helper *h, uint32_t left_out)
{
	void *memory;
	int fd = helper_memory("sonde-nvml", sizeof *h->page, &memory);

	if (fd < 0)
		return fd;
	h->page = memory;
	h->page->layout = sizeof *h->page;
	h->page->parent = getpid();
	h->page->left_out = left_out;
	atomic_store(&h->page->at_gpu, -1);
	return fd;
}

static void nvidia_helper_stop(struct nvidia_helper *h)
{
	if (h->socket > 0)
		close(h->socket);
	if (h->pid > 0)
		child_end(h->pid);
	if (h->page)
		munmap(h->page, sizeof *h->page);
	*h = (struct nvidia_helper){ 0 };
}

/* left_out: bit i set = GPU i is not to be touched. 0, or -errno with a sentence. */
static int nvidia_helper_start(struct nvidia_helper *h, uint32_t left_out, struct err *e)
{
	int fd[HELPER_MEMORY + 1] = { -1, -1, -1 };
	struct talk t;
	char path[PATH_MAX];
	int bad = helper_find("nvml", NULL, path, sizeof path, e);

	*h = (struct nvidia_helper){ 0 };
	if (bad)
		return bad;
	fd[HELPER_MEMORY] = make_page(h, left_out);
	if (fd[HELPER_MEMORY] < 0)
		return err_set(e, fd[HELPER_MEMORY], "cannot start %s: %s", path,
			       strerror(-fd[HELPER_MEMORY]));
	bad = helper_start(path, fd, HELPER_MEMORY + 1, &t, e);
	close(fd[HELPER_MEMORY]);
	h->pid = t.pid;
	h->socket = t.socket;
	if (bad)
		nvidia_helper_stop(h);
	return bad;
}

/* Ask for an answer whose reading begins at due_ns (monotonic). 0, or -errno when it has died. */
static int nvidia_helper_ask(struct nvidia_helper *h, int64_t due_ns)
{
	h->page->due_ns = due_ns;
	if (send(h->socket, "?", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
		return -errno;
	h->asked++;
	return 0;
}

static enum nvidia_stage nvidia_helper_stage(const struct nvidia_helper *h)
{
	return (enum nvidia_stage)atomic_load_explicit(&h->page->stage, memory_order_acquire);
}

static bool nvidia_helper_answered(const struct nvidia_helper *h)
{
	return atomic_load_explicit(&h->page->answered, memory_order_acquire) == h->asked;
}

/* Has it ended by itself? It is reaped then. */
static bool nvidia_helper_died(struct nvidia_helper *h)
{
	if (h->pid <= 0 || waitpid(h->pid, NULL, WNOHANG) == 0)
		return false;
	h->pid = 0;
	return true;
}

/* ---- Source ---- */

/* Without persistence mode a node of many GPUs takes many seconds to start them. */
enum { PATIENCE_S = 30, RESTARTS_MAX = 4 };
static const int64_t PERIOD_LEAST_NS = NS_PER_S, LEAD_NS = 20 * NS_PER_MS, LOOK_NS = NS_PER_S;

enum { CPU, RESIDENT, AGE, MONITORED };

static const struct metric metrics[] = {
	[CPU] = { "monitor.nvml_cpu_seconds", .unit = UNIT_SECONDS, .div = 1000000000,
		  .kind = KIND_COUNTER, .over_nodes = COMBINE_SUM,
		  .label = "CPU of Sonde's GPU helper",
		  .help = "CPU time of the helper that asks NVIDIA's library; it is not part of the "
			  "recorder's." },
	[RESIDENT] = { "monitor.nvml_resident_bytes", .unit = UNIT_BYTES, .kind = KIND_GAUGE,
		       .over_nodes = COMBINE_MAX, .label = "RSS of Sonde's GPU helper",
		       .help = "Resident set size of the helper that asks NVIDIA's library, mostly "
			       "the library itself; it is not part of the recorder's." },
	[AGE] = { "monitor.nvml_age_seconds", .unit = UNIT_SECONDS, .div = 1000000000,
		  .kind = KIND_GAUGE, .over_nodes = COMBINE_MAX, .label = "Age of GPU values",
		  .help = "How long before the sample NVIDIA's library was asked." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == MONITORED, "a row for every index");

struct nvidia {
	const struct source_env *env;
	struct nvidia_helper helper;
	int64_t patience_ns, owed_ns, asked_ns, looked_ns; /* owed: since when an answer is due */
	uint32_t left_out, restarts, slot;
	bool ready, over; /* over: it was given up */
	struct nvidia_units units;
	struct gpu_job job;
};

/* The reason of a failure is the source's: said once, in the recording. */
static void give_up(struct nvidia *n, struct sample *s, enum state state, const char *reason)
{
	char text[600];

	n->over = true;
	nvidia_helper_stop(&n->helper);
	nvidia_units_fail(&n->units, -1, reason, s);
	snprintf(text, sizeof text, "%s: %s", state_name(state), reason);
	sample_meta_text(s, "source.nvidia", text);
}

/* The helper could not begin: why, as open returns it. */
static int why_not(const struct nvidia_page *p, struct err *e)
{
	const char *text = p ? p->failure_text : "";
	int size = (int)strnlen(text, sizeof p->failure_text);

	if (!p)
		return err_set(e, -EIO, "the helper sonde-nvml has gone");
	switch (p->failure) {
	case NVIDIA_NO_LIBRARY:
		return err_set(e, -ENOENT, "NVIDIA's management library cannot be loaded: %.*s",
			       size, text);
	case NVIDIA_NO_FUNCTION:
		return err_set(e, -ENOSYS, "NVIDIA's management library has no %.*s", size, text);
	default:
		return err_set(e, nvidia_code_errno(p->failure_code), "%s (NVML: %.*s)",
			       nvidia_code_text(p->failure_code), size, text);
	}
}

/* Which GPU it hangs on, or died of; -1: none in particular. */
static int32_t culprit(const struct nvidia *n, const char *what, char *reason, size_t size)
{
	const struct nvidia_page *p = n->helper.page;
	int32_t gpu = p ? atomic_load_explicit(&p->at_gpu, memory_order_acquire) : -1;
	const char *call = p ? p->at_call : "";
	int len = (int)strnlen(call, sizeof p->at_call);

	if (gpu >= NVIDIA_GPUS_MAX)
		gpu = -1;
	if (gpu >= 0)
		snprintf(reason, size, "%s: %.*s of gpu%d", what, len, call, (int)gpu);
	else
		snprintf(reason, size, "%s%s%.*s", what, len ? ": " : "", len, call);
	return gpu;
}

static void restart(struct nvidia *n, struct sample *s)
{
	struct err e;
	int bad;

	nvidia_helper_stop(&n->helper);
	n->ready = false;
	n->restarts++;
	bad = nvidia_helper_start(&n->helper, n->left_out, &e);
	n->owed_ns = clock_mono_ns();
	if (bad)
		give_up(n, s, state_of(bad), e.text);
}

/* It hangs or has crashed. If it did so on one of several GPUs, that one is left out from now on.
 */
static void lost(struct nvidia *n, struct sample *s, const char *what)
{
	char reason[200];
	int32_t gpu = culprit(n, what, reason, sizeof reason);

	if (gpu < 0 || n->restarts == RESTARTS_MAX) {
		give_up(n, s, STATE_FAILED, reason);
		return;
	}
	nvidia_units_fail(&n->units, gpu, reason, s);
	n->left_out |= 1U << gpu;
	restart(n, s);
}

static void no_answer(struct nvidia *n, struct sample *s)
{
	char what[64];

	if (nvidia_helper_died(&n->helper)) {
		lost(n, s, "the helper sonde-nvml was killed or has crashed");
	} else if (clock_mono_ns() - n->owed_ns > n->patience_ns) {
		snprintf(what, sizeof what, "NVIDIA's driver did not answer in %lld s",
			 (long long)(n->patience_ns / NS_PER_S));
		lost(n, s, what);
	}
}

static void tell(struct nvidia *n, struct sample *s)
{
	const struct nvidia_page *p = n->helper.page;
	char text[sizeof p->driver];

	if (!n->slot) {
		n->slot = sample_series(s, metrics, MONITORED, 0);
		snprintf(text, sizeof text, "%.*s", (int)strnlen(p->driver, sizeof p->driver),
			 p->driver);
		if (*text)
			sample_meta_text(s, "nvidia.driver", text);
		snprintf(text, sizeof text, "%d.%d", (int)p->cuda / 1000, (int)p->cuda % 1000 / 10);
		if (p->cuda > 0)
			sample_meta_text(s, "nvidia.cuda", text);
	}
	nvidia_units_announce(&n->units, p, s);
	nvidia_units_shown(&n->units, p->ngpus, nvidia_driver_boards(&n->env->proc), s);
	n->ready = true;
}

static void take(struct nvidia *n, struct sample *s)
{
	const struct nvidia_page *p = n->helper.page;
	int64_t age_ns = s->mono_ns - p->read_ns;

	nvidia_units_take(&n->units, p, n->env, s);
	if (!n->slot)
		return;
	sample_put(s, n->slot + CPU, p->cpu_ns > 0 ? p->cpu_ns : 0);
	sample_put(s, n->slot + RESIDENT, p->resident_bytes > 0 ? p->resident_bytes : 0);
	sample_put(s, n->slot + AGE, age_ns > 0 ? age_ns : 0);
}

/* For the next sample: so late that the values are fresh, so early that they are there. */
static void ask(struct nvidia *n, struct sample *s)
{
	int64_t now_ns = clock_mono_ns(), due_ns = now_ns, interval_ns = n->env->interval_ns;
	int64_t took_ns = n->helper.page->took_ns, lead_ns = LEAD_NS;

	if (took_ns > 0 && took_ns < interval_ns)
		number_add(&lead_ns, 2 * took_ns);
	if (interval_ns >= PERIOD_LEAST_NS && lead_ns < interval_ns)
		due_ns = s->mono_ns + interval_ns - lead_ns;
	n->asked_ns = s->mono_ns;
	n->owed_ns = due_ns > now_ns ? due_ns : now_ns;
	if (nvidia_helper_ask(&n->helper, due_ns))
		lost(n, s, "the helper sonde-nvml was killed or has crashed");
}

/* The first answer is there without a question. */
static bool has_begun(struct nvidia *n, struct sample *s)
{
	struct err e;
	int bad;

	switch (nvidia_helper_stage(&n->helper)) {
	case NVIDIA_READY:
		tell(n, s);
		return true;
	case NVIDIA_FAILED:
		bad = why_not(n->helper.page, &e);
		give_up(n, s, state_of(bad), e.text);
		return false;
	default:
		no_answer(n, s);
		return false;
	}
}

/* False: nothing may be read, since the helper is at it, or given up. */
static bool is_steady(struct nvidia *n, struct sample *s)
{
	if (n->over || !n->ready)
		return !n->over && has_begun(n, s);
	if (nvidia_helper_answered(&n->helper))
		return true;
	no_answer(n, s);
	return false;
}

static int nvidia_read(void *state, struct sample *s)
{
	struct nvidia *n = state;

	if (!is_steady(n, s))
		return 0;
	if (n->owed_ns)
		take(n, s);
	n->owed_ns = 0;
	if (s->mono_ns - n->looked_ns >= LOOK_NS && gpu_job_look(&n->job, n->env)) {
		n->looked_ns = s->mono_ns;
		nvidia_units_saw(&n->units, &n->job, s);
	}
	/* Samples are not quite on time. */
	if (s->mono_ns - n->asked_ns >= PERIOD_LEAST_NS - PERIOD_LEAST_NS / 20)
		ask(n, s);
	return 0;
}

static void nvidia_close(void *state)
{
	struct nvidia *n = state;

	nvidia_helper_stop(&n->helper);
}

static int64_t patience(void)
{
	const char *p = getenv("SONDE_NVML_PATIENCE");
	int64_t seconds;

	return p && number_i64(&p, &seconds) && !*p && seconds > 0 && seconds <= 3600
		       ? seconds * NS_PER_S
		       : PATIENCE_S * NS_PER_S;
}

/* Who may wait learns here what a recording learns in its first samples. */
static int settle(struct nvidia *n, int64_t patience_ns, struct err *e)
{
	const struct timespec a_little = { .tv_nsec = NS_PER_MS };
	int64_t end_ns = clock_mono_ns() + patience_ns;

	while (nvidia_helper_stage(&n->helper) == NVIDIA_STARTING) {
		char reason[200];

		if (nvidia_helper_died(&n->helper) &&
		    nvidia_helper_stage(&n->helper) == NVIDIA_STARTING) {
			culprit(n, "the helper sonde-nvml has crashed", reason, sizeof reason);
			return err_set(e, -EIO, "%s", reason);
		}
		if (clock_mono_ns() > end_ns) {
			culprit(n, "NVIDIA's driver does not answer", reason, sizeof reason);
			return err_set(e, -ETIMEDOUT, "%s", reason);
		}
		nanosleep(&a_little, NULL);
	}
	return nvidia_helper_stage(&n->helper) == NVIDIA_FAILED ? why_not(n->helper.page, e) : 0;
}

/* Where there is none, that may be found when the job has begun. */
static bool has_no_driver(const struct source_env *env)
{
	struct err e;

	return nvidia_driver_find(env, &e) < 0;
}

static int nvidia_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct nvidia *n = state;
	int bad = nvidia_driver_find(env, e);

	if (bad)
		return bad;
	n->env = env;
	n->patience_ns = patience();
	n->asked_ns = n->looked_ns = INT64_MIN / 2;
	n->units.holders.first = GPU_PROCESS_MEMORY;
	n->units.holders.proc = &env->proc;
	n->units.pids_known = nvidia_driver_shares_pids(env);
	bad = nvidia_helper_start(&n->helper, 0, e);
	n->owed_ns = clock_mono_ns();
	if (!bad && env->patience_ns)
		bad = settle(n,
			     env->patience_ns < n->patience_ns ? env->patience_ns : n->patience_ns,
			     e);
	if (bad)
		nvidia_helper_stop(&n->helper);
	else
		sample_catalogue(s, &gpu_metrics[GPU_MEASURED], GPU_DERIVED_END - GPU_MEASURED);
	return bad;
}

const struct source source_nvidia = {
	.name = "nvidia",
	.what = "NVIDIA GPUs, by NVIDIA's management library",
	.fix_user = "ask the scheduler for a GPU; give a container the GPUs and the capability "
		    "\"utility\" (--gpus all, NVIDIA_DRIVER_CAPABILITIES=compute,utility)",
	.fix_admin = "install NVIDIA's driver with libnvidia-ml.so.1, load it, and install "
		     "libexec/sonde/sonde-nvml",
	SOURCE_METRICS(metrics),
	.size = sizeof(struct nvidia),
	.can_wait = has_no_driver,
	.open = nvidia_open,
	.read = nvidia_read,
	.close = nvidia_close,
};
