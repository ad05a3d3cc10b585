// What is prepared before the products: sums of rows, the order of rows in memory, the signs of the random sketch.
//
// On the order: a product gathers rows of a matrix larger than the cache. Numbering nodes breadth first puts neighbors near one
// another; on a web graph of a million nodes that makes each product about three times as fast.
#include "checks.h"
#include "random.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {
namespace order {

template <class T> using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Indptr = Vector<const std::int64_t>;
using Indices = Vector<const std::int32_t>;
using Values = std::optional<Vector<const float>>;

// The number of rows, whose entries are columns from 0 to below `columns` and have a value each.
std::int64_t checked_rows(const Indptr &indptr, const Indices &indices, const Values &values, std::int64_t columns) {
    need_bounds(indptr, indices.shape(0));
    need(all_below(indices.data(), indices.shape(0), columns), "`indices` must be columns");
    need(!values || values->shape(0) == indices.shape(0), "`values` must have one number for each entry");
    return static_cast<std::int64_t>(indptr.shape(0)) - 1;
}

// A graph with its nodes as breadth-first search meets them, each search from the first node not yet met. order[i] is the node in
// place i; places is the inverse. A row is written when the search is there: by its end all of its
// columns have a place. loops[i] is the number of entries of the row in place i that are before its diagonal.
void reorder(const std::int64_t *indptr, const std::int32_t *indices, const float *values, std::int64_t n,
             std::int32_t *order, std::int32_t *places, std::int64_t *new_indptr, std::int32_t *new_indices,
             float *new_values, std::int32_t *loops) {
    std::fill_n(places, n, -1);
    std::vector<std::int32_t> queue(
        n + 1);  // one more than nodes: the next place is written before it is known to be taken
    std::int32_t tail = 0;
    std::int64_t out = 0;
    new_indptr[0] = 0;
    for (std::int64_t start = 0, head = 0; start < n; ++start) {
        if (places[start] >= 0) continue;
        places[start] = tail;
        queue[tail++] = static_cast<std::int32_t>(start);
        for (; head < tail; ++head) {
            stop_if_asked(head << 4);
            if (head + 16 < tail) __builtin_prefetch(indptr + queue[head + 16]);
            if (head + 8 < tail) __builtin_prefetch(indices + indptr[queue[head + 8]]);
            const std::int64_t from = indptr[queue[head]], to = indptr[queue[head] + 1];
            if (values) std::copy(values + from, values + to, new_values + out);
            const std::int32_t row = queue[head];
            std::int32_t before = 0;
            for (std::int64_t p = from; p < to; ++p) {  // no branch: many would be guessed wrong
                const std::int32_t column = indices[p], known = places[column], place = known < 0 ? tail : known;
                places[column] = place;
                queue[tail] = column;
                new_indices[out++] = place;
                tail += known < 0;
                before += column < row;
            }
            new_indptr[head + 1] = out;
            loops[head] = before;
        }
    }
    std::copy_n(queue.begin(), n, order);
}

template <class Work> void share(std::int64_t n, int threads, Work work) {
    parallel(threads, [&](int t) { work(n * t / threads, n * (t + 1) / threads); });
}

// Row i of the result is row order[i], its columns renamed by `places`, the inverse of `order`; they stay in their order.
void permute(const std::int64_t *indptr, const std::int32_t *indices, const float *values, const std::int32_t *order,
             const std::int32_t *places, std::int64_t n, std::int64_t *new_indptr, std::int32_t *new_indices,
             float *new_values, std::int32_t *loops, int threads) {
    new_indptr[0] = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        new_indptr[i + 1] = new_indptr[i] + indptr[order[i] + 1] - indptr[order[i]];
        need(new_indptr[i + 1] <= indptr[n], "`order` must have every row once");
    }
    share(n, threads, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            stop_if_asked(i << 4);
            if (i + 8 < end) __builtin_prefetch(indices + indptr[order[i + 8]]);
            const std::int64_t from = indptr[order[i]], count = new_indptr[i + 1] - new_indptr[i];
            std::int32_t *to = new_indices + new_indptr[i];
            std::int32_t before = 0;
            for (std::int64_t p = 0; p < count; ++p) {
                to[p] = places[indices[from + p]];
                before += indices[from + p] < order[i];
            }
            loops[i] = before;
            if (values) std::copy_n(values + from, count, new_values + new_indptr[i]);
        }
    });
}

// sums[i] = sum over the entries (i, j) of value * scale[j]
void row_sums(const std::int64_t *indptr, const std::int32_t *indices, const float *values, const double *scale,
              std::int64_t n, double *sums, int threads) {
    share(n, threads, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            stop_if_asked(i << 4);
            double sum = 0;
            for (std::int64_t p = indptr[i]; p < indptr[i + 1]; ++p)
                sum += (values ? values[p] : 1.) * scale[indices[p]];
            sums[i] = sum;
        }
    });
}

// cuts[c][i] = where the columns from firsts[c] on begin in row i, whose columns ascend
void split_rows(const std::int64_t *indptr, const std::int32_t *indices, std::int64_t n, const std::int32_t *firsts,
                std::int64_t count, std::int64_t *cuts) {
    for (std::int64_t i = 0; i < n; ++i) {
        stop_if_asked(i << 4);
        std::int64_t p = indptr[i];
        for (std::int64_t c = 0; c < count; ++c) {
            while (p < indptr[i + 1] && indices[p] < firsts[c]) ++p;
            cuts[c * n + i] = p;
        }
    }
}

