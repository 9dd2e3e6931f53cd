/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/sweep/sweepspec.h"

#include "base/text/args.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

enum { LIST_MAX = 1000, FILES_MAX = 256 };
static const int64_t TIMEOUT_MOST_S = 7 * 86400;

const char *const sweep_decision_names[SWEEP_DECISIONS] = {
	[SWEEP_ALL] = "all",
	[SWEEP_RANDOM] = "random",
	[SWEEP_HILL_CLIMBING] = "hill-climbing",
	[SWEEP_ANNEALING] = "simulated-annealing",
	[SWEEP_HALVING] = "successive-halving",
};
const char *const sweep_order_names[SWEEP_ORDERS] = { "rounds", "combinations" };

static int count_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	return spec_read_count(r, v, 1, SWEEP_TRIALS, out);
}

static int seed_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	return spec_read_count(r, v, 0, INT64_MAX, out);
}

static int hardware_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	struct sweep_needs *n = out;
	const struct spec_field fields[] = { { "cpu_family", spec_text, &n->cpu_family },
					     { "cpu_model", spec_text, &n->cpu_model },
					     { "physical_cpus", count_field, &n->physical_cpus },
					     { "processor", spec_text, &n->processor },
					     { 0 } };

	return spec_read_object(r, v, fields);
}

static int requests_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	struct sweep_needs *n = out;
	const struct spec_field fields[] = { { "cpu", spec_quantity, &n->cores },
					     { "memory", spec_quantity, &n->memory_bytes },
					     { "hardware", hardware_field, n },
					     { 0 } };

	return spec_read_object(r, v, fields);
}

/* Of "build" and "run": Amun has nothing but requests in them. */
static int needs_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	const struct spec_field fields[] = { { "requests", requests_field, out }, { 0 } };

	return spec_read_object(r, v, fields);
}

static int timeout_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	const char *text;
	int64_t ns = 0;
	int rc = spec_read_text(r, v, &text);

	if (!rc && args_duration(text, &ns))
		rc = spec_fault(r, v, "timeout: '%.40s' is not a time; 90, 300ms, 5m, 1h are",
				text);
	if (!rc && ns > TIMEOUT_MOST_S * 1000000000)
		rc = spec_fault(r, v, "timeout: at most a week (168h); 0 is never");
	*(double *)out = (double)ns / 1e9;
	return rc;
}

/* "micropipenv[toml]==1.0": is it what installs packages at Amun? Here pip does. */
static bool is_installer(const char *package)
{
	static const char *const names[] = { "micropipenv", "pipenv", "pip", "setuptools",
					     "wheel" };
	size_t n = strcspn(package, "[=<>~!; ");

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (n == strlen(names[i]) && !strncasecmp(package, names[i], n))
			return true;
	return false;
}

/* Amun puts these beside the environment; here there is nothing beside it. */
static int python_packages_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	struct sweep_spec *s = out;
	struct sweep_words words = { 0 };
	int rc = spec_read_words(r, v, &words), wrong = 0;

	for (uint32_t i = 0; i < words.n && !rc; i++) {
		if (is_installer(words.word[i]))
			s->dropped = words.word[i];
		else if (spec_stops(
				 &wrong,
				 spec_fault(
					 r, v,
					 "python_packages: %.60s: nothing is installed beside the "
					 "environment of python; put it into its requirements",
					 words.word[i])))
			break;
	}
	return rc ? rc : wrong;
}

/* ---- files ---- */

/* A file's name, and not one of a directory. */
static bool is_below(const char *path)
{
	const char *last = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	if (!*last || !strcmp(last, "."))
		return false;
	for (const char *p = path; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL)
		if (!strncmp(p, "../", 3) || !strcmp(p, ".."))
			return false;
	return *path != '/';
}

