// The door of exact algebra from Python: the choice of instruction set, checks of shapes, threads. See exact.h.
#include "checks.h"
#include "exact.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {
namespace exact_arrays {

constexpr std::int64_t CHUNK = 1 << 14;  // numbers that a thread takes at a time
constexpr std::int64_t ROWS = 96;        // rows of a product; the rows of whole tiles

Exact exact;

template <class T> using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Array> std::int64_t length(const Array &array, std::size_t axis) {
    return static_cast<std::int64_t>(array.shape(axis));
}

// Calls work(begin, end) for pieces of 0 ... count - 1, dealt to threads.
template <class Work> void in_pieces(std::int64_t count, std::int64_t piece, int threads, const Work &work) {
    std::atomic<std::int64_t> next{0};
    parallel(static_cast<int>(std::clamp<std::int64_t>((count + piece - 1) / piece, 1, std::max(threads, 1))),
             [&](int) {
                 for (std::int64_t begin; !is_stopped() && (begin = next.fetch_add(piece)) < count;)
                     work(begin, std::min(begin + piece, count));
             });
}

Function function_named(const std::string &name) {
    const char *const names[] = {"log", "log1p", "exp", "expm1", "power"};
    for (std::uint8_t i = 0; i < 5; ++i)
        if (name == names[i]) return static_cast<Function>(i);
    throw std::invalid_argument("there is no such function");
}

void evaluate(const std::string &name, const Vector<const double> &x, const Vector<double> &out, double exponent,
              Threads threads) {
    need(x.shape(0) == out.shape(0), "`out` must be as long as `x`");
    const Function function = function_named(name);
    Released released;
    in_pieces(length(x, 0), CHUNK, threads, [&](std::int64_t begin, std::int64_t end) {
        exact.evaluate(function, x.data() + begin, exponent, out.data() + begin, end - begin);
    });
}

void log_at_least(const Vector<float> &x, float least, Threads threads) {
    need(least >= std::numeric_limits<float>::min(), "`least` must be positive");
    Released released;
    in_pieces(length(x, 0), CHUNK, threads,
              [&](std::int64_t begin, std::int64_t end) { exact.log_at_least(x.data() + begin, least, end - begin); });
}

template <class Number> using Measure = std::int64_t (*)(std::int64_t, std::int64_t);

template <class Number, class Pack, class Multiply>
void multiply(const Matrix<const Number> &a, const Matrix<const Number> &b, const Matrix<Number> &out, int threads,
              Measure<Number> measure, Pack pack, Multiply rows) {
    need(a.shape(1) == b.shape(0) && out.shape(0) == a.shape(0) && out.shape(1) == b.shape(1),
         "shapes of a product must fit");
    const std::int64_t depth = length(a, 1), columns = length(b, 1);
    Released released;
    std::unique_ptr<Number[]> panels(new Number[static_cast<std::size_t>(measure(depth, columns))]);
    pack(b.data(), depth, columns, panels.get());
    in_pieces(length(a, 0), ROWS, threads, [&](std::int64_t begin, std::int64_t end) {
        rows(a.data(), panels.get(), depth, columns, out.data(), begin, end);
    });
}

void gram(const Matrix<const float> &x, const Matrix<double> &out, Threads most) {
    need(out.shape(0) == x.shape(1) && out.shape(1) == x.shape(1), "`out` must be columns x columns");
    Released released;
    const int threads =
        static_cast<int>(std::clamp<std::int64_t>((length(x, 1) + 31) / 32, 1, most));  // a panel of columns at least
    parallel(threads, [&](int t) { exact.gram(x.data(), length(x, 0), length(x, 1), out.data(), t, threads); });
}

template <class Number, class Dot> void dot_rows(const Matrix<const Number> &x, const Matrix<const Number> &y,
                                                 const Vector<double> &out, int threads, Dot dot) {
    need((x.shape(0) == y.shape(0) || y.shape(0) == 1) && x.shape(1) == y.shape(1) && out.shape(0) == x.shape(0),
         "rows must be alike");
    const std::int64_t columns = length(x, 1), stride = y.shape(0) == 1 ? 0 : columns;  // one row is that of all
    Released released;
    in_pieces(length(x, 0), 512, threads, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            out.data()[i] = dot(x.data() + i * columns, y.data() + i * stride, columns);
    });
}

