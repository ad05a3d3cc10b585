// Edge arrays to CSR: ids are numbered, edges are counted and dealt to their rows, rows are sorted and merged.
// Every row ends up sorted by column, direction and weight, so nothing depends on the order of the lines or on
// the number of threads, the sums of weights included.
#include "checks.h"
#include "numbering.h"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace nb = nanobind;

namespace {
namespace edges {

using Weights = std::optional<Input<float>>;

// ---- ids to node numbers ----------------------------------------------------------------------------

// The set of ids in a dense range: a bit each, and before each word the number of bits that came earlier.
class BitRank {
    std::vector<std::atomic<uint64_t>> bits_;
    std::vector<int32_t> before_;

  public:
    explicit BitRank(size_t range) : bits_(range / 64 + 1), before_(range / 64 + 2) {}

    void add(uint64_t at) {
        uint64_t bit = uint64_t(1) << (at & 63);
        auto &word = bits_[at >> 6];
        if (!(word.load(std::memory_order_relaxed) & bit)) word.fetch_or(bit, std::memory_order_relaxed);
    }

    int32_t close() {
        int64_t total = 0;
        in_steps(0, bits_.size(), [&](size_t w) { before_[w + 1] = int32_t(total += __builtin_popcountll(bits_[w])); });
        if (total > std::numeric_limits<int32_t>::max())
            throw std::length_error("there are more distinct ids than a graph can have nodes");
        return int32_t(total);
    }

    int32_t rank(uint64_t at) const {
        uint64_t lower = (uint64_t(1) << (at & 63)) - 1;
        return before_[at >> 6] + __builtin_popcountll(bits_[at >> 6].load(std::memory_order_relaxed) & lower);
    }

