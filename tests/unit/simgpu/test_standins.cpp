// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/standins/elf_file.h"
#include "capture/simgpu/standins/elf_writer.h"
#include "capture/simgpu/standins/rules.h"
#include "capture/simgpu/standins/standins.h"
#include "tests/support/temporary_directory.h"

#include <dlfcn.h>
#include <fstream>
#include <gmock/gmock.h>

// What stand-ins import from the core, here from the test itself (it is linked with its symbols exported).
extern "C" __attribute__((visibility("default"))) long strata_simgpu_unserved(const char* name)
{
    static std::string last;
    last = name;
    return last == "beta_unserved" ? -77 : -1;
}

extern "C" __attribute__((visibility("default"))) int strata_simgpu_object(void** out)
{
    static int object;
    *out = &object;
    return 0;
}

extern "C" __attribute__((visibility("default"))) int strata_simgpu_work(const char* name, void* handle)
{
    *static_cast<std::string*>(handle) = name;
    return 0;
}

namespace strata::simgpu {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using Kind = Behaviour::Kind;

class Scratch : public testing::Test {
protected:
    test::TemporaryDirectory temporary;
    const fs::path folder = temporary.path();
};

StandIn sample()
{
    StandIn standIn{ .soname = "libsample.so.9", .version = "SAMPLE_9", .needed = {}, .functions = {} };
    standIn.functions
        = { { "alpha_done", { Kind::Return, 0, {} } }, { "alpha_refuses", { Kind::Return, 35, {} } },
              { "beta_unserved", {} }, { "gamma_object", { Kind::Object, 0, {} } },
              { "delta_sizes", { Kind::Zero, 0, { { 1, 4 }, { 7, 8 } } } },
              { "epsilon_works", { Kind::Work, 0, {} } } };
    for (int i = 0; i < 200; ++i)
        standIn.functions.push_back({ "filler" + std::to_string(i), { Kind::Return, i, {} } });
    return standIn;
}

class Written : public Scratch {
protected:
    Written()
        : path((folder / "libsample.so.9").string())
    {
        EXPECT_TRUE(writeStandIn(path, sample()));
    }

