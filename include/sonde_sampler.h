/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde_sampler.h - samples the node from within a program: a thread, a bounded store, figures for
 * experiment trackers. Link with -lsonde (or libsonde.a -lzstd -lm -pthread).
 *
 *     struct sonde_sampler *s = sonde_sampler_start(NULL, NULL);
 *     ... work ...
 *     sonde_sampler_stop(s);
 *     report = sonde_report_new();
 *     sonde_report_add_sampler(report, node, s);
 *     sonde_report_emit(report, log_metric, NULL);
 *
 * The thread takes no signals and, once started, no memory. Samplers may be used from any thread;
 * a report by one at a time. In the child of a fork a sampler is there and not running: what was
 * sampled before can be read. Nothing here prints or exits. Before version 1 these declarations may
 * change with the number in the library's name.
 */
#ifndef SONDE_SAMPLER_H
#define SONDE_SAMPLER_H

#include <sonde.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The node since the sample before. NAN: not known. */
struct sonde_sample {
	double timestamp; /* seconds since 1970, at the end of the sample */
	double seconds;   /* since the sampler was started, on a clock that does not jump */
	double window;    /* seconds that its CPU figures are of */
	/* ratios, 0..1; of CPUs: the part of window in which they were at work */
	double cpu_mean, cpu_min, cpu_max; /* over the CPUs; min and max of all that it merges */
	double memory, disk;               /* in use: of memory, of the file system at / */
	/* bytes since the sampler was started */
	double disk_read, disk_written;
	double loopback_sent, network_sent, loopback_received, network_received;
};

struct sonde_sampler;

/* Zeroed, it asks for a sample a second. Callbacks run in the sampler's thread and may call what is
 * declared here. One that ends its thread ends the sampling, no more. */
struct sonde_sampler_options {
	double interval;     /* seconds between samples; 0: 1 */
	double cpu_interval; /* CPU figures are of the last so many seconds; 0: of all of interval
			      */
	size_t max_length;   /* samples kept, rounded up to an even number; 0: 1000 */
	void (*on_sample)(void *context, const struct sonde_sample *sample);
	void (*on_exit)(void *context); /* once, when sampling is over */
	void *context;
};

/* options NULL: as if zeroed. NULL on failure: error says why; it may be NULL. */
SONDE_API struct sonde_sampler *sonde_sampler_start(const struct sonde_sampler_options *options,
						    struct sonde_error *error);
/* Take a last sample, then end. Again, from a callback, and for NULL it does nothing more than ask.
 */
SONDE_API void sonde_sampler_stop(struct sonde_sampler *sampler);
SONDE_API void sonde_sampler_free(struct sonde_sampler *sampler); /* stops; NULL is ignored */
SONDE_API bool sonde_sampler_running(const struct sonde_sampler *sampler);
/* How many were taken, those included that were merged with others. */
SONDE_API uint64_t sonde_sampler_taken(const struct sonde_sampler *sampler);
/* Copy the samples, at most cap, oldest first; returns how many there are. When the store is full,
 * neighbours are merged two by two, so that samples stay evenly spaced, the newest stays, and so do
 * the extremes. */
SONDE_API size_t sonde_sampler_samples(const struct sonde_sampler *sampler,
				       struct sonde_sample *samples, size_t cap);
/* Logical CPUs of this node that are online. */
SONDE_API unsigned sonde_sampler_cpus(const struct sonde_sampler *sampler);

/* ---- figures of one node or many ---- */

struct sonde_report;

SONDE_API struct sonde_report *sonde_report_new(void);         /* NULL: out of memory */
SONDE_API void sonde_report_free(struct sonde_report *report); /* NULL is ignored */
/* Samples of node number `node`, oldest first, which has so many CPUs (0: not known); what is added
 * to a node later is joined. False when out of memory. */
SONDE_API bool sonde_report_add(struct sonde_report *report, unsigned node,
				const struct sonde_sample *samples, size_t n, unsigned cpus);
/* The same of a sampler, whose figures are those of every sample, merged or not. */
SONDE_API bool sonde_report_add_sampler(struct sonde_report *report, unsigned node,
					const struct sonde_sampler *sampler);
/* Call log with each figure that is known, node by node; step is the node's number. Nodes without
 * samples have none. Returns how many there were. */
SONDE_API size_t sonde_report_emit(const struct sonde_report *report,
				   void (*log)(void *context, const char *key, double value,
					       unsigned step),
				   void *context);
/* Save the samples as JSON: {"NODE": [{"cpu_pct_per_cpu_avg": ..., "timestamp": ...}, ...], ...},
 * percent and MiB, null where a value is not known. path NULL: into a new file in TMPDIR or /tmp.
 * Returns the path, which belongs to the report until it is saved again; NULL: error says why. */
SONDE_API const char *sonde_report_save(struct sonde_report *report, const char *path,
					struct sonde_error *error);

#ifdef __cplusplus
}
#endif

#endif
