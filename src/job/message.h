/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - what the launcher and the recorder tell each other, over SOCK_SEQPACKET.
 *
 * One struct a packet, same machine. The launcher never blocks on it: a packet that finds no room
 * is dropped, and since each packet carries the totals so far, nothing but detail is lost. What
 * comes from a recorder that several launchers share, or to it, is hostile: packet_parse checks it.
 */
#ifndef SONDE_JOB_MESSAGE_H
#define SONDE_JOB_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MESSAGE_VERSION = 6,
	MESSAGE_KEY = 1024,
	MESSAGE_TEXT = 320,
	MESSAGE_STEP = 64,
	MESSAGE_PATH = 256,
	MESSAGE_PRINTED_BYTES = 4096,
};

enum message_kind {
	MESSAGE_READY = 1, /* recorder, whose pid it is: its first sample is taken */
	MESSAGE_STARTED,   /* launcher: pid is the command */
	MESSAGE_EXITED,    /* launcher: pid was waited for */
	MESSAGE_ENDED,     /* launcher: the command's status; the recorder finishes */
	MESSAGE_DONE,      /* recorder: the recording is closed and the summary said */
	/* where launchers share it: */
	MESSAGE_REGISTER, /* launcher: the first packet */
	MESSAGE_REFUSED,  /* recorder: it does not record this launcher's task */
	MESSAGE_SAY,      /* recorder: a sentence for the user */
	MESSAGE_LEAVING,  /* recorder: it ends in order, another one has to go on */
	MESSAGE_PRINTED,  /* launcher: before the end of a command */
};

struct message {
	uint32_t version;
	enum message_kind kind;
	pid_t pid;
	int status;    /* as wait(2) gives it */
	int64_t at_ns; /* monotonic */
	/* so far, of everything this launcher waited for */
	int64_t total_user_ns, total_system_ns;
	int64_t total_minor_faults, total_major_faults;
	int64_t total_voluntary_switches, total_involuntary_switches;
	int64_t max_rss_bytes; /* the largest of one process; 0: not known */
	int64_t children;      /* enum glance_children, of the command that has ended */
	int64_t reaped;        /* processes that it waited for, so far */
	int64_t own_cpu_ns;    /* of the launcher and its sentinel, so far */
};

/* What of a task is in recordings already: counters since its beginning. A recorder that goes on
 * for a lost one begins there, so that nothing is counted twice and nothing is left out. */
enum {
	RECORDED_CPU,
	RECORDED_ATTRIBUTED_CPU,
	RECORDED_MINOR_FAULTS,
	RECORDED_MAJOR_FAULTS,
	RECORDED_IO,                       /* six, in the order of struct proc_io */
	RECORDED_OWN_IO = RECORDED_IO + 6, /* the launcher's own, before its task */
	RECORDED_AT = RECORDED_OWN_IO + 6, /* monotonic; 0: nothing is in any recording */
	RECORDED_UNWAITED,                 /* 1: some of its children are waited for by nobody */
	RECORDED_NUMBER_OF
};

struct registration {
	uint32_t version;
	enum message_kind kind;
	int64_t rank, expected; /* expected: tasks of its step on this node; -1: not known */
	int64_t lost_ns; /* when the recorder was lost that recorded it before; 0: none was */
	int64_t recorded[RECORDED_NUMBER_OF];
	char step[MESSAGE_STEP];  /* who is in one is killed with it */
	char spans[MESSAGE_PATH]; /* the folder of its spans (job/said.h), or "" */
	char key[MESSAGE_KEY];    /* what must be equal for one recorder */
};

/* The recorder's side of a shared socket. */
struct note {
	uint32_t version;
	enum message_kind kind;
	pid_t pid;              /* the recorder's */
	uint32_t slot;          /* READY: the row of this task in the table that comes with it */
	uint32_t alone;         /* REFUSED: the launcher had better have a recorder of its own */
	uint32_t speaks;        /* DONE: it is for this launcher to say how it went: */
	uint32_t tasks, failed; /* of this node */
	int32_t status;         /* of one that failed, as wait(2) gives it; READY: 1 if it records
				   into the directory instead of the one that was named */
	int64_t wall_ns;
	char text[MESSAGE_TEXT]; /* READY: id of the run; a sentence; or empty */
};

/* What a command printed last (said.h): n bytes as they are in the file, or why there are none. Of
 * one that ended with 0, in case that a process of it failed. */
struct printed {
	uint32_t version;
	enum message_kind kind;
	uint32_t n;
	uint32_t is_cut;    /* the first line begins before the first byte */
	uint32_t is_output; /* of standard output, in place of standard error */
	uint32_t ended_well;
	char absent[64]; /* why there is nothing; "": there is */
	char text[MESSAGE_PRINTED_BYTES];
};

union packet {
	struct message message;
	struct printed printed;
	struct registration registration;
	struct note note;
};

/* 0, or -errno (-EAGAIN no room, -EPIPE nobody there). Never raises SIGPIPE. */
int message_send(int fd, const struct message *m);
/* The same, waiting at most timeout_ms for room. */
int message_send_within(int fd, const struct message *m, int timeout_ms);
/* 1 a message, 0 the other side is gone, -EAGAIN none now (fd is non-blocking), other -errno. What
 * was printed is message.kind MESSAGE_PRINTED. */
int message_receive(int fd, union packet *p);
/* Wait at most timeout_ms for a message. 1, 0 gone, -ETIMEDOUT. */
int message_wait(int fd, struct message *m, int timeout_ms);

/* The kind of what n bytes are, with every number in bounds and every text ended; or -EBADMSG. */
int packet_parse(const void *data, size_t n, union packet *out);
int packet_send(int fd, const void *packet, size_t n, int passed);
/* As message_receive; a descriptor that came along is *passed, else -1. */
/* One as it came, of so many bytes at most, without waiting: its size; 0 at the end; -errno. */
ssize_t packet_take(int fd, void *to, size_t n, int *passed);
int packet_receive(int fd, union packet *out, int *passed);

#endif
