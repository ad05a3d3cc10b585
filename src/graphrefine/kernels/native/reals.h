// Vectors of doubles, and sums of products in an order of their own; for files that are compiled once for each VARIANT.
//
// There is no fma here: a product is rounded, then the sum.
#pragma once

#include "vectors.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace {

constexpr int D = W / 2;  // doubles in a vector
typedef double Reals __attribute__((vector_size(D * 8)));
typedef std::int64_t Wholes __attribute__((vector_size(D * 8)));
typedef std::uint64_t Bits __attribute__((vector_size(D * 8)));
typedef float HalfFloats __attribute__((vector_size(D * 4)));  // as many floats as a vector has doubles

constexpr std::int64_t SUM_LANES = 16;  // partial sums of a dot product, for any width of vectors

inline Reals fill(double x) { return x - Reals{}; }

inline Reals widened(const double *x) { return load<Reals>(x); }
inline Reals widened(const float *x) { return __builtin_convertvector(load<HalfFloats>(x), Reals); }

// sum_i x[i] y[i] in float64: lane l has the products of the places i = l, l + 16, l + 32 ... in their order, then the upper
// half of the lanes is added to the lower one until one is left. A product of two floats is exact.
template <class Number> double dot_lanes(const Number *x, const Number *y, std::int64_t count) {
    Reals sum[SUM_LANES / D] = {};
    std::int64_t i = 0;
    for (; i + SUM_LANES <= count; i += SUM_LANES)
        for (int q = 0; q < SUM_LANES / D; ++q) sum[q] += widened(x + i + q * D) * widened(y + i + q * D);
    double lanes[SUM_LANES];
    for (int q = 0; q < SUM_LANES / D; ++q) store(lanes + q * D, sum[q]);
    for (std::int64_t l = 0; i + l < count; ++l)
        lanes[l] += static_cast<double>(x[i + l]) * static_cast<double>(y[i + l]);
    for (std::int64_t half = SUM_LANES / 2; half; half /= 2)
        for (std::int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    return lanes[0];
}

template <class Number> std::unique_ptr<Number, decltype(&std::free)> aligned(std::int64_t count) {
    void *memory = nullptr;
    if (posix_memalign(&memory, 64, static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(Number)))
        throw std::bad_alloc();
    std::memset(memory, 0, static_cast<std::size_t>(count) * sizeof(Number));
    return {static_cast<Number *>(memory), &std::free};
}

}  // namespace
