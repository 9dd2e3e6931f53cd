/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute.h - attributes of HDF5 objects as PyTables and pandas look for them.
 *
 * Plain texts are UTF-8 of fixed length. Lists and dictionaries are pickles (protocol 0), which
 * must be ASCII: names in them have been made plain (name_plain).
 */
#ifndef SONDE_HDF5_ATTRIBUTE_H
#define SONDE_HDF5_ATTRIBUTE_H

#include "base/bytes.h"

#include <hdf5.h>

/* All return whether it was written. */
bool attribute_text(hid_t object, const char *name, const char *text);
bool attribute_int(hid_t object, const char *name, int64_t value);
/* The pickle in b, which is emptied. */
bool attribute_pickle(hid_t object, const char *name, struct bytes *b);

/* Pieces of pickles: a text; a list of one text. */
void pickle_text(struct bytes *b, const char *text);
void pickle_list_of_one(struct bytes *b, const char *text);

#endif
