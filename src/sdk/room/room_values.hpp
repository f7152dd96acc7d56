#pragma once

#include <string_view>

#include <errand/room_content.hpp>

#include "room/wire/content.hpp"

namespace errand::sdk {

room::Content room_content(const v1::RoomContent& content);
// not_found: the content is none that programs can have.
Result<v1::RoomContent> public_content(room::Content content);

std::string_view to_string(v1::RoomContentType type);
v1::RoomContentType type_of(const v1::RoomContent& content);

}  // namespace errand::sdk
