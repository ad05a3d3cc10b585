// A graph that changes, and the vectors that follow it; the mathematics is in docs/live.md.
//
// G is kept near the fixed point of  G = a R + (1 - a) T G.  T is (A + loop I) with rows that add up to 1, and row i of R is a
// function of row i of A and of parts that are frozen:  R_i = (q / |q| - mean) W,  q = sum over j of (ln A_ij - ln d_i + shift_j) B_j.
// For each node a number `lag` bounds the length of its residual  a R^ + (1 - a) T G - G  (R^: R as it was last made), and `drift`
// the length by which q has moved since. A change of an edge raises both at its two ends, a row of G that moves raises `lag` at
// its neighbors, and `settle` makes rows anew, each of which then has no lag but that of rounding, until all are within the
// tolerance. The vector of a node is  F = (G - a R^) / (1 - a), near T G. It is published once it has moved by a share of its
// length since it last was. The order of all of it is a function of the changes: the same changes give the same bits.
#include "live.h"
#include "arrays.h"
#include "exact.h"
#include "live_edges.h"
#include "live_hubs.h"
#include "threads.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
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
constexpr int NUMBERS = 6;       // of a node: four of `Node`, two of `Record`
constexpr int OWN = 4;           // those of `Node`
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

struct Record {  // of a node: what only its own row asks for
    double unpublished = 0;       // way of F since it was published
    double energy = 0;            // sum of the squares of its row of M, when R was made
    std::uint32_t published = 0;  // the last group that published its vector
};

struct Kept {  // a node as it was before the group
    std::int32_t node;
    double numbers[NUMBERS];  // of `Record` once the rows are kept: neighbors that are told of a step have none to change
    std::int64_t rows, sums;  // of R and G among the kept rows, -1: not yet kept; of the hub among the kept sums, -1: none
};

struct Edge {
    std::int32_t source, target;
    float weight;  // 0: none
};

class LiveGraph : LiveEdges {
    std::int64_t columns_, known_;  // known_: nodes that have a row of the basis
    Matrix<const float> basis_;
    std::vector<float> shift_, reach_;  // of the known nodes: shift, and length of the row of B
    std::vector<double> rotation_, mean_;
    double a_, loop_, tolerance_, rounding_, spread_, publish_;
    double typical_shift_ = 0;  // of nodes without a row of the basis
    Large<Record> records_;
    std::int64_t hub_;  // neighbors from which a node is a hub, whose sums are kept up to date; half as many, and it is none
    HubSums hubs_;
    Table R_, G_;
    std::deque<std::int32_t> queue_;
    // of the group that is under way
    std::uint32_t group_ = 1;
    std::int64_t nodes_before_ = 0;
    std::vector<Edge> undone_;
    std::vector<Kept> kept_;
    Large<float> kept_rows_;
    Large<double> kept_sums_;
    std::vector<HubNumbers> kept_hubs_;
    std::vector<std::int32_t> published_;
    std::int64_t made_ = 0, gathered_ = 0;
    double energy_ = 0, captured_ = 0, energy_before_ = 0, captured_before_ = 0;  // sums over the nodes: of energy, of squared lengths
    std::deque<std::int32_t> queue_before_;
    // room for one row
    std::vector<double> sum_, turned_, step_, factors_;
    std::vector<std::int32_t> known_neighbors_;

    double inverse(const Node &node) const { return 1 / (node.degree + loop_); }

    // ---- what can be undone ----------------------------------------------------------------------------------------------------

