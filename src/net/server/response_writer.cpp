#include "net/server/response_writer.hpp"

#include <charconv>

#include "base/text.hpp"

namespace errand::net {
namespace {

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 402: return "Payment Required";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 426: return "Upgrade Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 499: return "Client Closed Request";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Status";
  }
}

void append_safe(std::string& out, std::string_view value) {
  std::size_t begin = out.size();
  out.append(value);
  for (std::size_t i = begin; i < out.size(); ++i) {
    auto byte = static_cast<unsigned char>(out[i]);
    if (byte < 0x20 || byte == 0x7f) out[i] = ' ';
  }
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  append_safe(out, name);
  out.append(": ");
  append_safe(out, value);
  out.append("\r\n");
}

// Writes the part of the head that does not depend on the kind of body.
std::string begin_head(const Response& response, const AnswerShape& shape, std::string_view date) {
  std::string out;
  out.reserve(384 + (response.body.size() <= 4096 ? response.body.size() : 0));
  append(out, "HTTP/1.1 ", response.status, ' ', reason_phrase(response.status), "\r\nDate: ", date,
         "\r\nx-request-id: ", shape.request_id, "\r\n");
  if (!shape.keep_alive) {
    out.append("Connection: close\r\n");
  } else if (shape.is_http10) {
    out.append("Connection: keep-alive\r\n");
  }
  for (const Header& header : response.headers) append_header(out, header.name, header.value);
  return out;
}

}  // namespace

std::string_view DateText::now() {
  std::time_t now = std::time(nullptr);
  if (now != rendered_) {
    std::tm utc{};
    gmtime_r(&now, &utc);
    length_ = std::strftime(text_, sizeof text_, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    rendered_ = now;
  }
  return {text_, length_};
}

std::string render_head(const Response& response, const AnswerShape& shape, std::string_view date) {
  std::string out = begin_head(response, shape, date);
  if (has_body(response.status)) {
    if (!response.content_type.empty()) append_header(out, "Content-Type", response.content_type);
    append(out, "Content-Length: ", response.body.size(), "\r\n");
  }
  out.append("\r\n");
  return out;
}

std::string render_stream_head(const Response& response, const AnswerShape& shape,
                               std::string_view date) {
  std::string out = begin_head(response, shape, date);
  append(out, "Content-Type: ", response.events_type, "\r\n");
  out.append(
      "Cache-Control: no-cache, no-transform\r\n"
      "X-Accel-Buffering: no\r\n");
  if (!shape.is_http10) out.append("Transfer-Encoding: chunked\r\n");
  out.append("\r\n");
  return out;
}

bool has_body(int status) {
  return status != 204 && status != 304;
}

void append_chunk_size(std::string& out, std::size_t size) {
  char digits[20];
  auto end = std::to_chars(digits, digits + sizeof digits, size, 16).ptr;
  out.append(digits, end);
  out.append("\r\n");
}

}  // namespace errand::net
