"""How every model here is run: onnxruntime on one thread, one text a run.

Dynamic int8 quantisation takes its scale from the whole batch, so that in a padded batch a text's
result would depend on its neighbours. Alone it depends on nothing else, however many run at once.
"""

import os
import re
from pathlib import Path

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as states

SESSION_ERRORS: tuple[type[Exception], ...] = (
    states.EPFail,
    states.EngineError,
    states.Fail,
    states.InvalidArgument,
    states.InvalidGraph,
    states.InvalidProtobuf,
    states.ModelLoaded,
    states.NoModel,
    states.NoSuchFile,
    states.NotImplemented,
    states.RuntimeException,
    RuntimeError,
    ValueError,
    OSError,
)
"""What opening or running a graph raises: onnxruntime's own errors have no base in common."""

_SURROGATES = re.compile("[\ud800-\udfff]")


def open_session(graph: Path) -> onnxruntime.InferenceSession:
    """A session of an ONNX graph. Parallelism comes from several runs: one thread a run, and
    nothing spins while idle. Raises one of SESSION_ERRORS."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # errors; they are raised as well
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])


def encodable(text: str) -> str:
    """The text without what UTF-8 cannot hold: tokenizers take no surrogates."""
    return _SURROGATES.sub("\ufffd", text)


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
