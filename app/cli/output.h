// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace strata::cli {

/// A buffered stream to a file descriptor that it does not own. Once the reader has gone away (`| head`) or
/// the disk is full it swallows what comes: long loops ask closed() now and then. One thread.
class Output {
public:
    explicit Output(int descriptor);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    void write(std::string_view text);
    void line(std::string_view text)
    {
        write(text);
        write("\n");
    }
    void flush();

    [[nodiscard]] bool closed() const { return m_error != 0; }
    [[nodiscard]] int error() const { return m_error; } ///< errno of the write that failed; 0

    [[nodiscard]] bool isTerminal() const { return m_isTerminal; }
    /// Columns of the terminal, 0 where there is none: lines may be as long as they are.
    [[nodiscard]] int width() const { return m_width; }

    // Colour where a person looks at it and has not asked for none (NO_COLOR, TERM=dumb).
    [[nodiscard]] std::string strong(std::string_view text) const { return styled("1", text); }
    [[nodiscard]] std::string faint(std::string_view text) const { return styled("2", text); }
    [[nodiscard]] std::string bad(std::string_view text) const { return styled("1;31", text); }
    [[nodiscard]] std::string good(std::string_view text) const { return styled("32", text); }

private:
    [[nodiscard]] std::string styled(std::string_view code, std::string_view text) const;

    int m_descriptor;
    int m_error = 0;
    bool m_isTerminal = false;
    bool m_colour = false;
    int m_width = 0;
    std::string m_buffer;
};

} // namespace strata::cli