    void list(int64_t lowest, int64_t *names) const {
        in_steps(0, bits_.size(), [&](size_t w) {
            for (uint64_t left = bits_[w]; left; left &= left - 1)
                *names++ = int64_t(uint64_t(lowest) + w * 64 + uint64_t(__builtin_ctzll(left)));
        });
    }
};

template <class T> struct Ids {
    const T *source, *target;
    size_t size;
};

template <class T> Buffer<int64_t> number_dense(Ids<T> ids, T lowest, uint64_t range, int32_t *out[2], int threads) {
    BitRank seen(range);
    auto each = [&](int t, auto visit) {
        in_steps(ids.size * t / threads, ids.size * (t + 1) / threads, [&](size_t i) {
            visit(i, 0, uint64_t(ids.source[i]) - uint64_t(lowest));
            visit(i, 1, uint64_t(ids.target[i]) - uint64_t(lowest));
        });
    };
    parallel(threads, [&](int t) { each(t, [&](size_t, int, uint64_t at) { seen.add(at); }); });
    Buffer<int64_t> names(seen.close());
    seen.list(lowest, names.begin());
    parallel(threads, [&](int t) { each(t, [&](size_t i, int side, uint64_t at) { out[side][i] = seen.rank(at); }); });
    return names;
}

template <class T> Buffer<int64_t> number_sparse(Ids<T> ids, int32_t *out[2]) {
    constexpr size_t distance = 16;
    const uint64_t seed = hash_seed();
    Numbering numbering;
    std::vector<std::pair<T, int32_t>> order;           // each id with the number it got when it first appeared
    for (int side : {0, 1}) {
        const T *each = side ? ids.target : ids.source;
        in_steps(0, ids.size, [&](size_t i) {
            if (i + distance < ids.size) numbering.prefetch(hash_integer(each[i + distance] ^ seed));
            out[side][i] = numbering.number(hash_integer(each[i] ^ seed), [](int32_t) { return true; });
            if (size_t(out[side][i]) == order.size()) order.emplace_back(each[i], out[side][i]);
        });
    }
    size_t n = order.size();
    uint64_t compared = 0;
    std::sort(order.begin(), order.end(), [&](const auto &a, const auto &b) {
        stop_if_asked(++compared);
        return a < b;
    });
    Buffer<int64_t> names(n);
    std::vector<int32_t> rank(n);
    for (size_t i = 0; i < n; ++i) {
        names[i] = order[i].first;
        rank[order[i].second] = int32_t(i);
    }
    for (int side : {0, 1}) in_steps(0, ids.size, [&](size_t i) { out[side][i] = rank[out[side][i]]; });
    return names;
}

template <class T> nb::tuple number_ids(Input<T> source, Input<T> target, Threads threads) {
    need(source.size() == target.size(), "`source` and `target` must be equally long");
    Ids<T> ids{source.data(), target.data(), source.size()};
    Buffer<int32_t> first(ids.size), second(ids.size);
    Buffer<int64_t> names;
    {
        Released released;
        int32_t *out[2] = {first.begin(), second.begin()};
        T lowest = ids.size ? ids.source[0] : 0, highest = lowest;
        in_steps(0, ids.size, [&](size_t i) {
            lowest = std::min({lowest, ids.source[i], ids.target[i]});
            highest = std::max({highest, ids.source[i], ids.target[i]});
        });
        uint64_t range = uint64_t(highest) - uint64_t(lowest);
        // A bit and a half for each possible id: up to here the table is smaller than the ids themselves.
        names = range < 64 * ids.size + 1024 ? number_dense(ids, lowest, range, out, threads) : number_sparse(ids, out);
    }
    return nb::make_tuple(first.numpy(), second.numpy(), names.numpy());
}

// ---- edges to rows ----------------------------------------------------------------------------------

struct Edges {
    const int32_t *source, *target;
    const float *weights;
    size_t size;
    bool directed;
    bool weighted() const { return weights; }
};

// Arcs as `deal_arcs` put them into a file: row, key and, if there are weights, the bits of the weight.
struct Arcs {
    const uint32_t *records;
    size_t size;
    uint32_t first;                              // the row that is row 0 here
    bool with_weights;
    bool weighted() const { return with_weights; }
};

struct Tally {
    int64_t missing = 0, loops = 0, zeros = 0;   // edges that lead nowhere
    int64_t arcs = 0, reciprocal = 0;            // distinct directed edges; pairs listed in both directions
    void operator+=(const Tally &o) {
        missing += o.missing;
        loops += o.loops;
        zeros += o.zeros;
        arcs += o.arcs;
        reciprocal += o.reciprocal;
    }
};

// An entry of a row: the column, and below it one bit for the direction it was listed in (0: from this row).
// Sorted, both directions of an edge are neighbors.
using Key = uint32_t;

// Visits both ends of the usable edges from `begin` to `end`; `ahead` hears of each row some edges before.
template <class Ahead, class Visit>
Tally visit(const Edges &edges, size_t begin, size_t end, Ahead ahead, Visit visit) {
    constexpr size_t distance = 16;
    Tally tally;
    in_steps(begin, end, [&](size_t i) {
        if (i + distance < end) {
            ahead(std::max(edges.source[i + distance], 0));
            ahead(std::max(edges.target[i + distance], 0));
        }
        int32_t u = edges.source[i], v = edges.target[i];
        float weight = edges.weights ? edges.weights[i] : 1;
        if (u < 0 || v < 0) {
            ++tally.missing;
            return;
        }
        if (weight == 0) {
            ++tally.zeros;
            return;
        }
        if (u == v) {
            ++tally.loops;
            return;
        }
        visit(u, Key(v) << 1, weight);
        if (!edges.directed) visit(v, Key(u) << 1 | 1, weight);
    });
    return tally;
}

template <class Ahead, class Visit> Tally visit(const Arcs &arcs, size_t begin, size_t end, Ahead ahead, Visit visit) {
    constexpr size_t distance = 16;
    const size_t width = arcs.with_weights ? 3 : 2;
    in_steps(begin, end, [&](size_t i) {
        const uint32_t *record = arcs.records + i * width;
        if (i + distance < end) ahead(int32_t(record[distance * width] - arcs.first));
        float weight = 1;
        if (arcs.with_weights) std::memcpy(&weight, record + 2, 4);
        visit(int32_t(record[0] - arcs.first), record[1], weight);
    });
    return Tally();
}

// A long row looks whether to stop; a short one has no time for it.
template <class T> void sort_entries(T *begin, T *end) {
    if (end - begin < 1 << 20) return std::sort(begin, end);
    uint64_t compared = 0;
    std::sort(begin, end, [&](const T &a, const T &b) { return stop_if_asked(++compared), a < b; });
}

void sort_row(Key *keys, float *weights, size_t size, std::vector<std::pair<Key, float>> &scratch) {
    if (!weights) {
        if (!std::is_sorted(keys, keys + size)) sort_entries(keys, keys + size);
        return;
    }
    scratch.resize(size);
    for (size_t i = 0; i < size; ++i) scratch[i] = {keys[i], weights[i]};
    sort_entries(scratch.data(), scratch.data() + size);  // by weight too: sums do not depend on the order of the lines
    for (size_t i = 0; i < size; ++i) std::tie(keys[i], weights[i]) = scratch[i];
}

// Merges equal entries of a sorted row in place (same direction: added; both directions: the larger);
// returns how many are left.
size_t merge_row(Key *keys, float *weights, size_t size, Tally &tally) {
    size_t kept = 0;
    for (size_t i = 0; i < size;) {
        stop_if_asked(kept + 1);
        Key column = keys[i] >> 1;
        double sums[2] = {0, 0};
        bool listed[2] = {false, false};
        for (; i < size && keys[i] >> 1 == column; ++i) {
            sums[keys[i] & 1] += weights ? weights[i] : 1;
            listed[keys[i] & 1] = true;
        }
        keys[kept] = column;
        if (weights) weights[kept] = float(std::max(sums[0], sums[1]));
        ++kept;
        tally.arcs += listed[0];
        tally.reciprocal += listed[0] && listed[1];
    }
    return kept;
}

// Row boundaries that give each thread about as many entries.
std::vector<int64_t> balanced(const int64_t *offsets, int64_t rows, int threads) {
    std::vector<int64_t> bounds(threads + 1, rows);
    for (int t = 0; t < threads; ++t)
        bounds[t] = std::lower_bound(offsets, offsets + rows, offsets[rows] * t / threads) - offsets;
    return bounds;
}

struct Csr {
    Buffer<int64_t> indptr;
    Buffer<Key> indices;
    Buffer<float> weights;
    Tally tally;
    float *weights_from(int64_t row) { return weights ? weights.begin() + indptr[row] : nullptr; }
};

// Deals the edges to their rows, in the order of the list. Each thread has a part of the list and its own place
// in every row, behind the entries of the parts before.
template <class List> void scatter(int64_t n, const List &edges, Csr &csr, int threads) {
    auto part = [&](int t) { return edges.size * t / threads; };
    std::vector<Buffer<int64_t>> places(threads);
    std::vector<Tally> tallies(threads);
    parallel(threads, [&](int t) {
        places[t] = Buffer<int64_t>(n + 1);
        int64_t *count = places[t].begin();
        std::fill_n(count, n + 1, 0);
        tallies[t] = visit(
            edges, part(t), part(t + 1), [=](int32_t row) { __builtin_prefetch(&count[row], 1); },
            [=](int32_t row, Key, float) { ++count[row]; });
    });
    for (const Tally &tally : tallies) csr.tally += tally;
    int64_t total = 0;
    for (int64_t row = 0; row < n; ++row) {
        csr.indptr[row] = total;
        for (auto &place : places) total += std::exchange(place[row], total);
    }
    csr.indptr[n] = total;
    csr.indices = Buffer<Key>(total);
    if (edges.weighted()) csr.weights = Buffer<float>(total);
    parallel(threads, [&](int t) {
        int64_t *place = places[t].begin();
        Key *keys = csr.indices.begin();
        float *weights = csr.weights.begin();
        visit(
            edges, part(t), part(t + 1), [=](int32_t row) { __builtin_prefetch(&keys[place[row]], 1); },
            [=](int32_t row, Key key, float weight) {
                int64_t at = place[row]++;
                keys[at] = key;
                if (weights) weights[at] = weight;
            });
    });
}

// Sorts every row; true if one lists the same edge in the same direction twice.
bool sort_rows(Csr &csr, const std::vector<int64_t> &bounds) {
    std::atomic<bool> repeated{false};
    parallel(int(bounds.size()) - 1, [&](int t) {
        std::vector<std::pair<Key, float>> scratch;
        for (int64_t row = bounds[t]; row < bounds[t + 1]; ++row) {
            stop_if_asked(row << 8);
            Key *begin = csr.indices.begin() + csr.indptr[row], *end = csr.indices.begin() + csr.indptr[row + 1];
            sort_row(begin, csr.weights_from(row), end - begin, scratch);
            if (std::adjacent_find(begin, end) != end) repeated = true;
        }
    });
    return repeated;
}

// Merges every row, then moves the rows left over what was merged away.
void merge_rows(int64_t n, Csr &csr, const std::vector<int64_t> &bounds) {
    Buffer<int64_t> kept(n);
    int64_t at = 0;
    std::vector<Tally> tallies(bounds.size() - 1);
    parallel(int(tallies.size()), [&](int t) {
        for (int64_t row = bounds[t]; row < bounds[t + 1]; ++row) {
            stop_if_asked(row << 8);
            kept[row] = merge_row(csr.indices.begin() + csr.indptr[row], csr.weights_from(row),
                                  csr.indptr[row + 1] - csr.indptr[row], tallies[t]);
        }
    });
    for (const Tally &tally : tallies) csr.tally += tally;
    for (int64_t row = 0; row < n; ++row) {
        stop_if_asked(row << 8);
        int64_t begin = csr.indptr[row];
        csr.indptr[row] = at;
        if (at != begin) {
            std::copy_n(csr.indices.begin() + begin, kept[row], csr.indices.begin() + at);
            if (csr.weights) std::copy_n(csr.weights.begin() + begin, kept[row], csr.weights.begin() + at);
        }
        at += kept[row];
    }
    csr.indptr[n] = at;
    if (size_t(at) == csr.indices.size()) return;
    csr.indices.shrink(at);
    if (csr.weights) csr.weights.shrink(at);
}

template <class List> Csr build(int64_t n, const List &edges, int threads) {
    Csr csr;
    csr.indptr = Buffer<int64_t>(n + 1);
    scatter(n, edges, csr, threads);
    std::vector<int64_t> bounds = balanced(csr.indptr.begin(), n, threads);
    if (sort_rows(csr, bounds) && !csr.weights) {  // how often an edge was listed becomes its weight
        csr.weights = Buffer<float>(csr.indices.size());
        std::fill_n(csr.weights.begin(), csr.indices.size(), 1.f);
    }
    merge_rows(n, csr, bounds);
    return csr;
}

nb::tuple build_rows(int64_t n, Input<int32_t> source, Input<int32_t> target, Weights weights, bool directed,
                     Threads threads) {
    need(n >= 0 && n <= std::numeric_limits<int32_t>::max(), "`nodes` must be from 0 to 2^31 - 1");
    need(source.size() == target.size(), "`source` and `target` must be equally long");
    need(!weights || weights->size() == source.size(), "`weights` must have one number for each edge");
    Edges edges{source.data(), target.data(), weights ? weights->data() : nullptr, source.size(), directed};
    Csr csr;
    {
        Released released;
        const int32_t most = int32_t(n);
        need(none(edges.size, [=](size_t i) { return (edges.source[i] >= most) | (edges.target[i] >= most); }),
             "`source` and `target` must be below `nodes`");
        if (weights)
            need(none(edges.size, [=](size_t i) { return edges.weights[i] != edges.weights[i]; }),
                 "`weights` must be numbers");
        csr = build(n, edges, edges.size < 100000 ? 1 : std::min<int>(threads, 16));
    }
    const Tally &t = csr.tally;
    return nb::make_tuple(csr.indptr.numpy(), csr.indices.numpy<int32_t>(), csr.weights.numpy(),
                          nb::make_tuple(t.missing, t.loops, t.zeros, t.arcs, t.reciprocal / 2));
}

// The same for some consecutive rows, from the records of their arcs. Pairs listed in both directions are counted once
// in each of their two rows.
nb::tuple merge_arcs(int64_t rows, int64_t first, Input<uint32_t> records, bool weighted, Threads threads) {
    const size_t width = weighted ? 3 : 2;
    const int64_t most = std::numeric_limits<int32_t>::max();
    need(rows >= 0 && first >= 0 && first <= most && rows <= most - first,
         "`rows` and `first` must be rows of a graph");
    need(records.size() % width == 0, "`records` must be whole: two words each, or three with weights");
    Arcs arcs{records.data(), records.size() / width, uint32_t(first), weighted};
    Csr csr;
    {
        Released released;
        const uint32_t *const words = arcs.records, count = uint32_t(rows), start = arcs.first;
        need(none(arcs.size, [=](size_t i) { return words[i * width] - start >= count; }),
             "`records` must be of these rows");
        if (weighted)
            need(none(arcs.size, [=](size_t i) { return (words[i * width + 2] & 0x7fffffffu) > 0x7f800000u; }),
                 "weights of `records` must be numbers");
        csr = build(rows, arcs, arcs.size < 100000 ? 1 : std::min<int>(threads, 16));
    }
    return nb::make_tuple(csr.indptr.numpy(), csr.indices.numpy<int32_t>(), csr.weights.numpy(), csr.tally.arcs,
                          csr.tally.reciprocal);
}

// ---- a matrix that may already be a graph ------------------------------------------------------------

// Looks a matrix over in one pass: -1 if an index is out of range, else a sum of 1: rows strictly ascending,
// 2: no entry on the diagonal, 4: equal to its transpose. Row i is read in ascending order of i, so row j meets
// its own entries in ascending order too, and a cursor for each row replaces the transpose.
int inspect(const Input<int64_t> &indptr, const Input<int32_t> &indices, const Weights &weights) {
    need(indptr.size() >= 1, "`indptr` must have one entry more than there are rows");
    need(!weights || weights->size() == indices.size(), "`weights` must have one number for each entry");
    int64_t n = int64_t(indptr.size()) - 1;
    const int64_t *ends = indptr.data();
    const int32_t *columns = indices.data();
    const float *values = weights ? weights->data() : nullptr;
    if (ends[0] != 0 || ends[n] != int64_t(indices.size())) return -1;
    if (!none(size_t(n), [=](size_t i) { return ends[i] > ends[i + 1]; })) return -1;
    std::vector<int64_t> cursor(ends, ends + n);
    bool ascending = true, hollow = true, symmetric = true;
    for (int64_t i = 0; i < n; ++i) {
        stop_if_asked(i << 8);
        for (int64_t at = ends[i]; at < ends[i + 1]; ++at) {
            int32_t j = columns[at];
            if (j < 0 || j >= n) return -1;
            ascending &= at == ends[i] || columns[at - 1] < j;
            hollow &= j != i;
            if (j <= i || !symmetric) continue;
            int64_t mirror = cursor[j]++;
            symmetric = mirror < ends[j + 1] && columns[mirror] == i && (!values || values[mirror] == values[at]);
        }
        // What lies below the diagonal must have been met, all of it, by the rows above.
        symmetric = symmetric && (cursor[i] == ends[i + 1] || columns[cursor[i]] >= i);
    }
    return ascending + 2 * hollow + 4 * (symmetric && ascending);
}

}  // namespace edges
}  // namespace

void bind_edges(nb::module_ &module) {
    using namespace edges;
    using namespace nb::literals;
    module.def("number_ids", &number_ids<int32_t>, "source"_a, "target"_a, nb::kw_only(), "threads"_a);
    module.def("number_ids", &number_ids<int64_t>, "source"_a, "target"_a, nb::kw_only(), "threads"_a);
    module.def("build_rows", &build_rows, "nodes"_a, "source"_a, "target"_a, nb::kw_only(), "weights"_a.none(),
               "directed"_a, "threads"_a);
    module.def("merge_arcs", &merge_arcs, "rows"_a, "first"_a, "records"_a, nb::kw_only(), "weighted"_a, "threads"_a);
    module.def(
        "inspect_rows",
        [](Input<int64_t> indptr, Input<int32_t> indices, Weights weights) {
            Released released;
            return inspect(indptr, indices, weights);
        },
        "indptr"_a, "indices"_a, "weights"_a.none());
}
