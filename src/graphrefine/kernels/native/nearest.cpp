// The nearest rows of queries: rows shared among threads in chunks, each thread with heaps of its own, merged in the end.
#include "checks.h"
#include "nearest.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {
namespace nearest_arrays {

constexpr std::int64_t CHUNK = 1024;  // rows that a thread takes at a time
constexpr std::int64_t PIECE =
    64;  // rows between two looks whether to stop; a multiple of those that are scored together

Scan fastest = scan_baseline;

using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu>;
template <class T> using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = std::optional<Vector<const float>>;

std::vector<float> packed(const Matrix &queries) {
    const std::int64_t count = static_cast<std::int64_t>(queries.shape(0)),
                       columns = static_cast<std::int64_t>(queries.shape(1));
    std::vector<float> all(static_cast<std::size_t>((count + GROUP - 1) / GROUP * GROUP * columns));
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t c = 0; c < columns; ++c)
            all[static_cast<std::size_t>((i / GROUP * columns + c) * GROUP + i % GROUP)] =
                queries.data()[i * queries.stride(0) + c];
    return all;
}

struct Heaps {
    std::vector<float> scores;
    std::vector<std::int64_t> rows;

    Heaps(std::int64_t queries, std::int64_t keep)
        : scores(static_cast<std::size_t>(queries * keep), -std::numeric_limits<float>::infinity()),
          rows(static_cast<std::size_t>(queries * keep), -1) {}
};

// The best of all threads' heaps for one query, best first; of equal scores the earlier row.
void merge(const std::vector<Heaps> &heaps, std::int64_t query, std::int64_t keep, std::int64_t *rows, float *scores) {
    std::vector<std::pair<float, std::int64_t>> all;
    for (const Heaps &own : heaps)
        for (std::int64_t i = query * keep; i < (query + 1) * keep; ++i)
            if (own.rows[static_cast<std::size_t>(i)] >= 0)
                all.emplace_back(-own.scores[static_cast<std::size_t>(i)], own.rows[static_cast<std::size_t>(i)]);
    const std::size_t count = std::min(all.size(), static_cast<std::size_t>(keep));
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
    for (std::size_t i = 0; i < static_cast<std::size_t>(keep); ++i) {
        rows[i] = i < count ? all[i].second : -1;
        scores[i] = i < count ? -all[i].first : -std::numeric_limits<float>::infinity();
    }
}

