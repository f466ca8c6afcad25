// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/ranks/shard_units.h"

#include "model/analysis/training/ledger/tensor_sums.h"
#include "model/analysis/training/roles/listed_tensors.h"
#include "model/trace/program/roles.h"
#include "model/whatif/ask/module_choice.h"
#include "model/whatif/run/recorded_optimizers.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;

constexpr std::size_t kMostWindows = 20000; // paths of modules, of which each is held against others
constexpr std::size_t kMostPairs = 64 << 20; // of them and parameters
constexpr std::int64_t kMostUnitElements = std::int64_t{ 1 }
    << 40; // of a parameter: with their padding they fit

std::string_view parentOf(std::string_view path)
{
    const std::size_t dot = path.rfind('.');
    return dot == path.npos ? std::string_view() : path.substr(0, dot);
}

std::string_view lastPartOf(std::string_view path)
{
    const std::size_t dot = path.rfind('.');
    return dot == path.npos ? path : path.substr(dot + 1);
}

/// As those of lists are called.
bool isIndex(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool isWithin(std::string_view name, std::string_view path)
{
    return path.empty() || (name.size() > path.size() && name.starts_with(path) && name[path.size()] == '.');
}

/// "head.bias", and of a recurrent layer "rnn.bias_ih_l0".
bool isBias(std::string_view name)
{
    return name.ends_with("bias") || lastPartOf(name).starts_with("bias_");
}

/// Tokens and positions that stand for all items of a batch, as vision models have them: (1, n, width).
bool isBroadcast(std::string_view name)
{
    const bool isEmbedding = name.ends_with("weight") || name.starts_with("positional_embedding");
    return !isEmbedding && (name.ends_with("token") || name.starts_with("pos"));
}

/// The rows of parameters: a bias has as many as its weight; norms are vectors; what comes before a norm has
/// as many as that; of others, that of an embedding, rows are as long as most vectors of the model.
void findRows(std::vector<ShardedParameter>& parameters, const StringTable& strings)
{
    std::map<std::string, std::int64_t, std::less<>> biases;
    for (const ShardedParameter& parameter : parameters)
        if (isBias(strings[parameter.name]))
            biases.emplace(strings[parameter.name], parameter.elements);
    const auto biasOf = [&](const ShardedParameter& parameter) -> std::int64_t {
        std::string name(strings[parameter.name]);
        if (const std::size_t weight = name.rfind("weight"); weight != name.npos)
            name.replace(weight, std::string_view("weight").size(), "bias");
        const auto bias = biases.find(name);
        return bias == biases.end() ? 0 : bias->second;
    };
    std::map<std::int64_t, int> vectors; // elements -> how many
    const auto fits = [](const ShardedParameter& parameter, std::int64_t rows) {
        return rows > 0 && parameter.elements % rows == 0;
    };
    std::vector<bool> known(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        ShardedParameter& parameter = parameters[i];
        const std::int64_t bias = biasOf(parameter);
        known[i] = fits(parameter, bias);
        parameter.rows = known[i] ? bias : parameter.elements;
        if (known[i] && bias == parameter.elements)
            ++vectors[bias];
    }
    const auto most = std::ranges::max_element(vectors, {}, [](const auto& each) { return each.second; });
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (known[i])
            continue;
        ShardedParameter& parameter = parameters[i];
        if (isBroadcast(lastPartOf(strings[parameter.name]))) {
            parameter.rows = 1;
            continue;
        }
        const bool beforeNorm = i + 1 < parameters.size() && known[i + 1]
            && parameters[i + 1].rows == parameters[i + 1].elements
            && fits(parameter, parameters[i + 1].elements) && parameters[i + 1].elements < parameter.elements;
        const bool isLayers = lastPartOf(strings[parameter.name]) == "weight";
        if (beforeNorm && isLayers && (most == vectors.end() || parameters[i + 1].elements != most->first))
            parameter.rows = parameters[i + 1].elements;
        else if (most != vectors.end() && fits(parameter, most->first) && parameter.elements > most->first)
            parameter.rows = parameter.elements / most->first;
        parameter.rows = std::max<std::int64_t>(parameter.rows, 1);
    }
}

class UnitSearch {
public:
    UnitSearch(const RecordedRun& run, const StepOwners& owners, const Sharding& sharding)
        : m_run(run)
        , m_owners(owners)
        , m_sharding(sharding)
        , m_strings(run.trace->recording().strings)
    {
    }

