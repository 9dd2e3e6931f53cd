/* SPDX-License-Identifier: Apache-2.0 */
#include "console/lost.h"

#include "console/say.h"
#include "core/frame/losses.h"

void lost_say(const char *verb, const struct run *r)
{
	struct bytes words = { 0 };
	struct losses x;

	if (losses_make(&x, r))
		return;
	losses_words(&x, false, &words);
	bytes_u8(&words, '\0');
	if (words.len > 1 && !words.failed)
		say("%s: note: the recording is not complete: %s", verb, (const char *)words.data);
	bytes_free(&words);
}
