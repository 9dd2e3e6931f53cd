/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - which job this is and what it was given, from the environment and this process.
 *
 * No scheduler is asked: only variables are read. What is not known is 0 or empty.
 */
#ifndef SONDE_JOB_IDENTITY_H
#define SONDE_JOB_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

struct identity {
	const char *scheduler; /* "slurm", "pbs", ...; NULL outside of one */
	char id[64]; /* the job's id, made fit for a file name; "" outside of a scheduler */
	char host[128];
	int64_t cores_present, cores_allowed; /* online; in this process's affinity */
	int64_t cores_asked;                  /* on this node; 0 not known */
	int64_t memory_asked_bytes;           /* on this node; 0 not known */
};

void identity_find(struct identity *id);

/* "sonde_<job id>", or "sonde_<UTC time>_<pid>" outside of a scheduler. */
void identity_directory(const struct identity *id, int64_t utc_ns, char *out, size_t size);

#endif
