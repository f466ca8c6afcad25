// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/calls/calls_again.h"

#include "model/trace/program/roles.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/ask/lacks.h"
#include "model/whatif/ask/module_choice.h"
#include "model/whatif/calls/call_operators.h"
#include "model/whatif/kinds/recorded_checkpoints.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

using nlohmann::json;
using ListedKind = CallList::Kind;

constexpr std::int64_t kMostBytes = std::int64_t{ 1 } << 42; ///< of a tensor: more than any card has
constexpr std::int64_t kMostHostBytes = std::int64_t{ 1 } << 32; ///< of all tensors of the host together
constexpr EventIndex kMostBefore = 200'000; ///< events before the first step: of more, none are told
constexpr int kMostDepth = 4; ///< of lists within lists

/// As c10 names them, with the bytes of an element; PyTorch's own name stands beside.
struct Type {
    std::string_view name, torch;
    int bytes;
};
constexpr std::array kTypes{ Type{ "float", "float32", 4 }, Type{ "double", "float64", 8 },
    Type{ "c10::Half", "float16", 2 }, Type{ "c10::BFloat16", "bfloat16", 2 },
    Type{ "unsigned char", "uint8", 1 }, Type{ "signed char", "int8", 1 }, Type{ "short int", "int16", 2 },
    Type{ "int", "int32", 4 }, Type{ "long int", "int64", 8 }, Type{ "bool", "bool", 1 },
    Type{ "long unsigned int", "uint64", 8 }, Type{ "unsigned int", "uint32", 4 },
    Type{ "short unsigned int", "uint16", 2 }, Type{ "c10::complex<float>", "complex64", 8 },
    Type{ "c10::complex<double>", "complex128", 16 }, Type{ "c10::complex<c10::Half>", "complex32", 4 },
    Type{ "c10::Float8_e5m2", "float8_e5m2", 1 }, Type{ "c10::Float8_e4m3fn", "float8_e4m3fn", 1 } };

const Type* typeOf(std::string_view name)
{
    const auto found = std::ranges::find(kTypes, name, &Type::name);
    return found == kTypes.end() ? nullptr : &*found;
}

/// Bytes from the begin of the storage to the end of a tensor; none: no such tensor can be.
std::optional<std::int64_t> extentOf(std::span<const std::int64_t> sizes,
    std::span<const std::int64_t> strides, std::int64_t offset, int bytes)
{
    const std::int64_t most = kMostBytes / bytes;
    if (offset < 0 || offset > most || sizes.size() > 64)
        return std::nullopt;
    std::int64_t last = offset;
    bool isEmpty = false;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] < 0 || strides[i] < 0 || sizes[i] > most || strides[i] > most)
            return std::nullopt;
        isEmpty = isEmpty || sizes[i] == 0;
        if (sizes[i] > 1 && strides[i] > 0) {
            if (sizes[i] - 1 > (most - last) / strides[i])
                return std::nullopt;
            last += (sizes[i] - 1) * strides[i];
        }
    }
    return isEmpty ? 0 : (last + 1) * bytes;
}

class CallWriter {
public:
    CallWriter(const DeviceTrace& trace, const CallList& list, EventIndex firstStep)
        : m_trace(trace)
        , m_list(list)
        , m_firstStep(std::min(firstStep, list.beginEvent))
    {
    }

