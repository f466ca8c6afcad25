// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/optimizer_template.h"

#include "model/base/spelling.h"
#include "model/whatif/ask/lacks.h"
#include "model/whatif/optimizers_json.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace strata::model {

namespace {

using nlohmann::json;
using Options = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view kInBackward = "in_backward";
constexpr std::string_view kWeightDecay = "weight_decay";
constexpr std::string_view kPaged = "is_paged";

std::string loweredText(std::string_view text)
{
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
    return out;
}

OptimizerAsk readAsk(const json& entry)
{
    OptimizerAsk ask;
    ask.alloc = entry.at(0).get<std::string>() == "+";
    ask.slot = entry.at(1).get<std::uint32_t>();
    if (!ask.alloc) {
        ask.ofBefore = entry.at(2).get<int>() == 1;
    } else if (entry.at(2).is_number()) {
        ask.size = OptimizerAsk::Size::Constant;
        ask.constantBytes = entry.at(2).get<std::int64_t>();
    } else {
        using Size = OptimizerAsk::Size;
        static const std::map<std::string, Size> words{ { "bytes", Size::Bytes },
            { "float32", Size::Float32 }, { "int8", Size::Int8 }, { "scales", Size::Scales } };
        ask.size = words.at(entry.at(2).get<std::string>());
    }
    if (ask.alloc && entry.size() > 3) {
        using When = OptimizerAsk::When;
        static const std::map<std::string, When> words{ { "large", When::Large }, { "small", When::Small },
            { "once", When::Once } };
        ask.when = words.at(entry.at(3).get<std::string>());
    }
    return ask;
}

OptimizerLoop::Over readOver(const std::string& word)
{
    using Over = OptimizerLoop::Over;
    static const std::map<std::string, Over> words{ { "all", Over::All }, { "types", Over::Types },
        { "group", Over::Group }, { "before", Over::Before }, { "last", Over::Last } };
    return words.at(word);
}

OptimizerLoop readLoop(const json& entry)
{
    OptimizerLoop loop;
    loop.over = readOver(entry.at("over"));
    if (loop.over == OptimizerLoop::Over::Types) {
        for (const json& inner : entry.at("do"))
            loop.loops.push_back(readLoop(inner));
        return loop;
    }
    const std::string order = entry.at("order");
    loop.order = order == "up" ? OptimizerLoop::Order::Up
        : order == "down"      ? OptimizerLoop::Order::Down
                               : OptimizerLoop::Order::End;
    for (const json& ask : entry.at("do"))
        loop.asks.push_back(readAsk(ask));
    return loop;
}

OptimizerRule readRule(const json& entry)
{
    OptimizerRule rule;
    for (const json& loop : entry)
        rule.push_back(readLoop(loop));
    return rule;
}

void forEachLoop(OptimizerRule& rule, const auto& call)
{
    for (OptimizerLoop& loop : rule) {
        forEachLoop(loop.loops, call);
        call(loop);
    }
}

/// What a rule does not give back is state.
void markState(OptimizerTemplate& to, OptimizerRule& rule)
{
    std::set<std::uint32_t> gone;
    forEachLoop(rule, [&](const OptimizerLoop& loop) {
        for (const OptimizerAsk& ask : loop.asks) {
            to.slots = std::max(to.slots, ask.slot + 1);
            if (!ask.alloc)
                gone.insert(ask.slot);
        }
    });
    forEachLoop(rule, [&](OptimizerLoop& loop) {
        loop.makesState = !loop.asks.empty() && std::ranges::all_of(loop.asks, [&](const OptimizerAsk& ask) {
            return ask.alloc && !gone.contains(ask.slot);
        });
    });
}

OptimizerTemplate readTemplate(const json& entry)
{
    OptimizerTemplate made;
    made.typesBack = entry.at("types").get<std::string>() == "back";
    made.mixes = entry.at("mixes").get<bool>();
    made.made = readRule(entry.at("made"));
    made.first = readRule(entry.at("first"));
    for (const json& later : entry.at("later"))
        made.later.emplace_back(later.at(0).get<int>(), readRule(later.at(1)));
    markState(made, made.made);
    markState(made, made.first);
    for (auto& [since, rule] : made.later)
        markState(made, rule);
    return made;
}

/// A default, as an option is written.
std::string wordOf(const json& value, bool isSwitch)
{
    if (value.is_null())
        return "None";
    if (value.is_boolean())
        return value.get<bool>() ? "True" : "False";
    if (isSwitch)
        return value.get<double>() == 0 ? "zero" : "nonzero";
    return "number";
}

/// What an option is given as: "True", "zero", ...; none where it is no value of its kind.
std::optional<std::string> valueOf(std::string_view text, std::string_view standing)
{
    const bool flag = standing == "True" || standing == "False" || standing == "None";
    if (flag)
        return text == "True" || text == "False" || (text == "None" && standing == "None")
            ? std::optional(std::string(text))
            : std::nullopt;
    const std::string owned(text);
    char* end = nullptr;
    const double value = std::strtod(owned.c_str(), &end);
    if (owned.empty() || *end != '\0')
        return std::nullopt;
    return standing == "number" ? "number" : value == 0 ? "zero" : "nonzero";
}

std::string listedNames(const std::vector<std::string>& names)
{
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    return text;
}

/// "SGD", {"momentum=0.9", ...}
std::vector<std::string> valuePartsOf(std::string_view value)
{
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= value.size();) {
        const std::size_t end = std::min(value.find(',', at), value.size());
        parts.emplace_back(value.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

/// States that are asked for from CUDA itself.
Failure refusePaged(std::string_view name, std::string_view package)
{
    return fail(Error::Kind::Refused,
        say("%1 of %2 keeps states of large parameters in managed memory, which is none of PyTorch's "
            "allocator: "
            "how much of it is on the card at a time no recording tells",
            name, package),
        hintToRun(say("run the program with it: strata dryrun --change optimizer=%1 -- COMMAND, which counts "
                      "what the allocator has, and nothing of managed memory",
            name)));
}

/// Elements of a large parameter; none: it is no such number.
std::optional<std::int64_t> leastOf(const std::string& text)
{
    constexpr double kMost = 1e15;
    const double value = std::strtod(text.c_str(), nullptr);
    if (!(value >= 0 && value <= kMost))
        return std::nullopt;
    return static_cast<std::int64_t>(std::ceil(value));
}

} // namespace

const OptimizerRule& OptimizerTemplate::laterRule(int step) const
{
    const OptimizerRule* found = &first;
    for (const auto& [since, rule] : later)
        if (since <= step)
            found = &rule;
    return *found;
}

const OptimizerTemplate& OptimizerTemplates::onHost()
{
    static const OptimizerTemplate nothing{ .mixes = true };
    return nothing;
}

bool OptimizerChoice::refuses(std::string_view type, std::int64_t elements) const
{
    const auto known = refused.find(type);
    return known != refused.end() && (!known->second || elements < least);
}

OptimizerTemplates::OptimizerTemplates()
{
    read(kBitsandbytesJson);
    read(kOptimizersJson);
}

void OptimizerTemplates::read(const char* text)
{
    const json document = json::parse(text);
    m_torch = document.at("torch");
    const std::string package = document.contains("package")
        ? document.at("package").get<std::string>() + " " + document.at("version").get<std::string>()
        : std::string();
    using Why = Untold::Why;
    for (const auto& [word, why] : { std::pair("untold", Why::ByMore), std::pair("paged", Why::Paged),
             std::pair("raising", Why::Raises) })
        for (const json& name : document.value(word, json::array()))
            m_untold.push_back({ name, package, why });
    const std::size_t before = m_templates.size();
    for (const json& entry : document.at("templates"))
        m_templates.push_back(readTemplate(entry));
    for (const auto& [name, about] : document.at("optimizers").items()) {
        if (about.at("variants").empty())
            continue;
        Class& known = m_classes[name];
        known.package = package;
        known.leastOption = about.value("least", std::string());
        const json refused = about.value("refuses", json::object());
        for (const auto& [type, how] : refused.items())
            known.refused[type] = how == "small";
        std::set<std::string> switches, numbers;
        for (const auto& option : about.at("switches"))
            switches.insert(option.get<std::string>());
        for (const auto& option : about.at("numbers"))
            numbers.insert(option.get<std::string>());
        for (const auto& [option, value] : about.at("takes").items())
            if (switches.contains(option) || numbers.contains(option))
                known.defaults[option] = wordOf(value, switches.contains(option));
            else if (option == known.leastOption) {
                known.least = value.get<std::int64_t>();
                known.defaults[option] = "number";
            } else if (option == kPaged)
                known.defaults[option] = wordOf(value, false);
        for (const auto& [key, row] : about.at("variants").items())
            known.variants[key] = before + row.get<std::size_t>();
    }
}

const OptimizerTemplates& OptimizerTemplates::builtIn()
{
    static const OptimizerTemplates templates;
    return templates;
}

std::string OptimizerTemplates::names() const
{
    std::vector<std::string> ofTorch, others;
    for (const auto& [name, known] : m_classes)
        (known.package.empty() ? ofTorch : others).push_back(name);
    return listedNames(ofTorch) + ", and of bitsandbytes " + listedNames(others);
}

Failure OptimizerTemplates::refuse(const Untold& untold) const
{
    if (untold.why == Untold::Why::Paged)
        return refusePaged(untold.name, untold.package);
    if (untold.why == Untold::Why::Raises)
        return fail(Error::Kind::Refused,
            say("%1 of %2 raises in its first step, whatever it is given", untold.name, untold.package),
            say("known are %1", names()));
    if (untold.name == "LBFGS")
        return fail(Error::Kind::Refused,
            say("LBFGS calls the program's forward and backward within its step: no template tells what that "
                "asks for"),
            hintToRun(say("run the program with it: strata dryrun --change optimizer=LBFGS -- COMMAND")));
    return fail(Error::Kind::Refused,
        say("what %1 asks for goes by more than the sizes of parameters, which are all that is told of them",
            untold.name),
        hintToRun(say("run the program with it: strata dryrun --change optimizer=%1 -- COMMAND; known from "
                      "sizes alone are %2",
            untold.name, names())));
}

const OptimizerTemplate* OptimizerTemplates::variant(const Class& known, Options given) const
{
    std::string key;
    for (const auto& [option, value] : given)
        if (const auto standing = known.defaults.find(option);
            value != "number" && standing != known.defaults.end() && value != standing->second)
            key += (key.empty() ? "" : " ") + option + "=" + value;
    const auto found = known.variants.find(key);
    return found == known.variants.end() ? nullptr : &m_templates[found->second];
}

Result<OptimizerChoice> OptimizerTemplates::find(std::string_view value) const
{
    const std::vector<std::string> parts = valuePartsOf(value);
    const auto named = std::ranges::find_if(
        m_classes, [&](const auto& each) { return loweredText(each.first) == loweredText(parts.front()); });
    if (named == m_classes.end()) {
        const auto untold = std::ranges::find_if(m_untold,
            [&](const Untold& each) { return loweredText(each.name) == loweredText(parts.front()); });
        if (untold != m_untold.end())
            return refuse(*untold);
        return fail(Error::Kind::Usage,
            say("neither torch.optim nor bitsandbytes has an optimizer '%1' that is known", parts.front()),
            say("known are %1", names()));
    }
    const auto& [name, known] = *named;
    Options given;
    OptimizerChoice choice{
        .name = name, .package = known.package, .least = known.least, .refused = known.refused
    };
    for (auto part = parts.begin() + 1; part != parts.end(); ++part) {
        const std::size_t equals = part->find('=');
        const std::string option = part->substr(0, equals);
        if (option == kInBackward) { // of the program around it
            const std::string isSo = equals == part->npos ? std::string() : part->substr(equals + 1);
            if (isSo != "True" && isSo != "False")
                return fail(Error::Kind::Usage, say("'%1' gives no value that %2 takes", *part, name),
                    say("give in_backward=True"));
            choice.inBackward = isSo == "True";
            continue;
        }
        const auto standing = known.defaults.find(option);
        if (standing == known.defaults.end()) {
            std::vector<std::string> options;
            for (const auto& [each, word] : known.defaults)
                options.push_back(each);
            options.emplace_back(kInBackward);
            return fail(Error::Kind::Usage, say("%1 has no option '%2' that is known", name, option),
                say("known are %1", listedNames(options)));
        }
        const auto word
            = equals == part->npos ? std::nullopt : valueOf(part->substr(equals + 1), standing->second);
        if (!word || (option == known.leastOption && !leastOf(part->substr(equals + 1))))
            return fail(Error::Kind::Usage, say("'%1' gives no value that %2 takes", *part, name),
                say("give a number, or True or False, as momentum=0.9 or foreach=False"));
        if (option == kPaged && *word == "True")
            return refusePaged(name, known.package);
        given[option] = *word;
        if (option == known.leastOption)
            choice.least = *leastOf(part->substr(equals + 1));
    }
    choice.made = variant(known, given);
    if (choice.made == nullptr)
        return fail(Error::Kind::Usage, say("%1 does not take these options together", name),
            known.package.empty() ? say("as PyTorch %1 says when it is made with them", m_torch)
                                  : say("as %1 says when it is made with them", known.package));
    if (known.defaults.contains(kWeightDecay) && !given.contains(kWeightDecay)) {
        given[std::string(kWeightDecay)] = "nonzero";
        if (const OptimizerTemplate* const decaying = variant(known, given); decaying != choice.made)
            choice.decaying = decaying;
    }
    return choice;
}

std::string OptimizerTemplates::packageOf(std::string_view name) const
{
    const auto known = m_classes.find(name);
    return known == m_classes.end() ? std::string() : known->second.package;
}

std::vector<OptimizerTemplates::Manner> OptimizerTemplates::mannersOf(std::string_view name) const
{
    const auto known = m_classes.find(name);
    if (known == m_classes.end())
        return {};
    const auto standing = known->second.defaults.find(kWeightDecay);
    const bool decaysElse = standing != known->second.defaults.end() && standing->second == "nonzero";
    std::vector<Manner> manners;
    for (const bool maximizing : { false, true }) // as rare as it is, it says nothing against a weight decay
        for (const auto& [key, row] : known->second.variants) {
            if ((key.find("maximize=True") != key.npos) != maximizing)
                continue;
            const bool decays = !decaysElse && key.find("weight_decay=nonzero") != key.npos;
            const auto same = std::ranges::find(manners, &m_templates[row], &Manner::made);
            if (same == manners.end())
                manners.push_back({ &m_templates[row], decays, known->second.least });
            else if (!maximizing)
                same->decays = same->decays && decays;
        }
    return manners;
}

} // namespace strata::model
