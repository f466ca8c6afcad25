// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/filter/filter_conditions.h"
#include "model/trace/frames.h"
#include "tests/support/make_recording.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

namespace strata::model {

TEST(Frames, TellsWhereCodeComesFrom)
{
    using enum FrameOrigin;
    const std::vector<std::pair<const char*, FrameOrigin>> cases{
        { "", Native },
        { "??", Native },
        { "memory_snapshot.cpp", Native },
        { "core_worker.cc", Native },
        { "./csu/../sysdeps/nptl/libc_start_call_main.h", Native },
        { "./misc/../sysdeps/unix/sysv/linux/x86_64/clone3.S", Native },
        { "/usr/local/src/conda/python-3.12.3/Objects/call.c", Native },
        { "tmpxft_00010a57_00000000-6_attention.compute_90.cudafe1.cpp", Native },
        { "thread48.o", Native },
        { "/lib/x86_64-linux-gnu/libc.so.6", Native },
        { "/usr/include/c++/12/functional", Native },
        { "/usr/bin/python3.11", Native },
        { "D:\\a\\pytorch\\c10\\cuda\\CUDACachingAllocator.CPP", Native },

        { "/home/u/.venv/lib/python3.12/site-packages/torch/nn/modules/module.py", Torch },
        { "/usr/local/lib/python3.10/dist-packages/torch/utils/_device.py", Torch },
        { "D:\\Dev\\x\\.venv\\Lib\\site-packages\\torch\\nn\\modules\\module.py", Torch },
        { "torch/nn/modules/linear.py", Torch }, // as a profiler has them, likewise the next
        { "einops/einops.py", PassThrough },
        { "models/gpt.py", User },
        { "/tmp/torchinductor_brian/3u/c3uxhj5q2ablsqp5lrlrkd2ig2tub4do54ysdazmtvawnjje2knd.py", User },
        { "<eval_with_key>.23", User },

        { "/usr/lib/python3.11/site-packages/einops/einops.py", PassThrough },
        { "D:\\v\\Lib\\site-packages\\typing_extensions.py", PassThrough },
        { "<@beartype(model.forward) at 0x7f>", PassThrough },
        { "/home/u/einops/train.py", User },

        { "/usr/lib/python3.11/threading.py", PythonLibrary },
        { "/home/d/.conda/envs/flexgen/lib/python3.9/runpy.py", PythonLibrary },
        { "/opt/py/lib/python3.13t/contextlib.py", PythonLibrary },
        { "C:\\Python311\\Lib\\threading.py", PythonLibrary },
        { "C:\\Users\\u\\AppData\\Local\\Programs\\Python\\Python312\\Lib\\concurrent\\futures\\thread.py",
            PythonLibrary },
        { "C:\\Users\\u\\miniconda3\\envs\\dl\\lib\\runpy.py", PythonLibrary },
        { "C:\\ProgramData\\Anaconda3\\lib\\runpy.py", PythonLibrary },
        { "<frozen runpy>", PythonLibrary },
        { "<frozen importlib._bootstrap>", PythonLibrary },

        { "train.py", User },
        { "/home/u/train", User },
        { "/usr/local/bin/torchrun", User },
        { "/home/u/.venv/lib/python3.12/site-packages/torchvision/models/resnet.py", User },
        { "/home/u/.venv/lib/python3.12/site-packages/einops/einops.py", PassThrough },
        { "/home/brian/Documents/torch/lib/python3.10/site-packages/einx/traceback_util.py", PassThrough },
        { "/usr/lib/python3/dist-packages/numpy/core.py", User },
        { "D:\\Dev\\assignment2-systems\\cs336-basics\\cs336_basics\\model.py", User },
        { "D:\\Dev\\project\\lib\\model.py", User },
        { "/tmp/ipykernel_12/123.py", User },
        { "<string>", User },
        { "<stdin>", User },
        { "<ipython-input-3-abc>", User },
    };
    for (const auto& [file, origin] : cases)
        EXPECT_EQ(originOf(file), origin) << file;
}

TEST(Frames, FindsTheUsersInnermostFrame)
{
    const auto recording = test::makeRecording("");
    const auto label = [&](const char* stack) {
        const StackId id = test::makeStack(*recording, stack);
        const FrameId frame = userFrame(*recording, id);
        EXPECT_EQ(UserFrames(*recording).of(id), frame);
        return frameLabel(*recording, frame);
    };
    EXPECT_EQ(
        label("empty@??:0|forward@/x/site-packages/torch/nn/linear.py:5|step@/u/train.py:57|main@/u/a.py:1"),
        "/u/train.py:57");
    // No frame of the user: Python before C++.
    EXPECT_EQ(label("malloc@a.cpp:1|forward@/x/site-packages/torch/nn/linear.py:5|run@<frozen runpy>:198"),
        "/x/site-packages/torch/nn/linear.py:5");
    // C++ alone.
    EXPECT_EQ(label("malloc@a.cpp:1|main@b.cpp:2"), "b.cpp:2");
    EXPECT_EQ(label("c10::Allocator::allocate(unsigned long)@??:0"), "c10::Allocator::allocate");
    EXPECT_EQ(label(""), "");
    EXPECT_FALSE(userFrame(*recording, StackId{}).valid());
}

/// Stacks of C++ as Strata records them: each frame says where its code lies.
TEST(Frames, FindsTheProgramsOwnCode)
{
    const auto recording = test::makeRecording("");
    const StringId place = recording->strings.intern(R"({"build_id": "ab", "offset": "0x10"})");
    const auto label = [&](std::initializer_list<std::array<const char*, 3>> rows) {
        std::vector<FrameId> frames;
        for (const auto& [function, file, line] : rows)
            frames.push_back(recording->stacks.internFrame({ recording->strings.intern(file),
                recording->strings.intern(function), std::atoll(line), place }));
        const StackId id = recording->stacks.internStack(frames);
        const FrameId frame = userFrame(*recording, id);
        EXPECT_EQ(UserFrames(*recording).of(id), frame);
        return frameLabel(*recording, frame);
    };
    const std::array<const char*, 3> allocator{ "c10::cuda::malloc(unsigned long)",
        "/v/torch/lib/libc10_cuda.so", "0" };
    const std::array<const char*, 3> start{ "__libc_start_main", "/lib/x86_64-linux-gnu/libc.so.6", "0" };
    EXPECT_EQ(
        label({ allocator, { "Net::forward(at::Tensor)", "/u/train.cpp", "57" }, start }), "/u/train.cpp:57");
    EXPECT_EQ(
        label({ allocator, { "std::vector<int>::push_back(int const&)", "/usr/include/c++/12/vector", "9" },
            { "main", "/u/train.cpp", "3" } }),
        "/u/train.cpp:3");
    EXPECT_EQ(label({ allocator, { "Net::forward(at::Tensor)", "/u/train.cpp", "57" },
                  { "_start", "/u/train", "0" } }),
        "/u/train.cpp:57");
    // Without debug information the function tells, and without its name the library.
    EXPECT_EQ(
        label({ allocator,
            { "Net::forward(at::Tensor, std::function<void (int)>) const", "/u/libnet.so", "0" }, start }),
        "Net::forward");
    EXPECT_EQ(label({ allocator, { "??", "/u/libnet.so", "0" }, start }), "libnet.so");
    EXPECT_EQ(label({ allocator,
                  { "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)",
                      "/v/torch/lib/libtorch_cpu.so", "0" },
                  start }),
        "MmBackward0::apply");
    EXPECT_EQ(label({ allocator, start }), "c10::cuda::malloc");
}

TEST(Frames, TellAProgramInCppFromOneInPython)
{
    using Row = std::array<const char*, 2>; // function, file
    const Row own{ "Net::forward(at::Tensor)", "/u/train.cpp" },
        library{ "??", "/v/torch/lib/libtorch_cpu.so" };
    const auto isCpp = [](std::initializer_list<Row> codes, std::initializer_list<Row> others = {}) {
        const auto recording = test::makeRecording("");
        const StringId place = recording->strings.intern(R"({"build_id": "ab", "offset": "0x10"})");
        const auto add = [&](const Row& row, StringId extras) {
            static_cast<void>(recording->stacks.internFrame(
                { recording->strings.intern(row[1]), recording->strings.intern(row[0]), 7, extras }));
        };
        for (const Row& row : codes)
            add(row, place);
        for (const Row& row : others)
            add(row, {});
        return isCppProgram(*recording);
    };
    EXPECT_TRUE(isCpp({ own, library }));
    EXPECT_TRUE(isCpp({ { "main", "/u/train" } }));
    EXPECT_FALSE(isCpp({}));
    EXPECT_FALSE(isCpp({ library })); // whoever called it
    EXPECT_FALSE(isCpp({ own }, { { "step", "/u/train.py" } }));
    EXPECT_FALSE(
        isCpp({ own }, { { "_call_impl", "/v/lib/python3.11/site-packages/torch/nn/modules/module.py" } }));
    EXPECT_FALSE(isCpp({ own, { "_PyEval_EvalFrameDefault", "/usr/bin/python3.11" } }));
    EXPECT_FALSE(isCpp({ own, { "??", "/v/lib/libpython3.11.so.1.0" } }));
}

/// Threads that run no Python, autograd's above all: what of LibTorch is on the stack says what the block is
/// for.
TEST(Frames, NamesStacksOfLibTorchAlone)
{
    const auto recording = test::makeRecording("");
    const StringId place = recording->strings.intern(R"({"build_id": "ab", "offset": "0x10"})");
    const auto label = [&](std::initializer_list<std::pair<const char*, int>> rows) {
        std::vector<FrameId> frames;
        for (const auto& [function, line] : rows)
            frames.push_back(recording->stacks.internFrame(
                { recording->strings.intern(line > 0 ? "Functions.cpp" : "/v/torch/lib/libtorch_cpu.so"),
                    recording->strings.intern(function), line, place }));
        const StackId id = recording->stacks.internStack(frames);
        const FrameId frame = userFrame(*recording, id);
        EXPECT_EQ(UserFrames(*recording).of(id), frame);
        EXPECT_EQ(frameShortLabel(*recording, frame), frameLabel(*recording, frame));
        EXPECT_EQ(frameFunction(*recording, frame), "");
        return frameLabel(*recording, frame);
    };
    constexpr std::pair<const char*, int> kMalloc{ "c10::cuda::malloc(unsigned long)", 0 };
    constexpr std::pair<const char*, int> kCall{ "at::_ops::mm::call(at::Tensor const&, at::Tensor const&)",
        0 };
    constexpr std::pair<const char*, int> kKernel{
        "torch::autograd::VariableType::(anonymous namespace)::mm(at::Tensor const&)", 0
    };
    constexpr std::pair<const char*, int> kFormula{
        "torch::autograd::generated::details::mm_mat1_backward(at::Tensor const&)", 0
    };
    constexpr std::pair<const char*, int> kFunctional{
        "torch::autograd::generated::MmBackward0_apply_functional(std::vector<at::Tensor>&&)", 0
    };
    constexpr const char* kApply
        = "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)";
    constexpr std::pair<const char*, int> kStep{
        "torch::autograd::Node::operator()(std::vector<at::Tensor>&&)", 0
    };
    constexpr std::pair<const char*, int> kEngine{
        "torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)", 0
    };
    EXPECT_EQ(label({ kMalloc, kKernel, kCall, kFormula, kFunctional, { kApply, 0 }, kStep, kEngine }),
        "MmBackward0::apply");
    // With debug information of LibTorch too.
    EXPECT_EQ(label({ kMalloc, kKernel, kCall, { kApply, 57 }, kStep, kEngine }), "MmBackward0::apply");
    EXPECT_EQ(label({ kMalloc, { "torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)", 0 },
                  kStep, kEngine }),
        "AccumulateGrad::apply");
    EXPECT_EQ(
        label({ kMalloc, { "torch::autograd::generated::MmBackward0::release_variables()", 0 }, kEngine }),
        "MmBackward0::release_variables");
    // Between the steps.
    EXPECT_EQ(
        label({ kMalloc, kCall, { "torch::autograd::accumulate(std::vector<at::Tensor>&, unsigned long)", 0 },
            { "torch::autograd::InputBuffer::add(unsigned long, at::Tensor&&)", 0 }, kEngine }),
        "InputBuffer::add");
    EXPECT_EQ(label({ kMalloc, kEngine }), "Engine::evaluate_function");
    // Without autograd, what was called.
    EXPECT_EQ(
        label({ kMalloc, { "at::_ops::empty_like::call(at::Tensor const&)", 0 }, kKernel, kCall }), "at::mm");
}

/// What PyTorch itself records of C++: names without files, offsets in libraries, its own sources without
/// their folders, what it calls to look at the stack, and the nearest symbol where there is none.
class FramesOfPyTorch : public testing::Test {
protected:
    using Rows = std::vector<std::array<const char*, 3>>;

