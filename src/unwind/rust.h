/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rust.h - symbols of Rust's mangling v0 ("_RNvC...", the default of rustc 1.95), by the grammar
 * in the rustc book, as people write them and in the style of Rust's older symbols: no "::" before
 * generic arguments, no hashes of crates, no lifetimes, and what core implements for types that
 * have no path as "core::str::<impl str>::trim".
 *
 * A symbol may be of any bytes: depth, work and length are bounded.
 */
#ifndef SONDE_UNWIND_RUST_H
#define SONDE_UNWIND_RUST_H

#include <stdbool.h>
#include <stddef.h>

/* Without generic arguments, where it does not fit with them. False: it is no such symbol, is
 * malformed, or does not fit; what out has then is of no use. */
bool rust_demangle(const char *symbol, char *out, size_t size);

#endif
