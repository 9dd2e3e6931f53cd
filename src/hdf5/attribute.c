/* SPDX-License-Identifier: Apache-2.0 */
#include "hdf5/attribute.h"

#include <string.h>

static bool write_attribute(hid_t object, const char *name, hid_t type, const void *data)
{
	hid_t space = H5Screate(H5S_SCALAR);
	hid_t id = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	bool good = id >= 0 && H5Awrite(id, type, data) >= 0;

	if (id >= 0 && H5Aclose(id) < 0)
		good = false;
	H5Sclose(space);
	return good;
}

static bool write_string(hid_t object, const char *name, const char *text, H5T_cset_t set)
{
	hid_t type = H5Tcopy(H5T_C_S1);
	size_t n = strlen(text);
	bool good = H5Tset_size(type, n ? n : 1) >= 0 && H5Tset_cset(type, set) >= 0 &&
		    write_attribute(object, name, type, text);

	H5Tclose(type);
	return good;
}

bool attribute_text(hid_t object, const char *name, const char *text)
{
	return write_string(object, name, text, H5T_CSET_UTF8);
}

bool attribute_int(hid_t object, const char *name, int64_t value)
{
	return write_attribute(object, name, H5T_NATIVE_INT64, &value);
}

bool attribute_pickle(hid_t object, const char *name, struct bytes *b)
{
	bool good;

	bytes_u8(b, '.');
	bytes_u8(b, '\0');
	good = !b->failed && write_string(object, name, (const char *)b->data, H5T_CSET_ASCII);
	bytes_reset(b);
	return good;
}

void pickle_text(struct bytes *b, const char *text)
{
	bytes_printf(b, "V%s\n", text);
}

void pickle_list_of_one(struct bytes *b, const char *text)
{
	bytes_puts(b, "(l");
	pickle_text(b, text);
	bytes_u8(b, 'a');
}
