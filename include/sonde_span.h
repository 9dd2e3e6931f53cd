/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde_span.h - spans, marks and counters of a program: in the recording of the job that it runs
 * in, or in one of its own. Link with -lsonde (or libsonde.a -lzstd -lm -pthread).
 *
 *     void image(struct field *f)
 *     {
 *             SONDE_SPAN("imaging");          // to the end of this block, however it is left
 *             ...
 *     }
 *
 * or, where a span is no block:
 *
 *     static uint32_t step;
 *     step = sonde_name("step");              // once
 *     sonde_begin(step);
 *     ...
 *     sonde_end();
 *
 * or, where it ends in another thread or order than the stack's (coroutines, callbacks, tasks):
 *
 *     uint64_t request = sonde_span_begin(name, 0);
 *     ...
 *     sonde_span_end(request);                // anywhere
 *
 * Under `sonde run` the recorder of the node finds them by itself; sonde_spans_start makes a
 * recording of a program that runs without one. Else all of it does nothing: a branch.
 *
 * A thread writes into memory of its own (0.8 MB, taken when it makes its first span; 0 without a
 * recorder), without a system call where the clock needs none, a lock or a wait. The recorder
 * empties it 20 times a second. What finds no room there is not recorded and counted: more than
 * 32,768 spans and marks of a thread between two such times. What is written survives the
 * process's death by any signal.
 *
 * Everything may be called from any thread; a span ends in the thread that it began in, but one of
 * sonde_span_begin. The child of a fork records as a process of its own, and has none of the spans
 * open that its parent had. Signal handlers may make whole spans; one that interrupts these
 * functions may lose one of them. Nothing here prints, exits, or fails: what cannot be recorded is
 * not. Before version 1 these declarations may change with the number in the library's name.
 */
#ifndef SONDE_SPAN_H
#define SONDE_SPAN_H

#include <sonde.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of a name, the same for equal texts, for as long as the process and its forks live. A
 * text is copied; of one of more than 255 bytes, the begin and a number that is different for each.
 * There are 16,000 numbers in a process; names beyond share one, and are counted. Keep the number.
 * 0 represents no name. */
SONDE_API uint32_t sonde_name(const char *text);

/* A span of this name begins in this thread. Spans may lie within each other, 64 deep. Its handle;
 * 0: nobody records. */
SONDE_API uint64_t sonde_begin(uint32_t name);
/* The span that began last in this thread ends. Without one, it counts as a wrong end. */
SONDE_API void sonde_end(void);

/* A span of this name begins that may end in any thread, and in any order with others: 16,384 at a
 * time. around: the span that it is part of, or 0. Its handle; 0: it is not recorded. */
SONDE_API uint64_t sonde_span_begin(uint32_t name, uint64_t around);
/* The span of this handle ends, also one of sonde_begin: that in its own thread, and if spans
 * within it are still open, it counts as a wrong end, but has its times. One that has ended
 * already, or of another process, is not touched, and counts as well. 0 does nothing. */
SONDE_API void sonde_span_end(uint64_t span);

/* An instant of this name, now. A recording keeps 100,000 of them. */
SONDE_API void sonde_mark(uint32_t name);
/* The counter of this name has this value from now on, in whatever unit it is, until another one is
 * set. Each value is recorded, up to 1,000 a second of a counter; of more, the least, most and last
 * of each second. 256 counters of a recording are kept. */
SONDE_API void sonde_counter(uint32_t name, double value);

/* ---- what goes with a span or a mark ---- */

enum sonde_arg_kind {
	SONDE_ARG_NUMBER = 1,
	SONDE_ARG_INTEGER,
	SONDE_ARG_TEXT,
	SONDE_ARG_CATEGORY, /* the key is its name */
	SONDE_ARG_FLOW_OUT, /* an arrow begins here; no key */
	SONDE_ARG_FLOW_IN   /* and ends here */
};

