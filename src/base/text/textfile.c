/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 16384 };

/* Until the end; a file may grow meanwhile, and those of /proc have no size. */
static int read_all(int fd, size_t most, struct bytes *out)
{
	size_t begin = out->len;
	ssize_t got = 1;

	while (got && out->len - begin <= most) {
		if (!bytes_room(out, CHUNK))
			return -ENOMEM;
		got = read(fd, out->data + out->len, CHUNK);
		if (got < 0 && errno != EINTR)
			return -errno;
		out->len += got > 0 ? (size_t)got : 0;
	}
	return out->len - begin > most ? -EFBIG : 0;
}

int textfile_read(const char *path, const char *what, size_t most, struct bytes *out, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), bad;
	struct stat st;

	if (fd < 0)
		return err_set(e, -errno, "cannot open the %s %.300s: %s", what, path,
			       strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, -EINVAL, "the %s %.300s is not a regular file", what, path);
	}
	bad = read_all(fd, most, out);
	close(fd);
	if (bad == -EFBIG)
		return err_set(e, bad, "the %s %.300s has more than %zu bytes", what, path, most);
	return bad ? err_set(e, bad, "cannot read the %s %.300s: %s", what, path, strerror(-bad))
		   : 0;
}
