// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/costs/operator_inputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

namespace strata::model {

namespace {

using Json = nlohmann::json;

/// Nothing where the text is no array, or too long.
std::optional<Json> arrayIn(std::string_view text)
{
    if (text.empty() || text.size() > kLongestInputs)
        return std::nullopt;
    Json json = Json::parse(text, nullptr, false);
    return json.is_array() ? std::optional(std::move(json)) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> integersIn(const Json& array)
{
    std::vector<std::int64_t> integers;
    for (const Json& item : array) {
        if (!item.is_number_integer())
            return std::nullopt;
        integers.push_back(item.get<std::int64_t>());
    }
    return integers;
}

std::string_view textAtPlace(const std::optional<Json>& array, std::size_t place)
{
    if (!array || place >= array->size() || !(*array)[place].is_string())
        return {};
    return (*array)[place].get_ref<const std::string&>();
}

/// Sizes and strides of a tensor; nullopt: they are none.
std::optional<TensorInput> tensorIn(const Json& sizes, const Json* strides, std::string_view type)
{
    if (!sizes.is_array())
        return std::nullopt;
    const auto read = integersIn(sizes);
    if (!read || std::ranges::any_of(*read, [](std::int64_t size) { return size < 0; }))
        return std::nullopt;
    TensorInput tensor{ *read, {}, elementTypeOf(type) };
    if (strides && strides->is_array()) {
        if (auto steps = integersIn(*strides); steps && steps->size() == tensor.sizes.size())
            tensor.strides = std::move(*steps);
        else
            tensor.type = {}; // sparse, or of another layout: its sizes do not say what it holds
    }
    return tensor;
}

bool isTensor(std::string_view type)
{
    return elementTypeOf(type).bytes > 0;
}

} // namespace

double TensorInput::elements() const
{
    double product = 1;
    for (const std::int64_t size : sizes)
        product *= static_cast<double>(size);
    return product;
}

double TensorInput::distinctElements() const
{
    if (std::ranges::find(sizes, 0) != sizes.end())
        return 0;
    if (sizes.empty())
        return 1;
    std::vector<std::pair<double, double>> dimensions; // stride and size of those that move
    for (std::size_t i = 0; i < strides.size(); ++i)
        if (strides[i] != 0 && sizes[i] > 1)
            dimensions.emplace_back(std::abs(static_cast<double>(strides[i])), static_cast<double>(sizes[i]));
    if (strides.empty())
        return 1; // all of them may be expanded
    std::ranges::sort(dimensions);
    double product = 1, longest = 1, reach = 0; // reach: of the dimensions within, in elements
    bool areApart = true;
    for (const auto& [stride, size] : dimensions) {
        areApart = areApart && stride > reach;
        reach += stride * (size - 1);
        product *= size;
        longest = std::max(longest, size);
    }
    return areApart ? product : longest;
}

const TensorInput* OperatorInputs::tensor(std::size_t place) const
{
    if (place >= arguments.size() || arguments[place].isList || arguments[place].tensors.size() != 1)
        return nullptr;
    const TensorInput& tensor = arguments[place].tensors.front();
    return tensor.type.bytes > 0 ? &tensor : nullptr;
}

std::string_view OperatorInputs::value(std::size_t place) const
{
    return place < arguments.size() ? std::string_view(arguments[place].value) : std::string_view();
}

std::optional<bool> OperatorInputs::truth(std::size_t place) const
{
    const std::string_view text = value(place);
    if (text == "True" || text == "true" || text == "1")
        return true;
    if (text == "False" || text == "false" || text == "0")
        return false;
    return std::nullopt;
}

std::optional<std::int64_t> OperatorInputs::integer(std::size_t place) const
{
    const std::string_view text = value(place);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

std::optional<std::vector<std::int64_t>> OperatorInputs::list(std::size_t place) const
{
    std::string_view text = value(place);
    if (text.size() < 2 || text.front() != '[' || text.back() != ']')
        return std::nullopt;
    text = text.substr(1, text.size() - 2);
    std::vector<std::int64_t> items;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        std::string_view item = text.substr(0, comma);
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
        while (!item.empty() && item.front() == ' ')
            item.remove_prefix(1);
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
        if (item == "True" || item == "true")
            number = 1;
        else if (item != "False" && item != "false"
            && (item.empty() || error != std::errc() || end != item.data() + item.size()))
            return std::nullopt;
        items.push_back(number);
    }
    return items;
}

std::optional<OperatorInputs> readOperatorInputs(
    std::string_view shapes, std::string_view types, std::string_view values, std::string_view strides)
{
    const auto sizes = arrayIn(shapes);
    const auto names = arrayIn(types);
    if (!sizes || !names || names->size() != sizes->size())
        return std::nullopt;
    const auto concrete = arrayIn(values);
    const auto steps = arrayIn(strides);
    OperatorInputs inputs;
    for (std::size_t i = 0; i < sizes->size(); ++i) {
        OperatorArgument& argument = inputs.arguments.emplace_back();
        argument.value = textAtPlace(concrete, i);
        const Json& size = (*sizes)[i];
        const Json* const step = steps && i < steps->size() ? &(*steps)[i] : nullptr;
        const std::string_view type = textAtPlace(names, i);
        // A list of tensors is of one type, which is not told; that of the operator's other arguments, or of
        // the file's other rows, would be a guess.
        const bool isNested = size.is_array() && !size.empty() && size.front().is_array();
        argument.isList = isNested || type == "TensorList";
        if (argument.isList && size.is_array()) {
            for (std::size_t j = 0; j < size.size(); ++j) {
                const Json* const own = step && step->is_array() && j < step->size() ? &(*step)[j] : nullptr;
                auto tensor = tensorIn(size[j], own, type);
                if (!tensor)
                    return std::nullopt;
                argument.tensors.push_back(std::move(*tensor));
            }
        } else if (isTensor(type)) {
            // A number of the program has a type and no sizes, as a tensor of no dimension has: the one
            // element counts nothing to speak of.
            auto tensor = tensorIn(size, step, type);
            if (!tensor)
                return std::nullopt;
            argument.tensors.push_back(std::move(*tensor));
        }
    }
    return inputs;
}

std::string shapesText(std::string_view shapes)
{
    std::string text;
    int depth = 0;
    std::size_t began = 0; // of the argument, in the text
    for (const char c : shapes) {
        const bool isOuter = depth == 1 && c != '[';
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (c == ' ' || c == '\n' || c == '\r' || c == '\t' || (depth == 1 && c == '[') || isOuter)
            continue;
        if (depth == 2 && c == '[') {
            if (!text.empty())
                text += ' ';
            began = text.size();
        }
        text += c;
        if (depth == 1 && text.size() == began + 2) // "[]"
            text.resize(began > 0 ? began - 1 : 0);
    }
    return text;
}

} // namespace strata::model
