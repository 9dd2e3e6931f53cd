/* SPDX-License-Identifier: Apache-2.0 */
/* network.c - network interfaces: /proc/net/dev, its columns found by its header's names. */
#include "base/text/number.h"
#include "source/device.h"
#include "source/kept.h"
#include "source/source.h"

#include <errno.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 64 * 1024, INTERFACES_MAX = 4096, COLUMNS_MAX = 32 };

enum {
	RX_BYTES,
	RX_PACKETS,
	RX_ERRORS,
	RX_DROPPED,
	RX_OVERRUNS,
	RX_MULTICAST,
	TX_BYTES,
	TX_PACKETS,
	TX_ERRORS,
	TX_DROPPED,
	TX_OVERRUNS,
	TX_COLLISIONS,
	TX_CARRIER,
	NCOLUMNS,
	SPEED = NCOLUMNS,
	MEASURED,
	RX_RATIO = MEASURED,
	TX_RATIO,
	METRICS_NUMBER_OF
};

#define NETWORK .domain = "network", .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM
#define BYTES   NETWORK, .kind = KIND_COUNTER, .unit = UNIT_BYTES
#define EVENTS  NETWORK, .kind = KIND_COUNTER, .unit = UNIT_COUNT
#define RATIO                                                                                      \
	.domain = "network", .kind = KIND_GAUGE, .unit = UNIT_RATIO,                               \
	.over_instances = COMBINE_MAX, .over_nodes = COMBINE_MAX

