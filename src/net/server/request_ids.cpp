#include "net/server/request_ids.hpp"

#include <algorithm>
#include <charconv>
#include <random>

namespace errand::net {
namespace {

constexpr std::size_t kIdBytesMax = 64;

void append_base36(std::string& out, std::uint64_t number) {
  char digits[16];
  auto end = std::to_chars(digits, digits + sizeof digits, number, 36).ptr;
  out.append(digits, end);
}

}  // namespace

RequestIds::RequestIds() {
  append_base36(prefix_, std::random_device{}());
  prefix_.push_back('-');
}

std::string RequestIds::next() {
  std::string id = prefix_;
  append_base36(id, ++count_);
  return id;
}

bool is_sane_request_id(std::string_view id) {
  return !id.empty() && id.size() <= kIdBytesMax && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

}  // namespace errand::net
