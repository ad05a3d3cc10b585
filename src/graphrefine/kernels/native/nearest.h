// What a search for the nearest rows works on; compiled once for each instruction set.
#pragma once

#include <cstdint>

constexpr std::int64_t GROUP = 6;  // queries that are scored beside each other

// The score of a query and a row is (query . row) * scale[row] + added[row].
struct Catalog {
    const float *data = nullptr;
    std::int64_t count = 0, columns = 0, stride = 0;  // a row begins `stride` floats after the one before
    const float *scale = nullptr;                     // null: one
    const float *added = nullptr;                     // null: zero
};

struct Queries {
    const float *packed = nullptr;  // group after group, column after column, GROUP numbers each
    std::int64_t count = 0;
    const std::int64_t *bounds = nullptr;   // rows that query i must not find: left_out[bounds[i]] to before
    const std::int64_t *left_out = nullptr;  // left_out[bounds[i + 1]], ascending; null: none
};

// The best so far, `keep` for each query as a heap with the worst on top; a place that is free has the row -1.
struct Best {
    float *scores = nullptr;
    std::int64_t *rows = nullptr;
    std::int64_t keep = 0;
};

// Looks at the rows from `first` to before `last`, which come after all that `best` has seen.
using Scan = void (*)(const Catalog &, const Queries &, const Best &, std::int64_t first, std::int64_t last);

void scan_baseline(const Catalog &, const Queries &, const Best &, std::int64_t first, std::int64_t last);
#ifdef GRAPHREFINE_X86
void scan_avx2(const Catalog &, const Queries &, const Best &, std::int64_t first, std::int64_t last);
void scan_avx512(const Catalog &, const Queries &, const Best &, std::int64_t first, std::int64_t last);
#endif
