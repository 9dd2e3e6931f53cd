/* SPDX-License-Identifier: Apache-2.0 */
#include "session/choose.h"

#include "console/command.h"
#include "console/say.h"
#include "recording/join.h"

int choose_recording(struct choice *c, const char *verb, const char *doing, int noperands,
		     char **operands)
{
	struct err e = { "" };

	c->path = noperands ? operands[0] : c->newest;
	c->run = NULL;
	if (noperands > 1) {
		say("%s: unexpected argument '%s'; give one recording", verb, operands[1]);
		return EXIT_USAGE;
	}
	if (noperands && !operands[0][0]) {
		say("%s: empty name of a recording; omit it for the newest recording here", verb);
		return EXIT_USAGE;
	}
	if (!noperands && !run_newest(".", c->newest, sizeof c->newest, &e))
		say("%s %s", doing, c->path);
	progress_begin(&c->progress);
	if (e.text[0] ||
	    run_open_showing(&c->run, c->path,
			     &(struct run_progress){ progress_show, &c->progress }, &e)) {
		say("%s: %s", verb, e.text);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}
