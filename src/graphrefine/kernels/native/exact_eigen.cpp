// Eigenvalues and eigenvectors of a symmetric matrix in float64, compiled once for each instruction set (VARIANT).
//
// A = Q T Q^T with T tridiagonal, by reflectors from the first column on; T = S diag(values) S^T by implicit QL steps (Martin and
// Wilkinson, 1968), whose rotations turn the columns of Q. Only + - * / and roots; sums over rows ascending, or over the lanes of
// `dot_lanes`; what runs along rows has independent entries.
#include "exact.h"
#include "reals.h"
#include "threads.h"

#include <cmath>
#include <numeric>
#include <vector>

namespace {
namespace exact_eigen {

using Numbers = std::vector<double>;
constexpr double NOTHING = 0x1p-960;  // the square of a column that is nothing next to the largest entry, about 1
constexpr double ROUNDING = 0x1p-53, LEAST = 0x1p-56;  // beside the diagonal: of its neighbors, of the largest of all
constexpr int ROUNDS = 60;  // for one eigenvalue; two or three are usual
constexpr int PATIENCE = 16;  // rounds after which the least doubles: noise of large numbers may keep small ones alive
constexpr int CHUNK = SUM_LANES / D;  // vectors of a row that pass all rotations of a step

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Rows of equal length, zeros behind the last column.
struct Grid {
    std::int64_t stride;
    std::unique_ptr<double, decltype(&std::free)> numbers;
    Grid(std::int64_t rows, std::int64_t stride_) : stride(stride_), numbers(aligned<double>(rows * stride_)) {}
    double *row(std::int64_t i) { return numbers.get() + i * stride; }
};

// x[i, c] -= v[i] w[c] + w[i] v[c] for T rows from i on, and u[c] += f[i] x[i, c], row after row
template <int T> void update_rows(Grid &x, std::int64_t i, std::int64_t first, const double *v, const double *w,
                                  const double *f, double *u) {
    for (std::int64_t c = first; c < x.stride; c += D) {
        const Reals vc = load<Reals>(v + c), wc = load<Reals>(w + c);
        Reals sum = load<Reals>(u + c);
        for (int t = 0; t < T; ++t) {
            double *to = x.row(i + t) + c;
            const Reals fresh = load<Reals>(to) - (v[i + t] * wc + w[i + t] * vc);
            store(to, fresh);
            sum += f[i + t] * fresh;
        }
        store(u + c, sum);
    }
}

// Row j of A beside the diagonal to the reflector v (zeros up to j); the factor 2 / v.v (0: none) and T's entry beside d[j].
double make_reflector(const double *row, std::int64_t j, std::int64_t k, double *v, double &beside) {
    beside = row[j + 1];
    if (std::all_of(row + j + 2, row + k, [](double x) { return x == 0; })) return 0;
    std::copy(row + j + 1, row + k, v + j + 1);
    const double square = dot_lanes(v, v, k);
    if (!(square > NOTHING)) {
        std::fill(v, v + k, 0.);
        return 0;
    }
    const double length = std::sqrt(square);
    beside = v[j + 1] < 0 ? length : -length;
    v[j + 1] -= beside;
    return 2 / dot_lanes(v, v, k);
}

// T to d and e; row j of `reflectors` has v_j. A pass over A takes the update of the reflector before and sums for the next.
void make_tridiagonal(Grid &a, std::int64_t k, Grid &reflectors, Numbers &factors, Numbers &d, Numbers &e) {
    Grid room(3, a.stride);
    double *u = room.row(0), *w = room.row(1), *none = room.row(2);
    const double *v = none;  // of the reflector before
    for (std::int64_t j = 0; j < k; ++j) {
        stop_if_asked();
        update_rows<1>(a, j, j / SUM_LANES * SUM_LANES, v, w, none, u);
        d[at(j)] = a.row(j)[j];
        if (j + 1 == k) break;
        double *next = reflectors.row(j);
        const double factor = factors[at(j)] = make_reflector(a.row(j), j, k, next, e[at(j)]);
        std::fill(u, u + a.stride, 0.);
        const std::int64_t first = (j + 1) / SUM_LANES * SUM_LANES;
        std::int64_t i = j + 1;
        for (; i + 4 <= k; i += 4) update_rows<4>(a, i, first, v, w, next, u);
        for (; i < k; ++i) update_rows<1>(a, i, first, v, w, next, u);
        std::fill(u, u + j + 1, 0.);
        for (i = 0; i < a.stride; ++i) u[i] *= factor;  // p = factor A v, then w = p - (factor / 2 p.v) v
        const double half = 0.5 * factor * dot_lanes(u, next, k);
        for (i = 0; i < a.stride; ++i) w[i] = u[i] - half * next[i];
        v = next;
    }
}

// Q = H_0 H_1 ...: from the last reflector on, rows i > j: u = sum_i v[i] Q[i], then Q[i] -= (factor v[i]) u
void make_basis(Grid &q, std::int64_t k, Grid &reflectors, const Numbers &factors) {
    for (std::int64_t i = 0; i < k; ++i) q.row(i)[i] = 1;
    Grid room(1, q.stride);
    double *u = room.row(0);
    for (std::int64_t j = k - 2; j >= 0; --j) {
        if (factors[at(j)] == 0) continue;
        stop_if_asked();
        const double *v = reflectors.row(j);
        const std::int64_t first = (j + 1) / SUM_LANES * SUM_LANES;
        std::fill(u, u + q.stride, 0.);
        for (std::int64_t i = j + 1; i < k; ++i) {
            const double *from = q.row(i), f = v[i];
            for (std::int64_t c = first; c < q.stride; ++c) u[c] += f * from[c];
        }
        for (std::int64_t i = j + 1; i < k; ++i) {
            double *to = q.row(i);
            const double f = factors[at(j)] * v[i];
            for (std::int64_t c = first; c < q.stride; ++c) to[c] -= f * u[c];
        }
    }
}

// For i = last ... first: rows i + 1 and i of z become s z[i] + c z[i + 1] and c z[i] - s z[i + 1].
void rotate_rows(Grid &z, std::int64_t first, std::int64_t last, const Numbers &cosines, const Numbers &sines) {
    for (std::int64_t column = 0; column < z.stride; column += SUM_LANES) {
        Reals upper[CHUNK];
        for (int q = 0; q < CHUNK; ++q) upper[q] = load<Reals>(z.row(last + 1) + column + q * D);
        for (std::int64_t i = last; i >= first; --i) {
            double *row = z.row(i) + column;
            const Reals c = fill(cosines[at(i)]), s = fill(sines[at(i)]);
            for (int q = 0; q < CHUNK; ++q) {
                const Reals lower = load<Reals>(row + q * D);
                store(row + z.stride + q * D, s * lower + c * upper[q]);
                upper[q] = c * lower - s * upper[q];
            }
        }
        for (int q = 0; q < CHUNK; ++q) store(z.row(first) + column + q * D, upper[q]);
    }
}

// Whether T falls apart behind place m.
inline bool is_cut(const Numbers &d, const Numbers &e, std::int64_t m, double least) {
    const double size = std::fabs(e[at(m)]);
    return size <= ROUNDING * (std::fabs(d[at(m)]) + std::fabs(d[at(m + 1)])) || size <= least;
}

// One implicit QL step on the places l to m, with the shift of the first two.
void step(Grid &z, std::int64_t l, std::int64_t m, Numbers &d, Numbers &e, Numbers &cosines, Numbers &sines) {
    double g = (d[at(l + 1)] - d[at(l)]) / (2 * e[at(l)]), r = std::sqrt(g * g + 1);
    g = d[at(m)] - d[at(l)] + e[at(l)] / (g + (g < 0 ? -r : r));
    double s = 1, c = 1, p = 0;
    std::int64_t i = m - 1;
    for (; i >= l; --i) {
        const double f = s * e[at(i)], b = c * e[at(i)];
        e[at(i + 1)] = r = std::sqrt(f * f + g * g);
        if (r == 0) {
            d[at(i + 1)] -= p;
            break;
        }
        s = f / r;
        c = g / r;
        g = d[at(i + 1)] - p;
        r = (d[at(i)] - g) * s + 2 * c * b;
        p = s * r;
        d[at(i + 1)] = g + p;
        g = c * r - b;
        cosines[at(i)] = c;
        sines[at(i)] = s;
    }
    if (i < l) {
        d[at(l)] -= p;
        e[at(l)] = g;
    }
    e[at(m)] = 0;  // T falls apart there
    if (i + 1 < m) rotate_rows(z, i + 1, m - 1, cosines, sines);
}

// The places first to last in the other order: steps begin at the end, where large numbers do no harm to small ones.
void turn_round(Grid &z, std::int64_t first, std::int64_t last, Numbers &d, Numbers &e) {
    std::reverse(d.begin() + first, d.begin() + last + 1);
    std::reverse(e.begin() + first, e.begin() + last);
    for (; first < last; ++first, --last) std::swap_ranges(z.row(first), z.row(first) + z.stride, z.row(last));
}

// d to the eigenvalues of T, rows of z turned with them; false where one is not found
bool diagonalize(Grid &z, std::int64_t k, Numbers &d, Numbers &e) {
    Numbers cosines(at(k)), sines(at(k));
    double least = 0;
    for (std::int64_t i = 0; i < k; ++i) least = std::max(least, LEAST * (std::fabs(d[at(i)]) + std::fabs(e[at(i)])));
    for (std::int64_t first = 0, last; first < k; first = last + 1) {
        for (last = first; last + 1 < k && !is_cut(d, e, last, least);) ++last;
        if (std::fabs(d[at(last)]) < std::fabs(d[at(first)])) turn_round(z, first, last, d, e);
        for (std::int64_t l = first; l < last; ++l) {
            double bound = least;
            for (int round = 0;; ++round) {
                std::int64_t m = l;
                if (round > PATIENCE) bound *= 2;
                while (m < last && !is_cut(d, e, m, bound)) ++m;
                if (m == l) break;
                if (round == ROUNDS) return false;
                stop_if_asked();
                step(z, l, m, d, e, cosines, sines);
            }
        }
    }
    return true;
}

inline double scaled(double x, int power) { return x * std::ldexp(1., power / 2) * std::ldexp(1., power - power / 2); }

// The lower triangle of `a` counts. The largest entry is brought to 1 ... 2 by a power of two, and back.
bool eigh(const double *a, std::int64_t k, double *values, double *vectors) {
    std::int64_t stride = (k + SUM_LANES - 1) / SUM_LANES * SUM_LANES;
    if (stride % 64 == 0) stride += SUM_LANES;  // rows a power of two apart would share a few sets of the cache
    double largest = 0;
    for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t j = 0; j <= i; ++j) largest = std::max(largest, std::fabs(a[i * k + j]));
    const int power = largest > 0 ? std::ilogb(largest) : 0;
    Grid matrix(k, stride), reflectors(k, stride), basis(k, stride);
    for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t j = 0; j <= i; ++j) matrix.row(i)[j] = matrix.row(j)[i] = scaled(a[i * k + j], -power);
    Numbers factors(at(k)), d(at(k)), e(at(k));
    make_tridiagonal(matrix, k, reflectors, factors, d, e);
    make_basis(basis, k, reflectors, factors);
    Grid &z = reflectors;  // done with: now the columns of Q, as rows
    for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t j = 0; j < k; ++j) z.row(j)[i] = basis.row(i)[j];
    if (!diagonalize(z, k, d, e)) return false;
    std::vector<std::int64_t> order(at(k));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) { return d[at(i)] < d[at(j)]; });
    for (std::int64_t j = 0; j < k; ++j) {
        values[j] = scaled(d[at(order[at(j)])], power);
        for (std::int64_t i = 0; i < k; ++i) vectors[i * k + j] = z.row(order[at(j)])[i];
    }
    return true;
}

}  // namespace exact_eigen
}  // namespace

void JOIN(fill_eigen_, VARIANT)(Exact &table) {
    using namespace exact_eigen;
    table.eigh = eigh;
}
