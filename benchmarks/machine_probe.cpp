// Loops that do one thing as fast as a machine can: read, write and copy memory, gather rows at random, multiply and add.
//
// `machine_probe.py` compiles this file for the machine it runs on and calls it; nothing of graphrefine is in it. Each
// function does its work once with so many threads, and returns the seconds from the moment all of them are ready.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int BYTES = 64;  // of a vector
#elif defined(__AVX2__)
constexpr int BYTES = 32;
#else
constexpr int BYTES = 16;
#endif
typedef std::uint64_t Words __attribute__((vector_size(BYTES)));
typedef float Floats __attribute__((vector_size(BYTES)));
constexpr std::int64_t LINE = 64;   // bytes of a line of the cache
constexpr int CHAINS = 16;          // sums that do not wait for each other

template <class V> inline V load(const void *from) {
    V v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

// Past the cache: a line that is written whole need not be read first. `to` is aligned to a vector.
inline void stream(char *to, Words v) {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i *>(to), (__m512i)v);
#elif defined(__AVX2__)
    _mm256_stream_si256(reinterpret_cast<__m256i *>(to), (__m256i)v);
#elif defined(__x86_64__)
    _mm_stream_si128(reinterpret_cast<__m128i *>(to), (__m128i)v);
#else
    std::memcpy(to, &v, sizeof v);
#endif
}

// So that the compiler keeps the work: to it, a store like this may be read by anybody.
template <class V> void keep(const V *sums, int count) {
    volatile char sink = 0;
    const char *bytes = reinterpret_cast<const char *>(sums);
    for (std::size_t b = 0; b < count * sizeof(V); ++b) sink = sink ^ bytes[b];
}

template <class Work> double timed(int threads, const Work &work) {
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t)
        others.emplace_back([&, t] {
            ++ready;
            while (!go) std::this_thread::yield();
            work(t);
        });
    while (ready < threads - 1) std::this_thread::yield();
    const auto start = std::chrono::steady_clock::now();
    go = true;
    work(0);
    for (auto &each : others) each.join();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The part of `size` bytes that belongs to thread t, whole steps of CHAINS vectors.
struct Part {
    std::int64_t begin, end;
    Part(std::int64_t size, int threads, int t) {
        const std::int64_t step = CHAINS * BYTES, steps = size / step;
        begin = steps * t / threads * step, end = steps * (t + 1) / threads * step;
    }
};

template <int LINES, int HINT> struct Gather {
    static void prefetch(const char *row) {
        for (int l = 0; l < LINES; ++l) {
            if (HINT == 1) __builtin_prefetch(row + l * LINE, 0, 3);  // into all levels
            if (HINT == 2) __builtin_prefetch(row + l * LINE, 0, 2);  // into the second and third
            if (HINT == 3) __builtin_prefetch(row + l * LINE, 0, 0);  // for one use
        }
    }
    static void run(const char *matrix, const std::int32_t *rows, std::int64_t begin, std::int64_t end, std::int64_t ahead) {
        constexpr int PARTS = LINES * LINE / BYTES;
        Words sum[PARTS] = {};
        for (std::int64_t p = begin; p < end; ++p) {
            if (HINT) prefetch(matrix + std::int64_t(rows[p + ahead]) * LINES * LINE);  // `rows` is longer than `end`
            const char *row = matrix + std::int64_t(rows[p]) * LINES * LINE;
            for (int q = 0; q < PARTS; ++q) sum[q] += load<Words>(row + q * BYTES);
        }
        keep(sum, PARTS);
    }
};

template <int LINES> auto choose(int hint) {
    switch (hint) {
    case 1: return Gather<LINES, 1>::run;
    case 2: return Gather<LINES, 2>::run;
    case 3: return Gather<LINES, 3>::run;
    default: return Gather<LINES, 0>::run;
    }
}

}  // namespace

extern "C" {

double read_memory(const char *from, std::int64_t size, int threads) {
    return timed(threads, [=](int t) {
        const Part part(size, threads, t);
        Words sum[CHAINS] = {};
        for (std::int64_t b = part.begin; b < part.end; b += CHAINS * BYTES)
            for (int c = 0; c < CHAINS; ++c) sum[c] += load<Words>(from + b + c * BYTES);
        keep(sum, CHAINS);
    });
}

double write_memory(char *to, std::int64_t size, int threads) {
    return timed(threads, [=](int t) {
        const Part part(size, threads, t);
        for (std::int64_t b = part.begin; b < part.end; b += BYTES) stream(to + b, Words{});
    });
}

double copy_memory(const char *from, char *to, std::int64_t size, int threads) {
    return timed(threads, [=](int t) {
        const Part part(size, threads, t);
        for (std::int64_t b = part.begin; b < part.end; b += BYTES) stream(to + b, load<Words>(from + b));
    });
}

// Sums of rows of `lines` lines each (1, 2, 4 or 8); `rows` has `ahead` numbers more than the `count` that are gathered.
// hint: 0 none, 1 into all levels of the cache, 2 into the second and third, 3 for one use. Negative: no such kernel.
double gather_rows(const char *matrix, int lines, const std::int32_t *rows, std::int64_t count, std::int64_t ahead, int hint,
                   int threads) {
    const auto run = lines == 1 ? choose<1>(hint) : lines == 2 ? choose<2>(hint) : lines == 4 ? choose<4>(hint)
                   : lines == 8 ? choose<8>(hint) : nullptr;
    if (!run) return -1;
    return timed(threads, [=](int t) { run(matrix, rows, count * t / threads, count * (t + 1) / threads, ahead); });
}

// Products and sums of float32, each in one rounding: rounds * fma_width() of them in each thread.
double multiply_add(std::int64_t rounds, int threads) {
    return timed(threads, [=](int) {
        Floats sum[CHAINS], factor = Floats{} + 0.999f, term = Floats{} + 0.001f;
        for (int c = 0; c < CHAINS; ++c) sum[c] = Floats{} + float(c);  // or one chain would do for all
        for (std::int64_t r = 0; r < rounds; ++r)
            for (int c = 0; c < CHAINS; ++c) sum[c] = sum[c] * factor + term;  // compiled with -ffp-contract=fast
        keep(sum, CHAINS);
    });
}

int fma_width() { return CHAINS * BYTES / 4; }
}
