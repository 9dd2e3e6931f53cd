/* SPDX-License-Identifier: Apache-2.0 */
#include "session/elsewhere.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "core/stacks/rollcall.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	ALIVE_S = 120, /* who has written nothing for so long is not asked */
	PIECE = 1 << 16,
	ANSWER_MAX = 64 << 20,
	LOOK_MS = 100
};

/* ---- whom ---- */

static bool is_alive(const struct run_node *n, int64_t now_ns)
{
	return n->host && !n->complete &&
	       n->utc0_ns + (n->last_ns - n->mono0_ns) > now_ns - ALIVE_S * NS_PER_S;
}

static bool is_known(const struct elsewhere *x, const char *host)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->host[i] && !strcmp(x->host[i], host))
			return true;
	return false;
}

static void find_hosts(struct elsewhere *x, const struct run *r)
{
	int64_t now_ns = clock_utc_ns();

	gethostname(x->here, sizeof x->here - 1);
	x->host = calloc(r->nnodes ? r->nnodes : 1, sizeof *x->host);
	for (uint32_t i = 1; x->host && i < r->nnodes && x->n < ELSEWHERE_HOSTS; i++) {
		const struct run_node *n = &r->nodes[i];
		char *copy;

		if (!is_alive(n, now_ns) || !strcmp(n->host, x->here) || is_known(x, n->host))
			continue;
		copy = strdup(n->host);
		if (copy)
			x->host[x->n++] = copy;
	}
}

/* ---- asking ---- */

/* Under its name when it is whole: recorders read it as soon as they see it. */
static int write_word(const struct elsewhere *x)
{
	char part[ASKED_WORD + 32];
	size_t n = strlen(x->word);
	int fd, bad = 0;

	snprintf(part, sizeof part, ASKED_FILE ".%s", x->word);
	fd = openat(x->folder, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, x->word, n) != (ssize_t)n)
		bad = -EIO;
	if (close(fd) || (!bad && renameat(x->folder, part, x->folder, ASKED_FILE)))
		bad = -errno;
	if (bad)
		unlinkat(x->folder, part, 0);
	return bad;
}

int elsewhere_ask(struct elsewhere *x, const struct run *r, const char *directory, struct err *e)
{
	int bad;

	*x = (struct elsewhere){ 0 };
	find_hosts(x, r);
	if (!x->n)
		return 0;
	x->folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (x->folder < 0) {
		bad = -errno;
		x->folder = 0;
		return err_set(e, bad, "%s cannot be opened: %s", directory, strerror(-bad));
	}
	snprintf(x->word, sizeof x->word, "%lld.%d", (long long)clock_utc_ns(), (int)getpid());
	bad = write_word(x);
	return bad ? err_set(e, bad, "the recorders of other nodes cannot be asked: %s in %s",
			     strerror(-bad), directory)
		   : 0;
}

/* ---- answers ---- */

static bool read_all(int folder, const char *name, struct bytes *out)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char piece[PIECE];
	struct stat st;
	ssize_t n = -1;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		while ((n = read(fd, piece, sizeof piece)) > 0 && out->len < ANSWER_MAX)
			bytes_put(out, piece, (size_t)n);
	if (fd >= 0)
		close(fd);
	return n == 0 && !out->failed;
}

static void answered(struct elsewhere *x, const char *host)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (!strcmp(x->host[i], host)) {
			free(x->host[i]);
			x->host[i] = x->host[--x->n];
			return;
		}
}

static void take_threads(struct waits *w, const struct jsontree *doc, const char *host)
{
	const struct jsontree *list = jsontree_find(doc, "threads");
	double ranks = jsontree_number(doc, "ranks");

	for (const struct jsontree *v = list ? list->first : NULL; v; v = v->next) {
		struct wait_thread *t = waits_add(w);

		if (!t)
			return;
		if (wait_take(t, v))
			snprintf(t->node, sizeof t->node, "%s", host);
		else
			waits_drop(w);
	}
	if (ranks > w->ranks && ranks <= ROLLCALL_RANKS)
		w->ranks = (uint32_t)ranks;
}

static void take_answer(struct elsewhere *x, struct waits *w, const struct bytes *b)
{
	struct pool pool = { 0 };
	struct err e;
	const struct jsontree *doc = jsontree_read(&pool, b->data, b->len, &e);
	const char *asked = jsontree_text(doc, "asked"), *host = jsontree_text(doc, "host");

	if (asked && host && !strcmp(asked, x->word) && strcmp(host, x->here) != 0) {
		take_threads(w, doc, host);
		answered(x, host);
	}
	pool_free(&pool);
}

static bool ends(const char *name, const char *with)
{
	size_t n = strlen(name), m = strlen(with);

	return n >= m && !strcmp(name + n - m, with);
}

static void take_files(struct elsewhere *x, struct waits *w)
{
	int fd = openat(x->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (fd >= 0 && !dir)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		struct bytes b = { 0 };

		if (strncmp(entry->d_name, ASKED_ANSWER, strlen(ASKED_ANSWER)) != 0 ||
		    !ends(entry->d_name, ".json"))
			continue;
		if (read_all(x->folder, entry->d_name, &b))
			take_answer(x, w, &b);
		unlinkat(x->folder, entry->d_name, 0);
		bytes_free(&b);
	}
	if (dir)
		closedir(dir);
}

void elsewhere_take(struct elsewhere *x, struct waits *w, int64_t patience_ns)
{
	const struct timespec a_little = { .tv_nsec = LOOK_MS * NS_PER_MS };
	int64_t until_ns = clock_mono_ns() + patience_ns;

	while (x->folder && x->n) {
		take_files(x, w);
		if (!x->n || clock_mono_ns() > until_ns)
			return;
		nanosleep(&a_little, NULL);
	}
}

void elsewhere_end(struct elsewhere *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		free(x->host[i]);
	free(x->host);
	if (x->folder) {
		unlinkat(x->folder, ASKED_FILE, 0);
		close(x->folder);
	}
	*x = (struct elsewhere){ 0 };
}
