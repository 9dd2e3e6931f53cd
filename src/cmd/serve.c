/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - listen, then become the helper that answers. */
#include "base/bytes.h"
#include "base/err.h"
#include "base/helper.h"
#include "base/random.h"
#include "base/text/json.h"
#include "console/command.h"
#include "recording/join.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { TOKEN_LEAST = 16, TOKEN_SIZE = 1024 };

struct token {
	char text[TOKEN_SIZE];
	char file[PATH_MAX]; /* where it is; empty: in the environment */
};

static int check(const struct token *t, const char *where, struct err *e)
{
	size_t n = strlen(t->text);

	for (size_t i = 0; i < n; i++)
		if (t->text[i] <= ' ' || t->text[i] > '~')
			return err_set(
				e, -EINVAL,
				"the token in %.300s has a character that HTTP cannot carry; "
				"take letters and digits",
				where);
	if (n >= TOKEN_LEAST)
		return 0;
	return err_set(e, -EINVAL, "the token in %.300s is shorter than %d characters", where,
		       TOKEN_LEAST);
}

static int read_file(struct token *t, struct err *e)
{
	int fd = open(t->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_mode & 077 || st.st_uid != geteuid()) {
		close(fd);
		return err_set(e, -EPERM,
			       "others may read %.300s, or it is not a file of your own: "
			       "chmod 600 it, or name another with --token-file",
			       t->file);
	}
	n = read(fd, t->text, sizeof t->text - 1);
	close(fd);
	t->text[n > 0 ? n : 0] = '\0';
	t->text[strcspn(t->text, "\r\n")] = '\0';
	return check(t, t->file, e);
}

/* A new one, which nobody can guess. */
static int make_file(struct token *t, struct err *e)
{
	uint8_t random[24];
	int fd, rc = 0;

	if (!entropy_fill(random, sizeof random))
		return err_set(e, -EIO, "the kernel gives no random numbers for a token");
	for (size_t i = 0; i < sizeof random; i++)
		snprintf(t->text + 2 * i, 3, "%02x", random[i]);
	fd = open(t->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || dprintf(fd, "%s\n", t->text) < 0 || fchmod(fd, 0600))
		rc = -errno;
	if (fd >= 0)
		close(fd);
	return rc ? err_set(e, rc, "cannot make the token file %.300s: %s", t->file, strerror(-rc))
		  : 0;
}

/* Directories of the way are private, too. */
static int own_file(struct token *t, struct err *e)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char dir[PATH_MAX - 16];
	int n;

	if (config && *config)
		n = snprintf(dir, sizeof dir, "%s", config);
	else if (home && *home)
		n = snprintf(dir, sizeof dir, "%s/.config", home);
	else
		return err_set(e, -ENOENT,
			       "there is no place for a token: set HOME or SONDE_TOKEN, or name a "
			       "file with --token-file");
	if (n < 0 || (size_t)n >= sizeof dir - 8)
		return err_set(e, -ENAMETOOLONG, "the home directory's path is too long");
	mkdir(dir, 0700);
	strncat(dir, "/sonde", 7);
	mkdir(dir, 0700);
	snprintf(t->file, sizeof t->file, "%s/token", dir);
	return 0;
}

/* SONDE_TOKEN; else the first line of file; file NULL: of sonde/token in the user's configuration,
 * which is created if missing. 0, or -errno with a sentence. */
static int token_find(struct token *t, const char *file, struct err *e)
{
	const char *said = getenv("SONDE_TOKEN");
	int rc = 0;

	*t = (struct token){ .text = "" };
	if (said && *said && !file) {
		if ((size_t)snprintf(t->text, sizeof t->text, "%s", said) >= sizeof t->text)
			return err_set(e, -EINVAL, "SONDE_TOKEN is too long");
		return check(t, "SONDE_TOKEN", e);
	}
	if (file)
		snprintf(t->file, sizeof t->file, "%s", file);
	else
		rc = own_file(t, e);
	if (rc)
		return rc;
	e->text[0] = '\0';
	rc = read_file(t, e);
	if (rc == -ENOENT && !file)
		return make_file(t, e);
	if (rc && !e->text[0])
		err_set(e, rc, "cannot read the token file %.300s: %s", t->file, strerror(-rc));
	return rc;
}

enum { BACKLOG = 4096, URL_SIZE = 256, RUNS_MAX = 1000 };

struct serve_options {
	const char *listen, *token_file;
	bool metrics, json;
};

static const struct option options[] = {
	{ .name = "metrics",
	  .type = ARG_FLAG,
	  .help = "Serve the latest samples at /metrics for Prometheus, instead of pages.",
	  OPTION_OFFSET(struct serve_options, metrics) },
	{ .name = "listen",
	  .type = ARG_TEXT,
	  .value = "WHERE",
	  .fallback = "127.0.0.1:9477",
	  .help = "Listen on 127.0.0.1:PORT, [::1]:PORT or unix:PATH. Port 0 picks a free port.",
	  OPTION_OFFSET(struct serve_options, listen) },
	{ .name = "token-file",
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "Read the access token from the first line of FILE, which only you may read. "
		  "Default: SONDE_TOKEN, else ~/.config/sonde/token, created if missing.",
	  OPTION_OFFSET(struct serve_options, token_file) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the address as JSON.",
	  OPTION_OFFSET(struct serve_options, json) },
};

