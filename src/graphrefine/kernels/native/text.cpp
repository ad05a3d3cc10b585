// Text edge lists to arrays. The bytes are cut at line ends into one chunk a thread; each chunk is parsed
// on its own and the pieces are put together in file order, so the result does not depend on the threads.
//
// Nothing here words an error: a status and a line number go back, and Python says what is wrong.
#include "checks.h"
#include "names.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <numeric>
#include <string>

namespace nb = nanobind;

namespace {
namespace text {

enum Status {
    OK,
    NOT_INTEGER,
    TOO_WIDE,   // the first two ask for another parser, the others are errors
    FEW_COLUMNS,
    MANY_COLUMNS,
    BAD_WEIGHT,
    BAD_TIME,
    OPEN_QUOTE,
    AFTER_QUOTE,
    LINE_IN_NAME,
    LONE_RETURN,
    COMMENT_LIKE
};

struct Layout {
    char delimiter;            // ' ' stands for any run of blanks
    char quote;                // 0: there are no quotes
    std::string comments;      // a line that begins with one of these is skipped
    std::string suspects;  // a line that begins with one of these, and perhaps a blank, is neither comment nor record
    bool dates;  // times are dates, not numbers
    int source, target, weight, time, columns;  // positions from 0; -1: none; columns: most a record may have
};

struct Field {
    const char *begin, *end;
    bool quoted = false;
    bool doubled = false;  // holds two quotes that stand for one
    bool empty() const { return begin == end; }
};

inline bool blank(char c) { return c == ' ' || c == '\t'; }

Field trimmed(Field f) {
    while (f.begin < f.end && blank(*f.begin)) ++f.begin;
    while (f.begin < f.end && blank(f.end[-1])) --f.end;
    return f;
}

inline const char *seek(const char *at, const char *end, char c) {
    return at < end ? static_cast<const char *>(std::memchr(at, c, end - at)) : nullptr;
}

// The quote that closes a field, from the character after its first quote on; null if there is none.
const char *closing(const char *at, const char *end, char quote, bool *doubled = nullptr) {
    while ((at = seek(at, end, quote))) {
        if (at + 1 == end || at[1] != quote) return at;
        if (doubled) *doubled = true;
        at += 2;
    }
    return nullptr;
}

// Walks over the fields of one record, from its first byte to its line end; only quoted fields hold line ends.
class Fields {
    const char *at_, *end_;
    char delimiter_, quote_;
    bool more_ = true;

  public:
    Status status = OK;

    Fields(const char *begin, const char *end, const Layout &layout)
        : at_(begin), end_(end), delimiter_(layout.delimiter), quote_(layout.quote) {}

    bool next(Field &field) {
        bool words = delimiter_ == ' ';
        const char *first = at_;
        while (first < end_ && blank(*first) && (words || *first != delimiter_)) ++first;
        if (words ? first == end_ : !more_) return false;
        if (quote_ && first < end_ && *first == quote_) return next_quoted(first + 1, field);
        if (words) {
            field = {first, first};
            while (field.end < end_ && !blank(*field.end)) ++field.end;
            at_ = field.end;
        } else {
            const char *stop = seek(at_, end_, delimiter_);
            field = {at_, stop ? stop : end_};
            advance(field.end);
        }
        return true;
    }

  private:
    // The field ends at the quote that is not doubled; after it only blanks may stand before the delimiter.
    bool next_quoted(const char *begin, Field &field) {
        bool doubled = false;
        const char *close = closing(begin, end_, quote_, &doubled);
        if (!close) return fail(OPEN_QUOTE);
        field = {begin, close, true, doubled};
        const char *after = close + 1;
        if (delimiter_ == ' ') {
            if (after < end_ && !blank(*after)) return fail(AFTER_QUOTE);
            at_ = after;
            return true;
        }
        while (after < end_ && blank(*after) && *after != delimiter_) ++after;
        if (after < end_ && *after != delimiter_) return fail(AFTER_QUOTE);
        advance(after);
        return true;
    }

    bool fail(Status problem) {
        status = problem;
        return false;
    }

