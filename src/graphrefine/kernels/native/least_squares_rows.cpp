// Rows of weighted least squares, compiled once for each instruction set (VARIANT).
//
// Few entries: conjugate gradients, each step of which passes over the entries once: a dot product with the direction, and
// as much of the entry's row added to the product. Many: the matrix itself, summed in float32 over pieces of the entries and in
// float64 over the pieces, and its Cholesky factor. All sums are in the order of the entries, or in that of dots.h.
#include "dots.h"
#include "least_squares.h"
#include "threads.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace {
namespace least_squares_rows {

constexpr std::int64_t GROUP = 8;  // entries at a time
constexpr std::int64_t PIECE = 128;  // entries whose products are summed in float32
constexpr std::int64_t AHEAD = 16;  // entries between a prefetch and its use

class Row {
    const Equations &own_;
    const std::int64_t columns_;
    std::vector<float> diagonal_, product_, rest_, direction_;
    std::vector<double> matrix_, wanted_;
    const std::int32_t *indices_ = nullptr;
    const float *weights_ = nullptr;
    std::int64_t count_ = 0;

    const float *near(std::int64_t entry) const { return own_.others + indices_[entry] * columns_; }

    void prefetch(const std::int32_t *index) const {
        for (std::int64_t c = 0; c < columns_; c += 16) __builtin_prefetch(own_.others + *index * columns_ + c);
    }

    static float dot(const float *x, const float *y, std::int64_t columns) { return dots<1>(x, &y, columns)[0]; }

    // out += sum of factor[e] * row[e], entry after entry
    template <int T> static void add(const float *const *row, const float *factor, std::int64_t columns, float *out) {
        for (std::int64_t c = 0; c < columns; c += W) {
            Floats sum = load<Floats>(out + c);
            for (int t = 0; t < T; ++t) sum = fma(broadcast(factor[t]), load<Floats>(row[t] + c), sum);
            store(out + c, sum);
        }
    }

    // out += sum of c (z . x) z; for a residual, out += sum of c (1 - z . x) z
    template <int T> void pass(std::int64_t entry, const float *x, bool residual, float *out) const {
        const float *row[T];
        for (int t = 0; t < T; ++t) {
            row[t] = near(entry + t);
            if (residual) prefetch(indices_ + std::min(entry + t + AHEAD, count_ - 1));
        }
        float factor[GROUP];
        store(factor, dots<(T > 4 ? 4 : T)>(x, row, columns_));
        if constexpr (T > 4) store(factor + 4, dots<T - 4>(x, row + 4, columns_));
        for (int t = 0; t < T; ++t) factor[t] = weights_[entry + t] * (residual ? 1.f - factor[t] : factor[t]);
        add<T>(row, factor, columns_, out);
    }

    void pass_all(const float *x, bool residual, float *out) const {
        using Pass = void (Row::*)(std::int64_t, const float *, bool, float *) const;
        constexpr Pass passes[] = {nullptr,       &Row::pass<1>, &Row::pass<2>, &Row::pass<3>, &Row::pass<4>,
                                   &Row::pass<5>, &Row::pass<6>, &Row::pass<7>, &Row::pass<8>};
        for (std::int64_t entry = 0; entry < count_; entry += GROUP)
            (this->*passes[std::min(GROUP, count_ - entry)])(entry, x, residual, out);
    }

    // Conjugate gradients, from v.
    void step_towards(float *v) {
        float *const rest = rest_.data(), *const p = direction_.data(), *const product = product_.data();
        for (std::int64_t c = 0; c < columns_; c += W)
            store(rest + c, Floats{} - load<Floats>(diagonal_.data() + c) * load<Floats>(v + c));
        pass_all(v, true, rest);
        std::copy_n(rest, columns_, p);
        float size = dot(rest, rest, columns_);
        for (std::int64_t step = 0; step < own_.steps && size > 0.f; ++step) {
            stop_if_asked(static_cast<std::uint64_t>(step + 1) << 12);
            for (std::int64_t c = 0; c < columns_; c += W)
                store(product + c, load<Floats>(diagonal_.data() + c) * load<Floats>(p + c));
            pass_all(p, false, product);
            const float bend = dot(p, product, columns_);
            const Floats ahead = broadcast(bend > 0.f ? size / bend : 0.f);
            for (std::int64_t c = 0; c < columns_; c += W) {
                store(v + c, fma(ahead, load<Floats>(p + c), load<Floats>(v + c)));
                store(rest + c, fma(Floats{} - ahead, load<Floats>(product + c), load<Floats>(rest + c)));
            }
            const float before = size;
            size = dot(rest, rest, columns_);
            const Floats keep = broadcast(size / before);
            for (std::int64_t c = 0; c < columns_; c += W)
                store(p + c, fma(keep, load<Floats>(p + c), load<Floats>(rest + c)));
        }
    }

