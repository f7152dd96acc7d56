#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "async/task.hpp"

namespace errand::net {

// Bytes on their way into a socket: up to three pieces that go out in one system call.
class Outgoing final {
 public:
  using Buffers = std::array<asio::const_buffer, 3>;

  Outgoing(std::string front, std::string middle, std::string_view literal_back)
      : front_(std::move(front)),
        middle_(std::move(middle)),
        pieces_{asio::buffer(front_), asio::buffer(middle_),
                asio::const_buffer(literal_back.data(), literal_back.size())} {}
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  // What goes out next, in one system call. The kernel takes megabytes at once, and copies them.
  Buffers next() const {
    Buffers next;
    std::size_t left = kSentBytesMax;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      next[i] = asio::buffer(pieces_[i], left);
      left -= next[i].size();
    }
    return next;
  }
  bool is_one_piece() const { return pieces_[1].size() == 0 && pieces_[2].size() == 0; }
  std::size_t size() const { return asio::buffer_size(pieces_); }
  // Memory that the pieces take, with what has been sent of them.
  std::size_t held() const { return front_.capacity() + middle_.capacity(); }
  bool empty() const { return size() == 0; }

  void advance(std::size_t count) {
    for (asio::const_buffer& piece : pieces_) {
      std::size_t taken = std::min(count, piece.size());
      piece += taken;
      count -= taken;
    }
  }

  // Frees what has been sent, once that is most of what is held. The kernel takes megabytes of an
  // answer for a client that reads nothing.
  void free_sent() {
    if (held() <= kKeptBytesMax || size() > held() / 2) return;
    std::string rest;
    rest.reserve(pieces_[0].size() + pieces_[1].size());
    for (const asio::const_buffer& piece : {pieces_[0], pieces_[1]}) {
      rest.append(static_cast<const char*>(piece.data()), piece.size());
    }
    // Moving a short string into a long one would keep the memory of the long one.
    front_.swap(rest);
    std::string().swap(middle_);
    pieces_[0] = asio::buffer(front_);
    pieces_[1] = asio::const_buffer();
  }

 private:
  static constexpr std::size_t kKeptBytesMax = 64U * 1024;  // not worth a copy
  static constexpr std::size_t kSentBytesMax = 256U * 1024;

  std::string front_;
  std::string middle_;
  Buffers pieces_;
};

}  // namespace errand::net
