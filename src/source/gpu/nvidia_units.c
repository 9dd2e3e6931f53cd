/* SPDX-License-Identifier: Apache-2.0 */
#include "source/gpu/nvidia_units.h"

#include "base/clock.h"
#include "base/text/number.h"
#include "source/gpu/gpu.h"
#include "source/gpu/nvidia_page.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- Return codes ---- */

static const struct code {
	int code;
	enum state state;
	const char *text;
} codes[] = {
	{ NVIDIA_NOT_READ, STATE_ABSENT, "" },
	{ NVIDIA_NO_SYMBOL, STATE_UNSUPPORTED, "this driver's library has no function for it" },
	{ NVIDIA_LEFT_OUT, STATE_FAILED, "the GPU did not answer before and is not asked again" },
	{ NVIDIA_NEEDLESS, STATE_UNSUPPORTED, "this driver counts the bytes: gpu.pcie_sent_bytes" },
	{ 1, STATE_FAILED, "NVML was not initialised" },
	{ 2, STATE_UNSUPPORTED, "the driver knows no such thing of this GPU" },
	{ 3, STATE_UNSUPPORTED, "this GPU does not report it" },
	{ 4, STATE_FORBIDDEN, "the driver does not permit it to this user" },
	{ 6, STATE_UNSUPPORTED, "the driver finds no such thing" },
	{ 7, STATE_FAILED, "more processes use the GPU than can be distinguished" },
	{ 8, STATE_FAILED, "a power cable of the GPU is not attached" },
	{ 9, STATE_UNSUPPORTED,
	  "the NVIDIA driver is not loaded, or no GPU is given to this user" },
	{ 10, STATE_FAILED, "the driver took too long" },
	{ 11, STATE_FAILED, "the driver has a problem with the GPU's interrupts" },
	{ 12, STATE_UNSUPPORTED, "a library that NVML needs is missing" },
	{ 13, STATE_UNSUPPORTED, "this driver's library has no function for it" },
	{ 14, STATE_FAILED, "the GPU's inforom is corrupted" },
	{ 15, STATE_FAILED, "the GPU is lost: it fell off the bus; the node needs a reboot" },
	{ 16, STATE_FAILED, "the GPU needs a reset" },
	{ 17, STATE_FORBIDDEN, "the operating system (a cgroup, perhaps) blocks the GPU" },
	{ 18, STATE_FAILED,
	  "NVIDIA's library and the loaded driver are of different versions; load the driver "
	  "again, or reboot" },
	{ 19, STATE_FAILED, "the GPU is in use" },
	{ 20, STATE_FAILED, "there is no memory" },
	{ 21, STATE_ABSENT, "" },
	{ 22, STATE_UNSUPPORTED, "this vGPU has no ECC" },
	{ 24, STATE_UNSUPPORTED, "this GPU does not report it" },
	{ 25, STATE_UNSUPPORTED, "this driver's library has another version of the call" },
	{ 26, STATE_UNSUPPORTED, "this driver does not report it any more" },
	{ 27, STATE_ABSENT, "" },
	{ 28, STATE_UNSUPPORTED, "the GPU was not found" },
};

static const struct code *find(int code)
{
	static const struct code unknown = { 999, STATE_FAILED,
					     "NVIDIA's driver failed and does not say why" };

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if (codes[i].code == code)
			return &codes[i];
	return &unknown;
}

/* code: NVML's, or one of ours (source/gpu/nvidia_page.h). ABSENT: there is no value this time, and
 * nothing is wrong. */
static enum state nvidia_code_state(int code)
{
	return code ? find(code)->state : STATE_PRESENT;
}

const char *nvidia_code_text(int code)
{
	return code ? find(code)->text : "";
}

int nvidia_code_errno(int code)
{
	switch (nvidia_code_state(code)) {
	case STATE_UNSUPPORTED:
		return -ENODEV;
	case STATE_FORBIDDEN:
		return -EACCES;
	default:
		return -EIO;
	}
}

/* ---- Units ---- */

