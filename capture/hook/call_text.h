// SPDX-License-Identifier: Apache-2.0
// What a call of an operator is given, as a text from which the same call can be made again without the
// program: a JSON list with an entry for each argument (FORMAT.md, call list). Tensors on a GPU are "@", in
// the order in which an operator's inputs tell them.
#pragma once

#include "capture/hook/input_texts.h"

#include <ATen/core/ivalue.h>
#include <string>

namespace strata::hook {

/// JSON knows no other numbers: those are texts within an object.
inline void addReal(double number, std::string& to)
{
    if (!std::isfinite(number)) {
        to += std::isnan(number) ? R"({"f":"nan"})" : number > 0 ? R"({"f":"inf"})" : R"({"f":"-inf"})";
        return;
    }
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", number);
    to += text;
    if (std::string_view(text).find_first_of(".e") == std::string_view::npos)
        to += ".0";
}

/// Names of operators' modes ("mean", "tanh", "bij,bjk->bik"): what would need escapes is none of them.
inline bool addWord(std::string_view word, std::string& to)
{
    for (const char letter : word)
        if (letter < ' ' || letter > '~' || letter == '"' || letter == '\\')
            return false;
    to.append(R"({"s":")").append(word).append("\"}");
    return true;
}

/// A number that Python or C++ wrote beside tensors, which LibTorch wraps into one.
inline bool addWrappedNumber(const c10::TensorImpl& tensor, const void* data, std::string& to)
{
    switch (static_cast<c10::ScalarType>(std::bit_cast<std::uint16_t>(tensor.dtype()))) {
    case c10::ScalarType::Double:
        addReal(*static_cast<const double*>(data), to);
        return true;
    case c10::ScalarType::Long:
        to += std::to_string(*static_cast<const std::int64_t*>(data));
        return true;
    case c10::ScalarType::Bool:
        to += *static_cast<const bool*>(data) ? "true" : "false";
        return true;
    default:
        return false;
    }
}

/// Of one that lies on the host what it takes to make one like it: {"h":["float",[2,3],[3,1]]}.
inline bool addHostTensor(const c10::TensorImpl& tensor, c10::StorageImpl& storage, std::string& to)
{
    const void* const data = storage._mutable_data_ptr_no_checks().get();
    if (tensor.is_wrapped_number()) {
        to += R"({"n":)";
        const bool isKnown = data && addWrappedNumber(tensor, data, to);
        to += '}';
        return isKnown;
    }
    const char* const type = typeName(tensor);
    if (*type == 0)
        return false;
    to.append(R"({"h":[")").append(type).append("\",");
    addNumbers([&] { return tensor.sizes(); }, to);
    to += ',';
    addNumbers([&] { return tensor.strides(); }, to);
    to += "]}";
    return true;
}

/// False: it cannot be told, and the call cannot be made again. `gpu`: there is a tensor on a GPU.
inline bool addArgument(const c10::IValue& value, std::string& to, bool& gpu)
{
    if (value.isNone()) {
        to += "null";
        return true;
    }
    if (value.isTensor()) {
        const c10::TensorImpl* const tensor = tensorOf(value);
        c10::StorageImpl* const storage = tensor ? tensor->unsafe_storage().unsafeGetStorageImpl() : nullptr;
        if (!tensor) { // an undefined one
            to += "null";
            return true;
        }
        if (!storage)
            return false;
        if (storage->device_type() == c10::DeviceType::CUDA) {
            to += "\"@\"";
            gpu = true;
            return true;
        }
        return storage->device_type() == c10::DeviceType::CPU && addHostTensor(*tensor, *storage, to);
    }
    if (value.isBool()) {
        to += heldBy<bool>(value) ? "true" : "false";
        return true;
    }
    if (value.isInt()) {
        to += std::to_string(heldBy<std::int64_t>(value));
        return true;
    }
    if (value.isDouble()) {
        addReal(heldBy<double>(value), to);
        return true;
    }
    if (value.isString())
        return addWord(
            static_cast<const c10::ivalue::ConstantString*>(heldBy<const c10::intrusive_ptr_target*>(value))
                ->string(),
            to);
    if (value.isDevice()) {
        const auto device = heldBy<c10::DeviceType>(value);
        if (device != c10::DeviceType::CUDA && device != c10::DeviceType::CPU)
            return false;
        to += device == c10::DeviceType::CUDA ? R"({"d":"cuda"})" : R"({"d":"cpu"})";
        return true;
    }
    if (!value.isList())
        return false;
    const auto& list
        = static_cast<const c10::detail::ListImpl*>(heldBy<const c10::intrusive_ptr_target*>(value))->list;
    to += '[';
    bool isKnown = true;
    for (const c10::IValue& each : list) {
        if (to.back() != '[')
            to += ',';
        isKnown = isKnown && addArgument(each, to, gpu);
    }
    to += ']';
    return isKnown;
}

} // namespace strata::hook
