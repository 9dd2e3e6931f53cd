/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libnvidia-ml.so.1, told by the environment what to be:
 *   FAKE_NVML_GPUS=N             so many GPUs (8)
 *   FAKE_NVML_FAIL=CALL[@G]=CODE,...   the call (of GPU G) returns CODE
 *   FAKE_NVML_HANG=CALL[@G],...        ... never returns
 *   FAKE_NVML_CRASH=CALL[@G],...       ... crashes
 *   FAKE_NVML_MIG=G              GPU G is divided into two MIG devices
 *   FAKE_NVML_ENTRY=16|24|32     size of an entry of the list of processes (24)
 *   FAKE_NVML_PROCESSES=PID@G=BYTES,...  who computes where; BYTES -1: not available
 *   FAKE_NVML_USES=PID@G=PERCENT,...  who used the SMs, the newest first
 * CALL is the name without "nvml". GPU G's numbers are made from G. With OLD it has half the
 * functions, under their older names. Signatures are those of NVML's binary interface.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, GPUS_MAX = 32, MIG_DEVICES = 2 };

struct device {
	unsigned gpu;
	int mig; /* -1: a whole GPU */
};

static struct device gpus[GPUS_MAX];
#ifndef OLD
static struct device parts[MIG_DEVICES];
static unsigned long long energy;
#endif

/* The text behind the entry that names this call for this GPU in a list of the environment. */
static const char *entry_of(const char *variable, const char *call, int gpu)
{
	const char *p = getenv(variable);
	size_t n = strlen(call);

	for (; p && *p; p += strcspn(p, ","), p += *p == ',') {
		const char *rest = p + n;

		if (strncmp(p, call, n) != 0)
			continue;
		if (*rest == '@' && strtol(rest + 1, (char **)&rest, 10) != gpu)
			continue;
		if (!*rest || *rest == ',' || *rest == '=')
			return rest;
	}
	return NULL;
}

static int enter(const char *call, int gpu)
{
	const char *fail = entry_of("FAKE_NVML_FAIL", call, gpu);

	if (entry_of("FAKE_NVML_HANG", call, gpu))
		for (;;)
			pause();
	if (entry_of("FAKE_NVML_CRASH", call, gpu))
		kill(getpid(), SIGKILL);
	return fail ? (int)strtol(fail + 1, NULL, 10) : 0;
}

static long setting(const char *variable, long otherwise)
{
	const char *p = getenv(variable);

	return p ? strtol(p, NULL, 10) : otherwise;
}

#define DECLARED(name, ...) int nvml##name(__VA_ARGS__)
#define FUNCTION(name, ...)                                                                        \
	DECLARED(name, __VA_ARGS__);                                                               \
	DECLARED(name, __VA_ARGS__)
#define ENTER(call, gpu)                                                                           \
	do {                                                                                       \
		int code_ = enter(call, (int)(gpu));                                               \
		if (code_)                                                                         \
			return code_;                                                              \
	} while (0)
