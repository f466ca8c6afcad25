// SPDX-License-Identifier: GPL-3.0-or-later
// Random requests to PyTorch's caching allocator, and what it does with each, one line of text at a time.
//
// usage: requests KEY=VALUE... -- SETTINGS...
//
// Keys: seed, requests (how many), streams, bytes (about so many are in use), fraction (of the device, 0:
// all), lag (queries until an event is ready, at most), pools, captures, fractions (1: such requests come,
// too). The first settings are those of PYTORCH_CUDA_ALLOC_CONF; with others behind them, they change in
// mid-run.
//
// Lines of requests, each with the lines of what came of it behind it:
//   alloc ID BYTES STREAM OWNER POOL | free ID | use ID STREAM | empty | settings TEXT | fraction F
//   begin OWNER POOL CAPTURES | end | release OWNER POOL | sums ... | blocks
// of what came of it:
//   = ACTION ADDRESS BYTES STREAM (an entry of the trace) | sync (the allocator waits for events)
//   segment ADDRESS BYTES STREAM LARGE EXPANDABLE OWNER POOL | block BYTES ALLOCATED ACTIVE REQUESTED
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/version.h>
#if TORCH_VERSION_MINOR >= 10
#include <c10/core/AllocatorConfig.h>
#elif TORCH_VERSION_MINOR >= 2
#include <c10/cuda/CUDAAllocatorConfig.h>
#endif
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <map>
#include <random>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <vector>

namespace c10::cuda::_internal {
C10_CUDA_API void setHasPrimaryContext(bool (*)(DeviceIndex));
}
namespace c10::cuda::detail {
__attribute__((weak)) C10_CUDA_API void init_p2p_access_cache(int64_t);
}

namespace allocator = c10::cuda::CUDACachingAllocator;

namespace {

constexpr std::size_t kMiB = std::size_t{ 1 } << 20;

struct Random {
    std::mt19937_64 engine;
    std::size_t between(std::size_t low, std::size_t high) { return low + engine() % (high - low + 1); }
    bool oneIn(std::size_t n) { return engine() % n == 0; }
};

Random lags;
std::size_t longestLag = 0;
std::unordered_map<cudaEvent_t, std::size_t> waiting;

/// Ready after as many queries as are drawn at the first.
cudaError_t answerQuery(cudaEvent_t event)
{
    const auto [place, isFirst] = waiting.try_emplace(event, 0);
    if (isFirst && longestLag > 0)
        place->second = lags.oneIn(8) ? lags.between(0, 8 * longestLag) : lags.between(0, longestLag);
    if (place->second-- > 0)
        return cudaErrorNotReady;
    waiting.erase(place);
    return cudaSuccess;
}

const char* const kActions[] = { "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free",
    "segment_map", "segment_unmap", "snapshot", "oom" };

void writeEntry(const allocator::TraceEntry& entry)
{
    if (entry.action_ < std::size(kActions) && entry.action_ != allocator::TraceEntry::SNAPSHOT)
        std::printf("= %s %llu %zu %zu\n", kActions[entry.action_],
            static_cast<unsigned long long>(entry.addr_), entry.size_,
            reinterpret_cast<std::size_t>(entry.stream_));
}

struct Live {
    std::size_t id = 0;
    std::size_t bytes = 0;
    c10::DataPtr pointer;
};

class Program {
public:
    Program(std::map<std::string, double> options, std::vector<std::string> settings)
        : m_options(std::move(options))
        , m_settings(std::move(settings))
    {
        m_random.engine.seed(static_cast<std::uint64_t>(option("seed", 1)));
        lags.engine.seed(static_cast<std::uint64_t>(option("seed", 1)) + 1);
        longestLag = static_cast<std::size_t>(option("lag", 0));
        m_target = static_cast<std::size_t>(option("bytes", 1e9));
        m_streams.push_back(nullptr);
        for (int i = 1; i < option("streams", 1); ++i)
            call<cudaError_t(cudaStream_t*, unsigned, int)>("cudaStreamCreateWithPriority",
                &m_streams.emplace_back(), unsigned{ cudaStreamNonBlocking }, 0);
    }

