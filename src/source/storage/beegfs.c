/* SPDX-License-Identifier: Apache-2.0 */
/* beegfs.c - BeeGFS clients: what the client module tells everybody in /proc/fs/beegfs/: servers,
 * connections to them by kind, and targets that are not well. It tells no input and output. */
#include "base/clock.h"
#include "base/text/number.h"
#include "source/device.h"
#include "source/kept.h"
#include "source/period.h"
#include "source/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { CLIENTS_MAX = 16, TEXT_SIZE = 512 * 1024 };
static const int64_t PERIOD_NS = 10 * NS_PER_S;

enum {
	STORAGE_SERVERS,
	METADATA_SERVERS,
	RDMA,
	TCP,
	FALLBACK,
	TARGETS,
	TARGETS_OFFLINE,
	TARGETS_BAD,
	METRICS_NUMBER_OF
};

#define COUNT                                                                                      \
	.domain = "beegfs", .kind = KIND_GAUGE, .unit = UNIT_COUNT, .over_instances = COMBINE_SUM
/* Every node has connections of its own, but the servers are the same. */
#define OF_THE_NODE COUNT, .over_nodes = COMBINE_SUM
#define OF_ALL      COUNT, .over_nodes = COMBINE_MAX

static const struct metric metrics[] = {
	[STORAGE_SERVERS] = { "beegfs.storage_servers_count", OF_ALL, .label = "Storage servers",
			      .help = "Storage servers the client knows." },
	[METADATA_SERVERS] = { "beegfs.metadata_servers_count", OF_ALL, .label = "Metadata servers",
			       .help = "Metadata servers the client knows." },
	[RDMA] = { "beegfs.rdma_connections_count", OF_THE_NODE, .label = "RDMA connections",
		   .help = "Connections to servers over RDMA." },
	[TCP] = { "beegfs.tcp_connections_count", OF_THE_NODE, .label = "TCP connections",
		  .help = "Connections to servers over TCP; where RDMA is meant to be used, a sign "
			  "of trouble." },
	[FALLBACK] = { "beegfs.fallback_servers_count", OF_THE_NODE, .label = "Fallback routes",
		       .help = "Servers that were not reached by the first choice of route." },
	[TARGETS] = { "beegfs.targets_count", OF_ALL, .label = "Targets",
		      .help = "Storage and metadata targets." },
	[TARGETS_OFFLINE] = { "beegfs.targets_offline_count", OF_ALL, .label = "Targets offline",
			      .help = "Targets that are offline, or probably so." },
	[TARGETS_BAD] = { "beegfs.targets_inconsistent_count", OF_ALL,
			  .label = "Targets inconsistent",
			  .help = "Targets whose data are not consistent, or are being repaired." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == METRICS_NUMBER_OF, "a row for every index");

struct beegfs {
	const struct root *proc;
	struct devices clients; /* by a hash of the client's id */
	struct sysfs_name *name;
	struct period period;
	char *text;
};

/* The number behind the word in this line, 0 when it is not there. */
static int64_t number_behind(const char *line, size_t len, const char *word)
{
	const char *at = memmem(line, len, word, strlen(word));
	int64_t n = 0;

	if (at) {
		at += strlen(word);
		number_i64(&at, &n);
	}
	return n < 0 ? 0 : n;
}

/* "node01 [ID: 1]", then "   Connections: TCP: 2 (10.0.0.1:8003 [fallback route]); RDMA: 4 (...); "
 */
static void scan_nodes(const char *text, int64_t *servers, int64_t *value)
{
	for (const char *p = text; *p; p = number_next_line(p)) {
		size_t len = strcspn(p, "\n");

		if (*p != ' ') {
			number_add(servers, memmem(p, len, " [ID: ", 6) != NULL);
		} else if (memmem(p, len, "Connections: ", 13)) {
			number_add(&value[TCP], number_behind(p, len, " TCP: "));
			number_add(&value[RDMA], number_behind(p, len, " RDMA: "));
			number_add(&value[FALLBACK],
				   memmem(p, len, "[fallback route]", 16) != NULL);
		}
	}
}

/* "[Target ID: 1] @ beegfs-storage node01 [ID: 1]: Online / Good " */
static void scan_targets(const char *text, int64_t *value)
{
	for (const char *p = text; *p; p = number_next_line(p)) {
		size_t len = strcspn(p, "\n");

		if (strncmp(p, "[Target ID: ", 12) != 0)
			continue;
		value[TARGETS]++;
		number_add(&value[TARGETS_OFFLINE], !memmem(p, len, "]: Online / ", 12));
		number_add(&value[TARGETS_BAD], !memmem(p, len, " / Good", 7));
	}
}

static int read_text(const struct beegfs *x, const char *client, const char *file)
{
	char path[160];
	ssize_t n;

	snprintf(path, sizeof path, "fs/beegfs/%.63s/%s", client, file);
	n = root_read(x->proc, path, x->text, TEXT_SIZE);
	return n < 0 ? (int)n : n > 0 && x->text[n - 1] != '\n' ? -EBADMSG : 0;
}

/* What could not be read is absent. The first error. */
static int read_client(const struct beegfs *x, const struct device *v, struct sample *s,
		       const char *client)
{
	int64_t value[METRICS_NUMBER_OF] = { 0 };
	int nodes = read_text(x, client, "storage_nodes"), targets;

	if (!nodes)
		scan_nodes(x->text, &value[STORAGE_SERVERS], value);
	nodes = nodes ? nodes : read_text(x, client, "meta_nodes");
	if (!nodes)
		scan_nodes(x->text, &value[METADATA_SERVERS], value);
	targets = read_text(x, client, "storage_target_state");
	if (!targets)
		scan_targets(x->text, value);
	targets = targets ? targets : read_text(x, client, "meta_target_state");
	if (!targets)
		scan_targets(x->text, value);
	for (uint32_t i = 0; i < METRICS_NUMBER_OF; i++)
		if (!(i < TARGETS ? nodes : targets))
			device_put(v, s, i, value[i]);
	return nodes;
}

/* The clients there are, or -errno. */
static int scan(struct beegfs *x, struct sample *s, int *bad)
{
	int n = sysfs_names(x->proc, "fs/beegfs", x->name, CLIENTS_MAX);

	devices_begin(&x->clients);
	for (int i = 0; i < n; i++) {
		const char *name = x->name[i].text;
		struct device *v = devices_meet_hash(&x->clients,
						     device_hash(DEVICE_HASH, name, strlen(name)));
		int r;

		if (v && !v->told) {
			device_announce_as(v, name, s, metrics, METRICS_NUMBER_OF);
			sample_label(s, v->instance, "scope", "node");
		}
		r = v ? read_client(x, v, s, name) : 0;
		*bad = *bad ? *bad : r;
	}
	devices_sweep(&x->clients, s);
	return n;
}

static void beegfs_close(void *state)
{
	struct beegfs *x = state;

	devices_free(&x->clients);
	free(x->name);
	free(x->text);
}

static int beegfs_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct beegfs *x = state;
	int r, bad = 0;

	if (!sysfs_exists(&env->proc, "fs/beegfs"))
		return err_set(e, -ENODEV, "%s/fs/beegfs: no BeeGFS is mounted", env->proc.path);
	r = devices_init(&x->clients, CLIENTS_MAX);
	x->proc = &env->proc;
	x->name = calloc(CLIENTS_MAX, sizeof *x->name);
	x->text = calloc(1, TEXT_SIZE);
	if (r < 0 || !x->name || !x->text)
		r = err_set(e, -ENOMEM, "there is no memory for a table of clients");
	else
		r = scan(x, s, &bad);
	if (r > 0)
		return 0;
	beegfs_close(x);
	if (r == -ENOMEM)
		return r;
	if (r == 0 || r == -ENOENT)
		return err_set(e, -ENODEV, "%s/fs/beegfs: no BeeGFS is mounted", env->proc.path);
	return err_set(e, r, "%s/fs/beegfs: %s", env->proc.path, strerror(-r));
}

static int beegfs_read(void *state, struct sample *s)
{
	struct beegfs *x = state;
	int bad = 0;

	if (period_is_due(&x->period, s, PERIOD_NS))
		scan(x, s, &bad);
	return bad;
}

const struct source source_beegfs = {
	.name = "beegfs",
	.what = "BeeGFS clients: servers, connections, targets; their input and output is not reported",
	.fixes = source_not_mounted,
	.fix_admin = SOURCE_FIX_PROC,
	SOURCE_METRICS(metrics),
	.size = sizeof(struct beegfs),
	.can_wait = source_can_wait,
	.open = beegfs_open,
	.read = beegfs_read,
	.close = beegfs_close,
};
