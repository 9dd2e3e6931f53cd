/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/indicator.h"

#include "bench/model.h"

#include <errno.h>
#include <string.h>

/* Of an indicator: PostgreSQL has 1600 in a table, those that were dropped among them. */
enum { COLUMNS_MAX = 1400 };

/* Two that make the same table wait for each other in PostgreSQL; SQLite has one writer. */
#define LOCK "SELECT pg_advisory_xact_lock(7239587100362786)"

void indicator_quote(struct bytes *sql, const char *name)
{
	bytes_u8(sql, '"');
	for (; *name; name++) {
		if (*name == '"')
			bytes_u8(sql, '"');
		bytes_u8(sql, (uint8_t)*name);
	}
	bytes_u8(sql, '"');
}

const char *indicator_sql_type(enum model_type t)
{
	return t == MODEL_INT    ? "BIGINT"
	       : t == MODEL_REAL ? "DOUBLE PRECISION"
	       : t == MODEL_BOOL ? "INTEGER"
				 : "TEXT";
}

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for an indicator's columns");
}

/* ---- what the store has ---- */

static enum model_type type_of(const char *name)
{
	for (enum model_type t = MODEL_INT; name && t < MODEL_TYPES; t++)
		if (!strcmp(name, model_type_name(t)))
			return t;
	return MODEL_JSON;
}

static int read_columns(struct database *s, struct model *m, struct err *e)
{
	const struct field id = field_int(m->id), *row;
	int rc = database_query(
		s,
		"SELECT name, part, type, unit, is_indexed, is_required, since, role FROM "
		"indicator_columns WHERE indicator_id = $1 ORDER BY place",
		&id, 1, e);

	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		const struct model_column c = { .name = row[0].s ? row[0].s : "",
						.is_result =
							row[1].s && !strcmp(row[1].s, "result"),
						.type = type_of(row[2].s),
						.unit = row[3].s,
						.indexed = row[4].i,
						.required = row[5].i,
						.since = (uint32_t)row[6].i,
						.role = model_role_of(row[7].s) };

		rc = model_add(m, &c) ? no_memory(e) : 0;
	}
	return rc;
}

static int read_checks(struct model *m, const char *texts, struct err *e)
{
	struct err why = { "" };
	int rc = modelcheck_add_all(m, texts, &why);

	return rc ? err_set(e, rc, "the checks of %.64s in the store: %s", m->name, why.text) : 0;
}

int indicator_read(struct database *s, const char *name, struct model *m, struct err *e)
{
	const struct field v = field_text(name), *row = NULL;
	int rc = database_first(
		s,
		"SELECT id, table_name, version, declared, score_column, score_worst, "
		"score_best, checks FROM indicators WHERE name = $1",
		&v, 1, &row, e);

	if (rc <= 0 || !row)
		return rc;
	if (model_init(m, name))
		return no_memory(e);
	m->id = row[0].i;
	m->table = pool_text(&m->pool, row[1].s ? row[1].s : "", strlen(row[1].s ? row[1].s : ""));
	m->version = (uint32_t)row[2].i;
	m->declared = row[3].i;
	if (row[4].s)
		m->score = pool_text(&m->pool, row[4].s, strlen(row[4].s));
	m->worst = field_number(&row[5]);
	m->best = field_number(&row[6]);
	if (!m->table || (row[4].s && !m->score))
		return no_memory(e);
	rc = read_checks(m, row[7].s, e);
	if (!rc)
		rc = read_columns(s, m, e);
	return rc ? rc : 1;
}

/* ---- changing it ---- */