static int files_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	struct sweep_spec *s = out;
	int rc = spec_want(r, v, JSONDOC_ARRAY, "a list of path and content");

	if (!rc && spec_length(v) > FILES_MAX)
		rc = spec_fault(r, v, "files: more than %d", FILES_MAX);
	if (!rc)
		s->file = spec_room(r, spec_length(v), sizeof *s->file, &rc);
	for (struct jsontree *i = v->first; i && !rc; i = i->next) {
		struct sweep_file *f = &s->file[s->nfiles++];
		const struct spec_field fields[] = { { "path", spec_text, &f->path },
						     { "content", spec_text, &f->content },
						     { 0 } };

		rc = spec_read_object(r, i, fields);
		if (!rc && (!f->path || !f->content))
			rc = spec_fault(r, i, "expected a file with path and content");
		else if (!rc && !is_below(f->path))
			rc = spec_fault(r, i, "'%.100s' does not lie below the trial's directory",
					f->path);
		for (const struct sweep_file *k = s->file; k < f && !rc && f->path; k++)
			if (k->path && !strcmp(k->path, f->path))
				rc = spec_fault(r, i, "there are two files '%.60s'", f->path);
	}
	return rc;
}

/* ---- stacks ---- */

static int version_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	struct sweep_stack *s = out;
	int rc = spec_read_text(r, v, &s->python_version);

	if (!rc &&
	    (!*s->python_version || s->python_version[strspn(s->python_version, "0123456789.")]))
		rc = spec_fault(r, v, "python_version: '%.20s' is none; 3.8 is", s->python_version);
	return rc;
}

static int python_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	struct sweep_stack *s = out;
	const struct spec_field fields[] = { { "requirements", spec_text, &s->requirements },
					     { "requirements_locked", spec_text, &s->locked },
					     { "interpreter", spec_text, &s->interpreter },
					     { "pip", spec_words, &s->pip },
					     { "python_version", version_field, s },
					     { "expand", NULL, NULL },
					     { "runtime_environment", NULL, NULL },
					     { 0 } };
	int rc;

	/* What a stack says of packages stands alone; the rest may be that of all stacks. */
	if (jsontree_find(v, "requirements") || jsontree_find(v, "requirements_locked"))
		s->requirements = s->locked = s->python_version = NULL;
	rc = spec_read_object(r, v, fields);
	if (!rc && !s->requirements && !s->locked)
		rc = spec_fault(r, v, "python: which requirements?");
	return rc;
}

static int stack_of(const struct spec_reading *r, struct jsontree *v,
		    const struct sweep_stack *common, struct sweep_stack *s)
{
	const struct spec_field fields[] = { { "name", spec_text, &s->name },
					     { "base", spec_text, &s->base },
					     { "packages", spec_words, &s->packages },
					     { "modules", spec_words, &s->modules },
					     { "python", python_field, s },
					     { "unresolved", spec_text, &s->unresolved },
					     { 0 } };
	int rc;

	*s = *common;
	s->name = NULL;
	if (v->type == JSONDOC_STRING) { /* its name alone */
		s->name = v->text;
		return 0;
	}
	rc = spec_read_object(r, v, fields);
	if (!rc && !s->name)
		rc = spec_fault(r, v, "a stack needs a name");
	return rc;
}

static int stacks_of(const struct spec_reading *r, struct jsontree *v, struct sweep_spec *s)
{
	const struct sweep_stack common = s->stack[0];
	uint32_t n = spec_length(v);
	int rc = spec_want(r, v, JSONDOC_ARRAY, "a list of stacks");

	if (!rc && (!n || n > LIST_MAX))
		rc = spec_fault(r, v, "stacks: expected 1 to %d of them", LIST_MAX);
	if (!rc)
		s->stack = spec_room(r, n, sizeof *s->stack, &rc);
	s->nstacks = 0;
	if (rc)
		return rc;
	for (struct jsontree *i = v->first; i; i = i->next) {
		struct sweep_stack *x = &s->stack[s->nstacks];

		if (spec_stops(&rc, stack_of(r, i, &common, x)))
			return rc;
		for (uint32_t k = 0; k < s->nstacks && x->name; k++)
			if (s->stack[k].name && !strcmp(s->stack[k].name, x->name))
				spec_stops(&rc, spec_fault(r, i, "there are two stacks '%.60s'",
							   x->name));
		s->nstacks++;
	}
	return rc;
}

/* ---- the matrix ---- */

