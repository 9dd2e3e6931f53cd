/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/reportfile.h"

#include "report/page.h"

#include <errno.h>
#include <string.h>

static int make_page(struct bytes *page, struct run *r, struct err *e)
{
	struct summary s;
	int rc = summary_make(&s, r, e);

	if (rc)
		return rc;
	rc = page_make(page, r, &s, e);
	summary_free(&s);
	return rc;
}

static int save(struct outfile *out, const struct bytes *page, const char *directory, struct err *e)
{
	int rc = outfile_open(out, directory, "report.html", e);

	if (rc)
		return rc;
	if (fwrite(page->data, 1, page->len, out->file) != page->len)
		rc = err_set(e, -errno, "%s", strerror(errno));
	return outfile_close(out, rc, e);
}

int reportfile_write(struct outfile *out, struct run *r, const char *directory, struct err *e)
{
	struct bytes page = { 0 };
	int rc = make_page(&page, r, e);

	if (!rc)
		rc = save(out, &page, directory, e);
	bytes_free(&page);
	return rc;
}
