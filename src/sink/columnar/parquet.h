/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet.h - the numbers of Parquet's format that Sonde writes.
 */
#ifndef SONDE_SINK_COLUMNAR_PARQUET_H
#define SONDE_SINK_COLUMNAR_PARQUET_H

#include "core/frame/frame.h"

enum parquet_type { PARQUET_INT64 = 2, PARQUET_DOUBLE = 5, PARQUET_BYTE_ARRAY = 6 };
static inline enum parquet_type parquet_type(enum column_type type)
{
	return type == COLUMN_TEXT   ? PARQUET_BYTE_ARRAY
	       : type == COLUMN_REAL ? PARQUET_DOUBLE
				     : PARQUET_INT64;
}

enum parquet_encoding { PARQUET_PLAIN = 0, PARQUET_RLE = 3, PARQUET_RLE_DICTIONARY = 8 };
enum parquet_page { PARQUET_DATA_PAGE = 0, PARQUET_DICTIONARY_PAGE = 2 };
enum { PARQUET_OPTIONAL = 1, PARQUET_ZSTD = 6, PARQUET_UTF8 = 0 };

#endif
