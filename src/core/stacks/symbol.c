/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stacks/symbol.h"

#include <stdbool.h>
#include <string.h>

struct shortening {
	const char *at, *end;
	char *out;
	size_t n, room; /* room: without the NUL */
	bool cut;
};

const char *symbol_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put(struct shortening *s, const char *text, size_t n)
{
	if (n > s->room - s->n) {
		n = s->room - s->n;
		s->cut = true;
	}
	memcpy(s->out + s->n, text, n);
	s->n += n;
}

static bool starts(const struct shortening *s, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(s->end - s->at) >= n && !memcmp(s->at, with, n);
}

static bool ends(const struct shortening *s, const char *with)
{
	size_t n = strlen(with);

	return s->n >= n && !memcmp(s->out + s->n - n, with, n);
}

/* Go on behind what a bracket closes; brackets of comparisons and arrows are none. */
static void skip_brackets(struct shortening *s, char open, char close)
{
	size_t depth = 0;

	for (; s->at < s->end; s->at++) {
		if (*s->at == open)
			depth++;
		else if (*s->at == close && s->at[-1] != '-' && !--depth)
			break;
	}
	s->at += s->at < s->end;
}

/* "operator<<", "operator()", "operator new[]", "operator->": none of it is a bracket. */
static void put_operator(struct shortening *s)
{
	static const char *const names[] = { "()", "[]",     "<=>",       "<<=",  ">>=",    "->*",
					     "<<", ">>",     "<=",        ">=",   "->",     "<",
					     ">",  " new[]", " delete[]", " new", " delete" };

	put(s, "operator", 8);
	s->at += 8;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (starts(s, names[i])) {
			put(s, names[i], strlen(names[i]));
			s->at += strlen(names[i]);
			s->at += starts(s, " <"); /* its template arguments */
			return;
		}
	if (*s->at == ' ') { /* a conversion: to which type belongs to its name */
		while (s->at < s->end && *s->at != '(' && *s->at != '<')
			put(s, s->at++, 1);
	}
}

static bool in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Has the type a path, as "t::S<u8>", and not as "&[t::S]"? */
static bool has_path(const char *type, const char *end)
{
	size_t n = strcspn(type, "<> ([{&*!");

	if (*type == '<')
		return true;
	return type + n <= end && memmem(type, n, "::", 2);
}

/* Arguments of a template; "core::str::<impl str>::trim" is core::str::trim. */
static void skip_type(struct shortening *s)
{
	bool impl = starts(s, "<impl ") && ends(s, "::");

	skip_brackets(s, '<', '>');
	if (impl && starts(s, "::"))
		s->at += 2;
}

/* "<T as Trait>::f" of Rust is T::f; Trait::f, if T is a type without a path. */
static void put_rust_type(struct shortening *s)
{
	const char *as, *from = s->at++;
	size_t depth = 1;

	for (as = s->at; as < s->end; as++) {
		depth += *as == '<';
		depth -= *as == '>' && as[-1] != '-';
		if (!depth || (depth == 1 && s->end - as > 4 && !memcmp(as, " as ", 4)))
			break;
	}
	if (as < s->end && depth && !has_path(s->at, as)) {
		s->at = as + 4;
		as = s->end;
	}
	if (*s->at == '<') /* of a type within a function */
		put_rust_type(s);
	while (s->at < as && *s->at != '>')
		if (*s->at == '<')
			skip_type(s);
		else
			put(s, s->at++, 1);
	s->at = from;
	skip_brackets(s, '<', '>');
}

/* Parameters, unless it is a name without one, or a type of Go. True: nothing of the name follows.
 */
static bool take_parenthesis(struct shortening *s)
{
	const char *from = s->at;

	if (ends(s, ".") || starts(s, "(anonymous namespace)") || !s->n) {
		skip_brackets(s, '(', ')');
		put(s, from, (size_t)(s->at - from));
		return false;
	}
	skip_brackets(s, '(', ')');
	if (starts(s, " const"))
		s->at += 6;
	return !starts(s, "::");
}

/* The bytes of text without a character of UTF-8 that is cut at its end. */
static size_t whole_characters(const char *text, size_t n)
{
	size_t more = 0, length;
	unsigned char lead;

	while (more < n && ((unsigned char)text[n - 1 - more] & 0xc0) == 0x80)
		more++;
	lead = more < n ? (unsigned char)text[n - 1 - more] : 0;
	length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
	return more + 1 < length ? n - 1 - more : n;
}

/* Without what compilers and linkers append. */
static const char *name_end(const char *name)
{
	static const char *const appended[] = { " [clone", ".constprop.", ".part.",
						".isra.",  ".cold",       ".lto_priv.",
						".llvm.",  "@",           "[abi:" };
	size_t n = strlen(name);
	const char *end = name + n;

	for (size_t i = 0; i < sizeof appended / sizeof appended[0]; i++) {
		const char *at = strstr(name, appended[i]);

		if (at && at > name && at < end && strncmp(appended[i], "[abi:", 5) != 0)
			end = at;
	}
	/* the hash of Rust */
	if (end - name > 19 && !memcmp(end - 19, "::h", 3) &&
	    strspn(end - 16, "0123456789abcdef") >= 16)
		end -= 19;
	return end;
}