    // matrix += sum of c z z^T on and right of the diagonal, wanted += sum of c z, over a piece of the entries.
    void add_piece(std::int64_t begin, std::int64_t end) {
        const float *row[PIECE];
        for (std::int64_t e = begin; e < end; ++e) {
            row[e - begin] = near(e);
            prefetch(indices_ + std::min(e + AHEAD, count_ - 1));
        }
        const std::int64_t count = end - begin;
        for (std::int64_t b = 0; b < columns_; b += DOT_LANES)
            for (std::int64_t a = 0; a < b + DOT_LANES; a += 4) tile(row, weights_ + begin, count, a, b);
        float *const sums = product_.data();
        std::fill_n(sums, columns_, 0.f);
        for (std::int64_t e = 0; e < count; ++e) add<1>(row + e, weights_ + begin + e, columns_, sums);
        for (std::int64_t c = 0; c < columns_; ++c) wanted_[c] += sums[c];
    }

    // matrix[a : a + 4, b : b + DOT_LANES] += sum of c z[a : a + 4] z[b : b + DOT_LANES]
    void tile(const float *const *row, const float *weights, std::int64_t count, std::int64_t a, std::int64_t b) {
        for (std::int64_t from = b; from < b + DOT_LANES; from += 2 * W) {
            Floats sum[4][2] = {};
            for (std::int64_t e = 0; e < count; ++e) {
                const Floats left = load<Floats>(row[e] + from), right = load<Floats>(row[e] + from + W);
                for (int t = 0; t < 4; ++t) {
                    const Floats factor = broadcast(row[e][a + t] * weights[e]);
                    sum[t][0] = fma(factor, left, sum[t][0]);
                    sum[t][1] = fma(factor, right, sum[t][1]);
                }
            }
            for (int t = 0; t < 4; ++t) {
                float part[2 * W];
                store(part, sum[t][0]), store(part + W, sum[t][1]);
                double *const to = matrix_.data() + (a + t) * columns_ + from;
                for (int c = 0; c < 2 * W; ++c) to[c] += part[c];
            }
        }
    }

    // The solution by the factor U of matrix = U^T U, which takes its place; each number is changed by itself, in one order.
    void solve_directly(float *v) {
        matrix_.assign(columns_ * columns_, 0.), wanted_.assign(columns_, 0.);
        for (std::int64_t c = 0; c < columns_; ++c) matrix_[c * columns_ + c] = diagonal_[c];
        for (std::int64_t begin = 0; begin < count_; begin += PIECE) {
            stop_if_asked();
            add_piece(begin, std::min(begin + PIECE, count_));
        }
        double *const u = matrix_.data(), *const x = wanted_.data();
        const std::int64_t n = columns_;
        for (std::int64_t p = 0; p < n; ++p) {
            stop_if_asked(static_cast<std::uint64_t>(p) << 12);
            const double inverse = 1. / std::sqrt(u[p * n + p]);
            for (std::int64_t j = p; j < n; ++j) u[p * n + j] *= inverse;
            x[p] *= inverse;
            for (std::int64_t i = p + 1; i < n; ++i) {
                const double factor = u[p * n + i];
                for (std::int64_t j = i; j < n; ++j) u[i * n + j] -= factor * u[p * n + j];
                x[i] -= factor * x[p];
            }
        }
        for (std::int64_t p = n; p-- > 0;) {
            for (std::int64_t j = n; --j > p;) x[p] -= u[p * n + j] * x[j];
            x[p] /= u[p * n + p];
        }
        for (std::int64_t c = 0; c < n; ++c) v[c] = static_cast<float>(x[c]);
    }

  public:
    explicit Row(const Equations &own)
        : own_(own), columns_(own.columns), diagonal_(columns_), product_(columns_), rest_(columns_),
          direction_(columns_) {}

    void solve(std::int64_t i) {
        indices_ = own_.indices + own_.indptr[i];
        weights_ = own_.weights + own_.indptr[i];
        count_ = own_.indptr[i + 1] - own_.indptr[i];
        const std::int64_t after = own_.indptr[i + 1], some = std::min(after + AHEAD, own_.indptr[own_.rows]);
        for (std::int64_t e = after; e < some; ++e) prefetch(own_.indices + e);  // what the next rows begin with
        float *const v = own_.solution + i * columns_;
        if (!count_) return void(std::fill_n(v, columns_, 0.f));
        for (std::int64_t c = 0; c < columns_; ++c)
            diagonal_[c] =
                static_cast<float>(own_.missing[i] * own_.diagonal[c] + own_.totals[i] * own_.diagonal[columns_ + c]);
        count_ > own_.hub ? solve_directly(v) : step_towards(v);
    }
};

}  // namespace least_squares_rows
}  // namespace

void JOIN(solve_rows_, VARIANT)(const Equations &equations, std::int64_t first, std::int64_t last) {
    using namespace least_squares_rows;
    Row row(equations);
    for (std::int64_t i = first; i < last; ++i) row.solve(i);
}