static int environment_of(const struct spec_reading *r, struct jsontree *v, struct sweep_spec *s)
{
	struct sweep_environment *out = &s->environments[s->nenvironments];
	const struct spec_field fields[] = { { "name", spec_text, &out->name },
					     { "environment", spec_variables, &out->variables },
					     { 0 } };
	int rc = spec_read_object(r, v, fields);

	if (!out->name)
		return rc ? rc : spec_fault(r, v, "an environment needs a name");
	for (uint32_t k = 0; k < s->nenvironments && !rc; k++)
		if (!strcmp(s->environments[k].name, out->name))
			rc = spec_fault(r, v, "there are two environments '%.60s'", out->name);
	s->nenvironments++;
	return rc;
}

static int environments_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	struct sweep_spec *s = out;
	int rc = spec_want(r, v, JSONDOC_ARRAY, "a list of environments");

	if (!rc && (!v->first || spec_length(v) > LIST_MAX))
		rc = spec_fault(r, v, "environments: expected 1 to %d of them", LIST_MAX);
	if (!rc)
		s->environments = spec_room(r, spec_length(v), sizeof *s->environments, &rc);
	s->nenvironments = 0;
	for (struct jsontree *i = v->first; i && !rc; i = i->next)
		rc = environment_of(r, i, s);
	return rc;
}

static int parameters_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	struct sweep_spec *s = out;
	int rc = spec_want(r, v, JSONDOC_OBJECT, "an object: of each variable its values");

	for (struct jsontree *i = v->first; i && !rc; i = i->next) {
		struct sweep_parameter *p = &s->parameter[s->nparameters];

		if (s->nparameters == SWEEP_AXES - 2)
			return spec_fault(r, i, "more than %d parameters", SWEEP_AXES - 2);
		if (!spec_is_variable(i->key) || jsontree_find(v, i->key) != i)
			return spec_fault(r, i, "'%.60s' %s", i->key,
					  spec_is_variable(i->key)
						  ? "is given twice"
						  : "cannot be the name of a variable");
		p->name = i->key;
		rc = spec_read_words(r, i, &p->values);
		if (!rc && !p->values.n)
			rc = spec_fault(r, i, "%s: which values?", i->key);
		s->nparameters++;
	}
	return rc;
}

static int excludes_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	struct sweep_spec *s = out;
	int rc = spec_want(r, v, JSONDOC_ARRAY, "a list of objects");

	if (!rc && spec_length(v) > LIST_MAX)
		rc = spec_fault(r, v, "exclude: more than %d", LIST_MAX);
	if (!rc)
		s->exclude = spec_room(r, spec_length(v), sizeof(void *), &rc);
	for (struct jsontree *i = v->first; i && !rc; i = i->next) {
		rc = spec_want(r, i, JSONDOC_OBJECT, "an object: of parameters their values");
		for (struct jsontree *k = i->first; k && !rc; k = k->next) {
			const char *text;

			rc = spec_read_text(r, k, &text);
		}
		s->exclude[s->nexcludes++] = i;
	}
	return rc;
}

static int matrix_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	/* The stacks come last of all: they begin as what the specification says of all of them. */
	const struct spec_field fields[] = { { "parameters", parameters_field, out },
					     { "environments", environments_field, out },
					     { "stacks", NULL, NULL },
					     { "exclude", excludes_field, out },
					     { 0 } };

	return spec_read_object(r, v, fields);
}

static int order_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	enum sweep_order *order = out;
	const char *word = NULL;
	int rc = spec_text(r, v, &word);
	int i = 0;

	while (!rc && i < SWEEP_ORDERS && (!word || strcmp(word, sweep_order_names[i]) != 0))
		i++;
	if (i == SWEEP_ORDERS)
		return spec_fault(r, v, "order: expected rounds or combinations");
	*order = (enum sweep_order)i;
	return rc;
}

static int eta_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	return spec_read_count(r, v, 2, 100, out);
}

static int find_type(const struct spec_reading *r, struct jsontree *v, const char *type,
		     enum sweep_decision *out)
{
	int i = 0;

