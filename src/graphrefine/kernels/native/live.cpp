// A graph that changes, and the vectors that follow it; the mathematics is in docs/live.md.
//
// G is kept near the fixed point of  G = a R + (1 - a) T G.  T is (A + loop I) with rows that add up to 1, and row i of R is a
// function of row i of A and of parts that are frozen:  R_i = (q / |q| - mean) W,  q = sum over j of (ln A_ij - ln d_i + shift_j) B_j.
// For each node a number `lag` bounds the length of its residual  a R^ + (1 - a) T G - G  (R^: R as it was last made), and `drift`
// the length by which q has moved since. A change of an edge raises both at its two ends, a row of G that moves raises `lag` at
// its neighbours, and `settle` makes rows anew, each of which then has no lag but that of rounding, until all are within the
// tolerance. The vector of a node is  F = (G - a R^) / (1 - a), near T G. It is published once it has moved by a share of its
// length since it last was. The order of all of it is a function of the changes: the same changes give the same bits.
#include "live.h"
#include "arrays.h"
#include "exact.h"
#include "threads.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T> using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

const LiveArithmetic *arithmetic = &live_arithmetic_baseline();
Exact exact;

constexpr double NEVER = std::numeric_limits<double>::infinity();  // drift of a row that has to be made anew
constexpr double UP = 1 + 1e-9;  // the rounding of bounds themselves: always upwards
constexpr int NUMBERS = 6;       // of a node, see `Node`
// Range of the weights, and of their sum at a node: products with rows of float32 neither overflow nor vanish there.
constexpr double LEAST_WEIGHT = 0x1p-100, LARGEST_WEIGHT = 0x1p100, LARGEST_DEGREE = 0x1p120;

enum Operation : std::uint8_t { ADD = 0, REMOVE = 1, SET = 2, ISOLATE = 3 };
enum Problem : int { NONE = 0, NO_EDGE = 1, OUT_OF_RANGE = 2 };

bool is_weight(float w) { return w == 0.f || (w >= LEAST_WEIGHT && w <= LARGEST_WEIGHT); }  // 0: no edge

void need(bool holds, const char *what) {
    if (!holds) throw std::invalid_argument(what);
}

double logarithm(double x) {
    double y;
    exact.evaluate(Function::log, &x, 0, &y, 1);
    return y;
}

// The largest distance of two unit vectors, one of them along x and the other along x + e, |e| <= t |x|.
// That is 2 sin(x / 2) for sin x = t, in a form that small angles do not cancel in.
double chord(double t) { return t < 1 ? t * std::sqrt(2 / (1 + std::sqrt((1 - t) * (1 + t)))) * UP : 2; }

// Memory that is read at random: in huge pages where there are some.
template <class T> struct HugePages {
    using value_type = T;
    HugePages() = default;
    template <class U> HugePages(const HugePages<U> &) {}
    T *allocate(std::size_t count) {
        void *memory = with_huge_pages(std::malloc(count * sizeof(T)), count * sizeof(T));
        if (!memory) throw std::bad_alloc();
        return static_cast<T *>(memory);
    }
    void deallocate(T *memory, std::size_t) { std::free(memory); }
    friend bool operator==(const HugePages &, const HugePages &) { return true; }
    friend bool operator!=(const HugePages &, const HugePages &) { return false; }
};
template <class T> using Large = std::vector<T, HugePages<T>>;

// Rows of float32 that grow at the end.
class Table {
    Large<float> data_;  // its room doubles; untouched pages of it cost nothing

public:
    std::int64_t columns = 0;
    void resize(std::int64_t rows) {
        if (static_cast<std::size_t>(rows * columns) > data_.capacity()) data_.reserve(std::max<std::size_t>(rows * columns, data_.capacity() + data_.capacity() / 8));
        data_.resize(rows * columns);
    }
    float *operator[](std::int64_t row) { return data_.data() + row * columns; }
    const float *operator[](std::int64_t row) const { return data_.data() + row * columns; }
    const float *begin() const { return data_.data(); }
};

struct Node {
    double degree = 0;
    double lag = 0, drift = 0;   // see above
    double length = 0;           // of q, when R was made
    double unpublished = 0;      // way of F since it was published
    double energy = 0;           // sum of the squares of its row of M, when R was made
    std::int64_t start = 0;      // of its row among the entries
    std::int32_t count = 0, room = 0;
    std::uint32_t group = 0;     // the last group that the node was kept for, to be undone
    std::uint32_t published = 0; // the last group that published its vector
    bool queued = false;
};

struct Kept {  // a node as it was before the group
    std::int32_t node;
    double numbers[NUMBERS];
    std::int64_t rows;  // of R and G among the kept rows; -1: not yet kept
};