    Result<std::string> write(std::span<const Change> changes, const CallsAsked& asked)
    {
        json document = { { "device", 0 }, { "changes", json::object() } };
        for (const Change& change : changes) {
            if (!isToldByCalls(change))
                return refuse(say("calls do not tell what --change %1 comes to", change.text));
            if (change.does(Does::Batch) && !asked.with
                && (asked.itemsBefore == 0 || asked.itemsAfter != asked.itemsBefore))
                return refuse(
                    say("calls of one recording do not tell which of their sizes follow the batch"));
            if (change.does(Does::Types) && !tellsModules())
                return refuse(
                    say("its calls tell of no modules, whose inputs would be of that type, as those "
                        "of a program in C++"));
            if (change.does(Does::Checkpoints) && !tellsModules())
                return fail(Error::Kind::Refused,
                    say("its calls tell of no modules, as those of a program in C++: --change %1 means none",
                        change.text),
                    hintToWriteByHand());
            document["changes"][std::string(change.kind->word)] = change.value;
        }
        document["trial"] = asked.trial;
        document["follow"] = asked.learnt.follow;
        document["late"] = asked.late;
        document["first"] = firstRow(asked.stepWithin);
        json& earlier = document["earlier"] = json::array();
        for (const CallsLearnt::Earlier& each : asked.learnt.earlier)
            earlier.push_back({ each.first, each.end, each.row, each.inputs, each.left });
        if (const auto added = addCheckpoints(changes, document["checkpoints"]); !added)
            return Failure(added.error());
        if (const auto added = addParts(document); !added)
            return Failure(added.error());
        if (asked.with && asked.itemsAfter != asked.itemsBefore) {
            const CallsWith& with = *asked.with;
            json& batch = document["batch"];
            batch = { { "before", asked.itemsBefore }, { "after", asked.itemsAfter },
                { "with", { { "items", with.items } } } };
            if (const auto added
                = CallWriter(*with.trace, *with.list, with.firstStep).addParts(batch["with"]);
                !added)
                return Failure(added.error());
        }
        return document.dump();
    }

private:
    Result<void> addParts(json& to)
    {
        to["tensors"] = json::array();
        for (const CallList::Tensor& tensor : m_list.tensors)
            if (!addTensor(tensor, to["tensors"]))
                return refuse(say("a tensor of its calls has no size or type that could be"));
        to["rows"] = json::array();
        for (const CallList::Row& row : m_list.rows)
            if (const auto added = addRow(row, to["rows"]); !added)
                return Failure(added.error());
        to["blocks"] = blocks();
        to["before"] = before();
        return {};
    }
    [[nodiscard]] bool tellsModules() const
    {
        return std::ranges::any_of(
            m_list.rows, [](const CallList::Row& row) { return row.kind == ListedKind::Enters; });
    }
    [[nodiscard]] std::int64_t firstRow(EventIndex begin) const
    {
        if (begin <= m_list.beginEvent || begin >= m_list.endEvent)
            return 0;
        return std::ranges::lower_bound(m_list.rows, begin, {}, &CallList::Row::event) - m_list.rows.begin();
    }

    static tl::unexpected<Error> refuse(Sentence what)
    {
        return fail(Error::Kind::Refused, std::move(what), hintToConfirm());
    }
    [[nodiscard]] std::string text(StringId id) const
    {
        return id.valid() ? std::string(m_trace.recording().strings[id]) : std::string();
    }

    bool addTensor(const CallList::Tensor& tensor, json& to) const
    {
        const Type* const type = typeOf(text(tensor.type));
        const auto sizes = m_list.sizes(tensor), strides = m_list.strides(tensor);
        const auto extent = type ? extentOf(sizes, strides, tensor.offset, type->bytes) : std::nullopt;
        if (!extent)
            return false;
        to.push_back({ type->torch, tensor.address, tensor.offset, sizes, strides, *extent,
            tensor.gradientOf == wire::kNone ? json() : json(tensor.gradientOf) });
        return true;
    }

    /// Where modules are entered whose calls are to be made behind a checkpoint: those of the program itself,
    /// and those that are asked for.
    Result<void> addCheckpoints(std::span<const Change> changes, json& to) const
    {
        to = json::array();
        std::set<std::size_t> places;
        const auto add = [&](const auto& isChosen) {
            std::size_t place = 0, added = 0; // rows of kinds that are not known are left out
            for (const CallList::Row& row : m_list.rows) {
                if (row.kind == ListedKind::Enters && isChosen(row)) {
                    places.insert(place);
                    ++added;
                }
                place += static_cast<std::size_t>(row.kind) < wire::kCallKinds ? 1 : 0;
            }
            return added > 0;
        };
        if (const std::set<StringId> own = modulesMadeAgain(m_trace); !own.empty())
            add([&](const CallList::Row& row) { return own.contains(row.name); });
        for (const Change& change : changes) {
            if (!change.does(Does::Checkpoints))
                continue;
            const auto& chosen = change.as<ModuleChoice>();
            if (!add([&](const CallList::Row& row) {
                    return chosen.matches(text(row.name), text(row.detail));
                }))
                return refuse(say("no module of its calls is meant by --change %1", change.text));
        }
        for (const std::size_t place : places)
            to.push_back(place);
        return {};
    }

