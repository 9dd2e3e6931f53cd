/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlflow_trials.h - trials as runs of MLflow: one run of all, and below it one of each trial.
 *
 * Each has a mark that follows from what it is, by which it is found again: from another machine,
 * too, where no journal knows of it.
 */
#ifndef SONDE_PUSH_MLFLOW_TRIALS_H
#define SONDE_PUSH_MLFLOW_TRIALS_H

#include "push/push.h"

/* As the exec_trials of a push. */
int mlflow_trials(const struct push_job *j, const struct push_trials *t, struct push_result *r,
		  struct err *e);

#endif
