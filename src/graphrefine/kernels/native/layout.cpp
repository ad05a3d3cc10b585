// Points in the plane: what pulls and pushes them, and how they move; and the nearest neighbors that decide who pulls whom.
//
// Every point reads where all were before the step and writes itself alone. What is summed over points is summed in whole
// numbers. So nothing depends on the number of threads.
#include "checks.h"
#include "random.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {
namespace layout {

template <class T> using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using Cube = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

constexpr std::int64_t CHUNK = 1 << 12;  // points that a thread takes at a time
constexpr std::int64_t SCAN = 16;  // scores compared at once
constexpr float UNITS = 1024.f;  // of a point's weight on the grid

template <class Work> void in_chunks(std::int64_t count, int threads, Work work) {
    std::atomic<std::int64_t> next{0};
    parallel(threads, [&](int) {
        for (std::int64_t start; !is_stopped() && (start = CHUNK * next++) < count;)
            work(start, std::min(count, start + CHUNK));
    });
}

// The best that a query has found so far, best first; of equal ones the first to come stays before.
struct Best {
    float *scores;
    std::int32_t *rows;
    std::int64_t count;

    void offer(float score, std::int32_t row) {
        std::int64_t at = count - 1;
        for (; at > 0 && scores[at - 1] < score; --at) {
            scores[at] = scores[at - 1];
            rows[at] = rows[at - 1];
        }
        scores[at] = score;
        rows[at] = row;
    }
    void scan(const float *scored, const std::int32_t *candidates, std::int64_t from, std::int64_t to,
              std::int32_t self) {
        for (std::int64_t block = from; block < to; block += SCAN) {
            const std::int64_t end = std::min(to, block + SCAN);
            int any = 0;
            for (std::int64_t j = block; j < end; ++j) any |= scored[j] > scores[count - 1];
            if (!any) continue;
            for (std::int64_t j = block; j < end; ++j)
                if (scored[j] > scores[count - 1] && candidates[j] != self) offer(scored[j], candidates[j]);
        }
    }
};

void keep_best(Table<const float> scores, Input<std::int32_t> queries, Input<std::int32_t> candidates,
               Table<float> best, Table<std::int32_t> rows) {
    const std::int64_t many = static_cast<std::int64_t>(scores.shape(1)), k = static_cast<std::int64_t>(best.shape(1));
    need(scores.shape(0) == queries.shape(0) && scores.shape(1) == candidates.shape(0),
         "`scores` must be queries x candidates");
    need(rows.shape(0) == best.shape(0) && rows.shape(1) == best.shape(1) && k > 0,
         "`rows` must have the shape of `best`");
    need(all_below(queries.data(), queries.shape(0), static_cast<std::int64_t>(best.shape(0))),
         "`queries` must be rows of `best`");
    if (!many) return;
    Released released;
    for (std::size_t i = 0; i < queries.shape(0); ++i) {
        stop_if_asked(i << 8);
        const std::int32_t self = queries.data()[i];
        const float *scored = scores.data() + static_cast<std::int64_t>(i) * many;
        Best found{best.data() + self * k, rows.data() + self * k, k};
        // Each begins elsewhere, so that of many equal candidates not all queries find the same few.
        const std::int64_t start =
            static_cast<std::int64_t>(below(mixed(static_cast<std::uint64_t>(self)), static_cast<std::uint64_t>(many)));
        found.scan(scored, candidates.data(), start, many, self);
        found.scan(scored, candidates.data(), 0, start, self);
    }
}

// Where a point lies on a grid: the cell, and how far into it.
struct Place {
    std::int64_t column, row;
    float right, up;