void copy_numbers(const Node &node, double *to) {
    const double numbers[NUMBERS] = {node.degree, node.lag, node.drift, node.length, node.unpublished, node.energy};
    std::copy_n(numbers, NUMBERS, to);
}
void put_numbers(const double *from, Node &node) {
    node.degree = from[0], node.lag = from[1], node.drift = from[2], node.length = from[3], node.unpublished = from[4], node.energy = from[5];
}

struct Edge {
    std::int32_t source, target;
    float weight;  // 0: none
};

class LiveGraph {
    std::int64_t columns_, known_;  // known_: nodes that have a row of the basis
    Matrix<const float> basis_;
    std::vector<float> shift_, reach_;  // of the known nodes: shift, and length of the row of B
    std::vector<double> rotation_, mean_;
    double a_, loop_, tolerance_, rounding_, spread_, publish_;
    double typical_shift_ = 0;  // of nodes without a row of the basis
    Large<Node> nodes_;
    Large<std::int32_t> neighbours_;
    Large<float> weights_;
    std::int64_t wasted_ = 0, entries_ = 0;
    Table R_, G_;
    std::deque<std::int32_t> queue_;
    // of the group that is under way
    std::uint32_t group_ = 1;
    std::int64_t nodes_before_ = 0;
    std::vector<Edge> undone_;
    std::vector<Kept> kept_;
    std::vector<std::int64_t> place_;  // of a node among the kept ones
    Large<float> kept_rows_;
    std::vector<std::int32_t> published_;
    std::int64_t made_ = 0, gathered_ = 0;
    double energy_ = 0, captured_ = 0, energy_before_ = 0, captured_before_ = 0;  // sums over the nodes: of energy, of squared lengths
    std::deque<std::int32_t> queue_before_;
    // room for one row
    std::vector<double> sum_, turned_, factors_;
    std::vector<std::int32_t> known_neighbours_;

    double inverse(const Node &node) const { return 1 / (node.degree + loop_); }

    // ---- rows of the graph: ascending, with room at the end ----------------------------------------------------------------

    std::int64_t find(const Node &node, std::int32_t other) const {
        const auto first = neighbours_.begin() + node.start, last = first + node.count;
        return std::lower_bound(first, last, other) - first;
    }
    float weight(std::int32_t u, std::int32_t v) const {
        const Node &node = nodes_[u];
        const std::int64_t at = find(node, v);
        return at < node.count && neighbours_[node.start + at] == v ? weights_[node.start + at] : 0.f;
    }
    double sum_weights(const Node &node) const {
        double sum = 0;
        for (std::int32_t e = 0; e < node.count; ++e) sum += weights_[node.start + e];
        return sum;
    }
    void put(std::int32_t u, std::int32_t v, float w) {  // one direction; 0 removes
        Node &node = nodes_[u];
        const std::int64_t at = find(node, v);
        const bool there = at < node.count && neighbours_[node.start + at] == v;
        if (w == 0.f) {
            if (!there) return;
            std::move(neighbours_.begin() + node.start + at + 1, neighbours_.begin() + node.start + node.count, neighbours_.begin() + node.start + at);
            std::move(weights_.begin() + node.start + at + 1, weights_.begin() + node.start + node.count, weights_.begin() + node.start + at);
            --node.count, --entries_;
        } else if (there) {
            weights_[node.start + at] = w;
        } else {
            if (node.count == node.room) make_room(node);
            std::move_backward(neighbours_.begin() + node.start + at, neighbours_.begin() + node.start + node.count, neighbours_.begin() + node.start + node.count + 1);
            std::move_backward(weights_.begin() + node.start + at, weights_.begin() + node.start + node.count, weights_.begin() + node.start + node.count + 1);
            neighbours_[node.start + at] = v, weights_[node.start + at] = w;
            ++node.count, ++entries_;
        }
    }
    void make_room(Node &node) {
        if (wasted_ > (1 << 20) && wasted_ > static_cast<std::int64_t>(neighbours_.size()) / 2) pack();
        const std::int32_t room = std::max<std::int32_t>(4, node.count + node.count / 2);
        const std::int64_t start = static_cast<std::int64_t>(neighbours_.size());
        neighbours_.resize(start + room), weights_.resize(start + room);
        std::copy_n(neighbours_.begin() + node.start, node.count, neighbours_.begin() + start);
        std::copy_n(weights_.begin() + node.start, node.count, weights_.begin() + start);
        wasted_ += node.room;
        node.start = start, node.room = room;
    }
    void pack() {
        Large<std::int32_t> neighbours;
        Large<float> weights;
        neighbours.reserve(entries_ + entries_ / 4), weights.reserve(entries_ + entries_ / 4);
        for (Node &node : nodes_) {
            const std::int64_t start = static_cast<std::int64_t>(neighbours.size());
            neighbours.insert(neighbours.end(), neighbours_.begin() + node.start, neighbours_.begin() + node.start + node.count);
            weights.insert(weights.end(), weights_.begin() + node.start, weights_.begin() + node.start + node.count);
            node.start = start, node.room = node.count;
        }
        neighbours_.swap(neighbours), weights_.swap(weights);
        wasted_ = 0;
    }