    void run()
    {
        if (const double fraction = option("fraction", 0); fraction > 0)
            setFraction(fraction);
        const auto count = static_cast<std::size_t>(option("requests", 1000));
        for (std::size_t i = 0; i < count && !m_broken; ++i) {
            if (i % 600 == 0)
                newPhase();
            one();
            if (i % 100 == 0)
                writeSums();
            if (i % 2000 == 1999)
                writeBlocks();
        }
        writeSums();
        writeBlocks();
        std::printf("done\n");
    }

private:
    double option(const char* name, double otherwise) const
    {
        const auto found = m_options.find(name);
        return found == m_options.end() ? otherwise : found->second;
    }

    /// Another mix of sizes and another amount that is in use.
    void newPhase()
    {
        m_palette.clear();
        for (std::size_t i = m_random.between(2, 24); i > 0; --i)
            m_palette.push_back(freshSize());
        m_paletteShare = m_random.between(0, 10);
        m_wanted = m_target / 8 * m_random.between(1, 10);
        m_mostBlocks = m_random.between(10, 400);
        m_lastFirst = m_random.between(0, 10);
    }

    std::size_t freshSize()
    {
        switch (m_random.between(0, 9)) {
        case 0:
            return m_random.between(1, 4096);
        case 1:
        case 2:
            return m_random.between(1, kMiB);
        case 3: // around the bounds between pools, segments and rounding
            return kMiB * m_random.between(1, 40) + 512 * m_random.between(0, 2) - 512
                + m_random.between(0, 1);
        case 4:
            return (std::size_t{ 1 } << m_random.between(9, 28)) + m_random.between(0, 2) - 1;
        case 5:
        case 6:
            return m_random.between(kMiB, 12 * kMiB);
        case 7:
            return m_random.between(10 * kMiB, 40 * kMiB);
        case 8:
            return std::size_t{ 1 } << m_random.between(0, 27);
        default:
            return m_random.between(
                kMiB, std::max(2 * kMiB, m_random.oneIn(10) ? 3 * m_target : m_target / 3));
        }
    }

    void one()
    {
        const std::size_t draw = m_random.between(0, 999);
        if (draw < 4) {
            // Up to 2.8 a call within a use of a pool ends in an assertion of PyTorch.
            if (TORCH_VERSION_MINOR >= 9 || m_pool == 0) {
                std::printf("empty\n");
                guarded([] { allocator::emptyCache(); });
            }
        } else if (draw < 8) {
            if (m_settings.size() > 1)
                setSettings(m_settings[m_random.between(0, m_settings.size() - 1)]);
        } else if (draw < 10) {
            if (option("fractions", 0) > 0)
                setFraction(0.05 * static_cast<double>(m_random.between(5, 20)));
        } else if (draw < 20) {
            if (option("pools", 0) > 0)
                pools();
        } else if (draw < 80 && !m_live.empty()) {
            const Live& live = m_live[pick()];
            const cudaStream_t stream = anyStream();
            std::printf("use %zu %zu\n", live.id, reinterpret_cast<std::size_t>(stream));
            guarded(
                [&] { allocator::recordStream(live.pointer, c10::cuda::getStreamFromExternal(stream, 0)); });
        } else if (m_live.empty()
            || (m_inUse < m_wanted && m_live.size() < m_mostBlocks ? draw < 650 : draw < 350)) {
            allocate();
        } else {
            free(pick());
        }
    }

    void allocate()
    {
        const bool known = m_random.between(0, 9) < m_paletteShare;
        const std::size_t bytes = known ? m_palette[m_random.between(0, m_palette.size() - 1)] : freshSize();
        const cudaStream_t stream = anyStream();
        const bool pooled = m_pool != 0 && (!m_filtered || stream == m_filter);
        std::printf("alloc %zu %zu %zu %d %zu\n", m_next, bytes, reinterpret_cast<std::size_t>(stream), 0,
            pooled ? m_pool : 0);
        guarded([&] {
            void* const pointer = allocator::raw_alloc_with_stream(bytes, stream);
            m_live.push_back({ m_next, bytes,
                c10::DataPtr(pointer, pointer, allocator::get()->raw_deleter(), { c10::kCUDA, 0 }) });
            m_inUse += bytes;
        });
        ++m_next;
    }