    Result<ShardUnits> find()
    {
        findParameters();
        findWindows();
        if (m_found.parameters.empty())
            return fail(Error::Kind::Refused, say("the recording does not tell which parameters there are"),
                hintToTellParameters(m_run.trace->recording()));
        if (m_windows.empty())
            return fail(Error::Kind::Refused,
                say("the deep step tells of no modules that keep something for backward"));
        if (m_windows.size() > kMostPairs / m_found.parameters.size() || m_windows.size() > kMostWindows)
            return fail(
                Error::Kind::Refused, say("the recording tells of more modules than can be told apart"));
        for (const std::string_view path : unitPaths())
            m_found.units.push_back({ std::string(path), false, {}, {} });
        if (m_found.units.empty() && !m_sharding.modules.empty())
            return noSuchModule(m_owners, m_run.trace->recording().strings);
        m_found.units.push_back({ std::string(rootPath()), true, {}, {} });
        fillUnits();
        return std::move(m_found);
    }

private:
    void findParameters()
    {
        std::map<std::uint32_t, std::vector<ShardedParameter>> parameters; // by block
        const ListedTensors& tensors = m_run.categories->tensors();
        for (const ListedTensors::Placed& placed : tensors.all()) {
            const RoleListing& listing = tensors.listing(placed);
            if (listing.kind != Kind::Parameter || placed.block.isOlder() || listing.elements <= 0
                || listing.elements > kMostUnitElements)
                continue;
            const auto block = static_cast<std::uint32_t>(placed.block.row());
            const std::int64_t bytes = m_run.trace->blocks().requestedBytes[placed.block];
            const std::int64_t item = std::max<std::int64_t>(bytes / listing.elements, 1);
            addTo(parameters[block], { block, listing.name, listing.elements, item, 1, false },
                elementBytes(m_strings[listing.dtype]));
        }
        for (const auto& [block, some] : parameters)
            m_found.parameters.insert(m_found.parameters.end(), some.begin(), some.end());
        findRows(m_found.parameters, m_strings);
    }

    /// Others of the same block are the same parameter by another name, but for those of a recurrent layer.
    void addTo(
        std::vector<ShardedParameter>& ofBlock, ShardedParameter parameter, std::int64_t itemBytes) const
    {
        const bool isKnown
            = std::ranges::find(ofBlock, parameter.name, &ShardedParameter::name) != ofBlock.end();
        if (isKnown || (!ofBlock.empty() && !isOfRecurrentLayer(BlockId::born(parameter.block))))
            return;
        ofBlock.push_back(parameter);
        if (ofBlock.size() > 1)
            for (ShardedParameter& each : ofBlock) {
                each.isFlat = true;
                each.itemBytes = std::max<std::int64_t>(itemBytes, 1);
            }
    }

    [[nodiscard]] bool isOfRecurrentLayer(BlockId block) const
    {
        const Recording& recording = m_run.trace->recording();
        const StackId stack = m_run.trace->blocks().stack[block];
        return stack.valid() && std::ranges::any_of(recording.stacks.stack(stack), [&](FrameId frame) {
            return m_strings[recording.stacks.frame(frame).file].ends_with("torch/nn/modules/rnn.py");
        });
    }

    /// Of those that keep something for backward.
    void findWindows()
    {
        for (std::uint32_t i = 0; i < m_owners.windows.size(); ++i) {
            const StepOwners::Window& window = m_owners.windows[i];
            const auto hold
                = std::ranges::lower_bound(m_owners.holds, window.enters, {}, &StepOwners::Hold::saved);
            if (hold != m_owners.holds.end() && hold->saved < window.leaves)
                m_windows[m_strings[window.path]].push_back(i);
        }
    }

    [[nodiscard]] std::string_view typeOf(const std::vector<std::uint32_t>& windows) const
    {
        return m_strings[m_owners.windows[windows.front()].type];
    }

    /// Of the module that most others run within.
    [[nodiscard]] std::string_view rootPath() const
    {
        std::string_view root;
        std::ptrdiff_t most = -1; // windows within
        for (const StepOwners::Window& window : m_owners.windows) {
            const auto inner
                = std::ranges::lower_bound(m_owners.windows, window.leaves, {}, &StepOwners::Window::enters)
                - std::ranges::lower_bound(m_owners.windows, window.enters, {}, &StepOwners::Window::enters);
            if (inner > most && m_windows.contains(m_strings[window.path])) {
                most = inner;
                root = m_strings[window.path];
            }
        }
        return root;
    }

