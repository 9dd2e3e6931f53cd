/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holdup.h - waits that held the job up: who waited for what for long, while that was at work.
 *
 * Made from the time of threads (core/stacks/waiting.h). A wait that is as it should be is none: of
 * a pool without work, of a shell for its child, of a main thread for its workers' end. Texts are
 * hostile.
 */
#ifndef SONDE_REPORT_JUDGING_HOLDUP_H
#define SONDE_REPORT_JUDGING_HOLDUP_H

enum { HOLDUP_TEXT = 480 };

enum holdup {
	HOLDUP_LOCK,    /* several threads wait for one lock */
	HOLDUP_BARRIER, /* threads wait in a barrier for one that is at work */
	HOLDUP_READER,  /* a writer of a pipe waits for a slow reader */
	HOLDUP_FEEDER,  /* a reader of a pipe works, and waits for a slow writer */
	HOLDUP_WORKERS, /* a process works, and waits for its threads or children, which are busy */
	HOLDUP_CHILDREN,  /* children of one name, one after the other */
	HOLDUP_NETWORK,   /* storage on a network file system */
	HOLDUP_STORAGE,   /* other storage */
	HOLDUP_FILE_LOCK, /* a lock on a file */
	HOLDUP_SLEEP,     /* a program that does little but sleep */
	HOLDUP_NUMBER_OF
};

struct summary_holdup {
	double seconds; /* that one thread waited, on average or at most; NAN: not recorded */
	double threads; /* that waited; of children: how many there were */
	char at[HOLDUP_TEXT];
};

/* "lock"; with _ for a space. */
extern const char *const holdup_names[HOLDUP_NUMBER_OF];
/* By its name; HOLDUP_NUMBER_OF: there is none. */
enum holdup holdup_find(const char *name);

#endif
