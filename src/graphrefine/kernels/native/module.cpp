// The compiled module: the choice of instruction set, and the arithmetic's door from Python.
#include "arithmetic.h"
#include "checks.h"
#ifdef GRAPHREFINE_X86
#include "cpu.h"
#endif

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

namespace nb = nanobind;
using namespace nb::literals;

void bind_text(nb::module_ &module);
void bind_names(nb::module_ &module);
void bind_edges(nb::module_ &module);
void bind_arcs(nb::module_ &module);
void bind_order(nb::module_ &module);
void bind_walks(nb::module_ &module);
void bind_pairs(nb::module_ &module);
void bind_layout(nb::module_ &module);
void bind_skipgram(nb::module_ &module, const std::string &simd);
void bind_nearest(nb::module_ &module, const std::string &simd);
void bind_least_squares(nb::module_ &module, const std::string &simd);
void bind_exact(nb::module_ &module, const std::string &simd);
void bind_live(nb::module_ &module, const std::string &simd);

namespace {

using Matrix = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

const Arithmetic &fastest() {
#ifdef GRAPHREFINE_X86
    const InstructionSets sets = find_instruction_sets();
    const char *limit = std::getenv("GRAPHREFINE_SIMD");  // for tests: "baseline" or "avx2" at most
    const bool any = limit == nullptr || !std::strcmp(limit, "avx512");
    if (any && sets.avx512) return arithmetic_avx512();
    if ((any || !std::strcmp(limit, "avx2")) && sets.avx2) return arithmetic_avx2();
#endif
    return arithmetic_baseline();
}

const Arithmetic &arithmetic() {
    static const Arithmetic &variant = fastest();
    return variant;
}

std::string simd_name() {
#if defined(__aarch64__)
    return "neon";  // the plain variant: every such processor has it
#else
    return arithmetic().name;
#endif
}

Tall tall(const Matrix &array) {
    Tall view;
    view.data = array.data();
    view.rows = static_cast<std::int64_t>(array.shape(0));
    view.columns = view.stride = static_cast<std::int64_t>(array.shape(1));
    if (array.dtype() == nb::dtype<float>()) view.kind = Kind::single;
    else if (array.dtype() == nb::dtype<std::uint16_t>()) view.kind = Kind::half;
    else if (array.dtype() == nb::dtype<std::uint32_t>()) {
        view.kind = Kind::signs;
        view.columns *= 32;
    } else throw nb::type_error("a tall matrix is float32, uint16 (bfloat16) or uint32 (signs)");
    return view;
}

using OptionalMatrix = std::optional<Matrix>;
using Square = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Gram = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using ColumnSums = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

bool within(const Vector<const std::int32_t> &list, std::int64_t rows) {
    return all_below(list.data(), list.shape(0), rows);
}

bool is_square(const Square &matrix, std::int64_t columns) {
    return static_cast<std::int64_t>(matrix.shape(0)) == columns && matrix.shape(1) == matrix.shape(0);
}

// `rows` of the result, of `all` that `plus` has.
Finish finishing(std::int64_t rows, std::int64_t all, std::int64_t columns, float scale,
                 const std::optional<Matrix> &plus, float plus_scale, const std::optional<Vector<const float>> &shift,
                 bool unit, const std::optional<Gram> &gram, const std::optional<Matrix> &out) {
    need(columns > 0 && columns % 32 == 0, "tall matrices have columns padded to a multiple of 32");
    Finish finish;
    finish.scale = scale;
    finish.unit = unit;
    if (plus) {
        finish.plus = tall(*plus);
        finish.plus_scale = plus_scale;
        need(finish.plus.rows == all && finish.plus.columns == columns, "`plus` must have the shape of the result");
        need(finish.plus.kind != Kind::signs, "`plus` cannot be a sketch of signs");
    }
    if (shift) {
        need(static_cast<std::int64_t>(shift->shape(0)) == columns, "`shift` must have one number for each column");
        finish.shift = shift->data();
    }
    if (gram) {
        need(gram->shape(0) == 2 && static_cast<std::int64_t>(gram->shape(1)) == columns &&
                 gram->shape(2) == gram->shape(1),
             "`gram` must be 2 x columns x columns: the sum, and what its rounding lost");
        finish.gram = gram->data();
    }
    if (out) {
        finish.out = tall(*out);
        need(finish.out.rows == rows, "`out` must have as many rows as the result");
        need(finish.out.kind != Kind::signs, "`out` cannot hold signs");
        need(finish.out.columns == columns || (finish.out.kind == Kind::single && finish.out.columns < columns),
             "`out` must have the columns of the result, or fewer if float32");
    }
    return finish;
}

// Keeps the arrays of an operator alive beside the view of them.
struct Product {
    Vector<const std::int64_t> indptr;
    Vector<const std::int32_t> indices;
    std::optional<Vector<const float>> value, row_shift, column_shift, row_scale, column_scale;
    std::optional<Vector<const std::int64_t>> starts, stops;
    std::optional<Vector<const std::int32_t>> loop_places;
    std::int64_t columns;
    Operator view;

