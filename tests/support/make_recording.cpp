// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/make_recording.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata::test {

using namespace model;

namespace {

/// One line as words: positional ones, key=value ones and flags (which are positional).
struct Line {
    int number = 0;
    std::vector<std::string> words;
    std::map<std::string, std::string, std::less<>> options;

    [[noreturn]] void refuse(const std::string& why) const
    {
        throw std::invalid_argument("line " + std::to_string(number) + ": " + why);
    }
    [[nodiscard]] std::int64_t toNumber(const std::string& text) const
    {
        char* end = nullptr;
        const bool negative = !text.empty() && text[0] == '-';
        const unsigned long long value = std::strtoull(text.c_str() + (negative ? 1 : 0), &end, 0);
        if (text.empty() || *end != '\0')
            refuse("not a number: " + text);
        return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
    }
    [[nodiscard]] std::int64_t numberAt(std::size_t word) const
    {
        if (word >= words.size())
            refuse("too few words");
        return toNumber(words[word]);
    }
    [[nodiscard]] std::int64_t option(std::string_view key, std::int64_t otherwise) const
    {
        const auto found = options.find(key);
        return found == options.end() ? otherwise : toNumber(found->second);
    }
    [[nodiscard]] std::string_view text(std::string_view key) const
    {
        const auto found = options.find(key);
        return found == options.end() ? std::string_view{} : found->second;
    }
    [[nodiscard]] bool has(std::string_view flag) const
    {
        return std::find(words.begin(), words.end(), flag) != words.end();
    }
};

Line split(std::string_view text, int number)
{
    Line line{ number, {}, {} };
    std::size_t at = 0;
    while (at < text.size()) {
        if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r') {
            ++at;
            continue;
        }
        if (text[at] == '#')
            break;
        std::string word, key;
        bool quoted = false, hasKey = false;
        for (; at < text.size() && (quoted || (text[at] != ' ' && text[at] != '\t' && text[at] != '\r'));
             ++at) {
            if (quoted && text.substr(at, 2) == "\\\"") {
                word += text[++at];
            } else if (text[at] == '"') {
                quoted = !quoted;
            } else if (text[at] == '=' && !quoted && !hasKey) {
                hasKey = true;
                key = std::move(word);
                word.clear();
            } else {
                word += text[at];
            }
        }
        if (hasKey)
            line.options[key] = word;
        else
            line.words.push_back(word);
    }
    return line;
}

class Maker {
public:
    Maker()
        : m_recording(std::make_unique<Recording>())
    {
        m_recording->format = "test";
    }

    void take(const Line& line);
    std::unique_ptr<Recording> finish();

private:
    struct Segment {
        FinalSegment row;
        std::vector<FinalBlock> blocks;
        bool fill = true, sums = true;
    };
    struct Device {
        DeviceRecording recording;
        std::vector<std::optional<std::int64_t>> times;
        std::vector<Segment> segments;
    };

    Device& device();
    void event(const Line& line);
    void segment(const Line& line);
    void block(const Line& line);
    void annotation(const Line& line);
    Pool pool(const Line& line, SegmentKind kind) const;
    StackId stack(const Line& line);
    static void finish(Device& device);

    std::unique_ptr<Recording> m_recording;
    std::map<int, Device> m_devices;
    int m_device = 0;
};

Maker::Device& Maker::device()
{
    Device& d = m_devices[m_device];
    d.recording.device = m_device;
    return d;
}

Pool Maker::pool(const Line& line, SegmentKind kind) const
{
    Pool pool{ 0, 0, kind };
    const std::string text{ line.text("pool") };
    const std::size_t comma = text.find(',');
    if (text.size() < 5 || text.front() != '(' || text.back() != ')' || comma == std::string::npos)
        line.refuse("not a pool: " + text);
    pool.owner = line.toNumber(text.substr(1, comma - 1));
    pool.id = line.toNumber(text.substr(comma + 1, text.size() - comma - 2));
    return pool;
}

StackId Maker::stack(const Line& line)
{
    return line.options.contains("stack") ? makeStack(*m_recording, line.text("stack")) : StackId{};
}