static const struct metric metrics[] = {
	[RX_BYTES] = { "network.received_bytes", BYTES, .label = "Received",
		       .help = "Bytes received." },
	[RX_PACKETS] = { "network.received_packets", EVENTS, .label = "Packets received",
			 .help = "Packets received." },
	[RX_ERRORS] = { "network.receive_errors", EVENTS, .label = "Receive errors",
			.help = "Bad packets received." },
	[RX_DROPPED] = { "network.receive_drops", EVENTS, .label = "Receive drops",
			 .help = "Good packets received and dropped." },
	[RX_OVERRUNS] = { "network.receive_overruns", EVENTS, .label = "Receive overruns",
			  .help = "Packets lost because a receive queue was full." },
	[RX_MULTICAST] = { "network.received_multicast", EVENTS, .label = "Multicast received",
			   .help = "Multicast packets received." },
	[TX_BYTES] = { "network.transmitted_bytes", BYTES, .label = "Sent", .help = "Bytes sent." },
	[TX_PACKETS] = { "network.transmitted_packets", EVENTS, .label = "Packets sent",
			 .help = "Packets sent." },
	[TX_ERRORS] = { "network.transmit_errors", EVENTS, .label = "Transmit errors",
			.help = "Packets that could not be sent." },
	[TX_DROPPED] = { "network.transmit_drops", EVENTS, .label = "Transmit drops",
			 .help = "Packets dropped on their way out." },
	[TX_OVERRUNS] = { "network.transmit_overruns", EVENTS, .label = "Transmit overruns",
			  .help = "Packets lost because a transmit queue failed." },
	[TX_COLLISIONS] = { "network.collisions", EVENTS, .label = "Collisions",
			    .help = "Collisions while sending." },
	[TX_CARRIER] = { "network.carrier_losses", EVENTS, .label = "Carrier losses",
			 .help = "Packets not sent because the link was lost." },
	[SPEED] = { "network.speed_bytes_per_second", NETWORK, .kind = KIND_GAUGE,
		    .unit = UNIT_BYTES_PER_SECOND, .label = "Link speed",
		    .help = "Speed of the link when the interface appeared." },
	[RX_RATIO] = { "network.receive_used_ratio", RATIO,
		       .formula = "network.received_bytes_per_second / "
				  "network.speed_bytes_per_second",
		       .label = "Link used, receiving",
		       .help = "Bytes received as a share of the link's speed." },
	[TX_RATIO] = { "network.transmit_used_ratio", RATIO,
		       .formula = "network.transmitted_bytes_per_second / "
				  "network.speed_bytes_per_second",
		       .label = "Link used, sending",
		       .help = "Bytes sent as a share of the link's speed." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == METRICS_NUMBER_OF, "a row for every index");

/* What the header calls the columns; direction 0 is Receive, 1 Transmit. */
static const struct {
	int direction;
	const char *name;
} headings[] = {
	[RX_BYTES] = { 0, "bytes" },     [RX_PACKETS] = { 0, "packets" },
	[RX_ERRORS] = { 0, "errs" },     [RX_DROPPED] = { 0, "drop" },
	[RX_OVERRUNS] = { 0, "fifo" },   [RX_MULTICAST] = { 0, "multicast" },
	[TX_BYTES] = { 1, "bytes" },     [TX_PACKETS] = { 1, "packets" },
	[TX_ERRORS] = { 1, "errs" },     [TX_DROPPED] = { 1, "drop" },
	[TX_OVERRUNS] = { 1, "fifo" },   [TX_COLLISIONS] = { 1, "colls" },
	[TX_CARRIER] = { 1, "carrier" },
};
_Static_assert(sizeof headings / sizeof headings[0] == NCOLUMNS, "a heading for every column");

enum network_class { CLASS_UNKNOWN, CLASS_LOOPBACK, CLASS_PHYSICAL, CLASS_PATH, CLASS_VIRTUAL };
static const char *const class_names[] = {
	[CLASS_LOOPBACK] = "loopback",
	[CLASS_PHYSICAL] = "physical",
	[CLASS_PATH] = "path", /* below a physical one, which counts for it: a virtual function of
				  Hyper-V's or of virtio's failover */
	[CLASS_VIRTUAL] = "virtual", /* bond, bridge, vlan, veth, tunnel: what it carries is counted
					below it */
};

struct network {
	struct kept dev;
	struct devices interfaces;
	const struct root *sys;
	uint32_t ncolumns;
	uint8_t metric_of[COLUMNS_MAX]; /* NCOLUMNS: none of ours */
	bool has_physical;
};

static uint8_t metric_of(int direction, const char *name, size_t len)
{
	uint8_t i = 0;

	while (i < NCOLUMNS &&
	       !(headings[i].direction == direction && strlen(headings[i].name) == len &&
		 memcmp(headings[i].name, name, len) == 0))
		i++;
	return i;
}

/* " face |bytes packets ...|bytes packets ...": which metric is in which column. */
static bool read_header(struct network *n)
{
	const char *second = number_next_line(n->dev.text);
	const char *p = second + strcspn(second, "|\n");
	int direction = 0;

	for (n->ncolumns = 0; *p && *p != '\n' && n->ncolumns < COLUMNS_MAX;) {
		size_t len;

		if (*p == '|')
			direction = n->ncolumns > 0;
		p += *p == '|' || *p == ' ';
		len = strcspn(p, " |\n");
		if (len)
			n->metric_of[n->ncolumns++] = metric_of(direction, p, len);
		p += len;
	}
	return n->ncolumns && direction;
}

static enum network_class class_of(const struct network *n, const char *name)
{
	char path[96];
	int64_t type;

	snprintf(path, sizeof path, "class/net/%s/type", name);
	if (strcmp(name, "lo") == 0 ||
	    (sysfs_read_number(n->sys, path, &type) == 0 && type == ARPHRD_LOOPBACK))
		return CLASS_LOOPBACK;
	snprintf(path, sizeof path, "class/net/%s/device", name);
	if (!sysfs_exists(n->sys, path))
		return CLASS_VIRTUAL;
	snprintf(path, sizeof path, "class/net/%s/master/device", name);
	return sysfs_exists(n->sys, path) ? CLASS_PATH : CLASS_PHYSICAL;
}

/* The interface of this line, and where its numbers begin; NULL when there is none to tell of. */
static struct device *meet(struct network *n, const char **line)
{
	const char *name = number_skip_blanks(*line);
	size_t len = strcspn(name, ":\n");
	struct device *v = name[len] == ':' ? devices_meet(&n->interfaces, name, len) : NULL;

	*line = name + len + (name[len] == ':');
	if (v && v->class == CLASS_UNKNOWN)
		v->class = class_of(n, v->name);
	return v;
}

static const char *first_interface(const struct network *n)
{
	return number_next_line(number_next_line(n->dev.text));
}

static bool find_physical(struct network *n)
{
	bool found = false;

	devices_begin(&n->interfaces);
	for (const char *p = first_interface(n); *p; p = number_next_line(p)) {
		const struct device *v = meet(n, &p);

		found |= v && v->class == CLASS_PHYSICAL;
	}
	return found;
}

static bool has_column(const struct network *n, uint32_t metric)
{
	return memchr(n->metric_of, (int)metric, n->ncolumns);
}

/* -1, the largest number there is, and an error are what drivers say of a link that is down or of
 * which they do not know. */
static void find_speed(const struct network *n, struct device *v, struct sample *s)
{
	char path[96];
	int64_t megabits;
	int r;

	snprintf(path, sizeof path, "class/net/%s/speed", v->name);
	r = sysfs_read_number(n->sys, path, &megabits);
	if (r == 0 && megabits > 0 && megabits < INT32_MAX)
		v->constant = megabits * (1000000 / 8);
	else if (r == 0 || r == -EINVAL || r == -ENODATA || state_of(r) == STATE_UNSUPPORTED)
		device_lack(v, s, SPEED, STATE_UNSUPPORTED, "the driver does not report it");
	else
		device_lack(v, s, SPEED, state_of(r), sysfs_reason(r));
}

static void announce(const struct network *n, struct device *v, struct sample *s)
{
	device_announce(v, s, metrics, MEASURED);
	sample_label(s, v->instance, "class", class_names[v->class]);
	for (uint32_t i = 0; i < NCOLUMNS; i++)
		if (!has_column(n, i))
			device_lack(v, s, i, STATE_UNSUPPORTED, "this kernel does not count it");
	find_speed(n, v, s);
}

/* Bonds, bridges and the like carry what the physical ones carry, unless (in a container) there are
 * none. */
static uint32_t flags_of(const struct network *n, const struct device *v)
{
	bool counts = v->class == CLASS_PHYSICAL || (v->class == CLASS_VIRTUAL && !n->has_physical);

	return counts ? 0 : INSTANCE_ASIDE;
}

static bool scan_line(struct network *n, struct sample *s, const char *p)
{
	struct device *v = meet(n, &p);
	uint64_t activity = 0;
	int64_t value[COLUMNS_MAX];
	uint32_t found = 0;

	for (; found < n->ncolumns && number_count(&p, &value[found]); found++)
		activity |= (uint64_t)value[found];
	if (!v || found < n->ncolumns)
		return found == n->ncolumns;
	v->flags = flags_of(n, v);
	/* What totals leave out is not worth a word before it has done anything. */
	if (!v->told && v->flags && !activity)
		return true;
	if (!v->told)
		announce(n, v, s);
	for (uint32_t i = 0; i < n->ncolumns; i++)
		if (n->metric_of[i] < NCOLUMNS)
			device_count(v, s, n->metric_of[i], value[i]);
	if (v->constant)
		device_put(v, s, SPEED, v->constant);
	return true;
}

static int scan(struct network *n, struct sample *s)
{
	bool whole = !n->dev.cut;

	devices_begin(&n->interfaces);
	for (const char *p = first_interface(n); *p; p = number_next_line(p))
		whole &= scan_line(n, s, p);
	if (!whole) {
		devices_incomplete(&n->interfaces, s, NCOLUMNS);
		return -EBADMSG;
	}
	devices_sweep(&n->interfaces, s);
	return 0;
}

static void network_close(void *state)
{
	struct network *n = state;

	kept_close(&n->dev);
	devices_free(&n->interfaces);
}

static int network_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct network *n = state;
	int r = kept_open(&n->dev, &env->proc, "net/dev", ROOM, e);

	if (r < 0)
		return r;
	r = devices_init(&n->interfaces, INTERFACES_MAX);
	if (r < 0)
		err_set(e, r, "there is no memory for a table of interfaces");
	else if (!read_header(n))
		r = err_set(e, -EBADMSG, "%s/net/dev: its header names no columns", env->proc.path);
	if (r < 0) {
		network_close(n);
		return r;
	}
	n->sys = &env->sys;
	n->has_physical = find_physical(n);
	sample_catalogue(s, &metrics[MEASURED], METRICS_NUMBER_OF - MEASURED);
	scan(n, s);
	return 0;
}

static int network_read(void *state, struct sample *s)
{
	struct network *n = state;
	int r = kept_read_same(&n->dev);

	if (r == 1 && devices_stand(&n->interfaces, s))
		return 0;
	return r < 0 ? r : scan(n, s);
}

const struct source source_network = {
	.name = "network",
	.what = "network interfaces of the node",
	.fix_admin = SOURCE_FIX_PROC,
	SOURCE_METRICS(metrics),
	.size = sizeof(struct network),
	.open = network_open,
	.read = network_read,
	.close = network_close,
};
