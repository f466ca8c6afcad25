// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/values/value.h"

#include "model/base/sentence.h"

namespace strata::model {

Sentence typeName(Value::Tag tag)
{
    switch (tag) {
    case Value::Tag::Int:
    case Value::Tag::WideInt:
    case Value::Tag::WideUnsigned:
        return say("a whole number");
    case Value::Tag::HugeInt:
        return say("a number of more than 64 bits");
    case Value::Tag::None:
    case Value::Tag::Unset:
        return say("nothing (None)");
    case Value::Tag::Bool:
        return say("true or false");
    case Value::Tag::Float:
        return say("a number with a fraction");
    case Value::Tag::Text:
        return say("text");
    case Value::Tag::Bytes:
        return say("binary data");
    case Value::Tag::Pair:
        return say("a pair of numbers");
    case Value::Tag::Stack:
        return say("a stack");
    case Value::Tag::Frame:
        return say("a frame");
    case Value::Tag::Object:
        break;
    }
    return say("something");
}

} // namespace strata::model
