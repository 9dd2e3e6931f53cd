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

bool mountinfo_device(const char *mountinfo, uint64_t id, uint64_t *major, uint64_t *minor)
{
	for (const char *p = mountinfo; *p; p = number_next_line(p)) {
		uint64_t this_id;

		if (!number_u64(&p, &this_id) || this_id != id)
			continue;
		p = skip_fields(p, 2);
		return number_u64(&p, major) && *p++ == ':' && number_u64(&p, minor);
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

_Static_assert((int)NFS_NUMBER_OF <= 64, "a bit for every value");

#define BIT(i) (UINT64_C(1) << (i))

/* What comes behind the word, in a line from p to end; NULL when another comes. */
static const char *after_word(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - p) >= n && memcmp(p, word, n) == 0 ? p + n : NULL;
}

static const char *field(const char *p, const char *end, size_t *len)
{
	const char *stop = memchr(p, ' ', (size_t)(end - p));

	*len = (size_t)((stop ? stop : end) - p);
	return p + *len;
}

/* "device server:/export mounted on /mnt with fstype nfs4 statvers=1.1"; blanks in names are
 * escaped. */
static bool read_first_line(const char *line, struct mountstats_mount *out)
{
	const char *end = line + strcspn(line, "\n"), *p = after_word(line, end, "device ");

	if (!p)
		return false;
	out->device = p;
	p = after_word(field(p, end, &out->device_len), end, " mounted on ");
	if (!p)
		return false;
	out->point = p;
	p = after_word(field(p, end, &out->point_len), end, " with fstype nfs");
	if (p && p < end && *p == '4')
		p++;
	return p && after_word(p, end, " statvers=1.") && out->device_len && out->point_len;
}

bool mountstats_next(const char **text, struct mountstats_mount *out)
{
	for (const char *p = *text; *p;) {
		bool found = read_first_line(p, out);

		p = number_next_line(p);
		out->begin = p;
		while (*p && strncmp(p, "device ", 7) != 0 && strncmp(p, "no device ", 10) != 0)
			p = number_next_line(p);
		out->end = *text = p;
		if (found)
			return true;
	}
	return false;
}

static void put(struct mountstats_values *out, uint32_t i, int64_t v)
{
	out->v[i] = v;
	out->known |= BIT(i);
}

/* Sums are known when all of their parts are. */
static void add(struct mountstats_values *out, uint64_t *spoilt, uint32_t i, int64_t v)
{
	if (__builtin_add_overflow(out->v[i], v, &out->v[i]))
		*spoilt |= BIT(i);
	out->known |= BIT(i);
}

/* So many numbers >= 0 at p, at most max. */
static uint32_t read_numbers(const char *p, int64_t *v, uint32_t max)
{
	uint32_t n = 0;

	while (n < max && number_i64(&p, &v[n]) && v[n] >= 0 && (!*p || strchr(" \t\n", *p)))
		n++;
	return n;
}

static void read_bytes(const char *p, struct mountstats_values *out)
{
	int64_t v[NFS_PAGES_WRITTEN + 1];
	uint32_t n = read_numbers(p, v, NFS_PAGES_WRITTEN + 1);

	for (uint32_t i = 0; i < n; i++)
		put(out, NFS_READ_BYTES + i, v[i]);
}

/* enum nfs_stat_eventcounters of include/linux/nfs_iostat.h. */
static void read_events(const char *p, struct mountstats_values *out)
{
	static const struct {
		uint8_t column, value;
	} events[] = {
		{ 2, NFS_DATA_INVALIDATIONS },
		{ 3, NFS_ATTRIBUTE_INVALIDATIONS },
		{ 4, NFS_OPENS },
		{ 5, NFS_LOOKUPS },
		{ 14, NFS_FLUSHES },
		{ 15, NFS_SYNCS },
		{ 16, NFS_LOCKS },
		{ 18, NFS_CONGESTION_WAITS },
		{ 21, NFS_SILLY_RENAMES },
		{ 22, NFS_SHORT_READS },
		{ 23, NFS_SHORT_WRITES },
		{ 24, NFS_DELAYS },
		{ 25, NFS_PNFS_READS },
		{ 26, NFS_PNFS_WRITES },
	};
	int64_t v[27];
	uint32_t n = read_numbers(p, v, 27);

	for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
		if (events[i].column < n)
			put(out, events[i].value, v[events[i].column]);
}

/* "tcp port binds connects connect_time idle sends receives bad_xids ...": one line for each
 * connection (nconnect). Datagrams are not connected. */
static void read_transport(const char *p, const char *end, struct mountstats_values *out,
			   uint64_t *spoilt)
{
	const char *tcp = after_word(p, end, "tcp "), *rdma = after_word(p, end, "rdma ");
	int64_t v[8];

	if (!tcp && !rdma)
		return;
	if (read_numbers(tcp ? tcp : rdma, v, 8) < 8) {
		*spoilt |= BIT(NFS_CONNECTS) | BIT(NFS_BAD_REPLIES);
		return;
	}
	add(out, spoilt, NFS_CONNECTS, v[2]);
	add(out, spoilt, NFS_BAD_REPLIES, v[7]);
}

/* What operations of NFSv3 and v4 are counted as; all others are metadata without a name. */
static const struct operation {
	const char *name;
	uint8_t value; /* the number of requests */
} operations[] = {
	{ "READ", NFS_READ_REQUESTS },
	{ "READ_PLUS", NFS_READ_REQUESTS },
	{ "WRITE", NFS_WRITE_REQUESTS },
	{ "COMMIT", NFS_COMMIT_REQUESTS },
	{ "NULL", NFS_REQUESTS },
	{ "GETATTR", NFS_GETATTR_REQUESTS },
	{ "SETATTR", NFS_SETATTR_REQUESTS },
	{ "LOOKUP", NFS_LOOKUP_REQUESTS },
	{ "ACCESS", NFS_ACCESS_REQUESTS },
	{ "OPEN", NFS_OPEN_REQUESTS },
	{ "OPEN_NOATTR", NFS_OPEN_REQUESTS },
	{ "CLOSE", NFS_CLOSE_REQUESTS },
	{ "CREATE", NFS_CREATE_REQUESTS },
	{ "MKDIR", NFS_CREATE_REQUESTS },
	{ "SYMLINK", NFS_CREATE_REQUESTS },
	{ "MKNOD", NFS_CREATE_REQUESTS },
	{ "REMOVE", NFS_REMOVE_REQUESTS },
	{ "RMDIR", NFS_REMOVE_REQUESTS },
	{ "RENAME", NFS_RENAME_REQUESTS },
	{ "READDIR", NFS_READDIR_REQUESTS },
	{ "READDIRPLUS", NFS_READDIR_REQUESTS },
	{ "LOCK", NFS_LOCK_REQUESTS },
	{ "LOCKT", NFS_LOCK_REQUESTS },
	{ "LOCKU", NFS_LOCK_REQUESTS },
};

/* NFS_METADATA_REQUESTS when it has no name of its own. */
static uint32_t requests_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
		if (operations[i].name[0] == name[0] && strlen(operations[i].name) == len &&
		    memcmp(operations[i].name, name, len) == 0)
			return operations[i].value;
	return NFS_METADATA_REQUESTS;
}

