/* SPDX-License-Identifier: Apache-2.0 */
#include "console/command.h"

#include <string.h>

#define COMMAND(x) extern const struct command command_##x;
#include "commands.def"
#undef COMMAND

const struct command *const commands[] = {
#define COMMAND(x) &command_##x,
#include "commands.def"
#undef COMMAND
};
const size_t ncommands = sizeof commands / sizeof commands[0];

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < ncommands; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

const struct command *command_verb(const struct command *c, const char *word)
{
	for (size_t i = 0; i < c->nverbs; i++)
		if (!strcmp(strrchr(c->verbs[i]->name, ' ') + 1, word))
			return c->verbs[i];
	return NULL;
}

const char *command_nearest(const char *word)
{
	const char *nearest = NULL;
	unsigned best = 0;

	for (size_t i = 0; i < ncommands; i++) {
		unsigned distance = args_distance(word, commands[i]->name);

		if (nearest && distance >= best)
			continue;
		nearest = commands[i]->name;
		best = distance;
	}
	return nearest && args_near(word, best) ? nearest : NULL;
}
