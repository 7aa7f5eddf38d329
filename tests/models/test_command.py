"""An agent's command line: real small programs in the agent's place."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from asking import question

from agentm_assets.models.command import CommandProvider, prompt
from agentm_assets.models.prices import Price
from agentm_assets.models.protocol import (
    AnswerUnusable,
    ModelMisconfigured,
    ModelUnavailable,
)

Agent = Callable[..., CommandProvider]


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    def make(
        program: str, env: dict[str, str] | None = None, price: Price | None = None
    ) -> CommandProvider:
        script = tmp_path / "agent.py"
        script.write_text(f"import json, os, subprocess, sys, time\n{program}\n")
        given = {"PATH": os.environ["PATH"], **(env or {})}
        return CommandProvider([sys.executable, str(script)], "agent", given, price=price)

    return make


def test_the_question_stands_on_standard_input_and_the_answer_on_standard_output(
    agent: Agent,
) -> None:
    reply = agent("print(json.dumps({'length': len(sys.stdin.read())}))").ask(
        question(), timeout=30
    )
    asked = prompt(question())
    assert json.loads(reply.text) == {"length": len(asked)}
    assert question().system in asked
    assert question().user in asked
    assert '"confidence"' in asked
    assert reply.usage.input_tokens == len(asked) // 4 + 1
    assert reply.usage.cost is None


def test_it_runs_in_an_empty_folder_with_agentms_hooks_off(agent: Agent) -> None:
    program = "print(json.dumps([os.listdir(), os.getcwd(), os.environ.get('AGENTM_HOOKS')]))"
    reply = agent(program, {"AGENTM_HOOKS": "on"}).ask(question(), timeout=30)
    files, folder, hooks = json.loads(reply.text)
    assert (files, hooks) == ([], "off")
    assert folder != os.getcwd()
    assert not os.path.exists(folder), "and the folder is gone afterwards"


def test_two_questions_do_not_share_a_folder(agent: Agent) -> None:
    provider = agent("print(json.dumps([os.listdir(), open('left', 'w').write('x')]))")
    for _ in range(2):
        assert json.loads(provider.ask(question(), timeout=30).text)[0] == []


def test_what_does_not_end_is_killed_with_its_children(agent: Agent, tmp_path: Path) -> None:
    told = tmp_path / "child"
    program = (
        "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        f"open({str(told)!r}, 'w').write(str(child.pid))\n"
        "print('{', flush=True)\n"
        "import signal; signal.pause()"
    )
    with pytest.raises(ModelUnavailable, match="did not answer within 3 s"):
        agent(program).ask(question(), timeout=3)
    assert _is_gone(int(told.read_text()))


def test_a_child_that_outlives_the_agent_keeps_nobody_waiting(agent: Agent, tmp_path: Path) -> None:
    told = tmp_path / "child"
    program = (
        "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        f"open({str(told)!r}, 'w').write(str(child.pid))\n"
        "print('{\"ok\": true}')"
    )
    assert agent(program).ask(question(), timeout=60).text == '{"ok": true}'
    assert _is_gone(int(told.read_text()))


def test_an_agent_that_closes_its_output_and_goes_on_is_waited_for(agent: Agent) -> None:
    program = "print('{}', flush=True); os.close(1); time.sleep(0.3); os._exit(0)"
    assert agent(program).ask(question(), timeout=60).text == "{}"


def test_what_the_agent_says_beside_its_answer_is_no_part_of_it(agent: Agent) -> None:
    program = "print('a warning', file=sys.stderr, flush=True); print('{}')"
    assert agent(program).ask(question(), timeout=60).text == "{}"


def test_an_endless_answer_is_cut_short(agent: Agent) -> None:
    with pytest.raises(AnswerUnusable, match="longer than"):
        agent("while True: sys.stdout.write('x' * 65536)").ask(question(), timeout=60)


def test_an_answer_over_a_megabyte_is_unusable(agent: Agent) -> None:
    with pytest.raises(AnswerUnusable, match="longer than"):
        agent("print('x' * 1_000_001)").ask(question(), timeout=60)


def test_no_answer_is_unusable(agent: Agent) -> None:
    with pytest.raises(AnswerUnusable, match="nothing"):
        agent("pass").ask(question(), timeout=60)


def test_a_failing_agent_is_unavailable_and_what_it_says_is_not_repeated(agent: Agent) -> None:
    program = "q = sys.stdin.read(); print(q); print(q, file=sys.stderr); sys.exit(3)"
    with pytest.raises(ModelUnavailable, match="code 3") as caught:
        agent(program).ask(question(), timeout=60)
    assert "kettle" not in str(caught.value)


def test_no_such_program_is_the_operators_to_mend() -> None:
    provider = CommandProvider(["no-such-agent-here"], "agent", {"PATH": os.environ["PATH"]})
    with pytest.raises(ModelMisconfigured, match="no-such-agent-here can't be started"):
        provider.ask(question(), timeout=10)
    assert "no program" in (provider.reachable(timeout=1) or "")


def test_reachable_does_not_start_the_agent(agent: Agent, tmp_path: Path) -> None:
    provider = agent(f"open({str(tmp_path / 'started')!r}, 'w')")
    assert provider.reachable(timeout=1) is None
    assert not (tmp_path / "started").exists()
    assert (provider.batches, provider.model_id) == (None, "command/agent")


def test_the_envelope_of_claude_code_is_opened(agent: Agent) -> None:
    envelope = {
        "type": "result",
        "is_error": False,
        "result": '{"type": "fix"}',
        "total_cost_usd": 0.0123,
        "usage": {"input_tokens": 11, "cache_read_input_tokens": 5, "output_tokens": 7},
    }
    reply = agent(f"print({json.dumps(envelope)!r})").ask(question(), timeout=60)
    assert reply.text == '{"type": "fix"}'
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cost) == (
        16,
        7,
        0.0123,
    )
    held = {**envelope, "structured_output": {"type": "idea"}}
    reply = agent(f"print({json.dumps(held)!r})").ask(question(), timeout=60)
    assert json.loads(reply.text) == {"type": "idea"}
    failed = {**envelope, "is_error": True}
    with pytest.raises(AnswerUnusable, match="could not answer"):
        agent(f"print({json.dumps(failed)!r})").ask(question(), timeout=60)


def test_a_price_is_put_on_what_was_estimated(agent: Agent) -> None:
    reply = agent("print('{}')", price=Price(1_000_000, 0)).ask(question(), timeout=60)
    assert reply.usage.cost == reply.usage.input_tokens


def _is_gone(pid: int) -> bool:
    """Whether a process has ended; a killed one may still be on its way out."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
    return False
