// Vectors of floats as wide as an instruction set has them, for files that are compiled once for each (VARIANT).
#pragma once

#include <cstring>

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

}  // namespace