    StackId stackOf(const Rows& rows)
    {
        std::vector<FrameId> frames;
        for (const auto& [function, file, line] : rows)
            frames.push_back(recording->stacks.internFrame({ recording->strings.intern(file),
                recording->strings.intern(function), std::atoll(line), {} }));
        return recording->stacks.internStack(frames);
    }
    /// With what is innermost in each stack, and outermost where a thread of C++ began.
    std::string label(Rows rows, bool ofThread = true)
    {
        const Rows inner{ { "torch::unwind::unwind()", "??", "0" },
            { "torch::CapturedTraceback::gather(bool, bool, bool)", "??", "0" },
            { "torch::cuda::(anonymous namespace)::gather_with_cpp()", "memory_snapshot.cpp", "0" },
            { "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(unsigned long, "
              "CUstream_st*)",
                "CUDACachingAllocator.cpp", "0" },
            { "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::allocate(unsigned long)", "",
                "0" },
            { "at::detail::empty_generic(c10::ArrayRef<long>, c10::Allocator*)", "??", "0" },
            { "at::TensorBase at::detail::_empty_generic<long>(c10::ArrayRef<long>)", "", "0" },
            { "at::(anonymous namespace)::create_out(c10::ArrayRef<long>)", "RegisterCUDA_0.cpp", "0" },
            { "at::TensorIteratorBase::build(at::TensorIteratorConfig&)", "??", "0" } };
        const Rows outer{ { "std::error_code::default_error_condition() const", "??", "0" },
            { "start_thread", "./nptl/pthread_create.c", "442" },
            { "__clone3", "./misc/../sysdeps/unix/sysv/linux/x86_64/clone3.S", "81" } };
        rows.insert(rows.begin(), inner.begin(), inner.end());
        if (ofThread)
            rows.insert(rows.end(), outer.begin(), outer.end());
        const StackId id = stackOf(rows);
        const FrameId frame = userFrame(*recording, id);
        EXPECT_EQ(UserFrames(*recording).of(id), frame);
        return frameLabel(*recording, frame);
    }

