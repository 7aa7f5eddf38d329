import ast
from pathlib import Path

import pytest

ROUTING = sorted((Path(__file__).resolve().parents[2] / "agentm_assets/routing").glob("*.py"))
PLUGINS = {"vault_backend", "fsspec_backend"}


@pytest.mark.parametrize("file", ROUTING, ids=lambda file: file.name)
def test_routing_imports_no_backend_plugin_and_asks_for_no_class(file: Path) -> None:
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").rpartition(".")[2] not in PLUGINS
            assert not {alias.name for alias in node.names} & PLUGINS
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            classes = ast.unparse(node) if node.func.id in ("isinstance", "issubclass") else ""
            assert "Backend" not in classes and "LocalFiles" not in classes
