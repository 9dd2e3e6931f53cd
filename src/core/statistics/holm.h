/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holm.h - several questions asked at once, without more false answers than of one.
 */
#ifndef SONDE_CORE_STATISTICS_HOLM_H
#define SONDE_CORE_STATISTICS_HOLM_H

#include <stdint.h>

/* Make each p what Holm 1979 corrects it to, so that it is compared with the level of all of them
 * together. NAN (no answer) stays and counts as asked: it corrects the others. 0 or -ENOMEM. */
int holm(double *p, uint32_t n);

#endif
