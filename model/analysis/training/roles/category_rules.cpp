// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/category_rules.h"

#include "model/base/units.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <re2/re2.h>
#include <sstream>

namespace strata::model {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostRules = 1000;
constexpr std::uintmax_t kMostBytes = 1 << 20;
constexpr std::size_t kLongestPattern = 2000;
constexpr std::int64_t kPatternMemory = 1 << 20;
constexpr std::size_t kLongestRuleName = 4096; // that is looked at

bool matches(const re2::RE2& pattern, std::string_view text)
{
    return re2::RE2::PartialMatch({ text.data(), text.size() }, pattern);
}

Failure wrong(std::size_t number, Sentence what)
{
    return fail(Error::Kind::Usage, say("rule %1: %2", number, std::move(what)),
        say("a rule has a \"category\" and some of \"frame\", \"annotation\", \"module\", \"min_bytes\" and "
            "\"max_bytes\""));
}

Result<std::shared_ptr<const re2::RE2>> expression(
    std::size_t number, const std::string& key, const Json& value)
{
    if (!value.is_string())
        return wrong(number, say("\"%1\" is no text", key));
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > kLongestPattern)
        return wrong(number, say("\"%1\" is too long", key));
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kPatternMemory);
    auto pattern = std::make_shared<const re2::RE2>(text, options);
    if (!pattern->ok())
        return wrong(number, say("\"%1\" is no regular expression: %2", key, verbatim(pattern->error())));
    return pattern;
}

Result<std::int64_t> size(std::size_t number, const std::string& key, const Json& value)
{
    if (value.is_number_integer() && value.is_number_unsigned()
        && value <= std::numeric_limits<std::int64_t>::max())
        return value.get<std::int64_t>();
    if (value.is_string())
        if (const auto bytes = parseBytes(value.get_ref<const std::string&>()))
            return *bytes;
    return wrong(number, say("\"%1\" is no size, as 512 or \"8MiB\"", key));
}

Result<CategoryRules::Rule> ruleOf(std::size_t number, const Json& json)
{
    if (!json.is_object())
        return wrong(number, say("it is no object"));
    CategoryRules::Rule rule;
    bool named = false, limited = false;
    for (const auto& [key, value] : json.items()) {
        if (key == "category") {
            if (!value.is_string())
                return wrong(number, say("\"%1\" is no text", key));
            const auto category = categoryFromWord(value.get_ref<const std::string&>());
            if (!category)
                return wrong(number, say("there is no category %1: give %2", value.dump(), categoryWords()));
            rule.category = *category;
            named = true;
            continue;
        }
        limited = true;
        if (key == "frame" || key == "annotation" || key == "module") {
            auto pattern = expression(number, key, value);
            if (!pattern)
                return Failure(pattern.error());
            (key == "frame"           ? rule.frame
                    : key == "module" ? rule.module
                                      : rule.annotation)
                = std::move(*pattern);
        } else if (key == "min_bytes" || key == "max_bytes") {
            const auto bytes = size(number, key, value);
            if (!bytes)
                return Failure(bytes.error());
            (key == "min_bytes" ? rule.minBytes : rule.maxBytes) = *bytes;
        } else {
            return wrong(number, say("\"%1\" is no condition", key));
        }
    }
    if (!named)
        return wrong(number, say("it has no \"category\""));
    if (!limited)
        return wrong(number, say("it has no condition and would hold for every block"));
    return rule;
}

} // namespace

Result<CategoryRules> CategoryRules::read(std::string_view text)
{
    if (text.size() > kMostBytes)
        return fail(Error::Kind::Usage, say("it is more than %1", asBytes(kMostBytes)));
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object() || !json.contains("rules") || !json["rules"].is_array())
        return fail(Error::Kind::Usage, say("it is not JSON with a list of \"rules\""),
            say("write {\"rules\": [{\"category\": \"workspace\", \"frame\": \"cublas\"}]}"));
    if (json["rules"].size() > kMostRules)
        return fail(Error::Kind::Usage, say("it has more than %1 rules", asCount(kMostRules)));
    CategoryRules rules;
    for (const Json& each : json["rules"]) {
        auto rule = ruleOf(rules.m_rules.size() + 1, each);
        if (!rule)
            return Failure(rule.error());
        rules.m_rules.push_back(std::move(*rule));
    }
    return rules;
}

Result<CategoryRules> CategoryRules::readFile(const std::filesystem::path& path)
{
    std::error_code failed;
    const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
    std::ifstream file(path, std::ios::binary);
    if (failed || !file)
        return fail(Error::Kind::Usage, say("the rules in %1 cannot be read", path),
            say("give a file of rules that is there"));
    if (bytes > kMostBytes)
        return fail(Error::Kind::Usage, say("the rules in %1 are more than %2", path, asBytes(kMostBytes)));
    std::stringstream text;
    text << file.rdbuf();
    auto rules = read(text.view());
    if (!rules)
        return fail(rules.error().kind, say("%1: %2", path, rules.error().what), rules.error().hint);
    return rules;
}

