// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/kineto/memory_timeline.h"

#include "model/base/wrap.h"
#include "model/readers/kineto/json_values.h"
#include "model/trace/program/profiled_categories.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

constexpr std::int64_t kMostTimelineBytes = std::int64_t{ 1 } << 50; // of a block, and of a sum
constexpr std::uint64_t kFirstAddress = 0x1000, kLastAddress = std::uint64_t{ 1 } << 62;
constexpr std::int64_t kMostTimeNs = std::int64_t{ 1 } << 62;
constexpr std::int64_t kFirstAction = 1, kIncrement = 3, kLastAction = 4; // _ACTION_TO_INDEX
constexpr std::size_t kSums = kProfiledCategories + 1; // the first is 0, for who stacks them

bool isSpace(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Calls see(std::int64_t) for each of the whole numbers of a JSON list; false: it is something else.
template <class See> bool eachNumber(std::string_view list, See&& see)
{
    const char* at = list.data();
    const char* const end = at + list.size();
    const auto pass = [&](char wanted) {
        while (at != end && isSpace(*at))
            ++at;
        return at != end && *at == wanted && ++at;
    };
    if (!pass('['))
        return false;
    if (pass(']'))
        return true;
    do {
        while (at != end && isSpace(*at))
            ++at;
        std::int64_t number = 0;
        const auto [behind, error] = std::from_chars(at, end, number);
        if (error != std::errc())
            return false;
        at = behind;
        see(number);
    } while (pass(','));
    return pass(']');
}

/// The numbers of a list that has as many of them.
template <std::size_t count> std::optional<std::array<std::int64_t, count>> numbersOf(std::string_view list)
{
    std::array<std::int64_t, count> numbers{};
    std::size_t found = 0;
    const bool isList = eachNumber(list, [&](std::int64_t number) {
        if (found < count)
            numbers[found] = number;
        ++found;
    });
    return isList && found == count ? std::optional(numbers) : std::nullopt;
}

/// Memory of one category that comes and goes as a whole; the row of none is kNever.
struct Piece {
    static constexpr std::uint32_t kNever = UINT32_MAX;
    std::int64_t bytes = 0;
    std::uint32_t came = kNever, went = kNever; ///< rows of Timeline
    ProfiledCategory category = ProfiledCategory::Unknown;
};

/// What came and went, in the order of time, and the pieces that it was.
class Timeline {
public:
    /// A storage, as rows tell of them: what goes is of the size of what came.
    void addStorage(std::int64_t timeNs, std::int64_t bytes, ProfiledCategory category)
    {
        auto& live = m_live[{ category, std::abs(bytes) }];
        const std::uint32_t row = addRow(timeNs);
        if (bytes > 0)
            live.push_back(come(row, bytes, category));
        else
            go(row, -bytes, category, live);
    }

    /// What the sum of a category changes by.
    void addSum(std::int64_t timeNs, std::int64_t bytes, ProfiledCategory category)
    {
        auto& live = m_live[{ category, 0 }];
        const std::uint32_t row = addRow(timeNs);
        if (bytes > 0) {
            live.push_back(come(row, bytes, category));
            return;
        }
        std::int64_t left = -bytes;
        for (; left > 0 && !live.empty() && m_pieces[live.back()].bytes <= left; live.pop_back()) {
            m_pieces[live.back()].went = row;
            left -= m_pieces[live.back()].bytes;
        }
        if (left > 0 && !live.empty()) { // a part of it goes, the rest stays
            Piece& whole = m_pieces[live.back()];
            whole.bytes -= left;
            m_pieces.push_back({ left, whole.came, row, category });
        } else if (left > 0) {
            go(row, left, category, live);
        }
    }

    void makeDevice(Recording& recording, ProfiledMemory::From from)
    {
        sortRows();
        DeviceRecording& device = recording.devices.emplace_back();
        ProfiledMemory& profiled = device.profiled.emplace();
        profiled.from = from;
        profiled.untold = m_untold;
        profiled.untoldBytes = m_untoldBytes;
        std::vector<ProfiledCategory>& categories
            = recording.parts.get<ProfiledCategories>().ofEvents[device.device];
        const std::vector<std::uint64_t> addresses = makeAddresses();
        EventColumns& events = device.events;
        const auto add = [&](Action action, std::uint32_t piece, std::uint32_t row) {
            events.action.push_back(action);
            events.address.push_back(addresses[piece]);
            events.bytes.push_back(m_pieces[piece].bytes);
            events.timeNs.push_back(m_rows[row].timeNs);
            events.stack.push_back(StackId{});
            events.stream.push_back(kNoIndex);
            events.pool.push_back(kNoIndex);
            categories.push_back(
                action == Action::Alloc ? m_pieces[piece].category : ProfiledCategory::Unknown);
        };
        for (const auto& [place, piece] : changes())
            add(m_pieces[piece].came == m_order[place] ? Action::Alloc : Action::FreeCompleted, piece,
                m_order[place]);
    }

    [[nodiscard]] bool empty() const { return m_rows.empty(); }
    [[nodiscard]] bool isFull() const { return m_rows.size() >= Piece::kNever - 1; }

private:
    struct Row {
        std::int64_t timeNs; // below 0: before all others
    };

    std::uint32_t addRow(std::int64_t timeNs)
    {
        m_rows.push_back({ timeNs });
        return static_cast<std::uint32_t>(m_rows.size() - 1);
    }

    std::uint32_t come(std::uint32_t row, std::int64_t bytes, ProfiledCategory category)
    {
        m_pieces.push_back({ bytes, row, Piece::kNever, category });
        return static_cast<std::uint32_t>(m_pieces.size() - 1);
    }

    /// The last that came; nothing tells when one came that is not among them.
    void go(
        std::uint32_t row, std::int64_t bytes, ProfiledCategory category, std::vector<std::uint32_t>& live)
    {
        if (!live.empty()) {
            m_pieces[live.back()].went = row;
            live.pop_back();
            return;
        }
        m_pieces.push_back({ bytes, Piece::kNever, row, category });
        ++m_untold;
        m_untoldBytes = wrapAdd(m_untoldBytes, bytes);
    }

    void sortRows()
    {
        std::int64_t firstNs = INT64_MAX;
        for (const Row& row : m_rows)
            if (row.timeNs >= 0)
                firstNs = std::min(firstNs, row.timeNs);
        for (Row& row : m_rows)
            if (row.timeNs < 0)
                row.timeNs = firstNs == INT64_MAX ? 0 : firstNs;
        m_order.resize(m_rows.size());
        for (std::uint32_t row = 0; row < m_order.size(); ++row)
            m_order[row] = row;
        std::ranges::stable_sort(m_order, {}, [&](std::uint32_t row) { return m_rows[row].timeNs; });
    }

    /// Place of a row in m_order, and a piece that comes or goes there; in order.
    [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> changes() const
    {
        std::vector<std::uint32_t> placeOf(m_order.size());
        for (std::uint32_t place = 0; place < m_order.size(); ++place)
            placeOf[m_order[place]] = place;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
        all.reserve(2 * m_pieces.size());
        for (std::uint32_t piece = 0; piece < m_pieces.size(); ++piece)
            for (const std::uint32_t row : { m_pieces[piece].came, m_pieces[piece].went })
                if (row != Piece::kNever)
                    all.emplace_back(placeOf[row], piece);
        std::ranges::sort(all);
        return all;
    }

    /// One behind the other; where there is no room for more, two may share one.
    [[nodiscard]] std::vector<std::uint64_t> makeAddresses() const
    {
        std::vector<std::uint64_t> addresses;
        addresses.reserve(m_pieces.size());
        std::uint64_t next = kFirstAddress;
        for (const Piece& piece : m_pieces) {
            addresses.push_back(next);
            next += static_cast<std::uint64_t>(piece.bytes);
            if (next > kLastAddress)
                next = kFirstAddress + addresses.size();
        }
        return addresses;
    }

    std::vector<Row> m_rows;
    std::vector<std::uint32_t> m_order; // of rows, by time
    std::vector<Piece> m_pieces;
    std::map<std::pair<ProfiledCategory, std::int64_t>, std::vector<std::uint32_t>> m_live; // pieces
    std::int64_t m_untold = 0, m_untoldBytes = 0;
};

class TimelineReader {
public:
    TimelineReader(Recording& recording, ByteStream& stream)
        : m_recording(recording)
        , m_stream(stream)
        , m_values(stream)
    {
    }

    Result<void> run()
    {
        const bool isWhole = read();
        if (m_stream.error() && m_stream.error()->kind == Error::Kind::Cancelled)
            return Failure(*m_stream.error());
        if (!isWhole) {
            const std::uint64_t offset = m_values.offset();
            if (m_timeline.empty())
                return fail(m_stream.error() ? m_stream.error()->kind : Error::Kind::Format,
                    m_stream.error()       ? m_stream.error()->what
                        : m_stream.ended() ? say("it ends in the middle, at %1", m_stream.nameOf(offset))
                                           : say("it is damaged at %1", m_stream.nameOf(offset)),
                    say("export it again"));
            // Where is said beside it.
            m_recording.truncation = Truncation{ offset,
                m_stream.error()       ? m_stream.error()->what
                    : m_stream.ended() ? say("it ends in the middle")
                                       : say("what stands there cannot be read") };
        }
        if (m_timeline.empty())
            return fail(Error::Kind::Format, say("this memory timeline holds no memory: its device had none"),
                say("export that of the GPU: export_memory_timeline(FILE, device=\"cuda:0\")"));
        m_timeline.makeDevice(m_recording, m_from);
        return {};
    }

private:
    /// False: it ends or is damaged before its end.
    bool read()
    {
        if (!m_values.pass('[') || m_values.peek() != '[')
            return false;
        const std::string first(m_values.take());
        if (first.empty())
            return false;
        if (!m_values.pass(','))
            return addRow(first) && m_values.pass(']');
        if (!isRow(first)) { // but the times of sums
            m_from = ProfiledMemory::From::TimelineSums;
            return readSums(first);
        }
        if (!addRow(first))
            return false;
        do {
            const std::string_view row = m_values.peek() == '[' ? m_values.take() : std::string_view();
            if (row.empty() || m_timeline.isFull())
                return false;
            if (!addRow(row))
                return false;
        } while (m_values.pass(','));
        return m_values.pass(']');
    }

    /// Times of 1 to 4 us since the epoch do not occur.
    static bool isRow(std::string_view text)
    {
        const auto row = numbersOf<4>(text);
        return row && (*row)[1] >= kFirstAction && (*row)[1] <= kLastAction;
    }

    /// Zero bytes are no memory; a version that keeps its category changes nothing.
    bool addRow(std::string_view text)
    {
        const auto row = numbersOf<4>(text);
        if (!row)
            return false;
        const auto [timeNs, action, bytes, number] = *row;
        if (bytes < -kMostTimelineBytes || bytes > kMostTimelineBytes || timeNs > kMostTimeNs
            || action < kFirstAction || action > kLastAction)
            return false;
        const auto category = categoryOf(number);
        if (const auto held = std::exchange(m_held, std::nullopt)) {
            if (action == kIncrement && bytes == -held->bytes && category == held->category)
                return true;
            m_timeline.addStorage(held->timeNs, held->bytes, held->category);
        }
        if (bytes == 0)
            return true;
        if (action == kIncrement && bytes < 0)
            m_held = Held{ timeNs, bytes, category };
        else
            m_timeline.addStorage(timeNs, bytes, category);
        return true;
    }

    bool readSums(std::string_view times)
    {
        std::vector<std::int64_t> timesUs;
        if (!eachNumber(times, [&](std::int64_t time) { timesUs.push_back(time); }))
            return false;
        std::array<std::int64_t, kSums> held{};
        std::size_t place = 0;
        if (!m_values.pass('['))
            return false;
        if (m_values.pass(']'))
            return m_values.pass(']') && timesUs.empty();
        do {
            const std::string_view text = m_values.peek() == '[' ? m_values.take() : std::string_view();
            const auto sums = numbersOf<kSums>(text);
            if (!sums || place >= timesUs.size() || m_timeline.isFull())
                return false;
            const std::int64_t timeUs = timesUs[place++];
            if (timeUs > kMostTimeNs / 1000 || std::ranges::any_of(*sums, [](std::int64_t sum) {
                    return sum < -kMostTimelineBytes || sum > kMostTimelineBytes;
                }))
                return false;
            addSums(timeUs < 0 ? -1 : timeUs * 1000, held, *sums);
            held = *sums;
        } while (m_values.pass(','));
        return m_values.pass(']') && m_values.pass(']') && place == timesUs.size();
    }

    /// What goes first, so that their sum is never above those that are told.
    void addSums(std::int64_t timeNs, const std::array<std::int64_t, kSums>& before,
        const std::array<std::int64_t, kSums>& now)
    {
        for (const bool comes : { false, true })
            for (std::size_t i = 1; i < kSums; ++i)
                if (const std::int64_t change = now[i] - before[i]; change != 0 && comes == (change > 0))
                    m_timeline.addSum(timeNs, change, static_cast<ProfiledCategory>(i - 1));
    }

    static ProfiledCategory categoryOf(std::int64_t number)
    {
        return number >= 0 && number < static_cast<std::int64_t>(kProfiledCategories)
            ? static_cast<ProfiledCategory>(number)
            : ProfiledCategory::Unknown;
    }

    struct Held {
        std::int64_t timeNs, bytes;
        ProfiledCategory category;
    };

    Recording& m_recording;
    ByteStream& m_stream;
    JsonValues m_values;
    Timeline m_timeline;
    ProfiledMemory::From m_from = ProfiledMemory::From::TimelineRows;
    std::optional<Held> m_held; // an old version, until the new one tells its category
};

} // namespace

bool looksLikeMemoryTimeline(std::span<const std::byte> head)
{
    std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    if (constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf"; text.starts_with(kByteOrderMark))
        text.remove_prefix(kByteOrderMark.size());
    const auto pass = [&text](char wanted) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
        if (!text.starts_with(wanted))
            return false;
        text.remove_prefix(1);
        return true;
    };
    if (!pass('[') || !pass('['))
        return false;
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return !text.empty() && (text[0] == '-' || text[0] == ']' || (text[0] >= '0' && text[0] <= '9'));
}

Result<void> readMemoryTimeline(Recording& recording, ByteStream& stream)
{
    recording.format = "PyTorch memory timeline";
    return TimelineReader(recording, stream).run();
}

} // namespace strata::model