/* The columns of an operation; errors since iostats version 1.1 (Linux 5.3). */
enum { OPS, TRANSMITTED, TIMED_OUT, SENT, RECEIVED, QUEUED, ROUND_TRIP, EXECUTE, ERRORS, NCOLUMNS };

static void add_all(struct mountstats_values *out, uint64_t *spoilt, const int64_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		add(out, spoilt, NFS_REQUESTS + i, v[i]);
}

/* Read and write have their own times, side by side. */
static void add_transfer(struct mountstats_values *out, uint64_t *spoilt, uint32_t first,
			 const int64_t *v, uint32_t n)
{
	add(out, spoilt, first, v[OPS]);
	for (uint32_t i = QUEUED; i < n; i++)
		add(out, spoilt, first + 1 + i - QUEUED, v[i]);
}

static void add_metadata(struct mountstats_values *out, uint64_t *spoilt, const int64_t *v)
{
	add(out, spoilt, NFS_METADATA_REQUESTS, v[OPS]);
	add(out, spoilt, NFS_METADATA_ROUND_TRIP, v[ROUND_TRIP]);
	add(out, spoilt, NFS_METADATA_EXECUTE, v[EXECUTE]);
}

/* "READ: 34096 34096 0 7103096 1792122744 2272 464840 467945 0" */
static void read_operation(const char *line, const char *colon, struct mountstats_values *out,
			   uint64_t *spoilt)
{
	uint32_t requests = requests_of(line, (size_t)(colon - line)), n;
	int64_t v[NCOLUMNS];

	n = read_numbers(colon + 1, v, NCOLUMNS);
	if (n < ERRORS) {
		*spoilt |= ~(BIT(NFS_REQUESTS) - 1);
		return;
	}
	if (n < NCOLUMNS)
		*spoilt |= BIT(NFS_ERRORS) | BIT(NFS_READ_ERRORS) | BIT(NFS_WRITE_ERRORS);
	add_all(out, spoilt, v, n);
	if (requests == NFS_READ_REQUESTS || requests == NFS_WRITE_REQUESTS)
		add_transfer(out, spoilt, requests, v, n);
	else if (requests != NFS_REQUESTS && requests != NFS_COMMIT_REQUESTS)
		add_metadata(out, spoilt, v);
	if (requests >= NFS_COMMIT_REQUESTS)
		add(out, spoilt, requests, v[OPS]);
}

void mountstats_read(const struct mountstats_mount *m, struct mountstats_values *out)
{
	uint64_t spoilt = 0;
	bool operation = false;

	*out = (struct mountstats_values){ 0 };
	for (const char *p = m->begin; p < m->end; p = number_next_line(p)) {
		const char *line = number_skip_blanks(p), *end = line + strcspn(line, "\n"), *at;
		const char *colon = memchr(line, ':', (size_t)(end - line));

		if ((at = after_word(line, end, "bytes:")))
			read_bytes(at, out);
		else if ((at = after_word(line, end, "events:")))
			read_events(at, out);
		else if ((at = after_word(line, end, "xprt:")))
			read_transport(number_skip_blanks(at), end, out, &spoilt);
		else if (after_word(line, end, "per-op statistics"))
			operation = true;
		else if (operation && colon)
			read_operation(line, colon, out, &spoilt);
	}
	out->known &= ~spoilt;
}

/* An option runs from a comma or a blank to the next comma. */
void mountstats_option(const struct mountstats_mount *m, const char *name, char *out, size_t size)
{
	size_t n = strlen(name), len;
	const char *p = m->begin;

	out[0] = '\0';
	while (p < m->end && !after_word(number_skip_blanks(p), m->end, "opts:"))
		p = number_next_line(p);
	for (const char *end = p + strcspn(p, "\n"); p < end; p += len + (p[len] == ',')) {
		len = strcspn(p, ",\n");
		if (len > n && memcmp(p, name, n) == 0 && p[n] == '=' && len - n - 1 < size) {
			memcpy(out, p + n + 1, len - n - 1);
			out[len - n - 1] = '\0';
			return;
		}
		if (!len && p[len] != ',')
			return;
	}
}
