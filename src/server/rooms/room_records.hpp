#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "room/room_store.hpp"

// How what a room keeps looks as records. The ids of all begin with the room's id and a slash.
namespace errand::server::room_records {

inline constexpr std::string_view kQueueKind = "room_queue";      // .../queue
inline constexpr std::string_view kItemKind = "room_queue_item";  // .../queue/number
inline constexpr std::string_view kFileKind = "room_file";        // .../path
inline constexpr std::string_view kPartKind = "room_file_part";   // .../content/number: bytes
// .../content: a content that no file names. Its parts are removed before it is.
inline constexpr std::string_view kLooseKind = "room_file_loose";

// How many records are read at once. A part is large.
inline constexpr std::size_t kSmallRecordsPage = 500;
inline constexpr std::size_t kPartsPage = 8;

struct KindOfRecord {
  std::string_view kind;
  std::size_t page;
};
inline constexpr std::array kAllKinds{
    KindOfRecord{kItemKind, kSmallRecordsPage}, KindOfRecord{kQueueKind, kSmallRecordsPage},
    KindOfRecord{kFileKind, kSmallRecordsPage}, KindOfRecord{kPartKind, kPartsPage},
    KindOfRecord{kLooseKind, kSmallRecordsPage}};

// In order, as text, too.
std::string number_text(std::uint64_t number);

// The queue's name, and the seq of a message behind it, of a record's id without its prefix.
struct ItemId {
  std::string queue;
  std::uint64_t seq = 0;
};
std::optional<ItemId> parse_item_id(std::string_view rest);

std::string body_of(const room::StoredFile& file);
// internal: the record is damaged.
Result<room::StoredFile> parse_file(std::string path, std::string_view body);

}  // namespace errand::server::room_records
