#pragma once

// The way into a room at a URL.
#include "sdk/room_connector.hpp"
