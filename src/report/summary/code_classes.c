/* SPDX-License-Identifier: Apache-2.0 */
/* The classes of code that travel in the program: read, and as the page of the documents. */
#include "base/packed.h"
#include "report/assets.h"
#include "report/summary/code.h"

#include <errno.h>
#include <string.h>

int code_classes(struct classes *c, const char *site, struct err *e)
{
	struct bytes text = { 0 };
	int rc = packed_text(&text, asset_classes, asset_classes_end, "classes", e);

	if (!rc)
		rc = classes_add(c, "classes", (const char *)text.data, text.len, e);
	bytes_free(&text);
	return !rc && site ? classes_read(c, site, e) : rc;
}

static void put_patterns(struct bytes *out, const struct class_row *row, bool symbols)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < row->npatterns; i++) {
		const struct class_pattern *p = &row->pattern[i];

		if (!p->symbol == symbols)
			continue;
		bytes_puts(out, n++ ? " " : symbols ? "\nfunctions `" : "\nmodules `");
		bytes_puts(out, symbols ? p->symbol : p->module);
		if (symbols && p->module)
			bytes_printf(out, "@%s", p->module);
	}
	if (n)
		bytes_puts(out, "`\n");
}

static const char opening[] =
	"# Classes of code\n\n"
	"`sonde show` and the report page sum CPU time by kind of code. Which functions are of which kind "
	"is data: this page is\nmade from the files in `classes/`. `sonde show --classes FILE`, or "
	"`--classes DIR` with files NAME.classes, adds those of\nyour site: a class there replaces the "
	"built-in one of its name, and a new one comes before all built-in ones.\n\n"
	"# How a class is written\n\n"
	"    class: compression\n"
	"    label: compression\n"
	"    about: One sentence.\n"
	"    claims: all\n"
	"    symbols: inflate deflate* ZSTD_* open@libfoo.so*\n"
	"    modules: libz.so* */site-packages/zlib/*\n\n"
	"`symbols` are patterns of the names of functions, without return type, template arguments and "
	"parameters\n(`std::vector::push_back`), and without what compilers append (`.part.0`). "
	"`NAME@MODULE` is a function of one library only.\n`modules` are patterns of the file names of "
	"programs and libraries; one with a slash is of the whole path. `*` is any\ntext, `?` any "
	"character, `[abc]` one of these. Both keys may come several times. An indented line continues "
	"the one\nbefore it; a line that begins with `#` is a comment.\n\n"
	"# What a sample counts for\n\n"
	"Sonde goes through a stack from the innermost function outwards. A function is of the first "
	"class with a pattern for\nits name, else of the first class with a pattern for its module. The "
	"first class found has the sample, if it claims\nthe functions further in:\n\n"
	"- `claims: all`: whatever its functions call. Copies within `MPI_Send` are MPI. Such a class "
	"comes before those that\n  claim less.\n"
	"- `claims: system`: what they call in the same module or in the C library. Waiting in the OpenMP "
	"library is OpenMP, but\n  the loop of your program that this library calls is not.\n"
	"- `claims: module` (the default): what they call in the same module. `qsort` claims the functions "
	"of the C library that\n  it calls, not your comparison function.\n"
	"- `claims: nothing`: only the function itself is of the class.\n\n"
	"What no class claims is **own code**. A stack that ends in code of which neither function nor "
	"file is known is\n**unknown**. In a program that is linked statically all functions are in one "
	"module, so that a function of yours which\n`qsort` calls counts as sorting.\n\n"
	"# The classes\n";

int code_classes_markdown(struct bytes *out, struct err *e)
{
	static const char *const claims[] = { "what it calls in the same module",
					      "what it calls in the same module and the C library",
					      "whatever it calls", "nothing of what it calls" };
	struct classes c = { 0 };
	int rc = code_classes(&c, NULL, e);

	bytes_puts(out, opening);
	for (uint32_t i = CLASS_FIRST; i < c.n && !rc; i++) {
		const struct class_row *row = &c.row[i];

		bytes_printf(out, "\n## %s\n\n%s%sClass `%s`; it claims %s.\n", row->label,
			     row->about ? row->about : "", row->about ? "\n" : "", row->name,
			     claims[row->claims]);
		put_patterns(out, row, true);
		put_patterns(out, row, false);
	}
	classes_free(&c);
	if (!rc && out->failed)
		rc = err_set(e, -ENOMEM, "out of memory");
	return rc;
}