    // ---- what can be undone ----------------------------------------------------------------------------------------------------

    Kept &keep(std::int32_t u) {
        Node &node = nodes_[u];
        if (node.group != group_) {
            node.group = group_;
            place_[u] = static_cast<std::int64_t>(kept_.size());
            kept_.push_back({u, {}, -1});
            copy_numbers(node, kept_.back().numbers);
        }
        return kept_[place_[u]];
    }
    void keep_rows(std::int32_t u) {
        Kept &kept = keep(u);
        if (kept.rows >= 0) return;
        kept.rows = static_cast<std::int64_t>(kept_rows_.size());
        kept_rows_.insert(kept_rows_.end(), R_[u], R_[u] + columns_);
        kept_rows_.insert(kept_rows_.end(), G_[u], G_[u] + columns_);
    }

    // ---- bounds ------------------------------------------------------------------------------------------------------------------

    double behind(const Node &node) const {  // of R
        if (node.drift == 0) return 0;
        return node.drift < node.length ? spread_ * chord(node.drift / node.length) : NEVER;
    }
    double total_lag(const Node &node) const { return node.lag + a_ * behind(node); }
    void look(std::int32_t u) {
        Node &node = nodes_[u];
        if (!node.queued && total_lag(node) > tolerance_) node.queued = true, queue_.push_back(u);
    }

    // What `undo` goes back to, beside the nodes that are kept.
    void remember() { energy_before_ = energy_, captured_before_ = captured_, queue_before_ = queue_; }
    void look_at_all() {  // after all nodes were set, which is not undone
        for (std::size_t u = 0; u < nodes_.size(); ++u) look(static_cast<std::int32_t>(u));
        remember();
    }

    // The end u of an edge to v, whose weight goes from `before` to `after`; the row itself has it already.
    void note(std::int32_t u, std::int32_t v, double before, double after) {
        keep(u);
        Node &node = nodes_[u];
        const double change = after - before, old = node.degree;
        const double degree = 2 * (old + change) > old ? old + change : sum_weights(node);  // anew, where rounding would take over
        node.degree = degree;
        if (!(old > 0) || !(degree > 0)) {
            node.drift = NEVER;
        } else {
            const double far = arithmetic->length(G_[v], 1 - a_, G_[u], -1, R_[u], a_, columns_);
            node.lag = (node.lag + std::abs(change) / (degree + loop_) * (far + node.lag)) * UP;
            double moved = std::abs(change) / std::min(old, degree) * std::sqrt(static_cast<double>(node.count));
            if (v < known_) {
                const double entry = before > 0 && after > 0 ? logarithm(after) - logarithm(before)
                                     : after > 0             ? logarithm(after) - logarithm(degree) + shift_[v]
                                                             : logarithm(before) - logarithm(old) + shift_[v];
                moved += std::abs(entry) * reach_[v];
            }
            node.drift += moved * UP;
        }
        look(u);
    }
    void set_weight(std::int32_t u, std::int32_t v, float before, float after) {
        undone_.push_back({u, v, before});
        put(u, v, after), put(v, u, after);
        note(u, v, before, after), note(v, u, before, after);
    }

    // ---- rows made anew ---------------------------------------------------------------------------------------------------------

