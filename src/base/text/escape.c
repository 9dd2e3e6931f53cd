/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/escape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- columns of a terminal ---- */

struct range {
	uint32_t first, last;
};

/* Both from the Unicode Character Database 14: categories Mn, Me and Cf but for those that have a
 * form of their own, and vowels and finals of Hangul; East Asian Width W and F. Code points that
 * are not assigned may lie in between. */
/* clang-format off */
static const struct range none[] = {
	{ 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd }, { 0x5bf, 0x5bf }, { 0x5c1, 0x5c2 },
	{ 0x5c4, 0x5c5 }, { 0x5c7, 0x5c7 }, { 0x610, 0x61a }, { 0x61c, 0x61c }, { 0x64b, 0x65f },
	{ 0x670, 0x670 }, { 0x6d6, 0x6dc }, { 0x6df, 0x6e4 }, { 0x6e7, 0x6e8 }, { 0x6ea, 0x6ed },
	{ 0x711, 0x711 }, { 0x730, 0x74a }, { 0x7a6, 0x7b0 }, { 0x7eb, 0x7f3 }, { 0x7fd, 0x7fd },
	{ 0x816, 0x819 }, { 0x81b, 0x823 }, { 0x825, 0x827 }, { 0x829, 0x82d }, { 0x859, 0x85b },
	{ 0x898, 0x89f }, { 0x8ca, 0x8e1 }, { 0x8e3, 0x902 }, { 0x93a, 0x93a }, { 0x93c, 0x93c },
	{ 0x941, 0x948 }, { 0x94d, 0x94d }, { 0x951, 0x957 }, { 0x962, 0x963 }, { 0x981, 0x981 },
	{ 0x9bc, 0x9bc }, { 0x9c1, 0x9c4 }, { 0x9cd, 0x9cd }, { 0x9e2, 0x9e3 }, { 0x9fe, 0xa02 },
	{ 0xa3c, 0xa3c }, { 0xa41, 0xa51 }, { 0xa70, 0xa71 }, { 0xa75, 0xa75 }, { 0xa81, 0xa82 },
	{ 0xabc, 0xabc }, { 0xac1, 0xac8 }, { 0xacd, 0xacd }, { 0xae2, 0xae3 }, { 0xafa, 0xb01 },
	{ 0xb3c, 0xb3c }, { 0xb3f, 0xb3f }, { 0xb41, 0xb44 }, { 0xb4d, 0xb56 }, { 0xb62, 0xb63 },
	{ 0xb82, 0xb82 }, { 0xbc0, 0xbc0 }, { 0xbcd, 0xbcd }, { 0xc00, 0xc00 }, { 0xc04, 0xc04 },
	{ 0xc3c, 0xc3c }, { 0xc3e, 0xc40 }, { 0xc46, 0xc56 }, { 0xc62, 0xc63 }, { 0xc81, 0xc81 },
	{ 0xcbc, 0xcbc }, { 0xcbf, 0xcbf }, { 0xcc6, 0xcc6 }, { 0xccc, 0xccd }, { 0xce2, 0xce3 },
	{ 0xd00, 0xd01 }, { 0xd3b, 0xd3c }, { 0xd41, 0xd44 }, { 0xd4d, 0xd4d }, { 0xd62, 0xd63 },
	{ 0xd81, 0xd81 }, { 0xdca, 0xdca }, { 0xdd2, 0xdd6 }, { 0xe31, 0xe31 }, { 0xe34, 0xe3a },
	{ 0xe47, 0xe4e }, { 0xeb1, 0xeb1 }, { 0xeb4, 0xebc }, { 0xec8, 0xecd }, { 0xf18, 0xf19 },
	{ 0xf35, 0xf35 }, { 0xf37, 0xf37 }, { 0xf39, 0xf39 }, { 0xf71, 0xf7e }, { 0xf80, 0xf84 },
	{ 0xf86, 0xf87 }, { 0xf8d, 0xfbc }, { 0xfc6, 0xfc6 }, { 0x102d, 0x1030 },
	{ 0x1032, 0x1037 }, { 0x1039, 0x103a }, { 0x103d, 0x103e }, { 0x1058, 0x1059 },
	{ 0x105e, 0x1060 }, { 0x1071, 0x1074 }, { 0x1082, 0x1082 }, { 0x1085, 0x1086 },
	{ 0x108d, 0x108d }, { 0x109d, 0x109d }, { 0x1160, 0x11ff }, { 0x135d, 0x135f },
	{ 0x1712, 0x1714 }, { 0x1732, 0x1733 }, { 0x1752, 0x1753 }, { 0x1772, 0x1773 },
	{ 0x17b4, 0x17b5 }, { 0x17b7, 0x17bd }, { 0x17c6, 0x17c6 }, { 0x17c9, 0x17d3 },
	{ 0x17dd, 0x17dd }, { 0x180b, 0x180f }, { 0x1885, 0x1886 }, { 0x18a9, 0x18a9 },
	{ 0x1920, 0x1922 }, { 0x1927, 0x1928 }, { 0x1932, 0x1932 }, { 0x1939, 0x193b },
	{ 0x1a17, 0x1a18 }, { 0x1a1b, 0x1a1b }, { 0x1a56, 0x1a56 }, { 0x1a58, 0x1a60 },
	{ 0x1a62, 0x1a62 }, { 0x1a65, 0x1a6c }, { 0x1a73, 0x1a7f }, { 0x1ab0, 0x1b03 },
	{ 0x1b34, 0x1b34 }, { 0x1b36, 0x1b3a }, { 0x1b3c, 0x1b3c }, { 0x1b42, 0x1b42 },
	{ 0x1b6b, 0x1b73 }, { 0x1b80, 0x1b81 }, { 0x1ba2, 0x1ba5 }, { 0x1ba8, 0x1ba9 },
	{ 0x1bab, 0x1bad }, { 0x1be6, 0x1be6 }, { 0x1be8, 0x1be9 }, { 0x1bed, 0x1bed },
	{ 0x1bef, 0x1bf1 }, { 0x1c2c, 0x1c33 }, { 0x1c36, 0x1c37 }, { 0x1cd0, 0x1cd2 },
	{ 0x1cd4, 0x1ce0 }, { 0x1ce2, 0x1ce8 }, { 0x1ced, 0x1ced }, { 0x1cf4, 0x1cf4 },
	{ 0x1cf8, 0x1cf9 }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x202a, 0x202e },
	{ 0x2060, 0x206f }, { 0x20d0, 0x20f0 }, { 0x2cef, 0x2cf1 }, { 0x2d7f, 0x2d7f },
	{ 0x2de0, 0x2dff }, { 0x302a, 0x302d }, { 0x3099, 0x309a }, { 0xa66f, 0xa672 },
	{ 0xa674, 0xa67d }, { 0xa69e, 0xa69f }, { 0xa6f0, 0xa6f1 }, { 0xa802, 0xa802 },
	{ 0xa806, 0xa806 }, { 0xa80b, 0xa80b }, { 0xa825, 0xa826 }, { 0xa82c, 0xa82c },
	{ 0xa8c4, 0xa8c5 }, { 0xa8e0, 0xa8f1 }, { 0xa8ff, 0xa8ff }, { 0xa926, 0xa92d },
	{ 0xa947, 0xa951 }, { 0xa980, 0xa982 }, { 0xa9b3, 0xa9b3 }, { 0xa9b6, 0xa9b9 },
	{ 0xa9bc, 0xa9bd }, { 0xa9e5, 0xa9e5 }, { 0xaa29, 0xaa2e }, { 0xaa31, 0xaa32 },
	{ 0xaa35, 0xaa36 }, { 0xaa43, 0xaa43 }, { 0xaa4c, 0xaa4c }, { 0xaa7c, 0xaa7c },
	{ 0xaab0, 0xaab0 }, { 0xaab2, 0xaab4 }, { 0xaab7, 0xaab8 }, { 0xaabe, 0xaabf },
	{ 0xaac1, 0xaac1 }, { 0xaaec, 0xaaed }, { 0xaaf6, 0xaaf6 }, { 0xabe5, 0xabe5 },
	{ 0xabe8, 0xabe8 }, { 0xabed, 0xabed }, { 0xd7b0, 0xd7ff }, { 0xfb1e, 0xfb1e },
	{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
	{ 0x101fd, 0x101fd }, { 0x102e0, 0x102e0 }, { 0x10376, 0x1037a }, { 0x10a01, 0x10a0f },
	{ 0x10a38, 0x10a3f }, { 0x10ae5, 0x10ae6 }, { 0x10d24, 0x10d27 }, { 0x10eab, 0x10eac },
	{ 0x10f46, 0x10f50 }, { 0x10f82, 0x10f85 }, { 0x11001, 0x11001 }, { 0x11038, 0x11046 },
	{ 0x11070, 0x11070 }, { 0x11073, 0x11074 }, { 0x1107f, 0x11081 }, { 0x110b3, 0x110b6 },
	{ 0x110b9, 0x110ba }, { 0x110c2, 0x110c2 }, { 0x11100, 0x11102 }, { 0x11127, 0x1112b },
	{ 0x1112d, 0x11134 }, { 0x11173, 0x11173 }, { 0x11180, 0x11181 }, { 0x111b6, 0x111be },
	{ 0x111c9, 0x111cc }, { 0x111cf, 0x111cf }, { 0x1122f, 0x11231 }, { 0x11234, 0x11234 },
	{ 0x11236, 0x11237 }, { 0x1123e, 0x1123e }, { 0x112df, 0x112df }, { 0x112e3, 0x112ea },
	{ 0x11300, 0x11301 }, { 0x1133b, 0x1133c }, { 0x11340, 0x11340 }, { 0x11366, 0x11374 },
	{ 0x11438, 0x1143f }, { 0x11442, 0x11444 }, { 0x11446, 0x11446 }, { 0x1145e, 0x1145e },
	{ 0x114b3, 0x114b8 }, { 0x114ba, 0x114ba }, { 0x114bf, 0x114c0 }, { 0x114c2, 0x114c3 },
	{ 0x115b2, 0x115b5 }, { 0x115bc, 0x115bd }, { 0x115bf, 0x115c0 }, { 0x115dc, 0x115dd },
	{ 0x11633, 0x1163a }, { 0x1163d, 0x1163d }, { 0x1163f, 0x11640 }, { 0x116ab, 0x116ab },
	{ 0x116ad, 0x116ad }, { 0x116b0, 0x116b5 }, { 0x116b7, 0x116b7 }, { 0x1171d, 0x1171f },
	{ 0x11722, 0x11725 }, { 0x11727, 0x1172b }, { 0x1182f, 0x11837 }, { 0x11839, 0x1183a },
	{ 0x1193b, 0x1193c }, { 0x1193e, 0x1193e }, { 0x11943, 0x11943 }, { 0x119d4, 0x119db },
	{ 0x119e0, 0x119e0 }, { 0x11a01, 0x11a0a }, { 0x11a33, 0x11a38 }, { 0x11a3b, 0x11a3e },
	{ 0x11a47, 0x11a47 }, { 0x11a51, 0x11a56 }, { 0x11a59, 0x11a5b }, { 0x11a8a, 0x11a96 },
	{ 0x11a98, 0x11a99 }, { 0x11c30, 0x11c3d }, { 0x11c3f, 0x11c3f }, { 0x11c92, 0x11ca7 },
	{ 0x11caa, 0x11cb0 }, { 0x11cb2, 0x11cb3 }, { 0x11cb5, 0x11cb6 }, { 0x11d31, 0x11d45 },
	{ 0x11d47, 0x11d47 }, { 0x11d90, 0x11d91 }, { 0x11d95, 0x11d95 }, { 0x11d97, 0x11d97 },
	{ 0x11ef3, 0x11ef4 }, { 0x13430, 0x13438 }, { 0x16af0, 0x16af4 }, { 0x16b30, 0x16b36 },
	{ 0x16f4f, 0x16f4f }, { 0x16f8f, 0x16f92 }, { 0x16fe4, 0x16fe4 }, { 0x1bc9d, 0x1bc9e },
	{ 0x1bca0, 0x1cf46 }, { 0x1d167, 0x1d169 }, { 0x1d173, 0x1d182 }, { 0x1d185, 0x1d18b },
	{ 0x1d1aa, 0x1d1ad }, { 0x1d242, 0x1d244 }, { 0x1da00, 0x1da36 }, { 0x1da3b, 0x1da6c },
	{ 0x1da75, 0x1da75 }, { 0x1da84, 0x1da84 }, { 0x1da9b, 0x1daaf }, { 0x1e000, 0x1e02a },
	{ 0x1e130, 0x1e136 }, { 0x1e2ae, 0x1e2ae }, { 0x1e2ec, 0x1e2ef }, { 0x1e8d0, 0x1e8d6 },
	{ 0x1e944, 0x1e94a }, { 0xe0001, 0xe01ef },
};

