// SPDX-License-Identifier: GPL-3.0-or-later
// The manual cannot lie: every line of it that begins with "strata" in a box is run, and it names the options
// that the commands have.
#include "tests/integration/run_strata.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

namespace strata::test {

namespace {

namespace fs = std::filesystem;

struct Page {
    fs::path path;
    std::vector<std::string> lines;
};

std::vector<Page> manual()
{
    std::vector<fs::path> paths{ fs::path(STRATA_SOURCE) / "README.md" };
    for (const auto& entry : fs::directory_iterator(fs::path(STRATA_SOURCE) / "docs"))
        if (entry.path().extension() == ".md")
            paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<Page> pages;
    for (const fs::path& path : paths) {
        Page& page = pages.emplace_back(Page{ path, {} });
        std::istringstream text(contentOf(path));
        for (std::string line; std::getline(text, line);)
            page.lines.push_back(line);
    }
    return pages;
}

/// What stands in boxes and begins with the program's name.
std::vector<std::string> examplesOf(const Page& page)
{
    std::vector<std::string> examples;
    bool inBox = false;
    for (const std::string& line : page.lines) {
        if (line.starts_with("```"))
            inBox = !inBox;
        else if (inBox && line.starts_with("strata "))
            examples.push_back(line);
    }
    return examples;
}

/// Runs a line in a shell as a reader would, in a folder with recordings.
class Reader {
public:
    Reader()
    {
        const fs::path sample = dataFile("samples/gpt2_124m_bf16_train.pickle.gz"); // with steps and phases
        for (const char* name : { "snapshot.pickle", "FILE" })
            fs::copy_file(sample, m_folder.path() / name);
        fs::copy_file(
            dataFile("samples/gpt2_124m_bf16_oom_16gib.pickle.gz"), m_folder.path() / "failed.pickle");
        EXPECT_EQ(strata({ "convert", sample, "-o", m_folder.path() / "run.strata" }).code, 0);
        for (const char* name : { "trace.json", "rank0.json", "rank1.json" })
            std::ofstream(m_folder.path() / name) << R"({"traceEvents":[
                {"ph":"X","cat":"user_annotation","name":"ProfilerStep#7","pid":1,"tid":1,"ts":10,"dur":90},
                {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":20,"dur":5,
                    "args":{"correlation":1}},
                {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":30,"dur":40,
                    "args":{"correlation":1,"device":0,"stream":7}}]})";
        EXPECT_EQ(run("gzip *.json").code, 0);
    }

    Ran run(const std::string& line) const
    {
        const std::string program = fs::path(STRATA_PROGRAM).parent_path();
        return runProgram("/bin/sh",
            { "-c",
                "cd '" + m_folder.path().string() + "' && PATH='" + program
                    + "':$PATH XDG_DATA_HOME=$PWD/data XDG_CONFIG_HOME=$PWD/config QT_QPA_PLATFORM=offscreen "
                      "&& export PATH XDG_DATA_HOME XDG_CONFIG_HOME QT_QPA_PLATFORM && "
                    + line });
    }

private:
    TemporaryDirectory m_folder;
};

/// The option that begins here: "--from" of "--from EVENT"; empty: none does.
std::string optionAt(std::string_view text)
{
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-");
    const std::string_view option = text.substr(0, end);
    return option.size() > 2 && option.starts_with("--") ? std::string(option) : std::string();
}

/// Options that a text names: "--from" of "`--from EVENT`, `-f`".
std::set<std::string> optionsIn(std::string_view text)
{
    std::set<std::string> options;
    for (std::size_t at = text.find("--"); at != text.npos; at = text.find("--", at)) {
        const std::string option = optionAt(text.substr(at));
        if (!option.empty())
            options.insert(option);
        at += std::max(option.size(), std::size_t(1));
    }
    return options;
}

/// Those that a command's help lists, at the beginning of its lines: "  -o,--output FILE".
std::set<std::string> optionsOfHelp(const std::string& help)
{
    std::set<std::string> options;
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
        std::string_view entry = line;
        if (!entry.starts_with("  -"))
            continue;
        entry.remove_prefix(2);
        if (entry.size() > 3 && entry[1] != '-' && entry[2] == ',')
            entry.remove_prefix(3);
        options.insert(optionAt(entry));
    }
    options.erase("");
    options.erase("--help");
    return options;
}

/// A line that starts a program, with one in its place that is nowhere.
std::string withoutProgram(const std::string& line)
{
    const std::size_t program = line.find_first_not_of(' ', line.find(" -- ") + 4);
    const std::size_t end = std::min(line.find(' ', program), line.size());
    return line.substr(0, program) + "no-such-program-here" + line.substr(end);
}