static const char *const evidence_text[] = {
	[EVIDENCE_CGROUP] = "the driver shows no others (cgroup)",
	[EVIDENCE_OPEN_FILE] = "open device file",
	[EVIDENCE_ENVIRONMENT] = "CUDA_VISIBLE_DEVICES",
	[EVIDENCE_CONTEXT] = "compute context",
};
_Static_assert(sizeof evidence_text / sizeof evidence_text[0] == EVIDENCE_NUMBER_OF,
	       "one for every evidence");

/* A text of the page, which need not end. */
static const char *copied(char *out, size_t size, const char *text, size_t text_size)
{
	size_t n = strnlen(text, text_size);

	snprintf(out, size, "%.*s", (int)n, text);
	return out;
}

static void label(struct sample *s, uint32_t instance, const char *key, const char *text)
{
	if (instance && *text)
		sample_label(s, instance, key, text);
}

static struct nvidia_unit *find_unit(struct nvidia_units *u, uint32_t gpu, int32_t mig)
{
	for (struct nvidia_unit *v = u->unit; v < u->unit + u->n; v++)
		if (v->gpu == gpu && v->mig == mig)
			return v;
	return NULL;
}

static void announce(struct nvidia_units *u, struct nvidia_unit *v, const struct nvidia_device *d,
		     struct sample *s)
{
	const struct nvidia_unit *gpu = d->mig >= 0 ? find_unit(u, d->gpu, -1) : NULL;
	char name[32], text[96], file[32] = "";

	snprintf(name, sizeof name, d->mig < 0 ? "gpu%u" : "gpu%u.mig%d", d->gpu, (int)d->mig);
	v->instance = sample_instance(s, gpu_metrics->domain, name, gpu ? gpu->instance : 0,
				      clock_mono_ns(), d->mig < 0 ? 0 : INSTANCE_ASIDE);
	if (v->instance)
		v->slot = sample_series(s, gpu_metrics, GPU_MEASURED, v->instance);
	label(s, v->instance, "model", copied(text, sizeof text, d->name, sizeof d->name));
	label(s, v->instance, "uuid", v->uuid);
	label(s, v->instance, "pci", copied(text, sizeof text, d->pci, sizeof d->pci));
	if (d->minor >= 0)
		snprintf(file, sizeof file, "/dev/nvidia%d", (int)d->minor);
	label(s, v->instance, "device_file", file);
	if (d->mig < 0)
		label(s, v->instance, "mig", d->mig_on ? "on" : "off");
}

void nvidia_units_announce(struct nvidia_units *u, const struct nvidia_page *p, struct sample *s)
{
	for (uint32_t i = 0; i < p->ndevices && i < NVIDIA_DEVICES_MAX; i++) {
		const struct nvidia_device *d = &p->device[i];

		if (find_unit(u, d->gpu, d->mig) || u->n == NVIDIA_DEVICES_MAX)
			continue;
		u->unit[u->n] = (struct nvidia_unit){ .gpu = d->gpu,
						      .mig = d->mig,
						      .mig_gpu = d->mig_gpu,
						      .minor = d->minor,
						      .mig_on = d->mig_on };
		copied(u->unit[u->n].uuid, sizeof u->unit->uuid, d->uuid, sizeof d->uuid);
		announce(u, &u->unit[u->n++], d, s);
	}
}

static void found(struct nvidia_unit *v, enum gpu_evidence how, struct sample *s)
{
	if (how <= v->evidence)
		return;
	v->evidence = how;
	label(s, v->instance, "job", evidence_text[how]);
}

void nvidia_units_shown(struct nvidia_units *u, uint32_t ngpus, uint32_t nboards, struct sample *s)
{
	for (uint32_t i = 0; i < u->n && ngpus < nboards; i++)
		found(&u->unit[i], EVIDENCE_CGROUP, s);
}

void nvidia_units_saw(struct nvidia_units *u, const struct gpu_job *j, struct sample *s)
{
	struct cuda_device devices[NVIDIA_DEVICES_MAX];

	for (uint32_t i = 0; i < u->n; i++)
		devices[i] = (struct cuda_device){ .gpu = u->unit[i].gpu,
						   .is_mig = u->unit[i].mig >= 0,
						   .uuid = u->unit[i].uuid };
	if (j->visible)
		cuda_visible(j->visible, devices, u->n);
	for (uint32_t i = 0; i < u->n; i++) {
		struct nvidia_unit *v = &u->unit[i];

		if (v->minor >= 0 && v->minor < 64 && (j->minors >> v->minor & 1))
			found(v, EVIDENCE_OPEN_FILE, s);
		if (devices[i].named)
			found(v, EVIDENCE_ENVIRONMENT, s);
	}
}

