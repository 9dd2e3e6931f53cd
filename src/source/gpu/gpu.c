/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.c - what is told of a GPU; the sources nvidia, amdgpu and drm fill the rows. */
#include "source/gpu/gpu.h"

#include "base/clock.h"
#include "base/text/number.h"
#include "core/phase/event.h"
#include "source/procfile.h"
#include "source/source.h"

#include <stdio.h>
#include <string.h>

#define SUMMED   .domain = "gpu", .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM
#define MEANT    .domain = "gpu", .over_instances = COMBINE_MEAN, .over_nodes = COMBINE_MEAN
#define HIGHEST  .domain = "gpu", .over_instances = COMBINE_MAX, .over_nodes = COMBINE_MAX
#define LOWEST   .domain = "gpu", .over_instances = COMBINE_MIN, .over_nodes = COMBINE_MIN
#define PERCENT  MEANT, .kind = KIND_GAUGE, .unit = UNIT_RATIO, .div = 100
#define BYTES    SUMMED, .kind = KIND_GAUGE, .unit = UNIT_BYTES
#define SENT     SUMMED, .kind = KIND_COUNTER, .unit = UNIT_BYTES
#define EVENTS   SUMMED, .kind = KIND_COUNTER, .unit = UNIT_COUNT
#define LIFELONG SUMMED, .kind = KIND_TOTAL, .unit = UNIT_COUNT
#define COUNT    SUMMED, .kind = KIND_GAUGE, .unit = UNIT_COUNT
#define WATTS    SUMMED, .kind = KIND_GAUGE, .unit = UNIT_WATTS, .div = 1000000
#define CELSIUS  HIGHEST, .kind = KIND_GAUGE, .unit = UNIT_CELSIUS, .div = 1000
#define HERTZ    MEANT, .kind = KIND_GAUGE, .unit = UNIT_HERTZ
#define STATE    .domain = "gpu", .kind = KIND_STATE, .unit = UNIT_ONE
#define SAMPLED  SUMMED, .kind = KIND_GAUGE, .unit = UNIT_BYTES_PER_SECOND
#define THROTTLE MEANT, .kind = KIND_COUNTER, .unit = UNIT_ELAPSED_SECONDS, .div = 1000000000
#define PROCESS  .domain = "gpu_process", .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM
#define RATIO    .domain = "gpu", .kind = KIND_GAUGE, .unit = UNIT_RATIO
#define OVER_20_MS                                                                                 \
	" over 20 ms, reported where the driver has no counter of the bytes (before version 555)."
#define LIFETIME " since the GPU was made; a memory that has no ECC, or has it off, reports none."

