/* SPDX-License-Identifier: Apache-2.0 */
/* classes.c - reads kinds of code: blocks of "key: value", one block a class. */
#include "core/stacks/classes.h"

#include "base/text/textfile.h"
#include "core/stacks/symbol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CLASS_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789-"
enum { NAME_MAX_BYTES = 64, PATTERN_MAX_BYTES = 256, SHORT_BYTES = 1024 };

enum { KEY_LABEL, KEY_ABOUT, KEY_SYMBOLS, KEY_MODULES, KEY_CLAIMS, KEYS };

static const char *const keys[KEYS] = {
	[KEY_LABEL] = "label",     [KEY_ABOUT] = "about",   [KEY_SYMBOLS] = "symbols",
	[KEY_MODULES] = "modules", [KEY_CLAIMS] = "claims",
};

struct parser {
	struct classes *classes;
	struct class_row *row; /* the block being read; NULL before the first */
	const char *file;
	unsigned row_line, seen;
	uint8_t fresh[CLASSES_MAX]; /* classes of this text */
	uint32_t nfresh;            /* of them, those that are new */
};

/* The two that no file says. */
static const struct {
	const char *name, *label, *about;
} own[CLASS_FIRST] = {
	[CLASS_UNKNOWN] = { "unknown", "unknown",
			    "Stacks of which nothing is known: code without a file, as from a compiler "
			    "that leaves no map, and what was left out." },
	[CLASS_OWN] = { "own", "own code", "Code that no class has." },
};

/* ---- matching ---- */

/* One character of text by what pattern begins with: ? any, [abc] one of them. How long that is in
 * the pattern; 0: it is another character. */
static size_t glob_one(const char *pattern, char text)
{
	const char *end = *pattern == '[' ? strchr(pattern + 1, ']') : NULL;

	if (end)
		return memchr(pattern + 1, text, (size_t)(end - pattern - 1))
			       ? (size_t)(end - pattern + 1)
			       : 0;
	return *pattern == '?' || *pattern == text;
}

