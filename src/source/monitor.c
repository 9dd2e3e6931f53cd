/* SPDX-License-Identifier: Apache-2.0 */
/* monitor.c - what Sonde costs; the sampler fills the rows. */
#include "source/monitor.h"

#include "source/source.h"

static const struct metric metrics[] = {
	[MONITOR_CPU] = { "monitor.cpu_seconds", .unit = UNIT_SECONDS, .mul = 1, .div = 1000000000,
			  .kind = KIND_COUNTER, .over_nodes = COMBINE_SUM, .label = "Sonde's CPU",
			  .help = "CPU time of the recorder itself." },
	[MONITOR_RESIDENT] = { "monitor.resident_bytes", .unit = UNIT_BYTES, .kind = KIND_GAUGE,
			       .over_nodes = COMBINE_MAX, .label = "Sonde's RSS",
			       .help = "Resident set size of the recorder." },
	[MONITOR_WRITTEN] = { "monitor.written_bytes", .unit = UNIT_BYTES, .kind = KIND_COUNTER,
			      .over_nodes = COMBINE_SUM, .label = "Recording",
			      .help = "Bytes the recorder wrote to its recording." },
	[MONITOR_LATE] = { "monitor.late_samples", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
			   .over_nodes = COMBINE_SUM, .label = "Late samples",
			   .help = "Samples that began more than a tenth of the interval late." },
	[MONITOR_SKIPPED] = { "monitor.skipped_samples", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
			      .over_nodes = COMBINE_SUM, .label = "Skipped samples",
			      .help = "Samples whose time had passed before they could begin." },
	[MONITOR_WALKS] = { "monitor.pss_cpu_seconds", .unit = UNIT_SECONDS, .mul = 1,
			    .div = 1000000000, .kind = KIND_COUNTER, .over_nodes = COMBINE_SUM,
			    .label = "Sonde's CPU for PSS",
			    .help = "CPU time of the recorder for reading PSS and USS." },
	[MONITOR_INTERVAL] = { "monitor.interval_seconds", .unit = UNIT_SECONDS, .mul = 1,
			       .div = 1000000000, .kind = KIND_GAUGE, .over_nodes = COMBINE_MAX,
			       .label = "Interval",
			       .help = "Time between samples: as asked, or longer to stay within "
				       "the limit of Sonde's own cost." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == MONITOR_NUMBER_OF, "a row for every index");

const struct metric *const monitor_metrics = metrics;

const struct source source_monitor = {
	.name = "monitor",
	.what = "Sonde's overhead",
	SOURCE_METRICS(metrics),
};