    void advance(const char *stop) {
        more_ = stop < end_;
        at_ = more_ ? stop + 1 : end_;
    }
};

// The line end of the record at `at`, or the end of the text; line ends within quotes do not count.
const char *record_end(const char *at, const char *end, const Layout &layout) {
    const char *stop = seek(at, end, '\n');
    if (!layout.quote || !seek(at, stop ? stop : end, layout.quote)) return stop ? stop : end;
    auto between = [&](char c) { return c == layout.delimiter || (layout.delimiter == ' ' && c == '\t'); };
    while (true) {
        while (at < end && blank(*at) && !between(*at)) ++at;
        if (at < end && *at == layout.quote) {
            const char *close = closing(at + 1, end, layout.quote);
            if (!close) return stop ? stop : end;  // never closed: the record is the line, and refused
            at = close + 1;
        }
        while (at < end && *at != '\n' && !between(*at)) ++at;
        if (at == end || *at == '\n') return at;
        ++at;
    }
}

// A canonical integer: no plus sign, no leading zeros, no "-0".
template <class T> Status parse_id(Field f, T &value) {
    if (!f.quoted) f = trimmed(f);
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
    std::string text(begin, end);  // out of range, or no from_chars here: strtod knows infinity from zero
    char *last = nullptr;
    value = std::strtod(text.c_str(), &last);
    valid = last == text.c_str() + text.size();
    return value;
}

// Whether a number is 0 as it is written, not only as it is rounded.
bool written_zero(const char *p, const char *end) {
    for (; p < end && *p != 'e' && *p != 'E'; ++p)
        if (*p >= '1' && *p <= '9') return false;
    return true;
}

// Digits with an optional sign, point and exponent, rounded to float32: finite, not negative, and 0 only if written so.
Status parse_weight(Field f, float &value) {
    f = trimmed(f);
    if (f.begin < f.end && *f.begin == '+') ++f.begin;
    if (f.empty() || !((*f.begin >= '0' && *f.begin <= '9') || *f.begin == '.' || *f.begin == '-')) return BAD_WEIGHT;
    for (const char *p = f.begin; p < f.end; ++p)  // strtod would take hexadecimals, both would take "-inf"
        if (*p == 'x' || *p == 'X' || *p == 'n' || *p == 'N') return BAD_WEIGHT;
    bool valid = false;
    value = static_cast<float>(to_double(f.begin, f.end, valid));
    if (value == 0 && !written_zero(f.begin, f.end)) return BAD_WEIGHT;
    return valid && value >= 0 && std::isfinite(value) ? OK : BAD_WEIGHT;
}

bool digits(const char *&p, const char *end, int least, int most, int &value) {
    const char *first = p;
    for (value = 0; p < end && p - first < most && unsigned(*p - '0') <= 9; ++p) value = value * 10 + (*p - '0');
    return p - first >= least;
}

// Days from 1970-01-01 to a day of the Gregorian calendar.
int64_t days_since_1970(int year, int month, int day) {
    int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400, day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

int days_of_month(int year, int month) {
    if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// "2024-01-31", perhaps with "T" or a blank, "12:30", ":59", ".25" and "Z" or "+01:00", in seconds since 1970.
bool parse_date(Field f, double &value) {
    const char *p = f.begin, *end = f.end;
    int year, month, day, hour = 0, minute = 0, second = 0, shift_hours = 0, shift_minutes = 0;
    double part = 0;
    if (!digits(p, end, 4, 4, year) || year < 1 || p == end || (*p != '-' && *p != '/')) return false;
    char mark = *p++;
    if (!digits(p, end, 2, 2, month) || month < 1 || month > 12 || p == end || *p++ != mark) return false;
    if (!digits(p, end, 2, 2, day) || day < 1 || day > days_of_month(year, month)) return false;
    int64_t shift = 0;
    if (p < end) {
        if ((*p != 'T' && *p != ' ') || !digits(++p, end, 2, 2, hour) || hour > 23 || p == end || *p++ != ':')
            return false;
        if (!digits(p, end, 2, 2, minute) || minute > 59) return false;
        if (p < end && *p == ':') {
            if (!digits(++p, end, 2, 2, second) || second > 59) return false;
            if (p < end && *p == '.') {
                double unit = 0.1;
                const char *first = ++p;
                for (; p < end && unsigned(*p - '0') <= 9; ++p, unit /= 10) part += unit * (*p - '0');
                if (p == first) return false;
            }
        }
        if (p < end && (*p == '+' || *p == '-')) {
            int sign = *p == '-' ? -1 : 1;
            if (!digits(++p, end, 2, 2, shift_hours) || shift_hours > 23) return false;
            if (p < end && *p == ':') ++p;
            if (p < end && (!digits(p, end, 2, 2, shift_minutes) || shift_minutes > 59)) return false;
            shift = sign * (shift_hours * 3600 + shift_minutes * 60);
        } else if (p < end && *p == 'Z') {
            ++p;
        }
    }
    value = double(days_since_1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - shift) + part;
    return p == end;
}

// A number as it is, or a date in seconds since 1970.
Status parse_time(Field f, bool dates, double &value) {
    f = trimmed(f);
    if (dates) return parse_date(f, value) ? OK : BAD_TIME;
    for (const char *p = f.begin; p < f.end; ++p)
        if (!(unsigned(*p - '0') <= 9 || *p == '.' || *p == '-' || *p == '+' || *p == 'e' || *p == 'E'))
            return BAD_TIME;
    if (f.begin < f.end && *f.begin == '+') ++f.begin;
    bool valid = false;
    if (!f.empty()) value = to_double(f.begin, f.end, valid);
    return valid && std::isfinite(value) ? OK : BAD_TIME;
}

template <class T> struct IntegerIds {
    using Value = T;
    static constexpr bool integers = true;
    int64_t trimmed_ids = 0;  // blanks around integers say nothing
    Status read(Field f, T &value) { return parse_id(f, value); }
};

struct StringIds {
    using Value = int32_t;
    static constexpr bool integers = false;
    char quote = 0;
    int64_t trimmed_ids = 0;  // those that lost blanks around them
    Numbering numbering;
    std::vector<Name> names;
    std::deque<std::string> unescaped;  // a deque: names point into it, so its strings must not move

    Status read(Field f, int32_t &value) {
        Field bare = trimmed(f);
        value = -1;  // an empty field names no node
        if (bare.empty()) return OK;
        if (f.quoted) {
            if (seek(f.begin, f.end, '\n')) return LINE_IN_NAME;
        } else {
            trimmed_ids += bare.end - bare.begin != f.end - f.begin;
            f = bare;
        }
        if (f.doubled) {
            std::string &text = unescaped.emplace_back();
            for (const char *p = f.begin; p < f.end; ++p) {
                text.push_back(*p);
                if (*p == quote) ++p;
            }
            f = {text.data(), text.data() + text.size()};
        }
        size_t size = f.end - f.begin;
        value = number(numbering, names, {f.begin, size, hash_bytes(f.begin, size)});
        return OK;
    }
};

struct Chunk {
    const char *begin, *end;
    int64_t lines = 0, base = 0, records = 0, comments = 0;  // base: lines in the chunks before
    bool returns = false;  // holds a return that ends no line
    Status status = OK;
    int64_t line = 0;  // of the error, from 1 within the chunk
};

template <class Value> struct Arrays {
    Buffer<Value> source, target;
    Buffer<float> weights;
    Buffer<double> times;
};

struct Record {
    float weight = 0;
    double time = 0;
};

template <class Ids> Status parse_record(Fields fields, const Layout &layout, Ids &ids, typename Ids::Value *ends,
                                         Record &record, bool returns) {
    Field field;
    int column = 0, last = std::max({layout.source, layout.target, layout.weight, layout.time});
    for (; fields.next(field); ++column) {
        Status status = OK;
        if (returns && !field.quoted && seek(field.begin, field.end, '\r')) return LONE_RETURN;
        if (column == layout.source) status = ids.read(field, ends[0]);
        if (column == layout.target && status == OK) status = ids.read(field, ends[1]);
        if (column == layout.weight && status == OK) status = parse_weight(field, record.weight);
        if (column == layout.time && status == OK) status = parse_time(field, layout.dates, record.time);
        if (status != OK) return status;
    }
    if (fields.status != OK) return fields.status;
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

// The first character of a line, blanks aside; a tab that is the delimiter ends an empty field.
const char *first_of(const char *begin, const char *end, const Layout &layout) {
    while (begin < end && blank(*begin) && (layout.delimiter == ' ' || *begin != layout.delimiter)) ++begin;
    return begin;
}

// Whether a line looks like a comment though there are none here: it begins with a suspect alone or before a blank,
// or, between blanks, with a suspect at all.
bool suspicious(const char *first, const char *end, const Layout &layout) {
    if (layout.suspects.find(*first) == std::string::npos) return false;
    return layout.delimiter == ' ' || first + 1 == end || blank(first[1]);
}

template <class Ids> void parse_chunk(Chunk &chunk, const Layout &layout, Ids &ids, Arrays<typename Ids::Value> &out) {
    const char *p = chunk.begin;
    bool pairs = Ids::integers && layout.source == 0 && layout.target == 1 && layout.weight < 0 && layout.time < 0;
    for (int64_t line = 1; p < chunk.end; ++line) {
        stop_if_asked(line << 2);
        typename Ids::Value ends[2] = {0, 0};
        if (pairs && plain_line(p, chunk.end, layout.delimiter, ends)) {
            int64_t at = chunk.base + chunk.records++;
            out.source[at] = ends[0];
            out.target[at] = ends[1];
            continue;
        }
        const char *first = first_of(p, chunk.end, layout);
        bool comment = first < chunk.end && layout.comments.find(*first) != std::string::npos;
        const char *stop = comment ? seek(p, chunk.end, '\n') : record_end(p, chunk.end, layout);
        const char *end = stop ? stop : chunk.end;
        const char *next = end < chunk.end ? end + 1 : chunk.end;
        if (end > p && end[-1] == '\r') --end;
        if (comment) {
            ++chunk.comments;
        } else if (trimmed({first, end}).begin < end) {
            Record record;
            chunk.status = suspicious(first, end, layout)
                               ? COMMENT_LIKE
                               : parse_record(Fields(p, end, layout), layout, ids, ends, record, chunk.returns);
            if (chunk.status != OK) {
                chunk.line = line;
                return;
            }
            int64_t at = chunk.base + chunk.records++;
            out.source[at] = ends[0];
            out.target[at] = ends[1];
            if (out.weights) out.weights[at] = record.weight;
            if (out.times) out.times[at] = record.time;
            if (layout.quote) line += std::count(p, end, '\n');
        }
        p = next;
    }
}

// Whether a quote begins a field: between it and the delimiter or the line end before it are only blanks.
bool opens(const char *quote, const char *begin, char delimiter) {
    const char *p = quote;
    while (p > begin && blank(p[-1]) && p[-1] != delimiter) --p;
    return p == begin || p[-1] == '\n' || p[-1] == delimiter || (delimiter == ' ' && p < quote);
}

// The line of the places that are asked for one after the other, each from where the one before was.
class Line {
    const char *begin_, *seen_;

  public:
    explicit Line(const char *begin) : begin_(begin), seen_(begin) {}

    // Whether a byte is in a comment line.
    bool is_comment(const char *at, const Layout &layout) {
        if (layout.comments.empty()) return false;
        for (const char *p = at; p > seen_; --p)
            if (p[-1] == '\n') {
                begin_ = p;
                break;
            }
        seen_ = at;
        return layout.comments.find(*first_of(begin_, at, layout)) != std::string::npos;
    }
};

// The first record that begins at or after `aim`, from `outside`, a place that is not within quotes and moves on with its line.
const char *next_record(const char *&outside, Line &line, const char *aim, const char *begin, const char *end,
                        const Layout &layout) {
    while (outside < end) {
        const char *quote = layout.quote ? seek(outside, end, layout.quote) : nullptr;
        const char *stop = seek(std::max(outside, aim), quote ? quote : end, '\n');
        if (stop) return stop + 1;
        if (!quote) return end;
        const char *close = quote;
        if (opens(quote, begin, layout.delimiter) && !line.is_comment(quote, layout)) {
            close = closing(quote + 1, end, layout.quote);
            if (!close) return end;  // an error, and found by the parser of this chunk
        }
        outside = close + 1;
    }
    return end;
}

std::vector<Chunk> cut(const char *begin, const char *end, int threads, const Layout &layout) {
    std::vector<Chunk> chunks(threads);
    const char *at = begin, *outside = begin;
    Line line(begin);
    for (int t = 0; t < threads; ++t) {
        const char *aim = std::max(at, begin + (end - begin) * (t + 1) / threads);
        chunks[t].begin = at;
        chunks[t].end = at = aim < end ? next_record(outside, line, aim, begin, end, layout) : end;
    }
    parallel(threads, [&](int t) {
        Chunk &chunk = chunks[t];
        bool open = chunk.begin < chunk.end && chunk.end[-1] != '\n';  // a last line without a line end
        chunk.lines = open;
        for (const char *from = chunk.begin, *to; from < chunk.end; from = to) {
            stop_if_asked();
            to = from + std::min<ptrdiff_t>(chunk.end - from, 1 << 24);
            chunk.lines += std::count(from, to, '\n');
            for (const char *p = from; !chunk.returns && (p = seek(p, to, '\r')); ++p)
                chunk.returns = p + 1 < end && p[1] != '\n';
        }
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

// One numbering for all chunks, in the order of the names' bytes; returns the names, a line each.
std::string unite(std::vector<StringIds> &ids, const std::vector<Chunk> &chunks, Arrays<int32_t> &out) {
    for (StringIds &each : ids) each.numbering = Numbering();  // its table is as large as the names
    Numbering numbering;
    std::vector<Name> names;
    std::vector<std::vector<int32_t>> global(ids.size());
    for (size_t t = 0; t < ids.size(); ++t)
        for (const Name &name : ids[t].names) {
            stop_if_asked(global[t].size());
            global[t].push_back(number(numbering, names, name));
        }
    const std::vector<int32_t> order = sort_names(names);
    std::vector<int32_t> rank(names.size());
    std::string joined;
    joined.reserve(std::accumulate(names.begin(), names.end(), names.size(),
                                   [](size_t sum, const Name &name) { return sum + name.size; }));
    in_steps(0, order.size(), [&](size_t i) {
        rank[order[i]] = int32_t(i);
        if (i) joined.push_back('\n');
        joined.append(names[order[i]].begin, names[order[i]].size);
    });
    parallel(int(ids.size()), [&](int t) {
        in_steps(chunks[t].base, chunks[t].base + chunks[t].records, [&](size_t i) {
            for (int32_t *value : {&out.source[i], &out.target[i]})
                if (*value >= 0) *value = rank[global[t][*value]];
        });
    });
    return joined;
}

template <class Ids> nb::tuple parse(Input<uint8_t> text, const Layout &layout, std::vector<Ids> ids) {
    Arrays<typename Ids::Value> out;
    std::vector<Chunk> chunks;
    Chunk all{};
    std::string names;
    int64_t trimmed_ids = 0;
    {
        Released released;
        const char *begin = reinterpret_cast<const char *>(text.data());
        chunks = cut(begin, begin + text.size(), int(ids.size()), layout);
        size_t most = chunks.back().base + chunks.back().lines;
        out.source = Buffer<typename Ids::Value>(most);
        out.target = Buffer<typename Ids::Value>(most);
        if (layout.weight >= 0) out.weights = Buffer<float>(most);
        if (layout.time >= 0) out.times = Buffer<double>(most);
        parallel(int(ids.size()), [&](int t) { parse_chunk(chunks[t], layout, ids[t], out); });
        all = verdict(chunks);
        if constexpr (std::is_same_v<Ids, StringIds>)
            if (all.status == OK) names = unite(ids, chunks, out);
        close_gaps(out.source, chunks);
        close_gaps(out.target, chunks);
        close_gaps(out.weights, chunks);
        close_gaps(out.times, chunks);
        for (const Ids &each : ids) trimmed_ids += each.trimmed_ids;
    }
    return nb::make_tuple(int(all.status), all.line, out.source.numpy(), out.target.numpy(), out.weights.numpy(),
                          out.times.numpy(), nb::bytes(names.data(), names.size()), all.comments, trimmed_ids);
}

template <class T> T value(const nb::handle &object) {
    T found;
    if (!nb::try_cast(object, found)) throw nb::type_error("`columns` are whole numbers, `marks` are texts");
    return found;
}

// Without quotes in the text, none are looked for.
Layout layout_of(Input<uint8_t> text, const nb::tuple &columns, const nb::tuple &marks, bool dates) {
    need(nb::len(columns) == 5 && nb::len(marks) == 4, "there are five columns and four marks");
    auto mark = [&](int at) { return value<std::string>(marks[at]); };
    auto column = [&](int at) { return value<int>(columns[at]); };
    need(column(0) >= 0 && column(1) >= 0, "`columns` of source and target must be from 0");
    need(!mark(0).empty() && mark(0)[0] != '\n' &&
             (mark(1).empty() || (mark(1)[0] != '\n' && mark(1)[0] != mark(0)[0])),
         "`marks` must have a delimiter, and no line end as delimiter or quote");
    const char *begin = reinterpret_cast<const char *>(text.data());
    char quote = mark(1).empty() || !seek(begin, begin + text.size(), mark(1)[0]) ? 0 : mark(1)[0];
    return {mark(0)[0], quote, mark(2), mark(3), dates, column(0), column(1), column(2), column(3), column(4)};
}

// The bytes of whole records at the beginning of a text that goes on: up to the last line end outside of quotes.
size_t whole_records(const char *begin, const char *end, const Layout &layout) {
    const char *outside = begin, *last = begin;
    Line line(begin);
    while (outside < end) {
        const char *quote = layout.quote ? seek(outside, end, layout.quote) : nullptr;
        for (const char *p = quote ? quote : end; p > outside; --p)
            if (p[-1] == '\n') {
                last = p;
                break;
            }
        if (!quote) break;
        const char *close = quote;
        if (opens(quote, begin, layout.delimiter) && !line.is_comment(quote, layout)) {
            close = closing(quote + 1, end, layout.quote);
            if (!close || close + 1 == end) break;  // the next byte may be a quote too
        }
        outside = close + 1;
    }
    return last - begin;
}

// A chunk smaller than this is not worth a thread.
int useful(int threads, size_t bytes) { return int(std::clamp<size_t>(bytes >> 16, 1, size_t(threads))); }

}  // namespace text
}  // namespace

void bind_text(nb::module_ &module) {
    using namespace text;
    using namespace nb::literals;
    module.def(
        "whole_records",
        [](Input<uint8_t> text, nb::tuple marks) {
            Layout layout = layout_of(text, nb::make_tuple(0, 1, -1, -1, 2), marks, false);
            const char *begin = reinterpret_cast<const char *>(text.data());
            return whole_records(begin, begin + text.size(), layout);
        },
        "text"_a, "marks"_a);
    module.def(
        "parse_integers",
        [](Input<uint8_t> text, nb::tuple columns, nb::tuple marks, bool dates, bool wide, Threads threads) {
            Layout layout = layout_of(text, columns, marks, dates);
            int used = useful(threads, text.size());
            return wide ? parse(text, layout, std::vector<IntegerIds<int64_t>>(used))
                        : parse(text, layout, std::vector<IntegerIds<int32_t>>(used));
        },
        "text"_a, "columns"_a, "marks"_a, nb::kw_only(), "dates"_a, "wide"_a, "threads"_a);
    module.def(
        "parse_strings",
        [](Input<uint8_t> text, nb::tuple columns, nb::tuple marks, bool dates, Threads threads) {
            Layout layout = layout_of(text, columns, marks, dates);
            std::vector<StringIds> ids(useful(threads, text.size()));
            for (auto &each : ids) each.quote = layout.quote;
            return parse(text, layout, std::move(ids));
        },
        "text"_a, "columns"_a, "marks"_a, nb::kw_only(), "dates"_a, "threads"_a);
}