/* * is any text. A [ without its ] is a character. */
static bool glob(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;
	size_t n;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			from = text;
		} else if (*pattern && (n = glob_one(pattern, *text))) {
			pattern += n;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* A pattern with a slash is of a whole path. */
static bool module_matches(const char *pattern, const char *path)
{
	return glob(pattern, strchr(pattern, '/') ? path : symbol_base(path));
}

static bool matches(const struct class_pattern *p, const char *function, const char *module)
{
	if (p->symbol && !glob(p->symbol, function))
		return false;
	return !p->module || module_matches(p->module, module);
}

static uint32_t match(const struct classes *c, bool by_symbol, const char *function,
		      const char *module)
{
	for (uint32_t i = CLASS_FIRST; i < c->n; i++) {
		const struct class_row *row = &c->row[i];

		for (uint32_t k = 0; k < row->npatterns; k++)
			if (!row->pattern[k].symbol == !by_symbol &&
			    matches(&row->pattern[k], function, module))
				return i;
	}
	return 0;
}

uint32_t classes_match(const struct classes *c, const char *function, const char *module,
		       bool *named)
{
	char text[SHORT_BYTES];
	uint32_t class = 0;

	if (*function)
		class = match(c, true, symbol_short(function, text, sizeof text), module);
	*named = class != 0;
	return class ? class : match(c, false, "", module);
}

bool classes_is_system(const char *module)
{
	static const char *const names[] = { "libc.so*",     "libc-2.*",   "libc.musl*",
					     "ld-linux*",    "ld-musl*",   "ld64.so*",
					     "ld-2.*",       "libm.so*",   "libm-2.*",
					     "libpthread*",  "libdl*.so*", "librt*.so*",
					     "libgcc_s.so*", "?vdso?*",    "linux-vdso*" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (glob(names[i], symbol_base(module)))
			return true;
	return false;
}

uint32_t classes_walk(struct class_walk *w, const struct classes *c, const struct class_step *f)
{
	enum class_claims claims = f->match ? c->row[f->match].claims : CLASS_CLAIMS_MODULE;

	if (f->module != w->last || (f->match && claims != CLASS_CLAIMS_MODULE))
		w->module = 0;
	if (f->module != w->system_of && !f->system)
		w->system = 0;
	w->last = f->module;
	/* What is known of a function is more than what is known of all that are in a library. */
	if (f->match && claims == CLASS_CLAIMS_MODULE && (f->named || !w->module))
		w->module = f->match;
	if (f->match && claims == CLASS_CLAIMS_SYSTEM) {
		w->system = f->match;
		w->system_of = f->module;
		w->all = 0;
	}
	if (f->match && claims == CLASS_CLAIMS_ALL) {
		w->all = f->match;
		w->system = 0;
	}
	if (w->system || w->all || w->module)
		return w->system ? w->system : w->all ? w->all : w->module;
	return f->match && claims == CLASS_CLAIMS_NOTHING ? f->match : CLASS_OWN;
}

const char *classes_name(const struct classes *c, uint32_t class)
{
	return class < CLASS_FIRST ? own[class].name : class < c->n ? c->row[class].name : "";
}

const char *classes_label(const struct classes *c, uint32_t class)
{
	return class < CLASS_FIRST ? own[class].label : class < c->n ? c->row[class].label : "";
}

uint32_t classes_find(const struct classes *c, const char *name)
{
	for (uint32_t i = CLASS_FIRST; i < c->n; i++)
		if (!strcmp(c->row[i].name, name))
			return i;
	return 0;
}

/* ---- values ---- */

static int pattern_add(struct class_row *row, char *word, bool of_symbols, const char **why)
{
	struct class_pattern *moved =
		realloc(row->pattern, (row->npatterns + 1) * sizeof *row->pattern);
	char *at = of_symbols ? strchr(word, '@') : NULL;

	*why = NULL;
	if (!moved)
		return -ENOMEM;
	row->pattern = moved;
	if (row->npatterns == CLASS_PATTERNS_MAX)
		*why = "a class has at most 1024 patterns";
	else if (strlen(word) >= PATTERN_MAX_BYTES)
		*why = "a pattern has at most 255 characters";
	else if (strspn(word, "*?") == strlen(word) || (at && (at == word || !at[1])))
		*why = "a pattern that says nothing: NAME, or NAME@MODULE";
	if (*why)
		return -EINVAL;
	if (at)
		*at++ = '\0';
	row->pattern[row->npatterns++] = of_symbols ? (struct class_pattern){ word, at }
						    : (struct class_pattern){ NULL, word };
	return 0;
}

/* Each pattern is a text of its own, which begins with its first part. */
static int take_patterns(struct class_row *row, const struct entry *en, bool of_symbols,
			 struct err *e)
{
	const char *p = en->value, *why = NULL;
	int rc = 0;

	while (!rc && *(p += strspn(p, " \t,"))) {
		size_t n = strcspn(p, " \t,");
		char *word = strndup(p, n);

		rc = word ? pattern_add(row, word, of_symbols, &why) : -ENOMEM;
		if (rc)
			free(word);
		else
			p += n;
	}
	return rc == -EINVAL ? entry_fault(en, (size_t)(p - en->value), why, e) : rc;
}

static int take_text(char **to, const char *value)
{
	free(*to);
	*to = strdup(value);
	return *to ? 0 : -ENOMEM;
}

static int take(struct class_row *row, int key, const struct entry *en, struct err *e)
{
	static const char *const claims[] = { "module", "system", "all", "nothing", NULL };
	struct err why = { "" };
	unsigned choice = 0;

	switch (key) {
	case KEY_LABEL:
		return take_text(&row->label, en->value);
	case KEY_ABOUT:
		return take_text(&row->about, en->value);
	case KEY_SYMBOLS:
	case KEY_MODULES:
		return take_patterns(row, en, key == KEY_SYMBOLS, e);
	default:
		if (entry_choice(&choice, claims, en->value, &why))
			return entry_fault(en, 0, why.text, e);
		row->claims = (enum class_claims)choice;
		return 0;
	}
}

/* ---- blocks ---- */

static void row_free(struct class_row *row)
{
	for (uint32_t i = 0; i < row->npatterns;
	     i++) /* its own text is of the symbol, or the module */
		free((char *)(row->pattern[i].symbol ? row->pattern[i].symbol
						     : row->pattern[i].module));
	free(row->pattern);
	free(row->name);
	free(row->label);
	free(row->about);
	*row = (struct class_row){ 0 };
}

static int row_finish(struct parser *p, struct err *e)
{
	const struct class_row *row = p->row;
	const char *why = NULL;

	if (!row)
		return 0;
	if (!row->label)
		why = "has no 'label:'";
	else if (!row->npatterns)
		why = "has neither 'symbols:' nor 'modules:'";
	return why ? entries_fault(p->file, p->row_line, 1, e, "class %s %s", row->name, why) : 0;
}

static int rows_begin(struct classes *c)
{
	c->row = calloc(CLASSES_MAX, sizeof *c->row);
	if (!c->row)
		return -ENOMEM;
	for (c->n = 0; c->n < CLASS_FIRST; c->n++) {
		struct class_row *row = &c->row[c->n];

		row->name = strdup(own[c->n].name);
		row->label = strdup(own[c->n].label);
		row->about = strdup(own[c->n].about);
		if (!row->name || !row->label || !row->about)
			return -ENOMEM;
	}
	return 0;
}

/* New ones of a text come before those of the texts before it, in their order. */
static uint32_t row_insert(struct parser *p)
{
	struct classes *c = p->classes;
	uint32_t at = CLASS_FIRST + p->nfresh;

	memmove(&c->row[at + 1], &c->row[at], (c->n - at) * sizeof *c->row);
	memmove(&p->fresh[at + 1], &p->fresh[at], c->n - at);
	c->row[at] = (struct class_row){ 0 };
	c->n++;
	p->nfresh++;
	return at;
}

static int row_place(struct parser *p, unsigned line, const char *name, uint32_t *place,
		     struct err *e)
{
	struct classes *c = p->classes;

	for (uint32_t i = 0; i < c->n; i++) {
		if (strcmp(c->row[i].name, name) != 0)
			continue;
		if (i < CLASS_FIRST || p->fresh[i])
			return entries_fault(p->file, line, 1, e, "there is a class %s already",
					     name);
		row_free(&c->row[i]);
		*place = i;
		return 0;
	}
	if (c->n == CLASSES_MAX)
		return entries_fault(p->file, line, 1, e, "there may be at most %d classes",
				     CLASSES_MAX);
	*place = row_insert(p);
	return 0;
}

static int row_begin(struct parser *p, unsigned line, const char *name, struct err *e)
{
	size_t n = strspn(name, CLASS_LETTERS);
	uint32_t place = 0;
	int rc = row_finish(p, e);

	if (rc)
		return rc;
	if (!n || name[n] || n >= NAME_MAX_BYTES)
		return entries_fault(p->file, line, 1, e,
				     "a class's name is made of a-z, 0-9 and '-', not '%.60s'",
				     name);
	rc = row_place(p, line, name, &place, e);
	if (rc)
		return rc;
	p->fresh[place] = 1;
	p->row = &p->classes->row[place];
	p->row_line = line;
	p->seen = 0;
	p->row->name = strdup(name);
	return p->row->name ? 0 : -ENOMEM;
}

static int take_entry(void *ctx, const struct entry *en, struct err *e)
{
	struct parser *p = ctx;
	int key = KEYS - 1, rc;

	if (strcmp(en->key, "class") == 0)
		return row_begin(p, en->line, en->value, e);
	while (key >= 0 && strcmp(keys[key], en->key) != 0)
		key--;
	/* Patterns may be in several entries: a value has an end. */
	if (key == KEY_SYMBOLS || key == KEY_MODULES)
		p->seen &= ~(1U << key);
	rc = entry_of_block(en, key, p->row, &p->seen, "docs/classes.md", e);
	return rc ? rc : take(p->row, key, en, e);
}

int classes_add(struct classes *c, const char *name, const char *text, size_t len, struct err *e)
{
	struct parser p = { .classes = c, .file = name };
	int rc;

	rc = c->row ? 0 : rows_begin(c);
	if (!rc)
		rc = entries_read(name, text, len, take_entry, &p, e);
	if (!rc)
		rc = row_finish(&p, e);
	return rc == -ENOMEM ? err_set(e, rc, "%.200s: out of memory", name) : rc;
}

static int add(void *classes, const char *path, const char *text, size_t len, struct err *e)
{
	return classes_add(classes, path, text, len, e);
}

int classes_read(struct classes *c, const char *path, struct err *e)
{
	const struct textfiles files = { .what = "classes",
					 .ending = ".classes",
					 .most = ENTRIES_BYTES_MAX,
					 .take = add,
					 .ctx = c };

	return textfiles_read(&files, path, e);
}

void classes_free(struct classes *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		row_free(&c->row[i]);
	free(c->row);
	*c = (struct classes){ 0 };
}