	while (i < SWEEP_DECISIONS && (!type || strcmp(type, sweep_decision_names[i]) != 0))
		i++;
	if (i == SWEEP_DECISIONS)
		return spec_fault(r, v,
				  "decision: its type is all, random, hill-climbing, "
				  "simulated-annealing or successive-halving");
	*out = (enum sweep_decision)i;
	return 0;
}

static int check_decision(const struct spec_reading *r, struct jsontree *v,
			  const struct sweep_spec *s, const char *better)
{
	bool halves = s->decision == SWEEP_HALVING;

	if (better && strcmp(better, "less") != 0 && strcmp(better, "more") != 0)
		return spec_fault(r, v, "better: less or more");
	if (s->result && !better)
		return spec_fault(r, v, "result: is less of it better, or more? better: less");
	if ((s->decision == SWEEP_RANDOM || s->decision == SWEEP_ANNEALING) && !s->count)
		return spec_fault(r, v, "count: how many of all combinations?");
	if (!halves && (s->budget || s->eta || s->minimum))
		return spec_fault(r, v, "budget, eta and minimum are for successive-halving");
	return 0;
}

static int decision_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	enum { ETA = 2, MINIMUM = 3 };
	struct sweep_spec *s = out;
	const char *type = NULL, *better = NULL;
	const struct spec_field fields[] = { { "type", spec_text, &type },
					     { "seed", seed_field, &s->seed },
					     { "count", count_field, &s->count },
					     { "result", spec_text, &s->result },
					     { "better", spec_text, &better },
					     { "budget", count_field, &s->budget },
					     { "eta", eta_field, &s->eta },
					     { "minimum", count_field, &s->minimum },
					     { 0 } };
	int rc = v->type == JSONDOC_STRING ? spec_read_text(r, v, &type)
					   : spec_read_object(r, v, fields);

	if (!rc)
		rc = find_type(r, v, type, &s->decision);
	if (!rc)
		rc = check_decision(r, v, s, better);
	if (rc)
		return rc;
	s->less_is_better = better && !strcmp(better, "less");
	s->eta = s->eta ? s->eta : ETA;
	s->minimum = s->minimum ? s->minimum : MINIMUM;
	return 0;
}

/* ---- all of it ---- */

static int check_size(const struct spec_reading *r, const struct jsontree *v,
		      const struct sweep_spec *s)
{
	double all = (double)s->nstacks * s->nenvironments;
	uint32_t variables = s->environment.n + s->nparameters, most = 0;

	for (uint32_t i = 0; i < s->nparameters; i++)
		all *= s->parameter[i].values.n;
	for (uint32_t i = 0; i < s->nenvironments; i++)
		if (s->environments[i].variables.n > most)
			most = s->environments[i].variables.n;
	if (all > SWEEP_MATRIX)
		return spec_fault(r, v, "the matrix has %.0f combinations, more than %d", all,
				  SWEEP_MATRIX);
	if (s->count && (double)s->count < all)
		all = (double)s->count;
	if (s->decision == SWEEP_HALVING && s->batch_size > 1)
		return spec_fault(r, v,
				  "batch_size: successive-halving decides how many trials each "
				  "combination gets; give its minimum instead");
	if (all * (double)s->batch_size > SWEEP_TRIALS)
		return spec_fault(r, v, "these are %.0f trials, more than %d; count takes some",
				  all * (double)s->batch_size, SWEEP_TRIALS);
	if (variables + most > SWEEP_VARIABLES)
		return spec_fault(r, v, "a trial would have more than %d variables",
				  SWEEP_VARIABLES);
	return 0;
}

/* A name that nothing has would leave nothing out. */
static int check_excludes(const struct spec_reading *r, const struct jsontree *parameters,
			  const struct sweep_spec *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->nexcludes; i++)
		for (const struct jsontree *k = s->exclude[i]->first; k; k = k->next) {
			if (!strcmp(k->key, "stack") || !strcmp(k->key, "environment") ||
			    jsontree_find(parameters, k->key))
				continue;
			if (spec_stops(&rc,
				       spec_fault(r, k, "exclude: there is no parameter '%.60s'",
						  k->key)))
				return rc;
		}
	return rc;
}

