// What the arithmetic works on: plain views of arrays that Python owns, and one table of functions for each
// instruction set.
#pragma once
#include <cstdint>

// How a tall matrix (n x k, row after row, columns padded to a multiple of 32) is stored.
enum class Kind : std::uint8_t {
    single,    // float32
    half,      // bfloat16: what products gather
    signs,     // one bit an entry, +1 or -1: the random sketch
};

struct Tall {
    void *data = nullptr;
    Kind kind = Kind::single;
    std::int64_t rows = 0;
    std::int64_t columns = 0;  // padded; the distance between rows is `stride` elements (words of 32 bits for signs)
    std::int64_t stride = 0;
    const std::int32_t *places =
        nullptr;  // row i stands in place places[i] (null: in its own); of what is rotated only
};

// A sparse operator whose entries are formed in a register:
//   entry(i, j) = row_scale[i] * (value[p] + constant + row_shift[i] + column_shift[j]) * column_scale[j]
// on the stored pattern, plus row_scale[i] * loop * column_scale[i + diagonal] at (i, i + diagonal).
// A part of a larger matrix has its columns from first_column on: j counts from there, in the pattern it does not.
struct Operator {
    std::int64_t rows = 0;
    const std::int32_t *list = nullptr;    // of some rows of a larger one: which (null: all, one after the other)
    const std::int64_t *starts = nullptr;  // row i has the entries from starts[i]
    const std::int64_t *stops = nullptr;   // to before stops[i]
    const std::int32_t *indices = nullptr;
    std::int64_t entries = 0;              // in `indices`
    std::int64_t first_column = 0;
    std::int64_t diagonal = 0;
    const float *value = nullptr;         // one for each entry; null: zero
    const float *row_shift = nullptr;     // null: zero
    const float *column_shift = nullptr;  // null: zero
    const float *row_scale = nullptr;     // null: one
    const float *column_scale = nullptr;  // null: one
    float constant = 0;
    float loop = 0;
    const std::int32_t *loop_places = nullptr;  // entries of each row before its loop (null: those of lower columns)
};

// What happens to a block of fresh rows, while it is in the cache.
struct Finish {
    Tall onto;              // a product's sums go on from those in here (no data: from zero),
    float scale = 1;        // each product's entry is multiplied by this,
    Tall plus;              // then plus_scale * the same rows of `plus` is added (no data: nothing is),
    float plus_scale = 0;
    const float *shift = nullptr;    // then this row (columns) is taken away from each that is not zero,
    bool unit = false;               // then scaled to length 1 (a zero row stays zero),
    double *gram = nullptr;  // then their Gram matrix (columns x columns) is added here, and to what was rounded off,
    double *sums = nullptr;  // and their sums (columns) here: two of each,
    const float *weights = nullptr;  // each row counted so many times (null: once),
    const float *rotation = nullptr;  // then they are multiplied by this (columns x columns, null: not),
    const float *after =
        nullptr;  // this row is taken away from each that is not zero, and they are scaled to length 1,
    Tall out;  // and they are written here (no data: nowhere),
    const std::int32_t *order = nullptr;  // row i in place order[i] (null: in its own),
    bool in_place = false;  // where the rows came from,
    const Operator *only = nullptr;  // except rows without entries of this operator (null: all are).
};

struct Arithmetic {
    const char *name;
    // out <- finish(operator @ x)
    void (*apply)(const Operator &, const Tall &x, const Finish &, int threads);
    // out <- finish(x @ rotation); rotation is columns x columns float32, upper triangular if said; null: the identity
    void (*rotate)(const Tall &x, const float *rotation, bool triangular, const Finish &, int threads);
};

const Arithmetic &arithmetic_baseline();
#ifdef GRAPHREFINE_X86
const Arithmetic &arithmetic_avx2();
const Arithmetic &arithmetic_avx512();
#endif
