/* SPDX-License-Identifier: Apache-2.0 */
#include "console/completion.h"

#include "console/command.h"

#include <stdio.h>
#include <string.h>

/* What may stand at a place; from what the tables call it in the help. */
enum place { PLACE_NOTHING, PLACE_DIRECTORY, PLACE_FILE, PLACE_COMMAND };

static enum place place_of(const char *word)
{
	if (!word)
		return PLACE_NOTHING;
	if (strstr(word, "CMD"))
		return PLACE_COMMAND;
	if (strstr(word, "DIR"))
		return PLACE_DIRECTORY;
	return strstr(word, "FILE") || strstr(word, "PATH") || strstr(word, "SCRIPT")
		       ? PLACE_FILE
		       : PLACE_NOTHING;
}

/* The word it is called by: a verb's is the last of its name. */
static const char *word_of(const struct command *c)
{
	const char *space = strrchr(c->name, ' ');

	return space ? space + 1 : c->name;
}

static void verb_names(struct bytes *b, const struct command *c)
{
	for (size_t i = 0; i < c->nverbs; i++)
		bytes_printf(b, "%s ", word_of(c->verbs[i]));
}

static void command_names(struct bytes *b)
{
	for (size_t i = 0; i < ncommands; i++)
		if (!commands[i]->hidden)
			bytes_printf(b, "%s ", commands[i]->name);
}

/* In single quotes; what `special` holds gets a backslash, as the shell's own language wants it. */
static void quoted(struct bytes *b, const char *text, const char *special)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			bytes_u8(b, '\\');
		if (*text == '\'' && !strchr(special, '\''))
			bytes_puts(b, "'\\''");
		else
			bytes_u8(b, (uint8_t)*text);
	}
}

/* The words that an option's value may be; NULL: anything. */
static const char *choices_of(const struct option *o)
{
	return o->type == ARG_CHOICE ? o->value : o->words;
}

/* With blanks between them. */
static void put_choices(struct bytes *b, const char *words)
{
	for (words += *words == ' '; *words; words++)
		bytes_u8(b, *words == '|' ? ' ' : (uint8_t)*words);
}

static void bash_list(struct bytes *b, const struct command *c, bool values, int place)
{
	for (size_t i = 0; i < c->noptions; i++) {
		const struct option *o = &c->options[i];

		if (o->hidden || (values && !option_takes_word(o)) ||
		    (place >= 0 && (int)place_of(o->value) != place))
			continue;
		bytes_printf(b, " --%s", o->name);
		if (o->letter)
			bytes_printf(b, " -%c", o->letter);
	}
}

/* Behind which word only some are offered. */
static void bash_choices(struct bytes *b, const struct command *c)
{
	bytes_puts(b, "\t\tcase $prev in\n");
	for (size_t i = 0; i < c->noptions; i++) {
		const struct option *o = &c->options[i];

		if (o->hidden || !choices_of(o) || !option_takes_word(o))
			continue;
		bytes_printf(b, "\t\t--%s", o->name);
		if (o->letter)
			bytes_printf(b, " | -%c", o->letter);
		bytes_puts(b, ") choices='");
		put_choices(b, choices_of(o));
		bytes_puts(b, "' ;;\n");
	}
	if (c->words) {
		bytes_printf(b, "\t\t%s) choices='", word_of(c));
		put_choices(b, c->words);
		bytes_puts(b, "' ;;\n");
	}
	bytes_puts(b, "\t\tesac\n");
}

static void bash_command(struct bytes *b, const struct command *c)
{
	static const char *const kinds[] = { "none", "directory", "file", "command" };

	bytes_printf(b, "\t%s)\n", word_of(c));
	if (c->nverbs) {
		bytes_puts(b, "\t\tif [[ $COMP_CWORD -eq 2 ]]; then\n\t\t\tmapfile -t COMPREPLY < "
			      "<(compgen -W \"");
		verb_names(b, c);
		bytes_puts(b, "--help\" -- \"$cur\")\n\t\t\treturn\n\t\tfi\n\t\tcase "
			      "${COMP_WORDS[2]} in\n");
		for (size_t i = 0; i < c->nverbs; i++)
			bash_command(b, c->verbs[i]);
		bytes_puts(b, "\t\tesac\n\t\t;;\n");
		return;
	}
	bytes_puts(b, "\t\toptions='--help -h");
	bash_list(b, c, false, -1);
	bytes_puts(b, " '\n\t\tvalues='");
	bash_list(b, c, true, -1);
	bytes_puts(b, " '\n\t\tdirectories='");
	bash_list(b, c, true, PLACE_DIRECTORY);
	bytes_puts(b, " '\n\t\tfiles='");
	bash_list(b, c, true, PLACE_FILE);
	bytes_printf(b, " '\n\t\toperand='%s'\n", kinds[place_of(c->operands)]);
	bash_choices(b, c);
	bytes_puts(b, "\t\t;;\n");
}

