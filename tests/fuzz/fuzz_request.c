/* SPDX-License-Identifier: Apache-2.0 */
/* The words of any request: only one that says the token is answered, and no byte is read beyond
 * them. An input is the token, the Authorization, the path and the method, a line each. */
#include <stdlib.h>
#include <string.h>

#include "live/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *rest = text, *word[4];
	struct request r;
	bool good;

	for (int i = 0; i < 4; i++)
		word[i] = rest ? strsep(&rest, "\n") : NULL;
	r = (struct request){
		.authorization = word[1], .path = word[2], .method = word[3], .accept = word[2]
	};
	good = word[1] && *word[0] && strlen(word[1]) == 7 + strlen(word[0]) &&
	       !strcmp(word[1] + 7, word[0]);
	if (!good && request_judge(&r, word[0]) != 401)
		abort();
	if (request_judge(&r, word[0]) == 200 && strcmp(word[2], "/metrics") != 0)
		abort();
	(void)request_format(&r);
	free(text);
	return 0;
}
