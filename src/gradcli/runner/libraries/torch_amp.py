"""Mixed precision: what scripts write for it, which does nothing where there is no CUDA or where it is switched off."""

from __future__ import annotations

from typing import Any, ClassVar

from gradcli.runner.library import TABLE, native
from gradcli.runner.state import Run
from gradcli.runner.values import Class, Context


def is_off(run: Run, what: str, device: str, enabled: Any, warning: str) -> None:
    """Warn as PyTorch does where CUDA is asked for; refuse what would compute in fewer digits on the CPU."""
    if not enabled:
        return
    if not device.startswith("cuda"):
        raise run.refuse(f"'{what}' computes in fewer digits on the CPU: that is not part of gradcli")
    run.note("warning", f"UserWarning: {warning}")


class Scaler:
    """A ``GradScaler`` that is off: losses are not scaled, and a step is the optimizer's."""

    attributes: ClassVar[dict[str, Any]] = {
        "scale": lambda run, me: lambda run, outputs: outputs,
        "step": lambda run, me: (
            lambda run, optimizer, *arguments, **named: run.call(
                run.attribute(optimizer, "step"), list(arguments), named
            )
        ),
        "unscale_": lambda run, me: lambda run, optimizer: None,
        "update": lambda run, me: lambda run, new_scale=None: None,
        "get_scale": lambda run, me: lambda run: 1.0,
        "is_enabled": lambda run, me: lambda run: False,
        "state_dict": lambda run, me: lambda run: {},
        "load_state_dict": lambda run, me: lambda run, state_dict: None,
    }


def new_scaler(run: Run, device: str = "cuda", *_: Any, enabled: bool = True, **__: Any) -> Scaler:
    """Return a scaler that does nothing."""
    warning = "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
    is_off(run, "torch.amp.GradScaler", device, enabled, warning)
    return Scaler()


class Autocast(Context):
    """``autocast`` that is off; as a decorator it leaves a function as it is."""

    def enter(self, run: Run) -> Any:
        """Begin."""
        return self


def new_autocast(run: Run, device_type: str, dtype: Any = None, enabled: bool = True, **_: Any) -> Autocast:
    """Return a context that changes nothing."""
    warning = "User provided device_type of 'cuda', but CUDA is not available. Disabling"
    is_off(run, "torch.autocast", device_type, enabled, warning)
    return Autocast()


def new_cuda_autocast(run: Run, enabled: bool = True, *_: Any, **named: Any) -> Autocast:
    """Return a context that changes nothing, for CUDA."""
    return new_autocast(run, "cuda", enabled=enabled)


TABLE |= {
    "torch.amp.GradScaler": Class("GradScaler", [], {}, new_scaler),
    "torch.cuda.amp.GradScaler": Class("GradScaler", [], {}, lambda run, *_, **named: new_scaler(run, **named)),
    "torch.amp.autocast": Class("autocast", [], {}, new_autocast),
    "torch.cuda.amp.autocast": Class("autocast", [], {}, new_cuda_autocast),
}
TABLE["torch.autocast"] = TABLE["torch.amp.autocast"]
TABLE["torch.amp.grad_scaler.GradScaler"] = TABLE["torch.amp.GradScaler"]
TABLE["torch.amp.autocast_mode.autocast"] = TABLE["torch.amp.autocast"]


@native("torch.is_autocast_enabled", "torch.is_autocast_cpu_enabled")
def is_autocast_enabled(run: Run, device_type: Any = None) -> bool:
    """Return whether numbers are cast: they are not."""
    return False


@native("torch.amp.custom_fwd", "torch.amp.custom_bwd", "torch.cuda.amp.custom_fwd", "torch.cuda.amp.custom_bwd")
def custom_pass(run: Run, function: Any = None, *, device_type: str = "cuda", cast_inputs: Any = None) -> Any:
    """Return a pass of a function as it is, as a decorator too: numbers are not cast."""
    return function if function is not None else lambda run, function: function
