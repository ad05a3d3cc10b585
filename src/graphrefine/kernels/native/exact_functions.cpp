// Elementary functions from + - * / and polynomials alone, compiled once for each instruction set (VARIANT).
//
// Every step is written with its rounding: no fma in float64. Results are within 1 ulp, those
// of `expm1` and of `power` beyond |p| = 16 within 2.
#include "exact.h"
#include "reals.h"

#include <cmath>
#include <limits>

namespace {
namespace exact_functions {

constexpr double INF = std::numeric_limits<double>::infinity(), NOT = std::numeric_limits<double>::quiet_NaN();
constexpr double LN2_HIGH = 0x1.62e42fefa2000p-1,
                 LN2_LOW = 0x1.9ef35793c7673p-41;  // 40 bits, so that n LN2_HIGH is exact
constexpr double LOG2_E = 0x1.71547652b82fep+0;
constexpr double ROUNDER = 0x1.8p52;  // x + ROUNDER - ROUNDER is the whole number nearest to x, which its last bits are
constexpr std::int64_t ONE = 0x3ff0000000000000, ROOT_HALF = 0x3fe6a09e667f3bcd;  // bits of 1 and sqrt(1/2)
constexpr std::int64_t FRACTION = 0x000fffffffffffff, SHIFTED = 0x4330000000000000;  // bits of a fraction; of 2^52

// 2 / 3, 2 / 5, 2 / 7 ...: log((1 + s) / (1 - s)) = s (2 + 2/3 s^2 + 2/5 s^4 + ...)
constexpr double ODD[] = {2. / 3, 2. / 5, 2. / 7, 2. / 9, 2. / 11, 2. / 13, 2. / 15, 2. / 17, 2. / 19, 2. / 21};
// 1 / 2!, 1 / 3! ...
constexpr double INVERSE[] = {1. / 2,     1. / 6,      1. / 24,      1. / 120,      1. / 720,       1. / 5040,
                              1. / 40320, 1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800};

// c[0] + x (c[1] + x (c[2] + ...)), from the last one on
template <int N> inline Reals horner(Reals x, const double (&c)[N]) {
    Reals sum = fill(c[N - 1]);
    for (int i = N - 2; i >= 0; --i) sum = c[i] + x * sum;
    return sum;
}

struct Split {  // x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2)
    Reals k, f;
};

inline Split split(Reals x) {  // x > 0 and finite
    const Wholes small = x < 0x1p-1022;
    const Bits bits = (Bits)(small ? x * 0x1p54 : x) + static_cast<std::uint64_t>(ONE - ROOT_HALF);
    const Reals power = (Reals)((bits >> 52) | static_cast<std::uint64_t>(SHIFTED)) - (0x1p52 + 1023.);
    const Reals whole = (Reals)((bits & static_cast<std::uint64_t>(FRACTION)) + static_cast<std::uint64_t>(ROOT_HALF));
    return {small ? power - 54. : power, whole - 1.};
}

// k ln 2 + log(1 + f) + c: with s = f / (2 + f) and h = f^2 / 2, log(1 + f) = f - (h - s (h + series))
inline Reals log_of(Split x, Reals c) {
    const Reals s = x.f / (2. + x.f), z = s * s, series = z * horner(z, ODD), h = 0.5 * x.f * x.f;
    return x.k * LN2_HIGH - ((h - (s * (h + series) + (x.k * LN2_LOW + c))) - x.f);
}

inline Reals logarithm(Reals x) {
    const Wholes usual = (x > 0.) & (x < INF);
    const Reals result = log_of(split(usual ? x : fill(1.)), Reals{});
    return usual ? result : x == 0. ? fill(-INF) : x == INF ? x : fill(NOT);
}

// log(u) + c / u, u = 1 + x rounded and c the rest of x; near 1, f = x and nothing is lost
inline Reals logarithm_next_to_one(Reals x) {
    const Wholes usual = (x > -1.) & (x < INF);
    const Reals y = usual ? x : Reals{}, u = 1. + y;
    Split parts = split(u);
    const Wholes near = parts.k == 0.;
    const Reals rest = u > 2. ? 1. - (u - y) : y - (u - 1.);
    parts.f = near ? y : parts.f;
    const Reals result = log_of(parts, near ? Reals{} : rest / u);
    return usual ? (x == 0. ? x : result) : x == -1. ? fill(-INF) : x == INF ? x : fill(NOT);
}

struct Exponent {  // e^(x + rest) = 2^n (1 + e)
    Wholes n;
    Reals e;
};

inline Exponent exponent_of(Reals x, Reals rest) {  // |x| <= 800
    const Reals shifted = x * LOG2_E + ROUNDER, n = shifted - ROUNDER;
    const Reals high = x - n * LN2_HIGH, low = rest - n * LN2_LOW, r = high + low, part = r - high;
    const Reals c = (high - (r - part)) + (low - part);  // what the sum r has lost
    return {(Wholes)shifted - (Wholes)fill(ROUNDER), r + (c + r * r * horner(r, INVERSE))};
}

inline Reals power_of_two(Wholes n) { return (Reals)((n + 1023) << 52); }

inline Reals scaled(Reals x, Wholes n) {  // 2^n x, rounded once, for -2000 < n < 2000
    const Wholes half = (Wholes)((Bits)(n + 4096) >> 1) - 2048;
    return x * power_of_two(half) * power_of_two(n - half);
}

inline Reals clamped(Reals x) { return x > 800. ? fill(800.) : x < -800. ? fill(-800.) : x; }

inline Reals exponential(Reals x) {
    const Exponent parts = exponent_of(x == x ? clamped(x) : Reals{}, Reals{});
    return x == x ? scaled(1. + parts.e, parts.n) : x;
}

// 2^n ((1 - 2^-n) + e); 1 - 2^-n is exact where it matters
inline Reals exponential_less_one(Reals x) {
    const Exponent parts = exponent_of(x == x ? clamped(x) : Reals{}, Reals{});
    const Wholes low = parts.n < -1000;
    const Reals result =
        scaled((1. - power_of_two(low ? Wholes{} + 1000 : -parts.n)) + parts.e, low ? Wholes{} - 1000 : parts.n);
    return (x == x) & (x != 0.) ? result : x;
}

struct Pair {  // a number in two parts: high + low
    Reals high, low;
};

inline Pair product(Reals a, Reals b) {  // exactly (Dekker)
    const Reals p = a * b, u = a * 0x1.0000002p27, v = b * 0x1.0000002p27;
    const Reals a1 = u - (u - a), a2 = a - a1, b1 = v - (v - b), b2 = b - b1;
    return {p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

inline Pair log_pair(Reals x) {  // x > 0 and finite
    const Split parts = split(x);
    const Reals f = parts.f, q = 2. + f, q_low = f - (q - 2.), s = f / q;
    const Pair back = product(s, q);
    const Reals s_low = (((f - back.high) - back.low) - s * q_low) / q;
    const Reals z = s * s, series = s * (z * horner(z, ODD));
    const Reals a = parts.k * LN2_HIGH, b = 2. * s, sum = a + b, part = sum - a;
    const Reals low = ((a - (sum - part)) + (b - part)) + (2. * s_low + series + parts.k * LN2_LOW);
    const Reals high = sum + low;
    return {high, low - (high - sum)};
}

// x^p for any x >= 0, inf and NaN among them; `p` is finite and neither 0 nor one of those that `raise` knows
inline Reals general_power(Reals x, double p) {
    const Wholes usual = (x > 0.) & (x < INF);
    const Pair logs = log_pair(usual ? x : fill(1.));
    const double factor = std::min(std::max(p, -0x1p64), 0x1p64);
    const Pair y = product(fill(factor), logs.high);
    const Reals near = clamped(y.high);
    const Exponent parts = exponent_of(near, near == y.high ? y.low + factor * logs.low : Reals{});
    const Reals result = scaled(1. + parts.e, parts.n);
    return usual ? result : x == 0. ? fill(p > 0 ? 0. : INF) : x == INF ? fill(p > 0 ? INF : 0.) : fill(NOT);
}

// Of a negative number where p is whole; of -0 and -inf as of 0 and inf, with their sign where p is odd.
inline Reals signed_power(Reals x, double p) {
    const bool whole = std::floor(p) == p, odd = whole && std::fabs(p) < 0x1p53 && std::fmod(p, 2.) != 0.;
    const Bits sign = (Bits)x & 0x8000000000000000u;
    const Reals size = general_power((Reals)((Bits)x ^ sign), p);
    if (whole) return odd ? (Reals)((Bits)size | sign) : size;
    return (x < 0.) & (x > -INF) ? fill(NOT) : size;
}

inline Reals root(Reals x) {
    for (int i = 0; i < D; ++i) x[i] = std::sqrt(x[i]);
    return x;
}

template <class Each> void over(const double *x, double *out, std::int64_t count, Each each) {
    std::int64_t i = 0;
    for (; i + D <= count; i += D) store(out + i, each(load<Reals>(x + i)));
    if (i < count) {
        double rest[D];
        std::fill_n(rest, D, 1.);
        std::copy(x + i, x + count, rest);
        store(rest, each(load<Reals>(rest)));
        std::copy(rest, rest + (count - i), out + i);
    }
}

void raise(const double *x, double p, double *out, std::int64_t count) {
    if (p == 0.) std::fill_n(out, count, 1.);
    else if (p == 1.) std::copy(x, x + count, out);
    else if (p == 2.) over(x, out, count, [](Reals a) { return a * a; });
    else if (p == -1.) over(x, out, count, [](Reals a) { return 1. / a; });
    else if (p == 0.5) over(x, out, count, root);
    else if (p == -0.5)
        over(x, out, count, [](Reals a) { return a == 0. ? fill(INF) : a == -INF ? Reals{} : 1. / root(a); });
    else over(x, out, count, [p](Reals a) { return signed_power(a, p); });
}

void evaluate(Function function, const double *x, double exponent, double *out, std::int64_t count) {
    switch (function) {
    case Function::log:
        return over(x, out, count, logarithm);
    case Function::log1p:
        return over(x, out, count, logarithm_next_to_one);
    case Function::exp:
        return over(x, out, count, exponential);
    case Function::expm1:
        return over(x, out, count, exponential_less_one);
    case Function::power:
        return raise(x, exponent, out, count);
    }
}

// ---- float32 -----------------------------------------------------------------------------------------------------------

typedef std::int32_t Integers __attribute__((vector_size(W * 4)));

// (log(1 + f) - f + f^2 / 2) / f^3 for sqrt(1/2) - 1 <= f <= sqrt(2) - 1: the least largest error of log(1 + f), 6e-9 of it
constexpr float CUBIC[] = {0x1.555554p-2f, -0x1.000226p-2f, 0x1.99a008p-3f, -0x1.547244p-3f,
                           0x1.22da1cp-3f, -0x1.0d8542p-3f, 0x1.055b6ap-3f, -0x1.38b58p-4f};
constexpr float LN2_UPPER = 0x1.62e4p-1f, LN2_LOWER = 0x1.7f7d1cp-20f;
constexpr std::int32_t ONE32 = 0x3f800000, ROOT_HALF32 = 0x3f3504f3;

// With k and f as above: k LN2_UPPER + (k LN2_LOWER + (f + (f^3 cubic - f^2 / 2))), products and sums by fma
inline Floats log_float(Floats x, Floats least) {
    const Floats y = x > least ? x : least;
    const Integers bits = (Integers)y + (ONE32 - ROOT_HALF32);
    const Integers power = (bits >> 23) - 127;
    const Floats k = __builtin_convertvector(power, Floats);
    const Floats f = (Floats)((bits & 0x007fffff) + ROOT_HALF32) - 1.f;
    Floats cubic = broadcast(CUBIC[7]);
    for (int i = 6; i >= 0; --i) cubic = fma(cubic, f, broadcast(CUBIC[i]));
    const Floats square = f * f;
    const Floats bend = fma(cubic, f, broadcast(-0.5f));
    const Floats near = fma(square, bend, f);
    const Floats result = fma(k, broadcast(LN2_UPPER), fma(k, broadcast(LN2_LOWER), near));
    return y < std::numeric_limits<float>::infinity() ? result : y;
}

void log_at_least(float *x, float least, std::int64_t count) {
    const Floats bound = broadcast(least);
    std::int64_t i = 0;
    for (; i + W <= count; i += W) store(x + i, log_float(load<Floats>(x + i), bound));
    if (i < count) {
        float rest[W] = {};
        std::copy(x + i, x + count, rest);
        store(rest, log_float(load<Floats>(rest), bound));
        std::copy(rest, rest + (count - i), x + i);
    }
}

}  // namespace exact_functions
}  // namespace

void JOIN(fill_functions_, VARIANT)(Exact &table) {
    using namespace exact_functions;
    table.evaluate = evaluate;
    table.log_at_least = log_at_least;
}
