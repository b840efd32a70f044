"""A PostgreSQL server for one run of the tests, made and thrown away."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path


def binaries() -> Path | None:
    """Return the folder of the newest server programs on this machine, or None."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: float(path.split("/")[4]))
    return Path(found[-1]).parent if found else None


class Server:
    """A running server on a free port of loopback; `url` names its maintenance database."""

    def __init__(self, programs: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="clachan-pg-"))
        # The server refuses to run as root.
        self.user = pwd.getpwnam("postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name)
        os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        data = self.folder / "data"
        self._run([programs / "initdb", "-D", data, "-A", "trust", "-U", "clachan", "--no-sync", "-E", "UTF8"])
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        options = {
            "listen_addresses": "127.0.0.1",
            "port": port,
            "unix_socket_directories": "",
            "max_connections": 200,
            # What survives a crash of the whole machine is not what these tests ask.
            "fsync": "off",
            "shared_buffers": "64MB",
            "autovacuum": "off",
        }
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        self.process = subprocess.Popen(
            [programs / "postgres", "-D", data, *words],
            user=self.user.pw_uid,
            group=self.user.pw_gid,
            extra_groups=[],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.url = f"postgresql://clachan@127.0.0.1:{port}/postgres"
        ready = [programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port), "-t", "1"]
        for _ in range(300):
            if subprocess.run(ready, check=False).returncode == 0:
                return
            if self.process.poll() is not None:
                break
        raise RuntimeError("the PostgreSQL server of the tests did not start")

    def _run(self, command: list[object]) -> None:
        subprocess.run(
            [str(word) for word in command],
            user=self.user.pw_uid,
            group=self.user.pw_gid,
            extra_groups=[],
            cwd=self.folder,
            check=True,
            stdout=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
        )

    def stop(self) -> None:
        """End the server at once and remove everything."""
        self.process.send_signal(2)
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)
