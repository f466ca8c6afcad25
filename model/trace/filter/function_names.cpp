// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/filter/function_names.h"

#include <algorithm>
#include <initializer_list>
#include <span>

namespace strata::model {

namespace {

constexpr std::string_view kAutograd = "torch::autograd::";
constexpr std::string_view kAutogradNodes = "torch::autograd::generated::";
constexpr std::string_view kOperators = "at::_ops::";
constexpr std::string_view kOperatorNames = "aten::"; // in the profiler's recordings

// Whose functions lie in the sources of a program too, where templates and inline functions are.
constexpr std::string_view kLibraries[]{ "torch::", "at::", "c10::", "caffe2::", "std::", "__gnu_cxx::",
    "pybind11::", "nlohmann::", "fmt::", "operator new", "operator delete", "THP", "dynamo_" };

// What runs whatever is allocated, and so says nothing of why. The longest list of this file: each was seen.
constexpr std::string_view kMachinery[]{ "torch::unwind::", "torch::CapturedTraceback::", "torch::symbolize",
    "torch::cuda::", "c10::cuda::", "c10::Allocator::", "c10::CachingAllocator",
    "c10::StorageImpl::", "c10::TensorImpl::", "c10::intrusive_ptr",
    "c10::impl::", "c10::Dispatcher::", "c10::KernelFunction::", "c10::BoxedKernel",
    "c10::OperatorHandle::", "c10::TypedOperatorHandle", "at::detail::", "at::empty", "at::native::empty",
    "at::native::resize", "at::native::new_empty", "at::native::_resize", "at::_resize", "at::TensorIterator",
    "at::meta::", "at::functionalization::", "at::autocast::WrapFunction",
    "at::(anonymous namespace)::", "torch::autograd::VariableType::", "torch::ADInplaceOrView::",
    "torch::TraceType::", "torch::autograd::THP", "torch::handle_torch_function",
    "std::", "__gnu_cxx::", "pybind11::", "operator new", "malloc", "calloc", "cudaMalloc", "cuMem",
    "start_thread", "clone", "__clone", "execute_native_thread_routine", "pthread_", "__libc_", "_start",
    "_init", "PyEval", "cfunction_", "method_vectorcall", "vectorcall_", "TypeError_to_NotImplemented_",
    "slot_", "type_call", "object_vacall", "subtype_dealloc", "binary_op", "run_mod", "pyrun_", "pymain_",
    "dynamo_", "THP", "structseq_" };

bool nameStartsWithAny(std::string_view text, std::span<const std::string_view> starts)
{
    return std::ranges::any_of(starts, [&](std::string_view start) { return text.starts_with(start); });
}

/// "f(int)::g(char) const" without the last list of parameters: "f(int)::g".
std::string_view withoutParameters(std::string_view function)
{
    std::size_t at = function.rfind(')');
    // "train<(anonymous namespace)::Net>", as debug information names what no other file sees, has none.
    if (at != function.npos && function.find_first_of(":>", at) != function.npos)
        return function;
    int depth = 0;
    for (; at != function.npos; at = at == 0 ? function.npos : at - 1) {
        depth += function[at] == ')' ? 1 : function[at] == '(' ? -1 : 0;
        if (depth == 0)
            break;
    }
    const bool isCallOperator = at != function.npos && function.substr(0, at).ends_with("operator");
    return at == function.npos || at == 0 || isCallOperator ? function : function.substr(0, at);
}

/// "at::native::f<int>" of "void at::native::f<int>": instances of templates have their type in front.
std::string_view withoutType(std::string_view name)
{
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        const bool isArrow = c == '>' && i > 0 && name[i - 1] == '-';
        if (name.substr(i).starts_with("operator"))
            break;
        depth += c == '<' || c == '(' || c == '['            ? 1
            : (c == '>' && !isArrow) || c == ')' || c == ']' ? -1
                                                             : 0;
        if (c == ' ' && depth == 0)
            begin = i + 1;
    }
    return name.substr(begin);
}

/// "method_vectorcall" of "method_vectorcall.llvm.14057", "binary_op.cold".
std::string_view withoutClone(std::string_view name)
{
    return name.substr(0, std::min(name.find(".llvm."), name.find(".cold")));
}

std::string_view nameOf(std::string_view function)
{
    return withoutType(withoutParameters(withoutClone(function)));
}

/// "torch::autograd::Engine::evaluate_function" from "Engine" on.
std::string_view withoutAutograd(std::string_view name)
{
    for (const std::string_view prefix : { kAutogradNodes, kAutograd })
        if (name.starts_with(prefix))
            return name.substr(prefix.size());
    return name;
}

/// "Engine::evaluate_function", not "accumulate" or "(anonymous namespace)::accumulate", whose like are many.
bool isMemberName(std::string_view name)
{
    return name.find("::") != name.npos && name.front() != '(';
}

/// "PyObject_Call", "_PyEval_EvalFrameDefault", not "PyramidNet::forward".
bool isPythonInterface(std::string_view name)
{
    return name.starts_with("_Py")
        || (name.starts_with("Py") && name.find('_') != name.npos && name.find("::") == name.npos);
}

} // namespace

Telling tellingOf(std::string_view function)
{
    if (function.empty() || function == "??")
        return Telling::Nothing;
    const std::string_view name = nameOf(function);
    if (name.starts_with(kOperators) || name.starts_with(kOperatorNames))
        return Telling::Operator;
    if (nameStartsWithAny(name, kMachinery) || isPythonInterface(name))
        return Telling::Machinery;
    if (!name.starts_with(kAutograd))
        return Telling::Code;
    if (name.ends_with("::apply"))
        return Telling::BackwardStep;
    if (name.ends_with("::release_variables"))
        return Telling::BackwardMember;
    return isMemberName(withoutAutograd(name)) && !name.starts_with("torch::autograd::generated::details::")
        ? Telling::BackwardEngine
        : Telling::Code;
}

bool isLibraryFunction(std::string_view function)
{
    const std::string_view name = nameOf(function);
    return nameStartsWithAny(name, kLibraries) || isPythonInterface(name);
}

std::string functionLabel(std::string_view function)
{
    if (function.empty() || function == "??")
        return {};
    std::string_view name = nameOf(function);
    if (name.starts_with(kOperators)) {
        name.remove_prefix(kOperators.size());
        return "at::" + std::string(name.substr(0, name.rfind("::")));
    }
    const std::string_view inAutograd = withoutAutograd(name);
    return std::string(isMemberName(inAutograd) ? inAutograd : name);
}

std::string withoutLongArguments(std::string_view name)
{
    constexpr std::size_t kMost = 24;
    std::string out;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        if (c == '<' && depth++ == 0)
            begin = out.size();
        out += c;
        const bool isArrow = c == '>' && i > 0 && name[i - 1] == '-';
        if (c == '>' && !isArrow && depth > 0 && --depth == 0 && out.size() - begin > kMost)
            out.replace(begin, std::string::npos, "<...>");
    }
    return out;
}

} // namespace strata::model
