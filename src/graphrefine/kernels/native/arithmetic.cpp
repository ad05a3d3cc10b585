// Products and dense algebra on tall matrices, compiled once for each instruction set (VARIANT).
//
// Rows are worked in blocks of 128 that stay in the cache: gathered or rotated, then finished (see Finish), then written.
// Sums run in an order that depends on the matrix alone, never on the number of threads: a row is summed by one thread,
// and the Gram matrices of units of 512 rows are added up in the units' order.
#include "arithmetic.h"
#include "threads.h"
#include "vectors.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

namespace {

typedef std::uint32_t Words __attribute__((vector_size(W * 4)));

constexpr std::int64_t BLOCK = 128;    // rows in the cache at a time
constexpr std::int64_t UNIT = 512;     // rows that a thread takes at a time
constexpr std::int64_t CHUNK = 512;    // entries of a row whose coefficients are formed at a time
constexpr std::int64_t AHEAD = 16;     // entries between a prefetch and its use
constexpr std::int64_t ROWS_AHEAD = 8; // the same in rows, where rows are in pieces
constexpr std::int64_t NEAR = 1 << 22; // bytes of a matrix that the cache holds: no prefetch, no way past the cache
constexpr int TILE = 4;                // rows of a register tile; it is two vectors wide

// To memory past the cache, which a large matrix would only push other things out of; `to` is aligned to a vector.
inline void stream(void *to, Floats v) {
#if defined(__AVX512F__)
    _mm512_stream_ps(static_cast<float *>(to), (__m512)v);
#elif defined(__AVX2__)
    _mm256_stream_ps(static_cast<float *>(to), (__m256)v);
#elif defined(__x86_64__)
    _mm_stream_ps(static_cast<float *>(to), (__m128)v);
#else
    store(to, v);
#endif
}
inline void streamed() {  // what was streamed is there for other threads
#if defined(__x86_64__)
    _mm_sfence();
#endif
}
inline void put(void *to, Floats v, bool past_cache) { past_cache ? stream(to, v) : store(to, v); }

// A vector of 2W bfloat16 holds pairs: the even column in the low half of each word, the odd one in the high half. Rows
// in the cache are kept "split" the same way: of each 2W columns first the even ones, then the odd ones. Sums, lengths,
// Gram matrices and rotations do not mind, and bfloat16 is read and written without a shuffle.
inline Floats even(Words w) { return (Floats)(w << 16); }
inline Floats odd(Words w) { return (Floats)(w & 0xffff0000u); }
inline Words rounded(Floats x) {  // to the nearest bfloat16, ties to even, in the high half
    Words w = (Words)x;
    return w + 0x7fffu + ((w >> 16) & 1u);
}
// Which column stands in place c of a split row.
inline std::int64_t column_at(std::int64_t c) { return c / (2 * W) * (2 * W) + c % W * 2 + c / W % 2; }

#if defined(__AVX512F__)
#define INTERLEAVE_LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define INTERLEAVE_HIGH(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define EVENS(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define ODDS(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
constexpr Words LANE = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif defined(__AVX2__)
#define INTERLEAVE_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define INTERLEAVE_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define EVENS(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define ODDS(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
constexpr Words LANE = {0, 1, 2, 3, 4, 5, 6, 7};
#else
#define INTERLEAVE_LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define INTERLEAVE_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define EVENS(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define ODDS(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7)
constexpr Words LANE = {0, 1, 2, 3};
#endif

// ---- gathering: out[c : c + 2 W P] = (out or 0) + sum_p coefficient[p] * from[p][c : c + 2 W P], split ----------------
//
// A sum goes on from where it stood, entry after entry, so that a row in pieces has the bits of the row in one.

template <int P> inline void take_up(Floats *sum, const float *out, bool add) {
    for (int q = 0; q < 2 * P; ++q) sum[q] = add ? load<Floats>(out + W * q) : Floats{};
}
template <int P> inline void keep(const Floats *sum, float *out) {
    for (int q = 0; q < 2 * P; ++q) store(out + W * q, sum[q]);
}

struct Half {
    static constexpr std::int64_t bytes(std::int64_t columns) { return columns * 2; }
    template <int P>
    static void gather(const char *const *from, const float *coefficient, std::int64_t count, std::int64_t c, float *out, bool add) {
        Floats sum[2 * P];
        take_up<P>(sum, out + c, add);
        for (std::int64_t p = 0; p < count; ++p) {
            const char *row = from[p] + 2 * c;
            const Floats f = broadcast(coefficient[p]);
            for (int q = 0; q < P; ++q) {
                const Words w = load<Words>(row + 4 * W * q);
                sum[2 * q] += f * even(w);
                sum[2 * q + 1] += f * odd(w);
            }
        }
        keep<P>(sum, out + c);
    }
};

struct Single {
    static constexpr std::int64_t bytes(std::int64_t columns) { return columns * 4; }
    template <int P>
    static void gather(const char *const *from, const float *coefficient, std::int64_t count, std::int64_t c, float *out, bool add) {
        Floats sum[2 * P], split[2 * P];
        take_up<P>(split, out + c, add);
        for (int q = 0; q < P; ++q) {
            sum[2 * q] = INTERLEAVE_LOW(split[2 * q], split[2 * q + 1]);
            sum[2 * q + 1] = INTERLEAVE_HIGH(split[2 * q], split[2 * q + 1]);
        }
        for (std::int64_t p = 0; p < count; ++p) {
            const char *row = from[p] + 4 * c;
            const Floats f = broadcast(coefficient[p]);
            for (int q = 0; q < 2 * P; ++q) sum[q] += f * load<Floats>(row + 4 * W * q);
        }
        for (int q = 0; q < P; ++q) {
            split[2 * q] = EVENS(sum[2 * q], sum[2 * q + 1]);
            split[2 * q + 1] = ODDS(sum[2 * q], sum[2 * q + 1]);
        }
        keep<P>(split, out + c);
    }
};

struct Signs {
    static constexpr std::int64_t bytes(std::int64_t columns) { return columns / 8; }
    template <int P>
    static void gather(const char *const *from, const float *coefficient, std::int64_t count, std::int64_t c, float *out, bool add) {
        typedef std::int32_t Integers __attribute__((vector_size(W * 4)));
        Floats sum[2 * P];
        take_up<P>(sum, out + c, add);
        for (std::int64_t p = 0; p < count; ++p) {
            const char *row = from[p] + c / 8;
            const Floats plus = broadcast(coefficient[p]), minus = -plus;
            for (int q = 0; q < 2 * P; ++q) {  // bit b of a word is the sign of its column b: set means -1
                const Words word = Words{} + load<std::uint32_t>(row + W * q / 32 * 4);
                const std::uint32_t first = q / 2 * 2 * W % 32 + q % 2;
                sum[q] += (Integers)(word << (31u - first - 2 * LANE)) < 0 ? minus : plus;
            }
        }
        keep<P>(sum, out + c);
    }
};

template <class X>
void gather_row(const char *const *from, const float *coefficient, std::int64_t count, std::int64_t columns, float *out, bool add) {
    std::int64_t c = 0;
    for (; c + 8 * W <= columns; c += 8 * W) X::template gather<4>(from, coefficient, count, c, out, add);
    if constexpr (W >= 8)
        if (c + 4 * W <= columns) X::template gather<2>(from, coefficient, count, c, out, add), c += 4 * W;
    if constexpr (W >= 16)
        if (c + 2 * W <= columns) X::template gather<1>(from, coefficient, count, c, out, add);
}

inline void prefetch_row(const char *row, std::int64_t bytes) {
    for (std::int64_t b = 0; b < bytes; b += 128) __builtin_prefetch(row + b), __builtin_prefetch(row + b + 64);
}

// Where column 0 would be in an array that holds the columns from `column` on, `size` elements each.
template <class E> const E *from_column_0(const E *array, std::int64_t column, std::int64_t size) {
    if (!array) return nullptr;
    return reinterpret_cast<const E *>(reinterpret_cast<std::uintptr_t>(array) - column * size * sizeof(E));
}

template <class X>
void product_rows(const Operator &m, const Tall &x, float scale, bool onto, std::int64_t begin, std::int64_t end, float *out) {
    float coefficient[CHUNK + 1];
    const char *from[CHUNK + 1];
    // Copies of the operator's fields, which the compiler can then keep in registers.
    const std::int64_t *const starts = m.starts, *const stops = m.stops;
    const std::int32_t *const indices = m.indices;
    const float *const value = m.value;
    const float *const column_shift = from_column_0(m.column_shift, m.first_column, 1);
    const float *const column_scale = from_column_0(m.column_scale, m.first_column, 1);
    const std::int64_t columns = x.columns, bytes = X::bytes(columns), last = m.entries - 1;
    const char *const first = from_column_0(static_cast<const char *>(x.data), m.first_column, bytes);
    const std::int64_t diagonal = m.first_column + m.diagonal;
    const bool far = x.rows * bytes > NEAR, pieces = stops != starts + 1;
    for (std::int64_t i = begin; i < end; ++i, out += columns) {
        if (far && pieces) {  // what comes next in `indices` is in columns that are not here
            const std::int64_t next = std::min(i + ROWS_AHEAD, m.rows - 1), some = std::min(stops[next], starts[next] + AHEAD);
            for (std::int64_t p = starts[next]; p < some; ++p) prefetch_row(first + indices[p] * bytes, bytes);
        }
        if (onto && starts[i] == stops[i] && m.loop == 0.f) continue;
        const float shift = (m.row_shift ? m.row_shift[i] : 0.f) + m.constant;
        const float factor = scale * (m.row_scale ? m.row_scale[i] : 1.f);
        std::int64_t p = starts[i];
        bool loop = m.loop != 0.f;  // still to come, among the other entries in the order of the columns
        for (bool add = onto;; add = true) {
            const std::int64_t count = std::min(CHUNK, stops[i] - p);
            for (std::int64_t q = 0; q < count; ++q) from[q] = first + indices[p + q] * bytes;
            const std::int64_t until = pieces ? std::min(count, stops[i] - AHEAD - p) : count;
            for (std::int64_t q = 0; far && q < until; ++q)
                prefetch_row(first + indices[std::min(p + q + AHEAD, last)] * bytes, bytes);
            if (column_shift)
                for (std::int64_t q = 0; q < count; ++q) coefficient[q] = shift + column_shift[indices[p + q]];
            else
                std::fill_n(coefficient, count, shift);
            if (value)
                for (std::int64_t q = 0; q < count; ++q) coefficient[q] += value[p + q];
            if (column_scale)
                for (std::int64_t q = 0; q < count; ++q) coefficient[q] *= column_scale[indices[p + q]];
            if (factor != 1.f)
                for (std::int64_t q = 0; q < count; ++q) coefficient[q] *= factor;
            const bool done = p + count == stops[i], now = loop && (done || indices[p + count - 1] > i + diagonal);
            if (now) {
                const std::int64_t q = std::lower_bound(indices + p, indices + p + count, i + diagonal) - (indices + p);
                std::copy_backward(coefficient + q, coefficient + count, coefficient + count + 1);
                std::copy_backward(from + q, from + count, from + count + 1);
                coefficient[q] = m.loop * factor * (column_scale ? column_scale[i + diagonal] : 1.f);
                from[q] = first + (i + diagonal) * bytes;
                loop = false;
            }
            gather_row<X>(from, coefficient, count + now, columns, out, add);
            p += count;
            if (done) break;
        }
    }
}

// ---- dense: rows in the cache, tiles of 4 x 2 vectors in registers -----------------------------------------------------

// gram[a : a + T, b : b + 2 W] += x[:, a : a + T]^T x[:, b : b + 2 W]; a block's sum in float32, theirs in float64
template <int T> void add_gram_tile(const float *x, std::int64_t rows, std::int64_t columns, std::int64_t a, std::int64_t b,
                                    double *gram) {
    Floats sum[T][2] = {};
    for (std::int64_t r = 0; r < rows; ++r) {
        const float *row = x + r * columns;
        const Floats left = load<Floats>(row + b), right = load<Floats>(row + b + W);
        for (int t = 0; t < T; ++t) {
            const Floats f = broadcast(row[a + t]);
            sum[t][0] += f * left;
            sum[t][1] += f * right;
        }
    }
    for (int t = 0; t < T; ++t) {
        float tile[2 * W];
        store(tile, sum[t][0]), store(tile + W, sum[t][1]);
        double *to = gram + (a + t) * columns + b;
        for (int c = 0; c < 2 * W; ++c) to[c] += tile[c];
    }
}

// gram += x^T x, on and above the diagonal
void add_gram(const float *x, std::int64_t rows, std::int64_t columns, double *gram) {
    for (std::int64_t b = 0; b < columns; b += 2 * W) {
        for (std::int64_t a = 0; a < b + 2 * W; a += 16) {  // 16 = 6 + 6 + 4: twelve sums keep both multipliers busy
            add_gram_tile<6>(x, rows, columns, a, b, gram);
            add_gram_tile<6>(x, rows, columns, a + 6, b, gram);
            add_gram_tile<4>(x, rows, columns, a + 12, b, gram);
        }
    }
}

// out = x @ rotation, for up to 128 rows; `panels` holds the rotation in panels of two vectors' width
void rotate_rows(const float *x, std::int64_t rows, std::int64_t columns, const float *panels, bool triangular, float *out) {
    for (std::int64_t b = 0; b < columns; b += 2 * W, panels += columns * 2 * W) {
        const std::int64_t depth = triangular ? b + 2 * W : columns;
        for (std::int64_t r = 0; r < rows; r += TILE) {  // `x` has room for whole tiles
            Floats sum[TILE][2] = {};
            const float *row = x + r * columns;
            for (std::int64_t a = 0; a < depth; ++a) {
                const Floats left = load<Floats>(panels + a * 2 * W), right = load<Floats>(panels + a * 2 * W + W);
                for (int t = 0; t < TILE; ++t) {
                    const Floats f = broadcast(row[t * columns + a]);
                    sum[t][0] += f * left;
                    sum[t][1] += f * right;
                }
            }
            for (int t = 0; t < TILE; ++t) {
                store(out + (r + t) * columns + b, sum[t][0]);
                store(out + (r + t) * columns + b + W, sum[t][1]);
            }
        }
    }
}

void read_rows(const Tall &x, std::int64_t begin, std::int64_t end, float *out) {
    for (std::int64_t i = begin; i < end; ++i, out += x.columns) {
        if (x.kind == Kind::single) {
            const float *from = static_cast<const float *>(x.data) + i * x.stride;
            for (std::int64_t c = 0; c < x.columns; c += 2 * W) {
                const Floats a = load<Floats>(from + c), b = load<Floats>(from + c + W);
                store(out + c, EVENS(a, b)), store(out + c + W, ODDS(a, b));
            }
        } else {
            const std::uint16_t *from = static_cast<const std::uint16_t *>(x.data) + i * x.stride;
            for (std::int64_t c = 0; c < x.columns; c += 2 * W) {
                const Words w = load<Words>(from + c);
                store(out + c, even(w)), store(out + c + W, odd(w));
            }
        }
    }
}

void write_rows(const float *x, std::int64_t columns, std::int64_t begin, std::int64_t end, const Finish &finish) {
    const Tall &out = finish.out;
    const std::int64_t width = out.stride * (out.kind == Kind::single ? 4 : 2);  // bytes
    const bool past_cache = out.rows * width > NEAR && out.data != finish.onto.data && width % sizeof(Floats) == 0 &&
                            reinterpret_cast<std::uintptr_t>(out.data) % sizeof(Floats) == 0;
    float tail[2 * W];
    for (std::int64_t row = begin; row < end; ++row, x += columns) {
        if (finish.only && finish.only->starts[row] == finish.only->stops[row]) continue;
        const std::int64_t i = finish.places ? finish.places[row] : row;
        if (out.kind == Kind::single) {
            float *to = static_cast<float *>(out.data) + i * out.stride;
            std::int64_t c = 0;
            for (; c + 2 * W <= out.columns; c += 2 * W) {
                const Floats a = load<Floats>(x + c), b = load<Floats>(x + c + W);
                put(to + c, INTERLEAVE_LOW(a, b), past_cache), put(to + c + W, INTERLEAVE_HIGH(a, b), past_cache);
            }
            if (c < out.columns) {  // `out` may have fewer columns, and then any number
                const Floats a = load<Floats>(x + c), b = load<Floats>(x + c + W);
                store(tail, INTERLEAVE_LOW(a, b)), store(tail + W, INTERLEAVE_HIGH(a, b));
                std::memcpy(to + c, tail, (out.columns - c) * sizeof(float));
            }
        } else {
            std::uint16_t *to = static_cast<std::uint16_t *>(out.data) + i * out.stride;
            for (std::int64_t c = 0; c < columns; c += 2 * W) {
                const Words low = rounded(load<Floats>(x + c)), high = rounded(load<Floats>(x + c + W));
                put(to + c, (Floats)((low >> 16) | (high & 0xffff0000u)), past_cache);
            }
        }
    }
}

// Rows of zeros stay: nodes without edges have no vector, and are not to get one from the others' mean.
void take_away(const float *shift, float *rows, std::int64_t count, std::int64_t columns) {
    for (std::int64_t i = 0; i < count; ++i) {
        float *row = rows + i * columns;
        if (std::all_of(row, row + columns, [](float x) { return x == 0.f; })) continue;
        for (std::int64_t c = 0; c < columns; c += W) store(row + c, load<Floats>(row + c) - load<Floats>(shift + c));
    }
}

void add_sums(const float *rows, std::int64_t begin, std::int64_t end, std::int64_t columns, const float *weights, double *sums) {
    for (std::int64_t i = begin; i < end; ++i, rows += columns) {
        const double weight = weights ? weights[i] : 1.;
        for (std::int64_t c = 0; c < columns; ++c) sums[c] += weight * rows[c];
    }
}

// What is summed over all rows: the Gram matrix and the sums of the columns, in split order.
struct Totals {
    std::vector<double> gram, sums;
    Totals(const Finish &finish, std::int64_t columns)
        : gram(finish.gram ? columns * columns : 0), sums(finish.sums ? columns : 0) {}
    bool wanted() const { return !gram.empty() || !sums.empty(); }
    void clear() {
        std::fill(gram.begin(), gram.end(), 0.);
        std::fill(sums.begin(), sums.end(), 0.);
    }
    void add(const Totals &other) {
        for (std::size_t c = 0; c < gram.size(); ++c) gram[c] += other.gram[c];
        for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += other.sums[c];
    }
};

void finish_rows(float *rows, std::int64_t columns, std::int64_t begin, std::int64_t end, const Finish &finish,
                 float *spare, Totals &totals) {
    const std::int64_t count = end - begin;
    if (finish.plus.data) {
        read_rows(finish.plus, begin, end, spare);
        const Floats t = broadcast(finish.plus_scale);
        for (std::int64_t c = 0; c < count * columns; c += W)
            store(rows + c, load<Floats>(rows + c) + t * load<Floats>(spare + c));
    }
    if (finish.shift) take_away(finish.shift, rows, count, columns);
    if (finish.unit) {
        for (std::int64_t i = 0; i < count; ++i) {
            float *row = rows + i * columns;
            Floats squares = {};
            for (std::int64_t c = 0; c < columns; c += W) squares += load<Floats>(row + c) * load<Floats>(row + c);
            double sum = 0;
            for (int c = 0; c < W; ++c) sum += squares[c];
            const Floats f = broadcast(sum > 0 ? static_cast<float>(1 / std::sqrt(sum)) : 0.f);
            for (std::int64_t c = 0; c < columns; c += W) store(row + c, f * load<Floats>(row + c));
        }
    }
    if (finish.gram) add_gram(rows, count, columns, totals.gram.data());
    if (finish.sums) add_sums(rows, begin, end, columns, finish.weights, totals.sums.data());
    if (finish.out.data) write_rows(rows, columns, begin, end, finish);
}

// ---- threads -----------------------------------------------------------------------------------------------------------

std::unique_ptr<float, decltype(&std::free)> aligned_floats(std::int64_t count) {
    void *memory = nullptr;
    if (posix_memalign(&memory, 64, count * sizeof(float))) throw std::bad_alloc();
    std::memset(memory, 0, count * sizeof(float));
    return {static_cast<float *>(memory), &std::free};
}

// Runs fill(begin, end, rows, spare) and finish_rows on each block of 128 rows, units dealt to threads in order.
template <class Fill> void over_blocks(std::int64_t rows, std::int64_t columns, const Finish &finish, int threads, Fill fill) {
    const std::int64_t units = (rows + UNIT - 1) / UNIT;
    std::atomic<std::int64_t> next{0};
    std::int64_t turn = 0;
    std::mutex mutex;
    std::condition_variable turned;
    Totals totals(finish, columns);  // of the Gram matrix, what is on and above the diagonal
    auto split = aligned_floats(columns);
    Finish ready = finish;
    for (std::int64_t c = 0; finish.shift && c < columns; ++c) split.get()[c] = finish.shift[column_at(c)];
    if (finish.shift) ready.shift = split.get();
    parallel(static_cast<int>(std::min<std::int64_t>(threads, units)), [&](int) {
        auto fresh = aligned_floats(BLOCK * columns), spare = aligned_floats(BLOCK * columns);
        Totals mine(finish, columns);
        for (std::int64_t unit; !is_stopped() && (unit = next++) < units;) {  // a unit that is taken is finished: others wait
            mine.clear();
            for (std::int64_t i = unit * UNIT; i < std::min(rows, (unit + 1) * UNIT); i += BLOCK) {
                const std::int64_t end = std::min({rows, (unit + 1) * UNIT, i + BLOCK});
                fill(i, end, fresh.get(), spare.get());
                finish_rows(fresh.get(), columns, i, end, ready, spare.get(), mine);
            }
            if (mine.wanted()) {
                std::unique_lock<std::mutex> lock(mutex);
                turned.wait(lock, [&] { return turn == unit; });
                totals.add(mine);
                ++turn;
                turned.notify_all();
            }
        }
        streamed();
    });
    for (std::int64_t a = 0; finish.gram && a < columns; ++a)  // the columns in their order, and the mirror image
        for (std::int64_t b = a; b < columns; ++b) {
            const std::int64_t i = column_at(a), j = column_at(b);
            finish.gram[i * columns + j] = finish.gram[j * columns + i] = totals.gram[a * columns + b] + finish.gram[i * columns + j];
        }
    for (std::int64_t c = 0; finish.sums && c < columns; ++c) finish.sums[column_at(c)] += totals.sums[c];
}

void apply(const Operator &m, const Tall &x, const Finish &finish, int threads) {
    const auto product = x.kind == Kind::half ? product_rows<Half> : x.kind == Kind::single ? product_rows<Single> : product_rows<Signs>;
    const bool onto = finish.onto.data;
    const bool changed = finish.plus.data || finish.shift || finish.unit || finish.gram || finish.sums || m.loop != 0.f;
    Finish ready = finish;
    // Sums that go on in place: of the rows without entries nothing is read or written.
    if (onto && finish.onto.data == finish.out.data && !changed) ready.only = &m;
    over_blocks(m.rows, x.columns, ready, threads, [&](std::int64_t begin, std::int64_t end, float *fresh, float *) {
        if (ready.only) {
            for (std::int64_t i = begin; i < end; ++i)
                if (m.starts[i] < m.stops[i]) read_rows(finish.onto, i, i + 1, fresh + (i - begin) * x.columns);
        } else if (onto) {
            read_rows(finish.onto, begin, end, fresh);
        }
        product(m, x, finish.scale, onto, begin, end, fresh);
    });
}

void rotate(const Tall &x, const float *rotation, bool triangular, const Finish &finish, int threads) {
    const std::int64_t k = x.columns;
    auto panels = aligned_floats(rotation ? k * k : 1);
    for (std::int64_t b = 0; rotation && b < k; b += 2 * W)
        for (std::int64_t a = 0; a < k; ++a)
            for (std::int64_t c = 0; c < 2 * W; ++c)
                panels.get()[b * k + a * 2 * W + c] = rotation[column_at(a) * k + column_at(b + c)];
    over_blocks(x.rows, k, finish, threads, [&](std::int64_t begin, std::int64_t end, float *fresh, float *spare) {
        read_rows(x, begin, end, rotation ? spare : fresh);
        if (rotation) rotate_rows(spare, end - begin, k, panels.get(), triangular, fresh);
    });
}

}  // namespace

const Arithmetic &JOIN(arithmetic_, VARIANT)() {
    static const Arithmetic table{TEXT(VARIANT), apply, rotate};
    return table;
}
