// Sums of rows, small products and lengths for live vectors, compiled once for each instruction set (VARIANT).
#include "live.h"
#include "vectors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {
namespace live_rows {

constexpr std::int64_t PIECE = 128;  // entries summed in float32
constexpr std::int64_t AHEAD = 16;    // entries between a prefetch and its use
constexpr int WIDE = 8;              // vectors of sums in registers
constexpr int LANES = 8;             // partial sums of a length

inline void prefetch(const float *row, std::int64_t columns) {
    for (std::int64_t c = 0; c < columns; c += 16) __builtin_prefetch(row + c, 0, 2);  // into the second cache, which takes more of them at a time
}

void prefetch_first(const std::int32_t *indices, std::int64_t count, const float *rows, std::int64_t columns) {
    for (std::int64_t e = 0; e < std::min(AHEAD, count); ++e) prefetch(rows + indices[e] * columns, columns);
}

template <int V>
void add_piece(const std::int32_t *indices, const float *factors, std::int64_t count, std::int64_t left, const float *rows, std::int64_t columns,
               std::int64_t c, double *sum) {
    Floats part[V] = {};
    for (std::int64_t e = 0; e < count; ++e) {
        if (c == 0 && e + AHEAD < left) prefetch(rows + indices[e + AHEAD] * columns, columns);
        const float *row = rows + indices[e] * columns + c;
        const Floats f = broadcast(factors[e]);
        for (int v = 0; v < V; ++v) part[v] += f * load<Floats>(row + W * v);
    }
    float numbers[V * W];
    for (int v = 0; v < V; ++v) store(numbers + W * v, part[v]);
    for (int i = 0; i < V * W; ++i) sum[c + i] += numbers[i];
}

void sum_rows(const std::int32_t *indices, const float *factors, std::int64_t count, const float *rows, std::int64_t columns, double *sum) {
    prefetch_first(indices, count, rows, columns);
    std::fill(sum, sum + columns, 0.);
    for (std::int64_t e = 0; e < count; e += PIECE) {
        const std::int64_t some = std::min(PIECE, count - e);
        std::int64_t c = 0;  // columns are a multiple of 32, the width of two vectors or more
        for (; c + WIDE * W <= columns; c += WIDE * W) add_piece<WIDE>(indices + e, factors + e, some, count - e, rows, columns, c, sum);
        for (; c < columns; c += 2 * W) add_piece<2>(indices + e, factors + e, some, count - e, rows, columns, c, sum);
    }
}

typedef double Wide __attribute__((vector_size(W * 8)));  // as many as Floats has

template <int V>
void add_precisely(const std::int32_t *indices, const double *factors, std::int64_t count, std::int64_t left, const float *rows, std::int64_t columns,
                   std::int64_t c, double *sum) {
    Wide part[V];
    std::memcpy(part, sum + c, sizeof part);
    for (std::int64_t e = 0; e < count; ++e) {
        if (c == 0 && e + AHEAD < left) prefetch(rows + indices[e + AHEAD] * columns, columns);
        const float *row = rows + indices[e] * columns + c;
        const Wide f = factors[e] - Wide{};
        for (int v = 0; v < V; ++v) part[v] += f * __builtin_convertvector(load<Floats>(row + W * v), Wide);
    }
    std::memcpy(sum + c, part, sizeof part);
}

void sum_precisely(const std::int32_t *indices, const double *factors, std::int64_t count, const float *rows, std::int64_t columns, double *sum) {
    prefetch_first(indices, count, rows, columns);
    std::fill(sum, sum + columns, 0.);
    for (std::int64_t e = 0; e < count; e += PIECE) {  // pieces stay in the cache while all columns are summed
        const std::int64_t some = std::min(PIECE, count - e);
        std::int64_t c = 0;
        for (; c + WIDE / 2 * W <= columns; c += WIDE / 2 * W) add_precisely<WIDE / 2>(indices + e, factors + e, some, count - e, rows, columns, c, sum);
        for (; c < columns; c += 2 * W) add_precisely<2>(indices + e, factors + e, some, count - e, rows, columns, c, sum);
    }
}

void rotate(const double *x, const double *matrix, std::int64_t columns, double *out) {
    std::fill(out, out + columns, 0.);
    for (std::int64_t a = 0; a < columns; ++a) {
        const double f = x[a];
        const double *row = matrix + a * columns;
        for (std::int64_t c = 0; c < columns; ++c) out[c] += f * row[c];
    }
}

void add_row(double *sum, double factor, const float *row, std::int64_t columns) {
    for (std::int64_t c = 0; c < columns; ++c) sum[c] += factor * static_cast<double>(row[c]);
}

void add_step(double *sum, double factor, const double *step, std::int64_t columns) {
    for (std::int64_t c = 0; c < columns; ++c) sum[c] += factor * step[c];
}

void make_state(const float *target, double a, const double *sum, double b, double scale, std::int64_t columns, float *row, double *step) {
    for (std::int64_t c = 0; c < columns; ++c) {
        const float fresh = static_cast<float>((a * target[c] + b * sum[c]) * scale);
        step[c] = static_cast<double>(fresh) - row[c];
        row[c] = fresh;
    }
}

double length(const float *x, double a, const float *y, double b, const float *z, double c, std::int64_t columns) {
    double squares[LANES] = {};
    for (std::int64_t i = 0; i < columns; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) {
            const double value = a * x[i + lane] + b * y[i + lane] + c * z[i + lane];
            squares[lane] += value * value;
        }
    double sum = 0;
    for (int lane = 0; lane < LANES; ++lane) sum += squares[lane];
    return std::sqrt(sum);
}

}  // namespace live_rows
}  // namespace

const LiveArithmetic &JOIN(live_arithmetic_, VARIANT)() {
    using namespace live_rows;
    static const LiveArithmetic table{sum_rows, sum_precisely, add_row, add_step, make_state, rotate, length};
    return table;
}
