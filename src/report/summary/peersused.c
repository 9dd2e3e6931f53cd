/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/peersused.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const peer_used_names[PEER_USED] = {
	"sent_bytes",
	"received_bytes",
	"retransmitted_bytes",
	"retransmits",
	"rtt_seconds",
	"rtt_min_seconds",
	"open_seconds",
	"busy_seconds",
	"receiver_limited_seconds",
	"buffer_limited_seconds",
	"program_limited_seconds",
	"connections",
	"unseen_ends",
	"network_limited_seconds",
};
const char *const peer_limit_names[] = {
	[PEER_LIMIT_NONE] = NULL,
	[PEER_LIMIT_READER] = "reader",
	[PEER_LIMIT_BUFFER] = "send buffer",
	[PEER_LIMIT_NETWORK] = "network",
	[PEER_LIMIT_PROGRAM] = "program",
};

static bool is_peer(const struct run *r, uint32_t i)
{
	return r->instances[i].domain && !strcmp(r->instances[i].domain, "peer");
}

/* What is said of a counter last is all of it. */
static void take_finals(struct peer_row *row, const struct run *r, uint32_t instance,
			const uint32_t *metric)
{
	const struct run_instance *in = &r->instances[instance];

	for (int i = 0; i < PEER_USED; i++)
		row->value[i] = NAN;
	for (uint32_t f = 0; f < in->nfinals; f++)
		for (int i = 0; i < PEER_NETWORK; i++) {
			const struct run_final *v = &r->finals[in->first_final + f];

			if (metric[i] && v->metric == metric[i] && v->value >= 0)
				row->value[i] = metric_value(&r->metrics[v->metric].row, v->value);
		}
	row->value[PEER_NETWORK] = fmax(row->value[PEER_BUSY] - row->value[PEER_RECEIVER] -
						row->value[PEER_BUFFER] - row->value[PEER_PROGRAM],
					0);
	if (!(row->value[PEER_BUSY] >= 0))
		row->value[PEER_NETWORK] = NAN;
}

/* ---- nodes ---- */

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; len && at && *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		if (n == len && !memcmp(at, word, n))
			return true;
		at += n;
	}
	return false;
}

/* Which node has this address; 0: none, or several say so. A loopback is one's own. */
static uint32_t node_of(const struct peers_used *u, const struct run *r, const struct peer_row *row)
{
	uint32_t found = 0;

	if (!row->remote)
		return 0;
	if (!strncmp(row->remote, "127.", 4) || !strcmp(row->remote, "::1") ||
	    (row->local && !strcmp(row->remote, row->local)))
		return row->node;
	for (uint32_t node = 1; node < r->nnodes; node++) {
		if (!has_word(run_find_text(r, node, "peers.addresses"), row->remote))
			continue;
		if (found && strcmp(u->nodes[found], u->nodes[node]) != 0)
			return 0;
		found = found ? found : node;
	}
	return found;
}

/* From node to node, as the sender says; as the receiver does where the sender says less: its
 * process was not the job's. */
static int fill_matrix(struct peers_used *u)
{
	size_t cells = (size_t)u->nnodes * u->nnodes;
	double *got = calloc(cells, sizeof *got);

	u->matrix = calloc(cells, sizeof *u->matrix);
	if (!got || !u->matrix) {
		free(got);
		return -ENOMEM;
	}
	for (size_t i = 0; i < u->n; i++) {
		const struct peer_row *row = &u->row[i];

		if (!row->to)
			continue;
		if (row->value[PEER_SENT] > 0)
			u->matrix[(size_t)row->node * u->nnodes + row->to] += row->value[PEER_SENT];
		if (row->value[PEER_RECEIVED] > 0)
			got[(size_t)row->to * u->nnodes + row->node] += row->value[PEER_RECEIVED];
	}
	for (size_t i = 0; i < cells; i++)
		u->matrix[i] = fmax(u->matrix[i], got[i]);
	free(got);
	return 0;
}

/* ---- rows ---- */

static double bytes_of(const struct peer_row *r)
{
	return fmax(r->value[PEER_SENT], 0) + fmax(r->value[PEER_RECEIVED], 0);
}

static int by_bytes(const void *a, const void *b)
{
	const struct peer_row *x = a, *y = b;
	double bx = bytes_of(x), by = bytes_of(y);

	return bx != by ? (bx < by) - (bx > by) : strcmp(x->name, y->name);
}

