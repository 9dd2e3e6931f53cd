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
	explicit name(const char *text) noexcept : number_(sonde_name(text))
	{
	}
	explicit name(const std::string &text) noexcept : name(text.c_str())
	{
	}
	std::uint32_t number() const noexcept
	{
		return number_;
	}

      private:
	std::uint32_t number_;
};

/* From its making to its end, in its thread. It may be moved, for as long as spans that began later
 * end sooner. */
class span
{
      public:
	explicit span(const name &n) noexcept : handle_(sonde_begin(n.number()))
	{
	}
	span(span &&other) noexcept : handle_(other.handle_)
	{
		other.handle_ = 0;
	}
	span &operator=(span &&other) noexcept
	{
		if (this != &other) {
			end();
			handle_ = other.handle_;
			other.handle_ = 0;
		}
		return *this;
	}
	~span()
	{
		end();
	}
	span(const span &) = delete;
	span &operator=(const span &) = delete;

	/* Sooner than its scope; again it does nothing. */
	void end() noexcept
	{
		sonde_span_end(handle_);
		handle_ = 0;
	}

      protected:
	struct begun {
		std::uint64_t handle;
	};
	explicit span(begun b) noexcept : handle_(b.handle)
	{
	}
	std::uint64_t handle_; /* 0: none */
};

/* The same, which may be moved anywhere and end in any thread and order: of coroutines, tasks and
 * callbacks. around: the one that it is part of. */
class async_span : public span
{
      public:
	explicit async_span(const name &n) noexcept : span(begun{ sonde_span_begin(n.number(), 0) })
	{
	}
	async_span(const name &n, const async_span &around) noexcept
	    : span(begun{ sonde_span_begin(n.number(), around.handle()) })
	{
	}
	std::uint64_t handle() const noexcept
	{
		return handle_;
	}
};

inline void mark(const name &n) noexcept
{
	sonde_mark(n.number());
}

inline void thread_name(const std::string &text) noexcept
{
	sonde_thread_name(text.c_str());
}

inline void counter(const name &n, double value) noexcept
{
	sonde_counter(n.number(), value);
}

} // namespace sonde

/* A span from here to the end of the scope. */
#define SONDE_SPAN(text)        SONDE_SPAN_AT(text, __LINE__)
#define SONDE_SPAN_AT(text, at) SONDE_SPAN_NAMED(text, at)
#define SONDE_SPAN_NAMED(text, at)                                                                 \
	static const sonde::name sonde_name_##at{ text };                                          \
	const sonde::span sonde_span_##at                                                          \
	{                                                                                          \
		sonde_name_##at                                                                    \
	}

#endif
