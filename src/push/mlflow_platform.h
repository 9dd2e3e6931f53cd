/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlflow_platform.h - the machines of a run as tags, by which a tracker's runs can be searched and
 * compared.
 *
 * A tag has the different values of all nodes, in the order of the nodes; what no node states has
 * none.
 */
#ifndef SONDE_PUSH_MLFLOW_PLATFORM_H
#define SONDE_PUSH_MLFLOW_PLATFORM_H

#include "push/mlflow_batch.h"

#include "core/frame/run.h"

enum { PLATFORM_TAGS = 8 };

/* Of a fact of a machine, "host.cpu_model"; NULL: it has none. */
const char *mlflow_platform_tag(const char *metadata);
/* At most PLATFORM_TAGS from tags[*n] on. 0 or -ENOMEM. */
int mlflow_platform_tags(const struct run *r, struct batch_tag *tags, uint32_t *n);

#endif
