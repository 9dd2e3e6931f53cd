/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_fabric.c - ports of the fabric side by side: one that is idle beside a busy one, one
 * whose link is slower than the others'. From footers alone.
 */
#include "report/summary/summary_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Less than this share of what the busiest port beside it moved is next to nothing. */
static const double idle_share = 0.01;
/* A link is slower by more than what rounding does. */
static const double slow_share = 0.9;

static const char *const fabrics[] = { "infiniband", "slingshot" };

struct fabric_metrics {
	uint32_t received, sent, speed;
};

struct port {
	uint32_t host;
	const char *domain, *network, *name, *host_name;
	double received, sent;
	double moved;       /* bytes, in the direction in which they were more */
	double bytes_per_s; /* the same by the time of its recording */
	double speed;       /* NAN: not known, or down all the time */
};

static uint32_t metric_of(const struct run *r, const char *fabric, const char *what)
{
	char name[96];

	snprintf(name, sizeof name, "%s.%s", fabric, what);
	return run_find_metric(r, name);
}

/* By how much a counter of a port rose; NAN: not known. */
static double rise(const struct series_index *x, const struct run *r, uint32_t port,
		   uint32_t metric)
{
	double sum = NAN;

	for (uint32_t i = x->first[port]; i; i = x->next[i])
		if (metric && r->series[i].metric == metric && x->last[i] >= x->begin[i])
			sum = (isnan(sum) ? 0 : sum) + x->last[i] - x->begin[i];
	return sum;
}

static void take_port(struct port *p, const struct run *r, const struct series_index *x,
		      const struct fabric_metrics *m, uint32_t i)
{
	const struct run_instance *in = &r->instances[i];
	const struct run_node *node = &r->nodes[in->node];
	double seconds =
		run_seconds(r, in->node, node->last_ns) - run_seconds(r, in->node, node->first_ns);
	const char *network = run_label(r, i, "network");

	p->domain = in->domain;
	p->network = network ? network : "";
	p->name = in->name ? in->name : "";
	p->host_name = node->host ? node->host : "?";
	p->received = rise(x, r, i, m->received);
	p->sent = rise(x, r, i, m->sent);
	p->moved = fmax(p->received, p->sent);
	p->bytes_per_s = seconds > 0 ? p->moved / seconds : NAN;
	p->speed = series_index_max(x, r, i, m->speed);
}

static int compare(double a, double b)
{
	return (a > b) - (a < b);
}

/* Ports of one network. */
static int by_network(const struct port *a, const struct port *b)
{
	int rc = strcmp(a->domain, b->domain);

	return rc ? rc : strcmp(a->network, b->network);
}

/* Those on one host. */
static int by_host(const struct port *a, const struct port *b)
{
	int rc = by_network(a, b);

	return rc ? rc : compare(a->host, b->host);
}

/* Those of one name on all hosts. */
static int by_name(const struct port *a, const struct port *b)
{
	int rc = by_network(a, b);

	return rc ? rc : strcmp(a->name, b->name);
}

static int by_port(const void *a, const void *b)
{
	const struct port *x = a, *y = b;
	int rc = by_host(a, b);

	rc = rc ? rc : strcmp(x->name, y->name);
	return rc ? rc : compare(x->moved, y->moved);
}

static int by_host_and_speed(const void *a, const void *b)
{
	const struct port *x = a, *y = b;
	int rc = by_host(a, b);

	return rc ? rc : compare(x->speed, y->speed);
}

static int by_name_and_speed(const void *a, const void *b)
{
	const struct port *x = a, *y = b;
	int rc = by_name(a, b);

	return rc ? rc : compare(x->speed, y->speed);
}

/* A machine's own Ethernet may have ports for another purpose and of another speed. */
static bool is_for_one_purpose(const struct port *a)
{
	return strcmp(a->network, "RoCE") != 0 && strcmp(a->network, "iWARP") != 0;
}

/* Each port counts once, however many recordings of its host saw it: by the one that saw most. */
static uint32_t leave_out_again(struct port *p, uint32_t n)
{
	uint32_t kept = 0;

	qsort(p, n, sizeof *p, by_port);
	for (uint32_t i = 0; i < n; i++)
		if (i + 1 == n || by_host(&p[i], &p[i + 1]) ||
		    strcmp(p[i].name, p[i + 1].name) != 0)
			p[kept++] = p[i];
	return kept;
}

static void name_port(char *out, const struct port *p)
{
	snprintf(out, STORY_TEXT, "%.70s on %.70s", p->name, p->host_name);
}