void completion_bash(struct bytes *b)
{
	bytes_puts(b, "# bash completion of sonde; made by `sonde docs completions`\n"
		      "_sonde_offer()\n{\n"
		      "\tcompopt -o filenames 2>/dev/null\n"
		      "\tmapfile -t COMPREPLY < <(compgen \"$@\")\n}\n\n"
		      "_sonde()\n{\n"
		      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
		      "\tlocal options='' values='' directories='' files='' operand='' choices='' "
		      "commands='");
	command_names(b);
	bytes_puts(b, "' i\n\tCOMPREPLY=()\n\tif [[ $COMP_CWORD -eq 1 ]]; then\n\t\tmapfile -t "
		      "COMPREPLY < <(compgen -W \"$commands help --help --version\" -- "
		      "\"$cur\")\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} "
		      "in\n\thelp)\n\t\tmapfile -t COMPREPLY < <(compgen -W \"$commands\" -- "
		      "\"$cur\")\n\t\treturn\n\t\t;;\n");
	for (size_t i = 0; i < ncommands; i++)
		if (!commands[i]->hidden)
			bash_command(b, commands[i]);
	bytes_puts(b,
		   "\tesac\n\tif [[ $operand = command ]]; then\n\t\tfor ((i = 2; i < COMP_CWORD; "
		   "i++)); do\n\t\t\tif [[ ${COMP_WORDS[i]} = -- ]]; "
		   "then\n\t\t\t\t((i++))\n\t\t\t\tbreak\n\t\t\telif [[ $values = *\" "
		   "${COMP_WORDS[i]} \"* ]]; then\n\t\t\t\t((i++))\n\t\t\telif [[ ${COMP_WORDS[i]} "
		   "!= -* ]]; then\n\t\t\t\tbreak\n\t\t\tfi\n\t\tdone\n\t\tif ((i < COMP_CWORD)) "
		   "&& declare -F _command_offset >/dev/null; then\n\t\t\t_command_offset "
		   "\"$i\"\n\t\t\treturn\n\t\tfi\n\tfi\n\tif [[ -n $choices ]]; "
		   "then\n\t\tmapfile -t COMPREPLY < <(compgen -W \"$choices\" -- "
		   "\"$cur\")\n\telif [[ $directories = *\" $prev \"* ]]; "
		   "then\n\t\t_sonde_offer -d -- \"$cur\"\n\telif [[ $files = *\" $prev \"* ]]; "
		   "then\n\t\t_sonde_offer -f -- \"$cur\"\n\telif [[ $values = *\" $prev \"* ]]; "
		   "then\n\t\treturn\n\telif [[ $cur = -* ]]; then\n\t\tmapfile -t COMPREPLY < "
		   "<(compgen -W \"$options\" -- \"$cur\")\n\telif [[ $operand = directory ]]; "
		   "then\n\t\t_sonde_offer -d -- \"$cur\"\n\telif [[ $operand = file ]]; "
		   "then\n\t\t_sonde_offer -f -- \"$cur\"\n\telif [[ $operand = command ]]; "
		   "then\n\t\t_sonde_offer -c -- \"$cur\"\n\tfi\n"
		   "}\n"
		   "complete -F _sonde sonde\n\n"
		   "_sonde_by_name()\n{\n"
		   "\tCOMP_WORDS=(sonde \"${COMP_WORDS[0]##*/}\" \"${COMP_WORDS[@]:1}\")\n"
		   "\t((COMP_CWORD++))\n\t_sonde\n}\n");
	for (size_t i = 0; i < ncommands; i++)
		if (commands[i]->by_name)
			bytes_printf(b, "complete -F _sonde_by_name %s\n", commands[i]->name);
}

static void zsh_choices(struct bytes *b, const char *words)
{
	bytes_puts(b, ":(");
	put_choices(b, words);
	bytes_u8(b, ')');
}

static const char *zsh_action(enum place place)
{
	switch (place) {
	case PLACE_DIRECTORY:
		return "_directories";
	case PLACE_FILE:
		return "_files";
	case PLACE_COMMAND:
		return "_normal";
	case PLACE_NOTHING:
		break;
	}
	return "";
}

