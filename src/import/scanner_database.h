/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scanner_database.h - the two descriptors of Scanner's database that say which jobs there are:
 * DB_PATH/db_metadata.bin and DB_PATH/jobs/ID/descriptor.bin, as protobuf.
 */
#ifndef SONDE_IMPORT_SCANNER_DATABASE_H
#define SONDE_IMPORT_SCANNER_DATABASE_H

#include "base/bytes.h"

struct scanner_job {
	uint64_t id;
	int64_t nodes;  /* -1: not known */
	char name[256]; /* empty: not known */
};

/* Each job that the database's descriptor names. bad: where it is malformed from; -1: nowhere. */
void scanner_database_jobs(struct scan in, void (*job)(void *ctx, const struct scanner_job *j),
			   void *ctx, int64_t *bad);
/* What a job's own descriptor says; likewise. */
void scanner_database_job(struct scan in, struct scanner_job *j, int64_t *bad);

#endif
