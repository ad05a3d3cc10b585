// Threads of a kernel, and Ctrl-C while it runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

// Thrown in the threads of a kernel once Python has had a signal whose handler raised; that error is set by then.
struct Interrupted {};

// A stretch of a kernel without the GIL. Signals are handled where the kernel was called, if Python does so in that thread:
// it looks for them ten times a second, and an error of a handler (KeyboardInterrupt) ends the kernel in all threads.
class Released {
    void *python_;                          // the thread state of the caller
    bool handles_signals_;
    std::chrono::steady_clock::time_point next_look_;
    std::atomic<bool> stopped_{false};
    friend void run_threads(int threads, void (*work)(const void *, int), const void *self);
    friend bool is_stopped();
    void look();

  public:
    Released();
    ~Released();
    Released(const Released &) = delete;
};

void run_threads(int threads, void (*work)(const void *, int), const void *self);

// Calls work(t) for t in 0..threads-1, the first on this thread; an exception in any is thrown here. Where the system has fewer
// threads to give, each of them calls it for several t: no call may wait for one with a higher t to begin.
template <class Work> void parallel(int threads, const Work &work) {
    run_threads(threads, [](const void *self, int t) { (*static_cast<const Work *>(self))(t); }, &work);
}

// Whether the kernel is to end; for loops that take the next piece of work. `parallel` throws after them.
bool is_stopped();

// Throws `Interrupted` if so; for every few milliseconds of work, in any thread of the kernel.
inline void stop_if_asked() {
    if (is_stopped()) throw Interrupted();
}

// Calls work(i) for i in begin ... end - 1, and looks now and then whether to stop; the loop itself is as without that.
template <class Work> void in_steps(std::size_t begin, std::size_t end, const Work &work) {
    constexpr std::size_t step = 1 << 16;
    for (std::size_t from = begin; from < end; from += step) {
        stop_if_asked();
        const std::size_t to = end - from < step ? end : from + step;
        for (std::size_t i = from; i < to; ++i) work(i);
    }
}

// The same in a loop over many small things, the i-th of which is next.
inline void stop_if_asked(std::uint64_t i) {
    if ((i & 0xffff) == 0) stop_if_asked();
}
