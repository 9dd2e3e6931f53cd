/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_samples.h - stack samples in Perfetto's protobuf: packets of a sequence of their own, with
 * functions, modules and stacks told once and referred to.
 *
 * The field numbers are those of Perfetto's public trace_packet.proto, profile_packet.proto,
 * profile_common.proto and interned_data.proto.
 */
#ifndef SONDE_SINK_TRACE_TRACE_SAMPLES_H
#define SONDE_SINK_TRACE_TRACE_SAMPLES_H

#include "sink/trace/trace.h"

/* {0} has told nothing yet. */
struct perfetto_samples {
	uint8_t *stack, *frame, *module; /* that were told; of the run */
	struct bytes packet, message, inner, interned, text;
	bool begun;
};

/* False: out of memory. */
bool perfetto_samples_put(struct perfetto_samples *p, struct bytes *out,
			  const struct trace_sample *s);
void perfetto_samples_free(struct perfetto_samples *p);

#endif