/* Make one with a function below. The key is a name: a short word of a kind, not of a value. */
struct sonde_arg {
	uint32_t kind, key;
	union {
		double number;
		int64_t integer;
		uint64_t flow;
		const char *text; /* is read by the call that it is given to; up to 255 bytes */
	} value;
};

/* As sonde_begin and sonde_span_begin, with arguments that are known then, of some 4,000 spans that
 * are open at a time: they are read now, and recorded when the span ends, before those of its end.
 * Those of a span that does not end, or is passed to another process, are lost. */
SONDE_API uint64_t sonde_begin_with(uint32_t name, const struct sonde_arg *args, uint32_t nargs);
SONDE_API uint64_t sonde_span_begin_with(uint32_t name, uint64_t around,
					 const struct sonde_arg *args, uint32_t nargs);
/* As sonde_span_end and sonde_mark, with KEY=VALUE and arrows: up to 16, of 960 bytes together;
 * more is left out, and counted. A recording keeps those of 200,000 spans. */
SONDE_API void sonde_span_end_with(uint64_t span, const struct sonde_arg *args, uint32_t nargs);
SONDE_API void sonde_mark_with(uint32_t name, const struct sonde_arg *args, uint32_t nargs);
/* A number for an arrow, which no process on any node is given again. Any other number will do that
 * both ends know: of one number, arrows lead from each span that has it out to the next that has it
 * in, in any thread, process and node of the recording. */
SONDE_API uint64_t sonde_flow(void);

/* A span that was begun here and ends in another process of this machine. */
struct sonde_passed {
	int64_t began_ns;
	uint64_t machine; /* 0: there is none */
	char name[256];
};
/* It is no longer this process's to end, and not recorded here; false: it is not one of
 * sonde_span_begin that is open. The bytes of *passed go to the other process however you like. */
SONDE_API bool sonde_span_pass(uint64_t span, struct sonde_passed *passed);
/* Its handle in the process that ends it, where it is recorded; 0: it is of another machine, or
 * nobody records. */
SONDE_API uint64_t sonde_span_take(const struct sonde_passed *passed);

/* What this thread is called from now on in the recording. */
SONDE_API void sonde_thread_name(const char *text);

/* Record what this process makes of these from now on into directory, which is made if need be, as
 * a recording of its own: a thread writes it, 20 times a second. Under `sonde run` it is recorded
 * there, and this does nothing. What the process's children make is not recorded. False: error,
 * which may be NULL, says why; EBUSY when it is being recorded. */
SONDE_API bool sonde_spans_start(const char *directory, struct sonde_error *error);
/* Write what is left and close that recording; also done at exit. */
SONDE_API void sonde_spans_stop(void);
/* How many spans and marks of this process found no room so far. */
SONDE_API uint64_t sonde_spans_lost(void);

/* Not 0: they are recorded, or it is not known yet. For the macros below. */
SONDE_API extern int sonde_spans_wanted;

/* ---- at the price of a branch where nobody records ---- */

#if defined __GNUC__
#define SONDE_SPANS_WANTED __atomic_load_n(&sonde_spans_wanted, __ATOMIC_RELAXED)
#else
#define SONDE_SPANS_WANTED sonde_spans_wanted
#endif
static inline uint64_t sonde_begin_if_wanted(uint32_t name)
{
	return SONDE_SPANS_WANTED ? sonde_begin(name) : 0;
}
static inline uint64_t sonde_span_begin_if_wanted(uint32_t name, uint64_t around)
{
	return SONDE_SPANS_WANTED ? sonde_span_begin(name, around) : 0;
}
static inline uint64_t sonde_begin_with_if_wanted(uint32_t name, const struct sonde_arg *args,
						  uint32_t nargs)
{
	return SONDE_SPANS_WANTED ? sonde_begin_with(name, args, nargs) : 0;
}
static inline uint64_t sonde_span_begin_with_if_wanted(uint32_t name, uint64_t around,
						       const struct sonde_arg *args, uint32_t nargs)
{
	return SONDE_SPANS_WANTED ? sonde_span_begin_with(name, around, args, nargs) : 0;
}
#define sonde_begin_with(name, args, nargs) sonde_begin_with_if_wanted(name, args, nargs)
#define sonde_span_begin_with(name, around, args, nargs)                                           \
	sonde_span_begin_with_if_wanted(name, around, args, nargs)
