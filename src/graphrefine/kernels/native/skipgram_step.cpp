// One step of skip-gram with negative sampling, compiled once for each instruction set (VARIANT).
//
// Up to eight targets of one center at a time: their dot products with the center, the errors label - sigmoid(dot), then in one
// pass over the columns both updates, target += rate * error * center and center += rate * sum of error * target.
#include "dots.h"
#include "skipgram.h"
#include "threads.h"

#include <algorithm>
#include <cstring>

namespace {
namespace skipgram_step {

constexpr int BATCH = 8;  // targets; SLACK lets the last of them be read as if there were as many
constexpr std::int64_t AHEAD = 24;  // words of the stream between a prefetch and its use

typedef std::int32_t EightInts __attribute__((vector_size(32)));

inline Eight sigmoid(Eight x) {  // 1 / (1 + 2^y), to about 1e-7
    Eight y = x * -1.44269504f;
    y = y < -100.f ? Eight{} - 100.f : y;
    y = y > 100.f ? Eight{} + 100.f : y;
    const Eight whole = (y + 12582912.f) - 12582912.f;  // 1.5 * 2^23: rounds to the nearest whole number
    const Eight f = y - whole;  // from -1/2 to 1/2; the coefficients are ln(2)^i / i!
    Eight power = Eight{} + 1.5403530e-4f;
    for (const float next : {1.3333558e-3f, 9.6181291e-3f, 5.5504109e-2f, 2.4022651e-1f, 6.9314718e-1f, 1.f})
        power = fused(power, f, Eight{} + next);
    const EightInts exponent = (__builtin_convertvector(whole, EightInts) + 127) << 23;
    return 1.f / fused(power, (Eight)exponent, Eight{} + 1.f);
}

template <int T>
void step(float *center, float *const *rows, const std::uint32_t *words, float rate, std::int64_t columns) {
    float *row[T];  // copies, which stay in registers: a store could change what `rows` points to
    for (int t = 0; t < T; ++t) row[t] = rows[t];
    const Four low = dots<(T > 4 ? 4 : T)>(center, row, columns);
    Four high = {};
    if constexpr (T > 4) high = dots<T - 4>(center, row + 4, columns);
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
            const Floats each = broadcast(error[t]);
            sum = fma(old, each, sum);
            store(row[t] + c, fma(x, each, old));
        }
        store(center + c, sum);
    }
}

inline void prefetch(const float *row, std::int64_t columns) {
    for (std::int64_t c = 0; c < columns; c += 16) __builtin_prefetch(row + c, 1);
}

}  // namespace skipgram_step
}  // namespace

void JOIN(train_, VARIANT)(const Tables &tables, const std::uint32_t *stream, std::int64_t size, float rate) {
    using namespace skipgram_step;
    using Step = void (*)(float *, float *const *, const std::uint32_t *, float, std::int64_t);
    constexpr Step steps[] = {nullptr, step<1>, step<2>, step<3>, step<4>, step<5>, step<6>, step<7>, step<8>};
    const std::int64_t columns = tables.columns;
    float *rows[BATCH];
    std::uint64_t groups = 0;
    for (std::int64_t at = 0; at < size;) {
        stop_if_asked(++groups << 6);
        float *const center = tables.centers + stream[at] * columns;
        const std::int64_t end = at + 2 + stream[at + 1];
        if (tables.far && end < size) prefetch(tables.centers + stream[end] * columns, columns);
        for (at += 2; at < end; at += BATCH) {
            const std::int64_t count = std::min<std::int64_t>(BATCH, end - at);
            for (std::int64_t t = 0; t < count; ++t) {
                rows[t] = tables.contexts + (stream[at + t] >> 1) * columns;
                // A header read as a target is another row, and fetched for nothing.
                if (tables.far && at + t + AHEAD < size)
                    prefetch(tables.contexts + (stream[at + t + AHEAD] >> 1) * columns, columns);
            }
            steps[count](center, rows, stream + at, rate, columns);
        }
        at = end;
    }
}
