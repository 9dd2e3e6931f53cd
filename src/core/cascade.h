/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cascade.h - how a recording holds the start-up of a Batch Shipyard pool: a node for each of its
 * nodes, a mark for each event, named SOURCE:EVENT, with the message as it was.
 */
#ifndef SONDE_CORE_CASCADE_H
#define SONDE_CORE_CASCADE_H

/* Key of the nodes' metadata: ACCOUNT$POOL, as the table has it. */
#define CASCADE_POOL "cascade.pool"

#endif
