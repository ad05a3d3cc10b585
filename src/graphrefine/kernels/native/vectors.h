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
inline Floats fma(Floats a, Floats b, Floats c) {
    return (Floats)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
#else
// a * b + c, rounded once, without an instruction for it. The product of two floats is exact as a double; its sum with c is
// rounded to odd (to the neighbor whose last bit is 1, if it is not exact), which the rounding to a float does not notice
// (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
typedef double Doubles __attribute__((vector_size(W * 8)));
typedef std::int64_t Longs __attribute__((vector_size(W * 8)));
#if defined(__x86_64__)
__attribute__((noinline))
#endif
inline Floats fma_by_odd(Floats a, Floats b, Floats c) {
    const Doubles product = __builtin_convertvector(a, Doubles) * __builtin_convertvector(b, Doubles);
    const Doubles other = __builtin_convertvector(c, Doubles);
    const Doubles sum = product + other, part = sum - product;
    const Doubles error = (product - (sum - part)) + (other - part);  // of the sum, exactly (Knuth)
    const Longs bits = (Longs)sum, inexact = (error > 0.) | (error < 0.);
    const Longs away = ((error > 0.) ^ (sum < 0.)) | 1;  // -1: the exact sum is further from zero than the rounded one
    const Longs step = inexact & ((bits & 1) - 1) & -away;
    return __builtin_convertvector((Doubles)(bits + step), Floats);
}
#if defined(__x86_64__)
// Nearly always the double can be rounded as it is: it is neither halfway between two floats (the last 29 bits are a one and
// zeros) nor so small that floats there are further apart (but not zero).
inline Floats fma(Floats a, Floats b, Floats c) {
    const __m128 x = (__m128)a, y = (__m128)b, z = (__m128)c;
    const __m128d low = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(x), _mm_cvtps_pd(y)), _mm_cvtps_pd(z));
    const __m128d high = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(_mm_movehl_ps(x, x)), _mm_cvtps_pd(_mm_movehl_ps(y, y))),
                                    _mm_cvtps_pd(_mm_movehl_ps(z, z)));
    const __m128i last =
        _mm_castps_si128(_mm_shuffle_ps(_mm_castpd_ps(low), _mm_castpd_ps(high), _MM_SHUFFLE(2, 0, 2, 0)));
    const __m128i first =
        _mm_castps_si128(_mm_shuffle_ps(_mm_castpd_ps(low), _mm_castpd_ps(high), _MM_SHUFFLE(3, 1, 3, 1)));
    const __m128i halfway = _mm_cmpeq_epi32(_mm_slli_epi32(last, 3), _mm_set1_epi32(static_cast<int>(0x80000000u)));
    const __m128i size = _mm_and_si128(first, _mm_set1_epi32(0x7fffffff));
    const __m128i small =
        _mm_andnot_si128(_mm_cmpeq_epi32(size, _mm_setzero_si128()), _mm_cmplt_epi32(size, _mm_set1_epi32(0x38100000)));
    if (__builtin_expect(_mm_movemask_epi8(_mm_or_si128(halfway, small)), 0)) return fma_by_odd(a, b, c);
    return (Floats)_mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}
#else
inline Floats fma(Floats a, Floats b, Floats c) { return fma_by_odd(a, b, c); }
#endif
#endif

}  // namespace