    double make_target(std::int32_t u) {  // R, and how far it moved
        Node &node = nodes_[u];
        float *row = R_[u];
        energy_ -= node.energy, captured_ -= node.length * node.length;
        node.drift = 0, node.length = 0, node.energy = 0;
        known_neighbours_.clear(), factors_.clear();
        const std::int32_t *others = neighbours_.data() + node.start;
        const float *weights = weights_.data() + node.start;
        const double degree = node.degree = sum_weights(node);  // anew, without the rounding of many changes
        const double own = degree > 0 ? logarithm(degree) : 0;
        for (std::int32_t e = 0; e < node.count; ++e) {
            const bool known = others[e] < known_;
            const double entry = (weights[e] == 1.f ? 0. : logarithm(weights[e])) - own + (known ? shift_[others[e]] : typical_shift_);
            node.energy += entry * entry;
            if (!known || reach_[others[e]] == 0) continue;
            known_neighbours_.push_back(others[e]), factors_.push_back(entry);
        }
        const std::int64_t count = static_cast<std::int64_t>(factors_.size());
        gathered_ += count;
        if (count) {
            arithmetic->sum_precisely(known_neighbours_.data(), factors_.data(), count, basis_.data(), columns_, sum_.data());
            double squares = 0;
            for (const double x : sum_) squares += x * x;
            node.length = std::sqrt(squares);
        }
        energy_ += node.energy, captured_ += node.length * node.length;
        if (node.length > 0) {
            for (std::int64_t c = 0; c < columns_; ++c) sum_[c] = sum_[c] / node.length - mean_[c];
            arithmetic->rotate(sum_.data(), rotation_.data(), columns_, turned_.data());
        } else {
            std::fill(turned_.begin(), turned_.end(), 0.);
        }
        double squares = 0;
        for (std::int64_t c = 0; c < columns_; ++c) {
            const float fresh = static_cast<float>(turned_[c]);
            const double step = static_cast<double>(fresh) - row[c];
            squares += step * step;
            row[c] = fresh;
        }
        return std::sqrt(squares) * UP;
    }

    double make_state(std::int32_t u) {  // G, and how far it moved
        Node &node = nodes_[u];
        float *row = G_[u];
        const float *target = R_[u];
        gathered_ += node.count;
        arithmetic->sum_rows(neighbours_.data() + node.start, weights_.data() + node.start, node.count, G_.begin(), columns_, sum_.data());
        const double share = inverse(node), loop = (1 - a_) * loop_ * share, scale = 1 / (1 - loop);
        double squares = 0;
        for (std::int64_t c = 0; c < columns_; ++c) {
            const float fresh = node.count ? static_cast<float>((a_ * target[c] + (1 - a_) * share * sum_[c]) * scale) : 0.f;
            const double step = static_cast<double>(fresh) - row[c];
            squares += step * step;
            row[c] = fresh;
        }
        node.lag = rounding_;
        return std::sqrt(squares) * UP;
    }

    double length_of(std::int32_t u) const { return arithmetic->length(G_[u], 1 / (1 - a_), R_[u], -a_ / (1 - a_), R_[u], 0, columns_); }

    void publish(std::int32_t u) {
        nodes_[u].unpublished = 0;
        if (nodes_[u].published != group_) nodes_[u].published = group_, published_.push_back(u);
    }

    void make(std::int32_t u) {
        keep_rows(u);
        Node &node = nodes_[u];
        const double turn = node.drift > 0 ? make_target(u) : 0, step = make_state(u);
        ++made_;
        node.unpublished += (step + a_ * turn) / (1 - a_) * UP;
        if (node.unpublished > publish_ * length_of(u)) publish(u);
        if (step == 0) return;
        const std::int32_t *others = neighbours_.data() + node.start;
        const float *weights = weights_.data() + node.start;
        for (std::int32_t e = 0; e < node.count; ++e) {
            if (e + 8 < node.count) __builtin_prefetch(&nodes_[others[e + 8]]);
            Node &other = nodes_[others[e]];
            keep(others[e]);
            other.lag += (1 - a_) * weights[e] * inverse(other) * step * UP;
            if (!other.queued && total_lag(other) > tolerance_) other.queued = true, queue_.push_back(others[e]);
        }
    }

