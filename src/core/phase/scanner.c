/* SPDX-License-Identifier: Apache-2.0 */
#include "core/phase/scanner.h"

#define ROW(metric, counter, of_unit, of_kind, sentence)                                           \
	{                                                                                          \
		.name = "scanner." metric, .domain = SCANNER_DOMAIN, .label = (counter),           \
		.help = (sentence), .unit = (of_unit), .kind = (of_kind),                          \
		.over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM,                          \
	}

const struct metric scanner_metrics[SCANNER_METRICS] = {
	ROW("read_bytes", "io_read", UNIT_BYTES, KIND_TOTAL,
	    "Bytes that the thread read from storage."),
	ROW("written_bytes", "io_write", UNIT_BYTES, KIND_TOTAL,
	    "Bytes that the thread wrote to storage."),
	ROW("used_frames", "frames_used", UNIT_COUNT, KIND_TOTAL, "Frames that operations used."),
	ROW("decoded_frames", "frames_decoded", UNIT_COUNT, KIND_TOTAL,
	    "Frames that were decoded."),
	ROW("fed_frames", "frames_fed", UNIT_COUNT, KIND_TOTAL,
	    "Frames that were given to a decoder."),
	ROW("memory_max_bytes", "max_memory_used", UNIT_BYTES, KIND_GAUGE,
	    "The most memory of the pool that was in use."),
	ROW("memory_bytes", "current_memory_used", UNIT_BYTES, KIND_GAUGE,
	    "Memory of the pool that was in use at the end."),
};
