#include "room/wire/framing.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/text.hpp"

namespace errand::room::framing_test {
namespace {

std::string from_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return out;
}

// The message that the packets make, or what is wrong with them.
std::string read_all(MessageReader& reader, const std::vector<std::string>& packets) {
  std::string seen;
  for (const std::string& packet : packets) {
    auto taken = reader.take(packet);
    if (!taken) return cat(to_string(taken.error().code()), ": ", taken.error().message());
    if (*taken)
      append(seen, (*taken)->id, " ", (*taken)->type, " ", (*taken)->header, " ",
             (*taken)->attachment, "|");
  }
  return seen;
}
std::string read_all(const std::vector<std::string>& packets) {
  MessageReader reader;
  return read_all(reader, packets);
}

// `number` 0: the first packet, of a message of `rest` packets.
std::string packet(std::uint8_t id, std::uint8_t number, std::string_view rest) {
  std::string out(7, '\0');
  out.push_back(static_cast<char>(id));
  out.append(3, '\0');
  out.push_back(static_cast<char>(number));
  return cat(out, rest);
}
std::string first(std::uint8_t id, std::uint8_t packets, std::string_view type = "t") {
  return packet(id, 0, cat(std::string(3, '\0'), static_cast<char>(packets), type));
}

const std::string kTwoBraces = from_hex("00000000000000027b7d");

TEST(Framing, WritesTheBytesOfTheProtocol) {
  Message message{.id = 7, .type = "room.list_toolkits", .header = "{}"};
  EXPECT_EQ(to_packets(message),
            (std::vector<std::string>{
                from_hex("00000000000000070000000000000001726f6f6d2e6c6973745f746f6f6c6b697473"),
                from_hex("00000000000000070000000100000000000000027b7d")}));
}

TEST(Framing, ReadsWhatItWrites) {
  Message message{.id = 1ULL << 40U,
                  .type = "x",
                  .header = R"({"a":1})",
                  .attachment = std::string(200'000, 'b')};
  std::vector<std::string> packets = to_packets(message);
  EXPECT_EQ(packets.size(), 5U);
  MessageReader reader;
  std::optional<Message> read;
  for (const std::string& one : packets) read = reader.take(one).value();
  EXPECT_EQ(read, message);
}

TEST(Framing, TakesPayloadsCutAnywhere) {
  std::vector<std::string> packets = {first(3, 6)};
  std::string payload = cat(from_hex("0000000000000002"), "{}yz");
  for (std::uint8_t i = 0; i < 6; ++i) {
    packets.push_back(packet(3, static_cast<std::uint8_t>(i + 1), payload.substr(i * 2UL, 2)));
  }
  EXPECT_EQ(read_all(packets), "3 t {} yz|");
}

TEST(Framing, TakesAMessageWithoutAPayload) {
  EXPECT_EQ(read_all({first(1, 0), first(2, 0)}), "1 t {} |2 t {} |");
}

TEST(Framing, RefusesWhatIsNotTheNextPacket) {
  EXPECT_EQ(read_all({"short"}), "invalid_argument: a packet is too short");
  EXPECT_EQ(read_all({packet(1, 0, "")}), "invalid_argument: the first packet is too short");
  EXPECT_EQ(read_all({packet(1, 1, kTwoBraces)}),
            "invalid_argument: a packet belongs to no message");
  EXPECT_EQ(read_all({first(1, 2), packet(1, 2, "")}),
            "invalid_argument: a packet is out of order");
  EXPECT_EQ(read_all({first(1, 2), packet(2, 1, "")}),
            "invalid_argument: a packet is out of order");
  EXPECT_EQ(read_all({first(1, 2), first(2, 1)}),
            "invalid_argument: a message begins before the one before it has ended");
  EXPECT_EQ(read_all({first(1, 1), packet(1, 1, "1234567")}),
            "invalid_argument: a message has no header length");
  EXPECT_EQ(read_all({first(1, 1), packet(1, 1, from_hex("ffffffffffffffff7b7d"))}),
            "invalid_argument: a header is longer than its message");
}

TEST(Framing, RefusesWhatIsBeyondItsLimits) {
  FrameLimits limits{.message_bytes_max = 10, .packets_max = 3, .type_bytes_max = 4};
  MessageReader just(limits);
  EXPECT_EQ(read_all(just, {first(1, 1, "abcd"), packet(1, 1, cat(kTwoBraces, "12345678"))}),
            "1 abcd {} 12345678|");
  MessageReader large(limits);
  EXPECT_EQ(read_all(large, {first(1, 1), packet(1, 1, cat(kTwoBraces, "123456789"))}),
            "too_large: a message is too large");
  MessageReader many(limits);
  EXPECT_EQ(read_all(many, {first(1, 4)}), "too_large: a message is too large");
  MessageReader named(limits);
  EXPECT_EQ(read_all(named, {first(1, 1, "abcde")}), "too_large: a message is too large");
}

}  // namespace
}  // namespace errand::room::framing_test
