/* SPDX-License-Identifier: Apache-2.0 */
/*
 * book.h - the files that each process used: a row for each (process, path), with its counters.
 *
 * Bounded: from BOOK_OPEN rows on, those of least use are folded into "other files of DIR" of the
 * node. Processes and the descriptors that they have open are here, too. Ids start at 1.
 */
#ifndef SONDE_FILES_BOOK_H
#define SONDE_FILES_BOOK_H

#include "source/program/files_row.h"

#include <stdbool.h>
#include <sys/types.h>

enum { BOOK_ROWS = 8192, FD_MOST = 65536 };

enum { FD_UNKNOWN = 0 };
#define FD_NO_FILE UINT32_MAX

struct book_fd {
	uint32_t row; /* FD_UNKNOWN, FD_NO_FILE or a row, maybe of the parent */
	bool guessed; /* the name was read from memory or looked for late, or is not known */
	bool opened;  /* its open was counted in the row */
	bool cloexec, jumped; /* jumped: by lseek, since the last read or write */
	int64_t at;           /* offset behind the last read or write */
	int64_t looked_ns;    /* when its name was looked for again; 0: it was not */
	int64_t *early;       /* while guessed: what of the row's counters is of it; or NULL */
};

struct book_process {
	pid_t pid; /* 0: free */
	uint32_t threads;
	char comm[16];
	char cwd[4096];  /* "": not known */
	char near[4096]; /* the file that it opened last, of which the name is known */
	struct book_fd *fd;
	uint32_t nfds;
};

struct book_row {
	char *path; /* NULL: free */
	pid_t pid;  /* 0: of the node */
	char comm[16];
	uint32_t number;  /* in the recording; 0: not sent yet */
	bool dirty, over; /* over: its process has ended */
	int64_t first_ns, last_ns;
	int64_t value[FILE_COUNTERS];
	uint32_t next; /* of the same hash */
	bool leaves;   /* with the next sweep; descriptors go over to its heir */
	uint32_t heir;
};

struct book;

struct book *book_new(void); /* NULL: no memory */
void book_free(struct book *b);

struct book_process *book_find(struct book *b, pid_t pid); /* NULL: not known */
/* Made where it is not known. NULL: no memory. */
struct book_process *book_process(struct book *b, pid_t pid);
void book_fork(struct book *b, pid_t parent, pid_t child);
void book_end(struct book *b, struct book_process *p);
/* The descriptor; NULL: beyond FD_MOST, or no memory. */
struct book_fd *book_fd(struct book_process *p, int fd);

void book_fd_set(struct book_fd *f, struct book_fd to);
/* Its name is guessed no more. */
void book_fd_settle(struct book_fd *f);

/* Instead of a path, of a file of which no more is known. */
void book_path_of_inode(uint64_t device, uint64_t inode, char out[4096]);
bool book_inode_of_path(const char *path, uint64_t *device, uint64_t *inode);

/* The row of a path, absolute and as it is, of a process; pid 0: of the node. Never 0: where there
 * is no room it is one of "other files of". */
uint32_t book_row_of(struct book *b, const struct book_process *p, const char *path,
		     int64_t now_ns);
struct book_row *book_row(struct book *b, uint32_t row);
/* Where row is by now, for process p. */
uint32_t book_row_for(struct book *b, const struct book_process *p, uint32_t row, int64_t now_ns);

enum book_rows { BOOK_ENDED, BOOK_LARGE, BOOK_ALL };
/* Call back for rows that changed: those of processes that have ended, large ones, too, or all.
 * send: false when there is no room; it is asked again. True: all were sent. */
bool book_send(struct book *b, enum book_rows which,
	       bool (*send)(void *to, const struct book_row *r), void *to);
/* The processes that are known, one after the other; NULL: no more. */
struct book_process *book_next(struct book *b, uint32_t *at);

#endif