    Result<void> addRow(const CallList::Row& row, json& to)
    {
        const std::string name = text(row.name), detail = text(row.detail);
        json values;
        switch (row.kind) {
        case ListedKind::Call: {
            if (!isCallable(name))
                return refuse(
                    say("its calls have %1, which is not on the list of those that are called again",
                        name.empty() ? "an operator without a name" : name));
            std::size_t tensors = 0;
            values = json::parse(detail, nullptr, false);
            if (!values.is_array() || !checkArgument(values, tensors, 0) || tensors != row.takes)
                return refuse(say("the arguments of %1 in its calls are damaged", name));
            break;
        }
        case ListedKind::Backward:
            values = json::parse(detail, nullptr, false);
            if (!checkBackward(values, row.takes))
                return refuse(say("where its calls go backward is damaged"));
            break;
        case ListedKind::Autocast:
            values = detail;
            break;
        case ListedKind::Gone:
            if (row.takes != 1)
                return refuse(say("where its calls let go of a tensor is damaged"));
            break;
        case ListedKind::Enters:
        case ListedKind::Leaves:
        case ListedKind::BackwardEnds:
        case ListedKind::AutocastEnds:
        case ListedKind::Known:
            break;
        default:
            return {}; // of a newer Strata
        }
        to.push_back({ static_cast<int>(row.kind), row.gradients, name, values, m_list.taken(row),
            m_list.returned(row) });
        return {};
    }

    /// What call_text.h writes, and nothing else.
    bool checkArgument(const json& value, std::size_t& tensors, int depth)
    {
        if (value.is_null() || value.is_boolean() || value.is_number())
            return true;
        if (value.is_string()) {
            ++tensors;
            return value == "@";
        }
        if (value.is_array())
            return depth < kMostDepth && std::ranges::all_of(value, [&](const json& each) {
                return checkArgument(each, tensors, depth + 1);
            });
        if (!value.is_object() || value.size() != 1)
            return false;
        const std::string key = value.begin().key();
        const json& held = value.begin().value();
        if (key == "s")
            return held.is_string();
        if (key == "f")
            return held == "nan" || held == "inf" || held == "-inf";
        if (key == "d")
            return held == "cuda" || held == "cpu";
        if (key == "n")
            return held.is_boolean() || held.is_number()
                || (held.is_object() && held.size() == 1 && held.contains("f")
                    && checkArgument(held, tensors, depth));
        return key == "h" && checkHostTensor(held);
    }

    bool checkHostTensor(const json& held)
    {
        const auto isLengths = [](const json& each) {
            return each.is_array()
                && std::ranges::all_of(each, [](const json& length) { return length.is_number_integer(); });
        };
        if (!held.is_array() || held.size() != 3 || !held[0].is_string() || !isLengths(held[1])
            || !isLengths(held[2]) || held[1].size() != held[2].size())
            return false;
        const Type* const type = typeOf(held[0].get<std::string>());
        const auto extent = type ? extentOf(held[1].get<std::vector<std::int64_t>>(),
                                held[2].get<std::vector<std::int64_t>>(), 0, type->bytes)
                                 : std::nullopt;
        m_hostBytes += extent.value_or(0);
        return extent && m_hostBytes <= kMostHostBytes;
    }

    static bool checkBackward(const json& value, std::uint32_t takes)
    {
        if (!value.is_object())
            return false;
        for (const char* key : { "retain", "create", "accumulate", "unused" })
            if (!value.contains(key) || !value[key].is_boolean())
                return false;
        for (const char* key : { "roots", "inputs" })
            if (!value.contains(key) || !value[key].is_number_unsigned())
                return false;
        if (value.size() != 7 || !value.contains("gradients") || !value["gradients"].is_array())
            return false;
        const auto roots = value["roots"].get<std::uint64_t>(), inputs = value["inputs"].get<std::uint64_t>();
        std::uint64_t given = 0;
        for (const json& each : value["gradients"]) {
            if (!each.is_boolean())
                return false;
            given += each.get<bool>() ? 1 : 0;
        }
        return roots <= takes && inputs <= takes && value["gradients"].size() == roots
            && roots + inputs + given == takes;
    }