    Product(Vector<const std::int64_t> indptr_, Vector<const std::int32_t> indices_, std::int64_t columns_,
            std::optional<Vector<const float>> value_, std::optional<Vector<const float>> row_shift_,
            std::optional<Vector<const float>> column_shift_, std::optional<Vector<const float>> row_scale_,
            std::optional<Vector<const float>> column_scale_, float constant, float loop, std::int64_t diagonal,
            std::int64_t first_column, std::optional<Vector<const std::int64_t>> starts_,
            std::optional<Vector<const std::int64_t>> stops_, std::optional<Vector<const std::int32_t>> loop_places_)
        : indptr(indptr_), indices(indices_), value(value_), row_shift(row_shift_), column_shift(column_shift_),
          row_scale(row_scale_), column_scale(column_scale_), starts(starts_), stops(stops_), loop_places(loop_places_),
          columns(columns_) {
        need_bounds(indptr, indices.shape(0));
        view.rows = static_cast<std::int64_t>(indptr.shape(0)) - 1;
        const std::int64_t *bounds = indptr.data();
        const std::size_t entries = indices.shape(0), rows = indptr.shape(0) - 1;
        view.starts = bounds;
        view.stops = bounds + 1;
        view.indices = indices.data();
        view.entries = static_cast<std::int64_t>(entries);
        view.first_column = first_column;
        view.diagonal = diagonal;
        need(starts.has_value() == stops.has_value(), "`starts` and `stops` belong together");
        if (starts) {
            need(starts->shape(0) == rows && stops->shape(0) == rows,
                 "`starts` and `stops` must have one number for each row");
            view.starts = starts->data();
            view.stops = stops->data();
            for (std::size_t i = 0; i < rows; ++i)
                need(bounds[i] <= view.starts[i] && view.starts[i] <= view.stops[i] && view.stops[i] <= bounds[i + 1],
                     "`starts` and `stops` must lie within their rows");
        }
        const std::int64_t most = std::numeric_limits<std::int32_t>::max();
        need(first_column >= 0 && columns >= 0 && columns <= most + 1 && first_column <= most + 1 - columns,
             "there are too many columns");
        const std::uint32_t first = static_cast<std::uint32_t>(first_column),
                            count = static_cast<std::uint32_t>(columns);
        std::uint32_t outside = 0;
        auto look = [&](std::int64_t from, std::int64_t to) {
            std::uint32_t beyond = 0;
            for (std::int64_t p = from; p < to; ++p)
                beyond |= static_cast<std::uint32_t>(view.indices[p]) - first >= count;
            outside |= beyond;
        };
        if (starts)
            for (std::size_t i = 0; i < rows; ++i) look(view.starts[i], view.stops[i]);
        else look(0, view.entries);
        need(!outside, "`indices` must lie between the first column and the number of columns");
        auto take = [](const std::optional<Vector<const float>> &from, std::size_t length,
                       const char *what) -> const float * {
            if (!from) return nullptr;
            need(from->shape(0) == length, what);
            return from->data();
        };
        view.value = take(value, entries, "`value` must have one number for each entry");
        view.row_shift = take(row_shift, rows, "`row_shift` must have one number for each row");
        view.column_shift = take(column_shift, static_cast<std::size_t>(columns),
                                 "`column_shift` must have one number for each column");
        view.row_scale = take(row_scale, rows, "`row_scale` must have one number for each row");
        view.column_scale = take(column_scale, static_cast<std::size_t>(columns),
                                 "`column_scale` must have one number for each column");
        need(loop == 0.f || (diagonal >= 0 && diagonal <= columns - view.rows), "`loop` needs a column for each row");
        view.constant = constant;
        view.loop = loop;
        if (loop_places) {
            need(!starts && loop_places->shape(0) == rows, "`loop_places` must have one number for each whole row");
            view.loop_places = loop_places->data();
            for (std::size_t i = 0; i < rows; ++i)
                need(view.loop_places[i] >= 0 && view.loop_places[i] <= bounds[i + 1] - bounds[i],
                     "`loop_places` must lie within their rows");
        }
    }
};

}  // namespace

