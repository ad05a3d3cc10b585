// Text edge lists to arrays. The bytes are cut at line ends into one chunk a thread; each chunk is parsed
// on its own and the pieces are put together in file order, so the result does not depend on the threads.
//
// Nothing here words an error: a status and a line number go back, and Python says what is wrong.
#include "arrays.h"
#include "numbering.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <string>

namespace nb = nanobind;

namespace {

enum Status { OK, NOT_INTEGER, TOO_WIDE, FEW_COLUMNS, MANY_COLUMNS, BAD_WEIGHT };

struct Layout {
    char delimiter;            // ' ' stands for any run of blanks
    std::string comments;      // a line that begins with one of these is skipped
    int source, target, weight, columns;   // positions from 0; weight -1: none; columns: most a line may have
};

struct Field {
    const char *begin, *end;
    bool doubled = false;      // holds "" that stands for "
    bool empty() const { return begin == end; }
};

inline bool blank(char c) { return c == ' ' || c == '\t'; }

Field trimmed(Field f) {
    while (f.begin < f.end && blank(*f.begin)) ++f.begin;
    while (f.begin < f.end && blank(f.end[-1])) --f.end;
    return f;
}

// Walks over the fields of one line.
class Fields {
    const char *at_, *end_;
    char delimiter_;
    bool more_ = true;

public:
    Fields(const char *begin, const char *end, char delimiter) : at_(begin), end_(end), delimiter_(delimiter) {}

    bool next(Field &field) {
        if (delimiter_ == ' ') return next_word(field);
        if (!more_) return false;
        if (!next_quoted(field)) {
            const char *stop = static_cast<const char *>(std::memchr(at_, delimiter_, end_ - at_));
            field = {at_, stop ? stop : end_};
            advance(field.end);
        }
        return true;
    }

private:
    bool next_word(Field &field) {
        while (at_ < end_ && blank(*at_)) ++at_;
        field.begin = at_;
        while (at_ < end_ && !blank(*at_)) ++at_;
        field.end = at_;
        return !field.empty();
    }

    // A field is quoted if it begins with a quote that is closed right before a delimiter or the line end;
    // any other quote is an ordinary character.
    bool next_quoted(Field &field) {
        const char *open = at_;
        while (open < end_ && *open == ' ') ++open;
        if (open == end_ || *open != '"') return false;
        bool doubled = false;
        for (const char *p = open + 1; p < end_; ++p) {
            if (*p != '"') continue;
            if (p + 1 < end_ && p[1] == '"') { doubled = true; ++p; continue; }
            const char *after = p + 1;
            while (after < end_ && *after == ' ') ++after;
            if (after < end_ && *after != delimiter_) return false;
            field = {open + 1, p, doubled};
            advance(after);
            return true;
        }
        return false;
    }