    void free(std::size_t which)
    {
        std::printf("free %zu\n", m_live[which].id);
        m_inUse -= m_live[which].bytes;
        m_live[which].pointer.clear();
        m_live.erase(m_live.begin() + static_cast<std::ptrdiff_t>(which));
    }

    void setSettings(const std::string& text)
    {
        std::printf("settings %s\n", text.c_str());
        guarded([&] {
#if TORCH_VERSION_MINOR >= 10
            c10::CachingAllocator::setAllocatorSettings(text);
#else
            allocator::setAllocatorSettings(text);
#endif
        });
    }

    void setFraction(double fraction)
    {
        std::printf("fraction %.17g\n", fraction);
        allocator::setMemoryFraction(fraction, 0);
    }

    void pools()
    {
        if (m_pool == 0) {
            const std::size_t slot = m_random.between(0, 2);
            m_pool = 1 + slot + 3 * m_generations[slot];
            m_filtered = m_random.oneIn(2);
            m_filter = anyStream();
            m_capturing = option("captures", 0) > 0 && m_random.oneIn(2);
            ++m_users[slot];
            std::printf("begin 0 %zu %d\n", m_pool, m_capturing ? 1 : 0);
            allocator::beginAllocateToPool(
                0, { 0, m_pool }, [this](cudaStream_t stream) { return !m_filtered || stream == m_filter; });
            capture();
            return;
        }
        endCapture();
        std::printf("end\n");
        allocator::endAllocateToPool(0, { 0, m_pool });
        if (option("releases", 1) > 0 && m_random.oneIn(2)) {
            std::printf("release 0 %zu\n", m_pool);
            const std::size_t slot = (m_pool - 1) % 3;
            for (; m_users[slot] > 0; --m_users[slot])
                allocator::releasePool(0, { 0, m_pool });
            ++m_generations[slot];
        }
        m_pool = 0;
    }

    /// As torch.cuda.graph does: PyTorch asks no stream but is told, from 2.13 on.
    void capture()
    {
#if TORCH_VERSION_MINOR >= 13
        if (!m_capturing)
            return;
        if (m_streams.size() > 1 && m_random.oneIn(2)) {
            m_captured = m_streams.back();
            call<cudaError_t(cudaStream_t, int)>("cudaStreamBeginCapture", m_captured, 2);
        }
        allocator::markCaptureBegin(0);
#endif
    }

    void endCapture()
    {
#if TORCH_VERSION_MINOR >= 13
        if (!m_capturing)
            return;
        allocator::markCaptureEnd(0);
        cudaGraph_t graph = nullptr;
        if (m_captured != nullptr)
            call<cudaError_t(cudaStream_t, cudaGraph_t*)>("cudaStreamEndCapture", m_captured, &graph);
        m_captured = nullptr;
#endif
    }

