/* SPDX-License-Identifier: Apache-2.0 */
/* slingshot.c - HPE Slingshot adapters: the telemetry of the cxi driver in /sys/class/cxi/, whose
 * files are "value@seconds.nanoseconds". The names are those of Cassini's counters. */
#include "source/counterfile.h"
#include "source/source.h"

#include <errno.h>
#include <stdio.h>

enum { ADAPTERS_MAX = 64 };

enum {
	RX_BYTES,
	TX_BYTES,
	NKEPT,
	RX_PACKETS = NKEPT,
	TX_PACKETS,
	RX_PAUSED,
	TX_PAUSED,
	DISCARDS,
	CORRECTED,
	UNCORRECTED,
	RX_REPLAYS,
	TX_REPLAYS,
	SOURCE_TIMEOUTS,
	SEQUENCE_TIMEOUTS,
	RETRIES,
	RESOURCE_NACKS,
	TARGET_NACKS,
	MATCH_PRIORITY,
	MATCH_OVERFLOW,
	HOST_WRITES,
	HOST_READS,
	HOST_WRITES_BLOCKED,
	HOST_READS_BLOCKED,
	TRANSLATION_MISSES,
	SPEED,
	NROWS,
	RX_RATIO = NROWS,
	TX_RATIO,
	METRICS_NUMBER_OF
};
_Static_assert((int)NKEPT <= (int)COUNTERS_KEPT_MAX, "files of traffic that stay open");
_Static_assert((int)NROWS <= (int)EVENT_SET_MAX, "the rows are one set of series");

#define COUNTER                                                                                    \
	.domain = "slingshot", .kind = KIND_COUNTER, .over_instances = COMBINE_SUM,                \
	.over_nodes = COMBINE_SUM
#define BYTES  COUNTER, .unit = UNIT_BYTES
#define EVENTS COUNTER, .unit = UNIT_COUNT
#define RATIO                                                                                      \
	.domain = "slingshot", .kind = KIND_GAUGE, .unit = UNIT_RATIO,                             \
	.over_instances = COMBINE_MAX, .over_nodes = COMBINE_MAX
#define NODE " by the whole node, other jobs included."

