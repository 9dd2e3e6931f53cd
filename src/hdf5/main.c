/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-hdf5 - writes a table of the recording into an HDF5 file: sonde export --to hdf5.
 */
#include "hdf5/table.h"
#include "sink/columnar/column.h"
#include "sink/foreign.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct hdf5 {
	const struct frame_schema *schema;
	hid_t file, group;
	struct table table;
};

/* The system's reason, where one of its calls failed; HDF5's own is not for people. */
static int fail(const struct hdf5 *h, struct err *e)
{
	if (errno)
		return err_set(e, -errno, "%s", strerror(errno));
	return err_set(e, -EIO,
		       "HDF5 cannot hold this table of %u columns; choose fewer with --metrics",
		       h->schema->ncolumns);
}

static hid_t open_file(FILE *out)
{
	char path[64];
	struct stat st;

	foreign_path(out, path, sizeof(path));
	if (fstat(fileno(out), &st))
		return -1;
	return st.st_size ? H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT)
			  : H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
}

static bool make_group(struct hdf5 *h)
{
	const char *name = h->schema->table;
	htri_t there = H5Lexists(h->file, name, H5P_DEFAULT);

	if (there < 0 || (there && H5Ldelete(h->file, name, H5P_DEFAULT) < 0))
		return false;
	h->group = H5Gcreate2(h->file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	return h->group >= 0;
}

static int hdf5_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	struct hdf5 *h = state;

	h->schema = schema;
	errno = 0;
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	h->file = open_file(out);
	if (h->file < 0)
		return errno ? fail(h, e) : err_set(e, -EIO, "it is no HDF5 file");
	errno = 0; /* the library looks whether things are there */
	if (!make_group(h) || !h5table_open(&h->table, h->group, schema->columns, schema->ncolumns))
		return fail(h, e);
	return 0;
}

static int hdf5_batch(void *state, const struct batch *b, struct err *e)
{
	struct hdf5 *h = state;

	errno = 0;
	return table_put(&h->table, b) ? 0 : fail(h, e);
}

/* What the columns are, beside the table, since an attribute has room for 64 KiB only. */
static bool write_description(const struct hdf5 *h)
{
	struct bytes b = { 0 };
	hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), dataset;
	bool good;

	columns_describe(&b, h->schema);
	good = !b.failed && H5Tset_size(type, b.len) >= 0;
	dataset = good ? H5Dcreate2(h->group, "sonde", type, space, H5P_DEFAULT, H5P_DEFAULT,
				    H5P_DEFAULT)
		       : -1;
	good = dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, b.data) >= 0;
	if (dataset >= 0 && H5Dclose(dataset) < 0)
		good = false;
	H5Sclose(space);
	H5Tclose(type);
	bytes_free(&b);
	return good;
}

static int hdf5_end(void *state, struct err *e)
{
	struct hdf5 *h = state;

	errno = 0;
	if (!table_finish(&h->table) || !write_description(h) || H5Gclose(h->group) < 0 ||
	    H5Fclose(h->file) < 0)
		return fail(h, e);
	return 0;
}

static void hdf5_free(void *state)
{
	struct hdf5 *h = state;

	h5table_free(&h->table);
}

static const struct sink writer = {
	.name = "hdf5",
	.size = sizeof(struct hdf5),
	.begin = hdf5_begin,
	.batch = hdf5_batch,
	.end = hdf5_end,
	.free = hdf5_free,
};

int main(void)
{
	return foreign_serve(&writer);
}
