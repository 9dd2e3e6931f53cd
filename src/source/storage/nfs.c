/* SPDX-License-Identifier: Apache-2.0 */
/* nfs.c - NFS mounts: /proc/self/mountstats, which is made without a word to any server. */
#include "base/clock.h"
#include "source/device.h"
#include "source/kept.h"
#include "source/period.h"
#include "source/source.h"
#include "source/storage/mountinfo.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum { ROOM = 256 * 1024, MOUNTS_MAX = 1024, LABEL_SIZE = 32 };
/* Where nothing is mounted now an automounter may mount something later. */
static const int64_t PERIOD_NS = NS_PER_S, IDLE_PERIOD_NS = 10 * NS_PER_S;

enum {
	READ_LATENCY = NFS_NUMBER_OF,
	READ_ROUND_TRIP_LATENCY,
	WRITE_LATENCY,
	WRITE_ROUND_TRIP_LATENCY,
	METADATA_LATENCY,
	METADATA_ROUND_TRIP_LATENCY,
	RETRANSMISSIONS,
	METRICS_NUMBER_OF
};
_Static_assert((int)NFS_NUMBER_OF <= (int)EVENT_SET_MAX, "the values are one set of series");

#define COUNTER                                                                                    \
	.domain = "nfs", .kind = KIND_COUNTER, .over_instances = COMBINE_SUM,                      \
	.over_nodes = COMBINE_SUM
#define BYTES        COUNTER, .unit = UNIT_BYTES
#define EVENTS       COUNTER, .unit = UNIT_COUNT
#define MILLISECONDS COUNTER, .unit = UNIT_ELAPSED_SECONDS, .mul = 1, .div = 1000
#define LATENCY(word)                                                                              \
	.domain = "nfs", .kind = KIND_GAUGE, .unit = UNIT_SECONDS, .over_instances = COMBINE_MAX,  \
	.over_nodes = COMBINE_MAX,                                                                 \
	.formula = "nfs." word "_execute_ratio / nfs." word "_requests_per_second"
#define ROUND_TRIP_LATENCY(word)                                                                   \
	.domain = "nfs", .kind = KIND_GAUGE, .unit = UNIT_SECONDS, .over_instances = COMBINE_MAX,  \
	.over_nodes = COMBINE_MAX,                                                                 \
	.formula = "nfs." word "_round_trip_ratio / nfs." word "_requests_per_second"
#define OF_THE_NODE ", by all programs of the node."