// out[i]: row start + order[i] (start + i without an order) of the sketch that belongs to a seed
void draw_signs(std::uint64_t seed, std::int64_t start, const std::int32_t *order, std::int64_t rows,
                std::int64_t words, std::uint32_t *out) {
    const std::uint64_t salt = mixed(seed + GOLDEN);
    for (std::int64_t i = 0; words && i < rows; ++i) {
        stop_if_asked(i << 4);
        const std::uint64_t row =
            mixed(salt ^ (static_cast<std::uint64_t>(start) + static_cast<std::uint64_t>(order ? order[i] : i)));
        for (std::int64_t w = 0; w < words; ++w) {  // two words from each number
            const std::uint64_t pair = mixed(row + static_cast<std::uint64_t>(w / 2 + 1) * GOLDEN);
            out[i * words + w] = static_cast<std::uint32_t>(w % 2 ? pair >> 32 : pair);
        }
    }
}

}  // namespace order
}  // namespace

void bind_order(nb::module_ &module) {
    using namespace order;
    module.def(
        "reorder",
        [](Indptr indptr, Indices indices, Values values) {
            const std::int64_t n =
                checked_rows(indptr, indices, values, static_cast<std::int64_t>(indptr.shape(0)) - 1);
            const std::int64_t entries = static_cast<std::int64_t>(indices.shape(0));
            auto [order, nodes] = empty<std::int32_t>("int32", n);
            auto [places, ranks] = empty<std::int32_t>("int32", n);
            auto [new_indptr, bounds] = empty<std::int64_t>("int64", n + 1);
            auto [new_indices, columns] = empty<std::int32_t>("int32", entries);
            auto [loops, befores] = empty<std::int32_t>("int32", n);
            nb::object new_values = nb::none();
            float *weights = nullptr;
            if (values) std::tie(new_values, weights) = empty<float>("float32", entries);
            {
                Released released;
                reorder(indptr.data(), indices.data(), values ? values->data() : nullptr, n, nodes, ranks, bounds,
                        columns, weights, befores);
            }
            return nb::make_tuple(order, places, new_indptr, new_indices, new_values, loops);
        },
        "indptr"_a, "indices"_a, "values"_a.none());
    module.def(
        "permute",
        [](Indptr indptr, Indices indices, Values values, Indices order, Indices places, Threads threads) {
            const std::int64_t n = static_cast<std::int64_t>(order.shape(0)),
                               entries = static_cast<std::int64_t>(indices.shape(0));
            need(static_cast<std::int64_t>(indptr.shape(0)) == n + 1 && static_cast<std::int64_t>(places.shape(0)) == n,
                 "`order` and `places` must have one number for each row");
            checked_rows(indptr, indices, values, n);
            need(all_below(order.data(), order.shape(0), n), "`order` must be rows");
            auto [new_indptr, bounds] = empty<std::int64_t>("int64", n + 1);
            auto [new_indices, columns] = empty<std::int32_t>("int32", entries);
            auto [loops, befores] = empty<std::int32_t>("int32", n);
            nb::object new_values = nb::none();
            float *weights = nullptr;
            if (values) std::tie(new_values, weights) = empty<float>("float32", entries);
            {
                Released released;
                permute(indptr.data(), indices.data(), values ? values->data() : nullptr, order.data(), places.data(),
                        n, bounds, columns, weights, befores, threads);
            }
            return nb::make_tuple(new_indptr, new_indices, new_values, loops);
        },
        "indptr"_a, "indices"_a, "values"_a.none(), "order"_a, "places"_a, nb::kw_only(), "threads"_a = 1);
    module.def(
        "row_sums",
        [](Indptr indptr, Indices indices, Values values, Vector<const double> scale, Threads threads) {
            const std::int64_t n = checked_rows(indptr, indices, values, static_cast<std::int64_t>(scale.shape(0)));
            auto [sums, out] = empty<double>("float64", n);
            {
                Released released;
                row_sums(indptr.data(), indices.data(), values ? values->data() : nullptr, scale.data(), n, out,
                         threads);
            }
            return sums;
        },
        "indptr"_a, "indices"_a, "values"_a.none(), "scale"_a, nb::kw_only(), "threads"_a = 1);
    module.def(
        "split_rows",
        [](Indptr indptr, Indices indices, Indices firsts) {
            need_bounds(indptr, indices.shape(0));
            const std::int64_t n = static_cast<std::int64_t>(indptr.shape(0)) - 1,
                               count = static_cast<std::int64_t>(firsts.shape(0));
            auto [cuts, out] = empty<std::int64_t>("int64", count, n);
            {
                Released released;
                split_rows(indptr.data(), indices.data(), n, firsts.data(), count, out);
            }
            return cuts;
        },
        "indptr"_a, "indices"_a, "firsts"_a);
    module.def(
        "signs",
        [](std::uint64_t seed, std::int64_t start, std::int64_t rows, std::int64_t words,
           std::optional<Indices> order) {
            need(!order || static_cast<std::int64_t>(order->shape(0)) == rows,
                 "`order` must have one number for each row");
            auto [signs, out] = empty<std::uint32_t>("uint32", rows, words);
            {
                Released released;
                draw_signs(seed, start, order ? order->data() : nullptr, rows, words, out);
            }
            return signs;
        },
        "seed"_a, "start"_a, nb::kw_only(), "rows"_a, "words"_a, "order"_a = nb::none());
}