    void advance(const char *stop) {
        more_ = stop < end_;
        at_ = more_ ? stop + 1 : end_;
    }
};

// A canonical integer: no plus sign, no leading zeros, no "-0".
template <class T> Status parse_id(Field f, T &value) {
    f = trimmed(f);
    bool negative = f.begin < f.end && *f.begin == '-';
    const char *p = f.begin + negative;
    size_t digits = f.end - p;
    if (digits == 0 || digits > 19 || (*p == '0' && (digits > 1 || negative))) return NOT_INTEGER;
    uint64_t sum = 0;
    for (; p < f.end; ++p) {
        unsigned digit = static_cast<unsigned char>(*p) - '0';
        if (digit > 9) return NOT_INTEGER;
        sum = sum * 10 + digit;
    }
    if (sum > uint64_t(std::numeric_limits<int64_t>::max()) + negative) return NOT_INTEGER;
    if (sum > uint64_t(std::numeric_limits<T>::max())) {
        if (sizeof(T) < 8) return TOO_WIDE;
        value = std::numeric_limits<T>::min();
        return OK;
    }
    value = negative ? -T(sum) : T(sum);
    return OK;
}

double to_double(const char *begin, const char *end, bool &valid) {
    double value = 0;
#ifdef __cpp_lib_to_chars
    auto [stop, error] = std::from_chars(begin, end, value);
    valid = stop == end && error != std::errc::invalid_argument;
    if (!valid || error == std::errc()) return value;
#endif
    std::string text(begin, end);   // out of range, or no from_chars here: strtod knows infinity from zero
    char *last = nullptr;
    value = std::strtod(text.c_str(), &last);
    valid = last == text.c_str() + text.size();
    return value;
}

// Digits with an optional sign, point and exponent, rounded to float32: finite and not negative.
Status parse_weight(Field f, float &value) {
    f = trimmed(f);
    if (f.begin < f.end && *f.begin == '+') ++f.begin;
    if (f.empty() || !((*f.begin >= '0' && *f.begin <= '9') || *f.begin == '.' || *f.begin == '-')) return BAD_WEIGHT;
    for (const char *p = f.begin; p < f.end; ++p)   // strtod would take hexadecimals, both would take "-inf"
        if (*p == 'x' || *p == 'X' || *p == 'n' || *p == 'N') return BAD_WEIGHT;
    bool valid = false;
    value = static_cast<float>(to_double(f.begin, f.end, valid));
    return valid && value >= 0 && std::isfinite(value) ? OK : BAD_WEIGHT;
}

struct Name {
    const char *begin;
    uint32_t size;
    uint64_t hash;
};

// The number of a name, which joins the names if it is new.
int32_t number(Numbering &numbering, std::vector<Name> &names, const Name &name) {
    int32_t found = numbering.number(name.hash, [&](int32_t earlier) {
        const Name &other = names[earlier];
        return other.size == name.size && std::memcmp(other.begin, name.begin, name.size) == 0;
    });
    if (size_t(found) == names.size()) names.push_back(name);
    return found;
}

template <class T> struct IntegerIds {
    using Value = T;
    static constexpr bool integers = true;
    Status read(Field f, T &value) { return parse_id(f, value); }
};

struct StringIds {
    using Value = int32_t;
    static constexpr bool integers = false;
    bool verbatim;                   // between tabs, blanks belong to the name
    Numbering numbering;
    std::vector<Name> names;
    std::deque<std::string> unescaped;   // a deque: names point into it, so its strings must not move