    void check_node(std::int64_t u) const { need(u >= 0 && u < static_cast<std::int64_t>(nodes_.size()), "there is no such node"); }

public:
    LiveGraph(const Input<std::int64_t> &indptr, const Input<std::int32_t> &indices, const std::optional<Input<float>> &weights,
              const Matrix<const float> &basis, const Input<float> &shifts, const Matrix<const double> &rotation, const Input<double> &mean, double keep,
              double loop, double tolerance, double rounding, double spread, double publish)
        : columns_(static_cast<std::int64_t>(basis.shape(1))), known_(static_cast<std::int64_t>(basis.shape(0))), basis_(basis), a_(keep), loop_(loop),
          tolerance_(tolerance), rounding_(rounding), spread_(spread), publish_(publish) {
        const std::int64_t rows = static_cast<std::int64_t>(indptr.shape(0)) - 1, entries = static_cast<std::int64_t>(indices.shape(0));
        need(rows >= 0 && indptr.data()[0] == 0 && indptr.data()[rows] == entries, "`indptr` must run from 0 to the number of entries");
        need(!weights || static_cast<std::int64_t>(weights->shape(0)) == entries, "`weights` must have one number for each entry");
        need(columns_ > 0 && columns_ % 32 == 0 && known_ <= rows, "`basis` has a row for each of the first nodes, padded to a multiple of 32");
        need(static_cast<std::int64_t>(shifts.shape(0)) == known_, "`shifts` must have one number for each row of the basis");
        need(static_cast<std::int64_t>(rotation.shape(0)) == columns_ && rotation.shape(1) == rotation.shape(0), "`rotation` must be columns x columns");
        need(static_cast<std::int64_t>(mean.shape(0)) == columns_, "`mean` must have one number for each column");
        need(keep > 0 && keep < 1 && loop > 0, "`keep` lies between 0 and 1, and the loop is positive");
        need(rounding >= 0 && tolerance > rounding && spread >= 0 && publish >= 0, "the tolerance is above the rounding; nothing is negative");
        for (std::int64_t i = 0; i < rows; ++i) need(indptr.data()[i] <= indptr.data()[i + 1], "`indptr` must not decrease");
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t e = indptr.data()[i]; e < indptr.data()[i + 1]; ++e)
                need(indices.data()[e] >= 0 && indices.data()[e] < rows && indices.data()[e] != i && (e == indptr.data()[i] || indices.data()[e - 1] < indices.data()[e]),
                     "`indices` must be other nodes, ascending in each row");
        nodes_.resize(rows), place_.resize(rows);
        neighbours_.assign(indices.data(), indices.data() + entries);
        if (weights) weights_.assign(weights->data(), weights->data() + entries);
        else weights_.assign(entries, 1.f);
        entries_ = entries;
        for (std::int64_t i = 0; i < rows; ++i) {
            Node &node = nodes_[i];
            node.start = indptr.data()[i], node.count = node.room = static_cast<std::int32_t>(indptr.data()[i + 1] - node.start);
            for (std::int64_t e = node.start; e < node.start + node.count; ++e)
                need(weights_[e] > 0 && is_weight(weights_[e]), "`weights` must lie between 2^-100 and 2^100");
            node.degree = sum_weights(node);
            need(node.degree <= LARGEST_DEGREE, "the weights of a node must add up to 2^120 at most");
            node.drift = NEVER;
        }
        shift_.assign(shifts.data(), shifts.data() + known_);
        for (const float shift : shift_) typical_shift_ += shift;
        typical_shift_ /= std::max<double>(1, static_cast<double>(known_));
        reach_.resize(known_);
        for (std::int64_t i = 0; i < known_; ++i) {
            double squares = 0;
            for (std::int64_t c = 0; c < columns_; ++c) squares += static_cast<double>(basis.data()[i * columns_ + c]) * basis.data()[i * columns_ + c];
            reach_[i] = static_cast<float>(std::sqrt(squares) * (1 + 1e-6));
        }
        rotation_.assign(rotation.data(), rotation.data() + columns_ * columns_);
        mean_.assign(mean.data(), mean.data() + columns_);
        R_.columns = G_.columns = columns_;
        R_.resize(rows), G_.resize(rows);
        sum_.resize(columns_), turned_.resize(columns_);
        nodes_before_ = rows;
    }

    void set_tolerance(double tolerance) {
        need(tolerance > rounding_, "the tolerance is above the rounding");
        tolerance_ = tolerance;
        look_at_all();
    }
    std::int64_t nodes() const { return static_cast<std::int64_t>(nodes_.size()); }
    std::int64_t entries() const { return entries_; }
    std::int64_t made() const { return made_; }
    std::int64_t gathered() const { return gathered_; }
    double energy() const { return energy_; }
    double captured() const { return captured_; }

    void add_nodes(std::int64_t count) {
        need(count >= 0 && nodes() + count <= std::numeric_limits<std::int32_t>::max(), "there are too many nodes");
        nodes_.resize(nodes_.size() + count), place_.resize(nodes_.size());
        R_.resize(nodes()), G_.resize(nodes());
        for (std::int64_t u = nodes() - count; u < nodes(); ++u) {
            std::fill(R_[u], R_[u] + columns_, 0.f), std::fill(G_[u], G_[u] + columns_, 0.f);
            publish(static_cast<std::int32_t>(u));
        }
    }

    // The changes in order: NONE, or the first that cannot be made, and why; those before it are made.
    std::tuple<std::int64_t, int> change(const Input<std::uint8_t> &operations, const Input<std::int32_t> &sources, const Input<std::int32_t> &targets,
                                         const Input<float> &weights, bool skip) {
        const std::size_t count = operations.shape(0);
        need(sources.shape(0) == count && targets.shape(0) == count && weights.shape(0) == count, "a change has an operation, two ends and a weight");
        for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t u = sources.data()[i], v = targets.data()[i];
            check_node(u), check_node(v);
            need(operations.data()[i] <= ISOLATE && (u != v || operations.data()[i] == ISOLATE), "an edge joins two nodes");
        }
        std::int64_t skipped = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t u = sources.data()[i], v = targets.data()[i];
            if (operations.data()[i] == ISOLATE) {
                while (nodes_[u].count) {
                    const std::int64_t last = nodes_[u].start + nodes_[u].count - 1;
                    set_weight(u, neighbours_[last], weights_[last], 0.f);
                }
                continue;
            }
            const float before = weight(u, v), given = weights.data()[i];
            const float after = operations.data()[i] == REMOVE ? 0.f : operations.data()[i] == ADD ? before + given : given;
            if (operations.data()[i] == REMOVE && before == 0.f) {
                if (!skip) return {static_cast<std::int64_t>(i), NO_EDGE};
                ++skipped;
                continue;
            }
            if (!is_weight(after) || !(nodes_[u].degree + after <= LARGEST_DEGREE) || !(nodes_[v].degree + after <= LARGEST_DEGREE))
                return {static_cast<std::int64_t>(i), OUT_OF_RANGE};
            if (after != before) set_weight(u, v, before, after);
        }
        return {skipped, NONE};
    }

    void settle() {
        Released released;
        for (std::uint64_t i = 0; !queue_.empty(); ++i) {
            if (i % 64 == 0) stop_if_asked();
            const std::int32_t u = queue_.front();
            queue_.pop_front();
            nodes_[u].queued = false;
            if (total_lag(nodes_[u]) > tolerance_) make(u);
        }
    }

    void commit() {
        nodes_before_ = nodes();
        remember();
        undone_.clear(), kept_.clear(), kept_rows_.clear(), published_.clear();
        const std::size_t room = std::max<std::size_t>(1 << 22, nodes_.size() * columns_ / 4);  // fresh memory has to be cleared first
        if (kept_rows_.capacity() > room) Large<float>().swap(kept_rows_);
        if (++group_ == 0) {  // after four billion groups
            for (Node &node : nodes_) node.group = node.published = 0;
            group_ = 1;
        }
    }

    void undo() {
        for (std::size_t i = undone_.size(); i-- > 0;) {
            put(undone_[i].source, undone_[i].target, undone_[i].weight);
            put(undone_[i].target, undone_[i].source, undone_[i].weight);
        }
        for (const Kept &kept : kept_) {
            Node &node = nodes_[kept.node];
            put_numbers(kept.numbers, node);
            if (kept.rows < 0) continue;
            std::copy_n(kept_rows_.data() + kept.rows, columns_, R_[kept.node]);
            std::copy_n(kept_rows_.data() + kept.rows + columns_, columns_, G_[kept.node]);
        }
        for (const std::int32_t u : queue_) nodes_[u].queued = false;
        queue_ = queue_before_;
        for (const std::int32_t u : queue_) nodes_[u].queued = true;
        energy_ = energy_before_, captured_ = captured_before_;
        nodes_.resize(nodes_before_), place_.resize(nodes_before_);
        R_.resize(nodes_before_), G_.resize(nodes_before_);
        commit();
    }

    nb::object published() const {  // nodes of this group, in order
        Buffer<std::int32_t> nodes(published_.size());
        std::copy(published_.begin(), published_.end(), nodes.begin());
        std::sort(nodes.begin(), nodes.begin() + nodes.size());
        return nodes.numpy();
    }

    // out[i] <- the vector of a node, (G - a R) / (1 - a), not unit; its length, or -1 if the node has no edges
    void vectors(const Input<std::int32_t> &which, const Matrix<float> &out, const Numbers &lengths) const {
        need(out.shape(0) == which.shape(0) && lengths.shape(0) == which.shape(0) && static_cast<std::int64_t>(out.shape(1)) == columns_,
             "`out` must have a row for each node, and `lengths` a number");
        for (std::size_t i = 0; i < which.shape(0); ++i) {
            check_node(which.data()[i]);
            const float *state = G_[which.data()[i]], *target = R_[which.data()[i]];
            for (std::int64_t c = 0; c < columns_; ++c)
                out.data()[i * columns_ + c] = static_cast<float>((state[c] - a_ * target[c]) / (1 - a_));
            lengths.data()[i] = nodes_[which.data()[i]].count ? length_of(which.data()[i]) : -1;
        }
    }

    void degrees(const Input<std::int32_t> &which, const Numbers &out) const {
        need(out.shape(0) == which.shape(0), "`out` must have a number for each node");
        for (std::size_t i = 0; i < which.shape(0); ++i) {
            check_node(which.data()[i]);
            out.data()[i] = nodes_[which.data()[i]].degree;
        }
    }

    // out[u] <- the lag in all of each node
    void lags(const Numbers &out) const {
        need(static_cast<std::int64_t>(out.shape(0)) == nodes(), "`out` must have one number for each node");
        for (std::size_t u = 0; u < nodes_.size(); ++u) out.data()[u] = total_lag(nodes_[u]);
    }

    // out[u] <- a bound of the distance of F from the fixed point's: see docs/live.md. Each round makes it sharper.
    void bounds(const Numbers &out, int rounds) const {
        need(static_cast<std::int64_t>(out.shape(0)) == nodes() && rounds >= 0, "`out` must have one number for each node");
        Released released;
        std::vector<double> lag(nodes_.size()), error(nodes_.size()), next(nodes_.size());
        double most = 0;
        for (std::size_t u = 0; u < nodes_.size(); ++u) lag[u] = total_lag(nodes_[u]), most = std::max(most, lag[u]);
        std::fill(error.begin(), error.end(), most / a_ * UP);
        const auto step = [&](std::size_t u) {  // of T
            const Node &node = nodes_[u];
            double sum = loop_ * error[u];
            for (std::int32_t e = 0; e < node.count; ++e) sum += static_cast<double>(weights_[node.start + e]) * error[neighbours_[node.start + e]];
            return sum * inverse(node) * UP;
        };
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t u = 0; u < nodes_.size(); ++u) stop_if_asked(u), next[u] = lag[u] + (1 - a_) * step(u);
            error.swap(next);
        }
        for (std::size_t u = 0; u < nodes_.size(); ++u) stop_if_asked(u), out.data()[u] = step(u) + nodes_[u].lag / (1 - a_);
    }

    // The rows of the graph as they are: indptr, neighbours, weights.
    nb::tuple rows() const {
        Buffer<std::int64_t> indptr(nodes_.size() + 1);
        Buffer<std::int32_t> indices(entries_);
        Buffer<float> weights(entries_);
        std::int64_t at = 0;
        for (std::size_t u = 0; u < nodes_.size(); ++u) {
            indptr[u] = at;
            std::copy_n(neighbours_.begin() + nodes_[u].start, nodes_[u].count, indices.begin() + at);
            std::copy_n(weights_.begin() + nodes_[u].start, nodes_[u].count, weights.begin() + at);
            at += nodes_[u].count;
        }
        indptr[nodes_.size()] = at;
        return nb::make_tuple(indptr.numpy(), indices.numpy(), weights.numpy());
    }

    nb::tuple neighbours(std::int64_t u) const {
        check_node(u);
        const Node &node = nodes_[u];
        Buffer<std::int32_t> indices(node.count);
        Buffer<float> weights(node.count);
        std::copy_n(neighbours_.begin() + node.start, node.count, indices.begin());
        std::copy_n(weights_.begin() + node.start, node.count, weights.begin());
        return nb::make_tuple(indices.numpy(), weights.numpy());
    }

    // R, G and the numbers (see `Node`) of the nodes from `first` on, out of here or into it; then `begin`.
    void take_out(std::int64_t first, const Matrix<float> &targets, const Matrix<float> &states, const Matrix<double> &numbers) const {
        check_shapes(first, targets, states, numbers);
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(numbers.shape(0)); ++i) {
            std::copy_n(R_[first + i], columns_, targets.data() + i * columns_);
            std::copy_n(G_[first + i], columns_, states.data() + i * columns_);
            copy_numbers(nodes_[first + i], numbers.data() + i * NUMBERS);
        }
    }
    void put_in(std::int64_t first, const Matrix<const float> &targets, const Matrix<const float> &states, const Matrix<const double> &numbers) {
        check_shapes(first, targets, states, numbers);
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(numbers.shape(0)); ++i) {
            std::copy_n(targets.data() + i * columns_, columns_, R_[first + i]);
            std::copy_n(states.data() + i * columns_, columns_, G_[first + i]);
            put_numbers(numbers.data() + i * NUMBERS, nodes_[first + i]);
        }
    }
    void begin() {
        energy_ = captured_ = 0;
        for (const Node &node : nodes_) energy_ += node.energy, captured_ += node.length * node.length;
        look_at_all();
    }
    template <class F, class D> void check_shapes(std::int64_t first, const F &targets, const F &states, const D &numbers) const {
        const auto fits = [&](const auto &array, std::int64_t columns) {
            return array.shape(0) == numbers.shape(0) && static_cast<std::int64_t>(array.shape(1)) == columns;
        };
        need(fits(targets, columns_) && fits(states, columns_) && fits(numbers, NUMBERS), "a node has a row of targets, of states, and six numbers");
        need(first >= 0 && first <= nodes() - static_cast<std::int64_t>(numbers.shape(0)), "there are no such nodes");
    }

    void put_states(const Matrix<const float> &states) {
        need(static_cast<std::int64_t>(states.shape(0)) == nodes() && static_cast<std::int64_t>(states.shape(1)) == columns_, "there is a row for each node");
        std::copy_n(states.data(), nodes() * columns_, G_[0]);
    }

    // All rows of R anew.
    void make_targets() {
        Released released;
        for (std::size_t u = 0; u < nodes_.size(); ++u) {
            if (u % 1024 == 0) stop_if_asked();
            make_target(static_cast<std::int32_t>(u));
        }
        remember();
    }
    // The states as they are, with their residuals as lags.
    void measure() {
        Released released;
        for (std::size_t u = 0; u < nodes_.size(); ++u) {
            if (u % 1024 == 0) stop_if_asked();
            nodes_[u].lag = residual(static_cast<std::int32_t>(u)) * UP + rounding_;
        }
        look_at_all();
    }
    double residual(std::int32_t u) {
        const Node &node = nodes_[u];
        const float *row = G_[u], *target = R_[u];
        arithmetic->sum_rows(neighbours_.data() + node.start, weights_.data() + node.start, node.count, G_.begin(), columns_, sum_.data());
        const double share = inverse(node);
        double squares = 0;
        for (std::int64_t c = 0; c < columns_; ++c) {
            const double rest = a_ * target[c] + (1 - a_) * share * (sum_[c] + loop_ * row[c]) - row[c];
            squares += rest * rest;
        }
        return std::sqrt(squares);
    }
};

}  // namespace