/// Where the links of a line lead within the project: "README.md" of "[Manual](README.md#first)".
std::vector<std::string> linksIn(const std::string& line)
{
    std::vector<std::string> links;
    for (std::size_t at = line.find("]("); at != line.npos; at = line.find("](", at + 2)) {
        const std::string target = line.substr(at + 2, line.find_first_of(")#:", at + 2) - at - 2);
        const bool isUrl = line.compare(at + 2 + target.size(), 1, ":") == 0;
        if (!target.empty() && !isUrl)
            links.push_back(target);
    }
    return links;
}

std::vector<std::string> commands()
{
    std::vector<std::string> names;
    std::istringstream lines(strata({ "--help" }).out);
    bool listed = false;
    for (std::string line; std::getline(lines, line) && !(listed && line.empty());) {
        if (listed)
            names.push_back(line.substr(2, line.find(' ', 2) - 2));
        listed |= line == "Subcommands:";
    }
    return names;
}

} // namespace

TEST(Manual, EveryExampleWorks)
{
    const Reader reader;
    const bool window = fs::exists(fs::path(STRATA_PROGRAM).parent_path() / "strata-gui");
    int run = 0;
    for (const Page& page : manual()) {
        for (const std::string& line : examplesOf(page)) {
            SCOPED_TRACE(page.path.filename().string() + ": " + line);
            const std::size_t words = line.find(" -- ");
            if (words != line.npos) {
                // Its own words are right if only the program is missing; that it runs is tested with
                // PyTorch.
                const Ran ran = reader.run(withoutProgram(line));
                const bool asks = line.starts_with("strata doctor"); // its answer is that it is not there
                EXPECT_EQ(ran.code, asks ? 1 : 2);
                EXPECT_THAT(
                    asks ? ran.out : ran.err, testing::HasSubstr("no-such-program-here: command not found"));
            } else if (line.starts_with("strata render") && !window) {
                continue;
            } else if (line.starts_with("strata doctor")) {
                EXPECT_LE(reader.run(line).code, 1); // what this machine has is not the manual's to say
            } else if (line.starts_with("strata attach")) {
                const Ran ran = reader.run(line); // there is no such process, or it cannot be watched
                EXPECT_THAT(ran.code, testing::AnyOf(1, 3));
                EXPECT_THAT(ran.err, testing::HasSubstr("strata: attach: "));
                EXPECT_THAT(ran.err, testing::HasSubstr("process 4711"));
            } else if (line.find("--max-growth") != line.npos) {
                const Ran ran = reader.run(line); // of the sample's few steps
                EXPECT_EQ(ran.code, 1);
                EXPECT_THAT(ran.err, testing::HasSubstr("--max-growth has nothing to be held against"));
            } else if (line.find("--change checkpoint=") != line.npos
                || line.find("--change free=") != line.npos || line.find("--change offload=") != line.npos
                || line.find("--python") != line.npos) {
                const Ran ran = reader.run(line); // the sample is a snapshot of PyTorch's
                EXPECT_EQ(ran.code, 1);
                EXPECT_THAT(ran.err, testing::HasSubstr("strata record --deep-step 3"));
            } else {
                const Ran ran = reader.run(line);
                EXPECT_EQ(ran.code, 0);
                EXPECT_TRUE(ran.err.empty() || ran.err.ends_with("more rows: --limit 0 prints all\n"))
                    << ran.err;
                EXPECT_FALSE(ran.out.empty() && !line.starts_with("strata render"));
            }
            ++run;
        }
    }
    EXPECT_GT(run, 40);
}

TEST(Manual, NamesEveryOptionOfEveryCommandAndNoOther)
{
    std::map<std::string, std::string> sections; // by command
    for (const Page& page : manual()) {
        if (page.path.filename() != "commands.md")
            continue;
        std::string section;
        for (const std::string& line : page.lines) {
            if (line.starts_with("## "))
                section = line.substr(3);
            else
                sections[section] += line + '\n';
        }
    }
    sections.erase("");
    const std::vector<std::string> all = commands();
    EXPECT_GE(all.size(), 12u);
    for (const std::string& command : all) {
        SCOPED_TRACE(command);
        ASSERT_TRUE(sections.contains(command));
        const std::set<std::string> has = optionsOfHelp(strata({ command, "--help" }).out);
        std::set<std::string> told;
        std::istringstream lines(sections[command]);
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("| `") || line.starts_with("| `-"))
                told.merge(optionsIn(line.substr(0, line.find('|', 2))));
        EXPECT_EQ(told, has);
        sections.erase(command);
    }
    EXPECT_TRUE(sections.empty()) << sections.begin()->first << " is no command";
}

TEST(Manual, LinksLeadSomewhere)
{
    int links = 0;
    for (const Page& page : manual())
        for (const std::string& line : page.lines)
            for (const std::string& target : linksIn(line)) {
                EXPECT_TRUE(fs::exists(page.path.parent_path() / target)) << page.path << ": " << target;
                ++links;
            }
    EXPECT_GT(links, 5);
}

} // namespace strata::test
