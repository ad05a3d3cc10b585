// Weighted least squares, row by row: threads take pieces of the rows, and one thread solves a row.
#include "least_squares.h"
#include "checks.h"

#include <algorithm>
#include <atomic>
#include <string>

namespace nb = nanobind;
using namespace nb::literals;

namespace {
namespace least_squares_arrays {

constexpr std::int64_t CHUNK = 16;  // rows that a thread takes at a time

template <class T> using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Solve fastest = solve_rows_baseline;

void solve_rows(const Input<std::int64_t> &indptr, const Input<std::int32_t> &indices, const Input<float> &weights,
                const Matrix<float> &solution, const Matrix<const float> &others, const Input<double> &missing,
                const Input<double> &totals, const Matrix<const double> &diagonal, std::int64_t steps, std::int64_t hub,
                Threads threads) {
    const std::size_t rows = solution.shape(0), columns = solution.shape(1), entries = indices.shape(0);
    need(indptr.shape(0) == rows + 1, "`indptr` must have one entry more than there are rows");
    need_bounds(indptr, entries);
    need(all_below(indices.data(), entries, static_cast<std::int64_t>(others.shape(0))),
         "`indices` must be rows of `others`");
    need(steps >= 0 && steps <= 1 << 20, "`steps` must be from 0 to 2^20");
    need(weights.shape(0) == entries, "`weights` must have one number for each entry");
    need(columns && columns % 32 == 0 && others.shape(1) == columns,
         "`solution` and `others` have columns padded to a multiple of 32");
    need(missing.shape(0) == rows && totals.shape(0) == rows,
         "`missing` and `totals` must have one number for each row");
    need(diagonal.shape(0) == 2 && diagonal.shape(1) == columns,
         "`diagonal` must have two rows, as wide as the solution");
    Equations equations;
    equations.indptr = indptr.data();
    equations.indices = indices.data();
    equations.weights = weights.data();
    equations.others = others.data();
    equations.columns = static_cast<std::int64_t>(columns);
    equations.missing = missing.data();
    equations.totals = totals.data();
    equations.diagonal = diagonal.data();
    equations.solution = solution.data();
    equations.steps = steps;
    equations.hub = hub;
    const std::int64_t count = equations.rows = static_cast<std::int64_t>(rows);
    Released released;
    std::atomic<std::int64_t> next{0};
    parallel(threads, [&](int) {
        for (std::int64_t first; !is_stopped() && (first = next.fetch_add(CHUNK)) < count;)
            fastest(equations, first, std::min(first + CHUNK, count));
    });
}

}  // namespace least_squares_arrays
}  // namespace

void bind_least_squares(nb::module_ &module, const std::string &simd) {
    using namespace least_squares_arrays;
#ifdef GRAPHREFINE_X86
    if (simd == "avx2") fastest = solve_rows_avx2;
    if (simd == "avx512") fastest = solve_rows_avx512;
#endif
    module.def("solve_rows", solve_rows, "indptr"_a, "indices"_a, "weights"_a, "solution"_a, "others"_a, nb::kw_only(),
               "missing"_a, "totals"_a, "diagonal"_a, "steps"_a, "hub"_a, "threads"_a);
}
