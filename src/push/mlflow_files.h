/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlflow_files.h - the artefacts of a run: the report, the samples as JSON, the recording.
 */
#ifndef SONDE_PUSH_MLFLOW_FILES_H
#define SONDE_PUSH_MLFLOW_FILES_H

#include "push/mlflow_part.h"
#include "push/trials.h"

/* Is there any that has not arrived? */
bool mlflow_files_left(const struct mlflow *m);
/* Those that have not arrived. Where the server does not take them itself, result->left_out says
 * so. 0 or -errno. */
int mlflow_files_send(struct mlflow *m, const struct summary *s, struct err *e);

/* One of a run of trials, unless it has arrived; left_out as above. */
int mlflow_file_send(struct mlflow *m, const struct push_file *f, struct err *e);

#endif