void Maker::event(const Line& line)
{
    EventColumns& events = device().recording.events;
    const auto row = static_cast<std::uint32_t>(events.size());
    Action action = Action::Other;
    if (line.words[0].starts_with("other:")) {
        const std::string name = line.words[0].substr(6);
        events.otherAction.set(row, m_recording->strings.intern(name));
        ++m_recording->unknownActions[name];
    } else if (const auto known = actionFromName(line.words[0])) {
        action = *known;
    } else {
        line.refuse("no action, nor one of the words: " + line.words[0]);
    }
    events.action.push_back(action);
    if (action == Action::Oom) {
        events.address.push_back(static_cast<std::uint64_t>(line.option("free", 0)));
        events.bytes.push_back(line.option("size", 0));
    } else {
        events.address.push_back(line.words.size() > 1 ? static_cast<std::uint64_t>(line.numberAt(1)) : 0);
        events.bytes.push_back(line.words.size() > 2 ? line.numberAt(2) : 0);
    }
    device().times.push_back(
        line.options.contains("time") ? std::optional(line.option("time", 0)) : std::nullopt);
    events.stack.push_back(stack(line));
    events.stream.push_back(m_recording->internStream(line.option("stream", 0)));
    events.pool.push_back(
        line.options.contains("pool") ? m_recording->internPool(pool(line, SegmentKind::Unknown)) : kNoIndex);
    const auto keep = [&](SparseText& column, std::string_view key) {
        if (line.options.contains(key))
            column.set(row, m_recording->strings.intern(line.text(key)));
    };
    keep(events.compileContext, "ctx");
    keep(events.userMetadata, "meta");
    keep(events.extras, "extras");
}

void Maker::segment(const Line& line)
{
    Segment s;
    s.row.address = static_cast<std::uint64_t>(line.numberAt(1));
    s.row.bytes = line.numberAt(2);
    s.row.allocatedBytes = line.option("allocated", -1);
    s.row.activeBytes = line.option("active", -1);
    s.row.requestedBytes = line.option("requested", -1);
    const SegmentKind kind = line.has("small") ? SegmentKind::Small
        : line.has("large")                    ? SegmentKind::Large
                                               : SegmentKind::Unknown;
    s.row.pool
        = m_recording->internPool(line.options.contains("pool") ? pool(line, kind) : Pool{ 0, 0, kind });
    s.row.stream = m_recording->internStream(line.option("stream", 0));
    s.row.stack = stack(line);
    s.row.expandable = line.has("expandable");
    s.fill = !line.has("nofill");
    s.sums = !line.has("nosums");
    device().segments.push_back(std::move(s));
}

void Maker::block(const Line& line)
{
    if (device().segments.empty())
        line.refuse("a block before its segment");
    FinalBlock b;
    b.address = static_cast<std::uint64_t>(line.numberAt(1));
    b.bytes = line.numberAt(2);
    b.state = line.has("inactive") ? BlockState::Inactive
        : line.has("pending")      ? BlockState::PendingFree
                                   : BlockState::Allocated;
    b.requestedBytes = line.option("req", b.state == BlockState::Inactive ? 0 : b.bytes);
    b.stack = stack(line);
    device().segments.back().blocks.push_back(b);
}

void Maker::annotation(const Line& line)
{
    if (line.words.size() < 3)
        line.refuse("annotation KIND NAME");
    Annotation a;
    a.kind = line.words[1] == "start" ? Annotation::Kind::Start
        : line.words[1] == "end"      ? Annotation::Kind::End
                                      : Annotation::Kind::Mark;
    a.name = m_recording->strings.intern(line.words[2]);
    a.timeNs = line.option("time", 0);
    a.device = m_device;
    a.thread = static_cast<std::uint32_t>(line.option("thread", 0));
    m_recording->annotations.push_back(a);
}

