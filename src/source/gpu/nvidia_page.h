/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvidia_page.h - the memory that the recorder and its helper sonde-nvml share.
 *
 * The helper writes while it owes an answer (answered < asked), and from the start until stage is
 * READY or FAILED; the recorder reads while it does not. The recorder trusts none of it: texts are
 * cut, numbers checked. Only what is marked atomic may be read at any time. Both come from the same
 * build: `layout` is checked, nothing else is negotiated.
 */
#ifndef SONDE_SOURCE_GPU_NVIDIA_PAGE_H
#define SONDE_SOURCE_GPU_NVIDIA_PAGE_H

#include "source/gpu/gpu.h"

#include <stdatomic.h>

enum {
	NVIDIA_GPUS_MAX = 32,
	NVIDIA_DEVICES_MAX = 128, /* GPUs, and MIG instances behind them */
	NVIDIA_PROCESSES_MAX = 32,
	NVIDIA_SOCKET = 3, /* the helper's descriptors */
	NVIDIA_MEMORY = 4,
	/* Beside NVML's own return codes: */
	NVIDIA_NOT_READ = -1,  /* not in this answer */
	NVIDIA_NO_SYMBOL = -2, /* the library has no such function */
	NVIDIA_LEFT_OUT = -3,  /* it did not answer before */
	NVIDIA_NEEDLESS = -4,  /* there is something better */
};

enum nvidia_stage { NVIDIA_STARTING, NVIDIA_READY, NVIDIA_FAILED };
enum nvidia_failure { NVIDIA_NO_LIBRARY = 1, NVIDIA_NO_FUNCTION, NVIDIA_NVML };

struct nvidia_process {
	uint32_t pid;     /* as the driver names it */
	int64_t memory;   /* bytes; -1: not known */
	uint32_t mig_gpu; /* GPU instance id, UINT32_MAX: not MIG */
};

/* Of processes that used it in the last second; what is not here did not. */
struct nvidia_use {
	uint32_t pid;
	uint32_t sm; /* percent */
};

struct nvidia_device {
	uint32_t gpu;            /* index as nvidia-smi shows it */
	int32_t mig;             /* index of the MIG device in its GPU; -1: the GPU itself */
	int32_t mig_gpu;         /* GPU instance id of a MIG device */
	int32_t minor;           /* /dev/nvidiaN; -1: not known */
	int32_t error;           /* NVML's code when there is no handle of it; else 0 */
	uint8_t mig_on;          /* the GPU is divided */
	char name[96], uuid[96]; /* may be empty */
	char pci[32];
	uint32_t nprocesses; /* of process[]; the driver may know of more */
	int32_t processes_code;
	int64_t value[GPU_MEASURED];
	int16_t code[GPU_MEASURED]; /* 0: value[] is there; else NVML's code, or one of ours */
	struct nvidia_process process[NVIDIA_PROCESSES_MAX];
	uint32_t nuses;
	int32_t uses_code; /* 0: all of them are in use[] */
	struct nvidia_use use[NVIDIA_PROCESSES_MAX];
};

struct nvidia_page {
	/* written by the recorder before the helper starts */
	uint32_t layout; /* sizeof(struct nvidia_page) */
	int32_t parent;  /* its pid */
	_Atomic uint32_t stage, answered;
	_Atomic int32_t at_gpu; /* which one is being asked now; -1: none */
	char at_call[64];       /* which function is being called; read when it is given up */
	/* recorder -> helper */
	uint32_t left_out; /* bit i: GPU i is not to be touched; from the start */
	int64_t due_ns;    /* monotonic: when the next answer's reading shall begin */
	/* helper -> recorder */
	int32_t failure, failure_code;
	char failure_text[256];
	char driver[80];
	int32_t cuda; /* 12040 is 12.4; 0: not known */
	uint32_t ngpus, ndevices;
	int64_t read_ns, took_ns; /* when the reading began, how long it took */
	int64_t cpu_ns, resident_bytes;
	struct nvidia_device device[NVIDIA_DEVICES_MAX];
};

#endif
