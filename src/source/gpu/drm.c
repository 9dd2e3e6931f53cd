/* SPDX-License-Identifier: Apache-2.0 */
/* drm.c - what the job does on GPUs whose driver tells it in /proc/PID/fdinfo of their device
 * files: amdgpu, i915, xe and others. The processes' open files are gone through in turn to find
 * device files; those that were found are looked at in turn, too. Each look makes the driver add up
 * what the client holds, so both are so many a second. */
#include "base/clock.h"
#include "base/text/number.h"
#include "source/gpu/drm_gpu.h"
#include "source/gpu/gpu.h"
#include "source/kept.h"
#include "source/period.h"
#include "source/procfile.h"
#include "source/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	FILES_A_SECOND = 64,
	LOOKS_A_SECOND = 16,
	SCAN_S = 3, /* from the beginning of one to that of the next, at least */
	PIDS = 1024,
	HANDLES = 256,
	TEXT_SIZE = 8192,
};

/* A descriptor of a device file. */
struct handle {
	pid_t pid;
	int fd;
	uint32_t gpu;
	bool met; /* in the scan that goes on */
};

/* What one or more descriptors stand for. */
struct client {
	uint64_t id;
	uint32_t gpu;
	bool used, seen;                                           /* seen: in this round */
	int64_t busy_ns[DRM_ENGINES_MAX], cycles[DRM_ENGINES_MAX]; /* when seen last; -1: not yet */
};

/* Why the sums are not known. */
enum trouble { NO_TROUBLE, FORBIDDEN, TOO_MANY, GARBAGE, TROUBLES };

static const struct {
	enum state state;
	const char *reason;
} troubles[] = {
	[NO_TROUBLE] = { STATE_PRESENT, NULL },
	[FORBIDDEN] = { STATE_FORBIDDEN, "a process of the job is another user's or protected: its "
					 "reading open files is not permitted" },
	[TOO_MANY] = { STATE_FAILED,
		       "the job has more processes, or open GPU device files, than are "
		       "sampled" },
	[GARBAGE] = { STATE_FAILED,
		      "the GPU's driver gives a value of a client that is not a number" },
};
_Static_assert(sizeof troubles / sizeof troubles[0] == TROUBLES, "one for every trouble");

struct drm {
	const struct source_env *env;
	struct period looks, scans;
	struct drm_gpus gpus;
	struct gpu_holders holders;
	/* the scan */
	bool scanning, scanned; /* scanned: one was finished */
	pid_t pids[PIDS];
	size_t npids, turn;
	struct fdlist files; /* of pids[turn] */
	enum trouble scan_trouble, last_scan_trouble;
	/* the looks */
	struct handle handle[HANDLES];
	size_t nhandles, next;
	enum trouble look_trouble;
	bool silent[DRM_GPUS_MAX]; /* its driver reports no clients */
	struct client client[HANDLES];
	char text[TEXT_SIZE];
};

static struct client *client_of(struct drm *d, uint32_t gpu, uint64_t id)
{
	struct client *spare = NULL;

	for (struct client *c = d->client; c < d->client + HANDLES; c++) {
		if (c->used && c->gpu == gpu && c->id == id)
			return c;
		if (!c->used && !spare)
			spare = c;
	}
	if (!spare)
		return NULL;
	*spare = (struct client){ .id = id, .gpu = gpu, .used = true };
	memset(spare->busy_ns, 0xff, sizeof spare->busy_ns);
	memset(spare->cycles, 0xff, sizeof spare->cycles);
	return spare;
}

/* -1 of either is nothing. */
static void add(int64_t *sum, int64_t more)
{
	if (more < 0)
		return;
	if (*sum < 0)
		*sum = 0;
	number_add(sum, more);
}

/* Add what came since the last look; at the first one nothing has. Returns it. */
static int64_t advance(int64_t *sum, int64_t *last, int64_t now)
{
	int64_t more = *last >= 0 && now > *last ? now - *last : 0;

	if (now < 0)
		return 0;
	*last = now;
	add(sum, more);
	return more;
}

static int64_t take_engines(struct drm_gpu *v, struct client *c, const struct drm_fdinfo *info,
			    struct sample *s)
{
	int64_t busy_ns = 0;

