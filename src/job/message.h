/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - what the launcher and the recorder tell each other, over a SOCK_SEQPACKET pair.
 *
 * One struct a packet, same machine and same binary. The launcher never blocks on it: a packet that
 * finds no room is dropped, and since each packet carries the totals so far, nothing but detail is
 * lost.
 */
#ifndef SONDE_JOB_MESSAGE_H
#define SONDE_JOB_MESSAGE_H

#include <stdint.h>
#include <sys/types.h>

enum message_kind {
	MESSAGE_READY = 1, /* recorder, whose pid it is: its first sample is taken */
	MESSAGE_STARTED,   /* launcher: pid is the command */
	MESSAGE_EXITED,    /* launcher: pid was waited for */
	MESSAGE_ENDED,     /* launcher: the command's status; the recorder finishes */
	MESSAGE_DONE,      /* recorder: the recording is closed and the summary said */
};

struct message {
	enum message_kind kind;
	pid_t pid;
	int status;    /* as wait(2) gives it */
	int64_t at_ns; /* monotonic */
	/* so far, of everything this launcher waited for */
	int64_t total_user_ns, total_system_ns;
	int64_t total_minor_faults, total_major_faults;
	int64_t total_voluntary_switches, total_involuntary_switches;
	int64_t max_rss_bytes; /* the largest of one process */
};

/* 0, or -errno (-EAGAIN no room, -EPIPE nobody there). Never raises SIGPIPE. */
int message_send(int fd, const struct message *m);
/* The same, waiting at most timeout_ms for room. */
int message_send_within(int fd, const struct message *m, int timeout_ms);
/* 1 a message, 0 the other side is gone, -EAGAIN none now (fd is non-blocking), other -errno. */
int message_receive(int fd, struct message *m);
/* Wait at most timeout_ms for a message. 1, 0 gone, -ETIMEDOUT. */
int message_wait(int fd, struct message *m, int timeout_ms);

#endif
