/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder_state.h - what the files of the recorder share; nobody else includes it.
 *
 * recorder.c: the loop. recorder_metas.c: what is said of the job and of Sonde, at the beginning
 * and at the end; the recording's end; the recorder's process. recorder_machine.c: of the machine.
 */
#ifndef SONDE_SAMPLER_RECORDER_STATE_H
#define SONDE_SAMPLER_RECORDER_STATE_H

#include "recording/writer.h"
#include "sampler/crash_log.h"
#include "sampler/inspection.h"
#include "sampler/recorder.h"
#include "sampler/tree/exits.h"
#include "sampler/tree/roster.h"
#include "source/platform/platform.h"

#include <pthread.h>
#include <sys/resource.h>

struct machine {
	bool wanted, runs; /* not taken yet; the thread is there */
	pthread_t thread;
	struct sample said; /* by it */
	struct root files;
	struct platform platform;
};

struct recorder {
	const struct recorder_options *o;
	struct sampler sampler;
	struct asked asked;
	struct machine machine;
	struct writer *writer;
	struct roster *roster; /* launchers that share this recorder; NULL: it has one, or none */
	const char *path;      /* of the directory */
	int directory, timer;
	int crash_log;       /* sampler/crash_log.h; 0: not read */
	int waiting;         /* epoll of the timer, the launcher, and the rings unless they rest */
	int64_t interval_ns; /* the timer's; as asked, or longer to save */
	int64_t deadline_ns, begin_ns, end_ns, started_ns, ended_ns;
	int64_t marks_rest_ns; /* until then no marks are waited for; 0: they are */
	int64_t rest_ns;       /* until then no records of starts are waited for; 0: they are */
	uint64_t records;
	int64_t launcher_cpu_ns;       /* as it told last */
	int64_t followed_ns, alive_ns; /* when members were looked for, and there, last */
	int64_t samples, samples_with_launcher;
	pid_t *pids; /* MEMBERS_AT_ONCE, where members are looked for */
	struct sampler_figures figures;
	struct rlimit limits[RLIM_NLIMITS]; /* as the job has them: the recorder raises its own */
	bool said, ended, launcher_gone, made;
	bool may_look;              /* at the job's processes: its launcher has said so */
	bool complained;            /* why processes are not read as was asked */
	bool seen;                  /* some member that does more than wait */
	bool told;                  /* by the stop file that the job is over */
	const int *rings;           /* of what reports starts */
	bool silent[EXITS_FDS_MAX]; /* rings whose first task is gone: no more is told of them */
	int status;
	struct printed printed; /* kind 0: nothing, or it is told */
};

/* Under launchers; else attached. */
static inline bool recorder_is_launched(const struct recorder_options *o)
{
	return o->launcher >= 0 || o->listener >= 0;
}

/* The job's ending comes from the launcher, not from signals that are meant for the job. */
void recorder_ignore_signals(void);
/* Its limits, its memory, and how many descriptors it leaves for what comes. */
void recorder_lift_limits(struct recorder *r);
void recorder_take_tables_from_kernel(void);
/* Until its launcher has called recorder_may_look. Also one that cannot record waits, once: what it
 * left unread would take its answer from the launcher. */
void recorder_await_launcher(struct recorder *r);
void recorder_keep_files(const struct recorder *r, rlim_t kept);
/* Its turns on a core, so that it need not wait for those of others. */
void recorder_short_turns(void);
/* What was written until now. */
void recorder_take_figures(struct recorder *r);
/* Ends the recording, calls o->closed, closes. 0 or -errno with a sentence. */
int recorder_close(struct recorder *r, struct err *e);
/* Behind the first sample, when the job has started. */
void metas_begin(struct recorder *r);
/* A thread finds out what machine this is; what it found is said in the sample, once, after waiting
 * for it. */
void machine_start(struct recorder *r);
void machine_take(struct recorder *r);
void metas_mechanisms(struct recorder *r);
void metas_end(struct recorder *r);
/* What the command printed last: of one that ended well, if a process of it failed. */
void metas_printed(struct recorder *r, const struct printed *p);

#endif
