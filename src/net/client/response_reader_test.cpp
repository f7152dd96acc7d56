#include "net/client/response_reader.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/text.hpp"

namespace errand::net::response_reader_test {
namespace {

// "status body", with " +" if the connection is good for another request.
std::string read_split(std::string_view bytes, std::size_t split) {
  ResponseReader reader(Method::get);
  for (std::string_view piece : {bytes.substr(0, split), bytes.substr(split)}) {
    auto fed = reader.feed(piece);
    if (!fed) return fed.error().message();
  }
  if (!reader.done()) {
    auto finished = reader.finish();
    if (!finished) return finished.error().message();
  }
  return cat(reader.status(), " ", reader.take_body(), reader.can_go_on() ? " +" : "");
}

void expect_read(std::string_view bytes, std::string_view expected) {
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    ASSERT_EQ(read_split(bytes, split), expected) << bytes << " split at " << split;
  }
}

TEST(ResponseReader, ReadsEveryFramingHoweverItIsSplit) {
  expect_read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "200 abc +");
  expect_read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
              "200 abc +");
  expect_read("HTTP/1.1 200 OK\r\n\r\nabc", "200 abc");
  expect_read("HTTP/1.1 204 No Content\r\n\r\n", "204  +");
  expect_read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
              "200 a +");
}

TEST(ResponseReader, SaysWhetherTheConnectionCanGoOn) {
  expect_read("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na", "200 a");
  expect_read("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", "200 a");
  expect_read("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na", "200 a +");
  // What comes after the answer belongs to nobody.
  expect_read("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", "200 a");
  expect_read("HTTP/1.1 204 No Content\r\n\r\nx", "204 ");
}

TEST(ResponseReader, RefusesWhatIsAmbiguous) {
  expect_read("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
              "the answer is not valid HTTP: its Transfer-Encoding is not known");
  for (std::string_view head :
       {"Content-Length: 1\r\nContent-Length: 2", "Content-Length: 1\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 1"}) {
    ResponseReader reader(Method::get);
    EXPECT_FALSE(reader.feed(cat("HTTP/1.1 200 OK\r\n", head, "\r\n\r\n1\r\na\r\n0\r\n\r\n")))
        << head;
  }
}

}  // namespace
}  // namespace errand::net::response_reader_test