    Place(const float *point, float left, float bottom, float inverse, std::int64_t side) {
        const float x = (point[0] - left) * inverse, y = (point[1] - bottom) * inverse,
                    most = static_cast<float>(side - 2);
        need(x == x && y == y, "`points` must be finite, and so must be their grid");
        const float a = std::min(std::max(std::floor(x), 0.f), most), b = std::min(std::max(std::floor(y), 0.f), most);
        column = static_cast<std::int64_t>(a);
        row = static_cast<std::int64_t>(b);
        right = std::min(std::max(x - a, 0.f), 1.f);
        up = std::min(std::max(y - b, 0.f), 1.f);
    }
};

void spread(Table<const float> points, float left, float bottom, float inverse, Table<std::int64_t> out,
            Threads threads) {
    const std::int64_t side = static_cast<std::int64_t>(out.shape(0)),
                       count = static_cast<std::int64_t>(points.shape(0));
    need(points.shape(1) == 2 && side >= 2 && out.shape(1) == out.shape(0), "`points` are pairs, `out` is a square");
    Released released;
    std::vector<std::vector<std::int64_t>> grids(static_cast<std::size_t>(threads.count));
    parallel(threads, [&](int t) {
        auto &grid = grids[static_cast<std::size_t>(t)];
        grid.assign(static_cast<std::size_t>(side * side), 0);
        in_steps(count * t / threads, count * (t + 1) / threads, [&](std::size_t i) {
            const Place at(points.data() + 2 * i, left, bottom, inverse, side);
            const auto right = static_cast<std::int64_t>(at.right * UNITS),
                       up = static_cast<std::int64_t>(at.up * UNITS);
            const auto all = static_cast<std::int64_t>(UNITS);
            std::int64_t *const cell = grid.data() + at.row * side + at.column;
            cell[0] += (all - right) * (all - up);
            cell[1] += right * (all - up);
            cell[side] += (all - right) * up;
            cell[side + 1] += right * up;
        });
    });
    std::fill_n(out.data(), side * side, 0);
    for (const auto &grid : grids)
        for (std::int64_t i = 0; i < side * side; ++i) out.data()[i] += grid[static_cast<std::size_t>(i)];
}

void forces(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<float> weights, Table<const float> points,
            Cube<const float> field, float left, float bottom, float inverse, float attraction, Table<float> out,
            Threads threads) {
    const std::int64_t side = static_cast<std::int64_t>(field.shape(0)),
                       count = static_cast<std::int64_t>(points.shape(0));
    need(static_cast<std::int64_t>(indptr.shape(0)) == count + 1 && points.shape(1) == 2,
         "`points` must be a pair for each row");
    need(indices.shape(0) == weights.shape(0), "`weights` must have one number for each entry");
    need(side >= 2 && field.shape(1) == field.shape(0) && field.shape(2) == 2, "`field` is a square of pairs");
    need(out.shape(0) == points.shape(0) && out.shape(1) == 2, "`out` must have the shape of `points`");
    need_bounds(indptr, indices.shape(0));
    Released released;
    in_chunks(count, threads, [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
            const float *const point = points.data() + 2 * i;
            float x = 0, y = 0;
            for (std::int64_t e = indptr.data()[i]; e < indptr.data()[i + 1]; ++e) {
                const std::int64_t j = indices.data()[e];
                need(j >= 0 && j < count, "`indices` must be points");
                const float *const other = points.data() + 2 * j;
                const float dx = other[0] - point[0], dy = other[1] - point[1];
                const float pull = weights.data()[e] / (1 + dx * dx + dy * dy);
                x += pull * dx;
                y += pull * dy;
            }
            const Place at(point, left, bottom, inverse, side);
            const float *const low = field.data() + 2 * (at.row * side + at.column), *const high = low + 2 * side;
            const float a = (1 - at.right) * (1 - at.up), b = at.right * (1 - at.up), c = (1 - at.right) * at.up,
                        d = at.right * at.up;
            out.data()[2 * i] = attraction * x + (a * low[0] + b * low[2] + c * high[0] + d * high[2]);
            out.data()[2 * i + 1] = attraction * y + (a * low[1] + b * low[3] + c * high[1] + d * high[3]);
        }
    });
}

void move(Table<const float> forces, Table<float> velocity, Table<float> gains, Table<float> points, float momentum,
          float rate, float farthest, Threads threads) {
    const std::int64_t count = static_cast<std::int64_t>(points.size());
    for (std::size_t size : {forces.size(), velocity.size(), gains.size()})
        need(static_cast<std::int64_t>(size) == count, "all arrays must have one shape");
    Released released;
    in_chunks(count, threads, [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
            float &gain = gains.data()[i], &speed = velocity.data()[i];
            const float force = forces.data()[i];
            gain = (force > 0) == (speed > 0) ? gain + 0.2f : std::max(gain * 0.8f, 0.01f);
            speed = std::min(std::max(momentum * speed + rate * gain * force, -farthest), farthest);
            points.data()[i] += speed;
        }
    });
}

}  // namespace layout
}  // namespace

void bind_layout(nb::module_ &module) {
    using namespace layout;
    module.def("keep_best", keep_best, "scores"_a, "queries"_a, "candidates"_a, "best"_a, "rows"_a);
    module.def("spread", spread, "points"_a, nb::kw_only(), "left"_a, "bottom"_a, "inverse"_a, "out"_a, "threads"_a);
    module.def("forces", forces, "indptr"_a, "indices"_a, "weights"_a, "points"_a, "field"_a, nb::kw_only(), "left"_a,
               "bottom"_a, "inverse"_a, "attraction"_a, "out"_a, "threads"_a);
    module.def("move", move, "forces"_a, "velocity"_a, "gains"_a, "points"_a, nb::kw_only(), "momentum"_a, "rate"_a,
               "farthest"_a, "threads"_a);
}
