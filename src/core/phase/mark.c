/* SPDX-License-Identifier: Apache-2.0 */
#include "core/phase/mark.h"

#include "base/text/decimal.h"
#include "base/text/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- lines of marks ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static char escaped(char c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c;
}

bool mark_word_read(const char **p, char *out, size_t size)
{
	const char *at = number_skip_blanks(*p);
	bool quoted = false, any = *at != '\0';
	size_t n = 0;

	for (; *at && (quoted || !is_blank(*at)); at++) {
		char c = *at;

		if (c == '"') {
			quoted = !quoted;
			continue;
		}
		if (quoted && c == '\\' && at[1])
			c = escaped(*++at);
		if (n + 1 < size)
			out[n] = c;
		n++;
	}
	*p = at;
	if (n < size)
		out[n] = '\0';
	return any && n < size;
}

void mark_word_write(struct bytes *b, const char *word)
{
	if (*word && !word[strcspn(word, " \t\n\"\\")]) {
		bytes_puts(b, word);
		return;
	}
	bytes_u8(b, '"');
	for (; *word; word++) {
		if (strchr("\"\\\n\t", *word))
			bytes_u8(b, '\\');
		bytes_u8(b, (uint8_t)(*word == '\n' ? 'n' : *word == '\t' ? 't' : *word));
	}
	bytes_u8(b, '"');
}

static bool char_put(char *out, size_t size, size_t *at, char c)
{
	if (*at + 1 >= size)
		return false;
	out[(*at)++] = c;
	return true;
}

static bool text_put(char *out, size_t size, size_t *at, const char *text, bool quoted)
{
	bool room = true;

	for (; *text && room; text++) {
		bool escaped = quoted && strchr("\"\\\n\t", *text);

		if (escaped)
			room = char_put(out, size, at, '\\');
		room = room && char_put(out, size, at,
					!escaped        ? *text
					: *text == '\n' ? 'n'
					: *text == '\t' ? 't'
							: *text);
	}
	return room;
}

bool mark_pair_write(char *out, size_t size, size_t *n, const char *key, const char *value)
{
	static const char special[] = " \t\n\"\\";
	bool quoted = key[strcspn(key, special)] || value[strcspn(value, special)];
	size_t at = *n;
	bool room = !at || char_put(out, size, &at, ' ');

	room = room && (!quoted || char_put(out, size, &at, '"')) &&
	       text_put(out, size, &at, key, quoted) && char_put(out, size, &at, '=') &&
	       text_put(out, size, &at, value, quoted) &&
	       (!quoted || char_put(out, size, &at, '"'));
	*n = room ? at : *n;
	if (size)
		out[*n] = '\0';
	return room;
}

bool mark_text_find(const char *text, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);
	char word[MARK_LINE_MAX];

	while (*number_skip_blanks(text))
		if (mark_word_read(&text, word, sizeof word) && !strncmp(word, key, n) &&
		    word[n] == '=' && strlen(word + n + 1) < size) {
			memcpy(out, word + n + 1, strlen(word + n + 1) + 1);
			return true;
		}
	return false;
}

static bool take(const char **p, char c)
{
	bool there = **p == c;

	*p += there;
	return there;
}

/* "@MONOTONIC,UTC,BYTES " */
static bool read_times(struct mark_line *out, const char **p, const char *end)
{
	uint64_t mono, utc, rest;

	out->timed = take(p, '@');
	if (!out->timed)
		return true;
	if (!number_u64(p, &mono) || !take(p, ',') || !number_u64(p, &utc) || !take(p, ',') ||
	    !number_u64(p, &rest) || mono > INT64_MAX || utc > INT64_MAX || **p != ' ')
		return false;
	out->mono_ns = (int64_t)mono;
	out->utc_ns = (int64_t)utc;
	return rest == (uint64_t)(end - *p - 1);
}

/* "loss=0.31" is a mark "loss" with that number: the word is a part of its text, too. */
static bool name_is_pair(char *name)
{
	char *number = strchr(name, '='), *end;

	if (!number || number == name || !isfinite(decimal_parse(number + 1, &end)) ||
	    end == number + 1 || *end)
		return false;
	*number = '\0';
	return true;
}

