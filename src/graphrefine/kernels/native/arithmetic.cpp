// Products and dense algebra on tall matrices, compiled once for each instruction set (VARIANT).
//
// Rows are worked in blocks of 128 that stay in the cache: gathered or rotated, then finished (see Finish), then written.
//
// Every variant gives the same bits (see vectors.h), for any number of threads: the order of each sum depends on the matrix
// alone. A row is summed by one thread, entry after entry. The Gram matrix of a block is summed row after row in float32, those
// of a unit of 512 rows in float64, and those of all units, in their order, as pairs of float64 (see Totals).
#include "arithmetic.h"
#include "threads.h"
#include "vectors.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

namespace {

typedef std::uint32_t Words __attribute__((vector_size(W * 4)));

constexpr std::int64_t BLOCK = 128;  // rows in the cache at a time
constexpr std::int64_t UNIT = 512;  // rows that a thread takes at a time
constexpr std::int64_t CHUNK = 512;  // entries of a row whose coefficients are formed at a time
constexpr std::int64_t GROUP = 32;  // columns that are split together: 16 even ones, then 16 odd ones
constexpr std::int64_t AHEAD = 64;  // entries between a prefetch and its use, from memory
constexpr std::int64_t SOON = 16;  // the same from the last cache
constexpr std::int64_t ROWS_AHEAD = 8;  // the same in rows, where rows are in pieces
constexpr std::int64_t MOST_AHEAD = 2048;  // rows of x that are fetched while a Gram matrix is formed
constexpr std::int64_t NEAR = 1 << 20;  // bytes of a matrix that the cache next to the core holds: no prefetch
constexpr std::int64_t DEEP = 1 << 24;  // bytes of a matrix that the last cache does not hold
constexpr std::int64_t VAST =
    1 << 29;  // bytes of a matrix of which most rows come from memory: those of a row are fetched at once
constexpr std::int64_t LARGE = 1 << 22;  // bytes of a matrix that is written past the cache
constexpr std::int64_t GAP = 16;  // floats between two rows in the cache: their parts fall into different sets of it
constexpr std::chrono::milliseconds PATIENCE{50};  // between two looks of a thread that waits for its turn
constexpr int LANES = 16;  // partial sums of a row's squares, for every width of vectors
constexpr int TILE = W == 16 ? 8 : 4;  // rows of a register tile; it is two vectors wide

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

// A word of 32 bits holds two bfloat16: an even column in the low half, the odd one after it in the high half. Rows in the
// cache are kept "split" the same way: of each GROUP columns first the even ones, then the odd ones. Sums, lengths, Gram
// matrices and rotations do not mind, and bfloat16 is read and written without a shuffle. The order of a row's columns is thus
// the same for every width of vectors, and with it the order of all sums over columns.
inline Floats even(Words w) { return (Floats)(w << 16); }
inline Floats odd(Words w) { return (Floats)(w & 0xffff0000u); }
inline Words rounded(Floats x) {  // to the nearest bfloat16, ties to even, in the high half
    Words w = (Words)x;
    return w + 0x7fffu + ((w >> 16) & 1u);
}
// Which column stands in place c of a split row.
inline std::int64_t column_at(std::int64_t c) { return c / GROUP * GROUP + c % 16 * 2 + c % GROUP / 16; }
// The place of the even ones of the columns 2 W q ... 2 W (q + 1) - 1; the odd ones are 16 places further.
constexpr std::int64_t place(std::int64_t q) { return 2 * W * q / GROUP * GROUP + 2 * W * q % GROUP / 2; }

#if defined(__AVX512F__)
#define INTERLEAVE_LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define INTERLEAVE_HIGH(a, b)                                                                                          \
    __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define EVENS(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define ODDS(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
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

// ---- gathering: out[c : c + 2 W P] = (out or 0) + sum_p coefficient(p) * row(p)[c : c + 2 W P], split ----------------------
//
// A sum goes on from where it stood, entry after entry, so that a row in pieces has the bits of the row in one. P is such that
// 2 W P columns are whole groups. A kind of matrix has the bytes of a row, and `Sum`, which adds one of them to sums in registers.

template <int P> struct Split {  // sums in split order
    Floats sum[2 * P];
    void take_up(const float *out) {
        for (int q = 0; q < 2 * P; ++q) sum[q] = load<Floats>(out + W * q);
    }
    void keep(float *out) const {
        for (int q = 0; q < 2 * P; ++q) store(out + W * q, sum[q]);
    }
};

struct Half {
    static constexpr std::int64_t bytes(std::int64_t columns) { return columns * 2; }
    template <int P> struct Sum : Split<P> {
        void add(const char *row, float coefficient) {
            const Floats f = broadcast(coefficient);
            for (int q = 0; q < P; ++q) {
                const Words w = load<Words>(row + 4 * W * q);
                Floats &low = this->sum[place(q) / W], &high = this->sum[place(q) / W + 16 / W];
                low = fma(f, even(w), low);
                high = fma(f, odd(w), high);
            }
        }
    };
};

struct Single {
    static constexpr std::int64_t bytes(std::int64_t columns) { return columns * 4; }
    template <int P> struct Sum {
        Floats sum[2 * P];  // in the order of the columns
        void take_up(const float *out) {
            for (int q = 0; q < P; ++q) {
                const Floats a = load<Floats>(out + place(q)), b = load<Floats>(out + place(q) + 16);
                sum[2 * q] = INTERLEAVE_LOW(a, b);
                sum[2 * q + 1] = INTERLEAVE_HIGH(a, b);
            }
        }
        void add(const char *row, float coefficient) {
            const Floats f = broadcast(coefficient);
            for (int q = 0; q < 2 * P; ++q) sum[q] = fma(f, load<Floats>(row + 4 * W * q), sum[q]);
        }
        void keep(float *out) const {
            for (int q = 0; q < P; ++q) {
                store(out + place(q), EVENS(sum[2 * q], sum[2 * q + 1]));
                store(out + place(q) + 16, ODDS(sum[2 * q], sum[2 * q + 1]));
            }
        }
    };
};

struct Signs {
    static constexpr std::int64_t bytes(std::int64_t columns) { return columns / 8; }
    template <int P> struct Sum : Split<P> {
        void add(const char *row, float coefficient) {
            const Floats plus = broadcast(coefficient);
            for (int q = 0; q < 2 * P; ++q) {  // bit b of a word is the sign of place b of its group: set means -1
#if defined(__AVX512F__)
                const __mmask16 minus = load<std::uint16_t>(row + 2 * q);
                this->sum[q] += (Floats)_mm512_mask_xor_ps((__m512)plus, minus, (__m512)plus, _mm512_set1_ps(-0.f));
#else
                const Words word = Words{} + load<std::uint32_t>(row + W * q / GROUP * 4);
                const Words sign = (word << (static_cast<std::uint32_t>(31 - W * q % GROUP) - LANE)) & 0x80000000u;
                this->sum[q] += (Floats)((Words)plus ^ sign);
#endif
            }
        }
    };
};

// Columns c ... c + 2 W P - 1 of a row: entries(add, c == 0) calls add(row of x, coefficient) for each entry in order.
template <class X, int P, class Entries> inline void gather(Entries entries, std::int64_t c, float *out, bool onto) {
    typename X::template Sum<P> sums;
    for (Floats &sum : sums.sum) sum = Floats{};
    if (onto) sums.take_up(out + c);
    const std::int64_t offset = X::bytes(c);
    entries([&](const char *row, float coefficient)
                __attribute__((always_inline)) { sums.add(row + offset, coefficient); },
            c == 0);
    sums.keep(out + c);
}

template <class X, class Entries> inline void gather_row(Entries entries, std::int64_t columns, float *out, bool onto) {
    std::int64_t c = 0;
    for (; c + 8 * W <= columns; c += 8 * W) gather<X, 4>(entries, c, out, onto);
    if constexpr (W >= 8)
        if (c + 4 * W <= columns) {
            gather<X, 2>(entries, c, out, onto);
            c += 4 * W;
        }
    if constexpr (W >= 16)
        if (c + 2 * W <= columns) gather<X, 1>(entries, c, out, onto);
}

// From memory (`deep`) to the second cache, which takes more lines at a time than the first; else to the first.
inline void prefetch_row(const char *row, std::int64_t bytes, bool deep) {
    if (deep)
        for (std::int64_t b = 0; b < bytes; b += 64) __builtin_prefetch(row + b, 0, 2);
    else
        for (std::int64_t b = 0; b < bytes; b += 64) __builtin_prefetch(row + b, 0, 3);
}

// Where column 0 would be in an array that holds the columns from `column` on, `size` elements each.
template <class E> const E *from_column_0(const E *array, std::int64_t column, std::int64_t size) {
    if (!array) return nullptr;
    return reinterpret_cast<const E *>(reinterpret_cast<std::uintptr_t>(array) - column * size * sizeof(E));
}

// Rows of a matrix that will be needed, some of which are fetched at a time: those in a list, or one after the other.
struct Fetch {
    const char *first = nullptr;
    std::int64_t bytes = 0, next = 0, end = 0;
    const std::int32_t *list = nullptr;
    std::int64_t share(std::int64_t steps) const { return (end - next) / steps + 1; }
    void some(std::int64_t count) {
        for (const std::int64_t stop = std::min(next + count, end); next < stop; ++next)
            prefetch_row(first + (list ? list[next] : next) * bytes, bytes, true);
    }
};

template <class X> Fetch fetch_entries(const Operator &m, const Tall &x, std::int64_t begin, std::int64_t end) {
    const std::int64_t bytes = X::bytes(x.columns);
    if (x.rows * bytes <= NEAR || m.stops != m.starts + 1 || m.list || begin >= end) return {};
    const char *const first = from_column_0(static_cast<const char *>(x.data), m.first_column, bytes);
    return {first, bytes, m.starts[begin], std::min(m.stops[end - 1], m.starts[begin] + MOST_AHEAD), m.indices};
}

// The place of the diagonal among `count` ascending columns.
inline std::int64_t place_of(std::int32_t column, const std::int32_t *columns, std::int64_t count) {
    if (count > 32) return std::lower_bound(columns, columns + count, column) - columns;
    std::int64_t before = 0;
    for (std::int64_t q = 0; q < count; ++q) before += columns[q] < column;
    return before;
}

template <class X> void product_rows(const Operator &m, const Tall &x, float scale, bool onto, std::int64_t begin,
                                     std::int64_t end, float *out) {
    float coefficient[CHUNK];
    // Copies of the operator's fields, which the compiler can then keep in registers.
    const std::int64_t *const starts = m.starts, *const stops = m.stops;
    const std::int32_t *const indices = m.indices;
    const float *const value = m.value;
    const float *const column_shift = from_column_0(m.column_shift, m.first_column, 1);
    const float *const column_scale = from_column_0(m.column_scale, m.first_column, 1);
    const std::int64_t columns = x.columns, bytes = X::bytes(columns);
    const char *const first = from_column_0(static_cast<const char *>(x.data), m.first_column, bytes);
    const std::int64_t diagonal = m.first_column + m.diagonal;
    const std::int64_t size = x.rows * bytes;
    const bool far = size > NEAR, deep = size > DEEP, vast = size > VAST, pieces = stops != starts + 1;
    const std::int64_t distance = deep ? AHEAD : SOON;
    const bool shifts = column_shift && !value && !column_scale;
    for (std::int64_t r = begin; r < end; ++r, out += columns + GAP) {
        const std::int64_t i = m.list ? m.list[r] : r;
        if (far && m.list && r + 4 * ROWS_AHEAD < m.rows) {  // the bounds of a row, then its entries, then rows of x
            __builtin_prefetch(starts + m.list[r + 4 * ROWS_AHEAD]);
            __builtin_prefetch(indices + starts[m.list[r + 2 * ROWS_AHEAD]]);
        }
        if (far && (pieces || m.list)) {  // what comes next in `indices` is in columns or rows that are not here
            const std::int64_t later = std::min(r + ROWS_AHEAD, m.rows - 1), next = m.list ? m.list[later] : later;
            const std::int64_t some = std::min(stops[next], starts[next] + distance);
            for (std::int64_t p = starts[next]; p < some; ++p) prefetch_row(first + indices[p] * bytes, bytes, deep);
        }
        if (onto && starts[i] == stops[i] && m.loop == 0.f) continue;
        const float shift = (m.row_shift ? m.row_shift[i] : 0.f) + m.constant;
        const float factor = scale * (m.row_scale ? m.row_scale[i] : 1.f), same = shift * factor;
        std::int64_t p = starts[i];
        bool loop = m.loop != 0.f;  // still to come, among the other entries in the order of the columns
        const std::int64_t loop_place =
            !loop           ? 0
            : m.loop_places ? p + m.loop_places[i]
                            : p + place_of(static_cast<std::int32_t>(i + diagonal), indices + p, stops[i] - p);
        for (bool add = onto;; add = true) {
            const std::int64_t count = std::min(CHUNK, stops[i] - p);
            const std::int32_t *const column = indices + p;
            const bool done = p + count == stops[i], now = loop && (done || loop_place < p + count);
            const std::int64_t before = now ? loop_place - p : count;
            const bool fetch =
                far && !m.list &&
                (pieces ? stops[i] : m.entries) - distance >= p + count;  // as many more are in `indices`
            const auto gather_entries = [&](auto coefficient_of) __attribute__((always_inline)) {
                const float of_loop = now ? m.loop * (column_scale ? column_scale[i + diagonal] : 1.f) * factor : 0.f;
                gather_row<X>(
                    [&](auto add_row, bool first_pass) __attribute__((always_inline)) {
                        const bool ahead = fetch && first_pass && !vast;
                        for (std::int64_t q = 0; fetch && first_pass && vast && q < count; ++q)
                            prefetch_row(first + column[q + distance] * bytes, bytes, deep);
                        for (std::int64_t q = 0; q < before; ++q) {
                            if (ahead) prefetch_row(first + column[q + distance] * bytes, bytes, deep);
                            add_row(first + column[q] * bytes, coefficient_of(q));
                        }
                        if (!now) return;
                        add_row(first + (i + diagonal) * bytes, of_loop);
                        for (std::int64_t q = before; q < count; ++q) {
                            if (ahead) prefetch_row(first + column[q + distance] * bytes, bytes, deep);
                            add_row(first + column[q] * bytes, coefficient_of(q));
                        }
                    },
                    columns, out, add);
            };
            if (shifts) {
                gather_entries([&](std::int64_t q) { return (shift + column_shift[column[q]]) * factor; });
            } else if (!value && !column_scale) {
                gather_entries([&](std::int64_t) { return same; });
            } else {
                for (std::int64_t q = 0; q < count; ++q) {
                    float c = shift;
                    if (column_shift) c += column_shift[column[q]];
                    if (value) c += value[p + q];
                    if (column_scale) c *= column_scale[column[q]];
                    coefficient[q] = c * factor;
                }
                gather_entries([&](std::int64_t q) { return coefficient[q]; });
            }
            loop = loop && !now;
            p += count;
            if (done) break;
            stop_if_asked();
        }
    }
}

// ---- dense: rows in the cache, tiles of some rows x 2 vectors in registers ----------------------------------------------------

// gram[a : a + T, b : b + V W] += x[:, a : a + T]^T x[:, b : b + V W]; a block's sum in float32, theirs in float64
template <int T, int V> void add_gram_tile(const float *x, std::int64_t rows, std::int64_t columns, std::int64_t a,
                                           std::int64_t b, double *gram) {
    Floats sum[T][V];
    for (int t = 0; t < T; ++t)
        for (int v = 0; v < V; ++v) sum[t][v] = Floats{};
    for (std::int64_t r = 0; r < rows; ++r) {
        const float *row = x + r * (columns + GAP);
        Floats right[V];
        for (int v = 0; v < V; ++v) right[v] = load<Floats>(row + b + W * v);
        for (int t = 0; t < T; ++t) {
            const Floats f = broadcast(row[a + t]);
            for (int v = 0; v < V; ++v) sum[t][v] = fma(f, right[v], sum[t][v]);
        }
    }
    for (int t = 0; t < T; ++t) {
        float tile[V * W];
        for (int v = 0; v < V; ++v) store(tile + W * v, sum[t][v]);
        double *to = gram + (a + t) * columns + b;
        for (int c = 0; c < V * W; ++c) to[c] += tile[c];
    }
}

// gram += x^T x, on and above the diagonal; meanwhile the rows of the next product come from memory
void add_gram(const float *x, std::int64_t rows, std::int64_t columns, double *gram, Fetch &fetch) {
    const std::int64_t share = fetch.share(columns / 16 * (columns / (2 * W) + 1) / 2 + 1);
    for (std::int64_t b = 0; b < columns; b += 2 * W) {
        for (std::int64_t a = 0; a < b + 2 * W; a += 16) {
            fetch.some(share);
            if constexpr (W == 16) {  // 32 registers; of the last 16 rows the left half is below the diagonal
                if (a < b + 16)
                    add_gram_tile<8, 2>(x, rows, columns, a, b, gram),
                        add_gram_tile<8, 2>(x, rows, columns, a + 8, b, gram);
                else add_gram_tile<16, 1>(x, rows, columns, a, b + 16, gram);
            } else {  // 16 = 6 + 6 + 4: twelve sums keep both multipliers busy
                add_gram_tile<6, 2>(x, rows, columns, a, b, gram);
                add_gram_tile<6, 2>(x, rows, columns, a + 6, b, gram);
                add_gram_tile<4, 2>(x, rows, columns, a + 12, b, gram);
            }
        }
    }
}

// out = x @ rotation, for up to 128 rows; `panels` holds the rotation in panels of two vectors' width
void rotate_rows(const float *x, std::int64_t rows, std::int64_t columns, const float *panels, bool triangular,
                 float *out, Fetch &fetch) {
    const std::int64_t share = fetch.share(columns / (2 * W) * (BLOCK / TILE));
    for (std::int64_t b = 0; b < columns; b += 2 * W, panels += columns * 2 * W) {
        const std::int64_t depth = triangular ? b / GROUP * GROUP + GROUP : columns;
        for (std::int64_t r = 0; r < rows; r += TILE) {  // `x` has room for whole tiles
            fetch.some(share);
            Floats sum[TILE][2];
            for (int t = 0; t < TILE; ++t) sum[t][0] = sum[t][1] = Floats{};
            const float *row = x + r * (columns + GAP);
            for (std::int64_t a = 0; a < depth; ++a) {
                const Floats left = load<Floats>(panels + a * 2 * W), right = load<Floats>(panels + a * 2 * W + W);
                for (int t = 0; t < TILE; ++t) {
                    const Floats f = broadcast(row[t * (columns + GAP) + a]);
                    sum[t][0] = fma(f, left, sum[t][0]);
                    sum[t][1] = fma(f, right, sum[t][1]);
                }
            }
            for (int t = 0; t < TILE; ++t) {
                store(out + (r + t) * (columns + GAP) + b, sum[t][0]);
                store(out + (r + t) * (columns + GAP) + b + W, sum[t][1]);
            }
        }
    }
}

void read_rows(const Tall &x, std::int64_t begin, std::int64_t end, float *out) {
    for (std::int64_t row = begin; row < end; ++row, out += x.columns + GAP) {
        const std::int64_t i = x.places ? x.places[row] : row;
        if (x.kind == Kind::single) {
            const float *from = static_cast<const float *>(x.data) + i * x.stride;
            for (std::int64_t q = 0; q < x.columns / (2 * W); ++q) {
                const Floats a = load<Floats>(from + 2 * W * q), b = load<Floats>(from + 2 * W * q + W);
                store(out + place(q), EVENS(a, b)), store(out + place(q) + 16, ODDS(a, b));
            }
        } else {
            const std::uint16_t *from = static_cast<const std::uint16_t *>(x.data) + i * x.stride;
            for (std::int64_t q = 0; q < x.columns / (2 * W); ++q) {
                const Words w = load<Words>(from + 2 * W * q);
                store(out + place(q), even(w)), store(out + place(q) + 16, odd(w));
            }
        }
    }
}

void write_rows(const float *x, std::int64_t columns, std::int64_t begin, std::int64_t end, const Finish &finish) {
    const Tall &out = finish.out;
    const std::int64_t width = out.stride * (out.kind == Kind::single ? 4 : 2);  // bytes
    const bool past_cache = out.rows * width > LARGE && out.data != finish.onto.data && !finish.in_place &&
                            width % sizeof(Floats) == 0 &&
                            reinterpret_cast<std::uintptr_t>(out.data) % sizeof(Floats) == 0;
    float tail[2 * W];
    for (std::int64_t i = begin; i < end; ++i, x += columns + GAP) {
        if (finish.only && finish.only->starts[i] == finish.only->stops[i]) continue;
        const std::int64_t at = (finish.order ? finish.order[i] : i) * out.stride;
        if (out.kind == Kind::single) {
            float *to = static_cast<float *>(out.data) + at;
            std::int64_t q = 0;
            for (; 2 * W * (q + 1) <= out.columns; ++q) {
                const Floats a = load<Floats>(x + place(q)), b = load<Floats>(x + place(q) + 16);
                put(to + 2 * W * q, INTERLEAVE_LOW(a, b), past_cache),
                    put(to + 2 * W * q + W, INTERLEAVE_HIGH(a, b), past_cache);
            }
            if (2 * W * q < out.columns) {  // `out` may have fewer columns, and then any number
                const Floats a = load<Floats>(x + place(q)), b = load<Floats>(x + place(q) + 16);
                store(tail, INTERLEAVE_LOW(a, b)), store(tail + W, INTERLEAVE_HIGH(a, b));
                std::memcpy(to + 2 * W * q, tail, (out.columns - 2 * W * q) * sizeof(float));
            }
        } else {
            std::uint16_t *to = static_cast<std::uint16_t *>(out.data) + at;
            for (std::int64_t q = 0; q < columns / (2 * W); ++q) {
                const Words low = rounded(load<Floats>(x + place(q))), high = rounded(load<Floats>(x + place(q) + 16));
                put(to + 2 * W * q, (Floats)((low >> 16) | (high & 0xffff0000u)), past_cache);
            }
        }
    }
}

// Rows of zeros stay: nodes without edges have no vector, and are not to get one from the others' mean.
void take_away(const float *shift, float *rows, std::int64_t count, std::int64_t columns) {
    for (std::int64_t i = 0; i < count; ++i) {
        float *row = rows + i * (columns + GAP);
        if (std::all_of(row, row + columns, [](float x) { return x == 0.f; })) continue;
        for (std::int64_t c = 0; c < columns; c += W) store(row + c, load<Floats>(row + c) - load<Floats>(shift + c));
    }
}

void scale_to_unit(float *rows, std::int64_t count, std::int64_t columns) {
    for (std::int64_t i = 0; i < count; ++i) {
        float *row = rows + i * (columns + GAP);
        Floats squares[LANES / W] = {};
        for (std::int64_t c = 0; c < columns; c += LANES)
            for (int q = 0; q < LANES / W; ++q) {
                const Floats x = load<Floats>(row + c + W * q);
                squares[q] = fma(x, x, squares[q]);
            }
        double sum = 0;
        for (int c = 0; c < LANES; ++c) sum += squares[c / W][c % W];
        const Floats f = broadcast(sum > 0 ? static_cast<float>(1 / std::sqrt(sum)) : 0.f);
        for (std::int64_t c = 0; c < columns; c += W) store(row + c, f * load<Floats>(row + c));
    }
}

void round_rows(float *rows, std::int64_t count, std::int64_t columns) {
    for (std::int64_t c = 0; c < count * (columns + GAP); c += W)
        store(rows + c, (Floats)(rounded(load<Floats>(rows + c)) & 0xffff0000u));
}

void add_sums(const float *rows, std::int64_t begin, std::int64_t end, std::int64_t columns, const float *weights,
              double *sums) {
    for (std::int64_t i = begin; i < end; ++i, rows += columns + GAP) {
        const double weight = weights ? weights[i] : 1.;
        for (std::int64_t c = 0; c < columns; ++c) sums[c] += weight * rows[c];
    }
}

// ---- sums over all rows -------------------------------------------------------------------------------------------------------

// The Gram matrix (on and above the diagonal) and the sums of the columns of a unit, in split order.
struct Partial {
    std::vector<double> gram, sums;
    Partial(const Finish &finish, std::int64_t columns)
        : gram(finish.gram ? columns * columns : 0), sums(finish.sums ? columns : 0) {}
    bool wanted() const { return !gram.empty() || !sums.empty(); }
    void clear() {
        std::fill(gram.begin(), gram.end(), 0.);
        std::fill(sums.begin(), sums.end(), 0.);
    }
};

// Their sums over the units as pairs of float64, a sum and what its rounding has lost. A unit's numbers are sums of a few
// floats, so that pairs hold their sums exactly unless these differ by a factor of 2^70 or more: where the matrix is cut into
// blocks, and which of these are summed first, changes nothing.
struct Totals {
    std::vector<double> gram, gram_rest, sums, sums_rest;
    Totals(const Finish &finish, std::int64_t columns)
        : gram(finish.gram ? columns * columns : 0), gram_rest(gram.size()), sums(finish.sums ? columns : 0),
          sums_rest(sums.size()) {}
    static void add(const double *more, std::int64_t count, double *sum, double *rest) {
        for (std::int64_t c = 0; c < count; ++c) {
            const double a = sum[c], b = more[c], total = a + b, part = total - a;
            rest[c] += (a - (total - part)) + (b - part);  // exact (Knuth)
            sum[c] = total;
        }
    }
    void add(const Partial &unit, std::int64_t columns) {
        for (std::size_t a = 0; a < unit.gram.size() / columns; ++a) {  // from the group of the diagonal on
            const std::int64_t first = a * columns + a / GROUP * GROUP;
            add(unit.gram.data() + first, (a + 1) * columns - first, gram.data() + first, gram_rest.data() + first);
        }
        add(unit.sums.data(), static_cast<std::int64_t>(unit.sums.size()), sums.data(), sums_rest.data());
    }
};

void finish_rows(float *rows, std::int64_t columns, std::int64_t begin, std::int64_t end, const Finish &finish,
                 float *spare, Partial &unit, Fetch &fetch) {
    const std::int64_t count = end - begin;
    if (finish.plus.data) {
        read_rows(finish.plus, begin, end, spare);
        const Floats t = broadcast(finish.plus_scale);
        for (std::int64_t c = 0; c < count * (columns + GAP); c += W)  // what is in the gaps does not matter
            store(rows + c, fma(t, load<Floats>(spare + c), load<Floats>(rows + c)));
    }
    if (finish.shift) take_away(finish.shift, rows, count, columns);
    if (finish.unit) scale_to_unit(rows, count, columns);
    if (finish.gram && finish.out.kind == Kind::half)
        round_rows(rows, count, columns);  // the Gram matrix is of what is stored
    if (finish.gram) add_gram(rows, count, columns, unit.gram.data(), fetch);
    if (finish.sums) add_sums(rows, begin, end, columns, finish.weights, unit.sums.data());
    if (finish.rotation) {
        rotate_rows(rows, count, columns, finish.rotation, false, spare, fetch);
        if (finish.after) take_away(finish.after, spare, count, columns);
        scale_to_unit(spare, count, columns);
    }
    if (finish.out.data) write_rows(finish.rotation ? spare : rows, columns, begin, end, finish);
}

// ---- threads -----------------------------------------------------------------------------------------------------------

std::unique_ptr<float, decltype(&std::free)> aligned_floats(std::int64_t count) {
    void *memory = nullptr;
    if (posix_memalign(&memory, 64, count * sizeof(float))) throw std::bad_alloc();
    std::memset(memory, 0, count * sizeof(float));
    return {static_cast<float *>(memory), &std::free};
}

// A sum and its rest with another sum and rest added, in place.
void add_pair(double sum, double rest, double *to, double *to_rest) {
    const double a = *to, total = a + sum, part = total - a;
    *to_rest += (a - (total - part)) + (sum - part) + rest;
    *to = total;
}

void hand_over(const Totals &totals, const Finish &finish, std::int64_t columns) {
    const std::int64_t size = columns * columns;
    for (std::int64_t a = 0; finish.gram && a < columns; ++a)  // the columns in their order, and the mirror image
        for (std::int64_t b = a; b < columns; ++b) {
            const std::int64_t i = column_at(a), j = column_at(b), at = i * columns + j, mirror = j * columns + i;
            add_pair(totals.gram[a * columns + b], totals.gram_rest[a * columns + b], finish.gram + at,
                     finish.gram + size + at);
            finish.gram[mirror] = finish.gram[at];
            finish.gram[size + mirror] = finish.gram[size + at];
        }
    for (std::int64_t c = 0; finish.sums && c < columns; ++c)
        add_pair(totals.sums[c], totals.sums_rest[c], finish.sums + column_at(c), finish.sums + columns + column_at(c));
}

// Runs fill(begin, end, rows, spare, next) and finish_rows on each block of 128 rows, units dealt to threads in order;
// fetch(begin, end) says what the rows from begin to end will need from memory: the `next` of the block before.
template <class Fill, class Next>
void over_blocks(std::int64_t rows, std::int64_t columns, const Finish &finish, int threads, Fill fill, Next fetch) {
    const std::int64_t units = (rows + UNIT - 1) / UNIT;
    const bool alone = threads == 1;  // then the unit after this one is next
    std::atomic<std::int64_t> free{0};
    std::int64_t turn = 0;
    std::mutex mutex;
    std::condition_variable turned;
    Totals totals(finish, columns);
    auto split = aligned_floats(2 * columns);  // the rows that are taken away, in split order
    Finish ready = finish;
    for (std::int64_t c = 0; finish.shift && c < columns; ++c) split.get()[c] = finish.shift[column_at(c)];
    for (std::int64_t c = 0; finish.after && c < columns; ++c) split.get()[columns + c] = finish.after[column_at(c)];
    if (finish.shift) ready.shift = split.get();
    if (finish.after) ready.after = split.get() + columns;
    parallel(static_cast<int>(std::min<std::int64_t>(threads, units)), [&](int) {
        auto fresh = aligned_floats(BLOCK * (columns + GAP)), spare = aligned_floats(BLOCK * (columns + GAP));
        Partial mine(finish, columns);
        for (std::int64_t unit; !is_stopped() && (unit = free++) < units;) {
            mine.clear();
            const std::int64_t stop = std::min(rows, (unit + 1) * UNIT), known = alone ? rows : stop;
            for (std::int64_t i = unit * UNIT; i < stop; i += BLOCK) {
                const std::int64_t end = std::min(stop, i + BLOCK);
                Fetch next = fetch(end, std::min(known, end + BLOCK));
                fill(i, end, fresh.get(), spare.get(), next);
                finish_rows(fresh.get(), columns, i, end, ready, spare.get(), mine, next);
            }
            if (mine.wanted()) {
                std::unique_lock<std::mutex> lock(mutex);
                while (!turned.wait_for(lock, PATIENCE, [&] { return turn == unit; }))
                    stop_if_asked();  // its owner may have stopped
                totals.add(mine, columns);
                ++turn;
                turned.notify_all();
            }
        }
        streamed();
    });
    hand_over(totals, finish, columns);
}

// A small matrix in panels of two vectors' width, rows and columns in split order.
std::unique_ptr<float, decltype(&std::free)> panels_of(const float *rotation, std::int64_t k) {
    auto panels = aligned_floats(rotation ? k * k : 1);
    for (std::int64_t b = 0; rotation && b < k; b += 2 * W)
        for (std::int64_t a = 0; a < k; ++a)
            for (std::int64_t c = 0; c < 2 * W; ++c)
                panels.get()[b * k + a * 2 * W + c] = rotation[column_at(a) * k + column_at(b + c)];
    return panels;
}

template <class X> void apply_to(const Operator &m, const Tall &x, const Finish &finish, int threads) {
    const bool onto = finish.onto.data;
    const bool changed = finish.plus.data || finish.shift || finish.unit || finish.gram || finish.sums ||
                         finish.rotation || m.loop != 0.f;
    Finish ready = finish;
    const auto panels = panels_of(finish.rotation, x.columns);
    if (finish.rotation) ready.rotation = panels.get();
    ready.plus.places = m.list;
    // Sums that go on in place: of the rows without entries nothing is read or written.
    if (onto && finish.onto.data == finish.out.data && !changed) ready.only = &m;
    const auto fill = [&](std::int64_t begin, std::int64_t end, float *fresh, float *, Fetch &) {
        if (ready.only) {
            for (std::int64_t i = begin; i < end; ++i)
                if (m.starts[i] < m.stops[i]) read_rows(finish.onto, i, i + 1, fresh + (i - begin) * (x.columns + GAP));
        } else if (onto) {
            read_rows(finish.onto, begin, end, fresh);
        }
        product_rows<X>(m, x, finish.scale, onto, begin, end, fresh);
    };
    over_blocks(m.rows, x.columns, ready, threads, fill,
                [&](std::int64_t begin, std::int64_t end) { return fetch_entries<X>(m, x, begin, end); });
}

void apply(const Operator &m, const Tall &x, const Finish &finish, int threads) {
    switch (x.kind) {
    case Kind::single:
        return apply_to<Single>(m, x, finish, threads);
    case Kind::half:
        return apply_to<Half>(m, x, finish, threads);
    case Kind::signs:
        return apply_to<Signs>(m, x, finish, threads);
    }
}

void rotate(const Tall &x, const float *rotation, bool triangular, const Finish &finish, int threads) {
    const std::int64_t k = x.columns;
    const auto panels = panels_of(rotation, k);
    Finish ready = finish;
    ready.in_place = finish.out.data == x.data;
    const auto fill = [&](std::int64_t begin, std::int64_t end, float *fresh, float *spare, Fetch &next) {
        read_rows(x, begin, end, rotation ? spare : fresh);
        if (rotation) rotate_rows(spare, end - begin, k, panels.get(), triangular, fresh, next);
    };
    const std::int64_t bytes = k * (x.kind == Kind::single ? 4 : 2);
    const auto fetch = [&](std::int64_t begin, std::int64_t end) {
        return x.rows * bytes > NEAR ? Fetch{static_cast<const char *>(x.data), bytes, begin, end, x.places} : Fetch{};
    };
    over_blocks(x.rows, k, ready, threads, fill, fetch);
}

}  // namespace

const Arithmetic &JOIN(arithmetic_, VARIANT)() {
    static const Arithmetic table{TEXT(VARIANT), apply, rotate};
    return table;
}