    std::string path;
};

TEST_F(Written, ReadsBackAsAnElfFile)
{
    const auto file = readElf(path);
    ASSERT_TRUE(file) << file.error();
    EXPECT_EQ(file->soname, "libsample.so.9");
    EXPECT_EQ(file->defined.size(), 206u);
    EXPECT_THAT(file->defined, Contains("filler199"));
    ASSERT_EQ(file->undefined.size(), 3u);
    EXPECT_EQ(file->undefined[0].name, "strata_simgpu_unserved");
}

TEST_F(Written, LoadsAndDoesWhatItWasTold)
{
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto find = [&](const char* name) { return dlsym(library, name); };
    EXPECT_EQ(reinterpret_cast<int (*)()>(find("alpha_done"))(), 0);
    EXPECT_EQ(reinterpret_cast<int (*)()>(find("alpha_refuses"))(), 35);
    EXPECT_EQ(reinterpret_cast<int (*)()>(find("filler123"))(), 123);
    EXPECT_EQ(reinterpret_cast<long (*)()>(find("beta_unserved"))(), -77);
    void* object = nullptr;
    EXPECT_EQ(reinterpret_cast<int (*)(void**)>(find("gamma_object"))(&object), 0);
    EXPECT_NE(object, nullptr);
    std::string told;
    EXPECT_EQ(reinterpret_cast<int (*)(void*, int)>(find("epsilon_works"))(&told, 9), 0);
    EXPECT_EQ(told, "epsilon_works");
    int small[2] = { 5, 6 };
    long large = -1;
    const auto sizes
        = reinterpret_cast<int (*)(long, int*, long, long, long, long, long, long*)>(find("delta_sizes"));
    EXPECT_EQ(sizes(1, small, 3, 4, 5, 6, 7, &large), 0);
    EXPECT_EQ(small[0], 0);
    EXPECT_EQ(small[1], 6);
    EXPECT_EQ(large, 0);
    EXPECT_EQ(sizes(1, nullptr, 3, 4, 5, 6, 7, nullptr), 0);
    EXPECT_NE(dlvsym(library, "alpha_done", "SAMPLE_9"), nullptr);
    EXPECT_EQ(dlvsym(library, "alpha_done", "OTHER"), nullptr);
    EXPECT_EQ(find("no_such_function"), nullptr);
    dlclose(library);
}

TEST_F(Scratch, AnyBytesAreAnErrorOrAFile)
{
    const std::vector<char> good = assembleStandIn(sample());
    const std::string path = (folder / "broken").string();
    for (std::size_t step = 0; step < 400; ++step) {
        std::vector<char> bad = good;
        if (step % 2 == 0)
            bad.resize(step * bad.size() / 400);
        else
            bad[step * 7919 % 4096] = static_cast<char>(step);
        std::ofstream(path, std::ios::binary).write(bad.data(), static_cast<std::streamsize>(bad.size()));
        const auto file = readElf(path);
        EXPECT_THAT(file ? path : file.error(), HasSubstr(path));
    }
    EXPECT_FALSE(readElf(folder.string()));
    EXPECT_FALSE(readElf((folder / "missing").string()));
}

TEST(ElfFile, ReadsThisProgram)
{
    const auto file = readElf("/proc/self/exe");
    ASSERT_TRUE(file) << file.error();
    EXPECT_THAT(file->needed, Contains("libc.so.6"));
    EXPECT_THAT(file->interpreter, HasSubstr("ld-linux"));
    EXPECT_FALSE(file->buildId.empty());
    EXPECT_THAT(file->undefined, Contains(testing::Field(&ElfFile::Symbol::library, "libc.so.6")));
}

TEST(Rules, ComputationsDoNothingAndQueriesWrite)
{
    EXPECT_EQ(behaviourOf("cublasStrsm_v2").kind, Kind::Work);
    EXPECT_EQ(behaviourOf("cublasSetVectorAsync").kind, Kind::Return);
    EXPECT_EQ(behaviourOf("cublasSgemm").kind, Kind::Return) << "has no handle";
    EXPECT_EQ(behaviourOf("cudnnGetConvolutionForwardAlgorithm_v7").kind, Kind::Unserved);
    EXPECT_EQ(behaviourOf("cublasSetWorkspace_v2").kind, Kind::Return);
    EXPECT_EQ(behaviourOf("cublasLtMatmulPreferenceSetAttribute").kind, Kind::Return);
    EXPECT_EQ(behaviourOf("cudnnRNNForward").kind, Kind::Work);
    EXPECT_EQ(behaviourOf("cusolverDnSpotrf").kind, Kind::Work);
    EXPECT_EQ(behaviourOf("cusparseSpMM").kind, Kind::Work);
    EXPECT_EQ(behaviourOf("cufftXtExec").kind, Kind::Work);
    EXPECT_EQ(behaviourOf("cublasGetSomethingNew").kind, Kind::Unserved);
    EXPECT_EQ(behaviourOf("cublasLtMatmulDescCreate").kind, Kind::Object);
    EXPECT_EQ(behaviourOf("cusparseCreateCsr").kind, Kind::Object);
    EXPECT_EQ(behaviourOf("cusparseCreateIdentityPermutation").kind, Kind::Return);
    EXPECT_EQ(behaviourOf("cuptiNewInTheNextVersion").value, 27);
    EXPECT_EQ(behaviourOf("cuptiEventGroupReadEvent").value, 38);
    EXPECT_EQ(behaviourOf("cudaNewInTheNextVersion").kind, Kind::Unserved);
    EXPECT_EQ(behaviourOf("ncclDevCommCreate").kind, Kind::Unserved);
    const Behaviour query = behaviourOf("cusolverDnSgeqrf_bufferSize");
    EXPECT_EQ(query.kind, Kind::Zero);
    ASSERT_EQ(query.outputs.size(), 1u);
    EXPECT_EQ(query.outputs[0].argument, 5);
    EXPECT_EQ(query.outputs[0].bytes, 4);
    EXPECT_EQ(behaviourOf("cusolverDnXgeqrf_bufferSize").outputs.size(), 2u);
}

TEST(Rules, NamesBelongToOneLibrary)
{
    EXPECT_TRUE(belongsTo("cuMemCreate", "libcuda.so.1"));
    EXPECT_FALSE(belongsTo("cudaMalloc", "libcuda.so.1"));
    EXPECT_FALSE(belongsTo("cuFileRead", "libcuda.so.1"));
    EXPECT_TRUE(belongsTo("cuFileRead", "libcufile.so.0"));
    EXPECT_TRUE(belongsTo("cublasLtMatmul", "libcublasLt.so.13"));
    EXPECT_FALSE(belongsTo("cublasLtMatmul", "libcublas.so.13"));
    EXPECT_TRUE(belongsTo("cusparseLtInit", "libcusparseLt-f80c68d1.so.0"));
    EXPECT_TRUE(isStoodIn("libnccl.so.2"));
    EXPECT_FALSE(isStoodIn("libcudacxx.so"));
    EXPECT_FALSE(isStoodIn("libgomp.so.1"));
}

TEST(PlanStandIns, CoversWhatIsAskedAndNotServed)
{
    ElfFile torch;
    torch.needed = { "libcudart.so.13", "libcublas.so.13", "libnccl.so.2", "libc.so.6" };
    torch.undefined = { { "cudaMalloc", "libcudart.so.13", "libcudart.so.13" },
        { "cudaBrandNew", "libcudart.so.13", "libcudart.so.13" },
        { "cublasSgemm_v2", "libcublas.so.13", "libcublas.so.13" }, { "ncclAllReduce", "", "" },
        { "ncclBrandNew", "", "" }, { "malloc", "GLIBC_2.2.5", "libc.so.6" } };
    ElfFile core;
    core.soname = "libstrata_simgpu13.so";
    core.defined = { "cudaMalloc", "ncclAllReduce" };
    EXPECT_EQ(cudaMajorOf({ torch }), 13);
    std::map<std::string, std::vector<std::string>> plan;
    for (const StandIn& standIn : planStandIns({ torch }, core)) {
        EXPECT_THAT(standIn.needed, ElementsAre("libstrata_simgpu13.so"));
        for (const StandInFunction& function : standIn.functions)
            plan[standIn.soname + " " + standIn.version].push_back(function.name);
    }
    EXPECT_THAT(plan,
        UnorderedElementsAre(
            testing::Pair("libcublas.so.13 libcublas.so.13", std::vector<std::string>{ "cublasSgemm_v2" }),
            testing::Pair("libcudart.so.13 libcudart.so.13", std::vector<std::string>{ "cudaBrandNew" }),
            testing::Pair("libnccl.so.2 ", std::vector<std::string>{ "ncclBrandNew" })));
}

} // namespace
} // namespace strata::simgpu
