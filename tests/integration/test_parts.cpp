// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/json_writer.h"
#include "app/cli/report.h"
#include "app/cli/text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

namespace strata::cli {

namespace {

std::string jsonOf(std::string_view text)
{
    std::string out;
    appendJsonString(out, text);
    return out;
}

} // namespace

TEST(JsonWriter, WritesWhatAParserReads)
{
    JsonWriter json;
    json.beginObject().member("a", 1).member("b", true).key("c").null().key("d").beginArray();
    json.value(-3).value("x\"y\\z\n\x01").beginObject().endObject().beginArray().endArray().endArray();
    json.key("e").plain("[1,2]").foreignKey("f\"\xff").value(std::uint64_t{ 18446744073709551615u });
    json.member("g", std::optional<std::int64_t>()).member("h", std::optional<std::int64_t>(5)).endObject();
    EXPECT_EQ(json.text(),
        R"({"a":1,"b":true,"c":null,"d":[-3,"x\"y\\z\n\u0001",{},[]],"e":[1,2],"f\")"
        "\xef\xbf\xbd"
        R"(":18446744073709551615,"g":null,"h":5})");
    EXPECT_FALSE(nlohmann::json::parse(json.text(), nullptr, false).is_discarded());
}

TEST(Text, BrokenUtf8IsReplaced)
{
    EXPECT_EQ(jsonOf("caf\xc3\xa9"), "\"caf\xc3\xa9\"");
    EXPECT_EQ(jsonOf("caf\xe9"), "\"caf\xef\xbf\xbd\"");
    for (const char* broken :
        { "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xf0\x9f\x98", "\x80" }) {
        const std::string json = jsonOf(broken);
        EXPECT_FALSE(nlohmann::json::parse(json, nullptr, false).is_discarded()) << json;
        EXPECT_NE(json.find("\xef\xbf\xbd"), std::string::npos);
    }
    std::mt19937 random(1);
    for (int i = 0; i < 2000; ++i) {
        std::string bytes(random() % 12, ' ');
        for (char& byte : bytes)
            byte = static_cast<char>(random());
        EXPECT_FALSE(nlohmann::json::parse(jsonOf(bytes), nullptr, false).is_discarded());
    }
}

TEST(Text, PrintableCannotSteerATerminal)
{
    EXPECT_EQ(printable("a\x1b[31mb\x07\x7f\xc2\x9b\n"), "a?[31mb????");
    EXPECT_EQ(printable("caf\xc3\xa9 \xe4\xb8\xad"), "caf\xc3\xa9 \xe4\xb8\xad");
}

TEST(Text, WrapsAtBlanksAndIgnoresColour)
{
    EXPECT_EQ(wrap("one two three four", 9), "one two\nthree\nfour");
    EXPECT_EQ(wrap("\x1b[1mone\x1b[0m two", 7), "\x1b[1mone\x1b[0m two");
    EXPECT_EQ(wrap("enormousword x", 4), "enormousword\nx");
}

TEST(Report, Padding)
{
    EXPECT_EQ(padded("\xc3\xa9", 3, Table::Align::Right), "  \xc3\xa9");
    EXPECT_EQ(padded("ab", 1, Table::Align::Left), "ab");
}

} // namespace strata::cli
