"""No record breaks a reader, whatever stands in it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.ingest.account import MOST_SAID, Account, moment_of, names
from agentm_assets.ingest.kinds import READERS

WORDS = st.sampled_from(
    sorted(
        names("""
    user assistant summary system session_meta turn_context response_item event_msg message
    function_call custom_tool_call gemini info USER_INPUT PLANNER_RESPONSE tool_use text Write
    write_file apply_patch write_to_file
""")
    )
)
KEYS = st.sampled_from(
    sorted(
        names("""
    type uuid sessionId timestamp cwd message content role payload id name input arguments
    text file_path $set $rewindTo messages projectHash startTime directories kind source
    toolCalls args tool_calls TargetFile step_index created_at isSidechain summary aiTitle
""")
    )
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 5),
        WORDS,
        st.text(max_size=12),
        st.just('["*** Begin Patch\\n*** Add File: a\\n"]'),
        st.just('"'),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)
RECORDS = st.dictionaries(KEYS, VALUES, max_size=6)


@pytest.mark.parametrize("kind", sorted(READERS))
@settings(max_examples=300, deadline=None)
@given(records=st.lists(RECORDS, max_size=4))
def test_no_record_breaks_a_reader(kind: str, records: list[dict[str, Any]]) -> None:
    reader = READERS[kind]  # type: ignore[index]
    account = Account()
    for record in records:
        assert isinstance(reader.is_record(record), bool)
        assert isinstance(reader.session_id(record), str)
        reader.read(record, account)
    texts = [account.session_id, account.title, account.first_prompt, account.folder]
    texts += [account.started, account.ended, *account.touched, *account.unknown]
    texts += [part for said in account.said.values() for part in (said.text, said.at)]
    assert all(isinstance(text, str) for text in texts)
    assert isinstance(account.is_subagent, bool)
    moment_of(account.started)


def test_a_long_session_keeps_a_bounded_part() -> None:
    account = Account()
    for number in range(3 * MOST_SAID):
        account.says(f"u{number}", f"Word {number}.", "")
        account.answers_with(f"a{number}", f"Answer {number}.", "")
        account.does_not_know(f"kind {number}")
    assert (len(account.said), account.prompts) == (MOST_SAID, 3 * MOST_SAID)
    assert account.last_answer is not None
    assert account.last_answer.text == f"Answer {3 * MOST_SAID - 1}."
    assert len(account.answers) < 10 and len(account.unknown) <= 200
