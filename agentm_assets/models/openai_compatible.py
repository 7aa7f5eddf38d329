"""Models behind the chat completions of OpenAI, Ollama, llama.cpp's server, vLLM and others.

Wire format: developers.openai.com, API reference. Answers are held to the schema by
`response_format`, in one of two forms: `json_schema`, and for a server that refuses it (the Python
server of llama.cpp does) `json_object` with the schema in it and in the prompt.
"""

import json
from typing import Any, Final, Literal

from agentm_assets.models.answers import (
    NOTHING_USED,
    ROOM_FOR_THOUGHT,
    count,
    cut_off,
    no_answer,
    over_long_question,
    refused,
    table,
    too_long,
    usable,
)
from agentm_assets.models.base_url import host_of, is_loopback
from agentm_assets.models.http_calls import BodyTooLong, HttpAnswer, HttpCalls, error_code
from agentm_assets.models.openai_batches import OpenAIBatches
from agentm_assets.models.pace import Pace
from agentm_assets.models.prices import Price, cost_of
from agentm_assets.models.protocol import (
    AnswerUnusable,
    BatchProvider,
    ModelError,
    ModelMisconfigured,
    ModelReply,
    ModelRequest,
    Usage,
)
from agentm_assets.models.schema_modes import for_decoding, is_strict

BASE_URL = "https://api.openai.com/v1"
OFFICIAL_HOST = "api.openai.com"

_TOO_LONG = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
)
_FORM_REFUSED = frozenset({400, 415, 422, 501})

Form = Literal["json_schema", "json_object"]


class OpenAICompatibleProvider:
    """One model of one server. `key` None: the server wants none. `has_batches`: it has files and
    batches, as OpenAI has."""

    def __init__(
        self,
        model: str,
        key: str | None,
        *,
        base_url: str = BASE_URL,
        price: Price | None = None,
        has_batches: bool | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._model = model
        self._price = price
        self._pace = pace or Pace()
        self._is_official: Final = host_of(base_url) == OFFICIAL_HOST
        self._has_batches = self._is_official if has_batches is None else has_batches
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self._http = HttpCalls(base_url, headers, self._pace)
        self._form: Form = "json_schema"

    @property
    def model_id(self) -> str:
        return f"openai-compatible/{self._model}"

    @property
    def batches(self) -> BatchProvider | None:
        if not self._has_batches:
            return None
        return OpenAIBatches(self._http, self.body, self.reply, self.refusal)

    def ask(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        began = self._pace.clock()
        form = self._form
        answer = self._post(request, form, timeout)
        if form == "json_schema" and self._refuses_form(answer):
            left = timeout - (self._pace.clock() - began)
            second = self._post(request, "json_object", left)
            if second.ok:
                self._form = "json_object"  # the next call begins with what this server takes
                answer = second
        if not answer.ok:
            raise self.refusal(answer)
        return self.reply(answer.json(), self._pace.clock() - began, in_batch=False)

    def reachable(self, *, timeout: float) -> str | None:
        path = f"/models/{self._model}" if self._is_official else "/models"
        try:
            answer = self._http.get(path, timeout=timeout)
        except ModelError as error:
            return str(error)
        if self._is_official:
            return None if answer.ok else str(self.refusal(answer))
        if answer.status == 404:
            return None  # it answers, and has no list of its models
        if not answer.ok:
            return str(self.refusal(answer))
        return self._not_listed(answer.json())

    def body(self, request: ModelRequest, form: Form | None = None) -> dict[str, object]:
        """The body of a chat completion."""
        form = form or self._form
        room = ROOM_FOR_THOUGHT if self._is_official else 0
        most = "max_completion_tokens" if self._is_official else "max_tokens"
        schema = for_decoding(request.schema) if self._is_official else dict(request.schema)
        system, wanted = request.system, _response_format(request, schema, form)
        if form == "json_object":
            system += f"\n\nAnswer with one JSON object of this schema:\n{json.dumps(schema)}"
        return {
            "model": self._model,
            most: request.max_output_tokens + room,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": request.user},
            ],
            "response_format": wanted,
        }

    def reply(self, completion: Any, seconds: float, *, in_batch: bool) -> ModelReply:
        """A chat completion as a reply. Raises AnswerUnusable."""
        choices = table(completion).get("choices")
        if not isinstance(choices, list) or not choices:
            raise no_answer("not a chat completion in JSON")
        used = table(table(completion).get("usage"))
        tokens = count(used, "prompt_tokens"), count(used, "completion_tokens")
        usage = Usage(*tokens, cost_of(self._price, *tokens, in_batch=in_batch))
        choice = table(choices[0])
        message = table(choice.get("message"))
        finished = choice.get("finish_reason")
        if finished == "length":
            raise cut_off(usage)
        if finished == "content_filter" or message.get("refusal"):
            raise refused(usage)
        text = message.get("content")
        if finished not in ("stop", None) or not isinstance(text, str):
            raise AnswerUnusable("the model stopped before it had answered.", usage)
        model = table(completion).get("model")
        named = model if isinstance(model, str) and model else self._model
        return ModelReply(usable(text, usage), named, usage, seconds)

    def refusal(self, answer: HttpAnswer) -> ModelError:
        """Why a request was not taken."""
        code = error_code(answer.json())
        if answer.status == 413 or code in _TOO_LONG:
            return over_long_question()
        if answer.status == 404:
            return ModelMisconfigured(
                f"the server knows no model {self._model}, or base_url is not right (404). It ends "
                "in /v1 with most servers."
            )
        return ModelMisconfigured(
            f"the model's server does not take the request ({answer.status}"
            f"{', ' if code else ''}{code}). Check that it has structured outputs."
        )

    def _post(self, request: ModelRequest, form: Form, timeout: float) -> HttpAnswer:
        try:
            return self._http.post(
                "/chat/completions", self.body(request, form), timeout=timeout, is_repeatable=True
            )
        except BodyTooLong:
            raise too_long(NOTHING_USED) from None

    def _refuses_form(self, answer: HttpAnswer) -> bool:
        return answer.status in _FORM_REFUSED and error_code(answer.json()) not in _TOO_LONG

    def _not_listed(self, listed: Any) -> str | None:
        models = table(listed).get("data")
        names = {table(each).get("id") for each in models} if isinstance(models, list) else set()
        if not names or names & {self._model, f"{self._model}:latest"}:
            return None
        if len(names) == 1 and is_loopback(host_of(self._http.base_url)):
            return None  # llama.cpp's server has one model and gives it whatever it is called
        return (
            f"the server answers, and has no model {self._model}. Load it there, or correct the "
            "model's name."
        )


def _response_format(
    request: ModelRequest, schema: dict[str, Any], form: Form
) -> dict[str, object]:
    if form == "json_object":
        return {"type": "json_object", "schema": schema}
    named = {"name": request.schema_name, "schema": schema, "strict": is_strict(schema)}
    return {"type": "json_schema", "json_schema": named}
