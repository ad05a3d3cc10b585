// Products of dense matrices in orders of their own, compiled once for each instruction set (VARIANT).
//
// An entry of a product is summed from zero over the inner index, ascending: in float64 each product is rounded and added, in
// float32 each step is one fma. Columns are in vectors beside each other, so their number changes no sum.
#include "exact.h"
#include "reals.h"
#include "threads.h"

#include <vector>

namespace {
namespace exact_products {

constexpr std::int64_t DEPTH = 256;  // of the inner index that a tile goes through at a time
constexpr std::int64_t ROWS = 128;  // rows of a Gram matrix that are summed in float32
constexpr int TALL = 6;  // rows of a register tile; it is two vectors wide

inline Reals add_product(Reals a, Reals b, Reals sum) { return sum + a * b; }
inline Floats add_product(Floats a, Floats b, Floats sum) { return fma(a, b, sum); }

template <class Vector, class Number> struct Products {
    static constexpr int V = sizeof(Vector) / sizeof(Number);
    static constexpr std::int64_t WIDE = 2 * V;  // columns of a panel

    static Vector spread(Number x) { return x - Vector{}; }

    static std::int64_t size(std::int64_t depth, std::int64_t columns) {
        return (columns + WIDE - 1) / WIDE * WIDE * depth;
    }

    // Panel after panel of two vectors' width, filled up with zeros.
    static void pack(const Number *b, std::int64_t depth, std::int64_t columns, Number *panels) {
        for (std::int64_t c = 0; c < columns; c += WIDE) {
            const std::int64_t width = std::min(WIDE, columns - c);
            for (std::int64_t i = 0; i < depth; ++i, panels += WIDE) {
                std::copy(b + i * columns + c, b + i * columns + c + width, panels);
                std::fill(panels + width, panels + WIDE, Number{});
            }
        }
    }

    // T rows of a, `count` of their entries, go on with the sums in `out`, or begin them.
    template <int T> static void tile(const Number *a, std::int64_t depth, const Number *panel, std::int64_t count,
                                      bool begun, Number *out, std::int64_t columns, std::int64_t width) {
        Vector sum[T][2] = {};
        Number rest[WIDE];
        const bool whole = width == WIDE;
        for (int t = 0; begun && t < T; ++t) {
            const Number *from = out + t * columns;
            if (!whole) {
                std::copy(from, from + width, rest);
                std::fill(rest + width, rest + WIDE, Number{});
                from = rest;
            }
            sum[t][0] = load<Vector>(from);
            sum[t][1] = load<Vector>(from + V);
        }
        for (std::int64_t i = 0; i < count; ++i) {
            const Vector left = load<Vector>(panel + i * WIDE), right = load<Vector>(panel + i * WIDE + V);
            for (int t = 0; t < T; ++t) {
                const Vector f = spread(a[t * depth + i]);
                sum[t][0] = add_product(f, left, sum[t][0]);
                sum[t][1] = add_product(f, right, sum[t][1]);
            }
        }
        for (int t = 0; t < T; ++t) {
            Number *to = whole ? out + t * columns : rest;
            store(to, sum[t][0]), store(to + V, sum[t][1]);
            if (!whole) std::copy(rest, rest + width, out + t * columns);
        }
    }

    static void multiply(const Number *a, const Number *panels, std::int64_t depth, std::int64_t columns, Number *out,
                         std::int64_t begin, std::int64_t end) {
        if (depth == 0) std::fill(out + begin * columns, out + end * columns, Number{});
        for (std::int64_t first = 0; first < depth; first += DEPTH) {
            const std::int64_t count = std::min(DEPTH, depth - first);
            for (std::int64_t c = 0; c < columns; c += WIDE) {
                stop_if_asked(static_cast<std::uint64_t>(c / WIDE) << 12);
                const Number *panel = panels + c * depth + first * WIDE;
                const std::int64_t width = std::min(WIDE, columns - c);
                std::int64_t r = begin;
                for (; r + TALL <= end; r += TALL)
                    tile<TALL>(a + r * depth + first, depth, panel, count, first > 0, out + r * columns + c, columns,
                               width);
                for (; r < end; ++r)
                    tile<1>(a + r * depth + first, depth, panel, count, first > 0, out + r * columns + c, columns,
                            width);
            }
        }
    }
};

using Doubled = Products<Reals, double>;
using Singled = Products<Floats, float>;

// gram[a : a + T, b : b + 2 W] += x[:, a : a + T]^T x[:, b : b + 2 W]: the rows' sum in float32, added in float64
template <int T> void add_gram_tile(const float *x, std::int64_t rows, std::int64_t padded, std::int64_t a,
                                    std::int64_t b, double *gram) {
    Floats sum[T][2] = {};
    for (std::int64_t r = 0; r < rows; ++r) {
        const float *row = x + r * padded;
        const Floats left = load<Floats>(row + b), right = load<Floats>(row + b + W);
        for (int t = 0; t < T; ++t) {
            const Floats f = broadcast(row[a + t]);
            sum[t][0] = fma(f, left, sum[t][0]);
            sum[t][1] = fma(f, right, sum[t][1]);
        }
    }
    for (int t = 0; t < T; ++t) {
        float tile[2 * W];
        store(tile, sum[t][0]), store(tile + W, sum[t][1]);
        double *to = gram + (a + t) * padded + b;
        for (int c = 0; c < 2 * W; ++c) to[c] += tile[c];
    }
}

// Blocks of 128 rows, each summed in float32 by fma from zero, row after row; their sums are added in float64 in the order of the
// blocks. A thread has panels of columns for all rows, so that nothing is added up across threads.
void gram(const float *x, std::int64_t rows, std::int64_t k, double *out, int thread, int threads) {
    constexpr std::int64_t wide = 32;  // columns of a panel, for any W
    const std::int64_t padded = (k + wide - 1) / wide * wide;
    std::vector<std::int64_t> own;  // panels: the first and the last thread in turn, as later panels are longer
    for (std::int64_t b = 0, turn = 0; b < padded; b += wide, ++turn) {
        const std::int64_t place = turn % (2 * threads);
        if ((place < threads ? place : 2 * threads - 1 - place) == thread) own.push_back(b);
    }
    if (own.empty()) return;
    auto block = aligned<float>(ROWS * padded);
    auto total = aligned<double>(padded * padded);
    for (std::int64_t begin = 0; begin < rows; begin += ROWS) {
        stop_if_asked();
        const std::int64_t count = std::min(ROWS, rows - begin);
        for (std::int64_t r = 0; r < count; ++r) std::copy_n(x + (begin + r) * k, k, block.get() + r * padded);
        for (const std::int64_t panel : own)
            for (std::int64_t b = panel; b < panel + wide; b += 2 * W)
                for (std::int64_t a = 0; a < b + 2 * W; a += 16) {
                    add_gram_tile<6>(block.get(), count, padded, a, b, total.get());
                    add_gram_tile<6>(block.get(), count, padded, a + 6, b, total.get());
                    add_gram_tile<4>(block.get(), count, padded, a + 12, b, total.get());
                }
    }
    for (const std::int64_t panel : own)
        for (std::int64_t b = panel; b < std::min(panel + wide, k); ++b)
            for (std::int64_t a = 0; a <= b; ++a) out[a * k + b] = out[b * k + a] = total.get()[a * padded + b];
}

}  // namespace exact_products
}  // namespace

void JOIN(fill_products_, VARIANT)(Exact &table) {
    using namespace exact_products;
    table.panels64 = Doubled::size;
    table.panels32 = Singled::size;
    table.pack64 = Doubled::pack;
    table.pack32 = Singled::pack;
    table.multiply64 = Doubled::multiply;
    table.multiply32 = Singled::multiply;
    table.gram = gram;
    table.dot64 = dot_lanes<double>;
    table.dot32 = dot_lanes<float>;
}