    void copy_numbers(std::int64_t u, double *to) const {
        const Node &node = nodes_[u];
        const double numbers[NUMBERS] = {node.degree, node.lag, node.drift, node.length, records_[u].unpublished, records_[u].energy};
        std::copy_n(numbers, NUMBERS, to);
    }
    void put_own(const double *from, std::int64_t u) {
        Node &node = nodes_[u];
        node.degree = from[0], node.lag = from[1], node.drift = from[2], node.length = from[3];
    }
    void put_numbers(const double *from, std::int64_t u) {
        put_own(from, u);
        records_[u].unpublished = from[OWN], records_[u].energy = from[OWN + 1];
    }
    void keep(std::int32_t u) {
        Node &node = nodes_[u];
        if (node.kept != group_) {
            node.kept = group_, node.place = static_cast<std::uint32_t>(kept_.size());
            kept_.push_back({u, {node.degree, node.lag, node.drift, node.length}, -1, -1});
            if (node.hub >= 0) {
                kept_.back().sums = static_cast<std::int64_t>(kept_hubs_.size());
                kept_hubs_.push_back(hubs_.numbers(node.hub));
                kept_sums_.insert(kept_sums_.end(), hubs_.rows(node.hub), hubs_.rows(node.hub) + hubs_.width());
            }
        }
    }
    void keep_rows(std::int32_t u) {
        keep(u);
        Kept &kept = kept_[nodes_[u].place];
        if (kept.rows >= 0) return;
        kept.numbers[OWN] = records_[u].unpublished, kept.numbers[OWN + 1] = records_[u].energy;
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
        keep(u), keep(v);
        put(u, v, after), put(v, u, after);
        note(u, v, before, after), note(v, u, before, after);
        change_hub(u, v, before, after), change_hub(v, u, before, after);
    }

    // ---- hubs --------------------------------------------------------------------------------------------------------------------

    bool is_in_basis(std::int32_t v) const { return v < known_ && reach_[v] > 0; }
    double shifted(std::int32_t v, double weight) const {  // an entry of M, but for the degree of its row
        return (weight == 1 ? 0. : logarithm(weight)) + (v < known_ ? shift_[v] : typical_shift_);
    }

    void make_hubs() {
        drop_hubs();
        for (std::size_t u = 0; u < nodes_.size(); ++u) {
            if (u % 1024 == 0) stop_if_asked();
            if (nodes_[u].count >= hub_) make_hub(static_cast<std::int32_t>(u));
        }
    }
    void drop_hubs() {
        hubs_.clear();
        for (Node &node : nodes_) node.hub = -1;
    }
    void make_hub(std::int32_t u) {  // all of its sums anew
        Node &node = nodes_[u];
        if (node.hub < 0) node.hub = hubs_.add();
        const std::int32_t *others = neighbors_.data() + node.start;
        const float *weights = weights_.data() + node.start;
        HubNumbers numbers;
        numbers.peak = node.degree + loop_;
        factors_.assign(weights, weights + node.count);
        arithmetic->sum_precisely(others, factors_.data(), node.count, G_.begin(), columns_, hubs_.states(node.hub));
        known_neighbors_.clear(), factors_.clear();
        for (std::int32_t e = 0; e < node.count; ++e) {
            const double entry = shifted(others[e], weights[e]);
            numbers.entries += entry, numbers.squares += entry * entry;
            if (!is_in_basis(others[e])) continue;
            known_neighbors_.push_back(others[e]), factors_.push_back(entry);
            numbers.mass += std::abs(entry) * reach_[others[e]], numbers.reach += reach_[others[e]];
        }
        const std::int64_t count = static_cast<std::int64_t>(factors_.size());
        gathered_ += 2 * count + node.count;
        arithmetic->sum_precisely(known_neighbors_.data(), factors_.data(), count, basis_.data(), columns_, hubs_.shifted(node.hub));
        factors_.assign(count, 1.);
        arithmetic->sum_precisely(known_neighbors_.data(), factors_.data(), count, basis_.data(), columns_, hubs_.plain(node.hub));
        hubs_.numbers(node.hub) = numbers;
    }
    // The sums of u after a change of its edge to v; u becomes a hub, or is none any more.
    void change_hub(std::int32_t u, std::int32_t v, double before, double after) {
        Node &node = nodes_[u];
        if (node.hub < 0) {
            if (node.count >= hub_) make_hub(u);
            return;
        }
        if (2 * node.count < hub_) {
            hubs_.remove(node.hub);
            node.hub = -1;
            return;
        }
        HubNumbers &numbers = hubs_.numbers(node.hub);
        ++numbers.updates;
        numbers.peak = std::max(numbers.peak, node.degree + loop_);
        arithmetic->add_row(hubs_.states(node.hub), after - before, G_[v], columns_);
        const double gone = before > 0 ? shifted(v, before) : 0, fresh = after > 0 ? shifted(v, after) : 0;
        numbers.entries += fresh - gone, numbers.squares += fresh * fresh - gone * gone;
        if (!is_in_basis(v)) return;
        arithmetic->add_row(hubs_.shifted(node.hub), fresh - gone, basis_.data() + v * columns_, columns_);
        numbers.mass += (std::abs(fresh) + std::abs(gone)) * reach_[v];
        if ((before > 0) == (after > 0)) return;
        arithmetic->add_row(hubs_.plain(node.hub), after > 0 ? 1 : -1, basis_.data() + v * columns_, columns_);
        numbers.reach += reach_[v];
    }
    // q of a hub and the energy of its row, from its sums
    double sum_hub(std::int32_t u, double own) {
        Node &node = nodes_[u];
        double length = 0;
        for (int attempt = 0; attempt < 2; ++attempt) {
            const double *shifted = hubs_.shifted(node.hub), *plain = hubs_.plain(node.hub);
            double squares = 0;
            for (std::int64_t c = 0; c < columns_; ++c) sum_[c] = shifted[c] - own * plain[c], squares += sum_[c] * sum_[c];
            length = std::sqrt(squares);
            if (attempt || !hubs_.is_worn_target(node.hub, node.count, own, length)) break;
            make_hub(u);
        }
        const HubNumbers &numbers = hubs_.numbers(node.hub);
        records_[u].energy = std::max(0., numbers.squares - 2 * own * numbers.entries + node.count * own * own);
        return length;
    }
    double hub_residual(std::int32_t u) {
        Node &node = nodes_[u];
        if (hubs_.is_worn(node.hub, node.count, node.degree + loop_)) make_hub(u);
        return residual(u, hubs_.states(node.hub));
    }