static void zsh_option(struct bytes *b, const struct option *o)
{
	static const char special[] = "[]:\\";

	bytes_puts(b, " \\\n\t\t\t");
	if (o->letter)
		bytes_printf(b, "'(-%c --%s)'{-%c,--%s%s}'[", o->letter, o->name, o->letter,
			     o->name, !option_takes_word(o) ? "" : "=");
	else
		bytes_printf(b, "'--%s%s[", o->name, !option_takes_word(o) ? "" : "=");
	quoted(b, o->help, special);
	bytes_u8(b, ']');
	if (option_takes_word(o)) {
		bytes_puts(b, o->bare ? "::" : ":");
		quoted(b, o->value ? o->value : "VALUE", special);
		if (choices_of(o))
			zsh_choices(b, choices_of(o));
		else
			bytes_printf(b, ":%s", zsh_action(place_of(o->value)));
	}
	bytes_u8(b, '\'');
}

static void zsh_list(struct bytes *b, const struct command *const *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (c[i]->hidden)
			continue;
		bytes_printf(b, "\t\t'%s:", word_of(c[i]));
		quoted(b, c[i]->what, ":\\");
		bytes_puts(b, "'\n");
	}
}

static void zsh_command(struct bytes *b, const struct command *c)
{
	enum place place = place_of(c->operands);

	bytes_printf(b, "\t%s)\n", word_of(c));
	if (c->nverbs) {
		bytes_puts(b, "\t\tcommands=(\n");
		zsh_list(b, c->verbs, c->nverbs);
		bytes_puts(b,
			   "\t\t)\n\t\tif (( CURRENT == 2 )); then\n\t\t\t_describe -t verbs verb "
			   "commands\n\t\t\treturn\n\t\tfi\n\t\tshift words\n\t\t(( CURRENT-- "
			   "))\n\t\tcase $words[1] in\n");
		for (size_t i = 0; i < c->nverbs; i++)
			zsh_command(b, c->verbs[i]);
		bytes_puts(b, "\t\tesac\n\t\t;;\n");
		return;
	}
	bytes_puts(b, "\t\t_arguments -s -S");
	for (size_t i = 0; i < c->noptions; i++)
		if (!c->options[i].hidden)
			zsh_option(b, &c->options[i]);
	bytes_puts(b, " \\\n\t\t\t'(-h --help)'{-h,--help}'[Show the usage and exit.]'");
	if (c->words) {
		bytes_puts(b, " \\\n\t\t\t'1:what");
		zsh_choices(b, c->words);
		bytes_u8(b, '\'');
	}
	if (place == PLACE_COMMAND)
		bytes_puts(b,
			   " \\\n\t\t\t'(-)1:command: _command_names -e' '*::arguments: _normal'");
	else if (place != PLACE_NOTHING)
		bytes_printf(b, " \\\n\t\t\t'*:operand:%s'", zsh_action(place));
	bytes_puts(b, "\n\t\t;;\n");
}

void completion_zsh(struct bytes *b)
{
	bytes_puts(b, "#compdef sonde");
	for (size_t i = 0; i < ncommands; i++)
		if (commands[i]->by_name)
			bytes_printf(b, " %s", commands[i]->name);
	bytes_puts(b, "\n# made by `sonde docs completions`\n\n"
		      "_sonde() {\n"
		      "\tif [[ $service != sonde ]]; then\n\t\twords=(sonde $service "
		      "\"${(@)words[2,-1]}\")\n\t\t(( CURRENT++ ))\n\tfi\n"
		      "\tlocal -a commands\n\tcommands=(\n");
	zsh_list(b, commands, ncommands);
	bytes_puts(b, "\t\t'help:Explain a command'\n\t)\n\tif (( CURRENT == 2 )); "
		      "then\n\t\t_describe -t commands command "
		      "commands\n\t\treturn\n\tfi\n\tshift words\n\t(( CURRENT-- ))\n\tcase "
		      "$words[1] in\n\thelp)\n\t\t_describe -t commands command "
		      "commands\n\t\t;;\n");
	for (size_t i = 0; i < ncommands; i++)
		if (!commands[i]->hidden)
			zsh_command(b, commands[i]);
	bytes_puts(b, "\tesac\n}\n\n_sonde \"$@\"\n");
}

/* fish finds the command to complete behind two words (sonde run) and our options with their
 * values; letters first, for it takes a first --name for its own option. */
static void fish_subcommand(struct bytes *b, const struct command *c)
{
	bytes_puts(b, " -a '(__fish_complete_subcommand --fcs-skip=2");
	for (int names = 0; names < 2; names++)
		for (size_t i = 0; i < c->noptions; i++) {
			const struct option *o = &c->options[i];

			if (o->hidden || !option_takes_word(o))
				continue;
			if (names)
				bytes_printf(b, " --%s", o->name);
			else if (o->letter)
				bytes_printf(b, " -%c", o->letter);
		}
	bytes_puts(b, ")'");
}