	for (const struct drm_engine *from = info->engine; from < info->engine + info->nengines;
	     from++) {
		struct drm_gpu_engine *e = drm_gpu_engine(v, from->name, s);
		size_t i = e ? (size_t)(e - v->engine) : 0;

		if (!e)
			continue;
		number_add(&busy_ns, advance(&e->busy_ns, &c->busy_ns[i], from->busy_ns));
		advance(&e->cycles, &c->cycles[i], from->cycles);
		if (from->total_cycles > e->total_cycles)
			e->total_cycles = from->total_cycles;
		e->capacity = from->capacity;
	}
	return busy_ns;
}

static void take_client(struct drm *d, const struct handle *h, const struct drm_fdinfo *info,
			struct sample *s)
{
	struct drm_gpu *v = &d->gpus.gpu[h->gpu];
	struct client *c = client_of(d, h->gpu, info->client);
	struct gpu_holder *holder;
	int64_t busy_ns;

	if (!c || c->seen)
		return;
	c->seen = true;
	busy_ns = take_engines(v, c, info, s);
	v->clients++;
	add(&v->device_bytes, info->device_bytes);
	add(&v->host_bytes, info->host_bytes);
	holder = gpu_holder_meet(&d->holders, h->pid, h->gpu, v->instance, true, s);
	if (!holder)
		return;
	add(&holder->memory_bytes, info->device_bytes);
	add(&holder->engine_ns, busy_ns);
}

/* False: it is no such file any more. */
static bool look(struct drm *d, const struct handle *h, struct sample *s)
{
	struct drm_fdinfo info;
	char path[40];
	ssize_t n;
	int bad;

	snprintf(path, sizeof path, "%d/fdinfo/%d", (int)h->pid, h->fd);
	n = root_read(&d->env->proc, path, d->text, sizeof d->text);
	bad = n < 0 && n != -EFBIG ? (int)n : drm_fdinfo_parse(d->text, &info);
	if (bad == -EACCES || bad == -EPERM)
		d->look_trouble = FORBIDDEN;
	else if (bad == -EBADMSG || n == -EFBIG)
		d->look_trouble = GARBAGE;
	else if (!bad)
		take_client(d, h, &info, s);
	return !bad || bad == -EACCES || bad == -EPERM || bad == -EBADMSG;
}

static void put_holders(struct drm *d, struct sample *s)
{
	for (struct gpu_holder *h = d->holders.row; h < d->holders.row + GPU_HOLDERS_MAX; h++) {
		if (!h->pid || !h->seen)
			continue;
		gpu_holder_put(&d->holders, h, GPU_PROCESS_ENGINES, h->engine_ns, s);
		if (h->memory_bytes >= 0)
			gpu_holder_put(&d->holders, h, GPU_PROCESS_MEMORY, h->memory_bytes, s);
		h->memory_bytes = -1;
	}
	gpu_holders_sweep(&d->holders, s);
}

/* All device files that are known have been looked at. */
static void end_round(struct drm *d, struct sample *s)
{
	enum trouble t = d->last_scan_trouble ? d->last_scan_trouble : d->look_trouble;

	for (uint32_t i = 0; i < d->gpus.n && d->scanned; i++) {
		struct drm_gpu *v = &d->gpus.gpu[i];

		if (t)
			drm_gpu_refuse(v, troubles[t].state, troubles[t].reason, s);
		else if (d->silent[i])
			drm_gpu_refuse(v, STATE_UNSUPPORTED,
				       "the GPU's driver reports no clients in fdinfo", s);
		else
			drm_gpu_put(v, s);
	}
	for (uint32_t i = 0; i < d->gpus.n; i++)
		drm_gpu_begin(&d->gpus.gpu[i]);
	put_holders(d, s);
	for (struct client *c = d->client; c < d->client + HANDLES; c++) {
		c->used = c->used && c->seen;
		c->seen = false;
	}
	d->next = 0;
	d->look_trouble = NO_TROUBLE;
}

static void look_in_turn(struct drm *d, struct sample *s)
{
	for (int i = 0; i < LOOKS_A_SECOND && d->next < d->nhandles; i++)
		if (look(d, &d->handle[d->next], s))
			d->next++;
		else
			d->handle[d->next] = d->handle[--d->nhandles];
	if (d->next == d->nhandles)
		end_round(d, s);
}

