/* SPDX-License-Identifier: Apache-2.0 */
/* infiniband.c - ports of InfiniBand, Omni-Path and RoCE adapters, as the kernel's RDMA core tells
 * of them: /sys/class/infiniband/, Documentation/ABI/stable/sysfs-class-infiniband. */
#include "source/counterfile.h"
#include "source/source.h"

#include <errno.h>
#include <stdio.h>

enum { PORTS_MAX = 128, ADAPTERS_MAX = 64, PORTS_OF_ADAPTER_MAX = 16 };

enum {
	RX_BYTES,
	TX_BYTES,
	RX_PACKETS,
	TX_PACKETS,
	NKEPT,
	STATE = NKEPT,
	PHYSICAL_STATE,
	SPEED,
	RX_UNICAST,
	TX_UNICAST,
	RX_MULTICAST,
	TX_MULTICAST,
	SYMBOL_ERRORS,
	LINK_RECOVERIES,
	LINK_DOWNS,
	RX_ERRORS,
	RX_REMOTE_ERRORS,
	RX_RELAY_ERRORS,
	TX_DISCARDS,
	TX_CONSTRAINT,
	RX_CONSTRAINT,
	INTEGRITY_ERRORS,
	BUFFER_OVERRUNS,
	VL15_DROPS,
	TX_WAIT,
	OUT_OF_BUFFER,
	OUT_OF_SEQUENCE,
	SEQUENCE_NAKS,
	IMPLIED_NAKS,
	ACK_TIMEOUTS,
	RNR_RETRIES,
	DUPLICATES,
	ICRC_ERRORS,
	ECN_MARKED,
	CNP_SENT,
	CNP_HANDLED,
	ADAPTIVE_RETRIES,
	WRITE_REQUESTS,
	READ_REQUESTS,
	ATOMIC_REQUESTS,
	REQUESTER_ERRORS,
	RESPONDER_ERRORS,
	ADAPTER_RX_BYTES,
	ADAPTER_TX_BYTES,
	ADAPTER_RX_PACKETS,
	ADAPTER_TX_PACKETS,
	NROWS,
	RX_RATIO = NROWS,
	TX_RATIO,
	METRICS_NUMBER_OF
};
_Static_assert((int)NKEPT <= (int)COUNTERS_KEPT_MAX, "files of traffic that stay open");
_Static_assert((int)NROWS <= (int)EVENT_SET_MAX, "the rows are one set of series");

#define PORT    .domain = "infiniband", .over_nodes = COMBINE_SUM
#define COUNTER PORT, .kind = KIND_COUNTER, .over_instances = COMBINE_SUM
#define WORDS   COUNTER, .unit = UNIT_BYTES, .mul = 4 /* of data; packets are packets */
#define BYTES   COUNTER, .unit = UNIT_BYTES
#define EVENTS  COUNTER, .unit = UNIT_COUNT
#define NUMBER                                                                                     \
	.domain = "infiniband", .kind = KIND_STATE, .over_instances = COMBINE_MIN,                 \
	.over_nodes = COMBINE_MIN
#define RATIO                                                                                      \
	.domain = "infiniband", .kind = KIND_GAUGE, .unit = UNIT_RATIO,                            \
	.over_instances = COMBINE_MAX, .over_nodes = COMBINE_MAX
#define NODE " by the whole node, other jobs included."

