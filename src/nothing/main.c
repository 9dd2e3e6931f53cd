/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-nothing - a program that only ends, with the exit code that its first word says: what the
 * indicator spawn starts. Linked statically where that can be, so that no loader is measured.
 */
int main(int argc, char **argv)
{
	int code = 0;

	for (const char *p = argc > 1 ? argv[1] : ""; *p >= '0' && *p <= '9'; p++)
		code = (code * 10 + *p - '0') & 0xff;
	return code;
}
