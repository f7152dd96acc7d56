"""Azure OpenAI: OpenAI's two formats at paths of its own, with a key in a header of its own."""

from support.fake_vendor.chat import AZURE, Chat
from support.fake_vendor.responses import Responses
from support.fake_vendor.turn import Failure
from support.fake_vendor.wire import Asked, ErrorAnswer, Refused

FILTERED = {"code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"violence": {"filtered": True, "severity": "high"}}}


class Azure:
    """What both formats have in common. Without a version it is v1."""

    api_key: str

    def check_key(self, asked: Asked) -> None:
        is_known = asked.headers.get("api-key") == self.api_key
        if not is_known or "authorization" in asked.headers:
            raise Refused("Access denied due to invalid subscription key or wrong API endpoint.",
                          401, "auth")

    def check_path(self, asked: Asked) -> None:
        if asked.path != self.path:
            raise Refused("Resource not found", 404)

    def error(self, failure: Failure) -> ErrorAnswer:
        made = super().error(failure)
        error = made.body["error"]
        if failure.kind == "auth":
            error |= {"code": "401"}
        if failure.kind == "content_filter":
            error |= {"code": "content_filter", "innererror": FILTERED}
        return made


class AzureChat(Azure, Chat):
    def __init__(self, version: str = "", deployment: str = "vendor-m", **others):
        super().__init__(AZURE, **others)
        self.path = "/openai/v1/chat/completions"
        if version:
            self.path = (f"/openai/deployments/{deployment}/chat/completions"
                         f"?api-version={version}")


class AzureResponses(Azure, Responses):
    def __init__(self, version: str = "", **others):
        super().__init__(**others)
        self.path = "/openai/v1/responses"
        if version:
            self.path = f"/openai/responses?api-version={version}"