bool mark_line_parse(struct mark_line *out, const char *line, size_t n)
{
	const char *p = line, *word;

	*out = (struct mark_line){ .kind = (enum mark_kind) * line, .text = "" };
	if (!n || n > MARK_LINE_MAX || strlen(line) != n || !strchr("MBE", *p))
		return false;
	p++;
	if (!read_times(out, &p, line + n) || !is_blank(*p))
		return false;
	word = number_skip_blanks(p);
	if (!mark_word_read(&p, out->name, sizeof out->name) || !*out->name)
		return false;
	out->text = out->kind == MARK_POINT && *word != '"' && name_is_pair(out->name)
			    ? word
			    : number_skip_blanks(p);
	return true;
}

void mark_line_write(struct bytes *b, const struct mark_line *m)
{
	struct bytes rest = { 0 };

	mark_word_write(&rest, m->name);
	if (*m->text)
		bytes_printf(&rest, " %s", m->text);
	bytes_u8(b, (uint8_t)m->kind);
	if (m->timed)
		bytes_printf(b, "@%lld,%lld,%zu", (long long)m->mono_ns, (long long)m->utc_ns,
			     rest.len);
	bytes_u8(b, ' ');
	bytes_put(b, rest.data, rest.len);
	bytes_u8(b, '\n');
	b->failed |= rest.failed;
	bytes_free(&rest);
}

/* ---- lines of logs that are marks ---- */

enum { MATCHES = 10, COPIES_MAX = 1000 };

static const char form[] = "it is REGEX=NAME, as 'epoch ([0-9]+)=epoch n=\\1'";

/* Where the mark begins; NULL: there is none. out: the expression, with = for \=. */
static const char *split(const char *text, char *out, size_t size)
{
	size_t n = 0;

	for (; *text && *text != '='; text++) {
		if (text[0] == '\\' && text[1] == '=')
			text++;
		else if (text[0] == '\\' && text[1] && n + 1 < size)
			out[n++] = *text++;
		if (n + 1 >= size)
			return NULL;
		out[n++] = *text;
	}
	out[n] = '\0';
	return *text == '=' && n ? text + 1 : NULL;
}

/* The largest number between braces, at least 1. */
static double repeats(const char *at)
{
	uint64_t n, most = 1;

	while (*at && *at != '}')
		if (!number_u64(&at, &n))
			at += *at != '\0';
		else if (n > most)
			most = n;
	return (double)most;
}

/* At the end of what stands between brackets, or of the text. */
static const char *bracket_end(const char *at)
{
	at += at[1] == '^' ? 2 : 1;
	at += *at == ']';
	while (*at && *at != ']') {
		bool class = *at == '[' && strchr(":.=", at[1]) && at[1];
		const char *end = class ? strchr(at + 2, ']') : NULL;

		at = end ? end + 1 : at + 1;
	}
	return at;
}

/* What makes libc's compiler and matcher slow or large without bound; NULL: nothing. It writes out
 * what is repeated by number, and twice what has a +. */
static const char *regex_fault(const char *regex)
{
	bool repeated = false; /* what stands before this */
	double copies = 1;

	for (const char *at = regex; *at; at++) {
		bool repeats_it = strchr("*+?{", *at);

		if (repeats_it && repeated)
			return "it repeats what is repeated, as a*+";
		if (*at == '\\' && at[1] && isdigit((unsigned char)*++at))
			return "it refers back (\\1), which may take for ever";
		if (*at == '{' && repeats_it) {
			copies *= repeats(at + 1);
			at += strcspn(at, "}");
		} else if (*at == '+' && repeats_it && at > regex && at[-1] == ')') {
			copies *= 2;
		} else if (*at == '[' && (at == regex || at[-1] != '\\')) {
			at = bracket_end(at);
		}
		if (!*at)
			break;
		repeated = repeats_it;
	}
	return copies > COPIES_MAX ? "it repeats what is repeated more than 1,000 times" : NULL;
}