/* A row of indicator_columns, instead of what is there of that name. */
static int put_column(struct database *s, const struct model *m, uint32_t place, struct err *e)
{
	const struct model_column *c = &m->column[place];
	const struct field v[] = { field_int(m->id),
				   field_int(place),
				   field_text(c->name),
				   field_text(c->is_result ? "result" : "parameter"),
				   field_text(model_type_name(c->type)),
				   field_text(c->unit),
				   field_int(c->indexed),
				   field_int(c->required),
				   field_int(c->since),
				   field_text(model_role_name(c->role)) };

	return database_exec(
		s,
		"INSERT INTO indicator_columns (indicator_id, place, name, part, type, unit, "
		"is_indexed, is_required, since, role) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) "
		"ON CONFLICT (indicator_id, name) DO UPDATE SET type = excluded.type, unit = "
		"excluded.unit, is_indexed = excluded.is_indexed, is_required = "
		"excluded.is_required, since = excluded.since, role = excluded.role",
		v, sizeof v / sizeof v[0], e);
}

/* Its name tells the column by its place: columns may be called anything. */
static int make_index(struct database *s, const struct model *m, uint32_t place, struct err *e)
{
	struct bytes sql = { 0 };

	bytes_printf(&sql, "CREATE INDEX IF NOT EXISTS %s_%u ON %s (", m->table, place, m->table);
	indicator_quote(&sql, m->column[place].name);
	bytes_puts(&sql, ")");
	return database_exec_bytes(s, &sql, NULL, 0, e);
}

static int drop_index(struct database *s, const struct model *m, uint32_t place, struct err *e)
{
	struct bytes sql = { 0 };

	bytes_printf(&sql, "DROP INDEX IF EXISTS %s_%u", m->table, place);
	return database_exec_bytes(s, &sql, NULL, 0, e);
}

static int make_column(struct database *s, const struct model *m, uint32_t place, struct err *e)
{
	const struct model_column *c = &m->column[place];
	struct bytes sql = { 0 };

	bytes_printf(&sql, "ALTER TABLE %s ADD COLUMN ", m->table);
	indicator_quote(&sql, c->name);
	bytes_printf(&sql, " %s", indicator_sql_type(c->type));
	return database_exec_bytes(s, &sql, NULL, 0, e);
}

/* Its values as another type: a column beside it takes them and then its name, as both databases
 * can. */
static int retype_column(struct database *s, const struct model *m, uint32_t place,
			 enum model_type to, struct err *e)
{
	static const char *const steps[] = { "ALTER TABLE % ADD COLUMN \"trial_id \" ^",
					     "UPDATE % SET \"trial_id \" = CAST(# AS ^)",
					     "ALTER TABLE % DROP COLUMN #",
					     "ALTER TABLE % RENAME COLUMN \"trial_id \" TO #" };
	struct bytes sql = { 0 };
	int rc = drop_index(s, m, place, e);

	for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !rc; i++) {
		for (const char *c = steps[i]; *c; c++)
			if (*c == '%')
				bytes_puts(&sql, m->table);
			else if (*c == '^')
				bytes_puts(&sql, indicator_sql_type(to));
			else if (*c == '#')
				indicator_quote(&sql, m->column[place].name);
			else
				bytes_u8(&sql, (uint8_t)*c);
		rc = database_exec_bytes(s, &sql, NULL, 0, e);
	}
	return rc;
}

/* May values of a type be kept as another without loss? */
static bool widens(enum model_type from, enum model_type to)
{
	return from == to || to == MODEL_JSON || (from == MODEL_INT && to == MODEL_REAL) ||
	       (to == MODEL_ANY && (from == MODEL_TEXT || from == MODEL_INT || from == MODEL_REAL));
}

