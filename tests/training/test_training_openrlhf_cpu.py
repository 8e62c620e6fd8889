from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from prorl_training.engine.openrlhf.cpu import flash_attention, hook, trainer_patches, weight_sync
from prorl_training.engine.openrlhf.launch.environment import STARTUP


def python(code: str, *folders: Path, **variables: str) -> str:
    """Run a program in a new interpreter whose path begins with the layer's folder, then ``folders``."""
    path = (
        os.pathsep.join(map(str, (STARTUP, *folders)))
        + os.pathsep
        + os.environ.get("PYTHONPATH", "")
    )
    given = {**os.environ, "PYTHONPATH": path, "PRORL_OPENRLHF_CPU": "1", **variables}
    done = subprocess.run(
        [sys.executable, "-c", code], env=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def fake_openrlhf(folder: Path, version: str = "0.11.2") -> None:
    """Write a package ``openrlhf`` with one module that the layer changes, and its metadata."""
    package = folder / "openrlhf" / "utils"
    package.mkdir(parents=True)
    (folder / "openrlhf" / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "distributed_util.py").write_text(
        "from torch import cuda\ndef stateless_init_process_group():\n    return 'nccl'\n"
    )
    metadata = folder / f"openrlhf-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: openrlhf\nVersion: {version}\n"
    )


IMPORT = "import openrlhf.utils.distributed_util as m; f = m.stateless_init_process_group; "


def test_every_patch_named_exists_and_can_be_called() -> None:
    places = [place for group in hook.AFTER.values() for place in group] + list(
        hook.AROUND.values()
    )
    assert all(callable(hook._function(place)) for place in places)


def test_a_fresh_interpreter_patches_a_module_after_it_has_run_and_cuda_calls_mean_the_cpu(
    tmp_path: Path,
) -> None:
    fake_openrlhf(tmp_path)
    code = IMPORT + (
        "print(f.__module__, type(m.__loader__).__name__, type(m.__spec__.loader).__name__)\n"
        "import torch; cuda = torch.cuda; cuda.set_device(0); cuda.synchronize(); "
        "print(torch.ones(1).to(cuda.current_device()).device, cuda.current_stream(), cuda.is_available())"
    )
    assert python(code, tmp_path).splitlines() == [
        "prorl_training.engine.openrlhf.cpu.weight_sync SourceFileLoader SourceFileLoader",
        "cpu None False",
    ]


def test_nothing_is_patched_unless_the_switch_is_on(tmp_path: Path) -> None:
    fake_openrlhf(tmp_path)
    code = (
        IMPORT + "import sys; print(f(), any('hook' in type(x).__module__ for x in sys.meta_path))"
    )
    assert python(code, tmp_path, PRORL_OPENRLHF_CPU="0") == "nccl False"


def test_nothing_is_patched_where_torch_sees_a_gpu(tmp_path: Path) -> None:
    fake_openrlhf(tmp_path)
    code = "import torch; torch.cuda.is_available = lambda: True; " + IMPORT + "print(f())"
    assert python(code, tmp_path) == "nccl"


def test_another_openrlhf_is_refused_when_it_is_imported(tmp_path: Path) -> None:
    fake_openrlhf(tmp_path, "0.12.0")
    code = (
        "from prorl_common import UserError\n"
        "try:\n    import openrlhf.utils.distributed_util\n"
        "except UserError as error:\n    print(error)"
    )
    assert "openrlhf 0.12.0 is installed" in python(code, tmp_path)


def test_starting_python_imports_no_torch() -> None:
    assert (
        python("import sys; print('torch' in sys.modules, 'pydantic' in sys.modules)")
        == "False False"
    )


def test_the_machines_own_sitecustomize_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.mine = 'ran'\n")
    code = "import sys, sitecustomize; print(mine, sitecustomize.__file__)"
    for switch in ("1", "0"):
        out = python(code, tmp_path, PRORL_OPENRLHF_CPU=switch)
        assert out == f"ran {tmp_path / 'sitecustomize.py'}"


def test_flash_attention_can_be_imported_only_meanwhile() -> None:
    with flash_attention.stand_in():
        from flash_attn.bert_padding import (  # type: ignore[import-not-found]
            unpad_input,
        )

        assert unpad_input is flash_attention.unpad_input
    assert "flash_attn" not in sys.modules
    assert "flash_attn.utils.distributed" not in sys.modules


def test_unpadding_keeps_the_marked_rows_and_padding_puts_them_back_with_gradients() -> None:
    hidden = torch.arange(24.0).view(2, 4, 3).requires_grad_()
    mask = torch.tensor([[0, 1, 1, 1], [1, 1, 0, 0]])
    rows, indices, cumulative, longest, lengths = flash_attention.unpad_input(hidden, mask)
    assert rows.shape == (5, 3)
    assert cumulative.tolist() == [0, 3, 5]
    assert cumulative.dtype == torch.int32
    assert (longest, lengths.tolist()) == (3, [3, 2])
    back = flash_attention.pad_input(rows, indices, 2, 4)
    assert torch.equal(back, hidden * mask.unsqueeze(-1))
    back.sum().backward()
    assert hidden.grad is not None
    assert torch.equal(hidden.grad, mask.unsqueeze(-1).expand(2, 4, 3).float())


def test_models_load_with_sdpa_where_flash_attention_is_asked_for() -> None:
    asked = []

    class Actor:
        def __init__(self, path: str, attn_implementation: str = "flash_attention_2") -> None:
            asked.append(attn_implementation)

    module: Any = SimpleNamespace(Actor=Actor)
    flash_attention.use_sdpa(module)
    module.Actor("m")
    module.Actor("m", "flash_attention_2")
    module.Actor("m", attn_implementation="eager")
    assert asked == ["sdpa", "sdpa", "eager"]