static const struct metric metrics[] = {
	[GPU_UTILIZATION] = { "gpu.utilization_ratio", PERCENT, .label = "GPU in use",
			      .help = "Share of time, over the driver's last 1/6 s to 1 s, in "
				      "which at least one kernel ran; it does not say how much of "
				      "the GPU the kernel used." },
	[GPU_MEMORY_UTILIZATION] = { "gpu.memory_utilization_ratio", PERCENT,
				     .label = "GPU memory in use",
				     .help = "Share of time in which the GPU's memory was read or "
					     "written; it is not how full the memory is." },
	[GPU_MEMORY_USED] = { "gpu.memory_used_bytes", BYTES, .label = "GPU memory",
			      .help = "Memory of the GPU that is allocated, by whomever." },
	[GPU_MEMORY_TOTAL] = { "gpu.memory_total_bytes", BYTES, .label = "GPU memory, all",
			       .help = "Memory that the GPU has." },
	[GPU_POWER] = { "gpu.power_watts", WATTS, .label = "GPU power",
			.help = "Power the GPU and its board drew; many GPUs give an average over "
				"about 1 s." },
	[GPU_POWER_LIMIT] = { "gpu.power_limit_watts", WATTS, .label = "GPU power limit",
			      .help = "Power the GPU is kept below." },
	[GPU_TEMPERATURE] = { "gpu.temperature_celsius", CELSIUS, .label = "GPU temperature",
			      .help = "Temperature of the GPU's chip (AMD: its edge)." },
	[GPU_MEMORY_TEMPERATURE] = { "gpu.memory_temperature_celsius", CELSIUS,
				     .label = "GPU memory temperature",
				     .help = "Temperature of the GPU's memory." },
	[GPU_CLOCK] = { "gpu.clock_hertz", HERTZ, .label = "GPU clock",
			.help = "Clock of what computes (NVIDIA: SM, AMD: sclk)." },
	[GPU_MEMORY_CLOCK] = { "gpu.memory_clock_hertz", HERTZ, .label = "GPU memory clock",
			       .help = "Clock of the GPU's memory." },
	[GPU_MEMORY_FREE] = { "gpu.memory_free_bytes", BYTES, .label = "GPU memory free",
			      .help = "Memory of the GPU that can be allocated." },
	[GPU_MEMORY_RESERVED] = { "gpu.memory_reserved_bytes", BYTES,
				  .label = "GPU memory reserved",
				  .help = "Memory that the driver and the GPU's firmware keep for "
					  "themselves; it is not part of what is used." },
	[GPU_BAR1_USED] = { "gpu.bar1_used_bytes", BYTES, .label = "BAR1",
			    .help = "GPU memory that is mapped for the CPU and for other "
				    "devices." },
	[GPU_BAR1_TOTAL] = { "gpu.bar1_total_bytes", BYTES, .label = "BAR1, all",
			     .help = "GPU memory that can be mapped at a time." },
	[GPU_ENERGY] = { "gpu.energy_joules", SUMMED, .kind = KIND_COUNTER, .unit = UNIT_JOULES,
			 .div = 1000, .label = "GPU energy",
			 .help = "Energy the GPU and its board used, as the driver counts it." },
	[GPU_TEMPERATURE_LIMIT] = { "gpu.temperature_limit_celsius", LOWEST, .kind = KIND_GAUGE,
				    .unit = UNIT_CELSIUS, .div = 1000,
				    .label = "GPU slow-down temperature",
				    .help = "Temperature from which the GPU slows itself down." },
	[GPU_GRAPHICS_CLOCK] = { "gpu.graphics_clock_hertz", HERTZ, .label = "Graphics clock",
				 .help = "Clock of the graphics domain." },
	[GPU_VIDEO_CLOCK] = { "gpu.video_clock_hertz", HERTZ, .label = "Video clock",
			      .help = "Clock of the video encoder and decoder." },
	[GPU_CLOCK_LIMIT] = { "gpu.clock_limit_hertz", HERTZ, .label = "GPU clock, highest",
			      .help = "The highest clock of the SMs." },
	[GPU_FAN] = { "gpu.fan_ratio", HIGHEST, .kind = KIND_GAUGE, .unit = UNIT_RATIO, .div = 100,
		      .label = "Fan",
		      .help = "Speed that the fan is set to, as a share of its highest." },
	[GPU_PERFORMANCE_STATE] = { "gpu.performance_state", STATE, .label = "Performance state",
				    .help = "0 (P0, the highest) to 15." },
	[GPU_CLOCK_REASONS] = { "gpu.clock_event_reasons", STATE, .label = "Clock event reasons",
				.help = "Why the clocks are not higher, a sum of: 1 idle, 2 "
					"application clocks, 4 power cap, 8 hardware slow-down, 16 "
					"sync boost, 32 software thermal, 64 hardware thermal, 128 "
					"power brake, 256 display." },
	[GPU_ENCODER] = { "gpu.encoder_utilization_ratio", PERCENT, .label = "Encoder",
			  .help = "Share of time in which the video encoder worked." },
	[GPU_DECODER] = { "gpu.decoder_utilization_ratio", PERCENT, .label = "Decoder",
			  .help = "Share of time in which the video decoder worked." },
	[GPU_PCIE_SENT] = { "gpu.pcie_sent_bytes", SENT, .label = "PCIe sent",
			    .help = "Bytes the GPU sent over PCIe (driver 555 and later)." },
	[GPU_PCIE_RECEIVED] = { "gpu.pcie_received_bytes", SENT, .label = "PCIe received",
				.help = "Bytes the GPU received over PCIe (driver 555 and "
					"later)." },
	[GPU_PCIE_SENT_SAMPLED] = { "gpu.pcie_sampled_sent_bytes_per_second", SAMPLED,
				    .label = "PCIe sent, sampled",
				    .help = "What the GPU sent over PCIe," OVER_20_MS },
	[GPU_PCIE_RECEIVED_SAMPLED] = { "gpu.pcie_sampled_received_bytes_per_second", SAMPLED,
					.label = "PCIe received, sampled",
					.help = "What the GPU received over PCIe," OVER_20_MS },
	[GPU_PCIE_REPLAYS] = { "gpu.pcie_replays", EVENTS, .label = "PCIe replays",
			       .help = "Times a PCIe packet had to be sent again." },
	[GPU_PCIE_GENERATION] = { "gpu.pcie_generation", STATE, .label = "PCIe generation",
				  .help = "Generation the PCIe link runs at; an idle GPU may lower "
					  "it." },
	[GPU_PCIE_WIDTH] = { "gpu.pcie_width_count", LOWEST, .kind = KIND_GAUGE, .unit = UNIT_COUNT,
			     .label = "PCIe lanes", .help = "Lanes the PCIe link uses." },
	[GPU_ECC_CORRECTED] = { "gpu.ecc_corrected_errors", LIFELONG, .label = "ECC corrected",
				.help = "Memory errors that ECC corrected," LIFETIME },
	[GPU_ECC_UNCORRECTED] = { "gpu.ecc_uncorrected_errors", LIFELONG,
				  .label = "ECC uncorrected",
				  .help = "Memory errors that ECC found and could not "
					  "correct," LIFETIME },
	[GPU_ROWS_CORRECTED] = { "gpu.remapped_rows_corrected", LIFELONG,
				 .label = "Rows remapped, corrected",
				 .help = "Rows of memory replaced after corrected errors." },
	[GPU_ROWS_UNCORRECTED] = { "gpu.remapped_rows_uncorrected", LIFELONG,
				   .label = "Rows remapped, uncorrected",
				   .help = "Rows of memory replaced after uncorrected errors." },
	[GPU_THROTTLED_POWER] = { "gpu.throttled_power_seconds", THROTTLE,
				  .label = "Slowed by power",
				  .help = "Time in which the power limit kept the clocks down." },
	[GPU_THROTTLED_THERMAL] = { "gpu.throttled_thermal_seconds", THROTTLE,
				    .label = "Slowed by heat",
				    .help = "Time in which heat kept the clocks down." },
	[GPU_THROTTLED_SYNC] = { "gpu.throttled_sync_boost_seconds", THROTTLE,
				 .label = "Slowed by sync boost",
				 .help = "Time in which the clocks were kept at those of other "
					 "GPUs." },
	[GPU_THROTTLED_BOARD] = { "gpu.throttled_board_seconds", THROTTLE,
				  .label = "Slowed by the board",
				  .help = "Time in which a limit of the board kept the clocks "
					  "down." },
	[GPU_THROTTLED_IDLE] = { "gpu.throttled_low_use_seconds", THROTTLE,
				 .label = "Slowed for want of work",
				 .help = "Time in which the clocks were low for want of work." },
	[GPU_THROTTLED_RELIABILITY] = { "gpu.throttled_reliability_seconds", THROTTLE,
					.label = "Slowed for reliability",
					.help = "Time in which the voltage limit kept the clocks "
						"down." },
	[GPU_BELOW_APPLICATION_CLOCK] = { "gpu.below_application_clock_seconds", THROTTLE,
					  .label = "Below application clocks",
					  .help = "Time in which the clocks were below the "
						  "application clocks." },
	[GPU_BELOW_BASE_CLOCK] = { "gpu.below_base_clock_seconds", THROTTLE,
				   .label = "Below base clocks",
				   .help = "Time in which the clocks were below the base "
					   "clocks." },
	[GPU_NVLINK_SENT] = { "gpu.nvlink_sent_bytes", SENT, .mul = 1024, .label = "NVLink sent",
			      .help = "Data the GPU sent over all its NVLinks." },
	[GPU_NVLINK_RECEIVED] = { "gpu.nvlink_received_bytes", SENT, .mul = 1024,
				  .label = "NVLink received",
				  .help = "Data the GPU received over all its NVLinks." },
	[GPU_NVLINK_CRC_ERRORS] = { "gpu.nvlink_crc_errors", EVENTS, .label = "NVLink CRC errors",
				    .help = "Flow control units that arrived damaged." },
	[GPU_NVLINK_REPLAYS] = { "gpu.nvlink_replays", EVENTS, .label = "NVLink replays",
				 .help = "Packets that had to be sent again over NVLink." },
	[GPU_NVLINK_RECOVERIES] = { "gpu.nvlink_recoveries", EVENTS, .label = "NVLink recoveries",
				    .help = "Times an NVLink had to be retrained." },
	[GPU_NVLINK_ACTIVE] = { "gpu.nvlink_active_count", COUNT, .label = "NVLinks",
				.help = "NVLinks that are up." },
	[GPU_PROCESSES] = { "gpu.processes_count", COUNT, .label = "GPU processes",
			    .help = "Processes, anybody's, that have a compute context on the "
				    "GPU." },
	[GPU_JOB_PROCESSES] = { "gpu.job_processes_count", COUNT, .label = "GPU processes, job's",
				.help = "Processes of the job that have a compute context on the "
					"GPU." },
	[GPU_JOB_MEMORY] = { "gpu.job_memory_bytes", BYTES, .label = "GPU memory, job's",
			     .help = "Memory of the GPU that the job's processes hold." },
	[GPU_OTHER_PROCESSES] = { "gpu.other_processes_count", COUNT,
				  .label = "GPU processes, others'",
				  .help = "Processes that are not the job's and have a compute "
					  "context on the GPU." },
	[GPU_OTHER_MEMORY] = { "gpu.other_memory_bytes", BYTES, .label = "GPU memory, others'",
			       .help = "Memory of the GPU that processes hold that are not the "
				       "job's." },
	[GPU_JOB_SM] = { "gpu.job_sm_utilization_ratio", PERCENT, .label = "SMs in use, job's",
			 .help = "Share of time in which the GPU's SMs ran kernels of the job's "
				 "processes, over the last second, as NVIDIA's driver samples it." },
	[GPU_OTHER_SM] = { "gpu.other_sm_utilization_ratio", PERCENT,
			   .label = "SMs in use, others'",
			   .help = "Share of time in which the GPU's SMs ran kernels of processes "
				   "that are not the job's." },
	[GPU_MEMORY_USED_RATIO] = { "gpu.memory_used_ratio", RATIO, .over_instances = COMBINE_MAX,
				    .over_nodes = COMBINE_MAX,
				    .formula = "gpu.memory_used_bytes / gpu.memory_total_bytes",
				    .label = "GPU memory used",
				    .help = "Memory of the GPU that is allocated, as a share of "
					    "all it has." },
	[GPU_POWER_USED_RATIO] = { "gpu.power_used_ratio", RATIO, .over_instances = COMBINE_MAX,
				   .over_nodes = COMBINE_MAX,
				   .formula = "gpu.power_watts / gpu.power_limit_watts",
				   .label = "GPU power used",
				   .help = "Power of the GPU as a share of its limit." },
	[GPU_PROCESS_ENGINES] = { "gpu_process.engine_seconds", PROCESS, .kind = KIND_COUNTER,
				  .unit = UNIT_ELAPSED_SECONDS, .div = 1000000000,
				  .label = "GPU engines of a process",
				  .help = "Time that the GPU's engines worked for a process of the "
					  "job, summed up over engines, since it was first seen "
					  "there (drivers that tell it in /proc/PID/fdinfo)." },
	[GPU_PROCESS_MEMORY] = { "gpu_process.memory_bytes", PROCESS, .kind = KIND_GAUGE,
				 .unit = UNIT_BYTES, .label = "GPU memory of a process",
				 .help = "Memory of a GPU that a process holds, the job's or "
					 "another's (others' are reported by NVIDIA's driver only)." },
	[GPU_PROCESS_SM] = { "gpu_process.sm_utilization_ratio", PROCESS, .kind = KIND_GAUGE,
			     .unit = UNIT_RATIO, .div = 100, .label = "SMs in use by a process",
			     .help = "Share of time in which the SMs of an NVIDIA GPU ran kernels "
				     "of this process, over the last second." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == GPU_NUMBER_OF, "a row for every index");
_Static_assert((unsigned)GPU_MEASURED <= (unsigned)EVENT_SET_MAX, "one set of series");

const struct metric *const gpu_metrics = metrics;

static const char *const fillers[] = { "nvidia", "amdgpu", NULL };

const struct source source_gpu = {
	.name = "gpu",
	.what = "GPUs of any vendor",
	.filled_by = fillers,
	SOURCE_METRICS(metrics),
};

/* ---- CUDA_VISIBLE_DEVICES ---- */

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

/* ---- Processes of the job ---- */

static void look_at_environment(struct gpu_job *j, const struct root *proc, pid_t pid)
{
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%d/environ", (int)pid);
	fd = root_file(proc, path);
	if (fd < 0)
		return;
	n = file_reread(fd, j->environ, sizeof j->environ);
	file_close(&fd);
	if (n > 0)
		j->visible = environ_find(j->environ, (size_t)n, "CUDA_VISIBLE_DEVICES");
}

static void look_at_files(struct gpu_job *j, const struct root *proc, pid_t pid)
{
	enum { RENDER_FIRST = 128 };
	struct fdlist files = { 0 };
	char target[FDLIST_TARGET];
	uint64_t number;
	int looked = 0, fd;

	if (fdlist_open(&files, proc, pid) < 0)
		return;
	while (looked++ < GPU_JOB_FILES && fdlist_next(&files, &fd, target)) {
		if (fdlist_device(target, "/dev/nvidia", 0, &number) && number < 64)
			j->minors |= UINT64_C(1) << number;
		if (fdlist_device(target, "/dev/dri/renderD", RENDER_FIRST, &number) &&
		    number < RENDER_FIRST + 64)
			j->renders |= UINT64_C(1) << (number - RENDER_FIRST);
	}
	fdlist_close(&files);
}

bool gpu_job_look(struct gpu_job *j, const struct source_env *env)
{
	size_t n = env->job.tree ? env->job.pids(env->job.tree, j->pids, GPU_JOB_PIDS) : 0;
	pid_t pid;

	j->visible = NULL;
	j->minors = j->renders = 0;
	if (!n)
		return false;
	pid = j->pids[j->turn++ % n];
	look_at_environment(j, &env->proc, pid);
	look_at_files(j, &env->proc, pid);
	return true;
}

/* ---- Processes on GPUs ---- */

static void announce(struct gpu_holders *h, struct gpu_holder *v, uint32_t parent, bool is_jobs,
		     struct sample *s)
{
	const struct metric *first = &gpu_metrics[h->first];
	char path[32], comm[32] = "", name[64];
	ssize_t n;

	snprintf(path, sizeof path, "%d/comm", (int)v->pid);
	n = root_read(h->proc, path, comm, sizeof comm);
	comm[n > 0 ? strcspn(comm, "\n") : 0] = '\0';
	snprintf(name, sizeof name, "%s%s%d%s", comm, *comm ? " (" : "", (int)v->pid,
		 *comm ? ")" : "");
	v->instance = sample_instance(s, first->domain, name, parent, clock_mono_ns(), 0);
	if (!v->instance)
		return;
	v->slot = sample_series(s, first, GPU_HOLDER_SERIES, v->instance);
	sample_label(s, v->instance, "job", is_jobs ? "yes" : "no");
}

struct gpu_holder *gpu_holder_meet(struct gpu_holders *h, pid_t pid, uint32_t gpu, uint32_t parent,
				   bool is_jobs, struct sample *s)
{
	struct gpu_holder *spare = NULL;

	for (struct gpu_holder *v = h->row; v < h->row + GPU_HOLDERS_MAX; v++) {
		if (v->pid == pid && v->gpu == gpu) {
			v->seen = true;
			return v;
		}
		if (!v->pid && !spare)
			spare = v;
	}
	if (!spare)
		return NULL;
	*spare = (struct gpu_holder){ .pid = pid, .gpu = gpu, .seen = true, .memory_bytes = -1 };
	announce(h, spare, parent, is_jobs, s);
	return spare;
}

void gpu_holder_put(const struct gpu_holders *h, const struct gpu_holder *v, enum gpu_metric metric,
		    int64_t value, struct sample *s)
{
	if (v->slot)
		sample_put(s, v->slot + (uint32_t)metric - (uint32_t)h->first, value);
}

void gpu_holder_refuse(const struct gpu_holders *h, const struct gpu_holder *v,
		       enum gpu_metric metric, enum state state, const char *reason,
		       struct sample *s)
{
	if (v->slot)
		sample_refuse(s, v->slot + (uint32_t)metric - (uint32_t)h->first, state, reason);
}

void gpu_holders_sweep(struct gpu_holders *h, struct sample *s)
{
	for (struct gpu_holder *v = h->row; v < h->row + GPU_HOLDERS_MAX; v++) {
		if (v->pid && !v->seen) {
			if (v->slot)
				sample_series_end(s, v->slot, GPU_HOLDER_SERIES);
			if (v->instance)
				sample_end(s, v->instance, clock_mono_ns());
			*v = (struct gpu_holder){ 0 };
		}
		v->seen = false;
	}
}
