// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace strata::test {

/// An environment variable with another value, or without one, until this object goes: cases of a program
/// share their process.
class Variable {
public:
    Variable(std::string name, const std::optional<std::string>& value)
        : m_name(std::move(name))
    {
        if (const char* before = std::getenv(m_name.c_str()))
            m_before = before;
        set(value);
    }
    ~Variable() { set(m_before); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

    void set(const std::optional<std::string>& value) const ///< nullopt: without
    {
        value ? ::setenv(m_name.c_str(), value->c_str(), 1) : ::unsetenv(m_name.c_str());
    }

private:
    std::string m_name;
    std::optional<std::string> m_before;
};

} // namespace strata::test
