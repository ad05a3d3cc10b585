// What kernels ask of their arguments before they work on them: an index out of range is an error, never a place in memory.
#pragma once

#include "arrays.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(const char *what) { throw std::invalid_argument(what); }

inline void need(bool holds, const char *what) {
    if (__builtin_expect(!holds, 0)) refuse(what);
}

// The number of threads as Python says it: one at least, and no more than a machine could make use of.
struct Threads {
    static constexpr int MOST = 1024;
    int count = 1;
    operator int() const { return count; }
};

namespace nanobind::detail {
template <> struct type_caster<Threads> {
    NB_TYPE_CASTER(Threads, const_name("int"))
    bool from_python(handle source, std::uint8_t flags, cleanup_list *cleanup) noexcept {
        make_caster<int> number;
        if (!number.from_python(source, flags, cleanup)) return false;
        value.count = std::clamp(number.value, 1, Threads::MOST);
        return true;
    }
    static handle from_cpp(Threads threads, rv_policy, cleanup_list *) noexcept {
        return PyLong_FromLong(threads.count);
    }
};
}  // namespace nanobind::detail

// Whether none of some numbers is bad: `is_bad` is asked without a branch, and Ctrl-C is looked for now and then.
template <class IsBad> bool none(std::size_t count, const IsBad &is_bad) {
    constexpr std::size_t step = 1 << 16;
    for (std::size_t from = 0; from < count; from += step) {
        stop_if_asked();
        const std::size_t to = std::min(count, from + step);
        unsigned bad = 0;
        for (std::size_t i = from; i < to; ++i) bad |= static_cast<unsigned>(is_bad(i));
        if (bad) return false;
    }
    return true;
}

// Whether all numbers are from 0 to below `limit`.
inline bool all_below(const std::int32_t *list, std::size_t count, std::int64_t limit) {
    const std::uint32_t most = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(limit, 0, std::numeric_limits<std::int32_t>::max() + std::int64_t{1}));
    return none(count, [=](std::size_t i) { return static_cast<std::uint32_t>(list[i]) >= most; });
}

// Rows of `entries`, from bounds[i] to before bounds[i + 1] each; `bounds` has one number more than there are rows.
template <class Bounds> void need_bounds(const Bounds &bounds, std::size_t entries) {
    need(bounds.shape(0) >= 1, "`indptr` must have one entry more than there are rows");
    const std::int64_t *const ends = bounds.data();
    const std::size_t rows = bounds.shape(0) - 1;
    need(ends[0] == 0 && ends[rows] == static_cast<std::int64_t>(entries),
         "`indptr` must run from 0 to the number of entries");
    need(none(rows, [=](std::size_t i) { return ends[i] > ends[i + 1]; }), "`indptr` must not decrease");
}
