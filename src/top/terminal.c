/* SPDX-License-Identifier: Apache-2.0 */
#include "top/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The variable that decides, as setlocale(3) says. */
static bool is_utf8_locale(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *v = getenv(names[i]);

		if (v && *v)
			return strcasestr(v, "utf-8") || strcasestr(v, "utf8");
	}
	return false;
}

bool terminal_find(struct terminal *t, int in, int out)
{
	const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
	size_t n = term ? strlen(term) : 0;

	*t = (struct terminal){ .in = in, .out = out, .utf8 = is_utf8_locale() };
	t->moves = n && strcmp(term, "dumb") != 0 && strcmp(term, "unknown") != 0;
	/* VT100 to VT525, and what calls itself monochrome. */
	t->alternate = t->moves && strncmp(term, "vt", 2) != 0;
	t->colour = t->alternate && !(no_colour && *no_colour) &&
		    !(n > 2 && !strcmp(term + n - 2, "-m")) && !strstr(term, "-mono");
	return isatty(out) && !tcgetattr(in, &t->modes);
}

void terminal_size(const struct terminal *t, unsigned *rows, unsigned *columns)
{
	struct winsize w = { 0 };

	if (ioctl(t->out, TIOCGWINSZ, &w))
		w = (struct winsize){ 0 };
	*rows = w.ws_row;
	*columns = w.ws_col;
}

static void send_text(const struct terminal *t, const char *text)
{
	(void)!write(t->out, text, strlen(text));
}

/* Signals of keys stay: Ctrl-C, Ctrl-Z. Without wrapping, the last column can be written to. */
void terminal_enter(const struct terminal *t)
{
	struct termios m = t->modes;

	m.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	m.c_cc[VMIN] = 1;
	m.c_cc[VTIME] = 0;
	tcsetattr(t->in, TCSANOW, &m);
	if (t->alternate)
		send_text(t, "\033[?1049h");
	send_text(t, "\033[?7l\033[?25l");
}

/* A terminal that Ctrl-S holds would keep its end waiting. */
void terminal_leave(const struct terminal *t)
{
	tcflow(t->out, TCOON);
	send_text(t, t->alternate ? "\033[m\033[?7h\033[?25h\033[?1049l"
				  : "\033[m\033[H\033[J\033[?7h\033[?25h");
	tcsetattr(t->in, TCSANOW, &t->modes);
}

bool terminal_write(const struct terminal *t, const struct bytes *b)
{
	size_t done = 0;

	while (done < b->len) {
		ssize_t n = write(t->out, b->data + done, b->len - done);

		if (n < 0)
			return false;
		done += (size_t)n;
	}
	return true;
}
