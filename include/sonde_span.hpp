/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde_span.hpp - sonde_span.h for C++11 and later: a span that ends with its scope, however that
 * is left.
 *
 *     void image(const field &f)
 *     {
 *             SONDE_SPAN("imaging");
 *             ...
 *     }
 *
 * or, with a name that is known only then:
 *
 *     static const sonde::name step{"step"};  // once
 *     sonde::span span{step};
 */
#ifndef SONDE_SPAN_HPP
#define SONDE_SPAN_HPP

#include <cstdint>
#include <string>

#include <sonde_span.h>

namespace sonde
{

/* A name and its number (sonde_name): make one once and keep it. */
class name
{
      public:
	explicit name(const char *text) noexcept : number_(sonde_name(text)) {}
	explicit name(const std::string &text) noexcept : name(text.c_str()) {}
	std::uint32_t number() const noexcept { return number_; }

      private:
	std::uint32_t number_;
};

/* From its making to its end; it stays in its thread and its scope. */
class span
{
      public:
	explicit span(const name &n) noexcept : entered_(SONDE_SPANS_WANTED != 0)
	{
		if (entered_)
			sonde_begin(n.number());
	}
	~span()
	{
		if (entered_)
			sonde_end();
	}
	span(const span &) = delete;
	span &operator=(const span &) = delete;

      private:
	const bool entered_;
};

inline void mark(const name &n) noexcept
{
	sonde_mark(n.number());
}

inline void counter(const name &n, double value) noexcept
{
	sonde_counter(n.number(), value);
}

} // namespace sonde

/* A span from here to the end of the scope. */
#define SONDE_SPAN(text) SONDE_SPAN_AT(text, __LINE__)
#define SONDE_SPAN_AT(text, at) SONDE_SPAN_NAMED(text, at)
#define SONDE_SPAN_NAMED(text, at)                                                                 \
	static const sonde::name sonde_name_##at{ text };                                          \
	const sonde::span sonde_span_##at { sonde_name_##at }

#endif