static const struct example examples[] = {
	{ "serve sonde_1234", "the page of a running job, in a browser" },
	{ "serve --metrics sonde_1234", "the running job, for Prometheus on this machine" },
	{ "serve --metrics --listen unix:/tmp/me.sock sonde_*",
	  "several jobs, on a private socket" },
};

/* ---- where ---- */

static int listen_on(const struct sockaddr *a, socklen_t n)
{
	int fd = socket(a->sa_family, SOCK_STREAM, 0), one = 1, rc;

	if (fd < 0)
		return -errno;
	if (a->sa_family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (!bind(fd, a, n) && !listen(fd, BACKLOG))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

/* A socket that nobody listens on any more is in the way, and goes; nothing else does. */
static void remove_stale(const struct sockaddr_un *a)
{
	struct stat st;
	int fd;

	if (lstat(a->sun_path, &st) || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof *a) && errno == ECONNREFUSED)
		unlink(a->sun_path);
	if (fd >= 0)
		close(fd);
}

static int listen_unix(const char *path, char url[URL_SIZE])
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	mode_t before;
	int fd;

	if (!*path || strlen(path) >= sizeof a.sun_path)
		return -ENAMETOOLONG;
	memcpy(a.sun_path, path, strlen(path) + 1);
	remove_stale(&a);
	before = umask(0177);
	fd = listen_on((const struct sockaddr *)&a, sizeof a);
	umask(before);
	snprintf(url, URL_SIZE, "unix:%s", path);
	return fd;
}

static bool port_of(const char *text, in_port_t *port)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	*port = htons((uint16_t)v);
	return *text >= '0' && *text <= '9' && !*end && v <= UINT16_MAX;
}

static int listen_loopback(const char *where, char url[URL_SIZE])
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	bool six = !strncmp(where, "[::1]:", 6);
	const char *port = six ? where + 6 : where + strcspn(where, ":") + 1;
	socklen_t n;
	int fd;

	if (six ? !port_of(port, &v6.sin6_port)
		: strncmp(where, "127.0.0.1:", 10) != 0 || !port_of(port, &v4.sin_port))
		return -EDESTADDRREQ;
	n = six ? sizeof v6 : sizeof v4;
	fd = six ? listen_on((const struct sockaddr *)&v6, n)
		 : listen_on((const struct sockaddr *)&v4, n);
	if (fd < 0)
		return fd;
	if (six)
		getsockname(fd, (struct sockaddr *)&v6, &n);
	else
		getsockname(fd, (struct sockaddr *)&v4, &n);
	snprintf(url, URL_SIZE, "http://%s:%u", six ? "[::1]" : "127.0.0.1",
		 ntohs(six ? v6.sin6_port : v4.sin_port));
	return fd;
}

static int listen_where(const char *where, char url[URL_SIZE])
{
	int fd = strncmp(where, "unix:", 5) ? listen_loopback(where, url)
					    : listen_unix(where + 5, url);

	if (fd == -EDESTADDRREQ)
		say("serve: --listen takes 127.0.0.1:PORT, [::1]:PORT or unix:PATH, not '%s'; to "
		    "reach it from another machine, use a tunnel such as ssh -L",
		    where);
	else if (fd < 0)
		say("serve: cannot listen on %s: %s", where, strerror(-fd));
	return fd;
}

/* ---- what ---- */

/* Recordings to serve: those that were named, else the newest here, or for pages all of them. */
struct runs {
	char **path;
	int n;
	struct dirent **found;
	int nfound;
	char newest[PATH_MAX], *one;
};

static int is_recording(const struct dirent *d)
{
	return d->d_name[0] != '.' && (d->d_type == DT_DIR || d->d_type == DT_UNKNOWN) &&
	       run_is_recorded(d->d_name);
}

static int find_all(struct runs *r)
{
	r->nfound = scandir(".", &r->found, is_recording, alphasort);
	if (r->nfound < 0 || !r->found)
		r->nfound = 0;
	r->n = r->nfound < RUNS_MAX ? r->nfound : RUNS_MAX;
	r->path = calloc((size_t)r->n + 1, sizeof(char *));
	if (!r->path) {
		say("serve: out of memory");
		return EXIT_FAILED;
	}
	for (int i = 0; i < r->n; i++)
		r->path[i] = r->found[r->nfound - r->n + i]->d_name;
	return EXIT_OK;
}

static int find_runs(struct runs *r, bool newest, int n, char **operands)
{
	struct err e = { "" };

	for (int i = 0; i < n; i++) {
		if (access(operands[i], R_OK)) {
			say("serve: cannot read %s: %s", operands[i], strerror(errno));
			return EXIT_FAILED;
		}
	}
	r->path = operands;
	r->n = n;
	if (n)
		return EXIT_OK;
	r->one = r->newest;
	r->path = &r->one;
	r->n = 1;
	if (run_newest(".", r->newest, sizeof r->newest, &e)) {
		say("serve: %s", e.text);
		return EXIT_FAILED;
	}
	return newest ? EXIT_OK : find_all(r);
}

