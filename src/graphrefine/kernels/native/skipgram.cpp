// Skip-gram with negative sampling, the same bits for any number of threads.
//
// Nodes are cut into P parts by a hash. The pairs of a chunk of walks, contexts and noise alike, are scattered to a grid of P x P
// blocks by the parts of center and target. The P blocks of a diagonal share no row of either table, so threads work on them
// beside each other, each block in an order of its own that depends on the walks alone. Nothing but the order of the
// steps differs from training on one pair after the other.
#include "checks.h"
#include "random.h"
#include "skipgram.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

namespace nb = nanobind;
using namespace nb::literals;

namespace {
namespace skipgram_arrays {

constexpr std::int64_t UNITS = 16;  // pieces of a chunk, each scattered by one thread and with a rate of its own
constexpr std::int64_t NEAR = 1 << 22;  // bytes of a table that the cache holds
constexpr std::size_t MOST_PARTS = 64;
constexpr std::int64_t MOST = 1 << 20;  // of a window and of negatives

using Matrix = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Walks = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Train fastest;

class SkipGram {
    Input<std::int32_t>
        noise_;  // nodes, each as often as it should be drawn, in random order; as many as a power of two
    std::int64_t most_ = 0;  // the largest of them
    std::int64_t window_, negatives_;
    bool both_;
    std::uint64_t salt_;
    int bits_;  // P = 2^bits
    std::vector<std::vector<std::uint32_t>> streams_;  // by unit, part of the center, part of the target
    std::vector<std::size_t> sizes_;

    std::size_t part(std::int32_t node) const {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(node) * 0x9e3779b1u) >> (32 - bits_);
    }
    std::size_t parts() const { return std::size_t{1} << bits_; }

    // The pairs of walks begin ... end - 1, group by group.
    void scatter(const Walks &walks, std::int64_t begin, std::int64_t end, std::uint64_t first, std::size_t unit) {
        const std::int64_t length = static_cast<std::int64_t>(walks.shape(1));
        std::fill_n(sizes_.begin() + unit * parts() * parts(), parts() * parts(), 0);
        for (std::int64_t w = begin; w < end; ++w) {
            stop_if_asked(static_cast<std::uint64_t>(w) << 8);
            const std::int32_t *walk = walks.data() + w * length;
            const std::int64_t stop = std::find(walk, walk + length, -1) - walk;
            const std::uint64_t key = mixed(salt_ ^ (first + static_cast<std::uint64_t>(w)));
            for (std::int64_t at = 0; at < stop; ++at) {
                const std::uint64_t random = mixed(key + static_cast<std::uint64_t>(at + 1) * GOLDEN);
                const std::int64_t reach =
                    1 + static_cast<std::int64_t>(below(random, static_cast<std::uint64_t>(window_)));
                const std::int64_t from = both_ ? std::max<std::int64_t>(0, at - reach) : at,
                                   to = std::min(stop, at + reach + 1);
                if (to - from > 1) group(walk, at, from, to, random, unit);
            }
        }
    }

    // The pairs of the center walk[at] with the contexts from ... to - 1 but itself, and its noise.
    void group(const std::int32_t *walk, std::int64_t at, std::int64_t from, std::int64_t to, std::uint64_t random,
               std::size_t unit) {
        const std::size_t row = (unit * parts() + part(walk[at])) * parts();
        const std::size_t most = 2 + static_cast<std::size_t>((to - from) * (1 + negatives_)) + SLACK;
        const std::size_t mask = noise_.shape(0) - 1;
        std::uint32_t *tail[MOST_PARTS];
        for (std::size_t p = 0; p < parts(); ++p) {
            auto &stream = streams_[row + p];
            if (sizes_[row + p] + most > stream.size()) stream.resize(2 * (sizes_[row + p] + most));
            tail[p] = stream.data() + sizes_[row + p] + 2;
        }
        std::size_t next = static_cast<std::size_t>(random);
        for (std::int64_t j = from; j < to; ++j) {
            if (j == at) continue;
            const std::int32_t context = walk[j];
            *tail[part(context)]++ = static_cast<std::uint32_t>(context) << 1 | 1;
            for (std::int64_t i = 0; i < negatives_; ++i) {
                const std::int32_t other = noise_.data()[next++ & mask];
                if (other != context) *tail[part(other)]++ = static_cast<std::uint32_t>(other) << 1;
            }
        }
        for (std::size_t p = 0; p < parts(); ++p) {
            std::uint32_t *const head = streams_[row + p].data() + sizes_[row + p];
            if (tail[p] == head + 2) continue;
            head[0] = static_cast<std::uint32_t>(walk[at]);
            head[1] = static_cast<std::uint32_t>(tail[p] - head - 2);
            sizes_[row + p] += static_cast<std::size_t>(tail[p] - head);
        }
    }

