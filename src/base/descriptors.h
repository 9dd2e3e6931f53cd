/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptors.h - letting go of what was inherited: a process of our own that lives beside the job
 * must not hold the job's pipes and locks.
 */
#ifndef SONDE_BASE_DESCRIPTORS_H
#define SONDE_BASE_DESCRIPTORS_H

/* Close every descriptor from `first` on, but `keep`. */
void descriptors_close(int first, int keep);
/* Below `end` there is nothing to read from then on, and what is written goes nowhere. */
void descriptors_null(int end);
/* The same below standard error; and close what else was inherited: all that would stay open when
 * something is executed, as no file of Sonde's own does, but `keep`; -1: all. */
void descriptors_let_go(int keep);

#endif