/* Does its driver tell of clients? Asked when the file was seen just now. */
static bool tells_clients(struct drm *d, pid_t pid, int fd)
{
	char path[40];

	snprintf(path, sizeof path, "%d/fdinfo/%d", (int)pid, fd);
	return root_read(&d->env->proc, path, d->text, sizeof d->text) < 0 ||
	       strstr(d->text, "drm-client-id:");
}

static void found(struct drm *d, const struct drm_gpu *v, int fd)
{
	struct handle new = { d->pids[d->turn], fd, (uint32_t)(v - d->gpus.gpu), true };

	for (struct handle *h = d->handle; h < d->handle + d->nhandles; h++)
		if (h->pid == new.pid && h->fd == fd) {
			*h = new;
			return;
		}
	d->silent[new.gpu] = !tells_clients(d, new.pid, fd);
	if (d->silent[new.gpu])
		return;
	if (d->nhandles < HANDLES)
		d->handle[d->nhandles++] = new;
	else
		d->scan_trouble = TOO_MANY;
}

static void begin_scan(struct drm *d)
{
	d->npids = d->env->job.tree ? d->env->job.pids(d->env->job.tree, d->pids, PIDS) : 0;
	d->turn = 0;
	d->scanning = d->npids > 0;
	d->scan_trouble = d->npids == PIDS ? TOO_MANY : NO_TROUBLE;
}

static void open_next(struct drm *d)
{
	int r = fdlist_open(&d->files, &d->env->proc, d->pids[d->turn]);

	if (r == -EACCES || r == -EPERM)
		d->scan_trouble = FORBIDDEN;
	d->turn += r < 0;
}

static void end_scan(struct drm *d)
{
	d->scanning = false;
	d->scanned = true;
	d->last_scan_trouble = d->scan_trouble;
	for (size_t i = 0; i < d->nhandles;) {
		if (!d->handle[i].met)
			d->handle[i] = d->handle[--d->nhandles];
		else
			d->handle[i++].met = false;
	}
	d->next = d->next < d->nhandles ? d->next : d->nhandles;
}

/* What is listed counts, and so does a process. */
static void scan(struct drm *d)
{
	for (int i = 0; i < FILES_A_SECOND && d->turn < d->npids; i++) {
		char target[FDLIST_TARGET];
		struct drm_gpu *v;
		int fd;

		if (!d->files.dir) {
			open_next(d);
		} else if (!fdlist_next(&d->files, &fd, target)) {
			d->turn++;
		} else {
			v = drm_gpu_behind(&d->gpus, target);
			if (v)
				found(d, v, fd);
		}
	}
	if (d->turn == d->npids)
		end_scan(d);
}

static int drm_read(void *state, struct sample *s)
{
	struct drm *d = state;

	if (!period_is_due(&d->looks, s, NS_PER_S))
		return 0;
	if (!d->scanning && period_is_due(&d->scans, s, SCAN_S * NS_PER_S))
		begin_scan(d);
	if (d->scanning)
		scan(d);
	look_in_turn(d, s);
	return 0;
}

/* Where there is none, that may be found when the job has begun. */
static bool has_no_drm(const struct source_env *env)
{
	return !sysfs_exists(&env->sys, "class/drm");
}

static int drm_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct drm *d = state;

	drm_gpus_find(&d->gpus, &env->sys, s);
	if (!d->gpus.n)
		return err_set(e, -ENODEV,
			       "%s/class/drm shows no render node of a GPU other than NVIDIA's",
			       env->sys.path);
	d->env = env;
	d->holders.first = GPU_PROCESS_ENGINES;
	d->holders.proc = &env->proc;
	sample_catalogue(s, &drm_metrics[DRM_MEASURED], DRM_NUMBER_OF - DRM_MEASURED);
	return 0;
}

static void drm_close(void *state)
{
	struct drm *d = state;

	fdlist_close(&d->files);
}

const struct source source_drm = {
	.name = "drm",
	.what = "the job's use of AMD, Intel and other GPUs, by their drivers",
	.fix_user = "ask the scheduler for a GPU; in a container, for its /dev/dri",
	.fix_admin =
		"load the GPU's driver; it reports clients in /proc/PID/fdinfo since Linux 5.19",
	.metrics = drm_metrics,
	.nmetrics = DRM_NUMBER_OF,
	.size = sizeof(struct drm),
	.can_wait = has_no_drm,
	.open = drm_open,
	.read = drm_read,
	.close = drm_close,
};