/* What is true where c was typed; "bench run" is not "run". */
static void fish_seen(struct bytes *b, const struct command *c)
{
	const char *space = strchr(c->name, ' ');

	if (space) {
		bytes_printf(b,
			     "__fish_seen_subcommand_from %.*s; and __fish_seen_subcommand_from %s",
			     (int)(space - c->name), c->name, space + 1);
		return;
	}
	bytes_printf(b, "__fish_seen_subcommand_from %s", c->name);
	for (size_t i = 0; i < ncommands; i++)
		if (commands[i]->nverbs && commands[i] != c)
			bytes_printf(b, "; and not __fish_seen_subcommand_from %s",
				     commands[i]->name);
}

static void fish_choices(struct bytes *b, const char *words)
{
	bytes_puts(b, " -a '");
	put_choices(b, words);
	bytes_u8(b, '\'');
}

static void fish_value(struct bytes *b, const struct option *o)
{
	enum place place = place_of(o->value);

	if (choices_of(o)) {
		bytes_puts(b, " -x");
		fish_choices(b, choices_of(o));
	} else if (place == PLACE_FILE)
		bytes_puts(b, " -r -F");
	else if (place == PLACE_DIRECTORY)
		bytes_puts(b, " -x -a '(__fish_complete_directories)'");
	else
		bytes_puts(b, " -x");
}

static void fish_operand(struct bytes *b, const struct command *c)
{
	enum place place = place_of(c->operands);

	if (place == PLACE_NOTHING)
		return;
	bytes_puts(b, "complete -c sonde -n '");
	fish_seen(b, c);
	bytes_u8(b, '\'');
	if (place == PLACE_COMMAND)
		fish_subcommand(b, c);
	else
		bytes_puts(b, place == PLACE_FILE ? " -F" : " -a '(__fish_complete_directories)'");
	bytes_u8(b, '\n');
}

static void fish_command(struct bytes *b, const struct command *c)
{
	static const char special[] = "'\\";

	if (strchr(c->name, ' '))
		bytes_printf(b,
			     "complete -c sonde -n '__fish_seen_subcommand_from %.*s' -a %s -d '",
			     (int)strcspn(c->name, " "), c->name, word_of(c));
	else
		bytes_printf(b, "complete -c sonde -n __fish_use_subcommand -a %s -d '", c->name);
	quoted(b, c->what, special);
	bytes_puts(b, "'\n");
	for (size_t i = 0; i < c->noptions; i++) {
		const struct option *o = &c->options[i];

		if (o->hidden)
			continue;
		bytes_puts(b, "complete -c sonde -n '");
		fish_seen(b, c);
		bytes_printf(b, "' -l %s", o->name);
		if (o->letter)
			bytes_printf(b, " -s %c", o->letter);
		if (option_takes_word(o))
			fish_value(b, o);
		bytes_puts(b, " -d '");
		quoted(b, o->help, special);
		bytes_puts(b, "'\n");
	}
	if (c->words) {
		bytes_puts(b, "complete -c sonde -n '");
		fish_seen(b, c);
		bytes_puts(b, "; and not __fish_seen_subcommand_from ");
		put_choices(b, c->words);
		bytes_u8(b, '\'');
		fish_choices(b, c->words);
		bytes_u8(b, '\n');
	}
	fish_operand(b, c);
	for (size_t i = 0; i < c->nverbs; i++)
		fish_command(b, c->verbs[i]);
}

void completion_fish(struct bytes *b)
{
	bytes_puts(b, "# fish completion of sonde; made by `sonde docs completions`\ncomplete -c "
		      "sonde -f\n"
		      "complete -c sonde -s h -l help -d 'Show the usage and exit.'\n"
		      "complete -c sonde -n __fish_use_subcommand -l version -d 'Say which version "
		      "this is.'\n"
		      "complete -c sonde -n __fish_use_subcommand -a help -d 'Explain a command'\n"
		      "complete -c sonde -n '__fish_seen_subcommand_from help' -a '");
	command_names(b);
	bytes_puts(b, "'\n");
	for (size_t i = 0; i < ncommands; i++) {
		if (!commands[i]->hidden)
			fish_command(b, commands[i]);
		if (commands[i]->by_name)
			bytes_printf(b, "complete -c %s -w 'sonde %s'\n", commands[i]->name,
				     commands[i]->name);
	}
}
