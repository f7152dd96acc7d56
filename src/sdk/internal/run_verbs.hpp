#pragma once

// The verbs on runs and sessions in structs, for commands that show more of them than the public
// headers tell.
#include "sdk/run_api.hpp"
