// The state of live vectors: the graph, the frozen parts, a row of R and of G and some numbers for each node.
#pragma once

#include "live.h"
#include "arrays.h"
#include "exact.h"
#include "live_edges.h"
#include "live_hub_sums.h"
#include "threads.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <stdexcept>
#include <vector>

namespace nb = nanobind;

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

struct Record {  // of a node: what only its own row asks for
    double unpublished = 0;       // way of F since it was published
    double energy = 0;            // sum of the squares of its row of M, when R was made
    std::uint32_t published = 0;  // the last group that published its vector
};

class LiveState : public LiveEdges {
protected:
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
    std::uint32_t group_ = 1;  // that is under way
    std::int64_t made_ = 0, gathered_ = 0;
    double energy_ = 0, captured_ = 0;  // sums over the nodes: of energy, of squared lengths
    // room for one row
    std::vector<double> sum_, turned_, step_, factors_;
    std::vector<std::int32_t> known_neighbors_;

    double inverse(const Node &node) const { return 1 / (node.degree + loop_); }

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
    bool is_in_basis(std::int32_t v) const { return v < known_ && reach_[v] > 0; }
    double shifted(std::int32_t v, double weight) const {  // an entry of M, but for the degree of its row
        return (weight == 1 ? 0. : logarithm(weight)) + (v < known_ ? shift_[v] : typical_shift_);
    }

public:
    std::int64_t nodes() const { return static_cast<std::int64_t>(nodes_.size()); }
    std::int64_t entries() const { return entries_; }
    std::int64_t made() const { return made_; }
    std::int64_t gathered() const { return gathered_; }
    double energy() const { return energy_; }
    double captured() const { return captured_; }
};

}  // namespace
