"""Machines of a small network, each a network namespace: cables to one switch, programs that run on them."""

from __future__ import annotations

import ctypes
import os
import re
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

TOOL: Final = shutil.which("ip")
NET: Final = "10.77.0"
ROOT: Final = Path(__file__).parents[2]
_NEW_NET: Final = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def lacking() -> str:
    """Return why this machine cannot have such a network, an empty string if it can."""
    if os.geteuid() != 0 or TOOL is None:
        return "needs root, and `ip` of iproute2"
    name = f"clachan-try-{secrets.token_hex(4)}"
    tried = subprocess.run([TOOL, "netns", "add", name], capture_output=True, text=True, check=False)
    subprocess.run([TOOL, "netns", "del", name], capture_output=True, check=False)
    return "" if tried.returncode == 0 else f"needs the right to make network namespaces ({tried.stderr.strip()})"


def ip(*words: str) -> None:
    """Run the tool that makes networks."""
    done = subprocess.run([str(TOOL), *words], capture_output=True, text=True, check=False, timeout=20)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")


class Network:
    """Machines on one switch, under names of their own run; use it in a `with`, which removes all of it.

    The switch is a namespace too, so nothing is ever seen of the network outside of it.
    """

    def __init__(self, names: Sequence[str], logs: Path) -> None:
        self.mark = f"clachan-{os.getpid()}-{secrets.token_hex(3)}"
        self.names, self.logs = tuple(names), logs
        self.running: list[Program] = []

    def __enter__(self) -> Network:
        _sweep()
        try:
            self._build()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._remove()

    def address(self, name: str) -> str:
        """Return the address of a machine."""
        return f"{NET}.{self.names.index(name) + 1}"

    def cut(self, name: str) -> None:
        """Pull the cable of a machine: its programs run on, and no packet comes or goes."""
        ip("-n", self._space("switch"), "link", "set", name, "down")

    def mend(self, name: str) -> None:
        """Put the cable back."""
        ip("-n", self._space("switch"), "link", "set", name, "up")

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Be on that machine for the block: sockets of this thread, and what it starts, belong there."""
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{self._space(name)}", os.O_RDONLY)
        try:
            _enter(there)
            yield
        finally:
            _enter(own)
            os.close(own)
            os.close(there)

    def start(self, name: str, command: Sequence[object], **more: Any) -> Program:
        """Start a program on a machine; what it says goes into a file of its own."""
        with self.inside(name):
            program = Program(self.logs / f"{name}-{len(self.running)}.log", command, **more)
        self.running.append(program)
        return program

    def _space(self, name: str) -> str:
        return f"{self.mark}-{name}"

    def _build(self) -> None:
        switch = self._space("switch")
        ip("netns", "add", switch)
        ip("-n", switch, "link", "add", "bridge", "type", "bridge")
        ip("-n", switch, "link", "set", "bridge", "up")
        for name in self.names:
            space = self._space(name)
            ip("netns", "add", space)
            ip("-n", switch, "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", space)
            ip("-n", switch, "link", "set", name, "master", "bridge", "up")
            ip("-n", space, "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
            ip("-n", space, "link", "set", "eth0", "up")
            ip("-n", space, "link", "set", "lo", "up")

    def _remove(self) -> None:
        for program in self.running:
            program.kill()
        for name in ("switch", *self.names):
            with suppress(RuntimeError, subprocess.TimeoutExpired):
                ip("netns", "del", self._space(name))


class Program:
    """A running program with all that it starts itself."""

    def __init__(self, said: Path, command: Sequence[object], **more: Any) -> None:
        self.said = said
        with said.open("ab") as out:
            self.process = subprocess.Popen(
                [str(word) for word in command],
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **{"cwd": ROOT, **more},
            )

    def tell(self, number: signal.Signals) -> None:
        """Send the process itself a signal."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """End the program, and what it has started, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(20)

    def log(self) -> str:
        """Return what it has said so far."""
        return self.said.read_text(errors="replace")


def environment(**settings: str) -> Mapping[str, str]:
    """Return the environment of a program of ours with these settings and no others."""
    return {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"} | {f"CLACHAN_{name}": it for name, it in settings.items()}


def _sweep() -> None:
    """Remove what a run has left that was itself killed."""
    listed = subprocess.run([str(TOOL), "netns", "list"], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        name = line.partition(" ")[0]
        found = re.fullmatch(r"clachan-(\d+)-[0-9a-f]{6}-\w+", name)
        if found is None or Path(f"/proc/{found[1]}").exists():
            continue
        inside = subprocess.run([str(TOOL), "netns", "pids", name], capture_output=True, text=True, check=False).stdout
        for number in inside.split():
            with suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)
        with suppress(RuntimeError):
            ip("netns", "del", name)


def _enter(space: int) -> None:
    if _libc.setns(space, _NEW_NET):
        raise OSError(ctypes.get_errno(), "setns")
