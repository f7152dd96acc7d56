#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "net/http.hpp"

namespace errand::net {

// What the request decides about its answer.
struct AnswerShape {
  std::string request_id;
  bool is_http10 = false;
  bool keep_alive = true;
  bool head_only = false;  // the answer to HEAD
};

// The text of the Date header, rendered at most once a second.
class DateText final {
 public:
  std::string_view now();

 private:
  std::time_t rendered_ = -1;
  char text_[32] = {};
  std::size_t length_ = 0;
};

// The status line and all headers of an answer whose body is in `response.body`, with the blank
// line. Status 204 and 304 have no body and no length. Control characters in header values become
// spaces, so that no value can end its line.
std::string render_head(const Response& response, const AnswerShape& shape, std::string_view date);

// The same for an event stream: in chunks, or until the connection closes for HTTP/1.0.
std::string render_stream_head(const Response& response, const AnswerShape& shape,
                               std::string_view date);

// Whether answers with this status have a body at all.
bool has_body(int status);

// Appends the line before a chunk of `size` bytes.
void append_chunk_size(std::string& out, std::size_t size);

}  // namespace errand::net
