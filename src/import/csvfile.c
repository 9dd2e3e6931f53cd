/* SPDX-License-Identifier: Apache-2.0 */
#include "import/csvfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int csvfile_next(struct csvfile *r)
{
	size_t n;

	if (!fgets(r->line, sizeof r->line, r->file))
		return 0;
	n = strlen(r->line);
	if (n && r->line[n - 1] == '\n') {
		r->line[--n] = '\0';
		if (n && r->line[n - 1] == '\r')
			r->line[n - 1] = '\0';
		return 1;
	}
	if (feof(r->file))
		return -1; /* it was being written */
	for (int c = 0; c != '\n' && c != EOF;)
		c = getc(r->file);
	return -1;
}

uint32_t csvfile_split(struct csvfile *r, char **cell)
{
	uint32_t n = 0;

	for (char *p = r->line; p && n < CSVFILE_CELLS_MAX; n++) {
		cell[n] = p;
		p = strchr(p, ',');
		if (p)
			*p++ = '\0';
	}
	return n;
}

bool csvfile_number(const char *text, double *out)
{
	char *end;

	while (*text == ' ')
		text++;
	if (*text != '-' && *text != '.' && (*text < '0' || *text > '9'))
		return false;
	if (text[0] == '0' && (text[1] | 32) == 'x')
		return false;
	*out = strtod(text, &end);
	while (*end == ' ')
		end++;
	return end != text && !*end && isfinite(*out);
}
