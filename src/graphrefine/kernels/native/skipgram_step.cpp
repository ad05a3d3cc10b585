// One step of skip-gram with negative sampling, compiled once for each instruction set (VARIANT).
//
// Up to eight targets of one center at a time: their dot products with the center, the errors label - sigmoid(dot), then in one
// pass over the columns both updates, target += rate * error * center and center += rate * sum of error * target.
#include "skipgram.h"
#include "vectors.h"

#include <algorithm>
#include <cstring>

namespace {

constexpr int BATCH = 8;  // targets; SLACK lets the last of them be read as if there were as many
constexpr std::int64_t AHEAD = 24;  // words of the stream between a prefetch and its use

typedef float Four __attribute__((vector_size(16)));
typedef float Eight __attribute__((vector_size(32)));
typedef std::int32_t EightInts __attribute__((vector_size(32)));

inline Four folded(Floats v) {  // a vector whose four numbers add up to the sum of all
#if defined(__AVX512F__)
    const Eight half = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    return __builtin_shufflevector(half, half, 0, 1, 2, 3) + __builtin_shufflevector(half, half, 4, 5, 6, 7);
#elif defined(__AVX2__)
    return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
#else
    return v;
#endif
}

inline Four totals(Floats p, Floats q, Floats r, Floats s) {  // the sums of four vectors
    const Four a = folded(p), b = folded(q), c = folded(r), d = folded(s);
    const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

inline Eight sigmoid(Eight x) {  // 1 / (1 + 2^y), to about 1e-7
    Eight y = x * -1.44269504f;
    y = y < -100.f ? Eight{} - 100.f : y;
    y = y > 100.f ? Eight{} + 100.f : y;
    const Eight whole = (y + 12582912.f) - 12582912.f;  // 1.5 * 2^23: rounds to the nearest whole number
    const Eight f = y - whole;                          // from -1/2 to 1/2; the coefficients are ln(2)^i / i!
    Eight power = f * 1.5403530e-4f + 1.3333558e-3f;
    power = power * f + 9.6181291e-3f;
    power = power * f + 5.5504109e-2f;
    power = power * f + 2.4022651e-1f;
    power = power * f + 6.9314718e-1f;
    power = power * f + 1.f;
    const EightInts exponent = (__builtin_convertvector(whole, EightInts) + 127) << 23;
    return 1.f / (1.f + power * (Eight)exponent);
}

template <int T, int CHAINS> inline Four dots(const float *center, float *const *row, std::int64_t columns) {
    Floats sums[4][CHAINS];
    for (int t = 0; t < 4; ++t)
        for (int chain = 0; chain < CHAINS; ++chain) sums[t][chain] = Floats{};
    std::int64_t c = 0;
    do {  // there is a column at least: told so, the compiler keeps the sums in registers
        for (int chain = 0; chain < CHAINS; ++chain) {
            const Floats x = load<Floats>(center + c + chain * W);
            for (int t = 0; t < T; ++t) sums[t][chain] += x * load<Floats>(row[t] + c + chain * W);
        }
    } while ((c += W * CHAINS) < columns);
    for (int t = 0; t < T; ++t)
        for (int chain = 1; chain < CHAINS; ++chain) sums[t][0] += sums[t][chain];
    return totals(sums[0][0], sums[1][0], sums[2][0], sums[3][0]);
}

template <int T> void step(float *center, float *const *rows, const std::uint32_t *words, float rate, std::int64_t columns) {
    float *row[T];  // copies, which stay in registers: a store could change what `rows` points to
    for (int t = 0; t < T; ++t) row[t] = rows[t];
    const Four low = dots<(T > 4 ? 4 : T), 2>(center, row, columns);
    Four high = {};
    if constexpr (T > 4) high = dots<T - 4, 2>(center, row + 4, columns);
    const Eight dot = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    EightInts word;
    std::memcpy(&word, words, sizeof word);
    const Eight errors = (__builtin_convertvector(word & 1, Eight) - sigmoid(dot)) * rate;
    float error[BATCH];
    store(error, errors);
    for (std::int64_t c = 0; c < columns; c += W) {
        const Floats x = load<Floats>(center + c);
        Floats sum = x;
        for (int t = 0; t < T; ++t) {  // in turn, so that a target that occurs twice gets both updates
            const Floats old = load<Floats>(row[t] + c);
            sum += old * error[t];
            store(row[t] + c, old + x * error[t]);
        }
        store(center + c, sum);
    }
}

inline void prefetch(const float *row, std::int64_t columns) {
    for (std::int64_t c = 0; c < columns; c += 16) __builtin_prefetch(row + c, 1);
}

}  // namespace

void JOIN(train_, VARIANT)(const Tables &tables, const std::uint32_t *stream, std::int64_t size, float rate) {
    using Step = void (*)(float *, float *const *, const std::uint32_t *, float, std::int64_t);
    constexpr Step steps[] = {nullptr, step<1>, step<2>, step<3>, step<4>, step<5>, step<6>, step<7>, step<8>};
    const std::int64_t columns = tables.columns;
    float *rows[BATCH];
    for (std::int64_t at = 0; at < size;) {
        float *const center = tables.centers + stream[at] * columns;
        const std::int64_t end = at + 2 + stream[at + 1];
        if (tables.far && end < size) prefetch(tables.centers + stream[end] * columns, columns);
        for (at += 2; at < end; at += BATCH) {
            const std::int64_t count = std::min<std::int64_t>(BATCH, end - at);
            for (std::int64_t t = 0; t < count; ++t) {
                rows[t] = tables.contexts + (stream[at + t] >> 1) * columns;
                // A header read as a target is another row, and fetched for nothing.
                if (tables.far && at + t + AHEAD < size) prefetch(tables.contexts + (stream[at + t + AHEAD] >> 1) * columns, columns);
            }
            steps[count](center, rows, stream + at, rate, columns);
        }
        at = end;
    }
}