    [[nodiscard]] bool hasParameters(std::string_view path) const
    {
        return std::ranges::any_of(m_found.parameters,
            [&](const ShardedParameter& each) { return isWithin(m_strings[each.name], path); });
    }

    [[nodiscard]] bool isMoreThanALayer(std::string_view path) const
    {
        return std::ranges::any_of(m_found.parameters, [&](const ShardedParameter& each) {
            return isWithin(m_strings[each.name], path)
                && m_strings[each.name].substr(path.size() + 1).find('.') != std::string_view::npos;
        });
    }

    /// The outermost ones, in the order in which they ran.
    [[nodiscard]] std::vector<std::string_view> unitPaths() const
    {
        std::vector<ModuleChoice> wanted;
        for (std::string_view rest = m_sharding.modules; !rest.empty();) {
            const std::size_t plus = rest.find('+');
            wanted.emplace_back(rest.substr(0, plus));
            rest = plus == rest.npos ? std::string_view() : rest.substr(plus + 1);
        }
        std::map<std::pair<std::string_view, std::string_view>, int> siblings; // by parent and class
        for (const auto& [path, windows] : m_windows)
            ++siblings[{ parentOf(path), typeOf(windows) }];
        std::vector<std::string_view> paths;
        const std::string_view root = rootPath();
        for (const auto& [path, windows] : m_windows) {
            if (path == root || !hasParameters(path))
                continue;
            const bool chosen = wanted.empty() ? isIndex(lastPartOf(path))
                    && siblings[{ parentOf(path), typeOf(windows) }] > 1 && isMoreThanALayer(path)
                                               : std::ranges::any_of(wanted, [&](const ModuleChoice& each) {
                                                     return each.matches(path, typeOf(windows));
                                                 });
            if (chosen)
                paths.push_back(path);
        }
        std::vector<std::string_view> outermost;
        for (const std::string_view path : paths)
            if (std::ranges::none_of(
                    paths, [&](std::string_view other) { return isWithin(path, other) && !other.empty(); }))
                outermost.push_back(path);
        std::ranges::sort(outermost, {},
            [&](std::string_view path) { return m_owners.windows[m_windows.at(path).front()].enters; });
        return outermost;
    }

    void fillUnits()
    {
        for (std::uint32_t i = 0; i < m_found.parameters.size(); ++i)
            for (ShardUnit& unit : m_found.units)
                if (unit.isRoot || isWithin(m_strings[m_found.parameters[i].name], unit.path)) {
                    unit.parameters.push_back(i);
                    break;
                }
        for (ShardUnit& unit : m_found.units)
            unit.windows = m_windows.at(unit.path);
        std::erase_if(
            m_found.units, [](const ShardUnit& unit) { return !unit.isRoot && unit.parameters.empty(); });
    }

    const RecordedRun& m_run;
    const StepOwners& m_owners;
    const Sharding& m_sharding;
    const StringTable& m_strings;
    std::map<std::string_view, std::vector<std::uint32_t>> m_windows; // by path
    ShardUnits m_found;
};

} // namespace

Result<ShardUnits> ShardUnits::of(const RecordedRun& run, const StepOwners& owners, const Sharding& sharding)
{
    return UnitSearch(run, owners, sharding).find();
}

OptimizerShard ShardUnits::shardOf(
    const RecordedOptimizer& optimizer, const std::vector<std::uint32_t>& groups, std::int64_t ranks) const
{
    OptimizerShard shard{ optimizer, groups };
    std::map<std::uint32_t, const ShardedParameter*> byName;
    for (const ShardedParameter& parameter : parameters)
        byName.emplace(parameter.name.value, &parameter);
    for (std::size_t i = 0; i < optimizer.parameters.size(); ++i) {
        OptimizerParameter& parameter = shard.optimizer.parameters[i];
        const auto known = byName.find(optimizer.names[i].value);
        if (known == byName.end() || known->second->elements != parameter.elements || parameter.elements <= 0)
            continue;
        const std::int64_t item = parameter.bytes / parameter.elements;
        parameter.elements = known->second->shardElements(ranks);
        parameter.bytes = parameter.elements * item;
    }
    return shard;
}

} // namespace strata::model