/* Say what a value's code means, when it is another than before. */
static void take_code(struct nvidia_unit *v, unsigned metric, int16_t code, const char *reason,
		      struct sample *s)
{
	enum state state = nvidia_code_state(code);

	if (state == STATE_ABSENT || code == v->code[metric])
		return;
	v->code[metric] = code;
	sample_refuse(s, v->slot + metric, state, state == STATE_PRESENT ? NULL : reason);
}

static const char *reason_of(const struct nvidia_unit *v, int code)
{
	if (v->mig_on && nvidia_code_state(code) == STATE_UNSUPPORTED)
		return "MIG is on: the driver does not report it of the whole GPU";
	if (v->mig >= 0 && nvidia_code_state(code) == STATE_UNSUPPORTED)
		return "the driver does not report it of a MIG device";
	return nvidia_code_text(code);
}

static void take_values(struct nvidia_unit *v, const struct nvidia_device *d, struct sample *s)
{
	for (unsigned i = 0; i < GPU_JOB_PROCESSES; i++) {
		int code = d->error ? d->error : d->code[i];

		if (code == 0 && d->value[i] < 0)
			code = NVIDIA_NOT_READ;
		take_code(v, i, (int16_t)code, reason_of(v, code), s);
		if (code == 0)
			sample_put(s, v->slot + i, d->value[i]);
	}
}

/* Of a MIG device, only the processes on it; the driver lists those of the whole GPU. */
static bool is_on(const struct nvidia_unit *v, const struct nvidia_process *p)
{
	return v->mig < 0 || p->mig_gpu == UINT32_MAX || (int64_t)p->mig_gpu == v->mig_gpu;
}

static bool is_jobs(const struct source_env *env, uint32_t pid)
{
	return pid <= INT32_MAX && env->job.has(env->job.tree, (pid_t)pid);
}

/* Rows from..to have no value for the reason of this code. */
static void refuse(struct nvidia_unit *v, unsigned from, unsigned to, int code, struct sample *s)
{
	for (unsigned i = from; i < to; i++)
		take_code(v, i, (int16_t)code, reason_of(v, code), s);
}

struct shares {
	int64_t count[2], memory[2]; /* others', the job's */
	bool memory_known;
};

static void put_shares(struct nvidia_unit *v, const struct shares *h, struct sample *s)
{
	refuse(v, GPU_JOB_PROCESSES, GPU_JOB_SM, 0, s);
	sample_put(s, v->slot + GPU_OTHER_PROCESSES, h->count[0]);
	sample_put(s, v->slot + GPU_JOB_PROCESSES, h->count[1]);
	if (!h->memory_known)
		return;
	sample_put(s, v->slot + GPU_OTHER_MEMORY, h->memory[0]);
	sample_put(s, v->slot + GPU_JOB_MEMORY, h->memory[1]);
}

static void take_use(struct nvidia_units *u, struct gpu_holder *h, const struct nvidia_device *d,
		     struct sample *s)
{
	enum state state = nvidia_code_state(d->uses_code);
	uint32_t sm = 0;

	for (uint32_t i = 0; i < d->nuses && i < NVIDIA_PROCESSES_MAX; i++)
		if (d->use[i].pid == (uint32_t)h->pid && d->use[i].sm <= 100)
			sm = d->use[i].sm;
	if (d->uses_code != h->lacks && state != STATE_ABSENT) {
		h->lacks = d->uses_code;
		gpu_holder_refuse(&u->holders, h, GPU_PROCESS_SM, state,
				  reason_of(&u->unit[h->gpu], d->uses_code), s);
	}
	if (!d->uses_code)
		gpu_holder_put(&u->holders, h, GPU_PROCESS_SM, sm, s);
}

