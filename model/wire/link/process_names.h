// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace strata::wire {

/// What a process is called among people, by its command line with blanks between the words: "train.py" of
/// "/usr/bin/python -u train.py --epochs 3", "train" of "./train".
[[nodiscard]] std::string programName(std::string_view command);

/// What the ranks of one job have in common, as who started them says: by the variables of torchrun, Slurm,
/// or MASTER_ADDR and MASTER_PORT. `variable` gives the value of one, empty where there is none.
[[nodiscard]] std::string jobName(const std::function<std::string(const char* name)>& variable);

} // namespace strata::wire
