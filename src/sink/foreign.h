/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - a format that a helper writes, since it takes a library that Sonde itself does
 * without: SQLite, HDF5 (src/sqlite/, src/hdf5/).
 *
 * The helper (base/helper.h) gets the table (sink/stream.h) and the file. A file that has
 * something in it already is added to.
 */
#ifndef SONDE_SINK_FOREIGN_H
#define SONDE_SINK_FOREIGN_H

#include "sink/sink.h"

/* The helper's part: its whole main. k writes into the file that FILE *out names by descriptor:
 * foreign_path. */
int foreign_serve(const struct sink *k);
/* A path by which the library can open the file. Returns out. */
const char *foreign_path(FILE *out, char *path, size_t size);

#endif