static void free_runs(struct runs *r)
{
	if (r->found && r->path != &r->one)
		free(r->path);
	for (int i = 0; r->found && i < r->nfound; i++)
		free(r->found[i]);
	free(r->found);
}

/* The address of the pages has the token after its #, which no browser sends, where a person reads
 * it and no log is written. */
static void tell(const struct serve_options *o, const char *address, const struct token *t)
{
	bool is_unix = !strncmp(address, "unix:", 5), secret = !o->metrics && isatty(STDOUT_FILENO);
	struct bytes url = { 0 }, text = { 0 };
	struct json j = { .out = &text, .indent = true };

	bytes_printf(&url, "%s%s%s%s", address,
		     is_unix      ? ""
		     : o->metrics ? "/metrics"
				  : "/login",
		     secret && !is_unix && !o->json ? "#" : "",
		     secret && !is_unix && !o->json ? t->text : "");
	bytes_u8(&url, '\0');
	json_object(&j);
	json_key(&j, "schema");
	json_text(&j, "sonde/serve/1");
	json_key(&j, "url");
	json_text(&j, url.failed ? NULL : (const char *)url.data);
	json_key(&j, "token_file");
	json_text(&j, t->file[0] ? t->file : NULL);
	json_object_end(&j);
	bytes_u8(&text, '\0');
	if (!url.failed && !text.failed)
		puts((const char *)(o->json ? text.data : url.data));
	fflush(stdout);
	bytes_free(&url);
	bytes_free(&text);
	if (!o->json)
		say(o->metrics
			    ? "serve: the token, sent as \"Authorization: Bearer TOKEN\", is in %s"
			    : "serve: the page asks for a token; it is in %s",
		    t->file[0] ? t->file : "SONDE_TOKEN");
}

/* The words of the helper: FD metrics|pages DIR... */
static int become_helper(int listener, const struct serve_options *o, const struct runs *r)
{
	char **argv = calloc((size_t)r->n + 4, sizeof(char *)), fd[16];
	char metrics[] = "metrics", pages[] = "pages";
	struct err e = { "" };

	if (!argv) {
		say("serve: out of memory");
		return EXIT_FAILED;
	}
	snprintf(fd, sizeof fd, "%d", listener);
	argv[1] = fd;
	argv[2] = o->metrics ? metrics : pages;
	memcpy(argv + 3, r->path, (size_t)r->n * sizeof(char *));
	helper_exec("serve", argv, &e);
	free(argv);
	say("serve: %s", e.text);
	return EXIT_FAILED;
}

static int serve_runs(const struct serve_options *o, const struct runs *r)
{
	char helper[PATH_MAX], url[URL_SIZE];
	struct token token;
	struct err e = { "" };
	int listener;

	if (helper_find("serve", "libmicrohttpd-dev", helper, sizeof helper, &e)) {
		say("serve: %s", e.text);
		return EXIT_FAILED;
	}
	if (token_find(&token, o->token_file, &e)) {
		say("serve: %s", e.text);
		return EXIT_FAILED;
	}
	listener = listen_where(o->listen, url);
	if (listener < 0)
		return listener == -EDESTADDRREQ ? EXIT_USAGE : EXIT_FAILED;
	setenv("SONDE_TOKEN", token.text, 1);
	tell(o, url, &token);
	return become_helper(listener, o, r);
}

static int serve(const void *given, int n, char **operands)
{
	const struct serve_options *o = given;
	struct runs runs = { 0 };
	int code = find_runs(&runs, o->metrics, n, operands);

	if (code == EXIT_OK)
		code = serve_runs(o, &runs);
	free_runs(&runs);
	return code;
}

const struct command command_serve = {
	.name = "serve",
	.operands = "[DIR...]",
	.what = "Serve live pages of running jobs, or their metrics, over HTTP",
	.description =
		"Serves the report page of each recording in DIR (default: all recordings here) "
		"and updates it while the job runs. The page is that of `sonde report`. The "
		"server listens on this machine only; use a tunnel to open it elsewhere (ssh -L "
		"9477:127.0.0.1:9477 HOST, or -L 9477:/path/of/socket). Access is read-only.\n\n"
		"The page first asks for a token, because other users may share the machine. On a "
		"terminal, the printed address contains the token after the #; otherwise the "
		"message names the file that holds it.\n\n"
		"With --metrics it serves the latest samples to Prometheus instead (default: of "
		"the newest recording here). Counters are exported raw; Prometheus computes the "
		"rates. Each series has labels for the job's id (the path of its directory if it "
		"is not a batch job, or if two have the same id), the node and the device. For a "
		"recording that ended, or that has been silent for five minutes, only that state "
		"is exported.",
	COMMAND_OPTIONS(options),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct serve_options),
	.exec = serve,
};
