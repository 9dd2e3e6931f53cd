/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc32c.h - the Castagnoli checksum (RFC 3720, appendix B.4): reflected polynomial 0x82F63B78,
 * start and final exclusive or 0xFFFFFFFF. crc32c(0, "123456789", 9) is 0xE3069283.
 */
#ifndef SONDE_BASE_CRC32C_H
#define SONDE_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* crc: 0, or the result for the bytes before these. */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);
/* The same without the processor's instruction, for machines that have none. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t n);

#endif