static const struct metric metrics[] = {
	[RX_BYTES] = { "slingshot.received_bytes", BYTES, .label = "Received",
		       .help = "Bytes received" NODE },
	[TX_BYTES] = { "slingshot.transmitted_bytes", BYTES, .label = "Sent",
		       .help = "Bytes sent" NODE },
	[RX_PACKETS] = { "slingshot.received_packets", EVENTS, .label = "Packets received",
			 .help = "Packets received" NODE },
	[TX_PACKETS] = { "slingshot.transmitted_packets", EVENTS, .label = "Packets sent",
			 .help = "Packets sent" NODE },
	[RX_PAUSED] = { "slingshot.receive_paused_cycles", EVENTS, .label = "Receive paused",
			.help = "Cycles in which the adapter held back the network, summed over "
				"traffic classes." },
	[TX_PAUSED] = { "slingshot.transmit_paused_cycles", EVENTS, .label = "Transmit paused",
			.help = "Cycles in which the network held back the adapter, summed over "
				"traffic classes: congestion." },
	[DISCARDS] = { "slingshot.discards", EVENTS, .label = "Discards",
		       .help = "Packets discarded, summed over traffic classes." },
	[CORRECTED] = { "slingshot.corrected_codewords", EVENTS, .label = "Corrected code words",
			.help = "Code words of the link with errors that were corrected." },
	[UNCORRECTED] = { "slingshot.uncorrected_codewords", EVENTS,
			  .label = "Uncorrected code words",
			  .help = "Code words of the link with errors that could not be "
				  "corrected." },
	[RX_REPLAYS] = { "slingshot.receive_replays", EVENTS, .label = "Receive replays",
			 .help = "Times that the link's other end had to send again." },
	[TX_REPLAYS] = { "slingshot.transmit_replays", EVENTS, .label = "Transmit replays",
			 .help = "Times that the adapter had to send again on the link." },
	[SOURCE_TIMEOUTS] = { "slingshot.packet_timeouts", EVENTS, .label = "Packet timeouts",
			      .help = "Packets whose answer did not come in time." },
	[SEQUENCE_TIMEOUTS] = { "slingshot.connection_timeouts", EVENTS,
				.label = "Connection timeouts",
				.help = "Connections to a target that timed out." },
	[RETRIES] = { "slingshot.retries", EVENTS, .label = "Retries",
		      .help = "Requests that were sent again." },
	[RESOURCE_NACKS] = { "slingshot.tracking_refusals", EVENTS, .label = "Tracking refusals",
			     .help = "Requests refused because the target had no entry left to "
				     "track them." },
	[TARGET_NACKS] = { "slingshot.connection_refusals", EVENTS, .label = "Connection refusals",
			   .help = "Requests refused because the target had no connection left." },
	[MATCH_PRIORITY] = { "slingshot.messages_expected", EVENTS, .label = "Messages expected",
			     .help = "Messages that met a receive that was posted before." },
	[MATCH_OVERFLOW] = { "slingshot.messages_unexpected", EVENTS,
			     .label = "Messages unexpected",
			     .help = "Messages that came before their receive was posted, and "
				     "cost a copy." },
	[HOST_WRITES] = { "slingshot.host_posted_packets", EVENTS, .label = "Writes to the host",
			  .help = "Posted packets (writes) over PCIe to the host." },
	[HOST_READS] = { "slingshot.host_non_posted_packets", EVENTS,
			 .label = "Reads from the host",
			 .help = "Non-posted packets (reads) over PCIe to the host." },
	[HOST_WRITES_BLOCKED] = { "slingshot.host_posted_blocked_cycles", EVENTS,
				  .label = "Writes to the host blocked",
				  .help = "Cycles in which posted packets waited for PCIe." },
	[HOST_READS_BLOCKED] = { "slingshot.host_non_posted_blocked_cycles", EVENTS,
				 .label = "Reads from the host blocked",
				 .help = "Cycles in which non-posted packets waited for PCIe." },
	[TRANSLATION_MISSES] = { "slingshot.translation_misses", EVENTS,
				 .label = "Translation misses",
				 .help = "Misses in the adapter's cache of address "
					 "translations." },
	[SPEED] = { "slingshot.speed_bytes_per_second", .domain = "slingshot", .kind = KIND_GAUGE,
		    .unit = UNIT_BYTES_PER_SECOND, .mul = 1000000 / 8,
		    .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM, .label = "Link speed",
		    .help = "Rate of the link as it is now; absent where it is down." },
	[RX_RATIO] = { "slingshot.receive_used_ratio", RATIO,
		       .formula = "slingshot.received_bytes_per_second / "
				  "slingshot.speed_bytes_per_second",
		       .label = "Link used, receiving",
		       .help = "Bytes received as a share of the link's speed." },
	[TX_RATIO] = { "slingshot.transmit_used_ratio", RATIO,
		       .formula = "slingshot.transmitted_bytes_per_second / "
				  "slingshot.speed_bytes_per_second",
		       .label = "Link used, sending",
		       .help = "Bytes sent as a share of the link's speed." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == METRICS_NUMBER_OF, "a row for every index");

#define ONE(row, name)    [row] = { .path = { "telemetry/" name } }
#define SUM(row, name, n) [row] = { .path = { "telemetry/" name "_%u" }, .files = n }

static const struct counter_file files[] = {
	ONE(RX_BYTES, "hni_sts_rx_ok_octets"),
	ONE(TX_BYTES, "hni_sts_tx_ok_octets"),
	SUM(RX_PACKETS, "hni_pkts_recv_by_tc", 8),
	SUM(TX_PACKETS, "hni_pkts_sent_by_tc", 8),
	SUM(RX_PAUSED, "hni_rx_paused", 8),
	SUM(TX_PAUSED, "hni_tx_paused", 8),
	SUM(DISCARDS, "hni_discard_cntr", 8),
	ONE(CORRECTED, "hni_pcs_corrected_cw"),
	ONE(UNCORRECTED, "hni_pcs_uncorrected_cw"),
	ONE(RX_REPLAYS, "hni_llr_rx_replay_event"),
	ONE(TX_REPLAYS, "hni_llr_tx_replay_event"),
	ONE(SOURCE_TIMEOUTS, "pct_spt_timeouts"),
	ONE(SEQUENCE_TIMEOUTS, "pct_sct_timeouts"),
	ONE(RETRIES, "pct_retry_srb_requests"),
	ONE(RESOURCE_NACKS, "pct_no_trs_nacks"),
	ONE(TARGET_NACKS, "pct_no_tct_nacks"),
	SUM(MATCH_PRIORITY, "lpe_net_match_priority", 4),
	SUM(MATCH_OVERFLOW, "lpe_net_match_overflow", 4),
	ONE(HOST_WRITES, "parbs_tarb_pi_posted_pkts"),
	ONE(HOST_READS, "parbs_tarb_pi_non_posted_pkts"),
	ONE(HOST_WRITES_BLOCKED, "parbs_tarb_pi_posted_blocked_cnt"),
	ONE(HOST_READS_BLOCKED, "parbs_tarb_pi_non_posted_blocked_cnt"),
	SUM(TRANSLATION_MISSES, "atu_cache_miss", 4),
	[SPEED] = { .path = { "properties/speed" } },
};
_Static_assert(sizeof files / sizeof files[0] == NROWS, "a file for every row");

/* The speed of a link that is down is one that it had or could have. */
static int means(const struct counters *c, const struct counter_device *d, uint32_t row)
{
	char path[COUNTERS_DIR_SIZE + 32];
	int64_t up;

	if (row != SPEED)
		return 0;
	snprintf(path, sizeof path, "%s/properties/link", d->dir);
	return sysfs_read_number(c->root, path, &up) == 0 && up == 0 ? -ENETDOWN : 0;
}

static void announce(struct counters *c, struct device *v, struct sample *s)
{
	char path[COUNTERS_DIR_SIZE + 32], speed[32];

	counters_announce(c, v, s);
	sample_label(s, v->instance, "scope", "node");
	sample_label(s, v->instance, "network", "Slingshot");
	snprintf(path, sizeof path, "%s/port/speed", counters_device(c, v)->dir);
	sysfs_line(c->root, path, speed, sizeof speed);
	if (*speed)
		sample_label(s, v->instance, "speed", speed);
}

/* The adapters there are, or -errno. */
static int list(struct counters *c, struct sample *s)
{
	struct sysfs_name name[ADAPTERS_MAX];
	int n = sysfs_names(c->root, "class/cxi", name, ADAPTERS_MAX);

	devices_begin(&c->devices);
	for (int i = 0; i < n; i++) {
		char dir[COUNTERS_DIR_SIZE];
		struct device *v;

		snprintf(dir, sizeof dir, "class/cxi/%.63s/device", name[i].text);
		v = counters_meet(c, name[i].text, dir);
		if (v && !v->told)
			announce(c, v, s);
	}
	counters_sweep(c, s);
	return n;
}

static const struct counter_kind adapters = {
	.metrics = metrics,
	.files = files,
	.nrows = NROWS,
	.nkept = NKEPT,
	.means = means,
	.list = list,
	.folder = "class/cxi",
	.what = "adapters",
	.none = "Slingshot adapter",
	.most = ADAPTERS_MAX,
	.nmetrics = METRICS_NUMBER_OF,
};

static int slingshot_open(void *state, const struct source_env *env, struct sample *s,
			  struct err *e)
{
	return counters_open(state, &adapters, env, s, e);
}

const struct source source_slingshot = {
	.name = "slingshot",
	.what = "Slingshot adapters of the node, for all its users",
	.fix_admin = "load the driver cxi-ss1 and mount /sys where the job runs",
	SOURCE_METRICS(metrics),
	.size = sizeof(struct counters),
	.open = slingshot_open,
	.read = counters_read,
	.close = counters_close,
};
