/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_part.h - what the files of recording/join.h share: a run while it is filled and read.
 *
 * Ids of a file are turned into ids of the run as they are met. Nobody outside includes this.
 */
#ifndef SONDE_RECORDING_JOIN_PART_H
#define SONDE_RECORDING_JOIN_PART_H

#include "base/array.h"
#include "base/idmap.h"
#include "base/pool.h"
#include "core/frame/run.h"
#include "recording/file.h"
#include "recording/format.h"
#include "recording/join.h"

/* Series of a file whose ids follow one another in the file and in the run. */
struct join_span {
	uint32_t id, count, run;
};

/* One recording of the run. */
struct join_file {
	const char *sonde, *tail;     /* names in join.dir; tail may be NULL */
	const char *path, *tail_path; /* for people */
	bool has_sonde, has_tail;     /* in the directory that was listed */
	struct idmap nodes;           /* ids of the file -> of the run */
	struct join_span *spans;      /* its series, in order of id */
	uint32_t nspans, span_cap;
	struct head head;
	struct bytes sealed; /* blocks made from its tail */
	bool undeclared_said;
	bool spoken;                    /* something in it was taken */
	bool samples;                   /* it has samples of code: then */
	struct idmap stacks, instances; /* ids of the file -> of the run */
	const char *version;            /* why another Sonde is wanted to read it; NULL: none is */
};

struct join_chunk {
	uint64_t offset;
	const uint8_t *memory;
	uint32_t length, file, node;
	uint32_t values; /* rows x columns */
	bool damaged;    /* that was said already, when it was read before */
};

/* A file of the run that is open to have its blocks read. */
struct join_open {
	int fd; /* -1: none is */
	uint32_t file;
	struct blocks blocks;
};

/* A chunk that was read: its ranges, then its values. What belongs to it stays until the next. */
struct join_load {
	uint32_t chunk;  /* of join.chunks */
	int rc;          /* of its ranges: 0, -EBADMSG or -ENOMEM */
	int values_rc;   /* of its values, the same */
	bool undeclared; /* it has series that are declared nowhere, or another node's */
	struct chunk_reader read;
	uint32_t *id; /* the run's series of each column; 0: as above */
	struct chunk_column *columns;
	int64_t *values;
	uint8_t *present;
	size_t ids_cap, columns_cap, values_cap;
	struct chunk decoded;
};

/* Where the spans of run.packs[i] are. */
struct join_pack {
	uint64_t offset;
	uint32_t file, track; /* track: the file's id */
	bool damaged;
	bool held; /* they came as events, and offset is in join.held */
};

/* A block of events with samples of code. */
struct join_sampled {
	uint64_t offset;
	const uint8_t *memory; /* else the payload, sealed from the tail */
	uint32_t length, file;
	uint16_t type;
	bool damaged;
};

/* Ids by the sums of what they are of. */
struct join_hash {
	uint32_t *slot, *sum; /* one piece of memory */
	uint32_t n, cap;      /* cap: 0 or a power of two */
};

struct join_label {
	uint32_t instance;
	struct run_label label;
};

struct join_final {
	uint32_t instance;
	struct run_final final;
};

struct join_texts {
	const char **text; /* a hash table */
	uint32_t n, cap;   /* cap: 0 or a power of two */
};

enum { JOIN_BEGUN_MAX = 1024 };

struct join {
	struct run run; /* first, so that run_close finds the rest */
	struct run_progress telling;
	struct pool pool, record; /* what stays; strings of the record being taken */
	struct join_texts texts;
	struct run_index metas_of;
	int dir; /* descriptor of the directory */
	struct join_file *files;
	uint32_t nfiles;
	struct join_chunk *chunks;
	uint32_t nchunks;
	struct join_pack *packs;
	struct run_span *unpacked; /* the spans of one pack */
	struct bytes held;         /* spans of programs, when there are many */
	struct join_label *labels; /* in order of coming, until they are sorted */
	struct join_final *finals;
	uint32_t nlabels, nfinals;
	const char **words; /* what spans are called */
	uint32_t nwords;
	struct join_hash module_hash, frame_hash, stack_hash;
	struct join_sampled *sampled;
	uint32_t nsampled;
	struct {
		uint32_t nodes, metrics, instances, series, refusals, marks, spans, metas, damages;
		uint32_t files, chunks, labels, finals, packs, run_packs, words, points;
		uint32_t modules, frames, stacks, sampled, file_frames, file_stacks;
	} cap;
	struct idmap metric_names; /* checksum of the name -> metric */
	/* while a file is read */
	struct join_file *file;
	struct idmap file_metrics, file_instances, file_words;
	struct idmap metrics_before;            /* file_metrics of the file before */
	uint32_t begun[JOIN_BEGUN_MAX], nbegun; /* spans whose end may follow */
	const struct file_found *found;
	struct idmap file_modules, file_frames; /* frames: places in `frames`, from 1 */
	struct join_frame *frames;
	struct join_stack *stacks;
	uint32_t nframes, nstacks;
	uint32_t block_samples; /* sets of samples in the block being read */
	bool stray_said;
	/* the cursor over samples */
	uint32_t sampled_at;    /* next block */
	struct scan sampled_in; /* records of the one that is loaded; at NULL: none is */
	struct bytes sampled_records;
	struct event_item *items;
	/* the cursor */
	uint32_t at;                 /* next chunk */
	uint32_t from_node, to_node; /* of those before to_node alone */
	struct join_open open;
	struct join_load load, *now; /* now: the chunk given last, load or one of ahead's */
	struct ahead *ahead;         /* NULL: nobody reads ahead */
	struct range *ranges;
	size_t ranges_cap;
};

