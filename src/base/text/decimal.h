/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal.h - real numbers as text, with a point whatever the locale: libsonde's caller may have
 * set one in which a comma stands there.
 */
#ifndef SONDE_BASE_TEXT_DECIMAL_H
#define SONDE_BASE_TEXT_DECIMAL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As strtod does. */
double decimal_parse(const char *text, char **end);
/* What a whole text is as a number, which may be infinite; NAN: it is none. */
double decimal_of(const char *text);
/* Are both the same text, or the same number, however it is written? */
bool decimal_are_same(const char *a, const char *b);
/* As snprintf and vsnprintf do. */
int decimal_print(char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same behind the text that is in out. */
void decimal_append(char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int decimal_vprint(char *out, size_t size, const char *format, va_list ap)
	__attribute__((format(printf, 3, 0)));

/* The text of a number, which lies somewhere in out; without an allocation, without the locale. */
enum { DECIMAL_ROOM = 32 };
const char *decimal_whole(char out[DECIMAL_ROOM], int64_t v);
/* The fewest digits, 15 to 17, of which "%.*g" gives a text that is this very number; then without
 * those that are zero. -0 is 0. */
const char *decimal_shortest(char out[DECIMAL_ROOM], double v);

#endif