template <class Array> void need_square(const Array &a) { need(a.shape(0) == a.shape(1), "the matrix must be square"); }

}  // namespace exact_arrays
}  // namespace

void bind_exact(nb::module_ &module, const std::string &simd) {
    using namespace exact_arrays;
    fill_functions_baseline(exact), fill_products_baseline(exact), fill_factors_baseline(exact),
        fill_eigen_baseline(exact);
#ifdef GRAPHREFINE_X86
    if (simd == "avx2")
        fill_functions_avx2(exact), fill_products_avx2(exact), fill_factors_avx2(exact), fill_eigen_avx2(exact);
    if (simd == "avx512")
        fill_functions_avx512(exact), fill_products_avx512(exact), fill_factors_avx512(exact), fill_eigen_avx512(exact);
#endif
    module.def("evaluate", &evaluate, "name"_a, "x"_a, "out"_a, nb::kw_only(), "exponent"_a, "threads"_a);
    module.def("log_at_least", &log_at_least, "x"_a.noconvert(), "least"_a, nb::kw_only(), "threads"_a);
    module.def(
        "multiply",
        [](const Matrix<const double> &a, const Matrix<const double> &b, const Matrix<double> &out, Threads threads) {
            multiply<double>(a, b, out, threads, exact.panels64, exact.pack64, exact.multiply64);
        },
        "a"_a, "b"_a, "out"_a, nb::kw_only(), "threads"_a);
    module.def(
        "multiply_tall",
        [](const Matrix<const float> &a, const Matrix<const float> &b, const Matrix<float> &out, Threads threads) {
            multiply<float>(a, b, out, threads, exact.panels32, exact.pack32, exact.multiply32);
        },
        "a"_a, "b"_a, "out"_a, nb::kw_only(), "threads"_a);
    module.def("gram_matrix", &gram, "x"_a, "out"_a, nb::kw_only(), "threads"_a);
    module.def(
        "dot_rows",
        [](const Matrix<const double> &x, const Matrix<const double> &y, const Vector<double> &out, Threads threads) {
            dot_rows<double>(x, y, out, threads, exact.dot64);
        },
        "x"_a, "y"_a, "out"_a, nb::kw_only(), "threads"_a);
    module.def(
        "dot_rows",
        [](const Matrix<const float> &x, const Matrix<const float> &y, const Vector<double> &out, Threads threads) {
            dot_rows<float>(x, y, out, threads, exact.dot32);
        },
        "x"_a, "y"_a, "out"_a, nb::kw_only(), "threads"_a);
    module.def(
        "factor_cholesky",
        [](const Matrix<double> &a) {
            need_square(a);
            Released released;
            return exact.cholesky(a.data(), length(a, 0));
        },
        "a"_a);
    module.def(
        "solve_triangular",
        [](const Matrix<const double> &lower, const Matrix<double> &b, bool transposed) {
            need_square(lower);
            need(b.shape(0) == lower.shape(0), "`b` must have as many rows as the matrix");
            Released released;
            (transposed ? exact.solve_upper : exact.solve_lower)(lower.data(), length(lower, 0), b.data(),
                                                                 length(b, 1));
        },
        "lower"_a, "b"_a, nb::kw_only(), "transposed"_a);
    module.def(
        "reflect",
        [](const Matrix<double> &turned) {
            need(turned.shape(0) <= turned.shape(1), "there must be no more columns than rows");
            Released released;
            exact.householder(turned.data(), length(turned, 0), length(turned, 1));
        },
        "turned"_a);
    module.def(
        "find_eigenpairs",
        [](const Matrix<const double> &a, const Vector<double> &values, const Matrix<double> &vectors) {
            need_square(a);
            need(values.shape(0) == a.shape(0) && vectors.shape(0) == a.shape(0) && vectors.shape(1) == a.shape(0),
                 "results must fit");
            Released released;
            return exact.eigh(a.data(), length(a, 0), values.data(), vectors.data());
        },
        "a"_a, "values"_a, "vectors"_a);
}