static int put_indicator(struct database *s, struct model *m, struct err *e)
{
	struct bytes checks = { 0 };
	struct field v[] = { field_text(m->name),   field_text(m->table),
			     field_int(m->version), field_int(m->declared),
			     field_text(m->score),  field_real(m->worst),
			     field_real(m->best),   { 0 } };
	const struct field *row = NULL;
	int rc;

	modelcheck_texts(m, &checks);
	bytes_u8(&checks, 0);
	if (m->nchecks)
		v[7] = field_text(checks.failed ? "" : (const char *)checks.data);
	rc = checks.failed
		     ? no_memory(e)
		     : database_exec(
			       s,
			       "INSERT INTO indicators (name, table_name, version, declared, score_column, "
			       "score_worst, score_best, checks) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (name) "
			       "DO UPDATE SET version = excluded.version, declared = excluded.declared, "
			       "score_column = excluded.score_column, score_worst = excluded.score_worst, "
			       "score_best = excluded.score_best, checks = excluded.checks",
			       v, sizeof v / sizeof v[0], e);
	bytes_free(&checks);
	if (!rc)
		rc = database_first(s, "SELECT id FROM indicators WHERE name = $1", v, 1, &row, e);
	if (rc <= 0 || !row)
		return rc ? rc : err_set(e, -EPROTO, "%.300s lost an indicator", database_shown(s));
	m->id = row[0].i;
	return 0;
}

static int make_table(struct database *s, struct model *m, struct err *e)
{
	struct bytes sql = { 0 };
	int rc = put_indicator(s, m, e);

	if (rc)
		return rc;
	bytes_printf(
		&sql,
		"CREATE TABLE %s (trial_id INTEGER PRIMARY KEY REFERENCES trials (id) ON DELETE "
		"CASCADE)",
		m->table);
	return database_exec_bytes(s, &sql, NULL, 0, e);
}

/* ---- what a result, or a declaration, asks of it ---- */

/* A column that the store's model is to have. *changed is set when it had another, or none. */
static int want_column(struct database *s, struct model *m, const struct model_column *c,
		       bool *changed, struct err *e)
{
	const struct model_column *have = model_find(m, c->name);
	uint32_t place = have ? (uint32_t)(have - m->column) : m->ncolumns;
	int rc = 0;

	if (have && have->is_result != c->is_result)
		return err_set(e, -EEXIST,
			       "%s.%.63s was a %s and is now a %s; give the indicator another name",
			       m->name, c->name, have->is_result ? "result" : "parameter",
			       c->is_result ? "result" : "parameter");
	if (have && have->type == c->type && have->indexed == c->indexed &&
	    have->required == c->required && have->role == c->role &&
	    !strcmp(have->unit ? have->unit : "", c->unit ? c->unit : ""))
		return 0;
	if (have && !widens(have->type, c->type))
		return err_set(
			e, -EEXIST,
			"%s.%.63s was %s, whose values do not all fit %s; give the indicator "
			"another name",
			m->name, c->name, model_type_name(have->type), model_type_name(c->type));
	if (!*changed && m->ncolumns)
		m->version++;
	*changed = true;
	if (have && have->type != c->type)
		rc = retype_column(s, m, place, c->type, e);
	if (have && !rc) {
		struct model_column *own = &m->column[place];
		const char *name = own->name;

		*own = *c;
		own->name = name;
		own->unit = c->unit ? pool_text(&m->pool, c->unit, strlen(c->unit)) : NULL;
	} else if (!rc) {
		rc = model_add(m, c) ? no_memory(e) : make_column(s, m, place, e);
	}
	if (rc)
		return rc;
	m->column[place].since = m->version;
	rc = put_column(s, m, place, e);
	if (rc)
		return rc;
	return c->indexed ? make_index(s, m, place, e) : drop_index(s, m, place, e);
}

/* What it says beside its columns. */
static bool same_rest(const struct model *a, const struct model *b)
{
	if (!modelcheck_are_same(a, b))
		return false;
	return !strcmp(a->score ? a->score : "", b->score ? b->score : "") &&
	       (!a->score || (a->worst == b->worst && a->best == b->best));
}

static int copy_checks(struct model *m, const struct model *from, struct err *e)
{
	struct bytes texts = { 0 };
	int rc;

	modelcheck_texts(from, &texts);
	bytes_u8(&texts, 0);
	modelcheck_free(m);
	rc = texts.failed ? no_memory(e) : modelcheck_add_all(m, (const char *)texts.data, e);
	bytes_free(&texts);
	return rc;
}