NB_MODULE(_native, module) {
    module.doc() = "Compiled kernels of graphrefine; call them through graphrefine.kernels.";
    nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Interrupted &) {
        }  // Python's error is set
    });
    module.def("simd", simd_name);
    bind_text(module);
    bind_names(module);
    bind_edges(module);
    bind_arcs(module);
    bind_order(module);
    bind_walks(module);
    bind_pairs(module);
    bind_layout(module);
    bind_skipgram(module, arithmetic().name);
    bind_nearest(module, arithmetic().name);
    bind_least_squares(module, arithmetic().name);
    bind_exact(module, arithmetic().name);
    bind_live(module, arithmetic().name);

    nb::class_<Product>(module, "Product")
        .def(nb::init<Vector<const std::int64_t>, Vector<const std::int32_t>, std::int64_t,
                      std::optional<Vector<const float>>, std::optional<Vector<const float>>,
                      std::optional<Vector<const float>>, std::optional<Vector<const float>>,
                      std::optional<Vector<const float>>, float, float, std::int64_t, std::int64_t,
                      std::optional<Vector<const std::int64_t>>, std::optional<Vector<const std::int64_t>>,
                      std::optional<Vector<const std::int32_t>>>(),
             "indptr"_a, "indices"_a, nb::kw_only(), "columns"_a, "value"_a = nb::none(), "row_shift"_a = nb::none(),
             "column_shift"_a = nb::none(), "row_scale"_a = nb::none(), "column_scale"_a = nb::none(),
             "constant"_a = 0.f, "loop"_a = 0.f, "diagonal"_a = 0, "first_column"_a = 0, "starts"_a = nb::none(),
             "stops"_a = nb::none(), "loop_places"_a = nb::none())
        .def(
            "apply",
            [](const Product &self, const Matrix &x, const OptionalMatrix &out, float scale, const OptionalMatrix &plus,
               float plus_scale, const OptionalMatrix &onto, const std::optional<Vector<const float>> &shift, bool unit,
               const std::optional<Gram> &gram, const std::optional<Vector<const std::int32_t>> &rows,
               const std::optional<Square> &rotation, const std::optional<Vector<const float>> &after,
               const std::optional<Vector<const std::int32_t>> &order, Threads threads) {
                const Tall from = tall(x);
                need(from.rows == self.columns, "`x` must have as many rows as the operator has columns");
                Operator view = self.view;
                if (rows) {
                    need(within(*rows, view.rows), "`rows` must be rows");
                    need(!onto && view.stops == view.starts + 1, "`rows` are of a product in one piece");
                    view.list = rows->data();
                    view.rows = static_cast<std::int64_t>(rows->shape(0));
                }
                Finish finish =
                    finishing(view.rows, self.view.rows, from.columns, scale, plus, plus_scale, shift, unit, gram, out);
                if (onto) {
                    finish.onto = tall(*onto);
                    need(finish.onto.kind == Kind::single && finish.onto.rows == self.view.rows &&
                             finish.onto.columns == from.columns,
                         "`onto` must be float32 and have the shape of the result");
                }
                if (rotation) {
                    need(is_square(*rotation, from.columns), "`rotation` must be columns x columns");
                    finish.rotation = rotation->data();
                }
                if (after) {
                    need(rotation && static_cast<std::int64_t>(after->shape(0)) == from.columns,
                         "`after` must have one number for each column, beside a rotation");
                    finish.after = after->data();
                }
                if (order) {
                    need(static_cast<std::int64_t>(order->shape(0)) == view.rows && within(*order, view.rows),
                         "`order` must have one row for each row");
                    finish.order = order->data();
                }
                Released released;
                arithmetic().apply(view, from, finish, threads);
            },
            "x"_a, nb::kw_only(), "out"_a.none(), "scale"_a = 1.f, "plus"_a = nb::none(), "plus_scale"_a = 0.f,
            "onto"_a = nb::none(), "shift"_a = nb::none(), "unit"_a = false, "gram"_a = nb::none(),
            "rows"_a = nb::none(), "rotation"_a = nb::none(), "after"_a = nb::none(), "order"_a = nb::none(),
            "threads"_a = 1);

    module.def(
        "rotate",
        [](const Matrix &x, const std::optional<Square> &rotation, bool triangular, const OptionalMatrix &out,
           const std::optional<Vector<const std::int32_t>> &places, const std::optional<Vector<const float>> &shift,
           bool unit, const std::optional<Gram> &gram, const std::optional<ColumnSums> &sums,
           const std::optional<Vector<const float>> &weights, Threads threads) {
            Tall from = tall(x);
            need(from.kind != Kind::signs, "a sketch of signs cannot be rotated");
            if (rotation) need(is_square(*rotation, from.columns), "`rotation` must be columns x columns");
            Finish finish = finishing(from.rows, from.rows, from.columns, 1, std::nullopt, 0, shift, unit, gram, out);
            if (sums) {
                need(sums->shape(0) == 2 && static_cast<std::int64_t>(sums->shape(1)) == from.columns,
                     "`sums` must be 2 x columns: the sums, and what their rounding lost");
                finish.sums = sums->data();
            }
            if (weights) {
                need(static_cast<std::int64_t>(weights->shape(0)) == from.rows,
                     "`weights` must have one number for each row");
                finish.weights = weights->data();
            }
            if (places) {
                need(static_cast<std::int64_t>(places->shape(0)) == from.rows && within(*places, from.rows),
                     "`places` must have one row for each row");
                from.places = places->data();
            }
            Released released;
            arithmetic().rotate(from, rotation ? rotation->data() : nullptr, triangular, finish, threads);
        },
        "x"_a, "rotation"_a.none(), nb::kw_only(), "triangular"_a = false, "out"_a.none(), "places"_a = nb::none(),
        "shift"_a = nb::none(), "unit"_a = false, "gram"_a = nb::none(), "sums"_a = nb::none(),
        "weights"_a = nb::none(), "threads"_a = 1);
}