RuleMatcher::RuleMatcher(
    const DeviceTrace& trace, const Clock& clock, const CategoryRules& rules, const Progress& progress)
    : m_trace(trace)
    , m_rules(rules)
    , m_prepared(rules.rules().size())
{
    prepareStacks(progress);
    std::vector<AnnotationSpan> spans;
    if (std::ranges::any_of(
            rules.rules(), [](const CategoryRules::Rule& rule) { return rule.annotation != nullptr; }))
        spans = annotationSpans(trace.recording(), trace.device(), clock);
    for (std::size_t i = 0; i < m_prepared.size() && !progress.cancelled(); ++i) {
        const CategoryRules::Rule& rule = rules.rules()[i];
        if (rule.module)
            prepareModules(rule, m_prepared[i]);
        if (rule.annotation)
            prepareSpans(rule, spans, m_prepared[i]);
    }
}

/// By 64 rules: a bit of each for each frame.
void RuleMatcher::prepareStacks(const Progress& progress)
{
    std::vector<std::size_t> asking; // rules
    for (std::size_t i = 0; i < m_prepared.size(); ++i)
        if (m_rules.rules()[i].frame)
            asking.push_back(i);
    const Recording& recording = m_trace.recording();
    const auto textOf = [&](StringId id) { return id.valid() ? recording.strings[id] : std::string_view(); };
    constexpr std::size_t kTogether = 64, kLooks = 256;
    std::vector<std::uint64_t> frames(asking.empty() ? 0 : recording.stacks.frameCount());
    for (std::size_t first = 0; first < asking.size(); first += kTogether) {
        const auto rules = std::span(asking).subspan(first, std::min(kTogether, asking.size() - first));
        for (std::size_t i = 0; i < frames.size(); ++i) {
            if (i % kLooks == 0 && progress.cancelled())
                return;
            const Frame& frame = recording.stacks.frame(FrameId{ static_cast<std::uint32_t>(i) });
            const std::string_view file = textOf(frame.file);
            const std::string text
                = fmt::format("{}:{} {}", file.substr(file.size() - std::min(file.size(), kLongestRuleName)),
                    frame.line, textOf(frame.function).substr(0, kLongestRuleName));
            frames[i] = 0;
            for (std::size_t k = 0; k < rules.size(); ++k)
                if (matches(*m_rules.rules()[rules[k]].frame, text))
                    frames[i] |= std::uint64_t{ 1 } << k;
        }
        for (const std::size_t rule : rules)
            m_prepared[rule].stacks.resize(recording.stacks.stackCount());
        for (std::size_t i = 0; i < recording.stacks.stackCount(); ++i) {
            if (i % kLooks == 0 && progress.cancelled())
                return;
            std::uint64_t held = 0;
            for (const FrameId frame : recording.stacks.stack(StackId{ static_cast<std::uint32_t>(i) }))
                held |= frames[frame.index()];
            for (; held != 0; held &= held - 1)
                m_prepared[rules[static_cast<std::size_t>(std::countr_zero(held))]].stacks[i] = true;
        }
    }
}

void RuleMatcher::prepareModules(const CategoryRules::Rule& rule, Prepared& to) const
{
    const Recording& recording = m_trace.recording();
    for (const StringId name : recording.modules)
        to.modules.push_back(
            name.valid() && matches(*rule.module, recording.strings[name].substr(0, kLongestRuleName)));
}

void RuleMatcher::prepareSpans(
    const CategoryRules::Rule& rule, std::span<const AnnotationSpan> all, Prepared& to)
{
    for (const AnnotationSpan& span : all)
        if (span.first < span.last && matches(*rule.annotation, span.name.substr(0, kLongestRuleName)))
            to.spans.push_back({ span.first + 1, span.last });
    std::ranges::sort(to.spans, {}, &Span::first);
    std::size_t kept = 0;
    for (const Span& span : to.spans)
        if (kept > 0 && span.first <= to.spans[kept - 1].last + 1)
            to.spans[kept - 1].last = std::max(to.spans[kept - 1].last, span.last);
        else
            to.spans[kept++] = span;
    to.spans.resize(kept);
}

bool RuleMatcher::holds(const CategoryRules::Rule& rule, Prepared& prepared, BlockId block) const
{
    const BlockColumns& blocks = m_trace.blocks();
    const std::int64_t bytes = blocks.requestedBytes[block];
    if (bytes < rule.minBytes || bytes > rule.maxBytes)
        return false;
    if (rule.frame) {
        const StackId stack = blocks.stack[block];
        if (stack.index() >= prepared.stacks.size() || !prepared.stacks[stack.index()])
            return false;
    }
    const EventIndex birth = blocks.birth(block);
    if (rule.module) {
        const ModuleIndex module
            = birth < 0 ? kNoIndex : m_trace.events().moduleOf(static_cast<std::size_t>(birth));
        if (module >= prepared.modules.size() || !prepared.modules[module])
            return false;
    }
    if (!rule.annotation)
        return true;
    while (prepared.next < prepared.spans.size() && prepared.spans[prepared.next].last < birth)
        ++prepared.next;
    return birth >= 0 && prepared.next < prepared.spans.size()
        && prepared.spans[prepared.next].first <= birth;
}

std::optional<std::size_t> RuleMatcher::ruleOf(BlockId block)
{
    for (std::size_t i = 0; i < m_prepared.size(); ++i)
        if (holds(m_rules.rules()[i], m_prepared[i], block))
            return i;
    return std::nullopt;
}

std::optional<Category> RuleMatcher::categoryOf(BlockId block)
{
    const auto rule = ruleOf(block);
    return rule ? std::optional(m_rules.rules()[*rule].category) : std::nullopt;
}

} // namespace strata::model
