/* SPDX-License-Identifier: Apache-2.0 */
#include "core/scanner.h"

#define ROW(counter, metric, of_unit, of_kind, combined, text, sentence)                           \
	{                                                                                          \
		counter,                                                                           \
		{                                                                                  \
			.name = "scanner." metric, .domain = "scanner", .label = (text),           \
			.help = (sentence), .unit = (of_unit), .kind = (of_kind),                  \
			.over_instances = (combined), .over_nodes = (combined),                    \
		}                                                                                  \
	}

const struct scanner_metric scanner_metrics[SCANNER_METRICS] = {
	ROW("io_read", "read_bytes", UNIT_BYTES, KIND_TOTAL, COMBINE_SUM, "Read",
	    "Bytes that the thread read from storage."),
	ROW("io_write", "written_bytes", UNIT_BYTES, KIND_TOTAL, COMBINE_SUM, "Written",
	    "Bytes that the thread wrote to storage."),
	ROW("frames_used", "used_frames", UNIT_COUNT, KIND_TOTAL, COMBINE_SUM, "Frames used",
	    "Frames that operations used."),
	ROW("frames_decoded", "decoded_frames", UNIT_COUNT, KIND_TOTAL, COMBINE_SUM,
	    "Frames decoded", "Frames that were decoded."),
	ROW("frames_fed", "fed_frames", UNIT_COUNT, KIND_TOTAL, COMBINE_SUM, "Frames fed",
	    "Frames that were given to a decoder."),
	ROW("max_memory_used", "memory_max_bytes", UNIT_BYTES, KIND_GAUGE, COMBINE_SUM,
	    "Most memory", "The most memory of the pool that was in use."),
	ROW("current_memory_used", "memory_bytes", UNIT_BYTES, KIND_GAUGE, COMBINE_SUM, "Memory",
	    "Memory of the pool that was in use at the end."),
};
