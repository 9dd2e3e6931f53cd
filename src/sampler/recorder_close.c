/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_close.c - the end of the recording: when it is whole, and when it is on the disk. */
#include "sampler/recorder_state.h"

#include <sys/vfs.h>

/* What was written there is seen by all who read it, room was found for it, and only a power cut
 * takes it away again. A server may refuse it later, and shows it to other nodes later. */
static bool is_of_this_node(int fd)
{
	static const uint32_t known[] = {
		0xef53,     /* ext2, ext3, ext4 */
		0x58465342, /* xfs */
		0x9123683e, /* btrfs */
		0xf2f52010, /* f2fs */
		0x2fc12fc1, /* zfs */
		0x01021994, /* tmpfs */
		0x794c7630, /* overlay */
	};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if ((uint32_t)fs.f_type == known[i])
			return true;
	return false;
}

void recorder_take_figures(struct recorder *r)
{
	struct writer_figures w;

	writer_figures(r->writer, &w);
	r->figures.written_bytes = (int64_t)w.bytes;
}

/* Sealing takes CPU time and bytes, too. What recording took is said behind it: only the end of the
 * file is missing there, and those of the processes. */
static int end_writer(struct recorder *r, struct err *e)
{
	if (!writer_seal(r->writer, e)) {
		recorder_take_figures(r);
		metas_cost(r);
		writer_events(r->writer, &r->sampler.sample, e);
	}
	return writer_end(r->writer, e);
}

int recorder_close(struct recorder *r, struct err *e)
{
	void (*closed)(void *context) = r->o->closed;
	int bad = end_writer(r, e);

	if (!bad && closed && is_of_this_node(r->directory)) {
		closed(r->o->closed_context);
		closed = NULL;
	}
	if (!bad) {
		bad = writer_close(r->writer, e);
		r->writer = NULL;
	}
	if (!bad && closed)
		closed(r->o->closed_context);
	return bad;
}
