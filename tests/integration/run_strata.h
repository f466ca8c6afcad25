// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/temporary_directory.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace strata::test {

struct Ran {
    int code = -1; ///< exit code; 1000 + signal if a signal ended it
    std::string out;
    std::string err;

    /// The first line of `out` as JSON; a test failure and null if it is none.
    [[nodiscard]] nlohmann::json json() const;
    /// Every line of `out` as JSON.
    [[nodiscard]] std::vector<nlohmann::json> rows() const;
};

/// Runs a program to its end, without a shell and without a terminal.
[[nodiscard]] Ran runProgram(const std::string& program, const std::vector<std::string>& arguments);

/// Runs the built strata.
[[nodiscard]] Ran strata(const std::vector<std::string>& arguments);

/// A folder of its own for what the user keeps, while it lives: notes of whoever runs the tests stay what they
/// are.
class OwnData {
public:
    OwnData();
    ~OwnData();
    OwnData(const OwnData&) = delete;
    OwnData& operator=(const OwnData&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return m_directory.path(); }

private:
    TemporaryDirectory m_directory;
    std::string m_before;
};

/// A recording of our own in the repository: "versions/torch2.6_oom.pickle.gz".
[[nodiscard]] std::string dataFile(const std::string& name);
/// A file beside the repository; empty if it is not there.
[[nodiscard]] std::string sharedFile(const std::string& name);

} // namespace strata::test