    /// What came before the first step of the training, in order: the block's number, with its bytes where it
    /// is born, alone where it dies; and which of blocks() it is (-1: of none).
    [[nodiscard]] json before() const
    {
        json all = json::array();
        if (m_firstStep > kMostBefore)
            return all;
        const BlockColumns& blocks = m_trace.blocks();
        struct Event {
            EventIndex at;
            std::size_t block;
            bool isBirth;
        };
        std::vector<Event> events;
        for (std::size_t place = 0; place < blocks.bornCount(); ++place) {
            const BlockId b = BlockId::born(place);
            if (blocks.birth(b) >= m_firstStep)
                break; // in the order of births
            events.push_back({ blocks.birth(b), place, true });
            if (blocks.death(b) < m_firstStep)
                events.push_back({ blocks.death(b), place, false });
        }
        std::ranges::sort(events, {}, &Event::at);
        for (const Event& event : events) {
            if (!event.isBirth) {
                all.push_back({ event.block });
                continue;
            }
            const BlockId b = BlockId::born(event.block);
            const auto living = m_places.find(event.block);
            all.push_back({ event.block, blocks.requestedBytes[b],
                living == m_places.end() ? std::int64_t{ -1 } : living->second });
        }
        return all;
    }

    /// Those that lived as the step began, by age: address, bytes, and the row before which each is freed
    /// (-1: it lives on); what addRoles() says.
    [[nodiscard]] json blocks()
    {
        const BlockColumns& blocks = m_trace.blocks();
        std::vector<BlockId> living;
        for (const BlockId b : blocks.all())
            if (blocks.liveAt(b, m_list.beginEvent - 1))
                living.push_back(b);
        std::ranges::stable_sort(living, {}, [&](BlockId b) { return blocks.birth(b); });
        json all = json::array();
        for (const BlockId b : living) {
            if (!b.isOlder())
                m_places[b.row()] = static_cast<std::int64_t>(all.size());
            const EventIndex death = blocks.death(b);
            std::int64_t row = -1;
            if (death < m_list.endEvent) {
                const auto behind = std::ranges::upper_bound(m_list.rows, death, {}, &CallList::Row::event);
                row = behind - m_list.rows.begin();
            }
            all.push_back({ blocks.address[b], blocks.requestedBytes[b], row, json() });
        }
        addRoles(living, all);
        return all;
    }

    /// Blocks of parameters and buffers, as the program told of them: the type of what lies there, as
    /// "float32".
    void addRoles(const std::vector<BlockId>& living, json& all) const
    {
        const BlockColumns& blocks = m_trace.blocks();
        std::map<std::uint64_t, std::size_t> byAddress;
        for (std::size_t i = 0; i < living.size(); ++i)
            byAddress[blocks.address[living[i]]] = i;
        std::map<std::pair<wire::RoleKind, StringId>, RoleListing> last;
        for (const RoleListing& row : RoleListings::of(m_trace.recording(), m_trace.device()))
            if (row.event <= m_list.beginEvent
                && (row.kind == wire::RoleKind::Parameter || row.kind == wire::RoleKind::Buffer))
                last[{ row.kind, row.name }] = row;
        for (const auto& [_, row] : last) {
            auto at = byAddress.upper_bound(row.address);
            if (at == byAddress.begin())
                continue;
            --at;
            const auto size = static_cast<std::uint64_t>(blocks.requestedBytes[living[at->second]]);
            if (row.address < at->first + size)
                all[at->second][3] = text(row.dtype);
        }
    }

    const DeviceTrace& m_trace;
    const CallList& m_list;
    EventIndex m_firstStep;
    std::unordered_map<std::size_t, std::int64_t>
        m_places; // of blocks(), by the row of a block that was born
    std::int64_t m_hostBytes = 0;
};

} // namespace