    Status read(Field f, int32_t &value) {
        Field bare = trimmed(f);
        value = -1;                  // an empty field names no node
        if (bare.empty()) return OK;
        if (!verbatim) f = bare;
        if (f.doubled) {
            std::string &text = unescaped.emplace_back();
            for (const char *p = f.begin; p < f.end; ++p) {
                text.push_back(*p);
                if (*p == '"') ++p;
            }
            f = {text.data(), text.data() + text.size()};
        }
        size_t size = f.end - f.begin;
        value = number(numbering, names, {f.begin, uint32_t(size), hash_bytes(f.begin, size)});
        return OK;
    }
};

struct Chunk {
    const char *begin, *end;
    int64_t lines = 0, base = 0, records = 0, comments = 0;   // base: lines in the chunks before
    Status status = OK;
    int64_t line = 0;                                         // of the error, from 1 within the chunk
};

template <class Value> struct Arrays {
    Buffer<Value> source, target;
    Buffer<float> weights;
};

template <class Ids> Status parse_line(Fields fields, const Layout &layout, Ids &ids, typename Ids::Value *ends, float *weight) {
    Field field;
    int column = 0, last = std::max({layout.source, layout.target, layout.weight});
    for (; fields.next(field); ++column) {
        Status status = OK;
        if (column == layout.source) status = ids.read(field, ends[0]);
        if (column == layout.target && status == OK) status = ids.read(field, ends[1]);
        if (column == layout.weight && status == OK) status = parse_weight(field, *weight);
        if (status != OK) return status;
    }
    return column <= last ? FEW_COLUMNS : column > layout.columns ? MANY_COLUMNS : OK;
}

// The commonest line of all, "12 345\n", in one go. False, with nothing read, for any other.
template <class T> bool plain_line(const char *&at, const char *end, char delimiter, T *ends) {
    const char *p = at;
    for (int side : {0, 1}) {
        const char *first = p;
        uint64_t sum = 0;
        for (; p < end && unsigned(*p - '0') <= 9; ++p) sum = sum * 10 + unsigned(*p - '0');
        if (p == end || p == first || p - first > 9 || (*first == '0' && p - first > 1)) return false;
        bool expected = side ? *p == '\n' : *p == delimiter || (delimiter == ' ' && *p == '\t');
        if (!expected) return false;
        ++p;
        ends[side] = T(sum);
    }
    at = p;
    return true;
}

template <class Ids> void parse_chunk(Chunk &chunk, const Layout &layout, Ids &ids, Arrays<typename Ids::Value> &out) {
    const char *p = chunk.begin;
    bool pairs = Ids::integers && layout.source == 0 && layout.target == 1 && layout.weight < 0;
    for (int64_t line = 1; p < chunk.end; ++line) {
        typename Ids::Value ends[2] = {0, 0};
        if (pairs && plain_line(p, chunk.end, layout.delimiter, ends)) {
            int64_t at = chunk.base + chunk.records++;
            out.source[at] = ends[0];
            out.target[at] = ends[1];
            continue;
        }
        const char *stop = static_cast<const char *>(std::memchr(p, '\n', chunk.end - p));
        const char *next = stop ? stop + 1 : chunk.end;
        const char *end = stop ? stop : chunk.end;
        if (end > p && end[-1] == '\r') --end;
        const char *first = p;
        while (first < end && blank(*first)) ++first;
        if (first < end && layout.comments.find(*first) != std::string::npos) {
            ++chunk.comments;
        } else if (first < end) {
            float weight = 0;
            chunk.status = parse_line(Fields(p, end, layout.delimiter), layout, ids, ends, &weight);
            if (chunk.status != OK) { chunk.line = line; return; }
            int64_t at = chunk.base + chunk.records++;
            out.source[at] = ends[0];
            out.target[at] = ends[1];
            if (out.weights) out.weights[at] = weight;
        }
        p = next;
    }
}

std::vector<Chunk> cut(const char *begin, const char *end, int threads) {
    std::vector<Chunk> chunks(threads);
    const char *at = begin;
    for (int t = 0; t < threads; ++t) {
        const char *aim = std::max(at, begin + (end - begin) * (t + 1) / threads);
        const char *stop = aim < end ? static_cast<const char *>(std::memchr(aim, '\n', end - aim)) : nullptr;
        chunks[t].begin = at;
        chunks[t].end = at = stop ? stop + 1 : end;
    }
    parallel(threads, [&](int t) {
        Chunk &chunk = chunks[t];
        bool open = chunk.begin < chunk.end && chunk.end[-1] != '\n';   // a last line without a line end
        chunk.lines = std::count(chunk.begin, chunk.end, '\n') + open;
    });
    for (int t = 1; t < threads; ++t) chunks[t].base = chunks[t - 1].base + chunks[t - 1].lines;
    return chunks;
}

// Closes the gaps that comments and blank lines left between the chunks' records.
template <class T> void close_gaps(Buffer<T> &array, const std::vector<Chunk> &chunks) {
    if (!array) return;
    int64_t at = 0;
    for (const Chunk &chunk : chunks) {
        if (at != chunk.base) std::memmove(array.begin() + at, array.begin() + chunk.base, sizeof(T) * chunk.records);
        at += chunk.records;
    }
    array.shrink(at);
}

// The status of the whole: one that asks for another parser goes before one that is an error.
Chunk verdict(const std::vector<Chunk> &chunks) {
    Chunk all{};
    int64_t lines = 0;
    for (const Chunk &chunk : chunks) {
        bool first = all.status == OK || (chunk.status != OK && chunk.status < all.status && chunk.status <= TOO_WIDE);
        if (chunk.status != OK && first) {
            all.status = chunk.status;
            all.line = lines + chunk.line;
        }
        lines += chunk.lines;
        all.comments += chunk.comments;
    }
    return all;
}

std::string sort_names(const std::vector<Name> &names, std::vector<int32_t> &rank) {
    struct Entry { uint64_t prefix; int32_t at; };   // the first bytes decide most comparisons without a cache miss
    std::vector<Entry> order(names.size());
    size_t total = 0;
    for (size_t i = 0; i < names.size(); ++i) {
        uint64_t prefix = 0;
        for (uint32_t b = 0; b < 8; ++b)
            prefix = prefix << 8 | (b < names[i].size ? static_cast<unsigned char>(names[i].begin[b]) : 0);
        order[i] = {prefix, int32_t(i)};
        total += names[i].size + 1;
    }
    std::sort(order.begin(), order.end(), [&](const Entry &a, const Entry &b) {
        if (a.prefix != b.prefix) return a.prefix < b.prefix;
        const Name &x = names[a.at], &y = names[b.at];
        int sign = std::memcmp(x.begin, y.begin, std::min(x.size, y.size));
        return sign ? sign < 0 : x.size < y.size;
    });
    std::string joined;
    joined.reserve(total);
    rank.resize(names.size());
    for (size_t i = 0; i < order.size(); ++i) {
        const Name &name = names[order[i].at];
        rank[order[i].at] = int32_t(i);
        if (i) joined.push_back('\n');
        joined.append(name.begin, name.size);
    }
    return joined;
}

// One numbering for all chunks, in the order of the names' bytes; returns the names, a line each.
std::string unite(std::vector<StringIds> &ids, const std::vector<Chunk> &chunks, Arrays<int32_t> &out) {
    for (StringIds &each : ids) each.numbering = Numbering();   // its table is as large as the names
    Numbering numbering;
    std::vector<Name> names;
    std::vector<std::vector<int32_t>> global(ids.size());
    for (size_t t = 0; t < ids.size(); ++t)
        for (const Name &name : ids[t].names) global[t].push_back(number(numbering, names, name));
    std::vector<int32_t> rank;
    std::string joined = sort_names(names, rank);
    parallel(int(ids.size()), [&](int t) {
        for (int64_t i = chunks[t].base; i < chunks[t].base + chunks[t].records; ++i)
            for (int32_t *value : {&out.source[i], &out.target[i]})
                if (*value >= 0) *value = rank[global[t][*value]];
    });
    return joined;
}

template <class Ids> nb::tuple parse(Input<uint8_t> text, const Layout &layout, std::vector<Ids> ids) {
    Arrays<typename Ids::Value> out;
    std::vector<Chunk> chunks;
    Chunk all{};
    std::string names;
    {
        nb::gil_scoped_release release;
        const char *begin = reinterpret_cast<const char *>(text.data());
        chunks = cut(begin, begin + text.size(), int(ids.size()));
        size_t most = chunks.back().base + chunks.back().lines;
        out.source = Buffer<typename Ids::Value>(most);
        out.target = Buffer<typename Ids::Value>(most);
        if (layout.weight >= 0) out.weights = Buffer<float>(most);
        parallel(int(ids.size()), [&](int t) { parse_chunk(chunks[t], layout, ids[t], out); });
        all = verdict(chunks);
        if constexpr (std::is_same_v<Ids, StringIds>)
            if (all.status == OK) names = unite(ids, chunks, out);
        close_gaps(out.source, chunks);
        close_gaps(out.target, chunks);
        close_gaps(out.weights, chunks);
    }
    return nb::make_tuple(int(all.status), all.line, out.source.numpy(), out.target.numpy(), out.weights.numpy(),
                          nb::bytes(names.data(), names.size()), all.comments);
}

Layout layout_of(const nb::tuple &columns, const std::string &delimiter, const std::string &comments) {
    return {delimiter[0], comments, nb::cast<int>(columns[0]), nb::cast<int>(columns[1]), nb::cast<int>(columns[2]),
            nb::cast<int>(columns[3])};
}

// A chunk smaller than this is not worth a thread.
int useful(int threads, size_t bytes) { return int(std::clamp<size_t>(bytes >> 16, 1, std::max(threads, 1))); }

}  // namespace

void bind_text(nb::module_ &module) {
    using namespace nb::literals;
    module.def("parse_integers", [](Input<uint8_t> text, nb::tuple columns, std::string delimiter, std::string comments,
                                    bool wide, int threads) {
        Layout layout = layout_of(columns, delimiter, comments);
        int used = useful(threads, text.size());
        return wide ? parse(text, layout, std::vector<IntegerIds<int64_t>>(used))
                    : parse(text, layout, std::vector<IntegerIds<int32_t>>(used));
    }, "text"_a, "columns"_a, nb::kw_only(), "delimiter"_a, "comments"_a, "wide"_a, "threads"_a);
    module.def("parse_strings", [](Input<uint8_t> text, nb::tuple columns, std::string delimiter, std::string comments,
                                   int threads) {
        Layout layout = layout_of(columns, delimiter, comments);
        std::vector<StringIds> ids(useful(threads, text.size()));
        for (auto &each : ids) each.verbatim = layout.delimiter == '\t';
        return parse(text, layout, std::move(ids));
    }, "text"_a, "columns"_a, nb::kw_only(), "delimiter"_a, "comments"_a, "threads"_a);
}