def _communicate(port: int, rank: int, tensors: list[torch.Tensor]) -> None:
    link = weight_sync.GlooCommunicator("127.0.0.1", port, rank, 2)
    for tensor in tensors:
        link.broadcast(tensor)


def test_weights_of_any_type_and_layout_arrive_bit_for_bit() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    sent = [
        torch.randn(7, 5).to(torch.bfloat16),
        torch.randn(4, 6).t(),
        torch.tensor(3.5),
        torch.randn(3, dtype=torch.float64),
    ]
    got = [torch.empty(tensor.shape, dtype=tensor.dtype) for tensor in sent]
    got[1] = torch.empty(4, 6).t()
    receiver = threading.Thread(target=_communicate, args=(port, 1, got))
    receiver.start()
    _communicate(port, 0, sent)
    receiver.join(timeout=60)
    assert all(torch.equal(a, b) for a, b in zip(sent, got, strict=True))


def test_the_worker_loads_what_it_received_and_refuses_another_type() -> None:
    class WorkerWrap:
        def update_weight(self) -> None: ...

    weight_sync.receive_on_cpu(SimpleNamespace(WorkerWrap=WorkerWrap))  # type: ignore[arg-type]
    loaded: list[tuple[str, torch.Tensor]] = []
    worker: Any = WorkerWrap()
    worker.model_config = SimpleNamespace(dtype=torch.bfloat16)
    worker.model_runner = SimpleNamespace(
        model=SimpleNamespace(load_weights=lambda weights: loaded.extend(weights))
    )
    worker._model_update_group = SimpleNamespace(broadcast=lambda tensor, src: tensor.fill_(2))
    worker.update_weight("w", torch.bfloat16, (2, 3))
    ((name, weight),) = loaded
    assert (name, weight.tolist()) == ("w", [[2, 2, 2], [2, 2, 2]])
    with pytest.raises(TypeError, match=r"w arrives as torch\.float32"):
        worker.update_weight("w", torch.float32, (2, 3))


def test_a_linear_layer_keeps_the_weight_that_vllm_would_pack_away() -> None:
    layer: Any = torch.nn.Linear(3, 2)
    utils: Any = SimpleNamespace(dispatch_cpu_unquantized_gemm=None)
    weight_sync.keep_weights(utils)
    utils.dispatch_cpu_unquantized_gemm(layer, remove_weight=True)
    layer.weight.data.fill_(1)
    out = layer.cpu_linear(torch.ones(1, 3), layer.weight, None)
    assert out.tolist() == [[3, 3]]


def test_a_renamed_function_is_an_error_and_not_ignored() -> None:
    with pytest.raises(AttributeError, match="dispatch_cpu_unquantized_gemm"):
        weight_sync.keep_weights(ModuleType("vllm.model_executor.layers.utils"))


def test_the_replay_buffer_hands_out_cpu_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "current_device", lambda: torch.device("cpu"))

    class NaiveReplayBuffer:
        def __init__(self, size: int) -> None:
            self.size = size
            self.target_device = torch.device(f"cuda:{torch.cuda.current_device()}")

    trainer_patches.buffer_on_cpu(SimpleNamespace(NaiveReplayBuffer=NaiveReplayBuffer))  # type: ignore[arg-type]
    buffer = NaiveReplayBuffer(4)
    assert (buffer.size, buffer.target_device.type) == (4, "cpu")
    assert torch.ones(1).to(torch.cuda.current_device()).device.type == "cpu", "put back"


class Strategy:
    """The two methods of OpenRLHF's strategy that are changed."""

    kind = "AdamW"

    def get_ds_train_config(self) -> dict[str, Any]:
        return {"optimizer": {"type": self.kind, "params": {"lr": 1e-6}}}

    def moving_average(self, model: Any, model_ema: Any, beta: float, device: str) -> None:
        self.averaged_on = device


@pytest.mark.parametrize("said, expected", [("1", True), ("0", None)])
def test_torchs_adam_is_taken_when_asked_for(
    said: str, expected: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Own(Strategy): ...

    monkeypatch.setenv(trainer_patches.ADAM, said)
    trainer_patches.choose_adam(SimpleNamespace(DeepspeedStrategy=Own))  # type: ignore[arg-type]
    assert Own().get_ds_train_config()["optimizer"]["params"].get("torch_adam") is expected
    monkeypatch.setattr(Own, "kind", "Muon")
    assert "torch_adam" not in Own().get_ds_train_config()["optimizer"]["params"]


def test_torchs_adam_is_taken_where_nothing_can_be_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(trainer_patches.ADAM, raising=False)
    monkeypatch.setenv("PATH", "")
    assert trainer_patches.wants_torch_adam()
    comm = SimpleNamespace(build_shm_op=lambda: "compiled")
    trainer_patches.without_compiler(comm)  # type: ignore[arg-type]
    assert comm.build_shm_op() is None


def test_moving_averages_and_meshes_stay_on_the_cpu() -> None:
    class Own(Strategy): ...

    module: Any = SimpleNamespace(
        DeepspeedStrategy=Own, init_device_mesh=lambda device, shape, mesh_dim_names: device
    )
    trainer_patches.average_on_cpu(module)
    trainer_patches.mesh_on_cpu(module)
    own = Own()
    own.moving_average(None, None, 0.9, "cuda")
    assert own.averaged_on == "cpu"
    assert module.init_device_mesh("cuda", (1,), mesh_dim_names=("dp",)) == "cpu"
