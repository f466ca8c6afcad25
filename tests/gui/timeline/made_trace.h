// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFile>
#include <QString>

#include <string>

namespace strata::test {

/// A row of a trace; times in microseconds.
inline std::string row(const std::string& category, const std::string& name, int process, int thread,
    double begin, double length, const std::string& more = "")
{
    return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":)"
        + std::to_string(process) + R"(,"tid":)" + std::to_string(thread) + R"(,"ts":)"
        + std::to_string(begin) + R"(,"dur":)" + std::to_string(length) + R"(,"args":{)" + more + "}}";
}

/// Ten steps, or more, of 1 ms: half a millisecond of waiting for data, then four operators of 100 us, of which each
/// launches a kernel of 60 us and allocates 1 MiB; another thread that launches nothing.
inline std::string tenSteps(int steps = 10)
{
    std::string rows = row("python_function", "watch.py(1): run", 1, 3, 0, 10'000);
    rows += "," + row("python_function", "watch.py(2): sleep", 1, 3, 10, 9'000);
    int correlation = 0;
    for (int step = 0; step < steps; ++step) {
        const double begin = step * 1000.0;
        rows += "," + row("user_annotation", "ProfilerStep#" + std::to_string(step), 1, 2, begin, 1000);
        rows += "," + row("user_annotation", "enumerate(DataLoader)#__next__", 1, 2, begin, 500);
        for (int i = 0; i < 4; ++i) {
            const double at = begin + 500 + 100 * i;
            const std::string link = R"("correlation":)" + std::to_string(++correlation);
            rows += "," + row("cpu_op", i == 3 ? "aten::relu" : "aten::mm", 1, 2, at, 95);
            rows += "," + row("cuda_runtime", "cudaLaunchKernel", 1, 2, at + 50, 5, link);
            rows += ","
                + row("kernel", i == 3 ? "relu_kernel" : "gemm_kernel", 0, 7, at + 60, 60,
                    link + R"(,"device":0,"stream":7,"grid":[4,1,1],"block":[128,1,1])");
            rows += R"(,{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":2,"ts":)"
                + std::to_string(at + 10) + R"(,"args":{"Device Type":1,"Device Id":0,"Addr":)"
                + std::to_string(4096 * correlation) + R"(,"Bytes":1048576,"Total Allocated":)"
                + std::to_string(1048576LL * correlation) + R"(,"Total Reserved":67108864}})";
        }
    }
    return R"({"traceEvents":[)" + rows + "]}";
}

/// An operator of 90 us that launches a kernel on the only GPU, with sizes: what a roofline needs.
inline std::string launching(const std::string& name, const std::string& arguments, const std::string& kernel,
    int number, double kernelLength)
{
    const double at = 100.0 * number;
    const std::string link = R"("correlation":)" + std::to_string(number);
    return row("cpu_op", name, 1, 2, at, 90, arguments) + ","
        + row("cuda_runtime", "cudaLaunchKernel", 1, 2, at + 50, 5, link) + ","
        + row("kernel", kernel, 0, 7, at + 60, kernelLength, link + R"(,"device":0,"stream":7)");
}

/// On `device`: two products of 4096 by 4096 by 4096 in BF16, of 200 and 240 us, one of a vector's size, a
/// sum of two, and an operator of nobody's.
inline std::string productsAndSums(const std::string& device = "NVIDIA H100 80GB HBM3")
{
    const auto sizes = [](const std::string& first, const std::string& second) {
        return R"("Input Dims":[)" + first + "," + second
            + R"(],"Input type":["c10::BFloat16","c10::BFloat16"],"Concrete Inputs":["",""])";
    };
    const std::string square = "[4096,4096]";
    return R"({"deviceProperties":[{"id":0,"name":")" + device + R"("}],"traceEvents":[)"
        + launching("aten::mm", sizes(square, square), "gemm_kernel", 1, 200) + ","
        + launching("aten::add", sizes(square, square), "add_kernel", 4, 60) + ","
        + launching("aten::mm", sizes("[16,4096]", square), "thin_kernel", 5, 40) + ","
        + launching("mine::op", sizes(square, square), "own_kernel", 6, 30) + ","
        + launching("aten::mm", sizes(square, square), "gemm_kernel", 7, 240) + "]}";
}

inline bool write(const QString& path, const std::string& text)
{
    QFile file(path);
    return file.open(QIODevice::WriteOnly)
        && file.write(text.data(), static_cast<qint64>(text.size())) == static_cast<qint64>(text.size());
}

} // namespace strata::test
