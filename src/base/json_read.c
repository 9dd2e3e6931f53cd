/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_read.h"

#include "base/escape.h"

#include <stdint.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

struct place {
	const char *at, *end;
	unsigned depth;
};

static void skip_blanks(struct place *p)
{
	while (p->at < p->end && memchr(" \t\r\n", *p->at, 4))
		p->at++;
}

static bool take(struct place *p, char c)
{
	skip_blanks(p);
	if (p->at >= p->end || *p->at != c)
		return false;
	p->at++;
	return true;
}

static bool take_hex(struct place *p, uint32_t *out)
{
	static const char digits[] = "0123456789abcdef";

	*out = 0;
	for (int i = 0; i < 4; i++) {
		char c = p->at < p->end ? *p->at++ : '\0';
		const char *d = memchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c, 16);

		if (!d)
			return false;
		*out = *out * 16 + (uint32_t)(d - digits);
	}
	return true;
}

/* One character of a text, as UTF-8 with its length. */
struct utf8 {
	char c[4];
	size_t n;
};

static struct utf8 utf8_of(uint32_t c)
{
	if (c < 0x80)
		return (struct utf8){ { (char)c }, 1 };
	if (c < 0x800)
		return (struct utf8){ { (char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f)) }, 2 };
	if (c < 0x10000)
		return (struct utf8){ { (char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 0x3f)),
					(char)(0x80 | (c & 0x3f)) },
				      3 };
	return (struct utf8){ { (char)(0xf0 | c >> 18), (char)(0x80 | (c >> 12 & 0x3f)),
				(char)(0x80 | (c >> 6 & 0x3f)), (char)(0x80 | (c & 0x3f)) },
			      4 };
}

static bool take_unicode(struct place *p, struct utf8 *out)
{
	uint32_t c, low;

	if (!take_hex(p, &c) || !c || (c >= 0xdc00 && c < 0xe000))
		return false;
	if (c >= 0xd800 && c < 0xdc00) {
		if (p->end - p->at < 2 || p->at[0] != '\\' || p->at[1] != 'u')
			return false;
		p->at += 2;
		if (!take_hex(p, &low) || low < 0xdc00 || low >= 0xe000)
			return false;
		c = 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
	}
	*out = utf8_of(c);
	return true;
}

static bool take_character(struct place *p, struct utf8 *out)
{
	static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *name;

	if ((unsigned char)*p->at < ' ')
		return false;
	*out = (struct utf8){ { *p->at }, 1 };
	if (*p->at++ != '\\')
		return true;
	if (p->at >= p->end)
		return false;
	if (*p->at == 'u') {
		p->at++;
		return take_unicode(p, out);
	}
	name = memchr(names, *p->at++, sizeof names - 1);
	out->c[0] = name ? meant[name - names] : '\0';
	return name;
}

/* A text; of one that does not fit *fits is false. out NULL: it is not wanted. */
static bool take_text(struct place *p, char *out, size_t size, bool *fits)
{
	size_t n = 0;

	*fits = true;
	if (!take(p, '"'))
		return false;
	while (p->at < p->end && *p->at != '"') {
		struct utf8 c;

		if (!take_character(p, &c))
			return false;
		*fits = *fits && n + c.n < size;
		if (out && *fits)
			memcpy(out + n, c.c, c.n);
		n += c.n;
	}
	if (out && size)
		out[*fits ? n : 0] = '\0';
	return p->at++ < p->end;
}

/* A number, true, false or null, as it is written. */
static bool take_word(struct place *p, char *out, size_t size, bool *fits)
{
	const char *from;

	skip_blanks(p);
	from = p->at;
	while (p->at < p->end && *p->at &&
	       strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *p->at))
		p->at++;
	*fits = (size_t)(p->at - from) < size;
	if (out && *fits) {
		memcpy(out, from, (size_t)(p->at - from));
		out[p->at - from] = '\0';
	}
	return p->at > from;
}

static bool skip_value(struct place *p);

/* The members of what was opened, up to its end. */
static bool skip_members(struct place *p, char close)
{
	bool fits, good = true;

	if (take(p, close))
		return true;
	do {
		if (close == '}')
			good = take_text(p, NULL, 0, &fits) && take(p, ':');
		good = good && skip_value(p);
	} while (good && take(p, ','));
	return good && take(p, close);
}

static bool skip_value(struct place *p)
{
	bool fits, good = false;

	if (p->depth++ < DEPTH_MAX) {
		if (take(p, '{'))
			good = skip_members(p, '}');
		else if (take(p, '['))
			good = skip_members(p, ']');
		else if (p->at < p->end && *p->at == '"')
			good = take_text(p, NULL, 0, &fits);
		else
			good = take_word(p, NULL, 0, &fits);
	}
	p->depth--;
	return good;
}

/* Go to the value of a key of the object here. */
static bool find_key(struct place *p, const char *key, size_t n)
{
	char name[64];
	bool fits;

	while (take(p, '['))
		;
	if (!take(p, '{'))
		return false;
	do {
		if (!take_text(p, name, sizeof name, &fits) || !take(p, ':'))
			return false;
		if (fits && strlen(name) == n && !memcmp(name, key, n))
			return true;
	} while (skip_value(p) && take(p, ','));
	return false;
}

bool json_read_text(const char *document, size_t length, const char *path, char *out, size_t size)
{
	struct place p = { document, document + length, 0 };
	bool fits, good;

	for (size_t n; *path; path += n + (path[n] == '.')) {
		n = strcspn(path, ".");
		if (!find_key(&p, path, n))
			return false;
	}
	skip_blanks(&p);
	if (p.at < p.end && *p.at == '"')
		good = take_text(&p, out, size, &fits);
	else
		good = take_word(&p, out, size, &fits) && fits && strcmp(out, "null") != 0;
	return good && fits && escape_is_utf8(out);
}
