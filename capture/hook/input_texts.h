// SPDX-License-Identifier: Apache-2.0
// Inputs of an operator as torch.profiler writes them into its traces (torch/csrc/profiler/collection.cpp and
// util.cpp): members of a JSON object, "Input Dims", "Input Strides", "Input type" and "Concrete Inputs", an
// entry for each input. Types are named as c10's TypeMeta names them. What the profiler does not write,
// neither does this: the types of a list of tensors are in "Input List Types".
#pragma once

#include <ATen/core/ivalue.h>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace strata::hook {

/// caffe2::TypeMeta is the number of its type, which is that of the ScalarType; its own functions are not
/// inline.
inline const char* typeName(const c10::TensorImpl& tensor)
{
    static_assert(sizeof(caffe2::TypeMeta) == sizeof(std::uint16_t));
    using T = c10::ScalarType;
    switch (static_cast<T>(std::bit_cast<std::uint16_t>(tensor.dtype()))) {
    case T::Byte:
        return "unsigned char";
    case T::Char:
        return "signed char";
    case T::Short:
        return "short int";
    case T::Int:
        return "int";
    case T::Long:
        return "long int";
    case T::Half:
        return "c10::Half";
    case T::Float:
        return "float";
    case T::Double:
        return "double";
    case T::ComplexHalf:
        return "c10::complex<c10::Half>";
    case T::ComplexFloat:
        return "c10::complex<float>";
    case T::ComplexDouble:
        return "c10::complex<double>";
    case T::Bool:
        return "bool";
    case T::BFloat16:
        return "c10::BFloat16";
    case T::Float8_e5m2:
        return "c10::Float8_e5m2";
    case T::Float8_e4m3fn:
        return "c10::Float8_e4m3fn";
    case T::Float8_e5m2fnuz:
        return "c10::Float8_e5m2fnuz";
    case T::Float8_e4m3fnuz:
        return "c10::Float8_e4m3fnuz";
    case T::UInt16:
        return "short unsigned int";
    case T::UInt32:
        return "unsigned int";
    case T::UInt64:
        return "long unsigned int";
    default:
        return ""; // the profiler would name it; nothing is known of what it costs
    }
}

/// What a value holds, by the kind that it was asked for before: c10's own functions ask again, and call what
/// is not inline where it is another.
template <class Held> Held heldBy(const c10::IValue& value)
{
    static_assert(sizeof(c10::IValue) == 2 * sizeof(std::uint64_t));
    Held held{};
    std::memcpy(&held, static_cast<const void*>(&value), sizeof held);
    return held;
}

/// The parts of a text that grow together.
struct InputTexts {
    std::string dims, strides, types, values, listTypes;

    void next()
    {
        for (std::string* part : { &dims, &strides, &types, &values, &listTypes }) {
            if (!part->empty())
                *part += ", ";
        }
    }
};

/// Nested tensors have neither sizes nor strides, sparse ones no strides: "[]".
template <class Get> void addNumbers(const Get& get, std::string& to)
{
    const std::size_t before = to.size();
    try {
        to += '[';
        const c10::IntArrayRef numbers = get();
        for (std::size_t i = 0; i < numbers.size(); ++i)
            to += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
    } catch (const std::exception&) {
        to.resize(before);
        to += '[';
    }
    to += ']';
}

inline void addTensor(const c10::TensorImpl* tensor, std::string& dims, std::string& strides)
{
    if (!tensor) {
        dims += "[]";
        strides += "[]";
        return;
    }
    addNumbers([&] { return tensor->sizes(); }, dims);
    addNumbers([&] { return tensor->strides(); }, strides);
}

inline const c10::TensorImpl* tensorOf(const c10::IValue& value)
{
    const c10::TensorImpl* tensor = value.isTensor() ? heldBy<const c10::TensorImpl*>(value) : nullptr;
    return tensor && tensor->dtype_initialized() ? tensor : nullptr;
}

/// As c10 prints it; false for what is no number.
inline bool addScalar(const c10::IValue& value, std::string& to)
{
    if (value.isBool()) {
        to += heldBy<bool>(value) ? "True" : "False";
    } else if (value.isInt()) {
        to += std::to_string(heldBy<std::int64_t>(value));
    } else if (value.isDouble()) {
        const double number = heldBy<double>(value);
        char text[40];
        std::snprintf(text, sizeof text, "%.17g", number);
        to += text;
        if (std::isfinite(number) && std::string_view(text).find_first_of(".e") == std::string_view::npos)
            to += '.';
    } else {
        return false;
    }
    return true;
}

inline void addList(c10::ArrayRef<c10::IValue> list, InputTexts& texts)
{
    std::string dims, strides, types, values;
    bool isTensors = !list.empty(), isScalars = !list.empty();
    for (const c10::IValue& each : list) {
        const c10::TensorImpl* const tensor = tensorOf(each);
        const char* const comma = dims.empty() && values.empty() ? "" : ", ";
        isTensors = isTensors && (each.isTensor() || each.isNone());
        if (isTensors) {
            dims += comma;
            strides += comma;
            types += comma;
            addTensor(tensor, dims, strides);
            types += std::string("\"") + (tensor ? typeName(*tensor) : "") + '"';
        }
        if (isScalars && !isTensors)
            values += comma;
        isScalars = isScalars && addScalar(each, values);
    }
    texts.dims += '[' + (isTensors ? dims : "") + ']';
    texts.strides += '[' + (isTensors ? strides : "") + ']';
    texts.types += isTensors ? "\"TensorList\"" : isScalars ? "\"ScalarList\"" : "\"\"";
    texts.values += isScalars ? "\"[" + values + "]\"" : "\"\"";
    texts.listTypes += '[' + (isTensors ? types : "") + ']';
}

inline void addInput(const c10::IValue& value, InputTexts& texts)
{
    texts.next();
    if (value.isList())
        return addList(
            static_cast<const c10::detail::ListImpl*>(heldBy<const c10::intrusive_ptr_target*>(value))->list,
            texts);
    texts.listTypes += "[]";
    if (const c10::TensorImpl* const tensor = tensorOf(value)) {
        addTensor(tensor, texts.dims, texts.strides);
        texts.types += std::string("\"") + typeName(*tensor) + '"';
        texts.values += "\"\"";
        return;
    }
    addTensor(nullptr, texts.dims, texts.strides);
    std::string number;
    const bool isScalar = addScalar(value, number);
    texts.types += isScalar ? "\"Scalar\"" : "\"\"";
    texts.values += '"' + number + '"';
}

inline std::string inputTexts(c10::ArrayRef<const c10::IValue> inputs)
{
    InputTexts texts;
    for (const c10::IValue& each : inputs)
        addInput(each, texts);
    return "\"Input Dims\": [" + texts.dims + "], \"Input Strides\": [" + texts.strides
        + "], \"Input type\": [" + texts.types + "], \"Concrete Inputs\": [" + texts.values
        + "], \"Input List Types\": [" + texts.listTypes + ']';
}

} // namespace strata::hook