    // ---- rows made anew ---------------------------------------------------------------------------------------------------------

    double make_target(std::int32_t u) {  // R, and how far it moved
        Node &node = nodes_[u];
        float *row = R_[u];
        energy_ -= records_[u].energy, captured_ -= node.length * node.length;
        if (node.hub < 0) node.degree = sum_weights(node);  // anew, without the rounding of many changes
        const double own = node.degree > 0 ? logarithm(node.degree) : 0;
        node.drift = 0, node.length = node.hub < 0 ? sum_entries(u, own) : sum_hub(u, own);
        energy_ += records_[u].energy, captured_ += node.length * node.length;
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
    // q of a node and the energy of its row, from its edges; the length of q
    double sum_entries(std::int32_t u, double own) {
        const Node &node = nodes_[u];
        const std::int32_t *others = neighbors_.data() + node.start;
        const float *weights = weights_.data() + node.start;
        double energy = 0;
        known_neighbors_.clear(), factors_.clear();
        for (std::int32_t e = 0; e < node.count; ++e) {
            const double entry = shifted(others[e], weights[e]) - own;
            energy += entry * entry;
            if (is_in_basis(others[e])) known_neighbors_.push_back(others[e]), factors_.push_back(entry);
        }
        records_[u].energy = energy;
        const std::int64_t count = static_cast<std::int64_t>(factors_.size());
        if (!count) return 0;
        gathered_ += count;
        arithmetic->sum_precisely(known_neighbors_.data(), factors_.data(), count, basis_.data(), columns_, sum_.data());
        double squares = 0;
        for (const double x : sum_) squares += x * x;
        return std::sqrt(squares);
    }

    double make_state(std::int32_t u) {  // G, and how far it moved: `step_`, and its length
        Node &node = nodes_[u];
        float *row = G_[u];
        const float *target = R_[u];
        const double *sum = node.hub < 0 ? gather(u) : hubs_.states(node.hub);
        const double share = inverse(node), loop = (1 - a_) * loop_ * share, scale = 1 / (1 - loop);
        if (node.count) arithmetic->make_state(target, a_, sum, (1 - a_) * share, scale, columns_, row, step_.data());
        else for (std::int64_t c = 0; c < columns_; ++c) step_[c] = -static_cast<double>(row[c]), row[c] = 0.f;
        double squares = 0;
        for (const double x : step_) squares += x * x;
        node.lag = rounding_;
        return std::sqrt(squares) * UP;
    }
    const double *gather(std::int32_t u) {
        const Node &node = nodes_[u];
        gathered_ += node.count;
        arithmetic->sum_rows(neighbors_.data() + node.start, weights_.data() + node.start, node.count, G_.begin(), columns_, sum_.data());
        return sum_.data();
    }
    double residual(std::int32_t u, const double *sum) const {
        const Node &node = nodes_[u];
        const float *row = G_[u], *target = R_[u];
        const double share = inverse(node);
        double squares = 0;
        for (std::int64_t c = 0; c < columns_; ++c) {
            const double rest = a_ * target[c] + (1 - a_) * share * (sum[c] + loop_ * row[c]) - row[c];
            squares += rest * rest;
        }
        return std::sqrt(squares) * UP + rounding_;
    }

    double length_of(std::int32_t u) const { return arithmetic->length(G_[u], 1 / (1 - a_), R_[u], -a_ / (1 - a_), R_[u], 0, columns_); }

    void publish(std::int32_t u) {
        Record &record = records_[u];
        record.unpublished = 0;
        if (record.published != group_) record.published = group_, published_.push_back(u);
    }

    void make(std::int32_t u) {
        keep_rows(u);
        Node &node = nodes_[u];
        ++made_;
        const double turn = node.drift > 0 ? make_target(u) : 0;
        bool moves = true;
        if (node.hub >= 0) {  // few of its neighbors' steps add up: what they come to is known without the neighbors
            node.lag = hub_residual(u);
            moves = node.lag > tolerance_ / 2;
        }
        const double step = moves ? make_state(u) : 0;
        records_[u].unpublished += (step + a_ * turn) / (1 - a_) * UP;
        if (records_[u].unpublished > publish_ * length_of(u)) publish(u);
        if (step > 0) tell_neighbors(u, step);
    }
    void tell_neighbors(std::int32_t u, double step) {
        const Node &node = nodes_[u];
        const std::int32_t *others = neighbors_.data() + node.start;
        const float *weights = weights_.data() + node.start;
        for (std::int32_t e = 0; e < node.count; ++e) {
            if (e + 8 < node.count) __builtin_prefetch(&nodes_[others[e + 8]]);
            Node &other = nodes_[others[e]];
            keep(others[e]);
            other.lag += (1 - a_) * weights[e] * inverse(other) * step * UP;
            if (other.hub >= 0) {
                arithmetic->add_step(hubs_.states(other.hub), weights[e], step_.data(), columns_);
                ++hubs_.numbers(other.hub).updates;
            }
            if (!other.queued && total_lag(other) > tolerance_) other.queued = true, queue_.push_back(others[e]);
        }
    }

    void check_node(std::int64_t u) const { need(u >= 0 && u < static_cast<std::int64_t>(nodes_.size()), "there is no such node"); }

public:
    LiveGraph(const Input<std::int64_t> &indptr, const Input<std::int32_t> &indices, const std::optional<Input<float>> &weights,
              const Matrix<const float> &basis, const Input<float> &shifts, const Matrix<const double> &rotation, const Input<double> &mean, double keep,
              double loop, double tolerance, double rounding, double spread, double publish, std::int64_t hub)
        : columns_(static_cast<std::int64_t>(basis.shape(1))), known_(static_cast<std::int64_t>(basis.shape(0))), basis_(basis), a_(keep), loop_(loop),
          tolerance_(tolerance), rounding_(rounding), spread_(spread), publish_(publish), hub_(hub) {
        const std::int64_t rows = static_cast<std::int64_t>(indptr.shape(0)) - 1, entries = static_cast<std::int64_t>(indices.shape(0));
        need(rows >= 0 && indptr.data()[0] == 0 && indptr.data()[rows] == entries, "`indptr` must run from 0 to the number of entries");
        need(!weights || static_cast<std::int64_t>(weights->shape(0)) == entries, "`weights` must have one number for each entry");
        need(columns_ > 0 && columns_ % 32 == 0 && known_ <= rows, "`basis` has a row for each of the first nodes, padded to a multiple of 32");
        need(static_cast<std::int64_t>(shifts.shape(0)) == known_, "`shifts` must have one number for each row of the basis");
        need(static_cast<std::int64_t>(rotation.shape(0)) == columns_ && rotation.shape(1) == rotation.shape(0), "`rotation` must be columns x columns");
        need(static_cast<std::int64_t>(mean.shape(0)) == columns_, "`mean` must have one number for each column");
        need(keep > 0 && keep < 1 && loop > 0, "`keep` lies between 0 and 1, and the loop is positive");
        need(rounding >= 0 && tolerance * keep > rounding && spread >= 0 && publish >= 0, "the tolerance is above the rounding over `keep`; nothing is negative");
        for (std::int64_t i = 0; i < rows; ++i) need(indptr.data()[i] <= indptr.data()[i + 1], "`indptr` must not decrease");
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t e = indptr.data()[i]; e < indptr.data()[i + 1]; ++e)
                need(indices.data()[e] >= 0 && indices.data()[e] < rows && indices.data()[e] != i && (e == indptr.data()[i] || indices.data()[e - 1] < indices.data()[e]),
                     "`indices` must be other nodes, ascending in each row");
        need(hub > 0, "a hub has neighbors");
        nodes_.resize(rows), records_.resize(rows);
        neighbors_.assign(indices.data(), indices.data() + entries);
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
        sum_.resize(columns_), turned_.resize(columns_), step_.resize(columns_);
        hubs_.set_columns(columns_);
        nodes_before_ = rows;
    }