static void make_rows(struct peers_used *u, const struct run *r)
{
	uint32_t metric[PEER_USED] = { 0 };
	char name[64];

	for (int i = 0; i < PEER_NETWORK; i++) {
		snprintf(name, sizeof name, "peer.%s", peer_used_names[i]);
		metric[i] = run_find_metric(r, name);
	}
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		struct peer_row *row = &u->row[u->n];

		if (!is_peer(r, i))
			continue;
		*row = (struct peer_row){
			.name = in->name ? in->name : "",
			.process = in->parent ? r->instances[in->parent].name : NULL,
			.remote = run_label(r, i, "remote"),
			.local = run_label(r, i, "local"),
			.port = run_label(r, i, "port"),
			.direction = run_label(r, i, "direction"),
			.node = in->node,
		};
		take_finals(row, r, i, metric);
		row->to = node_of(u, r, row);
		row->remote_node = row->to ? u->nodes[row->to] : NULL;
		u->n++;
	}
	qsort(u->row, u->n, sizeof *u->row, by_bytes);
}

/* What it waited for longest. Nothing is said of less than a tenth of a second, and of ends that
 * hardly send. */
enum peer_limit peer_limit_of(const struct peer_row *r)
{
	const double *v = r->value;
	const double waited[] = {
		[PEER_LIMIT_READER] = v[PEER_RECEIVER],
		[PEER_LIMIT_BUFFER] = v[PEER_BUFFER],
		[PEER_LIMIT_NETWORK] = v[PEER_NETWORK],
		[PEER_LIMIT_PROGRAM] = fmax(v[PEER_OPEN] - v[PEER_BUSY], 0) + v[PEER_PROGRAM],
	};
	enum peer_limit most = PEER_LIMIT_PROGRAM;

	if (!(v[PEER_SENT] > 0) || v[PEER_SENT] < 0.1 * v[PEER_RECEIVED] || !(v[PEER_BUSY] >= 0) ||
	    !(v[PEER_OPEN] >= 0.1))
		return PEER_LIMIT_NONE;
	for (int i = PEER_LIMIT_READER; i <= PEER_LIMIT_NETWORK; i++)
		if (waited[i] > waited[most])
			most = (enum peer_limit)i;
	return most;
}

static void judge(struct peers_used *u)
{
	for (size_t i = 0; i < u->n; i++) {
		const struct peer_row *row = &u->row[i];

		if (row->value[PEER_RECEIVER] > (u->reader ? u->reader->value[PEER_RECEIVER] : 0))
			u->reader = row;
		if (row->value[PEER_BUFFER] > (u->buffer ? u->buffer->value[PEER_BUFFER] : 0))
			u->buffer = row;
		if (row->value[PEER_RETRANSMITTED] >
		    (u->again ? u->again->value[PEER_RETRANSMITTED] : 0))
			u->again = row;
	}
}

const char *peer_row_name(const struct peer_row *r, char *out, size_t size)
{
	if (r->remote_node && r->to != r->node)
		snprintf(out, size, "%s (%s)", r->remote_node, r->name);
	else
		snprintf(out, size, "%s", r->name);
	return out;
}

/* ---- all of it ---- */

static bool take_nodes(struct peers_used *u, const struct run *r)
{
	bool wanted = false;

	for (uint32_t node = 1; node < r->nnodes; node++) {
		u->nodes[node] = r->nodes[node].host ? r->nodes[node].host : "";
		wanted |= run_find_meta(r, node, "peers.ends_told") != NULL;
		if (!u->note)
			u->note = run_find_text(r, node, "peers.note");
		if (!u->refused)
			u->refused = run_find_text(r, node, "source.peers");
	}
	return wanted || u->refused;
}

int peers_used_make(struct peers_used **out, const struct run *r, struct err *e)
{
	struct peers_used *u = calloc(1, sizeof *u);
	size_t n = 0;
	int rc = u ? 0 : -ENOMEM;

	*out = NULL;
	for (uint32_t i = 1; i < r->ninstances; i++)
		n += is_peer(r, i);
	if (u) {
		u->nnodes = r->nnodes;
		u->row = calloc(n + 1, sizeof *u->row);
		u->nodes = calloc((size_t)r->nnodes + 1, sizeof *u->nodes);
		rc = u->row && u->nodes ? 0 : -ENOMEM;
	}
	if (!rc && !take_nodes(u, r)) {
		peers_used_free(u);
		return 0;
	}
	if (!rc) {
		make_rows(u, r);
		judge(u);
		rc = u->nnodes > 2 && u->n ? fill_matrix(u) : 0;
	}
	if (rc) {
		peers_used_free(u);
		return err_set(e, rc, "out of memory for the connections of %.300s", r->path);
	}
	*out = u;
	return 0;
}

void peers_used_free(struct peers_used *u)
{
	if (u) {
		free(u->row);
		free(u->matrix);
		free(u->nodes);
	}
	free(u);
}
