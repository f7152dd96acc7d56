#pragma once

// Which server a command means, by its flags, the environment and the files of credentials, and
// where it keeps them.
#include "sdk/credentials.hpp"
#include "sdk/environment.hpp"
