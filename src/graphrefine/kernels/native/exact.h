// Exact algebra: elementary functions, products and factors whose bits are the same on every processor. One table of
// functions for each instruction set; the formulas and the orders of sums are in the files named below.
#pragma once
#include <cstdint>

enum class Function : std::uint8_t { log, log1p, exp, expm1, power };

struct Exact {
    // exact_functions.cpp: out[i] <- function(x[i]); the exponent is for `power`.
    void (*evaluate)(Function, const double *x, double exponent, double *out, std::int64_t count);
    // x[i] <- log(max(x[i], least)), in float32; `least` is no less than the smallest normal number
    void (*log_at_least)(float *x, float least, std::int64_t count);

    // exact_products.cpp: rows of a (rows, depth) @ b (depth, columns), row after row; rows from `begin` to before `end`.
    // `panels` is what pack_* makes of b, of panels_* elements.
    std::int64_t (*panels64)(std::int64_t depth, std::int64_t columns);
    std::int64_t (*panels32)(std::int64_t depth, std::int64_t columns);
    void (*pack64)(const double *b, std::int64_t depth, std::int64_t columns, double *panels);
    void (*pack32)(const float *b, std::int64_t depth, std::int64_t columns, float *panels);
    void (*multiply64)(const double *a, const double *panels, std::int64_t depth, std::int64_t columns, double *out,
                       std::int64_t begin, std::int64_t end);
    void (*multiply32)(const float *a, const float *panels, std::int64_t depth, std::int64_t columns, float *out,
                       std::int64_t begin, std::int64_t end);
    // gram (k, k) <- x^T x; the work of one of `threads`, of which each has some panels of columns
    void (*gram)(const float *x, std::int64_t rows, std::int64_t k, double *gram, int thread, int threads);
    double (*dot64)(const double *x, const double *y, std::int64_t count);
    double (*dot32)(const float *x, const float *y, std::int64_t count);

    // exact_factors.cpp; all matrices are row after row, and overwritten where they are not const
    bool (*cholesky)(double *a, std::int64_t k);  // a <- L, zeros above; false where a pivot is not positive
    void (*solve_lower)(const double *lower, std::int64_t k, double *b, std::int64_t columns);
    void (*solve_upper)(const double *lower, std::int64_t k, double *b,
                        std::int64_t columns);  // with the transpose of L
    void (*householder)(double *turned, std::int64_t columns, std::int64_t rows);  // rows of `turned` <- those of Q^T

    // exact_eigen.cpp: a (k, k) symmetric; vectors' columns; false where there are too many rounds
    bool (*eigh)(const double *a, std::int64_t k, double *values, double *vectors);
};

#define EXACT_VARIANT(name)                                                                                            \
    void fill_functions_##name(Exact &);                                                                               \
    void fill_products_##name(Exact &);                                                                                \
    void fill_factors_##name(Exact &);                                                                                 \
    void fill_eigen_##name(Exact &);
EXACT_VARIANT(baseline)
#ifdef GRAPHREFINE_X86
EXACT_VARIANT(avx2)
EXACT_VARIANT(avx512)
#endif