int mark_rule_parse(struct mark_rule *r, const char *text, struct err *e)
{
	char regex[MARK_RULE_MAX], why[200];
	const char *mark = split(text, regex, sizeof regex), *fault;
	int bad;

	*r = (struct mark_rule){ .kind = MARK_POINT };
	if (!mark || strlen(mark) >= sizeof r->mark)
		return err_set(e, -EINVAL, "'%.100s': %s", text, form);
	if (*mark && strchr("MBE", *mark) && mark[1] == ' ') {
		r->kind = (enum mark_kind) * mark;
		mark += 2;
	}
	mark += strspn(mark, " \t");
	if (!*mark)
		return err_set(e, -EINVAL, "'%.100s': %s", text, form);
	fault = regex_fault(regex);
	if (fault)
		return err_set(e, -EINVAL, "'%.100s': %s", regex, fault);
	bad = regcomp(&r->regex, regex, REG_EXTENDED);
	if (bad) {
		regerror(bad, &r->regex, why, sizeof why);
		return err_set(e, -EINVAL, "'%.100s' is not a regular expression: %s", regex, why);
	}
	memcpy(r->mark, mark, strlen(mark) + 1);
	return 0;
}

void mark_rule_free(struct mark_rule *r)
{
	regfree(&r->regex);
}

/* A word of the mark with what was matched. False: it does not fit. */
static bool expand(const char *word, size_t n, const char *line, const regmatch_t *m, char *out,
		   size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		const char *from = word + i;
		size_t many = 1;

		if (word[i] == '\\' && i + 1 < n && isdigit((unsigned char)word[i + 1])) {
			const regmatch_t *part = &m[word[++i] - '0'];

			from = part->rm_so < 0 ? "" : line + part->rm_so;
			many = part->rm_so < 0 ? 0 : (size_t)(part->rm_eo - part->rm_so);
		}
		if (used + many >= size)
			return false;
		memcpy(out + used, from, many);
		used += many;
	}
	out[used] = '\0';
	return true;
}

bool mark_rule_apply(const struct mark_rule *r, const char *line, struct mark_line *out,
		     struct bytes *text)
{
	char word[MARK_LINE_MAX];
	regmatch_t match[MATCHES];
	const char *at = r->mark;

	if (regexec(&r->regex, line, MATCHES, match, 0))
		return false;
	*out = (struct mark_line){ .kind = r->kind };
	bytes_reset(text);
	while (*at) {
		size_t n = strcspn(at, " \t");

		if (!expand(at, n, line, match, word, *out->name ? sizeof word : sizeof out->name))
			return false;
		if (!*out->name) {
			memcpy(out->name, word, strlen(word) + 1);
		} else {
			if (text->len)
				bytes_u8(text, ' ');
			mark_word_write(text, word);
		}
		if (!*out->name)
			return false;
		at += n;
		at += strspn(at, " \t");
	}
	bytes_u8(text, 0);
	out->text = (const char *)text->data;
	return !text->failed && text->len < MARK_LINE_MAX / 2;
}

#define ROW(metric, counter, of_unit, of_kind, sentence)                                           \
	{                                                                                          \
		.name = "scanner." metric, .domain = SCANNER_DOMAIN, .label = (counter),           \
		.help = (sentence), .unit = (of_unit), .kind = (of_kind),                          \
		.over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM,                          \
	}

const struct metric scanner_metrics[SCANNER_METRICS] = {
	ROW("read_bytes", "io_read", UNIT_BYTES, KIND_TOTAL,
	    "Bytes that the thread read from storage."),
	ROW("written_bytes", "io_write", UNIT_BYTES, KIND_TOTAL,
	    "Bytes that the thread wrote to storage."),
	ROW("used_frames", "frames_used", UNIT_COUNT, KIND_TOTAL, "Frames that operations used."),
	ROW("decoded_frames", "frames_decoded", UNIT_COUNT, KIND_TOTAL,
	    "Frames that were decoded."),
	ROW("fed_frames", "frames_fed", UNIT_COUNT, KIND_TOTAL,
	    "Frames that were given to a decoder."),
	ROW("memory_max_bytes", "max_memory_used", UNIT_BYTES, KIND_GAUGE,
	    "The most memory of the pool that was in use."),
	ROW("memory_bytes", "current_memory_used", UNIT_BYTES, KIND_GAUGE,
	    "Memory of the pool that was in use at the end."),
};