void Maker::take(const Line& line)
{
    if (line.words.empty())
        return;
    const std::string& word = line.words[0];
    if (word == "device") {
        m_device = static_cast<int>(line.numberAt(1));
        device();
    } else if (word == "segment") {
        segment(line);
    } else if (word == "block") {
        block(line);
    } else if (word == "annotation") {
        annotation(line);
    } else if (word == "setting") {
        if (line.words.size() != 3)
            line.refuse("setting KEY JSON");
        m_recording->settings.push_back({ line.words[1], line.words[2] });
    } else if (word == "truncated") {
        m_recording->truncation = Truncation{ static_cast<std::uint64_t>(line.numberAt(1)),
            verbatim(line.words.size() > 2 ? line.words[2] : "") };
    } else {
        event(line);
    }
}

void Maker::finish(Device& device)
{
    EventColumns& events = device.recording.events;
    if (std::any_of(device.times.begin(), device.times.end(), [](const auto& t) { return t.has_value(); })) {
        std::int64_t last = 0;
        for (const std::optional<std::int64_t>& t : device.times) {
            last = t.value_or(last);
            events.timeNs.push_back(last);
        }
    }
    const auto byAddress = [](const auto& a, const auto& b) { return a.address < b.address; };
    std::stable_sort(device.segments.begin(), device.segments.end(),
        [](const Segment& a, const Segment& b) { return a.row.address < b.row.address; });
    for (Segment& s : device.segments) {
        std::stable_sort(s.blocks.begin(), s.blocks.end(), byAddress);
        std::vector<FinalBlock> blocks;
        std::uint64_t at = s.row.address;
        const auto fillTo = [&](std::uint64_t end) {
            if (s.fill && at < end)
                blocks.push_back({ at, static_cast<std::int64_t>(end - at), 0, {}, BlockState::Inactive });
        };
        for (const FinalBlock& b : s.blocks) {
            fillTo(b.address);
            blocks.push_back(b);
            at = b.address + static_cast<std::uint64_t>(b.bytes);
        }
        fillTo(s.row.address + static_cast<std::uint64_t>(s.row.bytes));
        std::int64_t allocated = 0, active = 0, requested = 0;
        for (const FinalBlock& b : blocks) {
            allocated += b.state == BlockState::Allocated ? b.bytes : 0;
            active += b.state != BlockState::Inactive ? b.bytes : 0;
            requested += b.state != BlockState::Inactive ? b.requestedBytes : 0;
        }
        const auto give
            = [&](std::int64_t& sum, std::int64_t value) { sum = sum < 0 && s.sums ? value : sum; };
        give(s.row.allocatedBytes, allocated);
        give(s.row.activeBytes, active);
        give(s.row.requestedBytes, requested);
        s.row.firstBlock = static_cast<std::uint32_t>(device.recording.finalBlocks.size());
        s.row.blockCount = static_cast<std::uint32_t>(blocks.size());
        std::vector<FinalBlock>& all = device.recording.finalBlocks.edit();
        all.insert(all.end(), blocks.begin(), blocks.end());
        device.recording.finalSegments.edit().push_back(s.row);
    }
}

std::unique_ptr<Recording> Maker::finish()
{
    for (auto& [number, device] : m_devices) {
        finish(device);
        m_recording->devices.push_back(std::move(device.recording));
    }
    return std::move(m_recording);
}

} // namespace

StackId makeStack(Recording& recording, std::string_view text)
{
    std::vector<FrameId> frames;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find('|'));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        const std::size_t at = part.find('@');
        const std::size_t colon = part.rfind(':');
        if (at == std::string_view::npos || colon == std::string_view::npos || colon < at)
            throw std::invalid_argument("not a frame (function@file:line): " + std::string(part));
        Frame frame;
        frame.function = recording.strings.intern(part.substr(0, at));
        frame.file = recording.strings.intern(part.substr(at + 1, colon - at - 1));
        frame.line = std::atoll(std::string(part.substr(colon + 1)).c_str());
        if (const std::size_t plus = part.find('+', colon); plus != std::string_view::npos)
            frame.extras = recording.strings.intern(
                R"({"build_id": "ab", "offset": ")" + std::string(part.substr(plus + 1)) + R"("})");
        frames.push_back(recording.stacks.internFrame(frame));
    }
    return recording.stacks.internStack(frames);
}

std::unique_ptr<Recording> makeRecording(std::string_view text)
{
    Maker maker;
    int number = 0;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        maker.take(split(line, ++number));
    }
    return maker.finish();
}

} // namespace strata::test
