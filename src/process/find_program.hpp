#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace errand::process {

// The path of the program that `name` stands for, as PATH of `environment` ("NAME=value") says.
// Only absolute folders count. A name with a slash is a path already and is not looked at.
// not_found: the message names the program and where it was sought.
Result<std::string> find_program(const std::string& name,
                                 const std::vector<std::string>& environment);

}  // namespace errand::process
