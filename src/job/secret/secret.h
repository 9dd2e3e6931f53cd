/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - what must not get into a recording: passwords, keys and tokens, told by the name they
 * go by or by how they look.
 *
 * A guess, made to hide too much rather than too little; docs/metadata.md lists what it goes by. It
 * cannot know a secret that has neither name nor shape. Names and shapes are data:
 * job/secret/secrets.def, and a site's own list (job/secret/secret_list.h), which is NULL where
 * there is none.
 */
#ifndef SONDE_JOB_SECRET_SECRET_H
#define SONDE_JOB_SECRET_SECRET_H

#include "base/bytes.h"
#include "job/secret/secret_list.h"

/* What stands for a secret. */
#define SECRET_MASK "***"

/* Is a flag or an assignment on a command line (n bytes) named like a secret, and may this be one?
 * The value need not end. "none", a small number, or what is told about a secret (--token-file) is
 * none. */
bool secret_flag(const struct secret_list *l, const char *name, size_t n, const char *value);
/* The same of a variable of the environment, where more names are secrets. */
bool secret_variable(const struct secret_list *l, const char *name, size_t n, const char *value);
/* The same of what is given a value by '=': a variable where the name has no small letters, else a
 * flag. */
bool secret_assigned(const struct secret_list *l, const char *name, size_t n, const char *value);
/* The words of a command, one after the other; {0} at its begin. */
struct secret_command {
	const char *program, *after;
	bool next, rest;
};
/* True: what stands behind the first *keep of the n bytes of the word is a secret, since this
 * program takes it there: curl -u me:hush, mysql -phush. */
bool secret_word(struct secret_command *c, const char *word, size_t n, size_t *keep);
/* Bytes of the address of IP that begins here, and its name: address-1f9c2a3b; 0: none, or one of
 * this machine alone (127.0.0.1). */
enum { SECRET_ADDRESS = 20 };
size_t secret_address(const struct secret_list *l, const char *text, char name[SECRET_ADDRESS]);
/* The text with what looks like a secret masked: user and password before a host in a URL, query
 * parameters, assignments, flags and headers named like secrets, tokens of well-known forms, and
 * what looks drawn by lot. */
void secret_text(const struct secret_list *l, struct bytes *out, const char *text);

#endif
