/* SPDX-License-Identifier: Apache-2.0 */
/* secret_address.c - addresses of IP in a text, and the names by which they go instead. */
#include "job/secret/secret.h"

#include "base/hash.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct address {
	uint8_t byte[16]; /* of IPv4: as IPv6 has it */
};

static const uint8_t mapped[12] = { [10] = 0xff, 0xff };

/* Says which machine it is on, or none at all. */
static bool tells_nothing(const struct address *a)
{
	static const struct address none, own = { { [15] = 1 } };

	if (!memcmp(a->byte, mapped, sizeof mapped))
		return a->byte[12] == 127 || !memcmp(a->byte + 12, none.byte, 4);
	return !memcmp(a, &none, sizeof *a) || !memcmp(a, &own, sizeof *a);
}

/* Bytes of the n that are an address, in which there are such letters; 0: none. */
static size_t parse(int family, const char *text, size_t n, struct address *out)
{
	char one[INET6_ADDRSTRLEN];

	if (!n || n >= sizeof one)
		return 0;
	memcpy(one, text, n);
	one[n] = '\0';
	memcpy(out->byte, mapped, sizeof mapped);
	return inet_pton(family, one, family == AF_INET ? out->byte + sizeof mapped : out->byte) ==
			       1
		       ? n
		       : 0;
}

/* Four numbers; what follows may be a port: 10.0.0.7:80, 10.0.0.7.80. */
static size_t parse_v4(const char *text, struct address *out)
{
	size_t n = 0;

	for (int i = 0; i < 4; i++) {
		size_t digits = strspn(text + n, "0123456789");

		n += digits + (i < 3);
		if (!digits || (i < 3 && text[n - 1] != '.'))
			return 0;
	}
	return parse(AF_INET, text, n, out);
}

static size_t parse_v6(const char *text, struct address *out)
{
	size_t n = strspn(text, "0123456789abcdefABCDEF:."), found = 0;
	const char *colon = memchr(text, ':', n);

	if (!colon || !memchr(colon + 1, ':', n - (size_t)(colon + 1 - text)) ||
	    isalnum((unsigned char)text[n]))
		return 0;
	for (; n > 2 && !found; n--) /* behind it the end of a sentence, or a port */
		if (!isalnum((unsigned char)text[n]) || !isalnum((unsigned char)text[n - 1]))
			found = parse(AF_INET6, text, n, out);
	return found;
}

size_t secret_address(const struct secret_list *l, const char *text, char name[SECRET_ADDRESS])
{
	uint8_t sum[SHA256_BYTES];
	struct {
		uint8_t key[sizeof l->key];
		struct address is;
	} known;
	size_t n;

	if (!isxdigit((unsigned char)*text) && *text != ':')
		return 0;
	n = parse_v4(text, &known.is);
	if (!n)
		n = parse_v6(text, &known.is);
	if (!n || tells_nothing(&known.is))
		return 0;
	memcpy(known.key, l->key, sizeof known.key);
	sha256(sum, &known, sizeof known);
	snprintf(name, SECRET_ADDRESS, "address-%02x%02x%02x%02x", sum[0], sum[1], sum[2], sum[3]);
	return n;
}