/* One character or bracket. True: the name is over. */
static bool step(struct shortening *s)
{
	switch (*s->at) {
	case '<':
		if (!s->n)
			put_rust_type(s);
		else
			skip_type(s);
		return false;
	case '(':
		return take_parenthesis(s);
	case '{': /* {lambda(int)#1} is {lambda} */
		put(s, s->at, strcspn(s->at, "(}"));
		put(s, "}", 1);
		skip_brackets(s, '{', '}');
		return false;
	case '[':
		skip_brackets(s, '[', ']');
		return false;
	case ' ': /* what is before it is the type of what it returns */
		s->n = 0;
		s->at++;
		return false;
	default:
		put(s, s->at++, 1);
		return false;
	}
}

/* A module's procedure as Fortran's compilers write it: "__heat_MOD_step" of GNU's, "heat_mp_step_"
 * of Intel's, "_QMheatPstep" and "_QMheatFstepPinner" of LLVM's. False: it is none. */
static bool put_fortran(struct shortening *s)
{
	const char *name = s->at, *end = s->end, *at, *mod;

	for (at = name; at < end && (in_word(*at) || *at == '.'); at++)
		;
	if (at < end || end - name < 4)
		return false;
	if (name[0] == '_' && name[1] == 'Q' && strchr("MFP", name[2])) {
		for (at = name + 3; at < end; at++)
			if (strchr("MSFP", *at))
				put(s, "::", 2);
			else
				put(s, at, 1);
		return true;
	}
	mod = strstr(name, "_MOD_");
	if (name[0] == '_' && name[1] == '_' && mod && mod > name + 2 && mod + 5 < end) {
		put(s, name + 2, (size_t)(mod - name) - 2);
		mod += strlen("_MOD_");
	} else {
		mod = strstr(name, "_mp_");
		if (!mod || mod == name || mod + 5 >= end || *--end != '_')
			return false;
		put(s, name, (size_t)(mod - name));
		mod += strlen("_mp_");
	}
	put(s, "::", 2);
	put(s, mod, mod < end ? (size_t)(end - mod) : 0);
	return true;
}

const char *symbol_short(const char *name, char *out, size_t size)
{
	struct shortening s = { name, name_end(name), out, 0, size - 1, false };

	/* Names with blanks that are no code's: "[vdso]", "py::f:/a b.py", "LazyCompile:~f a.js" */
	if (*name == '[' || strchr(name, ':') != strstr(name, "::") || !strncmp(name, "py::", 4)) {
		put(&s, name, strlen(name));
		s.at = s.end;
	}
	if (put_fortran(&s))
		s.at = s.end;
	while (s.at < s.end) {
		if (starts(&s, "operator") && (!s.n || !in_word(s.out[s.n - 1])))
			put_operator(&s);
		else if (step(&s))
			break;
	}
	if (!s.n)
		put(&s, name, strlen(name));
	if (s.cut)
		s.n = whole_characters(out, s.n);
	out[s.n] = '\0';
	return out;
}

void symbol_strip_paths(char *name)
{
	static const char ends[] = " :()<>,\"'";
	char *to = name;

	for (const char *at = name; *at;) {
		bool path = *at == '/' && at[1] && !strchr(ends, at[1]);
		size_t n = strcspn(at, ends + path); /* a directory's name may have blanks */
		const char *from = at, *end = at + n;

		if (path)
			while (from < end && memchr(from, '/', (size_t)(end - from)))
				from++;
		memmove(to, from, (size_t)(end - from));
		to += end - from;
		at = end;
		if (*at)
			*to++ = *at++;
	}
	*to = '\0';
}

bool symbol_is_beginning(const char *name)
{
	static const char *const names[] = { "start_thread", "clone",  "__clone",      "clone3",
					     "__clone3",     "_start", "__GI___clone3" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(name, names[i]))
			return true;
	return !strncmp(name, "__libc_start", strlen("__libc_start"));
}

bool symbol_is_cancellation(const char *name)
{
	static const char *const beginnings[] = { "__syscall_cancel", "__internal_syscall_cancel" };

	for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

bool symbol_is_of_library(const char *name, const char *file)
{
	static const char *const spaces[] = { "std::", "core::", "alloc::", "__gnu_cxx::" };
	char text[16]; /* the beginning is enough */

	symbol_short(name, text, sizeof text);
	for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
		if (!strncmp(text, spaces[i], strlen(spaces[i])))
			return true;
	return strstr(file, "/include/c++/") || strstr(file, "/library/alloc/");
}

bool symbol_is_of_python(const char *file)
{
	return strstr(file, "/lib/python") || strstr(file, "/site-packages/") ||
	       strstr(file, "/dist-packages/") || !strncmp(file, "<frozen", 7);
}