    void set_tolerance(double tolerance) {
        need(tolerance * a_ > rounding_, "the tolerance is above the rounding over `keep`");
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
        need(count >= 0 && count <= std::numeric_limits<std::int32_t>::max() - nodes(), "there are too many nodes");
        nodes_.resize(nodes_.size() + count), records_.resize(nodes_.size());
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
                    set_weight(u, neighbors_[last], weights_[last], 0.f);
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
        undone_.clear(), kept_.clear(), kept_rows_.clear(), kept_sums_.clear(), kept_hubs_.clear(), published_.clear();
        const std::size_t room = std::max<std::size_t>(1 << 22, nodes_.size() * columns_ / 2);  // fresh memory has to be cleared first
        if (kept_rows_.capacity() > room) Large<float>().swap(kept_rows_);
        if (++group_ == 0) {  // after four billion groups
            for (Record &record : records_) record.published = 0;
            for (Node &node : nodes_) node.kept = 0;
            group_ = 1;
        }
    }

    void put_sums(const Kept &kept) {
        Node &node = nodes_[kept.node];
        if (node.hub >= 0 && kept.sums < 0) hubs_.remove(node.hub), node.hub = -1;
        if (kept.sums < 0) return;
        if (node.hub < 0) node.hub = hubs_.add();
        hubs_.numbers(node.hub) = kept_hubs_[kept.sums];
        std::copy_n(kept_sums_.data() + kept.sums * hubs_.width(), hubs_.width(), hubs_.rows(node.hub));
    }

