// Sums over the neighbors of nodes that have many, kept up to date as edges and rows of neighbors change.
//
// With them the residual of a hub is known without a look at its neighbors. They are in float64, and each change of a sum adds a
// rounding: `updates`, `peak` and the masses bound it, so that it can be told when a sum has to be made anew.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

struct HubNumbers {
    double entries = 0, squares = 0;  // sums of ln A + shift, and of its square, over all neighbors
    double peak = 0;                  // the largest degree since the sums were made
    double mass = 0, reach = 0;       // sums of |ln A + shift| |B|, and of |B|, of all that was added since
    double updates = 0;
};

class HubSums {
    static constexpr int ROWS = 3;
    std::int64_t columns_ = 0;
    std::vector<double> rows_;
    std::vector<HubNumbers> numbers_;
    std::vector<std::int32_t> free_;

public:
    static constexpr double ROUNDING = 0x1p-51, ENOUGH = 0x1p-30;  // of an update, in lengths of what is added; of a sum in all

    void set_columns(std::int64_t columns) { columns_ = columns; }
    std::int64_t width() const { return ROWS * columns_; }
    std::int64_t size() const { return static_cast<std::int64_t>(numbers_.size() - free_.size()); }
    double *rows(std::int32_t hub) { return rows_.data() + hub * width(); }
    double *states(std::int32_t hub) { return rows(hub); }                   // sum of A_ij G_j
    double *shifted(std::int32_t hub) { return rows(hub) + columns_; }       // sum of (ln A_ij + shift_j) B_j
    double *plain(std::int32_t hub) { return rows(hub) + 2 * columns_; }     // sum of B_j
    HubNumbers &numbers(std::int32_t hub) { return numbers_[hub]; }

    std::int32_t add() {
        if (free_.empty()) {
            rows_.resize(rows_.size() + width());
            numbers_.emplace_back();
            return static_cast<std::int32_t>(numbers_.size()) - 1;
        }
        const std::int32_t hub = free_.back();
        free_.pop_back();
        return hub;
    }
    void remove(std::int32_t hub) { free_.push_back(hub); }
    void clear() { rows_.clear(), numbers_.clear(), free_.clear(); }

    // Whether rounding may have taken over: in the sum of states, and in q, whose length may be far less than that of its terms.
    bool is_worn(std::int32_t hub, double count, double degree) const {
        const HubNumbers &own = numbers_[hub];
        return (own.updates + count) * ROUNDING * own.peak > ENOUGH * degree;
    }
    bool is_worn_target(std::int32_t hub, double count, double logarithm, double length) const {
        const HubNumbers &own = numbers_[hub];
        return (own.updates + count) * ROUNDING * (own.mass + std::abs(logarithm) * own.reach) > ENOUGH * length;
    }
};