/* Attempts of a job that began again: which recordings are the last one's, and what is told of
 * those before it. {0}: there is one attempt. */
struct join_attempts {
	int64_t last;
	char *before;
	const char **keep; /* paths */
	size_t nkeep;
};
/* 1 when there are several, 0, or -ENOMEM. */
int join_attempts_find(struct join_attempts *x, const struct run *r);
void join_attempts_free(struct join_attempts *x);
/* Only the files that are to be kept; what is told, as metadata. */
void join_attempts_leave(struct join *j, const struct join_attempts *x);
int join_attempts_report(struct join *j, const struct join_attempts *x);

/* Times of strangers, kept where their sums cannot overflow. */
static inline int64_t join_bounded(int64_t ns)
{
	return ns < -MONO_MAX ? -MONO_MAX : ns > MONO_MAX ? MONO_MAX : ns;
}

static inline void join_progress(const struct join *j, uint32_t file)
{
	if (j->telling.file)
		j->telling.file(j->telling.ctx, file, j->nfiles);
}

/* file is a path for people. what is a literal. */
void join_damage(struct join *j, const char *file, uint64_t offset, uint64_t length,
		 const char *what);
/* The run's node for a node of the file being read, made if need be; 0 when out of memory. */
uint32_t join_node(struct join *j, uint32_t id);
/* A copy of a text that stays as long as the run; equal texts have one. NULL: out of memory. */
const char *join_text(struct join *j, const char *text);
/* The run's series for one of a file; 0: not declared. */
uint32_t join_series(const struct join_file *f, uint32_t id);
/* Take one record of the file being read. 0 or -ENOMEM. */
int join_event(struct join *j, const struct record *r);
/* The files of the run at j->run.path, into j->files. */
int join_list(struct join *j, bool is_directory, struct err *e);
/* Labels and finals in order of their instances. 0 or -ENOMEM. */
int join_sort(struct join *j);

/* Hold an event of spans as a pack: some bytes a span. 0 or -ENOMEM. */
int join_hold(struct join *j, const struct event *e);
/* Take a block of spans of the file being read. 0, -EBADMSG or -ENOMEM. */
int join_pack(struct join *j, const struct block *b);
/* The tracks of the packs from first on, when all of the file has been read. */
void join_pack_tracks(struct join *j, uint32_t first);
/* Spans of programs that were open when their process ended, end then. When all is read. */
void join_cut_spans(struct join *j);
int join_unpack(const struct run *r, uint32_t pack, const struct run_span **spans, struct err *e);

/* The tables of code, empty; those of a file begin, and end in the run's; 0 or -ENOMEM. */
int join_stacks_init(struct join *j);
void join_stacks_begin(struct join *j);
int join_stacks_end(struct join *j);
void join_stacks_free(struct join *j);
int join_take_module(struct join *j, const struct record *r);
int join_take_frame(struct join *j, const struct record *r);
int join_take_stacks(struct join *j, const struct record *r);
int join_take_samples(struct join *j, const struct record *r);
/* All of a block has been taken: remember it if samples are in it. */
int join_sampled_block(struct join *j, const struct block *b, bool in_memory);
int join_rewind_samples(struct run *r);
int join_next_samples(struct run *r, struct run_samples *out, struct err *e);

/* Have that file open as j->open. 0 or -errno. */
int join_file_open(struct join *j, uint32_t file);
void join_open_free(struct join_open *o);
/* Read a chunk of j->chunks; then its values, before another is read with o. What comes of it is
 * said in l; nothing in j changes. */
void join_load_ranges(const struct join *j, struct join_open *o, struct join_load *l,
		      uint32_t chunk);
void join_load_values(const struct join *j, struct join_load *l, const uint8_t *wanted);
void join_load_free(struct join_load *l);
bool join_is_chosen(const struct join *j,
		    uint32_t chunk); /* its node is from_node .. to_node - 1 */

/* Have other threads read the chunks of the pass that begins, with these values, in their order.
 * Without use (few or large chunks, one CPU, no thread to be had) j->ahead stays NULL. */
void ahead_start(struct run *r, const uint8_t *wanted);
/* The next one; there is one. It stays until the next call. */
struct join_load *ahead_next(struct ahead *a);
void ahead_stop(struct join *j);

/* Have other threads look at all files while the run is opened. NULL: nobody does, and nobody is
 * stopped. */
struct scanner *scanner_start(const struct join *j);
/* Of the next file; NULL: it is to be read. Then it is done. */
struct file_scan *scanner_next(struct scanner *x);
void scanner_done(struct scanner *x);
void scanner_stop(struct scanner *x);
int join_rewind(struct run *r);
int join_rewind_nodes(struct run *r, uint32_t from, uint32_t to);
int join_next_chunk(struct run *r, const uint8_t *wanted, struct chunk *c, struct err *e);
int join_next_ranges(struct run *r, const struct range **ranges, uint32_t *n, struct err *e);
int join_values(struct run *r, const uint8_t *wanted, struct chunk *c, struct err *e);
void join_cursor_free(struct join *j);

#endif
