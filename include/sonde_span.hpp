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

/* KEY=VALUE, a category and arrows, for the begin or the end of a span or for a mark. Texts are
 * borrowed until they are given to one; beyond 16 nothing is kept. */
class args
{
      public:
	args &number(const name &key, double v) noexcept
	{
		return add(sonde_arg_number(key.number(), v));
	}
	args &integer(const name &key, std::int64_t v) noexcept
	{
		return add(sonde_arg_integer(key.number(), v));
	}
	args &text(const name &key, const char *v) noexcept
	{
		return add(sonde_arg_text(key.number(), v));
	}
	args &category(const name &n) noexcept
	{
		return add(sonde_arg_category(n.number()));
	}
	args &flow_out(std::uint64_t flow) noexcept
	{
		return add(sonde_arg_flow_out(flow));
	}
	args &flow_in(std::uint64_t flow) noexcept
	{
		return add(sonde_arg_flow_in(flow));
	}
	const sonde_arg *begin() const noexcept
	{
		return all_;
	}
	std::uint32_t size() const noexcept
	{
		return n_;
	}

      private:
	args &add(const sonde_arg &a) noexcept
	{
		if (n_ < sizeof all_ / sizeof all_[0])
			all_[n_++] = a;
		return *this;
	}
	sonde_arg all_[16];
	std::uint32_t n_ = 0;
};

/* From its making to its end, in its thread. It may be moved, for as long as spans that began later
 * end sooner. */
class span
{
      public:
	explicit span(const name &n) noexcept : handle_(sonde_begin(n.number()))
	{
	}
	span(const name &n, const args &a) noexcept
	    : handle_(sonde_begin_with(n.number(), a.begin(), a.size()))
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

	void end(const args &a) noexcept
	{
		sonde_span_end_with(handle_, a.begin(), a.size());
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
	async_span(const name &n, const args &a) noexcept
	    : span(begun{ sonde_span_begin_with(n.number(), 0, a.begin(), a.size()) })
	{
	}
	async_span(const name &n, const async_span &around, const args &a) noexcept
	    : span(begun{ sonde_span_begin_with(n.number(), around.handle(), a.begin(), a.size()) })
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

inline void mark(const name &n, const args &a) noexcept
{
	sonde_mark_with(n.number(), a.begin(), a.size());
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
