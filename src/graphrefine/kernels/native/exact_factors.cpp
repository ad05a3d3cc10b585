// Factors of small matrices in float64, compiled once for each instruction set (VARIANT).
//
// Sums run over the index that is eliminated, ascending, each product rounded and taken away; loops run along rows, where
// entries are independent, so that vectors of any width give the same bits.
#include "exact.h"
#include "reals.h"
#include "threads.h"

#include <cmath>
#include <vector>

namespace {
namespace exact_factors {

// y -= f x
inline void take_away(double *y, const double *x, double f, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) y[i] -= f * x[i];
}

// Row i of U = L^T: a[i, i:], less U[m, i] U[m, i:] for m = 0 ... i - 1, divided by the root of its first entry.
bool cholesky(double *a, std::int64_t k) {
    for (std::int64_t i = 0; i < k; ++i) {
        stop_if_asked();
        double *row = a + i * k;
        for (std::int64_t m = 0; m < i; ++m) take_away(row + i, a + m * k + i, a[m * k + i], k - i);
        if (!(row[i] > 0)) return false;
        const double pivot = std::sqrt(row[i]);
        row[i] = pivot;
        for (std::int64_t j = i + 1; j < k; ++j) row[j] /= pivot;
    }
    for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t j = i + 1; j < k; ++j) {
            a[j * k + i] = a[i * k + j];
            a[i * k + j] = 0;
        }
    return true;
}

// Row i of B, less L[i, m] X[m] for m = 0 ... i - 1, divided by L[i, i].
void solve_lower(const double *lower, std::int64_t k, double *b, std::int64_t columns) {
    for (std::int64_t i = 0; i < k; ++i) {
        stop_if_asked();
        double *row = b + i * columns;
        for (std::int64_t m = 0; m < i; ++m) take_away(row, b + m * columns, lower[i * k + m], columns);
        for (std::int64_t c = 0; c < columns; ++c) row[c] /= lower[i * k + i];
    }
}

// From the last row up: row i of B, less L[m, i] X[m] for m = i + 1 ... k - 1, divided by L[i, i].
void solve_upper(const double *lower, std::int64_t k, double *b, std::int64_t columns) {
    for (std::int64_t i = k - 1; i >= 0; --i) {
        stop_if_asked();
        double *row = b + i * columns;
        for (std::int64_t m = i + 1; m < k; ++m) take_away(row, b + m * columns, lower[m * k + i], columns);
        for (std::int64_t c = 0; c < columns; ++c) row[c] /= lower[i * k + i];
    }
}

// x[i:] to v and 2 / v.v, so that I - 2 v v^T / v.v takes x to its first place; 0 where x is zero
double reflector(double *x, std::int64_t count) {
    const double square = dot_lanes(x, x, count);
    if (!(square > 0)) return 0;
    const double length = std::sqrt(square);
    x[0] += x[0] < 0 ? -length : length;
    const double own = dot_lanes(x, x, count);
    return 2 / own;
}

// Rows of `turned`, the columns of A, become those of Q: reflectors one after the other, then their product from the last on.
void householder(double *turned, std::int64_t columns, std::int64_t rows) {
    std::vector<double> factors(static_cast<std::size_t>(columns));
    for (std::int64_t j = 0; j < columns; ++j) {
        stop_if_asked();
        double *v = turned + j * rows + j;
        factors[static_cast<std::size_t>(j)] = reflector(v, rows - j);
        for (std::int64_t c = j + 1; c < columns; ++c) {
            double *x = turned + c * rows + j;
            take_away(x, v, factors[static_cast<std::size_t>(j)] * dot_lanes(x, v, rows - j), rows - j);
        }
    }
    for (std::int64_t j = columns - 1; j >= 0; --j) {  // column j of Q is H_0 ... H_j e_j, and later ones get H_j too
        stop_if_asked();
        double *v = turned + j * rows + j;
        const double factor = factors[static_cast<std::size_t>(j)];
        for (std::int64_t c = j + 1; c < columns; ++c) {
            double *x = turned + c * rows + j;
            take_away(x, v, factor * dot_lanes(x, v, rows - j), rows - j);
        }
        const double first = factor * v[0];
        for (std::int64_t i = 0; i < rows - j; ++i) v[i] = -first * v[i];
        v[0] += 1;
        std::fill(turned + j * rows, v, 0.);
    }
}

}  // namespace exact_factors
}  // namespace

void JOIN(fill_factors_, VARIANT)(Exact &table) {
    using namespace exact_factors;
    table.cholesky = cholesky;
    table.solve_lower = solve_lower;
    table.solve_upper = solve_upper;
    table.householder = householder;
}
