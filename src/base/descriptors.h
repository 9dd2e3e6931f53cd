/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptors.h - letting go of what was inherited: a process of our own that lives beside the job
 * must not hold the job's pipes and locks.
 */
#ifndef SONDE_BASE_DESCRIPTORS_H
#define SONDE_BASE_DESCRIPTORS_H

/* Close every descriptor from `first` on, but `keep`. */
void descriptors_close(int first, int keep);

#endif