void nearest(const Matrix &queries, const Matrix &rows, const Table<std::int64_t> &nearest_rows,
             const Table<float> &scores, const Numbers &scale, const Numbers &added,
             const std::optional<Vector<const std::int64_t>> &bounds,
             const std::optional<Vector<const std::int64_t>> &left_out, Threads most) {
    need(queries.shape(1) == rows.shape(1), "queries and rows must have the same columns");
    need(rows.shape(0) == 0 || rows.shape(1) <= 1 || rows.stride(1) == 1,
         "the numbers of a row must lie beside each other");
    need(queries.shape(0) == 0 || queries.shape(1) <= 1 || queries.stride(1) == 1,
         "the numbers of a query must lie beside each other");
    need(nearest_rows.shape(0) == queries.shape(0) && scores.shape(0) == queries.shape(0) &&
             nearest_rows.shape(1) == scores.shape(1),
         "`nearest_rows` and `scores` must have one row for each query, and be alike");
    for (const Numbers *each : {&scale, &added})
        need(!*each || (*each)->shape(0) == rows.shape(0), "`scale` and `added` must have one number for each row");
    need(bounds.has_value() == left_out.has_value(), "`bounds` and `left_out` belong together");
    if (bounds) {
        need(bounds->shape(0) == queries.shape(0) + 1, "`bounds` must have one entry more than there are queries");
        need(bounds->data()[0] == 0 &&
                 bounds->data()[queries.shape(0)] == static_cast<std::int64_t>(left_out->shape(0)),
             "`bounds` must run from 0 to the length of `left_out`");
        for (std::size_t i = 0; i < queries.shape(0); ++i)
            need(bounds->data()[i] <= bounds->data()[i + 1], "`bounds` must not decrease");
    }
    Catalog view;
    view.data = rows.data();
    view.count = static_cast<std::int64_t>(rows.shape(0));
    view.columns = static_cast<std::int64_t>(rows.shape(1));
    view.stride = view.count ? rows.stride(0) : 0;
    view.scale = scale ? scale->data() : nullptr;
    view.added = added ? added->data() : nullptr;
    const std::int64_t keep = static_cast<std::int64_t>(nearest_rows.shape(1));

    Released released;
    const std::vector<float> together = packed(queries);
    Queries packed_queries;
    packed_queries.packed = together.data();
    packed_queries.count = static_cast<std::int64_t>(queries.shape(0));
    packed_queries.bounds = bounds ? bounds->data() : nullptr;
    packed_queries.left_out = left_out ? left_out->data() : nullptr;
    if (keep == 0 || packed_queries.count == 0) return;
    const int threads = static_cast<int>(std::clamp<std::int64_t>((view.count + CHUNK - 1) / CHUNK, 1, most));
    std::vector<Heaps> heaps(static_cast<std::size_t>(threads), Heaps(packed_queries.count, keep));
    std::atomic<std::int64_t> next{0};
    parallel(threads, [&](int thread) {
        Heaps &own = heaps[static_cast<std::size_t>(thread)];
        const Best best{own.scores.data(), own.rows.data(), keep};
        for (std::int64_t first; !is_stopped() && (first = next.fetch_add(CHUNK)) < view.count;)
            for (const std::int64_t last = std::min(first + CHUNK, view.count); first < last && !is_stopped();
                 first += PIECE)
                fastest(view, packed_queries, best, first, std::min(first + PIECE, last));
    });
    for (std::int64_t query = 0; query < packed_queries.count; ++query) {
        stop_if_asked(static_cast<std::uint64_t>(query) << 4);
        merge(heaps, query, keep, nearest_rows.data() + query * keep, scores.data() + query * keep);
    }
}

// ranks[i]: how many numbers of row rows[i] are above values[i], and half of those equal to it
void rank_scores(const Table<const float> &scores, const Vector<const std::int64_t> &rows,
                 const Vector<const float> &values, const Vector<double> &ranks) {
    const std::size_t count = rows.shape(0), columns = scores.shape(1);
    need(values.shape(0) == count && ranks.shape(0) == count,
         "`values` and `ranks` must have one number for each of `rows`");
    for (std::size_t i = 0; i < count; ++i)
        need(rows.data()[i] >= 0 && rows.data()[i] < static_cast<std::int64_t>(scores.shape(0)),
             "`rows` must be rows of `scores`");
    Released released;
    for (std::size_t i = 0; i < count; ++i) {
        stop_if_asked(i << 8);
        const float *const row = scores.data() + rows.data()[i] * static_cast<std::int64_t>(columns),
                           value = values.data()[i];
        std::int32_t above = 0, equal = 0;
        for (std::size_t c = 0; c < columns; ++c) {
            above += row[c] > value;
            equal += row[c] == value;
        }
        ranks.data()[i] = above + equal / 2.;
    }
}

}  // namespace nearest_arrays
}  // namespace

void bind_nearest(nb::module_ &module, const std::string &simd) {
    using namespace nearest_arrays;
#ifdef GRAPHREFINE_X86
    if (simd == "avx2") fastest = scan_avx2;
    if (simd == "avx512") fastest = scan_avx512;
#endif
    module.def("nearest", &nearest, "queries"_a, "rows"_a, "nearest_rows"_a, "scores"_a, nb::kw_only(),
               "scale"_a.none(), "added"_a.none(), "bounds"_a.none(), "left_out"_a.none(), "threads"_a);
    module.def("rank_scores", &rank_scores, "scores"_a, "rows"_a, "values"_a, "ranks"_a);
}