void bind_live(nb::module_ &module, const std::string &simd) {
    fill_functions_baseline(exact);
#ifdef GRAPHREFINE_X86
    if (simd == "avx2") arithmetic = &live_arithmetic_avx2(), fill_functions_avx2(exact);
    if (simd == "avx512") arithmetic = &live_arithmetic_avx512(), fill_functions_avx512(exact);
#endif
    nb::class_<LiveGraph>(module, "LiveGraph")
        .def(nb::init<const Input<std::int64_t> &, const Input<std::int32_t> &, const std::optional<Input<float>> &, const Matrix<const float> &,
                      const Input<float> &, const Matrix<const double> &, const Input<double> &, double, double, double, double, double, double>(),
             "indptr"_a, "indices"_a, "weights"_a.none(), nb::kw_only(), "basis"_a, "shifts"_a, "rotation"_a, "mean"_a, "keep"_a, "loop"_a, "tolerance"_a,
             "rounding"_a, "spread"_a, "publish"_a)
        .def("set_tolerance", &LiveGraph::set_tolerance, "tolerance"_a)
        .def_prop_ro("nodes", &LiveGraph::nodes)
        .def_prop_ro("entries", &LiveGraph::entries)
        .def_prop_ro("made", &LiveGraph::made)
        .def_prop_ro("gathered", &LiveGraph::gathered)
        .def_prop_ro("energy", &LiveGraph::energy)
        .def_prop_ro("captured", &LiveGraph::captured)
        .def("add_nodes", &LiveGraph::add_nodes, "count"_a)
        .def("change", &LiveGraph::change, "operations"_a, "sources"_a, "targets"_a, "weights"_a, nb::kw_only(), "skip"_a = false)
        .def("settle", &LiveGraph::settle)
        .def("commit", &LiveGraph::commit)
        .def("undo", &LiveGraph::undo)
        .def("published", &LiveGraph::published)
        .def("vectors", &LiveGraph::vectors, "which"_a, "out"_a, "lengths"_a)
        .def("degrees", &LiveGraph::degrees, "which"_a, "out"_a)
        .def("lags", &LiveGraph::lags, "out"_a)
        .def("bounds", &LiveGraph::bounds, "out"_a, nb::kw_only(), "rounds"_a)
        .def("rows", &LiveGraph::rows)
        .def("neighbours", &LiveGraph::neighbours, "node"_a)
        .def("take_out", &LiveGraph::take_out, "first"_a, "targets"_a, "states"_a, "numbers"_a)
        .def("put_in", &LiveGraph::put_in, "first"_a, "targets"_a, "states"_a, "numbers"_a)
        .def("begin", &LiveGraph::begin)
        .def("put_states", &LiveGraph::put_states, "states"_a)
        .def("make_targets", &LiveGraph::make_targets)
        .def("measure", &LiveGraph::measure);
}