static const struct metric metrics[] = {
	[NFS_READ_BYTES] = { "nfs.read_bytes", BYTES, .label = "Read",
			     .help = "Bytes read by read calls, from cache or not" OF_THE_NODE },
	[NFS_WRITTEN_BYTES] = { "nfs.written_bytes", BYTES, .label = "Written",
				.help = "Bytes given to write calls" OF_THE_NODE },
	[NFS_DIRECT_READ_BYTES] = { "nfs.direct_read_bytes", BYTES, .label = "Read directly",
				    .help = "Bytes read with O_DIRECT" OF_THE_NODE },
	[NFS_DIRECT_WRITTEN_BYTES] = { "nfs.direct_written_bytes", BYTES,
				       .label = "Written directly",
				       .help = "Bytes written with O_DIRECT" OF_THE_NODE },
	[NFS_SERVER_READ_BYTES] = { "nfs.server_read_bytes", BYTES, .label = "Read from the server",
				    .help = "Bytes of files that came from the server" OF_THE_NODE },
	[NFS_SERVER_WRITTEN_BYTES] = { "nfs.server_written_bytes", BYTES,
				       .label = "Written to the server",
				       .help = "Bytes of files that went to the "
					       "server" OF_THE_NODE },
	[NFS_PAGES_READ] = { "nfs.pages_read", EVENTS, .label = "Pages read",
			     .help = "Pages read into the page cache." },
	[NFS_PAGES_WRITTEN] = { "nfs.pages_written", EVENTS, .label = "Pages written",
				.help = "Pages written from the page cache." },
	[NFS_DATA_INVALIDATIONS] = { "nfs.data_invalidations", EVENTS,
				     .label = "Data invalidations",
				     .help = "Times the cached data of a file were discarded." },
	[NFS_ATTRIBUTE_INVALIDATIONS] = { "nfs.attribute_invalidations", EVENTS,
					  .label = "Attribute invalidations",
					  .help = "Times the cached attributes of a file were "
						  "discarded." },
	[NFS_OPENS] = { "nfs.opens", EVENTS, .label = "Opens",
			.help = "Files and directories opened" OF_THE_NODE },
	[NFS_LOOKUPS] = { "nfs.lookups", EVENTS, .label = "Lookups",
			  .help = "Names looked up in directories" OF_THE_NODE },
	[NFS_FLUSHES] = { "nfs.flushes", EVENTS, .label = "Flushes",
			  .help = "Files flushed, most often by closing them." },
	[NFS_SYNCS] = { "nfs.syncs", EVENTS, .label = "Syncs", .help = "Calls of fsync." },
	[NFS_LOCKS] = { "nfs.locks", EVENTS, .label = "Locks", .help = "Lock requests." },
	[NFS_CONGESTION_WAITS] = { "nfs.congestion_waits", EVENTS, .label = "Congestion waits",
				   .help = "Times writes waited because too many were in flight." },
	[NFS_SILLY_RENAMES] = { "nfs.silly_renames", EVENTS, .label = "Silly renames",
				.help = "Open files that were removed, and so renamed instead." },
	[NFS_SHORT_READS] = { "nfs.short_reads", EVENTS, .label = "Short reads",
			      .help = "Reads for which the server returned less than requested." },
	[NFS_SHORT_WRITES] = { "nfs.short_writes", EVENTS, .label = "Short writes",
			       .help = "Writes of which the server accepted only a part." },
	[NFS_DELAYS] = { "nfs.delays", EVENTS, .label = "Delays",
			 .help = "Times the server asked to retry later." },
	[NFS_PNFS_READS] = { "nfs.pnfs_reads", EVENTS, .label = "pNFS reads",
			     .help = "Reads that went to a data server." },
	[NFS_PNFS_WRITES] = { "nfs.pnfs_writes", EVENTS, .label = "pNFS writes",
			      .help = "Writes that went to a data server." },
	[NFS_CONNECTS] = { "nfs.connects", EVENTS, .label = "Connects",
			   .help = "Times that a connection to the server was made; more than one "
				   "for each says that it was lost." },
	[NFS_BAD_REPLIES] = { "nfs.bad_replies", EVENTS, .label = "Bad replies",
			      .help = "Replies that answered no request, most often to one that "
				      "was "
				      "sent twice." },
	[NFS_REQUESTS] = { "nfs.requests", EVENTS, .label = "Requests",
			   .help = "Requests completed, of every kind" OF_THE_NODE },
	[NFS_TRANSMISSIONS] = { "nfs.transmissions", EVENTS, .label = "Transmissions",
				.help = "Times that a request was sent." },
	[NFS_TIMEOUTS] = { "nfs.timeouts", EVENTS, .label = "Timeouts",
			   .help = "Major timeouts of requests: the server did not answer." },
	[NFS_SENT_BYTES] = { "nfs.sent_bytes", BYTES, .label = "Sent",
			     .help = "Bytes sent in requests, headers included." },
	[NFS_RECEIVED_BYTES] = { "nfs.received_bytes", BYTES, .label = "Received",
				 .help = "Bytes received in replies, headers included." },
	[NFS_QUEUED] = { "nfs.queued_seconds", MILLISECONDS, .label = "Requests queued",
			 .help = "Time that requests waited before they were sent, summed over all "
				 "of them." },
	[NFS_ROUND_TRIP] = { "nfs.round_trip_seconds", MILLISECONDS,
			     .label = "Requests at the server",
			     .help = "Time from sending requests to their replies, summed over all "
				     "of them." },
	[NFS_EXECUTE] = { "nfs.execute_seconds", MILLISECONDS, .label = "Requests in flight",
			  .help = "Time that requests took in all, summed over all of them." },
	[NFS_ERRORS] = { "nfs.errors", EVENTS, .label = "Errors",
			 .help = "Requests that ended with an error, a file not found included." },
	[NFS_READ_REQUESTS] = { "nfs.read_requests", EVENTS, .label = "Reads",
				.help = "Read requests completed." },
	[NFS_READ_QUEUED] = { "nfs.read_queued_seconds", MILLISECONDS, .label = "Reads queued",
			      .help = "Time that reads waited before they were sent, summed over "
				      "all of them." },
	[NFS_READ_ROUND_TRIP] = { "nfs.read_round_trip_seconds", MILLISECONDS,
				  .label = "Reads at the server",
				  .help = "Time from sending reads to their replies, summed over "
					  "all of them." },
	[NFS_READ_EXECUTE] = { "nfs.read_execute_seconds", MILLISECONDS, .label = "Reads in flight",
			       .help = "Time that reads took in all, summed over all of them." },
	[NFS_READ_ERRORS] = { "nfs.read_errors", EVENTS, .label = "Read errors",
			      .help = "Reads that ended with an error." },
	[NFS_WRITE_REQUESTS] = { "nfs.write_requests", EVENTS, .label = "Writes",
				 .help = "Write requests completed." },
	[NFS_WRITE_QUEUED] = { "nfs.write_queued_seconds", MILLISECONDS, .label = "Writes queued",
			       .help = "Time that writes waited before they were sent, summed over "
				       "all of them." },
	[NFS_WRITE_ROUND_TRIP] = { "nfs.write_round_trip_seconds", MILLISECONDS,
				   .label = "Writes at the server",
				   .help = "Time from sending writes to their replies, summed over "
					   "all of them." },
	[NFS_WRITE_EXECUTE] = { "nfs.write_execute_seconds", MILLISECONDS,
				.label = "Writes in flight",
				.help = "Time that writes took in all, summed over all of them." },
	[NFS_WRITE_ERRORS] = { "nfs.write_errors", EVENTS, .label = "Write errors",
			       .help = "Writes that ended with an error." },
	[NFS_METADATA_REQUESTS] = { "nfs.metadata_requests", EVENTS, .label = "Metadata requests",
				    .help = "Requests completed that neither read, write nor "
					    "commit." },
	[NFS_METADATA_ROUND_TRIP] = { "nfs.metadata_round_trip_seconds", MILLISECONDS,
				      .label = "Metadata at the server",
				      .help = "Time from sending metadata requests to their "
					      "replies, summed over all of them." },
	[NFS_METADATA_EXECUTE] = { "nfs.metadata_execute_seconds", MILLISECONDS,
				   .label = "Metadata in flight",
				   .help = "Time that metadata requests took in all, summed over "
					   "all of them." },
	[NFS_COMMIT_REQUESTS] = { "nfs.commit_requests", EVENTS, .label = "Commits",
				  .help = "Requests to put written data on stable storage." },
	[NFS_GETATTR_REQUESTS] = { "nfs.getattr_requests", EVENTS, .label = "Getattrs",
				   .help = "Requests for attributes." },
	[NFS_SETATTR_REQUESTS] = { "nfs.setattr_requests", EVENTS, .label = "Setattrs",
				   .help = "Requests that set attributes." },
	[NFS_LOOKUP_REQUESTS] = { "nfs.lookup_requests", EVENTS, .label = "Lookups at the server",
				  .help = "Requests that look a name up." },
	[NFS_ACCESS_REQUESTS] = { "nfs.access_requests", EVENTS, .label = "Access checks",
				  .help = "Requests that ask what a user may do." },
	[NFS_OPEN_REQUESTS] = { "nfs.open_requests", EVENTS, .label = "Opens at the server",
				.help = "Requests that open a file; NFSv4 only." },
	[NFS_CLOSE_REQUESTS] = { "nfs.close_requests", EVENTS, .label = "Closes at the server",
				 .help = "Requests that close a file; NFSv4 only." },
	[NFS_CREATE_REQUESTS] = { "nfs.create_requests", EVENTS, .label = "Creates",
				  .help = "Requests that make a file, directory, link or node." },
	[NFS_REMOVE_REQUESTS] = { "nfs.remove_requests", EVENTS, .label = "Removes",
				  .help = "Requests that remove a file or directory." },
	[NFS_RENAME_REQUESTS] = { "nfs.rename_requests", EVENTS, .label = "Renames",
				  .help = "Requests that rename." },
	[NFS_READDIR_REQUESTS] = { "nfs.readdir_requests", EVENTS, .label = "Directory reads",
				   .help = "Requests that read a directory." },
	[NFS_LOCK_REQUESTS] = { "nfs.lock_requests", EVENTS, .label = "Locks at the server",
				.help = "Requests that take, test or give back a lock; NFSv4 "
					"only." },
	[READ_LATENCY] = { "nfs.read_latency_seconds", LATENCY("read"), .label = "Read latency",
			   .help = "Mean time a read took, waiting in the client included." },
	[READ_ROUND_TRIP_LATENCY] = { "nfs.read_round_trip_latency_seconds",
				      ROUND_TRIP_LATENCY("read"), .label = "Read round trip",
				      .help = "Mean time from sending a read to its reply." },
	[WRITE_LATENCY] = { "nfs.write_latency_seconds", LATENCY("write"), .label = "Write latency",
			    .help = "Mean time a write took, waiting in the client included." },
	[WRITE_ROUND_TRIP_LATENCY] = { "nfs.write_round_trip_latency_seconds",
				       ROUND_TRIP_LATENCY("write"), .label = "Write round trip",
				       .help = "Mean time from sending a write to its reply." },
	[METADATA_LATENCY] = { "nfs.metadata_latency_seconds", LATENCY("metadata"),
			       .label = "Metadata latency",
			       .help = "Mean time a metadata request took, waiting in the client "
				       "included." },
	[METADATA_ROUND_TRIP_LATENCY] = { "nfs.metadata_round_trip_latency_seconds",
					  ROUND_TRIP_LATENCY("metadata"),
					  .label = "Metadata round trip",
					  .help = "Mean time from sending a metadata request to "
						  "its "
						  "reply." },
	[RETRANSMISSIONS] = { "nfs.retransmissions_per_second", .domain = "nfs", .kind = KIND_GAUGE,
			      .unit = UNIT_PER_SECOND, .over_instances = COMBINE_SUM,
			      .over_nodes = COMBINE_SUM,
			      .formula = "nfs.transmissions_per_second - nfs.requests_per_second",
			      .label = "Retransmissions",
			      .help = "Requests sent again, after a timeout or a lost "
				      "connection." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == METRICS_NUMBER_OF, "a row for every index");

struct nfs {
	struct kept mountstats, mountinfo;
	struct devices mounts; /* by a hash of what is mounted where */
	struct period period;
	bool mountinfo_read; /* in this pass */
	bool has_mounts;
};
enum { CLASS_UNKNOWN, CLASS_KNOWN };

/* Its superblock, which has the counters: what is mounted in several places is counted once. */
static void identify(struct nfs *n, struct device *v, const struct mountstats_mount *m)
{
	const struct mountinfo_place place = { m->device, m->point, m->device_len, m->point_len };

	if (!n->mountinfo_read && n->mountinfo.fd > 0)
		kept_read(&n->mountinfo);
	n->mountinfo_read = true;
	if (n->mountinfo.fd > 0 && mountinfo_superblock(n->mountinfo.text, &place, &v->constant))
		v->class = CLASS_KNOWN;
}

static struct device *meet(struct nfs *n, const struct mountstats_mount *m)
{
	uint64_t h = device_hash(DEVICE_HASH, m->device, m->device_len + 1);
	struct device *v = devices_meet_hash(&n->mounts, device_hash(h, m->point, m->point_len));

	if (v && !v->told && v->class == CLASS_UNKNOWN)
		identify(n, v, m);
	return v;
}

/* Has this pass met the same superblock before, elsewhere? */
static bool is_counted(const struct nfs *n, const struct device *v)
{
	for (const struct device *w = n->mounts.row; w < n->mounts.row + n->mounts.n; w++)
		if (w != v && w->len && w->seen == n->mounts.pass && w->class == CLASS_KNOWN &&
		    v->class == CLASS_KNOWN && w->constant == v->constant)
			return true;
	return false;
}

static void announce(struct device *v, struct sample *s, const struct mountstats_mount *m,
		     const struct mountstats_values *now)
{
	static const char *const options[] = { "vers", "proto", "rsize", "wsize", "nconnect" };
	char text[PATH_MAX];

	mountinfo_unescape(m->point, text, sizeof text);
	device_announce_as(v, text, s, metrics, NFS_NUMBER_OF);
	mountinfo_unescape(m->device, text, sizeof text);
	sample_label(s, v->instance, "device", text);
	sample_label(s, v->instance, "scope", "node");
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		mountstats_option(m, options[i], text, LABEL_SIZE);
		if (*text)
			sample_label(s, v->instance, options[i], text);
	}
	for (uint32_t i = 0; v->slot && i < NFS_NUMBER_OF; i++)
		if (!(now->known >> i & 1))
			sample_refuse(s, v->slot + i, STATE_UNSUPPORTED,
				      "this kernel does not report it of this mount");
}

