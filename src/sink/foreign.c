/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/foreign.h"

#include <stdio.h>

static int send_block(struct foreign *x, struct err *e)
{
	return helper_talk_send(&x->talk, x->writer.block.data, x->writer.block.len, e);
}

int foreign_begin(struct foreign *x, const struct helper_program *program,
		  const struct frame_schema *schema, FILE *out, struct err *e)
{
	int rc = helper_talk_begin(&x->talk, program, fileno(out), e);

	if (!rc)
		rc = stream_put_schema(&x->writer, schema, e);
	return rc ? rc : send_block(x, e);
}

int foreign_batch(void *state, const struct batch *b, struct err *e)
{
	struct foreign *x = state;
	int rc = stream_put_batch(&x->writer, b, e);

	return rc ? rc : send_block(x, e);
}

int foreign_end(void *state, struct err *e)
{
	struct foreign *x = state;
	int rc = stream_put_end(&x->writer, e);

	if (!rc)
		rc = send_block(x, e);
	return rc ? rc : helper_talk_end(&x->talk, e);
}

void foreign_free(void *state)
{
	struct foreign *x = state;

	helper_talk_free(&x->talk);
	stream_writer_free(&x->writer);
}
