"""What OpenAI's two formats have in common."""

from support.fake_vendor.turn import Failure
from support.fake_vendor.wire import Asked, ErrorAnswer, Refused, Wire, require

ERRORS = {
    "auth": (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided"),
    "quota": (429, "insufficient_quota", "insufficient_quota",
              "You exceeded your current quota, please check your plan"),
    "rate_limit": (429, "tokens", "rate_limit_exceeded",
                   "Rate limit reached. Please try again in 20ms."),
    "overloaded": (503, "service_unavailable_error", "slow_down", "The server is overloaded"),
    "server": (500, "server_error", None, "The server had an error"),
    "timeout": (504, "server_error", None, "The server took too long"),
    "context_window": (400, "invalid_request_error", "context_length_exceeded",
                       "Your input exceeds the context window of this model."),
    "content_filter": (400, "invalid_request_error", "invalid_prompt",
                       "The prompt goes against the usage policy"),
    "invalid_request": (400, "invalid_request_error", None, "The request is not valid"),
}


def error_object(failure: Failure) -> dict:
    _, kind, code, words = ERRORS[failure.kind]
    return {"message": failure.message or words, "type": kind, "param": None, "code": code}


class OpenAi(Wire):
    path: str

    def check_path(self, asked: Asked) -> None:
        require(asked.path == self.path, f"Invalid URL (POST {asked.path})")

    def check_key(self, asked: Asked) -> None:
        if asked.headers.get("authorization") != f"Bearer {self.api_key}":
            raise Refused("Incorrect API key provided", 401, "auth")

    def error(self, failure: Failure) -> ErrorAnswer:
        status = ERRORS[failure.kind][0]
        return ErrorAnswer(status, {"error": error_object(failure)}, {"x-request-id": "req_1"})
