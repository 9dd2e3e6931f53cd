/* SPDX-License-Identifier: Apache-2.0 */
#include "source/interrupts.h"

#include "base/reserve.h"
#include "base/text/number.h"
#include "source/cpulist.h"

#include <errno.h>
#include <string.h>

/* What no machine reaches: a row of each kind can be summed up. */
static const int64_t COUNT_LIMIT = INT64_C(1) << 48;

int interrupts_init(struct interrupts *x)
{
	*x = (struct interrupts){ .cpu = reserve(CPUS_MAX * sizeof *x->cpu),
				  .sum = reserve(CPUS_MAX * sizeof *x->sum),
				  .row = reserve(CPUS_MAX * sizeof *x->row) };
	if (x->cpu && x->sum && x->row)
		return 0;
	interrupts_free(x);
	return -ENOMEM;
}

void interrupts_free(struct interrupts *x)
{
	reserve_free(x->cpu, CPUS_MAX * sizeof *x->cpu);
	reserve_free(x->sum, CPUS_MAX * sizeof *x->sum);
	reserve_free(x->row, CPUS_MAX * sizeof *x->row);
	*x = (struct interrupts){ 0 };
}

static void begin_line(struct interrupts *x, enum interrupts_part part)
{
	x->part = part;
	x->label = 0;
	x->column = 0;
	x->number = -1;
}

void interrupts_begin(struct interrupts *x)
{
	x->ncolumns = x->nrows = 0;
	begin_line(x, INTERRUPTS_HEADER);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Behind a name of the header, "CPU12". One with anything else in it is none. */
static void take_name(struct interrupts *x, char c)
{
	if (!strchr("CPU \n", c) || !c) {
		x->ncolumns = 0;
		x->part = INTERRUPTS_REST;
		return;
	}
	if (x->number < 0)
		return;
	if (x->number < CPUS_MAX && x->ncolumns < CPUS_MAX) {
		x->sum[x->ncolumns] = 0;
		x->cpu[x->ncolumns++] = (uint32_t)x->number;
	}
	x->number = -1;
}

static void take_digit(struct interrupts *x, char c)
{
	if (x->number <= COUNT_LIMIT)
		x->number = (x->number < 0 ? 0 : x->number) * 10 + (c - '0');
}

/* The number of a column has ended. With the last one the row counts. */
static void take_count(struct interrupts *x)
{
	if (x->number < 0)
		return;
	if (x->number > COUNT_LIMIT) {
		x->part = INTERRUPTS_REST;
		return;
	}
	x->row[x->column++] = x->number;
	x->number = -1;
	if (x->column < x->ncolumns)
		return;
	x->part = INTERRUPTS_REST;
	x->nrows++;
	for (uint32_t i = 0; i < x->ncolumns; i++)
		number_add(&x->sum[i], x->row[i]);
}

/* ERR and MIS of x86, Err of ARM, BAD of POWER: faults of the interrupt controllers. */
static bool is_of_no_cpu(const struct interrupts *x)
{
	static const char labels[][4] = { "ERR", "MIS", "Err", "BAD" };

	for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
		const unsigned char *l = (const unsigned char *)labels[i];

		if (x->label == ((uint32_t)l[0] << 16 | (uint32_t)l[1] << 8 | l[2]))
			return true;
	}
	return false;
}

static void take_label(struct interrupts *x, char c)
{
	if (c != ':' || !x->ncolumns)
		x->label = (x->label << 8 | (unsigned char)c) & 0xffffff;
	else
		x->part = is_of_no_cpu(x) ? INTERRUPTS_REST : INTERRUPTS_COUNTS;
}

static void feed(struct interrupts *x, char c)
{
	if ((x->part == INTERRUPTS_HEADER || x->part == INTERRUPTS_COUNTS) && is_digit(c))
		take_digit(x, c);
	else if (x->part == INTERRUPTS_HEADER)
		take_name(x, c);
	else if (x->part == INTERRUPTS_LABEL)
		take_label(x, c);
	else if (x->part == INTERRUPTS_COUNTS && (c == ' ' || c == '\n'))
		take_count(x);
	else if (x->part == INTERRUPTS_COUNTS)
		x->part = INTERRUPTS_REST;
	if (c == '\n')
		begin_line(x, INTERRUPTS_LABEL);
}

void interrupts_feed(struct interrupts *x, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		feed(x, text[i]);
}

bool interrupts_end(const struct interrupts *x)
{
	return x->nrows && x->part == INTERRUPTS_LABEL && x->column == 0;
}
