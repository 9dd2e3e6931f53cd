# SPDX-License-Identifier: Apache-2.0
# The pages of the C library (section 3) from its headers, which are their only source: man.awk -v version=V -v out=DIR HEADER...
# A page for each header: its first comment, then its declarations as they stand there, each behind the comment that stands before it; and one
# for each function that leads to it.

function roff(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	return text ~ /^[.']/ ? "\\&" text : text
}

# What there was of the other kind is over: kind is "text", "code" or "".
function turn(kind) {
	if (kind == was)
		return
	if (was == "code")
		body = body ".fi\n.RE\n"
	if (kind && body !~ /\.SH [^\n]*\n$/)
		body = body ".PP\n"
	if (kind == "code")
		body = body ".RS 4\n.nf\n"
	was = kind
}

function say(kind, line) {
	turn(kind)
	body = body roff(line) "\n"
}

function section(title) {
	turn("")
	body = body ".SH " toupper(title) "\n"
}

# Tabs are 8 wide, and an indent is shown as 4.
function spaced(line,    at) {
	while (at = index(line, "\t"))
		line = substr(line, 1, at - 1) sprintf("%*s", 8 - (at - 1) % 8, "") substr(line, at + 1)
	if (line ~ /^        / && !braces)
		sub(/^ +/, "        ", line) # a declaration goes on
	else
		sub(/^        /, "    ", line)
	return line
}

function comment_line(line) {
	sub(/^ ?\/?\*+\/? ?/, "", line)
	sub(/ *\*\/$/, "", line)
	if (line ~ /^    /) # an example
		say("code", substr(line, 5))
	else if (line ~ /^---- .* ----$/)
		section(substr(line, 6, length(line) - 10))
	else if (line == "")
		turn("")
	else
		say("text", line)
}

function note_function(line) {
	sub(/^SONDE_API /, "", line)
	sub(/[(;].*/, "", line)
	sub(/.*[ *]/, "", line)
	names[++nnames] = line
}

function finish(    i, list, page) {
	turn("")
	for (i = 1; i <= nnames; i++)
		list = list (i > 1 ? ", " : "") names[i]
	page = out "/" header ".3"
	printf ".TH %s 3 \"\" \"Sonde %s\" \"libsonde\"\n.SH NAME\n%s \\- %s\n", toupper(roff(header)), version, list, roff(what) >page
	printf ".SH SYNOPSIS\n.nf\n#include <%s.h>\n.fi\n.PP\ncc file.c $(pkg\\-config \\-\\-cflags \\-\\-libs sonde)\n", header >page
	printf "%s.SH SEE ALSO\n\\fBsonde\\fR(1), \\fBsonde\\fR(3), \\fBsonde_sampler\\fR(3), \\fBsonde_span\\fR(3)\n", body >page
	close(page)
	for (i = 1; i <= nnames; i++) {
		printf ".so man3/%s.3\n", header >(out "/" names[i] ".3")
		close(out "/" names[i] ".3")
	}
}

FNR == 1 {
	if (header)
		finish()
	header = FILENAME
	sub(/.*\//, "", header)
	sub(/\.h$/, "", header)
	body = ".SH DESCRIPTION\n"
	was = what = ""
	nnames = comment = braces = 0
	next
}
/^#/ || /^extern "C"/ { # what is for the compiler only
	compiler = /\\$/
	next
}
compiler { compiler = /\\$/; next }
!comment && /^\/\*/ { comment = 1 }
comment {
	if (!what && match($0, / - /)) { # "name.h - what it is: more"
		what = substr($0, RSTART + 3)
		sub(/[:.].*/, "", what)
		line = substr($0, RSTART + 3)
		say("text", toupper(substr(line, 1, 1)) substr(line, 2))
	} else {
		comment_line($0)
	}
	comment = !/\*\/$/
	if (!comment)
		turn("")
	next
}
/^$/ { turn(""); next }
/^static inline / { inlined = 1 } # what a macro needs
inlined { inlined = !/^}/; next }
/^}$/ { next } # of extern "C"
{
	if (/^SONDE_API /)
		note_function($0)
	sub(/^SONDE_API /, "")
	say("code", spaced($0))
	braces = /{$/ || (braces && !/^}/)
}
END { finish() }
