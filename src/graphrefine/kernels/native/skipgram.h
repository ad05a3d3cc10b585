// What a training step works on; compiled once for each instruction set.
#pragma once

#include <cstdint>

constexpr std::int64_t SLACK = 8;

struct Tables {
    float *centers, *contexts;  // n x columns each; columns are a multiple of 32, the padding is zero
    std::int64_t columns;
    bool far;  // larger than the cache: rows are fetched ahead
};

// Trains on a stream of groups: a center, a count, and so many words target * 2 + (1 if it is a context, 0 if it is noise).
// SLACK words after the last group can be read.
using Train = void (*)(const Tables &, const std::uint32_t *stream, std::int64_t size, float rate);

void train_baseline(const Tables &, const std::uint32_t *stream, std::int64_t size, float rate);
#ifdef GRAPHREFINE_X86
void train_avx2(const Tables &, const std::uint32_t *stream, std::int64_t size, float rate);
void train_avx512(const Tables &, const std::uint32_t *stream, std::int64_t size, float rate);
#endif