static const struct range two[] = {
	{ 0x1100, 0x115f }, { 0x231a, 0x231b }, { 0x2329, 0x232a }, { 0x23e9, 0x23ec },
	{ 0x23f0, 0x23f0 }, { 0x23f3, 0x23f3 }, { 0x25fd, 0x25fe }, { 0x2614, 0x2615 },
	{ 0x2648, 0x2653 }, { 0x267f, 0x267f }, { 0x2693, 0x2693 }, { 0x26a1, 0x26a1 },
	{ 0x26aa, 0x26ab }, { 0x26bd, 0x26be }, { 0x26c4, 0x26c5 }, { 0x26ce, 0x26ce },
	{ 0x26d4, 0x26d4 }, { 0x26ea, 0x26ea }, { 0x26f2, 0x26f3 }, { 0x26f5, 0x26f5 },
	{ 0x26fa, 0x26fa }, { 0x26fd, 0x26fd }, { 0x2705, 0x2705 }, { 0x270a, 0x270b },
	{ 0x2728, 0x2728 }, { 0x274c, 0x274c }, { 0x274e, 0x274e }, { 0x2753, 0x2755 },
	{ 0x2757, 0x2757 }, { 0x2795, 0x2797 }, { 0x27b0, 0x27b0 }, { 0x27bf, 0x27bf },
	{ 0x2b1b, 0x2b1c }, { 0x2b50, 0x2b50 }, { 0x2b55, 0x2b55 }, { 0x2e80, 0x3029 },
	{ 0x302e, 0x303e }, { 0x3041, 0x3096 }, { 0x309b, 0x3247 }, { 0x3250, 0x4dbf },
	{ 0x4e00, 0xa4c6 }, { 0xa960, 0xa97c }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfad9 },
	{ 0xfe10, 0xfe19 }, { 0xfe30, 0xfe6b }, { 0xff01, 0xff60 }, { 0xffe0, 0xffe6 },
	{ 0x16fe0, 0x16fe3 }, { 0x16ff0, 0x1b2fb }, { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf },
	{ 0x1f18e, 0x1f18e }, { 0x1f191, 0x1f19a }, { 0x1f200, 0x1f320 }, { 0x1f32d, 0x1f335 },
	{ 0x1f337, 0x1f37c }, { 0x1f37e, 0x1f393 }, { 0x1f3a0, 0x1f3ca }, { 0x1f3cf, 0x1f3d3 },
	{ 0x1f3e0, 0x1f3f0 }, { 0x1f3f4, 0x1f3f4 }, { 0x1f3f8, 0x1f43e }, { 0x1f440, 0x1f440 },
	{ 0x1f442, 0x1f4fc }, { 0x1f4ff, 0x1f53d }, { 0x1f54b, 0x1f54e }, { 0x1f550, 0x1f567 },
	{ 0x1f57a, 0x1f57a }, { 0x1f595, 0x1f596 }, { 0x1f5a4, 0x1f5a4 }, { 0x1f5fb, 0x1f64f },
	{ 0x1f680, 0x1f6c5 }, { 0x1f6cc, 0x1f6cc }, { 0x1f6d0, 0x1f6d2 }, { 0x1f6d5, 0x1f6df },
	{ 0x1f6eb, 0x1f6ec }, { 0x1f6f4, 0x1f6fc }, { 0x1f7e0, 0x1f7f0 }, { 0x1f90c, 0x1f93a },
	{ 0x1f93c, 0x1f945 }, { 0x1f947, 0x1f9ff }, { 0x1fa70, 0x1faf6 }, { 0x20000, 0x3134a },
};
/* clang-format on */