Result<const CallList*> callListOf(const DeviceTrace& trace)
{
    const auto* const part = trace.recording().parts.find<CallLists>();
    const CallList* found = nullptr;
    if (part)
        for (const CallList& list : part->lists)
            if (list.device == trace.device())
                found = &list;
    if (!found)
        return fail(Error::Kind::Refused, say("the recording has no calls that could be made again"),
            hintForDeepStep(trace,
                hintToRun(say("record the program with strata record --deep-step 3, or run it, with "
                              "--confirm -- COMMAND"),
                    say("record the program with strata record --deep-step 3"))));
    if (found->unusable.valid())
        return fail(Error::Kind::Refused,
            say("the calls of its deep step cannot be made again: %1",
                verbatim(std::string(trace.recording().strings[found->unusable]))),
            hintToConfirm());
    return found;
}

bool isToldByCalls(const Change& change)
{
    return change.kind->isByCalls != nullptr && change.kind->isByCalls(change);
}

Result<std::string> callsToRun(const DeviceTrace& trace, const CallList& list,
    std::span<const Change> changes, EventIndex firstStep, const CallsAsked& asked)
{
    return CallWriter(trace, list, firstStep).write(changes, asked);
}

EventIndex firstStepOf(const RecordedRun& run)
{
    if (run.steps == nullptr)
        return 0;
    const auto first = std::ranges::find(run.steps->steps, StepKind::Train, &TrainingStep::kind);
    return first == run.steps->steps.end() ? 0 : first->first;
}

EventIndex stepWithinCalls(const RecordedRun& run)
{
    const auto list = callListOf(*run.trace);
    if (!list || run.steps == nullptr)
        return 0;
    const auto within = std::ranges::find_if(run.steps->steps, [&](const TrainingStep& step) {
        return step.kind == StepKind::Train && step.first > (*list)->beginEvent
            && step.first < (*list)->endEvent;
    });
    return within == run.steps->steps.end() ? 0 : within->first;
}

namespace {

bool isJsonNumber(const json& value)
{
    return value.is_number_unsigned() && value <= std::numeric_limits<std::uint32_t>::max();
}

bool arePairs(const json& value)
{
    return value.is_array() && std::ranges::all_of(value, [](const json& pair) {
        return pair.is_array() && pair.size() == 2 && std::ranges::all_of(pair, isJsonNumber);
    });
}

bool isEarlier(const json& value)
{
    return value.is_array() && value.size() == 5 && isJsonNumber(value[0]) && isJsonNumber(value[1])
        && isJsonNumber(value[2]) && arePairs(value[3]) && arePairs(value[4]);
}

} // namespace

Result<CallsLearnt> callsLearnt(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    const json told = json::parse(file, nullptr, false);
    CallsLearnt learnt;
    const bool isTold = told.is_object() && told.contains("follow") && told["follow"].is_array()
        && told.contains("casts") && told["casts"].is_boolean()
        && std::ranges::all_of(told["follow"], isJsonNumber) && told.contains("open")
        && told["open"].is_array() && std::ranges::all_of(told["open"], isJsonNumber)
        && told.contains("others") && told["others"].is_number_unsigned() && told["others"] <= kMostBytes
        && told.contains("earlier") && told["earlier"].is_array()
        && std::ranges::all_of(told["earlier"], isEarlier);
    if (!isTold)
        return fail(Error::Kind::NotFound, say("what a trial of the calls told cannot be read: %1", path));
    learnt.follow = told["follow"].get<std::vector<std::uint32_t>>();
    learnt.open = told["open"].get<std::vector<std::uint32_t>>();
    learnt.hasCasts = told["casts"].get<bool>();
    learnt.otherBytes = told["others"].get<std::int64_t>();
    using Pairs = std::vector<std::array<std::uint32_t, 2>>;
    for (const json& each : told["earlier"])
        learnt.earlier.push_back({ each[0].get<std::uint32_t>(), each[1].get<std::uint32_t>(),
            each[2].get<std::uint32_t>(), each[3].get<Pairs>(), each[4].get<Pairs>() });
    return learnt;
}

} // namespace strata::model