static void hold(struct nvidia_units *u, uint32_t unit, const struct nvidia_device *d,
		 const struct nvidia_process *p, bool ours, struct sample *s)
{
	struct gpu_holder *h =
		gpu_holder_meet(&u->holders, (pid_t)p->pid, unit, u->unit[unit].instance, ours, s);

	if (!h)
		return;
	if (p->memory >= 0)
		gpu_holder_put(&u->holders, h, GPU_PROCESS_MEMORY, p->memory, s);
	take_use(u, h, d, s);
}

static void take_processes(struct nvidia_units *u, uint32_t unit, const struct nvidia_device *d,
			   const struct source_env *env, struct sample *s)
{
	struct nvidia_unit *v = &u->unit[unit];
	struct shares shares = { .memory_known = true };
	int code = d->error ? d->error : d->processes_code;

	if (code)
		refuse(v, GPU_JOB_PROCESSES, GPU_JOB_SM, code, s);
	/* Of some of them is not known whose they are. */
	if (code || d->value[GPU_PROCESSES] != (int64_t)d->nprocesses)
		return;
	for (uint32_t i = 0; i < d->nprocesses && i < NVIDIA_PROCESSES_MAX; i++) {
		const struct nvidia_process *p = &d->process[i];
		bool ours;

		if (!p->pid || p->pid > INT32_MAX || !is_on(v, p))
			continue;
		ours = is_jobs(env, p->pid);
		shares.count[ours]++;
		number_add(&shares.memory[ours], p->memory > 0 ? p->memory : 0);
		shares.memory_known &= p->memory >= 0;
		if (ours)
			found(v, EVIDENCE_CONTEXT, s);
		if (!v->mig_on)
			hold(u, unit, d, p, ours, s);
	}
	put_shares(v, &shares, s);
}

static void take_uses(struct nvidia_unit *v, const struct nvidia_device *d,
		      const struct source_env *env, struct sample *s)
{
	int code = d->error ? d->error : d->uses_code;
	int64_t sm[2] = { 0, 0 }; /* others', the job's */

	refuse(v, GPU_JOB_SM, GPU_MEASURED, code, s);
	if (code)
		return;
	for (uint32_t i = 0; i < d->nuses && i < NVIDIA_PROCESSES_MAX; i++)
		if (d->use[i].sm <= 100)
			number_add(&sm[is_jobs(env, d->use[i].pid)], d->use[i].sm);
	sample_put(s, v->slot + GPU_OTHER_SM, sm[0]);
	sample_put(s, v->slot + GPU_JOB_SM, sm[1]);
}

static void take_shares(struct nvidia_units *u, uint32_t unit, const struct nvidia_device *d,
			const struct source_env *env, struct sample *s)
{
	struct nvidia_unit *v = &u->unit[unit];

	for (unsigned i = GPU_JOB_PROCESSES; !u->pids_known && i < GPU_MEASURED; i++)
		take_code(v, i, NVIDIA_NO_SYMBOL,
			  "the driver's pids are those of another pid namespace", s);
	if (!u->pids_known || !env->job.tree)
		return;
	take_processes(u, unit, d, env, s);
	take_uses(v, d, env, s);
}

void nvidia_units_take(struct nvidia_units *u, const struct nvidia_page *p,
		       const struct source_env *env, struct sample *s)
{
	for (uint32_t i = 0; i < p->ndevices && i < NVIDIA_DEVICES_MAX; i++) {
		const struct nvidia_device *d = &p->device[i];
		struct nvidia_unit *v = find_unit(u, d->gpu, d->mig);

		if (!v || !v->slot)
			continue;
		take_values(v, d, s);
		take_shares(u, (uint32_t)(v - u->unit), d, env, s);
	}
	gpu_holders_sweep(&u->holders, s);
}

void nvidia_units_fail(struct nvidia_units *u, int32_t gpu, const char *reason, struct sample *s)
{
	for (struct nvidia_unit *v = u->unit; v < u->unit + u->n; v++)
		for (unsigned i = 0; v->slot && i < GPU_MEASURED; i++)
			if ((gpu < 0 || v->gpu == (uint32_t)gpu) &&
			    nvidia_code_state(v->code[i]) != STATE_UNSUPPORTED)
				take_code(v, i, NVIDIA_LEFT_OUT, reason, s);
}
