"""Google's Gemini."""

import re

from support.fake_vendor.turn import Call, Failure, Refusal, Text, Thinking, Turn
from support.fake_vendor.wire import (
    Asked, ErrorAnswer, Event, Refused, Wire, require, require_known, signature)

FIELDS = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig",
          "safetySettings", "cachedContent", "continuationToken"}
CONFIG_FIELDS = {
    "maxOutputTokens", "temperature", "topP", "topK", "stopSequences", "seed", "candidateCount",
    "responseMimeType", "responseSchema", "responseJsonSchema", "thinkingConfig"}
DATA_FIELDS = {"text", "inlineData", "fileData", "functionCall", "functionResponse"}
ERRORS = {
    "auth": (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    "quota": (403, "PERMISSION_DENIED", "Billing is not enabled"),
    "rate_limit": (429, "RESOURCE_EXHAUSTED", "You exceeded the current rate"),
    "overloaded": (503, "UNAVAILABLE", "The model is overloaded."),
    "server": (500, "INTERNAL", "An internal error has occurred."),
    "timeout": (504, "DEADLINE_EXCEEDED", "The deadline expired"),
    "context_window": (400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the "
                                                "maximum number of tokens allowed (1048576)."),
    "content_filter": (400, "INVALID_ARGUMENT", "The prompt is blocked"),
    "invalid_request": (400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
}
STOPS = {"end": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY", "refusal": "SAFETY"}
PATH = re.compile(r"/v1beta/models/([^/:]+):streamGenerateContent\?alt=sse")
# What goes in place of a signature that there is none of.
UNSIGNED = "skip_thought_signature_validator"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")


class Gemini(Wire):
    def __init__(self, ids: bool = True, together: bool = False, bare_errors: bool = False,
                 **others):
        super().__init__(**others)
        self.bare_errors = bare_errors  # whether errors in a stream are no events
        self.ids = ids  # whether calls have ids
        self.together = together  # whether all calls come in one event

    # What it says.

    def events(self, turn: Turn, asked: Asked) -> list[Event]:
        model = self.model(asked)
        head = {"modelVersion": model, "responseId": self.mint("resp")}
        usage = {"usageMetadata": self.usage(turn)} if turn.usage else {}
        if turn.stop == "block":
            feedback = {"blockReason": "PROHIBITED_CONTENT"}
            return [Event({"promptFeedback": feedback} | usage | head, mark="end")]
        pieces = self.pieces(turn, model)
        kept = [part for parts, _ in pieces for part in parts]
        out = []
        for parts, mark in pieces:
            more = {"newer": {"a": 1}} if turn.newer else {}
            out.append(self.event(parts, usage | head | more, mark))
        last = []
        if turn.thinks and not turn.calls and turn.stop == "end":
            last = [self.signed({"text": ""}, model)]
        self.issued.append(kept + last)
        refuses = any(isinstance(part, Refusal) for part in turn.parts)
        reason = "SAFETY" if refuses else STOPS.get(turn.stop, turn.stop)
        return out + [self.event(last, usage | head, "end", reason)]

    @staticmethod
    def event(parts: list[dict], others: dict, mark: str, reason: str = "") -> Event:
        candidate: dict = {"index": 0}
        if parts:
            candidate["content"] = {"parts": parts, "role": "model"}
        if reason:
            candidate["finishReason"] = reason
        return Event({"candidates": [candidate]} | others, mark=mark)

    def pieces(self, turn: Turn, model: str) -> list[tuple[list[dict], str]]:
        """The parts of each event, with its mark."""
        out: list[tuple[list[dict], str]] = []
        is_first = True
        for part in turn.parts:
            if isinstance(part, Text):
                out += [([{"text": piece}], "text") for piece in part.pieces]
            elif isinstance(part, Thinking) and part.kind == "plain":
                out += [([{"text": piece, "thought": True}], "thought") for piece in part.pieces]
            elif isinstance(part, Call):
                made = self.call(part, model, is_first)
                if self.together and out and out[-1][1] == "call":
                    out[-1][0].append(made)
                else:
                    out.append(([made], "call"))
                is_first = False
        return out

    def call(self, call: Call, model: str, is_first: bool) -> dict:
        """The first call of a step is the one that is signed."""
        function = {"name": call.name, "args": call.arguments}
        if self.ids:
            function["id"] = self.mint("fc-")
        part = {"functionCall": function}
        return self.signed(part, model) if is_first else part

    @staticmethod
    def signed(part: dict, model: str) -> dict:
        return part | {"thoughtSignature": signature(model, part)}

    @staticmethod
    def usage(turn: Turn) -> dict:
        usage = turn.usage
        out = {"promptTokenCount": usage.input,
               "candidatesTokenCount": usage.output - usage.thinking,
               "totalTokenCount": usage.input + usage.output}
        if usage.cached:
            out["cachedContentTokenCount"] = usage.cached
        if usage.thinking:
            out["thoughtsTokenCount"] = usage.thinking
        return out

    def error(self, failure: Failure) -> ErrorAnswer:
        status, word, words = ERRORS[failure.kind]
        error = {"code": status, "message": failure.message or words, "status": word}
        if failure.kind == "auth":
            error["details"] = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
                                 "reason": "API_KEY_INVALID"}]
        if failure.kind == "rate_limit":
            error["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo",
                                 "retryDelay": "0.02s"}]
        return ErrorAnswer(status, {"error": error})

    def stream_error(self, failure: Failure, sent: list[Event]) -> Event:
        return Event(self.error(failure).body, bare=self.bare_errors)

    # What it takes.

    @staticmethod
    def model(asked: Asked) -> str:
        found = PATH.fullmatch(asked.path)
        if not found:
            raise Refused(f"there is no {asked.path}", 404)
        return found.group(1)

    def check(self, asked: Asked) -> None:
        body = asked.body
        model = self.model(asked)
        if asked.headers.get("x-goog-api-key") != self.api_key:
            raise Refused("API key not valid. Please pass a valid API key.", 400, "auth")
        require_known(body, FIELDS, "Invalid JSON payload received. Unknown name")
        require_known(body.get("generationConfig", {}), CONFIG_FIELDS,
                      "Invalid JSON payload received. Unknown name at 'generation_config'")
        self.check_tools(body)
        contents = body.get("contents", [])
        require(bool(contents), "contents is not specified")
        for content in contents:
            require(content.get("role") in ("user", "model"), "Please use a valid role.")
            require(bool(content.get("parts")), "contents.parts must not be empty.")
            for part in content["parts"]:
                require(len(DATA_FIELDS & set(part)) == 1,
                        "required oneof field 'data' must have one initialized field")
        require(contents[-1]["role"] == "user", "the last content must be the user's")
        self.check_calls(contents)
        self.check_signatures(contents, model)

    @staticmethod
    def check_tools(body: dict) -> None:
        for tool in body.get("tools", []):
            for function in tool.get("functionDeclarations", []):
                require(NAME.fullmatch(function["name"]) is not None, "Invalid function name.")
                require(not {"parameters", "parametersJsonSchema"} <= set(function),
                        "parameters and parameters_json_schema exclude each other")
                schema = function.get("parameters") or function.get("parametersJsonSchema") or {}
                is_empty = str(schema.get("type", "")).lower() == "object" and \
                    "parameters" in function and not schema.get("properties")
                require(not is_empty, "should be non-empty for OBJECT type")

    @staticmethod
    def check_calls(contents: list[dict]) -> None:
        """Responses follow their calls at once, as many and in the same order."""
        open_calls: list[dict] = []
        for content in contents:
            responses = [part["functionResponse"] for part in content["parts"]
                         if "functionResponse" in part]
            require(len(responses) == len(open_calls),
                    "Please ensure that the number of function response parts is equal to the "
                    "number of function call parts of the function call turn.")
            for response, made in zip(responses, open_calls):
                require(response["name"] == made["name"] and response.get("id") == made.get("id"),
                        "a function response does not fit its function call")
                require(isinstance(response["response"], dict), "a response must be an object")
            open_calls = [part["functionCall"] for part in content["parts"]
                          if "functionCall" in part]
            require(not open_calls or content["role"] == "model", "a function call is the model's")
        require(not open_calls, "the function calls have no responses")

    @staticmethod
    def check_signatures(contents: list[dict], model: str) -> None:
        """The first call of each step of the current turn has its own signature."""
        for content in contents:
            for part in content["parts"]:
                signed = {name: value for name, value in part.items() if name != "thoughtSignature"}
                if part.get("thoughtSignature", UNSIGNED) != UNSIGNED:
                    require(part["thoughtSignature"] == signature(model, signed),
                            "Corrupted thought signature.")
        asks = [n for n, content in enumerate(contents) if content["role"] == "user"
                and not any("functionResponse" in part for part in content["parts"])]
        for content in contents[asks[-1] if asks else 0 :]:
            calls = [part for part in content["parts"] if "functionCall" in part]
            require(not calls or "thoughtSignature" in calls[0],
                    "Function call is missing a thought_signature in functionCall parts.")
            require(not any("thoughtSignature" in part for part in calls[1:]),
                    "Corrupted thought signature.")
