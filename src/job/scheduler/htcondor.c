/* SPDX-License-Identifier: Apache-2.0 */
/* htcondor.c - HTCondor. Its variables name files, of which the job's ad has the rest: a
 * line an attribute, NAME = VALUE, where a value that is no number and no text is an expression.
 *
 * Ids are those of a submitting machine (schedd): its name is taken as the cluster's.
 */
#include "base/text/number.h"
#include "base/text/textfile.h"
#include "job/scheduler/row.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { AD_MAX = 1 << 20, MIB_SHIFT = 20, PARALLEL_UNIVERSE = 11 };

/* The value of an attribute, up to its line's end; NULL: it has none. */
static const char *attribute(const char *ad, const char *name)
{
	size_t n = strlen(name);

	for (; *ad; ad = number_next_line(ad)) {
		const char *at = ad + strspn(ad, " \t");

		if (strncasecmp(at, name, n) != 0)
			continue;
		at += n + strspn(at + n, " \t");
		if (*at == '=')
			return at + 1 + strspn(at + 1, " \t");
	}
	return NULL;
}

/* -1: it is no number, or below 0. */
static int64_t ad_number(const char *ad, const char *name)
{
	const char *at = attribute(ad, name);
	int64_t v;

	if (!at || !number_i64(&at, &v) || v < 0)
		return -1;
	at += strspn(at, " \t\r");
	return *at && *at != '\n' ? -1 : v;
}

/* A quoted text, without its escapes; NULL: it is none, or there is no more room. */
static const char *ad_text(struct batch_job *j, const char *ad, const char *name)
{
	const char *at = attribute(ad, name);
	char text[512];
	size_t n = 0;

	if (!at || *at++ != '"')
		return NULL;
	for (; *at != '"'; at++) {
		at += *at == '\\';
		if (!*at || *at == '\n' || n + 1 == sizeof text)
			return NULL;
		text[n++] = *at;
	}
	return n ? batch_word(j, "%.*s", (int)n, text) : NULL;
}

static void read_id(struct batch_job *j, const char *ad)
{
	int64_t cluster = ad_number(ad, "ClusterId"), proc = ad_number(ad, "ProcId");
	struct err e;

	if (cluster < 0 || proc < 0) {
		err_set(&e, -EINVAL, "the job's ad has no ClusterId and ProcId");
		batch_fault(j, "_CONDOR_JOB_AD", &e);
		return;
	}
	j->text[BATCH_RAW_ID] = batch_word(j, "%lld.%lld", (long long)cluster, (long long)proc);
	if (ad_number(ad, "TotalSubmitProcs") > 1) {
		j->text[BATCH_ARRAY_ID] = batch_word(j, "%lld", (long long)cluster);
		j->text[BATCH_ARRAY_INDEX] = batch_word(j, "%lld", (long long)proc);
	}
}

/* schedd#id#time */
static void read_submitter(struct batch_job *j, const char *ad)
{
	const char *global = ad_text(j, ad, "GlobalJobId");

	if (!global)
		return;
	j->text[BATCH_CLUSTER] = batch_word(j, "%.*s", (int)strcspn(global, "#"), global);
	j->text[BATCH_SUBMIT_HOST] = j->text[BATCH_CLUSTER];
}

static void read_numbers(struct batch_job *j, const char *ad)
{
	int64_t mib = ad_number(ad, "RequestMemory");

	j->number[BATCH_CORES_ASKED] = ad_number(ad, "RequestCpus");
	j->number[BATCH_GPUS_ASKED] = ad_number(ad, "RequestGPUs");
	j->number[BATCH_TIME_LIMIT] = ad_number(ad, "AllowedExecuteDuration");
	j->number[BATCH_RESTARTS] = ad_number(ad, "NumJobStarts"); /* those before this one */
	if (mib >= 0 && mib <= INT64_MAX >> MIB_SHIFT)
		j->number[BATCH_MEMORY_ASKED] = mib << MIB_SHIFT;
	if (ad_number(ad, "JobUniverse") != PARALLEL_UNIVERSE)
		j->number[BATCH_NODES] = 1;
}

static void htcondor_read(struct batch_job *j, char *const *environment, const char *host)
{
	struct batch_ranks ranks = {
		.rank = batch_number(batch_variable(environment, "_CONDOR_PROCNO")),
		.ranks = batch_number(batch_variable(environment, "_CONDOR_NPROCS")),
		.local_rank = -1,
		.local_ranks = -1,
	};
	struct bytes file = { 0 };
	struct err e = { "" };
	int rc = textfile_read(batch_variable(environment, "_CONDOR_JOB_AD"), "job's ad", AD_MAX,
			       &file, &e);

	(void)host;
	bytes_u8(&file, '\0');
	if (!rc && file.failed)
		rc = err_set(&e, -ENOMEM, "out of memory");
	j->mark = batch_variable(environment, "_CONDOR_SCRATCH_DIR");
	if (rc) {
		batch_fault(j, "_CONDOR_JOB_AD", &e);
	} else {
		const char *ad = (const char *)file.data;

		read_id(j, ad);
		read_submitter(j, ad);
		read_numbers(j, ad);
		j->text[BATCH_NAME] = ad_text(j, ad, "JobBatchName");
		j->text[BATCH_USER] = ad_text(j, ad, "Owner");
		j->text[BATCH_ACCOUNT] = ad_text(j, ad, "AccountingGroup");
		j->text[BATCH_SUBMIT_DIR] = ad_text(j, ad, "Iwd");
	}
	if (j->number[BATCH_NODES] < 0 && ranks.ranks > 0)
		j->number[BATCH_NODES] = ranks.ranks; /* of the parallel universe: one on each */
	batch_ranks(j, &ranks);
	bytes_free(&file);
}

const struct scheduler scheduler_htcondor = {
	.name = "htcondor",
	.title = "HTCondor",
	.sign = { "_CONDOR_SCRATCH_DIR", "_CONDOR_JOB_AD" },
	.read = htcondor_read,
};