static bool is_in(const struct range *r, size_t n, uint32_t c)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r[middle].last < c)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && r[low].first <= c;
}

unsigned escape_columns(uint32_t c)
{
	if (c < 0x300)
		return 1;
	if (is_in(none, sizeof none / sizeof none[0], c))
		return 0;
	return is_in(two, sizeof two / sizeof two[0], c) ? 2 : 1;
}

/* ---- escapes ---- */

/* The character at s and its length, or 0 when the bytes there are not UTF-8 (overlong forms,
 * surrogates and numbers beyond U+10FFFF are not). */
static size_t decode(const char *text, uint32_t *out)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *s = (const uint8_t *)text;
	size_t n = s[0] < 0x80   ? 1
		   : s[0] < 0xc0 ? 0
		   : s[0] < 0xe0 ? 2
		   : s[0] < 0xf0 ? 3
		   : s[0] < 0xf8 ? 4
				 : 0;
	uint32_t c = n > 1 ? s[0] & (0x7fU >> n) : s[0];

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) /* the end of the text, too */
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (n > 1 && (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)))
		return 0;
	*out = c;
	return n;
}

/* C0, DEL, C1, line separators, and what turns the direction of the text around it. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* One character of n bytes (0: no UTF-8) as the terminal may have it. */
static void terminal_escaped(const char *text, size_t n, uint32_t c, char piece[ESCAPE_PIECE])
{
	if (c == '\n' || c == '\t' || c == '\r')
		snprintf(piece, ESCAPE_PIECE, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
	else if (n > 1)
		snprintf(piece, ESCAPE_PIECE, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
	else
		snprintf(piece, ESCAPE_PIECE, "\\x%02x", (unsigned)(uint8_t)*text);
}

/* One character for the terminal into piece; returns the bytes read. */
static size_t terminal_piece(const char *text, char piece[ESCAPE_PIECE])
{
	uint32_t c = 0;
	size_t n = decode(text, &c);

	if (n && !is_control(c))
		snprintf(piece, ESCAPE_PIECE, "%.*s", (int)n, text);
	else
		terminal_escaped(text, n, c, piece);
	return n ? n : 1;
}

size_t escape_terminal_cell(const char *text, char piece[ESCAPE_PIECE], unsigned *columns)
{
	uint32_t c = 0;
	size_t n = decode(text, &c);

	*columns = n && !is_control(c) ? escape_columns(c) : 0;
	if (*columns)
		return terminal_piece(text, piece);
	terminal_escaped(text, n, c, piece);
	*columns = (unsigned)strlen(piece);
	return n ? n : 1;
}

void escape_terminal(struct bytes *b, const char *text)
{
	char piece[ESCAPE_PIECE];

	while (*text) {
		text += terminal_piece(text, piece);
		bytes_puts(b, piece);
	}
}

const char *escape_terminal_into(char *out, size_t size, const char *text)
{
	char piece[ESCAPE_PIECE];
	size_t len = 0, cut = 0;

	if (!size)
		return out;
	while (*text) {
		size_t n;

		text += terminal_piece(text, piece);
		n = strlen(piece);
		if (len + n >= size) {
			snprintf(out + cut, size - cut, "...");
			return out;
		}
		memcpy(out + len, piece, n);
		len += n;
		if (len + 3 < size)
			cut = len;
	}
	out[len] = '\0';
	return out;
}

static void json_character(struct bytes *b, const char *text, size_t n, uint32_t c)
{
	static const char names[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
	const char *named = c < 0x80 ? strchr(names, (int)c) : NULL;

	if (named)
		bytes_put(b, (const char[]){ '\\', letters[named - names] }, 2);
	else if (is_control(c) || c == '<' || c == '>' || c == '&')
		bytes_printf(b, "\\u%04x", c);
	else
		bytes_put(b, text, n);
}

/* How many characters stand for themselves: most texts are nothing else. */
static size_t plain_in_json(const char *text)
{
	size_t n = 0;

	while (text[n] >= ' ' && text[n] < 0x7f && text[n] != '"' && text[n] != '\\' &&
	       text[n] != '<' && text[n] != '>' && text[n] != '&')
		n++;
	return n;
}

void escape_json(struct bytes *b, const char *text)
{
	while (*text) {
		size_t n = plain_in_json(text);
		uint32_t c;

		bytes_put(b, text, n);
		text += n;
		if (!*text)
			break;
		n = decode(text, &c);
		if (n)
			json_character(b, text, n, c);
		else
			bytes_puts(b, replacement);
		text += n ? n : 1;
	}
}

static const char *html_entity(uint32_t c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static bool is_blank(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r';
}

void escape_html(struct bytes *b, const char *text)
{
	while (*text) {
		uint32_t c;
		size_t n = decode(text, &c);
		const char *entity = n ? html_entity(c) : NULL;

		if (entity)
			bytes_puts(b, entity);
		else if (!n || (is_control(c) && !is_blank(c)))
			bytes_puts(b, replacement);
		else
			bytes_put(b, text, n);
		text += n ? n : 1;
	}
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Of a mark in the middle of a word, and of a point, only what makes emphasis or a link. */
static bool is_markdown(const char *text, const char *at)
{
	switch (*at) {
	case '_':
		return at == text || !is_word(at[-1]) || !is_word(at[1]);
	case ':':
		return at[1] == '/';
	case '.':
		return at > text && (at[-1] == 'w' || at[-1] == 'W');
	default:
		return strchr("\\`*[]|~#@$", *at) != NULL;
	}
}

void escape_markdown(struct bytes *b, const char *text)
{
	for (const char *at = text; *at;) {
		uint32_t c;
		size_t n = decode(at, &c);
		const char *entity = n ? html_entity(c) : NULL;

		if (entity)
			bytes_puts(b, entity);
		else if (!n || is_control(c))
			bytes_puts(b, replacement);
		else if (c < 0x80 && is_markdown(text, at))
			bytes_printf(b, "&#%u;", c);
		else
			bytes_put(b, at, n);
		at += n ? n : 1;
	}
}

/* Full-width = + - @ are formulas to some spreadsheets. */
static bool starts_formula(const char *text)
{
	return (*text && strchr("=+-@\t\r\n", *text)) || !strncmp(text, "\xef\xbc\x9d", 3) ||
	       !strncmp(text, "\xef\xbc\x8b", 3) || !strncmp(text, "\xef\xbc\x8d", 3) ||
	       !strncmp(text, "\xef\xbc\xa0", 3);
}

/* As plain_in_json. */
static size_t plain_in_csv(const char *text)
{
	size_t n = 0;

	while (text[n] >= ' ' && text[n] < 0x7f && text[n] != '"' && text[n] != ',')
		n++;
	return n;
}

void escape_csv(struct bytes *b, const char *text)
{
	size_t plain = plain_in_csv(text);
	bool quoted;

	if (!text[plain] && !starts_formula(text)) {
		bytes_put(b, text, plain);
		return;
	}
	quoted = text[plain + strcspn(text + plain, "\",\r\n")] != '\0';
	if (quoted)
		bytes_u8(b, '"');
	if (starts_formula(text))
		bytes_u8(b, '\'');
	while (*text) {
		uint32_t c;
		size_t n = decode(text, &c);

		if (!n || (is_control(c) && !is_blank(c)))
			bytes_puts(b, replacement);
		else if (c == '"')
			bytes_puts(b, "\"\"");
		else
			bytes_put(b, text, n);
		text += n ? n : 1;
	}
	if (quoted)
		bytes_u8(b, '"');
}

void escape_openmetrics(struct bytes *b, const char *text)
{
	while (*text) {
		uint32_t c = 0;
		size_t n = decode(text, &c);

		if (c == '\n')
			bytes_puts(b, "\\n");
		else if (!n || is_control(c))
			bytes_puts(b, replacement);
		else if (c == '"' || c == '\\')
			bytes_put(b, (const char[]){ '\\', (char)c }, 2);
		else
			bytes_put(b, text, n);
		text += n ? n : 1;
	}
}

void escape_utf8(struct bytes *b, const char *text)
{
	while (*text) {
		uint32_t c;
		size_t n = decode(text, &c);

		if (n)
			bytes_put(b, text, n);
		else
			bytes_puts(b, replacement);
		text += n ? n : 1;
	}
}

bool escape_is_utf8(const char *text)
{
	while (*text) {
		uint32_t c;
		size_t n = decode(text, &c);

		if (!n)
			return false;
		text += n;
	}
	return true;
}

void escape_shell(struct bytes *b, const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+:,./-";

	if (*text && !text[strspn(text, plain)]) {
		bytes_puts(b, text);
		return;
	}
	bytes_u8(b, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			bytes_puts(b, "'\\''");
		else
			bytes_u8(b, (uint8_t)*text);
	}
	bytes_u8(b, '\'');
}

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct bytes *out, const void *data, size_t n)
{
	const uint8_t *in = data;

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)in[i] << 16;

		v |= i + 1 < n ? (uint32_t)in[i + 1] << 8 : 0;
		v |= i + 2 < n ? in[i + 2] : 0;
		bytes_u8(out, (uint8_t)letters[v >> 18]);
		bytes_u8(out, (uint8_t)letters[v >> 12 & 63]);
		bytes_u8(out, (uint8_t)(i + 1 < n ? letters[v >> 6 & 63] : '='));
		bytes_u8(out, (uint8_t)(i + 2 < n ? letters[v & 63] : '='));
	}
}

bool base64_decode(struct bytes *out, const char *text)
{
	size_t n = strlen(text), padding = 0;

	while (padding < 2 && padding < n && text[n - 1 - padding] == '=')
		padding++;
	if (n % 4)
		return false;
	for (size_t i = 0; i < n; i += 4) {
		uint32_t v = 0;

		for (size_t k = i; k < i + 4; k++) {
			const char *at = k < n - padding ? strchr(letters, text[k]) : letters;

			if (!at)
				return false;
			v = v << 6 | (uint32_t)(at - letters);
		}
		for (size_t k = 0; k < (i + 4 == n ? 3 - padding : 3); k++)
			bytes_u8(out, (uint8_t)(v >> (16 - 8 * k)));
	}
	return !out->failed;
}
