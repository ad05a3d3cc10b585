// What the rows of live vectors are made by; compiled once for each instruction set. Every number is rounded as IEEE 754 says
// and sums have one order, so that all variants give the same bits.
#pragma once

#include <cstdint>

struct LiveArithmetic {
    // sum <- sum over the entries of factor * row, in float64 over pieces of 128 entries, each in float32
    void (*sum_rows)(const std::int32_t *indices, const float *factors, std::int64_t count, const float *rows, std::int64_t columns, double *sum);
    // the same in float64 alone: q may be far shorter than what it is the sum of
    void (*sum_precisely)(const std::int32_t *indices, const double *factors, std::int64_t count, const float *rows, std::int64_t columns, double *sum);
    // sum <- sum + factor * row
    void (*add_row)(double *sum, double factor, const float *row, std::int64_t columns);
    void (*add_step)(double *sum, double factor, const double *step, std::int64_t columns);
    // row <- (a target + b sum) scale, and step <- how far it moved
    void (*make_state)(const float *target, double a, const double *sum, double b, double scale, std::int64_t columns, float *row, double *step);
    // out <- x @ matrix (columns, columns)
    void (*rotate)(const double *x, const double *matrix, std::int64_t columns, double *out);
    // length of a x + b y + c z
    double (*length)(const float *x, double a, const float *y, double b, const float *z, double c, std::int64_t columns);
};

const LiveArithmetic &live_arithmetic_baseline();
#ifdef GRAPHREFINE_X86
const LiveArithmetic &live_arithmetic_avx2();
const LiveArithmetic &live_arithmetic_avx512();
#endif
