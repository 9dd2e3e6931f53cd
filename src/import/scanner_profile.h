/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scanner_profile.h - a profile that Scanner wrote, profile_N.bin or profile_master.bin, read once
 * from begin to end in a window of fixed size.
 *
 * A file has neither magic nor version nor checksum: what is in it is believed where it fits
 * what is around it. What does not is told as a fault with its offset, and what was before stays.
 */
#ifndef SONDE_IMPORT_SCANNER_PROFILE_H
#define SONDE_IMPORT_SCANNER_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SCANNER_BATCH = 16384, /* intervals at a time */
	SCANNER_KEYS = 256,    /* their numbers are bytes */
	SCANNER_TEXT_MAX = 4096,
};

enum scanner_place { SCANNER_EVENT_LOOP, SCANNER_LOAD, SCANNER_EVAL, SCANNER_SAVE, SCANNER_MASTER };

/* One profile in a file: that of a thread. Texts are hostile and last until the next one. */
struct scanner_thread {
	enum scanner_place place;
	int64_t node, number; /* as it says; number: which reader, pipeline, writer */
	const char *type, *tag;
	int group; /* of kernels: which stage of the chain, from 0; else -1 */
	uint32_t nkeys;
	const char *key[SCANNER_KEYS]; /* by number; NULL: none has it */
};

/* key[] are below SCANNER_KEYS, with a name. */
struct scanner_intervals {
	uint32_t n;
	const uint16_t *key;
	const int64_t *begin_ns, *end_ns; /* since the job began, on that node's clock */
};

/* Each is told in the order of the file. thread and intervals: 0, or an errno that ends it. */
struct scanner_visitor {
	void *ctx;
	void (*times)(void *ctx, int64_t begin_utc_ns, int64_t end_utc_ns);
	/* Pipelines, and stages of each; before the first of them. */
	void (*chains)(void *ctx, unsigned pipelines, unsigned stages);
	int (*thread)(void *ctx, const struct scanner_thread *t);
	int (*intervals)(void *ctx, const struct scanner_intervals *i);
	void (*counter)(void *ctx, const char *name, int64_t value);
	int (*thread_end)(void *ctx);
	/* lost: something was left out there; else only wrong. */
	void (*fault)(void *ctx, uint64_t offset, bool lost, const char *what);
};

/* 0, also with faults; -ENOMEM, -errno of reading, or what a visitor returned. */
int scanner_profile_read(int fd, bool master, const struct scanner_visitor *v);

#endif
