#include "load/connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>
#include <string_view>

#include "base/text.hpp"

namespace errand::load {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kReadBytes = 16384;

Error broken(std::string_view doing, const error_code& error) {
  return {ErrorCode::unavailable, cat(doing, ": ", error.message())};
}

}  // namespace

Connection::Connection(Executor home, tcp::endpoint server)
    : socket_(home), server_(server), memory_(std::make_unique_for_overwrite<char[]>(kReadBytes)) {}

void Connection::close() {
  error_code ignored;
  socket_.close(ignored);
}

Task<Result<void>> Connection::connect() {
  auto [error] = co_await socket_.async_connect(server_, as_result);
  if (error) co_return broken("connect", error);
  socket_.set_option(tcp::no_delay(true), error);
  co_return Result<void>();
}

Task<Result<int>> Connection::send(WireRequest request) {
  if (!socket_.is_open()) ERRAND_CO_CHECK(co_await connect());
  reader_.emplace(request.method);
  auto [error, sent] = co_await asio::async_write(socket_, asio::buffer(request.bytes), as_result);
  if (error) co_return broken("send", error);
  while (!reader_->has_head()) ERRAND_CO_CHECK(co_await receive());
  co_return reader_->status();
}

Task<Result<void>> Connection::receive() {
  auto buffer = asio::buffer(memory_.get(), kReadBytes);
  auto [error, count] = co_await socket_.async_read_some(buffer, as_result);
  if (error == asio::error::eof) co_return reader_->finish();
  if (error) co_return broken("receive", error);
  co_return reader_->feed({memory_.get(), count});
}

Task<Result<std::string>> Connection::read() {
  while (reader_->body_bytes() == 0 && !reader_->done()) ERRAND_CO_CHECK(co_await receive());
  std::string bytes = reader_->take_body();
  if (bytes.empty() && net::find_header(reader_->headers(), "connection") == "close") close();
  co_return bytes;
}

Task<Result<std::string>> Connection::read_all() {
  std::string body;
  for (;;) {
    ERRAND_CO_TRY(std::string bytes, co_await read());
    if (bytes.empty()) co_return body;
    body += bytes;
  }
}

}  // namespace errand::load