    void undo() {
        for (std::size_t i = undone_.size(); i-- > 0;) {
            put(undone_[i].source, undone_[i].target, undone_[i].weight);
            put(undone_[i].target, undone_[i].source, undone_[i].weight);
        }
        for (const Kept &kept : kept_) {
            put_own(kept.numbers, kept.node);
            put_sums(kept);
            if (kept.rows < 0) continue;
            put_numbers(kept.numbers, kept.node);
            std::copy_n(kept_rows_.data() + kept.rows, columns_, R_[kept.node]);
            std::copy_n(kept_rows_.data() + kept.rows + columns_, columns_, G_[kept.node]);
        }
        for (const std::int32_t u : queue_) nodes_[u].queued = false;
        queue_ = queue_before_;
        for (const std::int32_t u : queue_) nodes_[u].queued = true;
        energy_ = energy_before_, captured_ = captured_before_;
        nodes_.resize(nodes_before_), records_.resize(nodes_before_);
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
            for (std::int32_t e = 0; e < node.count; ++e) sum += static_cast<double>(weights_[node.start + e]) * error[neighbors_[node.start + e]];
            return sum * inverse(node) * UP;
        };
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t u = 0; u < nodes_.size(); ++u) stop_if_asked(u), next[u] = lag[u] + (1 - a_) * step(u);
            error.swap(next);
        }
        for (std::size_t u = 0; u < nodes_.size(); ++u) stop_if_asked(u), out.data()[u] = step(u) + nodes_[u].lag / (1 - a_);
    }

    // The rows of the graph as they are: indptr, neighbors, weights.
    nb::tuple rows() const {
        Buffer<std::int64_t> indptr(nodes_.size() + 1);
        Buffer<std::int32_t> indices(entries_);
        Buffer<float> weights(entries_);
        std::int64_t at = 0;
        for (std::size_t u = 0; u < nodes_.size(); ++u) {
            indptr[u] = at;
            std::copy_n(neighbors_.begin() + nodes_[u].start, nodes_[u].count, indices.begin() + at);
            std::copy_n(weights_.begin() + nodes_[u].start, nodes_[u].count, weights.begin() + at);
            at += nodes_[u].count;
        }
        indptr[nodes_.size()] = at;
        return nb::make_tuple(indptr.numpy(), indices.numpy(), weights.numpy());
    }

    nb::tuple neighbors(std::int64_t u) const {
        check_node(u);
        const Node &node = nodes_[u];
        Buffer<std::int32_t> indices(node.count);
        Buffer<float> weights(node.count);
        std::copy_n(neighbors_.begin() + node.start, node.count, indices.begin());
        std::copy_n(weights_.begin() + node.start, node.count, weights.begin());
        return nb::make_tuple(indices.numpy(), weights.numpy());
    }

    // R, G and the numbers (see `Node`) of the nodes from `first` on, out of here or into it; then `begin`.
    void take_out(std::int64_t first, const Matrix<float> &targets, const Matrix<float> &states, const Matrix<double> &numbers) const {
        check_shapes(first, targets, states, numbers);
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(numbers.shape(0)); ++i) {
            std::copy_n(R_[first + i], columns_, targets.data() + i * columns_);
            std::copy_n(G_[first + i], columns_, states.data() + i * columns_);
            copy_numbers(first + i, numbers.data() + i * NUMBERS);
        }
    }
    void put_in(std::int64_t first, const Matrix<const float> &targets, const Matrix<const float> &states, const Matrix<const double> &numbers) {
        check_shapes(first, targets, states, numbers);
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(numbers.shape(0)); ++i) {
            std::copy_n(targets.data() + i * columns_, columns_, R_[first + i]);
            std::copy_n(states.data() + i * columns_, columns_, G_[first + i]);
            put_numbers(numbers.data() + i * NUMBERS, first + i);
        }
    }
    void begin() {
        energy_ = captured_ = 0;
        for (std::size_t u = 0; u < nodes_.size(); ++u) energy_ += records_[u].energy, captured_ += nodes_[u].length * nodes_[u].length;
        make_hubs();
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
        drop_hubs();
        for (std::size_t u = 0; u < nodes_.size(); ++u) {
            if (u % 1024 == 0) stop_if_asked();
            make_target(static_cast<std::int32_t>(u));
        }
        remember();
    }
    // All rows of G anew, each from those before it and, for the rest, from those of the last sweep.
    void sweep() {
        Released released;
        drop_hubs();
        for (std::size_t u = 0; u < nodes_.size(); ++u) {
            if (u % 1024 == 0) stop_if_asked();
            make_state(static_cast<std::int32_t>(u));
        }
    }
    // The states as they are, with their residuals as lags.
    void measure() {
        Released released;
        for (std::size_t u = 0; u < nodes_.size(); ++u) {
            if (u % 1024 == 0) stop_if_asked();
            const std::int32_t node = static_cast<std::int32_t>(u);
            nodes_[u].lag = residual(node, gather(node));
        }
        make_hubs();
        look_at_all();
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
                      const Input<float> &, const Matrix<const double> &, const Input<double> &, double, double, double, double, double, double, std::int64_t>(),
             "indptr"_a, "indices"_a, "weights"_a.none(), nb::kw_only(), "basis"_a, "shifts"_a, "rotation"_a, "mean"_a, "keep"_a, "loop"_a, "tolerance"_a,
             "rounding"_a, "spread"_a, "publish"_a, "hub"_a = 512)
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
        .def("neighbors", &LiveGraph::neighbors, "node"_a)
        .def("take_out", &LiveGraph::take_out, "first"_a, "targets"_a, "states"_a, "numbers"_a)
        .def("put_in", &LiveGraph::put_in, "first"_a, "targets"_a, "states"_a, "numbers"_a)
        .def("begin", &LiveGraph::begin)
        .def("put_states", &LiveGraph::put_states, "states"_a)
        .def("make_targets", &LiveGraph::make_targets)
        .def("sweep", &LiveGraph::sweep)
        .def("measure", &LiveGraph::measure);
}
