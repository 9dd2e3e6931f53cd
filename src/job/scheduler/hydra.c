/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scheduler/hydra.h"

#include "base/root.h"
#include "base/text/number.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ANCESTORS_MAX = 16, COMMAND_LINE = 8192, STAT = 1024 };

static const char *const proxies[] = { "hydra_pmi_proxy", "hydra_bstrap_proxy" };

/* The word at *p, and *p behind it; NULL at the end, where a word may lack its NUL. */
static const char *next_word(const char **p, const char *end)
{
	const char *word = *p, *nul = word < end ? memchr(word, '\0', (size_t)(end - word)) : NULL;

	if (!nul)
		return NULL;
	*p = nul + 1;
	return word;
}

static bool is_proxy(const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;

	for (size_t i = 0; i < sizeof proxies / sizeof proxies[0]; i++)
		if (!strcmp(name, proxies[i]))
			return true;
	return false;
}

bool hydra_address(const char *cmdline, size_t n, char out[HYDRA_LAUNCH])
{
	const char *p = cmdline, *end = cmdline + n, *word = next_word(&p, end);
	const char *address = NULL, *host = NULL, *port = NULL;
	int len = -1;

	if (!word || !is_proxy(word))
		return false;
	while ((word = next_word(&p, end))) {
		const char **value = !strcmp(word, "--control-port")    ? &address
				     : !strcmp(word, "--upstream-host") ? &host
				     : !strcmp(word, "--upstream-port") ? &port
									: NULL;

		if (value && !(*value = next_word(&p, end)))
			break;
	}
	if (address)
		len = snprintf(out, HYDRA_LAUNCH, "%s", address);
	else if (host && port)
		len = snprintf(out, HYDRA_LAUNCH, "%s:%s", host, port);
	return len > 0 && len < HYDRA_LAUNCH;
}

static ssize_t read_of(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : file_reread(fd, text, size);
	file_close(&fd);
	return n;
}

/* Field number of stat, counted as proc(5) does; the name, the second, may hold anything. -1: none.
 */
static int64_t stat_field(const char *stat, int number)
{
	const char *p = strrchr(stat, ')');
	int64_t value;

	for (int at = 2; p && at < number; at++)
		p = strchr(p + 1, ' ');
	return p && number_i64(&(const char *){ p + 1 }, &value) ? value : -1;
}

bool hydra_launch(pid_t pid, bool alone, char out[HYDRA_LAUNCH])
{
	enum { PARENT = 4, START = 22 };
	char stat[STAT], cmdline[COMMAND_LINE];

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		ssize_t n = read_of(pid, "cmdline", cmdline, sizeof cmdline);

		if (read_of(pid, "stat", stat, sizeof stat) <= 0)
			return false;
		if (n > 0 && hydra_address(cmdline, (size_t)n, out)) {
			if (alone)
				snprintf(out, HYDRA_LAUNCH, "%d since %lld", (int)pid,
					 (long long)stat_field(stat, START));
			return true;
		}
		pid = (pid_t)stat_field(stat, PARENT);
	}
	return false;
}
