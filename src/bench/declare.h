/* SPDX-License-Identifier: Apache-2.0 */
/*
 * declare.h - models as schemas of other programs: tables of SQL, predicates of Dgraph (RDF), JSON.
 *
 * It writes what there would be; it asks no database.
 */
#ifndef SONDE_BENCH_DECLARE_H
#define SONDE_BENCH_DECLARE_H

#include "bench/model.h"

/* All tables of the store, and one for each model. */
void declare_sql(struct bytes *b, const struct models *m, bool postgres);
/* What is common to all of them, then each predicate once, and a type for each model. */
void declare_rdf(struct bytes *b, const struct models *m);
void declare_json(struct bytes *b, const struct models *m);

#endif
