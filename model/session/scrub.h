// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// What to leave out of a recording before it is given away. Figures, and which line of code has which bytes,
/// stay what they are.
struct Scrub {
    bool paths = false; ///< of source files, up to what tells them apart
    bool names = false; ///< of users (in /home/NAME and its like) and of the host
    bool commands = false; ///< command lines
    bool metadata = false; ///< texts that the program wrote beside its events, annotations left as they are
    bool modules = false; ///< names of modules, and of parameters within them
    bool calls = false; ///< what the program called in its deep step, with its arguments
    bool notes = false; ///< notes, named ranges and filters that were added to the recording
};

/// Rewrites the texts of one recording. Keeps a reference to it. One thread.
class Scrubber {
public:
    /// O(texts).
    Scrubber(const Recording& recording, const Scrub& scrub);

    /// The name of a source file: without the directories above the user's own code, above site-packages and
    /// above Python's library. Two files never become one, and originOf() says of the new name what it says
    /// of the old.
    [[nodiscard]] std::string file(StringId id);
    [[nodiscard]] std::string text(std::string_view text); ///< any other text
    [[nodiscard]] Setting setting(const Setting& setting);
    /// False: the fact is to be left out.
    [[nodiscard]] bool keepsFact(std::string_view key);

    struct Counts {
        std::int64_t paths = 0; ///< files renamed
        std::int64_t names = 0; ///< texts changed
        std::int64_t commands = 0;
        std::int64_t facts = 0; ///< of the process and host
        std::int64_t metadata = 0;
        std::int64_t modules = 0; ///< names of modules, and of parameters within them
    };
    [[nodiscard]] const Counts& counts() const { return m_counts; }
    void countMetadata() { ++m_counts.metadata; }
    void countModules(std::int64_t names) { m_counts.modules += names; }

private:
    void renameFiles(const Recording& recording);

    const Recording& m_recording;
    Scrub m_scrub;
    std::map<StringId, std::string> m_files; ///< those that get another name
    Counts m_counts;
};

} // namespace strata::model
