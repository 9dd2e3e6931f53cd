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
 * Under `sonde run` the recorder of the node finds them by itself; sonde_spans_start makes a
 * recording of a program that runs without one. Else all of it does nothing: a branch.
 *
 * A thread writes into memory of its own (0.8 MB, taken when it makes its first span; 0 without a
 * recorder), without a system call where the clock needs none, a lock or a wait. The recorder
 * empties it 20 times a second. What finds no room there is not recorded and counted: more than
 * 32,768 spans and marks of a thread between two such times. What is written survives the
 * process's death by any signal.
 *
 * Everything may be called from any thread; a span ends in the thread that it began in. The child
 * of a fork records as a process of its own, and has none of the spans open that its parent had.
 * Signal handlers may make whole spans; one that interrupts these functions may lose one of them.
 * Nothing here prints, exits, or fails: what cannot be recorded is not.
 * Before version 1 these declarations may change with the number in the library's name.
 */
#ifndef SONDE_SPAN_H
#define SONDE_SPAN_H

#include <sonde.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of a name, the same for equal texts, for as long as the process and its forks live. A
 * text is copied, and cut after 63 bytes. There are 1,024 numbers in a process; behind them 0,
 * which stands for no name. It looks through all that there are: keep the number. */
SONDE_API uint32_t sonde_name(const char *text);

/* A span of this name begins in this thread. Spans may lie within each other, 64 deep. */
SONDE_API void sonde_begin(uint32_t name);
/* The span that began last in this thread ends. Without one it does nothing. */
SONDE_API void sonde_end(void);
/* An instant of this name, now. A recording keeps 100,000 of them. */
SONDE_API void sonde_mark(uint32_t name);
/* The counter of this name has this value from now on, in whatever unit it is, until another one is
 * set; each sample of the recording has the last one. 256 counters of a recording are kept. */
SONDE_API void sonde_counter(uint32_t name, double value);

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
#define sonde_begin(name)          (SONDE_SPANS_WANTED ? sonde_begin(name) : (void)0)
#define sonde_end()                (SONDE_SPANS_WANTED ? sonde_end() : (void)0)
#define sonde_mark(name)           (SONDE_SPANS_WANTED ? sonde_mark(name) : (void)0)
#define sonde_counter(name, value) (SONDE_SPANS_WANTED ? sonde_counter(name, value) : (void)0)

#if defined __GNUC__ && !defined __cplusplus
/* SONDE_SPAN(text) is a span from there to the end of the block, however that is left; text: a
 * literal. sonde_span.hpp has it for C++. */
#define SONDE_SPAN(text)        SONDE_SPAN_AT(text, __COUNTER__)
#define SONDE_SPAN_AT(text, at) SONDE_SPAN_NAMED(text, at)
#define SONDE_SPAN_NAMED(text, at)                                                                 \
	static uint32_t sonde_name_##at;                                                           \
	const char sonde_span_##at __attribute__((cleanup(sonde_span_leave), unused)) =            \
		sonde_span_enter(&sonde_name_##at, text)

static inline char sonde_span_enter(uint32_t *name, const char *text)
{
	uint32_t number;

	if (!SONDE_SPANS_WANTED)
		return 0;
	number = __atomic_load_n(name, __ATOMIC_RELAXED);
	if (!number) {
		number = sonde_name(text);
		__atomic_store_n(name, number, __ATOMIC_RELAXED);
	}
	sonde_begin(number);
	return 1;
}

static inline void sonde_span_leave(const char *entered)
{
	if (*entered)
		sonde_end();
}
#endif

#ifdef __cplusplus
}
#endif

#endif