/* A call of a GPU that gives one number and knows no MIG device. */
#define NUMBER(name, type, expression)                                                             \
	FUNCTION(name, struct device *d, type *out)                                                \
	{                                                                                          \
		ENTER(#name, d->gpu);                                                              \
		if (d->mig >= 0)                                                                   \
			return NOT_SUPPORTED;                                                      \
		*out = (type)(expression);                                                         \
		return 0;                                                                          \
	}

#ifdef OLD
#define V2(name) name
#else
#define V2(name) name##_v2
#endif

FUNCTION(V2(Init), void)
{
	ENTER("Init", -1);
	return 0;
}

const char *nvmlErrorString(int code);
const char *nvmlErrorString(int code)
{
	return code == 18 ? "Driver/library version mismatch" : "Some Error";
}

FUNCTION(SystemGetDriverVersion, char *out, unsigned size)
{
	snprintf(out, size, "570.86.15");
	return 0;
}

FUNCTION(V2(DeviceGetCount), unsigned *out)
{
	ENTER("DeviceGetCount", -1);
	*out = (unsigned)setting("FAKE_NVML_GPUS", 8);
	return 0;
}

FUNCTION(V2(DeviceGetHandleByIndex), unsigned i, struct device **out)
{
	ENTER("DeviceGetHandleByIndex", i);
	gpus[i] = (struct device){ i, -1 };
	*out = &gpus[i];
	return 0;
}

FUNCTION(DeviceGetName, struct device *d, char *out, unsigned size)
{
	snprintf(out, size, d->mig < 0 ? "Fake H200" : "Fake H200 MIG 3g.71gb");
	return 0;
}

FUNCTION(DeviceGetUUID, struct device *d, char *out, unsigned size)
{
	if (d->mig < 0)
		snprintf(out, size, "GPU-%08x-0000-0000-0000-000000000000", d->gpu);
	else
		snprintf(out, size, "MIG-%08x-0000-0000-0000-00000000000%d", d->gpu, d->mig);
	return 0;
}

/* The device files are numbered the other way round. */
FUNCTION(DeviceGetMinorNumber, struct device *d, unsigned *out)
{
	*out = (unsigned)setting("FAKE_NVML_GPUS", 8) - 1 - d->gpu;
	return 0;
}

FUNCTION(DeviceGetUtilizationRates, struct device *d, unsigned out[2])
{
	ENTER("DeviceGetUtilizationRates", d->gpu);
	if (d->mig >= 0 || (long)d->gpu == setting("FAKE_NVML_MIG", -1))
		return NOT_SUPPORTED;
	out[0] = 10 * (d->gpu + 1);
	out[1] = 5 * (d->gpu + 1);
	return 0;
}

FUNCTION(DeviceGetMemoryInfo, struct device *d, unsigned long long out[3])
{
	ENTER("DeviceGetMemoryInfo", d->gpu);
	out[0] = 1000000000;
	out[1] = 900000000 - d->gpu;
	out[2] = 100000000 + d->gpu;
	return 0;
}

NUMBER(DeviceGetPowerUsage, unsigned, 100000 + d->gpu)
NUMBER(DeviceGetEnforcedPowerLimit, unsigned, 700000)
FUNCTION(DeviceGetTemperature, struct device *d, int sensor, unsigned *out)
{
	ENTER("DeviceGetTemperature", d->gpu);
	*out = 40 + d->gpu;
	return sensor ? 2 : 0;
}

FUNCTION(DeviceGetClockInfo, struct device *d, int type, unsigned *out)
{
	ENTER("DeviceGetClockInfo", d->gpu);
	*out = 1000 + 100 * (unsigned)type + d->gpu;
	return 0;
}

NUMBER(DeviceGetFanSpeed, unsigned, 30)
FUNCTION(DeviceGetPcieThroughput, struct device *d, int direction, unsigned *out)
{
	ENTER("DeviceGetPcieThroughput", d->gpu);
	*out = direction ? 2000 : 1000;
	return 0;
}

FUNCTION(DeviceGetTotalEccErrors, struct device *d, int type, int since, unsigned long long *out)
{
	ENTER("DeviceGetTotalEccErrors", d->gpu);
	*out = (type ? 1U : 100U) + d->gpu;
	return since == 1 ? 0 : 2;
}

/* Entries as large as FAKE_NVML_ENTRY says, whatever the function's name. */
static int list_processes(const struct device *d, unsigned *count, uint8_t *out)
{
	size_t size = (size_t)setting("FAKE_NVML_ENTRY", 24);
	const char *p = getenv("FAKE_NVML_PROCESSES");
	unsigned n = 0;

	for (; p && *p; p += strcspn(p, ","), p += *p == ',') {
		char *end;
		uint32_t pid = (uint32_t)strtoul(p, &end, 10);
		unsigned long gpu = strtoul(end + 1, &end, 10);
		uint64_t memory = (uint64_t)strtoll(end + 1, &end, 10);
		uint32_t instance = *end == '/' ? (uint32_t)strtoul(end + 1, NULL, 10) : UINT32_MAX;

		if (gpu != d->gpu || n == *count)
			continue;
		memset(out + n * size, 0, size);
		memcpy(out + n * size, &pid, 4);
		memcpy(out + n * size + 8, &memory, 8);
		if (size > 16)
			memcpy(out + n * size + 16, &instance, 4);
		n++;
	}
	*count = n;
	return 0;
}

#ifndef OLD
struct use {
	unsigned pid;
	unsigned long long timestamp;
	unsigned sm, memory, encoder, decoder;
};

/* As the driver has it: who did not use the GPU is not listed, and nobody is an error. */
static int list_uses(const struct device *d, unsigned *count, struct use *out)
{
	const char *p = getenv("FAKE_NVML_USES");
	unsigned n = 0;

	for (; p && *p; p += strcspn(p, ","), p += *p == ',') {
		char *end;
		unsigned pid = (unsigned)strtoul(p, &end, 10);
		unsigned long gpu = strtoul(end + 1, &end, 10);

		if (gpu != d->gpu || n == *count)
			continue;
		out[n] = (struct use){ .pid = pid,
				       .timestamp = 1000 - n,
				       .sm = (unsigned)strtoul(end + 1, NULL, 10) };
		n++;
	}
	*count = n;
	return n ? 0 : NOT_FOUND;
}
#endif

#ifdef NEW
struct uses_v2 {
	unsigned version, count;
	unsigned long long last_seen;
	struct use_v2 {
		unsigned long long timestamp;
		unsigned pid, sm, rest[5];
	} * use;
};

FUNCTION(DeviceGetProcessesUtilizationInfo, struct device *d, struct uses_v2 *out)
{
	struct use use[64];
	unsigned n = 64;
	int code;

	ENTER("DeviceGetProcessesUtilizationInfo", d->gpu);
	if (out->version != (24U | 1U << 24))
		return 25;
	code = list_uses(d, &n, use);
	for (unsigned i = 0; i < n; i++)
		out->use[i] = (struct use_v2){ use[i].timestamp, use[i].pid, use[i].sm, { 0 } };
	out->count = n;
	return code;
}
#elif !defined OLD
FUNCTION(DeviceGetProcessUtilization, struct device *d, struct use *out, unsigned *count,
	 unsigned long long since)
{
	ENTER("DeviceGetProcessUtilization", d->gpu);
	if (d->mig >= 0 || (long)d->gpu == setting("FAKE_NVML_MIG", -1))
		return NOT_SUPPORTED;
	return since ? list_uses(d, count, out) : 2;
}
#endif

#ifdef OLD
FUNCTION(DeviceGetComputeRunningProcesses, struct device *d, unsigned *count, void *out)
#else
FUNCTION(DeviceGetComputeRunningProcesses_v3, struct device *d, unsigned *count, void *out)
#endif
{
	ENTER("DeviceGetComputeRunningProcesses", d->gpu);
	return list_processes(d, count, out);
}

#ifndef OLD
FUNCTION(SystemGetCudaDriverVersion_v2, int *out)
{
	*out = 12080;
	return 0;
}

FUNCTION(DeviceGetPciInfo_v3, struct device *d, char out[68])
{
	const unsigned place[3] = { 0, 0x10 + d->gpu, 0 };

	memset(out, 0, 68);
	memcpy(out + 16, place, sizeof place);
	return 0;
}

FUNCTION(DeviceGetMigMode, struct device *d, unsigned *now, unsigned *pending)
{
	*now = *pending = (long)d->gpu == setting("FAKE_NVML_MIG", -1);
	return 0;
}

FUNCTION(DeviceGetMaxMigDeviceCount, struct device *d, unsigned *out)
{
	*out = d->mig < 0 ? 7 : 0;
	return 0;
}

FUNCTION(DeviceGetMigDeviceHandleByIndex, struct device *d, unsigned i, struct device **out)
{
	if (i >= MIG_DEVICES)
		return NOT_FOUND;
	parts[i] = (struct device){ d->gpu, (int)i };
	*out = &parts[i];
	return 0;
}

FUNCTION(DeviceGetGpuInstanceId, struct device *d, unsigned *out)
{
	*out = (unsigned)d->mig + 1;
	return 0;
}

FUNCTION(DeviceGetMemoryInfo_v2, struct device *d, void *out)
{
	const unsigned long long bytes[4] = { 1000000000, 50000000, 870000000 - d->gpu,
					      80000000 + d->gpu };
	unsigned version;

	ENTER("DeviceGetMemoryInfo_v2", d->gpu);
	memcpy(&version, out, sizeof version);
	if (version != (40U | 2U << 24))
		return 25;
	memcpy((char *)out + 8, bytes, sizeof bytes);
	return 0;
}

FUNCTION(DeviceGetBAR1MemoryInfo, struct device *d, unsigned long long out[3])
{
	ENTER("DeviceGetBAR1MemoryInfo", d->gpu);
	out[0] = 256;
	out[1] = 200;
	out[2] = 56;
	return 0;
}

NUMBER(DeviceGetTotalEnergyConsumption, unsigned long long, 1000000 * d->gpu + ++energy)
NUMBER(DeviceGetPerformanceState, int, d->gpu ? 0 : 32)
NUMBER(DeviceGetCurrentClocksEventReasons, unsigned long long, 4)
NUMBER(DeviceGetPcieReplayCounter, unsigned, 7)
NUMBER(DeviceGetCurrPcieLinkGeneration, unsigned, 5)
NUMBER(DeviceGetCurrPcieLinkWidth, unsigned, 16)
FUNCTION(DeviceGetTemperatureThreshold, struct device *d, int type, unsigned *out)
{
	*out = 90 + d->gpu;
	return type == 1 ? 0 : 2;
}

FUNCTION(DeviceGetMaxClockInfo, struct device *d, int type, unsigned *out)
{
	*out = 1980;
	return type == 1 && d->mig < 0 ? 0 : 2;
}

FUNCTION(DeviceGetEncoderUtilization, struct device *d, unsigned *out, unsigned *period_us)
{
	*out = 1 + d->gpu;
	*period_us = 167000;
	return 0;
}

FUNCTION(DeviceGetDecoderUtilization, struct device *d, unsigned *out, unsigned *period_us)
{
	*out = 2 + d->gpu;
	*period_us = 167000;
	return 0;
}

FUNCTION(DeviceGetRemappedRows, struct device *d, unsigned *corrected, unsigned *uncorrected,
	 unsigned *pending, unsigned *failed)
{
	*corrected = 3;
	*uncorrected = 4;
	*pending = *failed = 0;
	return d->mig < 0 ? 0 : NOT_SUPPORTED;
}

FUNCTION(DeviceGetViolationStatus, struct device *d, int policy, unsigned long long out[2])
{
	ENTER("DeviceGetViolationStatus", d->gpu);
	out[0] = 1;
	out[1] = 1000000000ULL * (unsigned)(policy + 1);
	return 0;
}

struct field {
	unsigned id, scope;
	long long timestamp, latency;
	int type, code;
	unsigned long long value;
};

FUNCTION(DeviceGetFieldValues, struct device *d, int n, struct field *v)
{
	ENTER("DeviceGetFieldValues", d->gpu);
	for (int i = 0; i < n; i++) {
		unsigned u32 = 60 + d->gpu;

		v[i].type = v[i].id == 82 ? 1 : 3;
		v[i].code = v[i].id == 59 ? NOT_SUPPORTED : 0;
		v[i].value = 1000ULL * v[i].id + d->gpu;
		if (v[i].type == 1)
			memcpy(&v[i].value, &u32, sizeof u32);
		if ((v[i].id == 138 || v[i].id == 139) && v[i].scope != UINT32_MAX)
			v[i].code = 2;
	}
	return 0;
}

FUNCTION(DeviceGetNvLinkState, struct device *d, unsigned link, unsigned *up)
{
	*up = link != 5;
	return d->mig < 0 && link < 18 ? 0 : 2;
}
#endif
