// CSR rows to walk on: how a neighbor is drawn.
#pragma once

#include "checks.h"
#include "random.h"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <optional>

struct Rows {
    std::int64_t nodes;
    const std::int64_t *indptr;
    const std::int32_t *indices;
    const double *sums;  // sums[e]: the weights of the entries before e; null: all are 1

    std::int64_t degree(std::int32_t node) const { return indptr[node + 1] - indptr[node]; }
    // The node of an entry. Walks meet a few entries of millions: those that they meet are checked, not all there are.
    std::int32_t node(std::int64_t entry) const {
        const std::int32_t node = indices[entry];
        need(static_cast<std::uint32_t>(node) < static_cast<std::uint64_t>(nodes), "`indices` must be nodes");
        return node;
    }
    double weight(std::int64_t from, std::int64_t to) const {
        return sums ? sums[to] - sums[from] : static_cast<double>(to - from);
    }
    // The entry among from ... to - 1 that a random number falls on.
    std::int64_t draw(std::int64_t from, std::int64_t to, std::uint64_t random) const {
        if (!sums) return from + static_cast<std::int64_t>(below(random, static_cast<std::uint64_t>(to - from)));
        const double at = sums[from] + fraction(random) * (sums[to] - sums[from]);
        const double *entry = sums + from;  // the last that is not above `at`, found without a branch
        for (std::int64_t left = to - from; left > 1;) {
            const std::int64_t half = left / 2;
            entry += entry[half] <= at ? half : 0;
            left -= half;
        }
        return entry - sums;
    }
    // The entry (from, to), or -1.
    std::int64_t entry(std::int32_t from, std::int32_t to) const {
        const std::int32_t *end = indices + indptr[from + 1], *at = std::lower_bound(indices + indptr[from], end, to);
        return at != end && *at == to ? at - indices : -1;
    }
};

using Indptr = Input<std::int64_t>;
using Indices = Input<std::int32_t>;
using Sums = std::optional<Input<double>>;

inline Rows checked(const Indptr &indptr, const Indices &indices, const Sums &sums) {
    need_bounds(indptr, indices.shape(0));
    need(!sums || sums->shape(0) == indices.shape(0) + 1, "`sums` must have one number more than there are entries");
    return {static_cast<std::int64_t>(indptr.shape(0)) - 1, indptr.data(), indices.data(),
            sums ? sums->data() : nullptr};
}
