/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c - GPUs and ports of the fabric, side by side. From footers alone. */
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- GPUs ---- */

/* One that is in use shows more than this at least once. */
static const double idle_ratio = 0.02;

struct gpu_metrics {
	uint32_t utilization, used, total, job;
};

/* Memory that the job holds there, else all that is held. */
static void take_memory(struct summary *s, const struct series_index *x,
			const struct gpu_metrics *m, uint32_t gpu)
{
	double total = series_index_max(x, gpu, m->total);
	double held = series_index_max(x, gpu, m->job);

	if (isnan(held))
		held = series_index_max(x, gpu, m->used);
	if (!(held >= 0) || !(total > 0) || s->gpu_memory_peak_ratio >= held / total)
		return;
	s->gpu_memory_peak_ratio = held / total;
	s->gpu_memory_peak_bytes = held;
	s->gpu_memory_total_bytes = total;
}

/* A GPU as one recording of its host saw it. */
struct seen {
	uint32_t host;
	const char *name; /* the one that is its own, where it has such a name */
	double most;      /* in use */
};

static int by_gpu(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Each GPU counts once, however many recordings saw it. */
static void count(struct summary *s, struct seen *seen, uint32_t n)
{
	double here = 0;

	qsort(seen, n, sizeof *seen, by_gpu);
	for (uint32_t i = 0; i < n; i++) {
		bool another = i + 1 == n || by_gpu(&seen[i], &seen[i + 1]) != 0;

		if (!another) {
			seen[i + 1].most = fmax(seen[i].most, seen[i + 1].most);
			continue;
		}
		s->gpus++;
		here += seen[i].most > idle_ratio;
		if (i + 1 < n && seen[i + 1].host == seen[i].host)
			continue;
		s->gpus_used += here;
		s->host_gpus_used = fmax(s->host_gpus_used, here);
		here = 0;
	}
}

static struct gpu_metrics gpu_metrics_of(const struct run *r)
{
	return (struct gpu_metrics){
		run_find_metric(r, "gpu.utilization_ratio"),
		run_find_metric(r, "gpu.memory_used_bytes"),
		run_find_metric(r, "gpu.memory_total_bytes"),
		run_find_metric(r, "gpu.job_memory_bytes"),
	};
}

static int gpus_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	struct gpu_metrics m = gpu_metrics_of(r);
	struct seen *seen = malloc((r->ninstances + 1) * sizeof *seen);
	uint32_t *host = calloc(r->nnodes + 1, sizeof *host), n = 0;
	bool made = seen && host && !run_hosts(r, host);

	s->gpu_memory_peak_bytes = s->gpu_memory_total_bytes = s->gpu_memory_peak_ratio = NAN;
	for (uint32_t i = 1; made && i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		double most = series_index_max(x, i, m.utilization);
		const char *uuid = run_label(r, i, "uuid"), *name = uuid ? uuid : in->name;

		if (!in->domain || strcmp(in->domain, "gpu") != 0 || isnan(most) ||
		    in->node >= r->nnodes)
			continue;
		seen[n++] = (struct seen){ host[in->node], name ? name : "", most };
		take_memory(s, x, &m, i);
	}
	if (made)
		count(s, seen, n);
	if (s->gpus == 0)
		s->gpus = s->gpus_used = s->host_gpus_used = NAN;
	free(seen);
	free(host);
	return made ? 0 : -ENOMEM;
}

/* ---- ports of the fabric ---- */

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

static struct fabric_metrics metrics_of(const struct run *r, const char *fabric)
{
	return (struct fabric_metrics){ metric_of(r, fabric, "received_bytes"),
					metric_of(r, fabric, "transmitted_bytes"),
					metric_of(r, fabric, "speed_bytes_per_second") };
}

void summary_devices_ask(struct series_index *x)
{
	const struct gpu_metrics gpu = gpu_metrics_of(x->run);

	x->asked[gpu.utilization] |= SERIES_MAX;
	x->asked[gpu.used] |= SERIES_MAX;
	x->asked[gpu.total] |= SERIES_MAX;
	x->asked[gpu.job] |= SERIES_MAX;
	for (size_t f = 0; f < sizeof fabrics / sizeof fabrics[0]; f++) {
		const struct fabric_metrics m = metrics_of(x->run, fabrics[f]);

		x->asked[m.received] |= SERIES_RISE;
		x->asked[m.sent] |= SERIES_RISE;
		x->asked[m.speed] |= SERIES_MAX;
	}
}

/* By how much a counter of a port rose; NAN: not known. */
static double rise(const struct series_index *x, const struct run *r, uint32_t port,
		   uint32_t metric)
{
	double sum = NAN;

	for (uint32_t k = x->first[port]; k; k = x->kept[k].next)
		if (metric && r->series[x->kept[k].series].metric == metric &&
		    series_index_rise(x, k) >= 0)
			sum = (isnan(sum) ? 0 : sum) + series_index_rise(x, k);
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
	p->speed = series_index_max(x, i, m->speed);
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
		struct fabric_metrics m = metrics_of(r, fabrics[f]);

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

static int fabric_make(struct summary *s, const struct run *r, const struct series_index *x)
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

int summary_devices_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	return gpus_make(s, r, x) || fabric_make(s, r, x) ? -ENOMEM : 0;
}