static int want_declared(struct database *s, struct model *m, const struct model *declared,
			 bool *changed, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < declared->ncolumns && !rc; i++)
		if (!strchr(declared->column[i].name, '*'))
			rc = want_column(s, m, &declared->column[i], changed, e);
	if (rc || (m->declared && same_rest(m, declared)))
		return rc;
	m->declared = true;
	m->score = declared->score ? pool_text(&m->pool, declared->score, strlen(declared->score))
				   : NULL;
	m->worst = declared->worst;
	m->best = declared->best;
	*changed = true;
	return copy_checks(m, declared, e);
}

/* The column that a value asks for: as declared under a glob, or as it comes. */
static struct model_column column_for(const struct model *declared, const struct model *m,
				      const struct contract_value *v)
{
	const struct model_column *have = model_find(m, v->v->key);
	const struct model_column *glob = declared ? model_find(declared, v->v->key) : NULL;
	struct model_column c = { .is_result = v->is_result, .type = model_type_of(v) };

	if (have && !declared) {
		bool widen = have->type == MODEL_INT && c.type == MODEL_REAL && !v->is_result;

		c = *have;
		c.type = widen ? MODEL_REAL : c.type;
	} else if (glob) {
		c = *glob;
	} else {
		c.indexed = !v->is_result && c.type != MODEL_JSON;
	}
	c.name = v->v->key;
	return c;
}

/* Is it a null of which only another result says what it is? What is declared says it by itself. */
static bool is_unknown(const struct model *declared, const struct contract_value *v)
{
	return v->v->type == JSONDOC_NULL && !(declared && model_find(declared, v->v->key));
}

static int want_values(struct database *s, struct model *m, const struct model *declared,
		       const struct contract *c, bool *changed, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < c->nvalues && !rc; i++) {
		struct model_column column;

		if (is_unknown(declared, &c->value[i]))
			continue;
		column = column_for(declared, m, &c->value[i]);
		rc = want_column(s, m, &column, changed, e);
	}
	return rc;
}

/* Need the store's columns be looked at, to take this? */
static bool has_all(const struct model *m, const struct model *declared, const struct contract *c)
{
	if (!m->id)
		return false;
	for (uint32_t i = 0; i < c->nvalues; i++) {
		const struct jsontree *v = c->value[i].v;
		const struct model_column *have = model_find(m, v->key);

		if (!is_unknown(declared, &c->value[i]) &&
		    (!have || !model_fits(have->type, v) ||
		     have->is_result != c->value[i].is_result))
			return false;
	}
	for (uint32_t i = 0; declared && i < declared->ncolumns; i++) {
		const struct model_column *want = &declared->column[i];
		const struct model_column *have = model_find(m, want->name);

		if (!strchr(want->name, '*') &&
		    (!have || have->type != want->type || have->indexed != want->indexed ||
		     have->required != want->required || have->role != want->role))
			return false;
	}
	return !declared || (m->declared && same_rest(m, declared));
}

/* What the store has now, whatever it had when it was read. */
static int read_again(struct database *s, const char *name, struct model *m, struct err *e)
{
	int rc = database_is_postgres(s) ? database_exec(s, LOCK, NULL, 0, e) : 0;

	model_free(m);
	if (!rc)
		rc = indicator_read(s, name, m, e);
	return rc < 0 ? rc : 0;
}

/* Names that differ may make the same table: Pi.X and Pi-X. */
static int check_table(struct database *s, const struct model *m, struct err *e)
{
	const struct field v = field_text(m->table), *row = NULL;
	int rc = database_first(s, "SELECT name FROM indicators WHERE table_name = $1", &v, 1, &row,
				e);

	if (rc <= 0 || !row)
		return rc;
	return err_set(e, -EBADMSG, "the table %s is that of %.64s; give %s another name", m->table,
		       row[0].s ? row[0].s : "", m->name);
}

static int make(struct database *s, const struct model *declared, const struct contract *c,
		struct model *m, struct err *e)
{
	int rc = model_init(m, c->name) ? no_memory(e) : 0;