    template <class Function, class... Arguments> static void call(const char* name, Arguments... arguments)
    {
        reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name))(arguments...);
    }

    /// An out-of-memory is one of the answers; everything else that is thrown ends the run.
    template <class Call> void guarded(const Call& call)
    {
        try {
            call();
        } catch (const c10::OutOfMemoryError&) {
            std::printf("failed\n");
        } catch (const std::exception& error) {
            std::string line(error.what());
            line.resize(std::min(line.find('\n'), std::size_t{ 400 }));
            std::printf("broken %s\n", line.c_str());
            m_broken = true;
        }
    }

    void writeSums()
    {
        const auto stats = allocator::getDeviceStats(0);
        std::printf("sums");
        for (const auto* figure : { &stats.allocated_bytes, &stats.active_bytes, &stats.reserved_bytes })
            std::printf(" %lld %lld", static_cast<long long>((*figure)[0].current),
                static_cast<long long>((*figure)[0].peak));
        std::printf(" %lld", static_cast<long long>(stats.requested_bytes[0].current));
#if TORCH_VERSION_MINOR >= 3
        std::printf(" %lld %lld", static_cast<long long>(stats.num_device_alloc),
            static_cast<long long>(stats.num_device_free));
#else
        std::printf(" -1 -1");
#endif
#if TORCH_VERSION_MINOR >= 12
        std::printf(" %lld\n", static_cast<long long>(stats.num_oom_rejections));
#else
        std::printf(" 0\n");
#endif
    }

    static void writeBlocks()
    {
        std::printf("blocks\n");
        for (const auto& segment : allocator::snapshot().segments) {
            std::printf("segment %zu %zu %zu %d %d %llu %llu\n", static_cast<std::size_t>(segment.address),
                static_cast<std::size_t>(segment.total_size), reinterpret_cast<std::size_t>(segment.stream),
                segment.is_large ? 1 : 0, segment.is_expandable ? 1 : 0,
                static_cast<unsigned long long>(segment.owner_private_pool_id.first),
                static_cast<unsigned long long>(segment.owner_private_pool_id.second));
            for (const auto& block : segment.blocks)
                std::printf("block %zu %d %d %zu\n", static_cast<std::size_t>(block.size),
                    block.allocated ? 1 : 0, block.active ? 1 : 0,
                    static_cast<std::size_t>(block.requested_size));
        }
    }

    cudaStream_t anyStream()
    {
        return m_streams[m_random.oneIn(2) ? 0 : m_random.between(0, m_streams.size() - 1)];
    }

    std::size_t pick()
    {
        if (m_random.between(0, 9) < m_lastFirst)
            return m_live.size() - 1 - m_random.between(0, std::min<std::size_t>(5, m_live.size() - 1));
        return m_random.between(0, m_live.size() - 1);
    }

    std::map<std::string, double> m_options;
    std::vector<std::string> m_settings;
    Random m_random;
    std::vector<cudaStream_t> m_streams;
    std::vector<Live> m_live;
    std::vector<std::size_t> m_palette;
    std::size_t m_paletteShare = 0, m_wanted = 0, m_mostBlocks = 0, m_lastFirst = 0;
    std::size_t m_target = 0, m_inUse = 0, m_next = 0;
    std::size_t m_pool = 0; ///< the one that is used; 0: none
    std::size_t m_generations[3]{}, m_users[3]{};
    bool m_filtered = false, m_capturing = false, m_broken = false;
    cudaStream_t m_filter = nullptr, m_captured = nullptr;
};

} // namespace

// In front of those of the simulated device.
extern "C" cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return answerQuery(event);
}

extern "C" cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    std::printf("sync\n");
    waiting.erase(event);
    return cudaSuccess;
}

int main(int argc, char** argv)
{
    std::map<std::string, double> options;
    int at = 1;
    for (; at < argc && std::strcmp(argv[at], "--") != 0; ++at) {
        const std::string word = argv[at];
        const std::size_t equals = word.find('=');
        options[word.substr(0, equals)] = std::strtod(word.c_str() + equals + 1, nullptr);
    }
    const std::vector<std::string> settings(argv + std::min(at + 1, argc), argv + argc);
    if (!settings.empty())
        setenv("PYTORCH_CUDA_ALLOC_CONF", settings[0].c_str(), 1);
    const char* const device = std::getenv("STRATA_SIMGPU");
    std::printf("device %s\nversion %s\nsettings %s\n", device ? device : "", TORCH_VERSION,
        settings.empty() ? "" : settings[0].c_str());
    try {
        c10::cuda::_internal::setHasPrimaryContext([](c10::DeviceIndex) { return true; });
        allocator::init(1);
        if (c10::cuda::detail::init_p2p_access_cache)
            c10::cuda::detail::init_p2p_access_cache(1);
        allocator::attachAllocatorTraceTracker(writeEntry);
        Program(std::move(options), settings).run();
    } catch (const std::exception& error) {
        std::printf("broken %s\n", error.what());
    }
    std::fflush(stdout);
    _exit(0); // what is still in use goes with the process
}
