// Vectors of floats as wide as an instruction set has them, for files that are compiled once for each (VARIANT).
//
// Every variant gives the same bits. Each operation of a vector is rounded as IEEE 754 says, the compiler joins none of them
// (-ffp-contract=off), and a product and a sum in one rounding are written as `fma`, which processors without one emulate.
// What is left to the files is the order of sums: it must not depend on W.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)

namespace {  // each file has its own: W differs between them

#if defined(__AVX512F__)
constexpr int W = 16;  // floats in a vector
#elif defined(__AVX2__)
constexpr int W = 8;
#else
constexpr int W = 4;
#endif
typedef float Floats __attribute__((vector_size(W * 4)));

template <class V> inline V load(const void *from) {
    V v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
template <class V> inline void store(void *to, V v) { std::memcpy(to, &v, sizeof v); }
inline Floats broadcast(float x) { return x - Floats{}; }  // x - 0 is x for every x, so nothing is computed

#if defined(__AVX512F__)
inline Floats fma(Floats a, Floats b, Floats c) { return (Floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
#elif defined(__FMA__)
inline Floats fma(Floats a, Floats b, Floats c) { return (Floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#elif defined(__aarch64__)
inline Floats fma(Floats a, Floats b, Floats c) { return (Floats)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
#else
// a * b + c, rounded once, without an instruction for it. The product of two floats is exact as a double; its sum with c is
// rounded to odd (to the neighbour whose last bit is 1, if it is not exact), which the rounding to a float does not notice
// (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
typedef double Doubles __attribute__((vector_size(W * 8)));
typedef std::int64_t Longs __attribute__((vector_size(W * 8)));
inline Floats fma(Floats a, Floats b, Floats c) {
    const Doubles product = __builtin_convertvector(a, Doubles) * __builtin_convertvector(b, Doubles);
    const Doubles other = __builtin_convertvector(c, Doubles);
    const Doubles sum = product + other, part = sum - product;
    const Doubles error = (product - (sum - part)) + (other - part);  // of the sum, exactly (Knuth)
    const Longs bits = (Longs)sum, inexact = (error > 0.) | (error < 0.);
    const Longs away = ((error > 0.) ^ (sum < 0.)) | 1;  // -1: the exact sum is further from zero than the rounded one
    const Longs step = inexact & ((bits & 1) - 1) & -away;
    return __builtin_convertvector((Doubles)(bits + step), Floats);
}
#endif

}  // namespace