	if (!rc && declared) {
		m->table = pool_text(&m->pool, declared->table, strlen(declared->table));
		rc = m->table ? 0 : no_memory(e);
	}
	if (!rc)
		rc = check_table(s, m, e);
	return rc ? rc : make_table(s, m, e);
}

/* Every table of PostgreSQL has these already. */
static int check_names(const struct contract *c, struct err *e)
{
	static const char *const taken[] = { "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid" };

	for (uint32_t i = 0; i < c->nvalues; i++)
		for (size_t k = 0; k < sizeof taken / sizeof taken[0]; k++)
			if (!strcmp(c->value[i].v->key, taken[k]))
				return err_set(e, -EBADMSG,
					       "PostgreSQL has no column %s but its own; "
					       "give it another name",
					       taken[k]);
	return 0;
}

/* Before the database refuses columns, and with them the whole transaction. */
static int check_room(const struct model *m, const struct contract *c, struct err *e)
{
	uint32_t more = 0;

	for (uint32_t i = 0; i < c->nvalues; i++)
		more += c->value[i].v->type != JSONDOC_NULL && !model_find(m, c->value[i].v->key);
	if (!more || m->ncolumns + more <= COLUMNS_MAX)
		return 0;
	return err_set(e, -EBADMSG,
		       "%s has %u columns, and this brings %u more, where a table has room for %d; "
		       "what differs from trial to trial is a value, and no name",
		       c->name, m->ncolumns, more, COLUMNS_MAX);
}

/* Would a result's value have to be another than it is? */
static bool contradicts(const struct model *m, const struct contract *c)
{
	for (uint32_t i = 0; i < c->nvalues; i++) {
		const struct contract_value *v = &c->value[i];
		const struct model_column *have = model_find(m, v->v->key);
		bool widens_it = have && have->type == MODEL_INT && v->v->type == JSONDOC_NUMBER;

		if (have && (have->is_result != v->is_result ||
			     (!model_fits(have->type, v->v) && !widens_it)))
			return true;
	}
	return false;
}

/* What a declared model refuses is a trial of its indicator all the same; it changes nothing of
 * one that is there. */
static int bring_refused(struct database *s, const struct model *declared, const struct contract *c,
			 struct model *m, struct err *e)
{
	bool changed = false;
	int rc = m->id ? 0 : read_again(s, c->name, m, e);

	if (rc || m->id)
		return rc;
	rc = make(s, declared, c, m, e);
	if (!rc)
		rc = want_declared(s, m, declared, &changed, e);
	if (!rc && changed)
		rc = put_indicator(s, m, e);
	/* There is no table for it: it is of no indicator. */
	return rc == -EBADMSG ? 0 : rc;
}

int indicator_bring(struct database *s, const struct model *declared, const struct contract *c,
		    struct model *m, struct err *e)
{
	bool changed = false;
	int rc = declared ? model_check(declared, c, e) : 0;

	if (rc == -EBADMSG) {
		struct err why = { "" };

		rc = bring_refused(s, declared, c, m, &why);
		return rc ? err_set(e, rc, "%s", why.text) : -EBADMSG;
	}
	if (rc || has_all(m, declared, c))
		return rc ? rc : model_check(m, c, e);
	rc = read_again(s, c->name, m, e);
	/* A declared model that is not declared to us changes by no result. */
	if (!rc && m->id && !declared && (m->declared || contradicts(m, c)))
		return model_check(m, c, e);
	if (!rc && database_is_postgres(s))
		rc = check_names(c, e);
	if (!rc)
		rc = check_room(m, c, e);
	if (!rc && !m->id)
		rc = make(s, declared, c, m, e);
	if (!rc && declared)
		rc = want_declared(s, m, declared, &changed, e);
	if (!rc)
		rc = want_values(s, m, declared, c, &changed, e);
	if (!rc && changed)
		rc = put_indicator(s, m, e);
	return rc ? rc : model_check(m, c, e);
}
