// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/run_strata.h"

#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>

extern char** environ;

namespace strata::test {

nlohmann::json Ran::json() const
{
    const auto all = rows();
    return all.empty() ? nlohmann::json() : all.front();
}

std::vector<nlohmann::json> Ran::rows() const
{
    std::vector<nlohmann::json> list;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
        list.push_back(nlohmann::json::parse(line, nullptr, false));
        if (list.back().is_discarded())
            ADD_FAILURE() << "not JSON: " << line;
    }
    return list;
}

Ran runProgram(const std::string& program, const std::vector<std::string>& arguments)
{
    const TemporaryDirectory directory;
    const std::string out = directory.path() / "out";
    const std::string err = directory.path() / "err";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT, 0600);

    std::vector<std::string> texts{ program };
    texts.insert(texts.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);

    Ran ran;
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, program.c_str(), &actions, nullptr, pointers.data(), environ) != 0
        || waitpid(child, &status, 0) != child)
        ADD_FAILURE() << program << " does not run";
    else
        ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    posix_spawn_file_actions_destroy(&actions);
    ran.out = contentOf(out);
    ran.err = contentOf(err);
    return ran;
}

Ran strata(const std::vector<std::string>& arguments)
{
    return runProgram(STRATA_PROGRAM, arguments);
}

OwnData::OwnData()
{
    if (const char* known = std::getenv("XDG_DATA_HOME"))
        m_before = known;
    ::setenv("XDG_DATA_HOME", m_directory.path().c_str(), 1);
}

OwnData::~OwnData()
{
    m_before.empty() ? ::unsetenv("XDG_DATA_HOME") : ::setenv("XDG_DATA_HOME", m_before.c_str(), 1);
}

std::string dataFile(const std::string& name)
{
    return std::string(STRATA_TEST_DATA) + "/" + name;
}

std::string sharedFile(const std::string& name)
{
    const std::filesystem::path path = std::filesystem::path(STRATA_SHARED) / name;
    return std::filesystem::exists(path) ? path.string() : std::string();
}

} // namespace strata::test
