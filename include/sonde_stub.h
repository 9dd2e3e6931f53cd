/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde_stub.h - spans, marks and counters in a program that is also built where there is no Sonde:
 * copy it into the program. With SONDE_WANTED defined it is sonde_span.h (C++: sonde_span.hpp), to
 * be linked with -lsonde; else every call compiles to nothing, and nothing is to be linked.
 *
 *     #include "sonde_stub.h"
 */
#ifndef SONDE_STUB_H
#define SONDE_STUB_H

#if defined SONDE_WANTED && defined __cplusplus
#include <sonde_span.hpp>
#elif defined SONDE_WANTED
#include <sonde_span.h>
#else

/* Nothing is recorded; ISO C wants something to be declared. */
enum { SONDE_IS_STUB = 1 };

/* Arguments are not evaluated. */
#define SONDE_SPAN(text)               ((void)0)
#define sonde_name(text)               0u
#define sonde_begin(name)              ((void)sizeof(name))
#define sonde_end()                    ((void)0)
#define sonde_span_begin(name, around) ((void)sizeof(name), (void)sizeof(around), 0u)
#define sonde_span_end(span)           ((void)sizeof(span))
#define sonde_mark(name)               ((void)sizeof(name))
#define sonde_span_end_with(span, args, nargs)                                                     \
	((void)sizeof(span), (void)sizeof(args), (void)sizeof(nargs))
#define sonde_mark_with(name, args, nargs)                                                         \
	((void)sizeof(name), (void)sizeof(args), (void)sizeof(nargs))
#define sonde_begin_with(name, args, nargs)                                                        \
	((void)sizeof(name), (void)sizeof(args), (void)sizeof(nargs), 0u)
#define sonde_span_begin_with(name, around, args, nargs)                                           \
	((void)sizeof(name), (void)sizeof(around), (void)sizeof(args), (void)sizeof(nargs), 0u)
#define sonde_flow()                    0u
#define sonde_span_pass(span, passed)   ((void)sizeof(span), (void)sizeof(passed), 0)
#define sonde_span_take(passed)         ((void)sizeof(passed), 0u)
struct sonde_arg {
	unsigned char nothing;
};
struct sonde_passed {
	unsigned char nothing;
};
#define SONDE_NO_ARG(a)                 ((void)sizeof(a), (struct sonde_arg){ 0 })
#define sonde_arg_number(key, number)   ((void)sizeof(number), SONDE_NO_ARG(key))
#define sonde_arg_integer(key, integer) ((void)sizeof(integer), SONDE_NO_ARG(key))
#define sonde_arg_text(key, text)       ((void)sizeof(text), SONDE_NO_ARG(key))
#define sonde_arg_category(name)        SONDE_NO_ARG(name)
#define sonde_arg_flow_out(flow)        SONDE_NO_ARG(flow)
#define sonde_arg_flow_in(flow)         SONDE_NO_ARG(flow)
#define sonde_counter(name, value)      ((void)sizeof(name), (void)sizeof(value))
#define sonde_thread_name(text)         ((void)0)
#define sonde_spans_lost()              0u

#endif
#endif
