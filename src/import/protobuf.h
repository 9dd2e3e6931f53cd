/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf.h - protobuf of hostile files: fields of a message in memory, and of those that a file
 * holds, which are read one after the other in fixed memory.
 */
#ifndef SONDE_IMPORT_PROTOBUF_H
#define SONDE_IMPORT_PROTOBUF_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * A file as it was before gzip or zstd compressed it, from begin to end, as often as
 * need be.
 *
 * What it is compressed with is known by its first bytes. Its memory is fixed.
 */
struct packed {
	const char *path; /* borrowed */
	struct stat st;
	struct err e; /* why packed_read gave -1 */

	/* private */
	int fd;
	struct inflate *gzip;
	struct packed_zstd *zstd;
};

/* A regular file. 0, or -errno with a sentence; {0} is closed. */
int packed_open(struct packed *p, const char *path, struct err *e);
void packed_close(struct packed *p);
/* From its begin on. 0 or -errno with a sentence. */
int packed_rewind(struct packed *p, struct err *e);
/* As read() does, of a struct packed; -1: e says why. */
ssize_t packed_read(void *packed, void *data, size_t n);
/* A descriptor for who reads anywhere in the file: its own (borrowed), or that of a copy without
 * a name in that directory, which *copy has, for the caller to close. -errno with a sentence. */
int packed_seekable(struct packed *p, int dirfd, int *copy, struct err *e);

enum { PROTOBUF_VARINT, PROTOBUF_FIXED64, PROTOBUF_BYTES, PROTOBUF_FIXED32 = 5 };
enum { PROTOBUF_MESSAGE_MOST = 4 << 20, PROTOBUF_AHEAD = 65536 };

/* A message in memory. */
struct message {
	const uint8_t *at, *end;
};

struct field {
	uint32_t number, wire;
	uint64_t value; /* of a number; of bytes: how many */
	struct message bytes;
};

bool message_varint(struct message *m, uint64_t *out);
/* 1, 0: it is over, -1: it is malformed. */
int message_next(struct message *m, struct field *f);

/* ---- in the file ---- */

struct protobuf {
	struct packed *file;
	struct err *fault; /* borrowed: the first fault */
	bool bad;          /* there was one */
	uint64_t too_long; /* messages that were skipped: longer than PROTOBUF_MESSAGE_MOST */
	uint64_t pos;      /* of the next byte */
	size_t at, end;
	uint8_t *message;
	uint8_t ahead[PROTOBUF_AHEAD];
};

/* The file is read from where it is. 0 or -ENOMEM. */
int protobuf_begin(struct protobuf *s, struct packed *file, struct err *fault);
void protobuf_end(struct protobuf *s);
/* Always false. */
bool protobuf_fault(struct protobuf *s, const char *why);
/* n bytes; out NULL: they are skipped. False: the file is over. */
bool protobuf_take(struct protobuf *s, uint8_t *out, uint64_t n);
/* The next field of a message that ends there; of others than bytes nothing is left to read. False:
 * it is over, or bad. */
bool protobuf_next(struct protobuf *s, uint64_t end, struct field *f);
/* The bytes of a field. False: they are skipped since they are too many, or bad. */
bool protobuf_whole(struct protobuf *s, const struct field *f, struct message *m);
bool protobuf_pass(struct protobuf *s, const struct field *f);
bool protobuf_is_over(struct protobuf *s);

#endif
