/* SPDX-License-Identifier: Apache-2.0 */
/*
 * story.h - what happened when: findings that no total and no mean tells.
 *
 * Made from the timeline and the footers of the recording, without decoding anything more. What did
 * not happen, or cannot be told, is NAN or "". Seconds are since the run began. Texts are hostile.
 */
#ifndef SONDE_REPORT_STORY_H
#define SONDE_REPORT_STORY_H

#include <stdbool.h>
#include <stdint.h>

enum { STORY_TEXT = 160 };

struct story {
	/* Work for one core, on all nodes together: how long in all, the longest stretch of it, and
	 * for how many cores there was work on average while it was more. */
	double serial_s, serial_from_s, serial_to_s, parallel_s, parallel_cores;
	double work_peak_cores; /* for how many cores there was work at most, over two seconds */
	double waited_s; /* of threads for a core, with those that ended before it was known */
	/* The part of it for cores that others had: up to those that the job may use. And how many
	 * it had while it wanted more than it may use. */
	double taken_s, crowded_cores;
	/* Nothing at work between the first work and the last: in all, and the longest. */
	double holes_s, hole_s, hole_from_s, hole_to_s;
	/* The job's memory after its first fifth: the line through it with its error (two standard
	 * errors), how steady it grew (the least slope of its thirds, as a share of that of all).
	 */
	double leak_bytes_per_s, leak_error_bytes_per_s, leak_steadiness;
	double leak_from_s, leak_to_s, leak_from_bytes, leak_to_bytes;
	/* The first kill for want of memory: when, whom, and how memory grew before it. */
	double oom_s, oom_from_s, oom_from_bytes, oom_bytes_per_s, oom_pid;
	char oom_process[STORY_TEXT], oom_host[STORY_TEXT];
	/* The host that is unlike the others in what makes slow, and how. */
	char straggler_host[STORY_TEXT], straggler_cause[STORY_TEXT];
	uint32_t straggler_node;    /* of the run; 0: none */
	double hosts_unequal_ratio; /* CPU time: most / mean - 1 */
	char busiest_host[STORY_TEXT];
	/* The longest time in which a watch for hangs saw no progress. */
	double hang_s, hang_from_s, hang_to_s, hangs;
	char hang_evidence[2 * STORY_TEXT];
};

#endif
