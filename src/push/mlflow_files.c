/* SPDX-License-Identifier: Apache-2.0 */
#include "push/mlflow.h"

#include "recording/recover.h"
#include "report/page/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARTIFACTS "mlflow-artifacts:/"
#define RECORDING "recording/"

/* What is made of the run when it is sent. */
struct made {
	const char *name, *type;
	int (*make)(struct bytes *out, struct mlflow *m, const struct summary *s, struct err *e);
};

static int make_report(struct bytes *out, struct mlflow *m, const struct summary *s, struct err *e)
{
	return page_make(out, m->job->run, s, NULL, e);
}

static int make_samples(struct bytes *out, struct mlflow *m, const struct summary *s, struct err *e)
{
	struct json j = { .out = out, .indent = true };

	(void)s;
	tracking_samples_json(&m->tracking, &j);
	bytes_u8(out, '\n');
	return out->failed ? err_set(e, -ENOMEM, "out of memory for the samples") : 0;
}

static const struct made made[] = {
	{ "report.html", "text/html", make_report },
	{ "samples.json", "application/json", make_samples },
};

/* A name as a part of a URL: what is no plain character is %XX. */
static void put_escaped(struct bytes *b, const char *name)
{
	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		if ((*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') ||
		    (*c >= 'a' && *c <= 'z') || strchr("-._~/", *c))
			bytes_u8(b, *c);
		else
			bytes_printf(b, "%%%02X", *c);
}

/* mlflow-artifacts://host/path: the host is the server's own name for itself. */
static const char *path_of(const char *uri)
{
	const char *path = uri + sizeof ARTIFACTS - 1;

	if (path[0] == '/') {
		path = strchr(path + 1, '/');
		return path ? path + 1 : NULL;
	}
	return path;
}

/* A recording that was sent without the environment is another one than with it. */
static const char *noted_as(const struct mlflow *m, const char *name)
{
	return m->job->with_environment && !strncmp(name, RECORDING, sizeof RECORDING - 1)
		       ? "file-with-environment"
		       : "file";
}

static int put(struct mlflow *m, const char *name, const char *type, const struct http_body *body,
	       struct err *e)
{
	struct bytes url = { 0 };
	struct http_request q = { .method = "PUT", .content_type = type };
	struct http_answer a;
	int rc;

	bytes_printf(&url, "%s/api/2.0/mlflow-artifacts/artifacts/", m->server.url);
	put_escaped(&url, path_of(m->artifacts));
	bytes_puts(&url, "/sonde/");
	put_escaped(&url, name);
	bytes_u8(&url, 0);
	if (url.failed) {
		bytes_free(&url);
		return err_set(e, -ENOMEM, "out of memory");
	}
	q.url = (const char *)url.data;
	rc = mlflow_send(m, &q, body, &a, e);
	bytes_free(&url);
	if (!rc && (a.status < 200 || a.status >= 300))
		rc = err_set(e, -EPROTO, "%.200s does not take the file %.100s: status %u",
			     m->server.shown, name, a.status);
	return rc ? rc : journal_add(&m->journal, noted_as(m, name), name, e);
}

static int send_made(struct mlflow *m, const struct made *what, const struct summary *s,
		     struct err *e)
{
	struct bytes content = { 0 };
	int rc = what->make(&content, m, s, e);
	const struct http_body body = { content.data, -1, content.len };

	if (!rc)
		rc = put(m, what->name, what->type, &body, e);
	bytes_free(&content);
	return rc;
}

static int send_file(struct mlflow *m, const char *path, const char *name, struct err *e)
{
	int rc = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0; /* a tail that went with the sealing of its last block */
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		rc = err_set(e, -EIO, "cannot read %.300s", path);
	} else if (st.st_size) { /* a tail whose rows are all sealed is empty */
		const struct http_body body = { NULL, fd, (uint64_t)st.st_size };

		rc = put(m, name, "application/octet-stream", &body, e);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

/* The files of a node's recording: file 0 its blocks, 1 what is after them. False when there is no
 * such file. */
static bool file_of(const struct mlflow *m, uint32_t node, int which, char path[PATH_MAX],
		    char name[320])
{
	static const char sealed[] = ".sonde", tail[] = ".tail";
	const char *file = m->job->run->nodes[node].file, *slash;
	size_t n = strlen(file);

	if (n < sizeof sealed || strcmp(file + n - (sizeof sealed - 1), sealed) || n >= PATH_MAX)
		return false;
	for (uint32_t i = 1; i < node; i++) /* an import may have many nodes in a file */
		if (!strcmp(m->job->run->nodes[i].file, file))
			return false;
	snprintf(path, PATH_MAX, "%.*s%s", (int)(n - (sizeof sealed - 1)), file,
		 which ? tail : sealed);
	slash = strrchr(path, '/');
	snprintf(name, 320, RECORDING "%.300s", slash ? slash + 1 : path);
	return true;
}

static bool takes_files(const struct mlflow *m)
{
	return !strncmp(m->artifacts, ARTIFACTS, sizeof ARTIFACTS - 1) && path_of(m->artifacts);
}

static bool is_sent(const struct mlflow *m, const char *name)
{
	return journal_has(&m->journal, noted_as(m, name), name);
}

bool mlflow_files_left(const struct mlflow *m)
{
	char path[PATH_MAX], name[320];

	if (m->job->artifacts == PUSH_NO_ARTIFACTS || !takes_files(m))
		return false;
	for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
		if (!journal_has(&m->journal, "file", made[i].name))
			return true;
	for (uint32_t i = 1; m->job->artifacts == PUSH_ALL && i < m->job->run->nnodes; i++)
		if (file_of(m, i, 0, path, name) && !is_sent(m, name))
			return true;
	return false;
}

/* copies: where the recording lies without its environment; NULL: it is sent as it is. */
static int send_files(struct mlflow *m, const char *copies, struct err *e)
{
	char path[PATH_MAX], name[320];
	int rc = 0;

	for (uint32_t i = 1; i < m->job->run->nnodes; i++)
		for (int which = 0; which < (copies ? 1 : 2) && !rc; which++) {
			if (!file_of(m, i, which, path, name) || is_sent(m, name))
				continue;
			if (copies)
				snprintf(path, sizeof path, "%.3000s/%s", copies,
					 name + sizeof RECORDING - 1);
			rc = send_file(m, path, name, e);
		}
	return rc;
}

static bool has_private(const struct run *r)
{
	for (uint32_t i = 1; i < r->nmetas; i++)
		if (key_is_private(r->metas[i].key))
			return true;
	for (uint32_t i = 1; i < r->nlabels; i++)
		if (key_is_private(r->labels[i].key))
			return true;
	return false;
}

static void remove_copies(const struct mlflow *m, const char *copies, int fd)
{
	char path[PATH_MAX], name[320];

	for (uint32_t i = 1; i < m->job->run->nnodes; i++)
		if (file_of(m, i, 0, path, name))
			unlinkat(fd, name + sizeof RECORDING - 1, 0);
	rmdir(copies);
}

/* A copy without what is private lies beside the journal while it is sent. */
static int send_recording(struct mlflow *m, struct err *e)
{
	char copies[PATH_MAX];
	int fd, rc;

	if (m->job->with_environment || !has_private(m->job->run))
		return send_files(m, NULL, e);
	snprintf(copies, sizeof copies, "%.3000s/.push-recording-XXXXXX", m->job->state);
	if (!mkdtemp(copies))
		return err_set(e, -errno, "cannot make a directory in %.300s: %s", m->job->state,
			       strerror(errno));
	fd = open(copies, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = fd < 0 ? err_set(e, -errno, "cannot open %.300s: %s", copies, strerror(errno))
		    : recover(m->job->run, fd, true, NULL, NULL, e);
	if (!rc)
		rc = send_files(m, copies, e);
	if (fd >= 0) {
		remove_copies(m, copies, fd);
		close(fd);
	}
	return rc;
}

static void leave_out(struct mlflow *m, const char *what)
{
	snprintf(m->result->left_out, sizeof m->result->left_out,
		 "the files of this run lie at %.200s, where the server does not put them itself; "
		 "%s were left out (--artifacts none says so at once)",
		 m->artifacts[0] ? m->artifacts : "an unknown place", what);
}

int mlflow_files_send(struct mlflow *m, const struct summary *s, struct err *e)
{
	int rc = 0;

	if (m->job->artifacts == PUSH_NO_ARTIFACTS)
		return 0;
	if (!takes_files(m)) {
		leave_out(m, "report and recording");
		return 0;
	}
	for (size_t i = 0; i < sizeof made / sizeof made[0] && !rc; i++)
		if (!journal_has(&m->journal, "file", made[i].name))
			rc = send_made(m, &made[i], s, e);
	return rc || m->job->artifacts != PUSH_ALL ? rc : send_recording(m, e);
}

int mlflow_file_send(struct mlflow *m, const struct push_file *f, struct err *e)
{
	const struct http_body body = { f->data, -1, f->length };

	if (is_sent(m, f->name))
		return 0;
	if (takes_files(m))
		return put(m, f->name, "text/plain", &body, e);
	leave_out(m, "lock files");
	return 0;
}