#define sonde_begin(name)              sonde_begin_if_wanted(name)
#define sonde_span_begin(name, around) sonde_span_begin_if_wanted(name, around)
#define sonde_end()                    (SONDE_SPANS_WANTED ? sonde_end() : (void)0)
#define sonde_mark(name)               (SONDE_SPANS_WANTED ? sonde_mark(name) : (void)0)
#define sonde_span_end_with(span, args, nargs)                                                     \
	(SONDE_SPANS_WANTED ? sonde_span_end_with(span, args, nargs) : (void)0)
#define sonde_mark_with(name, args, nargs)                                                         \
	(SONDE_SPANS_WANTED ? sonde_mark_with(name, args, nargs) : (void)0)
#define sonde_counter(name, value) (SONDE_SPANS_WANTED ? sonde_counter(name, value) : (void)0)
#define sonde_thread_name(text)    (SONDE_SPANS_WANTED ? sonde_thread_name(text) : (void)0)

static inline struct sonde_arg sonde_arg_of(uint32_t kind, uint32_t key)
{
	struct sonde_arg arg;

	arg.kind = kind;
	arg.key = key;
	arg.value.flow = 0;
	return arg;
}
static inline struct sonde_arg sonde_arg_number(uint32_t key, double number)
{
	struct sonde_arg arg = sonde_arg_of(SONDE_ARG_NUMBER, key);

	arg.value.number = number;
	return arg;
}
static inline struct sonde_arg sonde_arg_integer(uint32_t key, int64_t integer)
{
	struct sonde_arg arg = sonde_arg_of(SONDE_ARG_INTEGER, key);

	arg.value.integer = integer;
	return arg;
}
static inline struct sonde_arg sonde_arg_text(uint32_t key, const char *text)
{
	struct sonde_arg arg = sonde_arg_of(SONDE_ARG_TEXT, key);

	arg.value.text = text;
	return arg;
}
static inline struct sonde_arg sonde_arg_category(uint32_t name)
{
	return sonde_arg_of(SONDE_ARG_CATEGORY, name);
}
static inline struct sonde_arg sonde_arg_flow_out(uint64_t flow)
{
	struct sonde_arg arg = sonde_arg_of(SONDE_ARG_FLOW_OUT, 0);

	arg.value.flow = flow;
	return arg;
}
static inline struct sonde_arg sonde_arg_flow_in(uint64_t flow)
{
	struct sonde_arg arg = sonde_arg_of(SONDE_ARG_FLOW_IN, 0);

	arg.value.flow = flow;
	return arg;
}

#if defined __GNUC__ && !defined __cplusplus
/* SONDE_SPAN(text) is a span from there to the end of the block, however that is left; text: a
 * literal. sonde_span.hpp has it for C++. */
#define SONDE_SPAN(text)        SONDE_SPAN_AT(text, __COUNTER__)
#define SONDE_SPAN_AT(text, at) SONDE_SPAN_NAMED(text, at)
#define SONDE_SPAN_NAMED(text, at)                                                                 \
	static uint32_t sonde_name_##at;                                                           \
	const uint64_t sonde_span_##at __attribute__((cleanup(sonde_span_leave), unused)) =        \
		sonde_span_enter(&sonde_name_##at, text)

static inline uint64_t sonde_span_enter(uint32_t *name, const char *text)
{
	uint32_t number;

	if (!SONDE_SPANS_WANTED)
		return 0;
	number = __atomic_load_n(name, __ATOMIC_RELAXED);
	if (!number) {
		number = sonde_name(text);
		__atomic_store_n(name, number, __ATOMIC_RELAXED);
	}
	return sonde_begin(number);
}

static inline void sonde_span_leave(const uint64_t *entered)
{
	if (*entered)
		sonde_span_end(*entered);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
