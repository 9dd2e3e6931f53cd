/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_read.h - one text out of a JSON document, which may be hostile.
 */
#ifndef SONDE_BASE_TEXT_JSON_READ_H
#define SONDE_BASE_TEXT_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

/* The text at a path of keys with dots between them, "run.info.run_id"; of an array the first
 * element is taken, "runs.info.run_id". False when there is none there, when it does not fit or is
 * no UTF-8, or when the document is malformed up to it. */
bool json_read_text(const char *document, size_t length, const char *path, char *out, size_t size);

#endif
