/* SPDX-License-Identifier: Apache-2.0 */
/* hdf5.c - a table of an HDF5 file, as pandas and PyTables have them; src/hdf5/ writes it. */
#include "sink/foreign.h"

static const struct helper_program program = { "hdf5", "libhdf5-dev and libdeflate-dev",
					       "libhdf5-103-1 and libdeflate0" };

static int hdf5_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	return foreign_begin(state, &program, schema, out, e);
}

const struct sink sink_hdf5 = {
	.name = "hdf5",
	.extension = "h5",
	.what = "a table of an HDF5 file that pandas.read_hdf opens",
	.collects = true,
	.size = sizeof(struct foreign),
	.begin = hdf5_begin,
	.batch = foreign_batch,
	.end = foreign_end,
	.free = foreign_free,
};