static void scan_mount(struct nfs *n, struct sample *s, const struct mountstats_mount *m)
{
	struct device *v = meet(n, m);
	struct mountstats_values now;

	if (!v || is_counted(n, v))
		return;
	mountstats_read(m, &now);
	if (!v->told)
		announce(v, s, m, &now);
	for (uint32_t i = 0; i < NFS_NUMBER_OF; i++)
		if (now.known >> i & 1)
			device_put(v, s, i, now.v[i]);
}

/* The last mount of a text that was cut is not whole: its sums would lack something. */
static int scan(struct nfs *n, struct sample *s)
{
	const char *text = n->mountstats.text;
	bool cut = n->mountstats.cut || n->mountstats.len + 1 >= n->mountstats.cap;
	struct mountstats_mount m;
	bool found = false;

	n->mountinfo_read = false;
	devices_begin(&n->mounts);
	while (mountstats_next(&text, &m)) {
		found = true;
		if (!cut || *m.end)
			scan_mount(n, s, &m);
	}
	if (cut)
		return -EBADMSG;
	if (found && !n->has_mounts)
		n->period = (struct period){ 0 };
	n->has_mounts = found;
	devices_sweep(&n->mounts, s);
	return 0;
}

static void nfs_close(void *state)
{
	struct nfs *n = state;

	kept_close(&n->mountstats);
	kept_close(&n->mountinfo);
	devices_free(&n->mounts);
}