static int check_script(const struct spec_reading *r, const struct jsontree *v,
			struct sweep_spec *s)
{
	if (!s->script || !*s->script)
		return spec_fault(r, v, "script: which one?");
	s->script_is_text = strchr(s->script, '\n') || !strncmp(s->script, "#!", 2);
	if (strstr(s->script, "://") && !s->script_is_text)
		return spec_fault(r, jsontree_find(v, "script"),
				  "script: nothing is fetched without --fetch; or name a file, or "
				  "put the text here");
	return 0;
}

/* rc: what came of its keys, each of which was read. */
static int complete(const struct spec_reading *r, struct jsontree *v, struct sweep_spec *s, int rc)
{
	const struct jsontree *matrix = jsontree_find(v, "matrix");
	const struct jsontree *stacks = jsontree_find(matrix, "stacks");
	const struct jsontree *parameters = jsontree_find(matrix, "parameters");

	if (rc == -ENOMEM || spec_stops(&rc, check_script(r, v, s)))
		return rc;
	if (!s->stack[0].name)
		s->stack[0].name = s->stack[0].requirements || s->stack[0].locked ? "python"
				   : strcmp(s->stack[0].base, "host") != 0        ? s->stack[0].base
										  : "host";
	if (stacks && stacks->type != JSONDOC_NULL)
		spec_stops(&rc, stacks_of(r, (struct jsontree *)stacks, s));
	if (!rc && !s->nenvironments) {
		s->environments = spec_room(r, 1, sizeof *s->environments, &rc);
		s->nenvironments = 1;
		if (!rc)
			s->environments[0].name = "plain";
	}
	if (!rc || (parameters && parameters->type == JSONDOC_OBJECT))
		spec_stops(&rc, check_excludes(r, parameters, s));
	return rc ? rc : check_size(r, v, s);
}

/* What Amun's service is told, or writes, is no part of what is tried. */
static void drop_service_keys(struct jsontree *document)
{
	static const char *const keys[] = {
		"package_manager",       "update",        "upgrade_pip",
		"send_messages",         "force_sync",    "@created",
		"@amun_service_version", "@amun_api_url", "@amun_deployment_name"
	};

	if (document->type != JSONDOC_OBJECT)
		return;
	for (struct jsontree **at = &document->first; *at;) {
		bool drop = false;

		for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
			drop |= !strcmp((*at)->key, keys[i]);
		if (drop)
			*at = (*at)->next;
		else
			at = &(*at)->next;
	}
}

int sweepspec_read(struct sweep_spec *s, struct jsontree *document, const struct spec_reading *r)
{
	int rc = 0;
	struct sweep_stack *first = spec_room(r, 1, sizeof *first, &rc);
	const struct spec_field fields[] = { { "identifier", spec_text, &s->identifier },
					     { "script", spec_text, &s->script },
					     { "script_sha256", NULL, NULL },
					     { "arguments", spec_words, &s->arguments },
					     { "base", spec_text, first ? &first->base : NULL },
					     { "packages", spec_words,
					       first ? &first->packages : NULL },
					     { "python", python_field, first },
					     { "environment", spec_variables, &s->environment },
					     { "files", files_field, s },
					     { "build", needs_field, &s->build },
					     { "run", needs_field, &s->run },
					     { "batch_size", count_field, &s->batch_size },
					     { "count", count_field, &s->batch_size },
					     { "warmup", seed_field, &s->warmup },
					     { "timeout", timeout_field, &s->timeout_s },
					     { "matrix", matrix_field, s },
					     { "decision", decision_field, s },
					     { "order", order_field, &s->order },
					     { "slurm", spec_words, &s->slurm },
					     { "python_packages", python_packages_field, s },
					     { 0 } };

	*s = (struct sweep_spec){
		.batch_size = 1, .timeout_s = 3600, .stack = first, .nstacks = 1
	};
	if (!first)
		return rc;
	first->base = "host";
	first->interpreter = "python3";
	drop_service_keys(document);
	rc = spec_want(r, document, JSONDOC_OBJECT, "an object");
	return rc ? rc : complete(r, document, s, spec_read_object(r, document, fields));
}