static const struct metric metrics[] = {
	[RX_BYTES] = { "infiniband.received_bytes", WORDS, .label = "Received",
		       .help = "Bytes received" NODE },
	[TX_BYTES] = { "infiniband.transmitted_bytes", WORDS, .label = "Sent",
		       .help = "Bytes sent" NODE },
	[RX_PACKETS] = { "infiniband.received_packets", EVENTS, .label = "Packets received",
			 .help = "Packets received" NODE },
	[TX_PACKETS] = { "infiniband.transmitted_packets", EVENTS, .label = "Packets sent",
			 .help = "Packets sent" NODE },
	[STATE] = { "infiniband.link_state", NUMBER, .label = "Link state",
		    .help = "Logical state of the port: 1 down, 2 initialising, 3 armed, 4 "
			    "active." },
	[PHYSICAL_STATE] = { "infiniband.physical_state", NUMBER, .label = "Physical state",
			     .help = "Physical state of the port: 2 polling, 3 disabled, 5 link "
				     "up, 6 recovering." },
	[SPEED] = { "infiniband.speed_bytes_per_second", PORT, .kind = KIND_GAUGE,
		    .unit = UNIT_BYTES_PER_SECOND, .mul = 100000000 / 8,
		    .over_instances = COMBINE_SUM, .label = "Link speed",
		    .help = "Signalling rate of the link as it is now; absent where it is "
			    "not active." },
	[RX_UNICAST] = { "infiniband.received_unicast", EVENTS, .label = "Unicast received",
			 .help = "Unicast packets received" NODE },
	[TX_UNICAST] = { "infiniband.transmitted_unicast", EVENTS, .label = "Unicast sent",
			 .help = "Unicast packets sent" NODE },
	[RX_MULTICAST] = { "infiniband.received_multicast", EVENTS, .label = "Multicast received",
			   .help = "Multicast packets received" NODE },
	[TX_MULTICAST] = { "infiniband.transmitted_multicast", EVENTS, .label = "Multicast sent",
			   .help = "Multicast packets sent" NODE },
	[SYMBOL_ERRORS] = { "infiniband.symbol_errors", EVENTS, .label = "Symbol errors",
			    .help = "Minor errors on the lanes of the port." },
	[LINK_RECOVERIES] = { "infiniband.link_recoveries", EVENTS, .label = "Link recoveries",
			      .help = "Times that the link recovered from an error." },
	[LINK_DOWNS] = { "infiniband.link_downs", EVENTS, .label = "Link downs",
			 .help = "Times that the link failed to recover and went down." },
	[RX_ERRORS] = { "infiniband.receive_errors", EVENTS, .label = "Receive errors",
			.help = "Packets with an error received." },
	[RX_REMOTE_ERRORS] = { "infiniband.receive_remote_errors", EVENTS,
			       .label = "Remote receive errors",
			       .help = "Packets received that were marked bad before they came." },
	[RX_RELAY_ERRORS] = { "infiniband.receive_relay_errors", EVENTS,
			      .label = "Receive relay errors",
			      .help = "Packets received that could not be forwarded." },
	[TX_DISCARDS] = { "infiniband.transmit_discards", EVENTS, .label = "Transmit discards",
			  .help = "Packets not sent because the port was down or congested." },
	[TX_CONSTRAINT] = { "infiniband.transmit_constraint_errors", EVENTS,
			    .label = "Transmit constraint errors",
			    .help = "Packets not sent because a partition or filter forbade it." },
	[RX_CONSTRAINT] = { "infiniband.receive_constraint_errors", EVENTS,
			    .label = "Receive constraint errors",
			    .help = "Packets received and dropped because a partition or filter "
				    "forbade them." },
	[INTEGRITY_ERRORS] = { "infiniband.integrity_errors", EVENTS,
			       .label = "Link integrity errors",
			       .help = "Times that errors of the link passed the limit." },
	[BUFFER_OVERRUNS] = { "infiniband.buffer_overruns", EVENTS, .label = "Buffer overruns",
			      .help = "Times that a receive buffer overflowed for long." },
	[VL15_DROPS] = { "infiniband.management_drops", EVENTS, .label = "Management drops",
			 .help = "Management packets (virtual lane 15) dropped for want of "
				 "room." },
	[TX_WAIT] = { "infiniband.transmit_wait_ticks", EVENTS, .label = "Transmit wait",
		      .help = "Ticks of the port in which there was something to send and no "
			      "credit to send it: congestion." },
	[OUT_OF_BUFFER] = { "infiniband.out_of_buffer", EVENTS, .label = "Out of buffer",
			    .help = "Packets dropped because no receive request was posted." },
	[OUT_OF_SEQUENCE] = { "infiniband.out_of_sequence", EVENTS, .label = "Out of sequence",
			      .help = "Packets that came out of order." },
	[SEQUENCE_NAKS] = { "infiniband.sequence_naks", EVENTS, .label = "Sequence errors",
			    .help = "Times that the receiver said that packets were missing." },
	[IMPLIED_NAKS] = { "infiniband.implied_naks", EVENTS, .label = "Implied losses",
			   .help = "Times that an answer showed that an earlier one was lost." },
	[ACK_TIMEOUTS] = { "infiniband.acknowledge_timeouts", EVENTS,
			   .label = "Acknowledge timeouts",
			   .help = "Times that the receiver did not acknowledge in time." },
	[RNR_RETRIES] = { "infiniband.not_ready_retries", EVENTS, .label = "Receiver not ready",
			  .help = "Times that the receiver was not ready until the retries were "
				  "used up." },
	[DUPLICATES] = { "infiniband.duplicate_requests", EVENTS, .label = "Duplicate requests",
			 .help = "Requests that came a second time." },
	[ICRC_ERRORS] = { "infiniband.checksum_errors", EVENTS, .label = "Checksum errors",
			  .help = "RoCE packets received with a wrong checksum." },
	[ECN_MARKED] = { "infiniband.congestion_marks", EVENTS, .label = "Congestion marks",
			 .help = "RoCE packets received that a switch had marked as congested." },
	[CNP_SENT] = { "infiniband.congestion_notices_sent", EVENTS,
		       .label = "Congestion notices sent",
		       .help = "Notices of congestion that this end sent." },
	[CNP_HANDLED] = { "infiniband.congestion_notices_handled", EVENTS,
			  .label = "Congestion notices handled",
			  .help = "Notices of congestion that made this end send slower." },
	[ADAPTIVE_RETRIES] = { "infiniband.adaptive_retransmissions", EVENTS,
			       .label = "Adaptive retransmissions",
			       .help = "RoCE packets sent again by adaptive retransmission." },
	[WRITE_REQUESTS] = { "infiniband.write_requests", EVENTS, .label = "RDMA writes",
			     .help = "RDMA write requests received" NODE },
	[READ_REQUESTS] = { "infiniband.read_requests", EVENTS, .label = "RDMA reads",
			    .help = "RDMA read requests received" NODE },
	[ATOMIC_REQUESTS] = { "infiniband.atomic_requests", EVENTS, .label = "RDMA atomics",
			      .help = "RDMA atomic requests received" NODE },
	[REQUESTER_ERRORS] = { "infiniband.requester_errors", EVENTS, .label = "Requester errors",
			       .help = "Requests of this end that were completed with an error." },
	[RESPONDER_ERRORS] = { "infiniband.responder_errors", EVENTS, .label = "Responder errors",
			       .help = "Requests to this end that were completed with an "
				       "error." },
	[ADAPTER_RX_BYTES] = { "infiniband.adapter_received_bytes", BYTES,
			       .label = "Received by the adapter",
			       .help = "Bytes received as adapters without InfiniBand's counters "
				       "(EFA, bnxt_re) count them." },
	[ADAPTER_TX_BYTES] = { "infiniband.adapter_transmitted_bytes", BYTES,
			       .label = "Sent by the adapter",
			       .help = "Bytes sent as adapters without InfiniBand's counters "
				       "(EFA, bnxt_re) count them." },
	[ADAPTER_RX_PACKETS] = { "infiniband.adapter_received_packets", EVENTS,
				 .label = "Packets received by the adapter",
				 .help = "Packets received as adapters without InfiniBand's "
					 "counters (EFA, bnxt_re) count them." },
	[ADAPTER_TX_PACKETS] = { "infiniband.adapter_transmitted_packets", EVENTS,
				 .label = "Packets sent by the adapter",
				 .help = "Packets sent as adapters without InfiniBand's counters "
					 "(EFA, bnxt_re) count them." },
	[RX_RATIO] = { "infiniband.receive_used_ratio", RATIO,
		       .formula = "infiniband.received_bytes_per_second / "
				  "infiniband.speed_bytes_per_second",
		       .label = "Link used, receiving",
		       .help = "Bytes received as a share of the link's speed." },
	[TX_RATIO] = { "infiniband.transmit_used_ratio", RATIO,
		       .formula = "infiniband.transmitted_bytes_per_second / "
				  "infiniband.speed_bytes_per_second",
		       .label = "Link used, sending",
		       .help = "Bytes sent as a share of the link's speed." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == METRICS_NUMBER_OF, "a row for every index");

/* Widths are those of the attribute PortCounters, InfiniBand Architecture 1, 16.1.3.5. Where the
 * adapter has PortCountersExtended, data and packets have 64 bits: Linux 4.5 gives these under the
 * same names, Mellanox's older drivers in counters_ext. */
#define OLD(name)                "counters/" name
#define EXTENDED(name)           "counters_ext/port_" name
#define HARDWARE(row, name)      [row] = { .path = { "hw_counters/" name } }
#define ERRORS(row, name, width) [row] = { .path = { OLD(name) }, .bits = width }

static const struct counter_file files[] = {
	[RX_BYTES] = { .path = { EXTENDED("rcv_data_64"), OLD("port_rcv_data") }, .bits = 32 },
	[TX_BYTES] = { .path = { EXTENDED("xmit_data_64"), OLD("port_xmit_data") }, .bits = 32 },
	[RX_PACKETS] = { .path = { EXTENDED("rcv_packets_64"), OLD("port_rcv_packets") },
			 .bits = 32 },
	[TX_PACKETS] = { .path = { EXTENDED("xmit_packets_64"), OLD("port_xmit_packets") },
			 .bits = 32 },
	[STATE] = { .path = { "state" } },
	[PHYSICAL_STATE] = { .path = { "phys_state" } },
	[SPEED] = { .path = { "rate" }, .decimals = 1 },
	[RX_UNICAST] = { .path = { EXTENDED("unicast_rcv_packets"), OLD("unicast_rcv_packets") } },
	[TX_UNICAST] = { .path = { EXTENDED("unicast_xmit_packets"),
				   OLD("unicast_xmit_packets") } },
	[RX_MULTICAST] = { .path = { EXTENDED("multicast_rcv_packets"),
				     OLD("multicast_rcv_packets") } },
	[TX_MULTICAST] = { .path = { EXTENDED("multicast_xmit_packets"),
				     OLD("multicast_xmit_packets") } },
	ERRORS(SYMBOL_ERRORS, "symbol_error", 16),
	ERRORS(LINK_RECOVERIES, "link_error_recovery", 8),
	ERRORS(LINK_DOWNS, "link_downed", 8),
	ERRORS(RX_ERRORS, "port_rcv_errors", 16),
	ERRORS(RX_REMOTE_ERRORS, "port_rcv_remote_physical_errors", 16),
	ERRORS(RX_RELAY_ERRORS, "port_rcv_switch_relay_errors", 16),
	ERRORS(TX_DISCARDS, "port_xmit_discards", 16),
	ERRORS(TX_CONSTRAINT, "port_xmit_constraint_errors", 8),
	ERRORS(RX_CONSTRAINT, "port_rcv_constraint_errors", 8),
	ERRORS(INTEGRITY_ERRORS, "local_link_integrity_errors", 4),
	ERRORS(BUFFER_OVERRUNS, "excessive_buffer_overrun_errors", 4),
	ERRORS(VL15_DROPS, "VL15_dropped", 16),
	ERRORS(TX_WAIT, "port_xmit_wait", 32),
	HARDWARE(OUT_OF_BUFFER, "out_of_buffer"),
	HARDWARE(OUT_OF_SEQUENCE, "out_of_sequence"),
	HARDWARE(SEQUENCE_NAKS, "packet_seq_err"),
	HARDWARE(IMPLIED_NAKS, "implied_nak_seq_err"),
	HARDWARE(ACK_TIMEOUTS, "local_ack_timeout_err"),
	HARDWARE(RNR_RETRIES, "rnr_nak_retry_err"),
	HARDWARE(DUPLICATES, "duplicate_request"),
	HARDWARE(ICRC_ERRORS, "rx_icrc_encapsulated"),
	HARDWARE(ECN_MARKED, "np_ecn_marked_roce_packets"),
	HARDWARE(CNP_SENT, "np_cnp_sent"),
	HARDWARE(CNP_HANDLED, "rp_cnp_handled"),
	HARDWARE(ADAPTIVE_RETRIES, "roce_adp_retrans"),
	HARDWARE(WRITE_REQUESTS, "rx_write_requests"),
	HARDWARE(READ_REQUESTS, "rx_read_requests"),
	HARDWARE(ATOMIC_REQUESTS, "rx_atomic_requests"),
	HARDWARE(REQUESTER_ERRORS, "req_cqe_error"),
	HARDWARE(RESPONDER_ERRORS, "resp_cqe_error"),
	HARDWARE(ADAPTER_RX_BYTES, "rx_bytes"),
	HARDWARE(ADAPTER_TX_BYTES, "tx_bytes"),
	HARDWARE(ADAPTER_RX_PACKETS, "rx_pkts"),
	HARDWARE(ADAPTER_TX_PACKETS, "tx_pkts"),
};
_Static_assert(sizeof files / sizeof files[0] == NROWS, "a file for every row");

/* The rate of a port that is down, or not yet up, is one that it had or could have. */
static int means(const struct counters *c, const struct counter_device *d, uint32_t row)
{
	char path[COUNTERS_DIR_SIZE + 16], text[32];

	if (row != SPEED)
		return 0;
	snprintf(path, sizeof path, "%s/state", d->dir);
	sysfs_line(c->root, path, text, sizeof text);
	return strchr("1235", text[0]) && text[0] && text[1] == ':' ? -ENETDOWN : 0;
}

/* The network this port belongs to. */
static const char *network_of(const struct root *sys, const char *adapter, const char *dir)
{
	char path[COUNTERS_DIR_SIZE + 16], text[32];

	if (strncmp(adapter, "hfi1", 4) == 0)
		return "Omni-Path";
	snprintf(path, sizeof path, "class/infiniband/%.63s/node_type", adapter);
	sysfs_line(sys, path, text, sizeof text);
	if (strstr(text, "RNIC"))
		return "iWARP";
	snprintf(path, sizeof path, "%s/link_layer", dir);
	sysfs_line(sys, path, text, sizeof text);
	if (strcmp(text, "Ethernet") == 0)
		return "RoCE";
	return strcmp(text, "InfiniBand") == 0 ? "InfiniBand" : "";
}

/* What the rate is made of when recording begins: "4X EDR" of "100 Gb/sec (4X EDR)". */
static void label_link(const struct counters *c, const char *dir, struct sample *s, uint32_t port)
{
	char path[COUNTERS_DIR_SIZE + 16], text[64], *open, *end;

	snprintf(path, sizeof path, "%s/rate", dir);
	sysfs_line(c->root, path, text, sizeof text);
	open = strchr(text, '(');
	end = open ? strchr(open, ')') : NULL;
	if (!end || end == open + 1)
		return;
	*end = '\0';
	sample_label(s, port, "link", open + 1);
}

static void announce(struct counters *c, struct device *v, struct sample *s, const char *adapter)
{
	struct counter_device *d = counters_device(c, v);
	const char *network = network_of(c->root, adapter, d->dir);
	char path[COUNTERS_DIR_SIZE + 32];

	counters_announce(c, v, s);
	sample_label(s, v->instance, "scope", "node");
	if (*network)
		sample_label(s, v->instance, "network", network);
	label_link(c, d->dir, s, v->instance);
	snprintf(path, sizeof path, "%s/counters/unicast_rcv_packets", d->dir);
	d->endless = sysfs_exists(c->root, path) ? (UINT64_C(1) << NKEPT) - 1
						 : ~d->second & ((UINT64_C(1) << NKEPT) - 1);
}

static void list_ports(struct counters *c, struct sample *s, const char *adapter)
{
	struct sysfs_name port[PORTS_OF_ADAPTER_MAX];
	char dir[COUNTERS_DIR_SIZE], name[160];
	int n;

	snprintf(dir, sizeof dir, "class/infiniband/%.63s/ports", adapter);
	n = sysfs_names(c->root, dir, port, PORTS_OF_ADAPTER_MAX);
	for (int i = 0; i < n; i++) {
		struct device *v;

		snprintf(name, sizeof name, "%.63s/%.63s", adapter, port[i].text);
		snprintf(dir, sizeof dir, "class/infiniband/%.63s/ports/%.63s", adapter,
			 port[i].text);
		v = counters_meet(c, name, dir);
		if (v && !v->told)
			announce(c, v, s, adapter);
	}
}

/* The adapters there are, or -errno. */
static int list(struct counters *c, struct sample *s)
{
	struct sysfs_name adapter[ADAPTERS_MAX];
	int n = sysfs_names(c->root, "class/infiniband", adapter, ADAPTERS_MAX);

	devices_begin(&c->devices);
	for (int i = 0; i < n; i++)
		list_ports(c, s, adapter[i].text);
	counters_sweep(c, s);
	return n;
}

static const struct counter_kind ports = {
	.metrics = metrics,
	.files = files,
	.nrows = NROWS,
	.nkept = NKEPT,
	.means = means,
	.list = list,
	.folder = "class/infiniband",
	.what = "ports",
	.none = "InfiniBand, Omni-Path or RoCE adapter",
	.most = PORTS_MAX,
	.nmetrics = METRICS_NUMBER_OF,
};

static int infiniband_open(void *state, const struct source_env *env, struct sample *s,
			   struct err *e)
{
	return counters_open(state, &ports, env, s, e);
}

const struct source source_infiniband = {
	.name = "infiniband",
	.what = "InfiniBand, Omni-Path and RoCE ports of the node, for all its users",
	.fix_admin = "load the adapter's driver and mount /sys where the job runs",
	SOURCE_METRICS(metrics),
	.size = sizeof(struct counters),
	.open = infiniband_open,
	.read = counters_read,
	.close = counters_close,
};