/* Is the client there, so that something may be mounted later? */
static bool has_client(const struct root *proc)
{
	char text[4096];
	ssize_t n = root_read(proc, "filesystems", text, sizeof text);

	return n > 0 && (strstr(text, "\tnfs\n") || strstr(text, "\tnfs4\n"));
}

static bool has_mount(const struct nfs *n)
{
	const char *text = n->mountstats.text;
	struct mountstats_mount m;

	return mountstats_next(&text, &m);
}

static int nfs_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct nfs *n = state;
	int r = kept_open_records(&n->mountstats, &env->proc, "self/mountstats", ROOM, e);

	if (r < 0)
		return r;
	if (!has_mount(n) && !has_client(&env->proc))
		r = err_set(e, -ENODEV, "%s/self/mountstats: no NFS is mounted", env->proc.path);
	else if (devices_init(&n->mounts, MOUNTS_MAX))
		r = err_set(e, -ENOMEM, "there is no memory for a table of mounts");
	if (r < 0) {
		nfs_close(n);
		return r;
	}
	kept_open(&n->mountinfo, &env->proc, "self/mountinfo", ROOM, NULL);
	scan(n, s);
	sample_catalogue(s, &metrics[NFS_NUMBER_OF], METRICS_NUMBER_OF - NFS_NUMBER_OF);
	return 0;
}

static int nfs_read(void *state, struct sample *s)
{
	struct nfs *n = state;
	int r;

	if (!period_is_due(&n->period, s, n->has_mounts ? PERIOD_NS : IDLE_PERIOD_NS))
		return 0;
	r = kept_read(&n->mountstats);
	return r < 0 ? r : scan(n, s);
}

const struct source source_nfs = {
	.name = "nfs",
	.what = "NFS mounts, for all users of the node",
	.fixes = source_not_mounted,
	.fix_admin = SOURCE_FIX_PROC,
	SOURCE_METRICS(metrics),
	.size = sizeof(struct nfs),
	.open = nfs_open,
	.read = nfs_read,
	.close = nfs_close,
};