/* Of the hosts with an idle port the one whose busiest moved most is named. */
static void idle_of_host(struct story_fabric *f, const struct port *p, uint32_t n)
{
	const struct port *busy = p;

	for (uint32_t i = 1; i < n; i++)
		busy = p[i].moved > busy->moved ? &p[i] : busy;
	for (uint32_t i = 0; i < n && is_for_one_purpose(p); i++) {
		if (!(p[i].moved < idle_share * busy->moved))
			continue;
		f->ports_idle++;
		if (f->busy_bytes_per_s >= busy->bytes_per_s)
			continue;
		f->busy_bytes_per_s = busy->bytes_per_s;
		f->busy_ratio = busy->bytes_per_s / busy->speed;
		name_port(f->idle_port, &p[i]);
		name_port(f->busy_port, busy);
		snprintf(f->busy_metric, STORY_TEXT, "%.40s.%s_bytes_per_second", busy->domain,
			 busy->received > busy->sent ? "received" : "transmitted");
	}
}

/* Of ports that should be alike, slowest first: a slower one than more than half of the others. */
static void slow_of_alike(struct story_fabric *f, const struct port *p, uint32_t n)
{
	uint32_t same = 0;
	double usual = n ? p[n / 2].speed : NAN;

	for (uint32_t i = 0; i < n; i++)
		same += fabs(p[i].speed - usual) < 1;
	if (n < 2 || 2 * same <= n - 1 || !(p[0].speed < slow_share * usual) ||
	    p[0].speed / usual >= f->slow_bytes_per_s / f->usual_bytes_per_s)
		return;
	f->slow_bytes_per_s = p[0].speed;
	f->usual_bytes_per_s = usual;
	name_port(f->slow_port, p);
	snprintf(f->slow_metric, STORY_TEXT, "%.40s.speed_bytes_per_second", p->domain);
}

typedef void each_group(struct story_fabric *f, const struct port *p, uint32_t n);

static void of_groups(struct story_fabric *f, const struct port *p, uint32_t n,
		      int (*same)(const struct port *a, const struct port *b), each_group *each)
{
	for (uint32_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && same(&p[from], &p[to]) == 0;)
			to++;
		each(f, p + from, to - from);
	}
}

/* The same port of all hosts; of one host alone its ports. */
static void find_slow(struct story_fabric *f, struct port *p, uint32_t n)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!isnan(p[i].speed))
			p[known++] = p[i];
	qsort(p, known, sizeof *p, by_name_and_speed);
	of_groups(f, p, known, by_name, slow_of_alike);
	if (*f->slow_port)
		return;
	n = 0;
	for (uint32_t i = 0; i < known; i++)
		if (is_for_one_purpose(&p[i]))
			p[n++] = p[i];
	qsort(p, n, sizeof *p, by_host_and_speed);
	of_groups(f, p, n, by_host, slow_of_alike);
}

static uint32_t take_ports(struct port *p, const struct run *r, const struct series_index *x,
			   const uint32_t *host)
{
	uint32_t n = 0;

	for (size_t f = 0; f < sizeof fabrics / sizeof fabrics[0]; f++) {
		struct fabric_metrics m = { metric_of(r, fabrics[f], "received_bytes"),
					    metric_of(r, fabrics[f], "transmitted_bytes"),
					    metric_of(r, fabrics[f], "speed_bytes_per_second") };

		for (uint32_t i = 1; i < r->ninstances; i++) {
			const struct run_instance *in = &r->instances[i];

			if (!in->domain || strcmp(in->domain, fabrics[f]) != 0 ||
			    in->node >= r->nnodes)
				continue;
			take_port(&p[n], r, x, &m, i);
			p[n].host = host[in->node];
			n += !isnan(p[n].moved) && (!isnan(p[n].speed) || p[n].moved > 0);
		}
	}
	return leave_out_again(p, n);
}

static void add_up(struct story_fabric *f, const struct port *p, uint32_t n)
{
	f->ports = n;
	f->ports_idle = f->received_bytes = f->sent_bytes = 0;
	for (uint32_t i = 0; i < n; i++) {
		f->received_bytes += p[i].received;
		f->sent_bytes += p[i].sent;
		f->used_ratio = fmax(f->used_ratio, p[i].bytes_per_s / p[i].speed);
	}
}

static uint32_t count_ports(const struct run *r)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < r->ninstances; i++)
		for (size_t f = 0; f < sizeof fabrics / sizeof fabrics[0]; f++)
			n += r->instances[i].domain &&
			     strcmp(r->instances[i].domain, fabrics[f]) == 0;
	return n;
}

int summary_fabric_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	struct story_fabric *f = &s->story.fabric;
	uint32_t most = count_ports(r), n;
	struct port *p = calloc(most + 1, sizeof *p);
	uint32_t *host = calloc(r->nnodes + 1, sizeof *host);
	bool made = p && host && !run_hosts(r, host);

	n = made && most ? take_ports(p, r, x, host) : 0;
	if (n) {
		add_up(f, p, n);
		of_groups(f, p, n, by_host, idle_of_host);
		find_slow(f, p, n);
	}
	free(p);
	free(host);
	return made ? 0 : -ENOMEM;
}
