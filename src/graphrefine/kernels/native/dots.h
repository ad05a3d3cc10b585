// Dot products whose order of sums is the same in every variant.
//
// Column c of a row (padded to a multiple of 32) is added to the partial sum c mod 32; the 32 are then folded in halves: 32, 16,
// 8 and 4 of them, then two and two.
#pragma once

#include "vectors.h"

namespace {

constexpr int DOT_LANES = 32, CHAINS = DOT_LANES / W;  // partial sums, and the vectors that hold them
typedef float Four __attribute__((vector_size(16)));
typedef float Eight __attribute__((vector_size(32)));

#if defined(__FMA__)
inline Eight fused(Eight a, Eight b, Eight c) { return (Eight)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#else
inline Eight fused(Eight a, Eight b, Eight c) {
    const Floats low = fma(__builtin_shufflevector(a, a, 0, 1, 2, 3), __builtin_shufflevector(b, b, 0, 1, 2, 3),
                           __builtin_shufflevector(c, c, 0, 1, 2, 3));
    const Floats high = fma(__builtin_shufflevector(a, a, 4, 5, 6, 7), __builtin_shufflevector(b, b, 4, 5, 6, 7),
                            __builtin_shufflevector(c, c, 4, 5, 6, 7));
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}
#endif

inline Four folded(const Floats *sums) {  // four numbers that add up to the sum of all 32
#if defined(__AVX512F__)
    const Floats v = sums[0] + sums[1];
    const Eight half = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                       __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    return __builtin_shufflevector(half, half, 0, 1, 2, 3) + __builtin_shufflevector(half, half, 4, 5, 6, 7);
#elif defined(__AVX2__)
    const Floats half = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    return __builtin_shufflevector(half, half, 0, 1, 2, 3) + __builtin_shufflevector(half, half, 4, 5, 6, 7);
#else
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
#endif
}

inline Four totals(Four a, Four b, Four c, Four d) {  // the sums of each
    const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

// The dot products of one row with T others, four numbers each that add up to one; as many at a time as registers hold.
template <int T> inline void partial_dots(const float *x, const float *const *rows, std::int64_t columns, Four *out) {
    constexpr int MOST = W == 16 ? 4 : 2, NOW = T < MOST ? T : MOST;
    Floats sums[NOW][CHAINS];
    for (int t = 0; t < NOW; ++t)
        for (int chain = 0; chain < CHAINS; ++chain) sums[t][chain] = Floats{};
    std::int64_t c = 0;
    do {  // there is a column at least: told so, the compiler keeps the sums in registers
        for (int chain = 0; chain < CHAINS; ++chain) {
            const Floats own = load<Floats>(x + c + chain * W);
            for (int t = 0; t < NOW; ++t)
                sums[t][chain] = fma(own, load<Floats>(rows[t] + c + chain * W), sums[t][chain]);
        }
    } while ((c += DOT_LANES) < columns);
    for (int t = 0; t < NOW; ++t) out[t] = folded(sums[t]);
    if constexpr (T > NOW) partial_dots<T - NOW>(x, rows + NOW, columns, out + NOW);
}

// The dot products of one row with up to four others; zero beyond.
template <int T> inline Four dots(const float *x, const float *const *rows, std::int64_t columns) {
    Four part[4] = {};
    partial_dots<T>(x, rows, columns, part);
    return totals(part[0], part[1], part[2], part[3]);
}

}  // namespace
