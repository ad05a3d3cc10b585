// What the rows of weighted least squares are solved from; compiled once for each instruction set.
#pragma once

#include <cstdint>

// Row i of `solution` is brought towards the solution v of (sum of weight z z^T + diagonal) v = sum of weight z, over the entries
// of row i, z the row of `others` that an entry names. The diagonal is missing[i] * diagonal[0] + totals[i] * diagonal[1].
struct Equations {
    std::int64_t rows = 0;
    const std::int64_t *indptr = nullptr;
    const std::int32_t *indices = nullptr;
    const float *weights = nullptr;  // one for each entry
    const float *others = nullptr;   // m x columns; columns are a multiple of 32, the padding is zero
    std::int64_t columns = 0;
    const double *missing = nullptr, *totals = nullptr;  // one for each row
    const double *diagonal = nullptr;                    // 2 x columns, above zero where padded
    float *solution = nullptr;                           // n x columns, what the steps begin with
    std::int64_t steps = 0;                              // of conjugate gradients,
    std::int64_t hub = 0;  // for rows of at most so many entries; others are solved directly
};

using Solve = void (*)(const Equations &, std::int64_t first, std::int64_t last);

void solve_rows_baseline(const Equations &, std::int64_t first, std::int64_t last);
#ifdef GRAPHREFINE_X86
void solve_rows_avx2(const Equations &, std::int64_t first, std::int64_t last);
void solve_rows_avx512(const Equations &, std::int64_t first, std::int64_t last);
#endif