    std::unique_ptr<Recording> recording = test::makeRecording("");
    const std::array<const char*, 3> kMul{ "at::_ops::mul_Tensor::call(at::Tensor const&, at::Tensor const&)",
        "??", "0" };
    const std::array<const char*, 3> kRedispatch{
        "at::_ops::mul_Tensor::redispatch(c10::DispatchKeySet, at::Tensor const&)", "??", "0"
    };
    const std::array<const char*, 3> kApply{
        "torch::autograd::generated::MulBackward0::apply(std::vector<at::Tensor>&&)", "Functions.cpp", "0"
    };
    const std::array<const char*, 3> kEngine{ "torch::autograd::Engine::evaluate_function()", "??", "0" };
};

TEST_F(FramesOfPyTorch, StepsOfBackwardAndOperators)
{
    EXPECT_EQ(label({ kRedispatch, kMul, kApply, kEngine }), "MulBackward0::apply");
    EXPECT_EQ(label({ kRedispatch, kMul }), "at::mul_Tensor");
    EXPECT_EQ(label({ { "aten::mul", "", "0" }, { "aten::einsum", "", "0" } }), "aten::einsum");
    // Before Python of torch's own, not before anybody else's.
    const std::array<const char*, 3> hook{ "_reduce_grad", "/x/site-packages/torch/distributed/fsdp/a.py",
        "9" };
    EXPECT_EQ(label({ kMul, hook }), "at::mul_Tensor");
    EXPECT_EQ(label({ kMul, hook, { "train", "/u/train.py", "3" } }), "/u/train.py:3");
    EXPECT_EQ(label({ hook }), "/x/site-packages/torch/distributed/fsdp/a.py:9");
}

TEST_F(FramesOfPyTorch, NothingIsNamedAfterTheUnwinder)
{
    EXPECT_EQ(label({}), "torch::unwind::unwind") << "where there is nothing else";
    EXPECT_EQ(label({ { "void at::native::gpu_reduce_kernel<float, float, 4>(at::TensorIterator&)",
                  "tmpxft_00010a57_00000000-6_Reduce.compute_90.cudafe1.cpp", "0" } }),
        "at::native::gpu_reduce_kernel<float, float, 4>");
    EXPECT_EQ(label({ { "_PyEval_EvalFrameDefault", "??", "0" },
                  { "method_vectorcall.llvm.14057086860930748638", "??", "0" },
                  { "_PyObject_Call_Prepend", "/usr/local/src/conda/python-3.12.3/Objects/call.c", "45" },
                  { "at::cuda::getNewWorkspace()", "??", "0" } }),
        "at::cuda::getNewWorkspace");
}

TEST_F(FramesOfPyTorch, ALibraryWithoutItsOffset)
{
    EXPECT_EQ(label({ { "", "libtorch_cpu.so", "108146796" } }), "libtorch_cpu.so");
    EXPECT_EQ(label({ { "??", "/v/lib/libtorch_cpu.so", "108146796" }, kApply }), "MulBackward0::apply");
    EXPECT_EQ(label({ { "", "libc10_cuda.so", "77" }, { "", "libtorch_cuda.so", "5" } }), "libtorch_cuda.so");
}

TEST_F(FramesOfPyTorch, OwnCodeOfTheProgram)
{
    EXPECT_EQ(label({ kMul, { "attend(at::Tensor)", "/u/ext/attention.cpp", "57" }, kEngine }),
        "/u/ext/attention.cpp:57");
    EXPECT_EQ(label({ kMul, { "attend(at::Tensor)", "/u/ext/attention.cpp", "57" },
                  { "forward", "/u/model.py", "8" } }),
        "/u/model.py:8");
    EXPECT_EQ(label({ kMul, { "torch::autograd::VariableType::mul()", "VariableType_0.cpp", "0" } }),
        "at::mul_Tensor");
    // Its program lies where a package that only passes calls on has called it.
    EXPECT_EQ(label({ kMul, { "reduce", "/v/lib/python3.12/site-packages/einops/einops.py", "5" },
                  { "attend(at::Tensor)", "/u/ext/attention.cpp", "57" } }),
        "/u/ext/attention.cpp:57");
}

TEST_F(FramesOfPyTorch, PackagesThatPassCallsOn)
{
    const std::array<const char*, 3> einops{ "reduce", "/v/lib/python3.12/site-packages/einops/einops.py",
        "523" };
    const std::array<const char*, 3> typed{ "wrapped", "D:\\v\\Lib\\site-packages\\jaxtyping\\_decorator.py",
        "448" };
    EXPECT_EQ(label({ einops, typed, { "attend", "/u/model.py", "8" } }), "/u/model.py:8");
    EXPECT_EQ(label({ einops, { "call", "/v/lib/python3.12/site-packages/torch/nn/module.py", "7" } }),
        "/v/lib/python3.12/site-packages/einops/einops.py:523");
    EXPECT_EQ(label({ { "load", "/v/lib/python3.12/site-packages/vllm/cache_engine.py", "83" },
                  { "main", "/u/serve.py", "8" } }),
        "/v/lib/python3.12/site-packages/vllm/cache_engine.py:83");
}

/// Filters that were saved say what lines were called then.
TEST_F(FramesOfPyTorch, FormerLabelsStillMeanTheirStacks)
{
    const StackId backward = stackOf({ { "torch::unwind::unwind()", "??", "0" }, kMul, kApply });
    const StackId bare = stackOf({ { "", "libtorch_cpu.so", "108146796" }, kApply });
    const StackId program = stackOf({ kMul, { "train", "/u/train.py", "3" } });
    const StackId typed = stackOf({ { "reduce", "/v/lib/python3.12/site-packages/einops/einops.py", "5" },
        { "attend", "/u/model.py", "8" } });
    const auto stacks = [&](std::string_view line) {
        const std::vector<bool> found = stacksOfLine(*recording, line);
        std::vector<StackId> ids;
        for (std::uint32_t i = 0; i + 1 < found.size(); ++i)
            if (found[i])
                ids.push_back(StackId{ i });
        return ids;
    };
    using Ids = std::vector<StackId>;
    EXPECT_EQ(stacks("MulBackward0::apply"), (Ids{ backward, bare }));
    EXPECT_EQ(stacks("torch::unwind::unwind()"), Ids{ backward });
    EXPECT_EQ(stacks("libtorch_cpu.so:108146796"), Ids{ bare });
    EXPECT_EQ(stacks("/v/lib/python3.12/site-packages/einops/einops.py:5"), Ids{ typed });
    EXPECT_EQ(stacks("/u/model.py:8"), Ids{ typed });
    EXPECT_EQ(stacks("/u/train.py:3"), Ids{ program });
    EXPECT_EQ(stacks("nowhere.py:1"), Ids{});
    EXPECT_TRUE(stacksOfLine(*recording, kNoStackLabel).back());

    FilterConditions saved;
    saved.stacks = { { "torch::unwind::unwind()",
        "at::_ops::mul_Tensor::call(at::Tensor const&, at::Tensor const&)", "Functions.cpp:0" } };
    EXPECT_EQ(filterOf(*recording, saved).sites, Ids{ backward });
}

TEST(Frames, FoldsWhatIsNotTheProgramsOwn)
{
    const auto recording = test::makeRecording("");
    const StackId stack = test::makeStack(*recording,
        "malloc@??:0|at::_ops::mm::call@??:0|Net::forward@/u/train.cpp:7|call@/x/site-packages/torch/"
        "_ops.py:3|"
        "main@/u/train.cpp:9");
    const auto frames = recording->stacks.stack(stack);
    const auto folded = foldedFrames(*recording, stack);
    ASSERT_EQ(folded.size(), 4u);
    EXPECT_FALSE(folded[0].frame.valid());
    EXPECT_EQ(folded[0].count, 2u);
    EXPECT_EQ(frameLabel(*recording, folded[0].known), "at::mm") << "as a stack of these alone";
    EXPECT_EQ(folded[1].frame, frames[2]);
    EXPECT_EQ(folded[2].count, 1u);
    EXPECT_EQ(folded[3].frame, frames[4]);
    for (const FrameId frame : frames)
        EXPECT_EQ(isProgramFrame(*recording, frame), frame == frames[2] || frame == frames[4]);
    EXPECT_EQ(foldedFrames(*recording, test::makeStack(*recording, "malloc@??:0")).size(), 1u);
}

TEST(Frames, SayFunctionsAsPeopleDo)
{
    const auto recording = test::makeRecording("");
    const auto function = [&](const char* name, const char* file) {
        return frameFunction(*recording,
            recording->stacks.internFrame(
                { recording->strings.intern(file), recording->strings.intern(name), 7, {} }));
    };
    EXPECT_EQ(
        function("void Net::run<int>(int, std::vector<int> const&) const", "/u/train.cpp"), "Net::run<int>");
    EXPECT_EQ(function("train<(anonymous namespace)::Net>", "/u/train.cpp"), "train<Net>");
    EXPECT_EQ(function("(anonymous namespace)::train()", "/u/train.cpp"), "train");
    EXPECT_EQ(function("Net::operator()", "/u/train.cpp"), "Net::operator()");
    EXPECT_EQ(function("main::<lambda(int)>", "/u/train.cpp"), "main::<lambda(int)>");
    EXPECT_EQ(function("void call<std::vector<int, std::allocator<int>>>::now(int)", "/u/train.cpp"),
        "call<...>::now");
    EXPECT_EQ(function("<listcomp>", "/u/train.py"), "<listcomp>") << "Python's are what they are";
    EXPECT_EQ(function("f (of mine)", "/u/train.py"), "f (of mine)");
}

TEST(Frames, ShortensPathsOfBothKinds)
{
    const auto recording = test::makeRecording("");
    const auto label = [&](const char* stack) {
        return frameShortLabel(*recording, recording->stacks.stack(test::makeStack(*recording, stack))[0]);
    };
    EXPECT_EQ(label("f@/home/u/train.py:57"), "train.py:57");
    EXPECT_EQ(label("f@C:\\u\\train.py:57"), "train.py:57");
    EXPECT_EQ(label("at::empty@??:0"), "at::empty");
}

} // namespace strata::model