  public:
    SkipGram(Input<std::int32_t> noise, std::int64_t window, std::int64_t negatives, bool both, std::uint64_t seed,
             std::size_t parts)
        : noise_(noise), window_(window), negatives_(negatives), both_(both), salt_(mixed(seed + 2 * GOLDEN)),
          bits_(0) {
        while (bits_ < 6 && std::size_t{1} << bits_ < parts) ++bits_;
        need(parts == this->parts() && parts <= MOST_PARTS, "`parts` must be a power of two, at most 64");
        need(noise.shape(0) && !(noise.shape(0) & (noise.shape(0) - 1)), "`noise` must be as long as a power of two");
        need(window >= 1 && window <= MOST && negatives >= 0 && negatives <= MOST,
             "`window` must be from 1, `negatives` from 0 to 2^20");
        need(all_below(noise.data(), noise.shape(0), std::numeric_limits<std::int32_t>::max()),
             "`noise` must be nodes");
        most_ = *std::max_element(noise.data(), noise.data() + noise.shape(0));
        streams_.resize(UNITS * parts * parts), sizes_.resize(UNITS * parts * parts);
    }

    void train(Matrix centers, Matrix contexts, Walks walks, std::uint64_t first, double rate, double last_rate,
               Threads threads) {
        const std::int64_t count = static_cast<std::int64_t>(walks.shape(0)),
                           nodes = static_cast<std::int64_t>(centers.shape(0));
        const std::int64_t columns = static_cast<std::int64_t>(centers.shape(1));
        need(contexts.shape(0) == centers.shape(0) && contexts.shape(1) == centers.shape(1),
             "both tables must have one shape");
        need(columns % 32 == 0, "tables have columns padded to a multiple of 32");
        need(none(walks.size(), [&](std::size_t i) { return (walks.data()[i] < -1) | (walks.data()[i] >= nodes); }),
             "`walks` must be nodes, or -1 after the last");
        need(most_ < nodes, "`noise` must be nodes");
        const Tables tables{centers.data(), contexts.data(), columns, nodes * columns * 4 > NEAR};
        Released released;
        std::atomic<std::int64_t> next{0};
        parallel(threads, [&](int) {
            for (std::int64_t unit; !is_stopped() && (unit = next++) < UNITS;)
                scatter(walks, count * unit / UNITS, count * (unit + 1) / UNITS, first, static_cast<std::size_t>(unit));
        });
        for (std::size_t diagonal = 0; diagonal < parts(); ++diagonal) {
            std::atomic<std::size_t> free{0};
            parallel(std::min<int>(threads, static_cast<int>(parts())), [&](int) {
                for (std::size_t part; (part = free++) < parts();)
                    for (std::size_t unit = 0; unit < UNITS; ++unit) {
                        stop_if_asked();
                        const std::size_t block = (unit * parts() + part) * parts() + (part + diagonal) % parts();
                        const double done = static_cast<double>(unit) / UNITS;
                        fastest(tables, streams_[block].data(), static_cast<std::int64_t>(sizes_[block]),
                                static_cast<float>(rate + (last_rate - rate) * done));
                    }
            });
        }
    }
};

}  // namespace skipgram_arrays
}  // namespace

void bind_skipgram(nb::module_ &module, const std::string &simd) {
    using namespace skipgram_arrays;
    fastest = train_baseline;
#ifdef GRAPHREFINE_X86
    if (simd == "avx2") fastest = train_avx2;
    if (simd == "avx512") fastest = train_avx512;
#endif
    nb::class_<SkipGram>(module, "SkipGram")
        .def(nb::init<Input<std::int32_t>, std::int64_t, std::int64_t, bool, std::uint64_t, std::size_t>(), "noise"_a,
             nb::kw_only(), "window"_a, "negatives"_a, "both"_a, "seed"_a, "parts"_a)
        .def("train", &SkipGram::train, "centers"_a, "contexts"_a, "walks"_a, nb::kw_only(), "first"_a, "rate"_a,
             "last_rate"_a, "threads"_a);
}
