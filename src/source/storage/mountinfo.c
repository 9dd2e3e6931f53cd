/* SPDX-License-Identifier: Apache-2.0 */
#include "source/storage/mountinfo.h"

#include "base/text/number.h"

#include <string.h>

bool mountinfo_id_of(const char *fdinfo, uint64_t *id)
{
	const char *p = number_find_line(fdinfo, "mnt_id:");

	return p && number_u64(&p, id);
}

void mountinfo_unescape(const char *from, char *to, size_t size)
{
	size_t n = 0;

	while (*from && *from != ' ' && *from != '\n' && n + 1 < size) {
		unsigned char c = (unsigned char)*from++;

		if (c == '\\' && from[0] >= '0' && from[0] <= '3' && from[1] >= '0' &&
		    from[1] <= '7' && from[2] >= '0' && from[2] <= '7') {
			c = (unsigned char)((from[0] - '0') << 6 | (from[1] - '0') << 3 |
					    (from[2] - '0'));
			from += 3;
		}
		to[n++] = (char)c;
	}
	to[n] = '\0';
}

static const char *skip_fields(const char *p, int n)
{
	while (n--)
		p = number_skip_blanks(p + strcspn(p, " \n"));
	return p;
}

bool mountinfo_find(const char *mountinfo, uint64_t id, char *point, size_t size,
		    char type[MOUNT_TYPE_SIZE])
{
	for (const char *p = mountinfo; *p; p = number_next_line(p)) {
		const char *end = p + strcspn(p, "\n"), *dash;
		uint64_t this_id;

		if (!number_u64(&p, &this_id) || this_id != id)
			continue;
		p = skip_fields(p, 4);
		dash = memmem(p, (size_t)(end - p), " - ", 3);
		if (p >= end || !dash)
			return false;
		mountinfo_unescape(p, point, size);
		mountinfo_unescape(dash + 3, type, MOUNT_TYPE_SIZE);
		return true;
	}
	return false;
}

uint64_t mountinfo_of_path(const char *mountinfo, const char *path)
{
	char point[MOUNT_PATH_SIZE];
	uint64_t best = 0;
	size_t longest = 0;

	for (const char *p = mountinfo; *p; p = number_next_line(p)) {
		const char *at = p;
		uint64_t id;
		size_t n;

		if (!number_u64(&at, &id))
			continue;
		mountinfo_unescape(skip_fields(at, 4), point, sizeof point);
		n = strcmp(point, "/") ? strlen(point) : 0;
		if (*point != '/' || n < longest || strncmp(path, point, n) != 0 ||
		    (path[n] && path[n] != '/'))
			continue;
		best = id; /* the later one covers what is mounted at the same place */
		longest = n;
	}
	return best;
}

static bool is_field(const char *at, const char *want, size_t len)
{
	return strcspn(at, " \n") == len && memcmp(at, want, len) == 0;
}

/* "id parent major:minor root point options ... - type source ..." */
static bool is_place(const char *line, const struct mountinfo_place *place, const char **device)
{
	const char *end = line + strcspn(line, "\n");
	const char *dash = memmem(line, (size_t)(end - line), " - ", 3);

	*device = skip_fields(line, 2);
	return dash && is_field(skip_fields(*device, 2), place->point, place->point_len) &&
	       is_field(skip_fields(dash + 3, 1), place->source, place->source_len);
}

bool mountinfo_superblock(const char *mountinfo, const struct mountinfo_place *place, int64_t *out)
{
	for (const char *p = mountinfo; *p; p = number_next_line(p)) {
		const char *device;
		uint64_t major, minor;

		if (!is_place(p, place, &device) || !number_u64(&device, &major) ||
		    *device++ != ':' || !number_u64(&device, &minor) || major > INT32_MAX ||
		    minor > UINT32_MAX)
			continue;
		*out = (int64_t)(major << 32 | minor);
		return true;
	}
	return false;
}

static bool parse(const char *line, struct mount *out)
{
	const char *end = line + strcspn(line, "\n"), *root = skip_fields(line, 3), *dash;

	dash = root < end ? memmem(root, (size_t)(end - root), " - ", 3) : NULL;
	if (!dash || *root != '/' || *skip_fields(root, 1) != '/')
		return false;
	mountinfo_unescape(root, out->root, sizeof out->root);
	mountinfo_unescape(skip_fields(root, 1), out->point, sizeof out->point);
	mountinfo_unescape(dash + 3, out->type, sizeof out->type);
	mountinfo_unescape(skip_fields(dash + 3, 2), out->options, sizeof out->options);
	return true;
}

bool mountinfo_next(const char **at, struct mount *out)
{
	while (**at) {
		const char *line = *at;

		*at = number_next_line(line);
		if (parse(line, out))
			return true;
	}
	return false;
}
