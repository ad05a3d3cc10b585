// Scores of queries with rows, and the best of them, compiled once for each instruction set (VARIANT).
//
// A panel of rows, turned so that a vector holds one column of several rows, stays in the nearest cache while all queries
// pass by, a few at a time in registers. A score is summed column after column, so its bits do not depend on where the row
// stands, on how many queries there are or on threads; equal rows have equal scores.
#include "nearest.h"
#include "vectors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {
namespace nearest_scan {

constexpr int LANES = 2 * W;  // rows in a panel
typedef float Four __attribute__((vector_size(16)));

// In one rounding where there is an instruction for it. Scores are no vectors: they may differ in their last bits.
inline Floats joined(Floats a, Floats b, Floats c) {
#if defined(__FMA__) || defined(__aarch64__)
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

inline unsigned above(Floats scores, float least) {  // one bit for each score that is
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)scores, _mm512_set1_ps(least), _CMP_GT_OQ);
#elif defined(__AVX2__)
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps((__m256)scores, _mm256_set1_ps(least), _CMP_GT_OQ)));
#elif defined(__x86_64__)
    return static_cast<unsigned>(_mm_movemask_ps(_mm_cmpgt_ps((__m128)scores, _mm_set1_ps(least))));
#else
    unsigned bits = 0;
    for (int i = 0; i < W; ++i) bits |= static_cast<unsigned>(scores[i] > least) << i;
    return bits;
#endif
}

struct Panel {
    std::vector<float> columns;  // LANES numbers for each
    float scale[LANES], added[LANES];

    void fill(const Catalog &rows, std::int64_t first, std::int64_t last) {
        const std::int64_t count = std::min<std::int64_t>(LANES, last - first);
        for (std::int64_t i = 0; i < LANES; ++i) {
            const bool there = i < count;
            scale[i] = !there ? 0.f : rows.scale ? rows.scale[first + i] : 1.f;
            added[i] = !there ? -std::numeric_limits<float>::infinity() : rows.added ? rows.added[first + i] : 0.f;
        }
        for (std::int64_t i = 0; i < LANES; i += 4) {  // a row that is not there is the last one again
            const float *from[4];
            for (std::int64_t r = 0; r < 4; ++r)
                from[r] = rows.data + (first + std::min(i + r, count - 1)) * rows.stride;
            turn(from, rows.columns, columns.data() + i);
        }
    }

    static void turn(const float *const *from, std::int64_t columns, float *to) {
        std::int64_t c = 0;
        for (; c + 4 <= columns; c += 4) {
            const Four p = load<Four>(from[0] + c), q = load<Four>(from[1] + c);
            const Four r = load<Four>(from[2] + c), s = load<Four>(from[3] + c);
            const Four pr = __builtin_shufflevector(p, r, 0, 4, 1, 5), qs = __builtin_shufflevector(q, s, 0, 4, 1, 5);
            const Four PR = __builtin_shufflevector(p, r, 2, 6, 3, 7), QS = __builtin_shufflevector(q, s, 2, 6, 3, 7);
            store(to + c * LANES, __builtin_shufflevector(pr, qs, 0, 4, 1, 5));
            store(to + (c + 1) * LANES, __builtin_shufflevector(pr, qs, 2, 6, 3, 7));
            store(to + (c + 2) * LANES, __builtin_shufflevector(PR, QS, 0, 4, 1, 5));
            store(to + (c + 3) * LANES, __builtin_shufflevector(PR, QS, 2, 6, 3, 7));
        }
        for (; c < columns; ++c)
            for (int r = 0; r < 4; ++r) to[c * LANES + r] = from[r][c];
    }
};

inline bool is_left_out(const Queries &queries, std::int64_t query, std::int64_t row) {
    if (!queries.left_out) return false;
    const std::int64_t *const begin = queries.left_out + queries.bounds[query], *const end = queries.left_out +
                                                                                             queries.bounds[query + 1];
    return std::binary_search(begin, end, row);
}

// Puts a score in the place of the worst.
inline void take(float *scores, std::int64_t *rows, std::int64_t keep, float score, std::int64_t row) {
    std::int64_t at = 0;
    for (std::int64_t below; (below = 2 * at + 1) < keep; at = below) {
        auto worse = [&](std::int64_t i, std::int64_t j) {
            return scores[i] < scores[j] || (scores[i] == scores[j] && rows[i] > rows[j]);
        };
        if (below + 1 < keep && worse(below + 1, below)) ++below;
        if (!(scores[below] < score || (scores[below] == score && rows[below] > row))) break;
        scores[at] = scores[below];
        rows[at] = rows[below];
    }
    scores[at] = score;
    rows[at] = row;
}

template <int T> void look(const Panel &panel, std::int64_t columns, const Queries &queries, const Best &best,
                           std::int64_t first_query, std::int64_t first_row) {
    Floats low[T], high[T];
    for (int t = 0; t < T; ++t) low[t] = high[t] = Floats{};
    const float *query = queries.packed + first_query * columns, *row = panel.columns.data();
    for (std::int64_t c = 0; c < columns; ++c, query += GROUP, row += LANES) {
        const Floats left = load<Floats>(row), right = load<Floats>(row + W);
        for (int t = 0; t < T; ++t) {
            const Floats number = broadcast(query[t]);
            low[t] = joined(number, left, low[t]);
            high[t] = joined(number, right, high[t]);
        }
    }
    for (int t = 0; t < T; ++t) {
        low[t] = joined(low[t], load<Floats>(panel.scale), load<Floats>(panel.added));
        high[t] = joined(high[t], load<Floats>(panel.scale + W), load<Floats>(panel.added + W));
        float *const scores = best.scores + (first_query + t) * best.keep;
        std::int64_t *const rows = best.rows + (first_query + t) * best.keep;
        std::uint64_t found = above(low[t], scores[0]) | static_cast<std::uint64_t>(above(high[t], scores[0])) << W;
        if (!found) continue;
        float each[LANES];
        store(each, low[t]), store(each + W, high[t]);
        for (; found; found &= found - 1) {
            const int lane = __builtin_ctzll(found);
            if (each[lane] > scores[0] && !is_left_out(queries, first_query + t, first_row + lane))
                take(scores, rows, best.keep, each[lane], first_row + lane);
        }
    }
}

}  // namespace nearest_scan
}  // namespace

void JOIN(scan_, VARIANT)(const Catalog &rows, const Queries &queries, const Best &best, std::int64_t first,
                          std::int64_t last) {
    using namespace nearest_scan;
    using Look = void (*)(const Panel &, std::int64_t, const Queries &, const Best &, std::int64_t, std::int64_t);
    constexpr Look looks[] = {nullptr, look<1>, look<2>, look<3>, look<4>, look<5>, look<6>};
    Panel panel;
    panel.columns.resize(static_cast<std::size_t>(rows.columns * LANES));
    for (std::int64_t row = first; row < last; row += LANES) {
        panel.fill(rows, row, last);
        for (std::int64_t query = 0; query < queries.count; query += GROUP)
            looks[std::min(GROUP, queries.count - query)](panel, rows.columns, queries, best, query, row);
    }
}
