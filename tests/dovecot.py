"""An IMAP server for one run of the tests, made and thrown away."""

from __future__ import annotations

import grp
import imaplib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

PROGRAM = Path("/usr/sbin/dovecot")
USER, PASSWORD = "clachan@example.org", "correct-horse-9"
FOREIGN_USER, FOREIGN_PASSWORD = "zofie@example.org", "kůň příliš žluťoučký"

CONFIGURATION = """\
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
auth_verbose = yes
auth_failure_delay = 0
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <{folder}/certificate.pem
ssl_key = <{folder}/certificate.pem
disable_plaintext_auth = no
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {login}
first_valid_uid = 1
mail_location = maildir:{folder}/mail/%u
passdb {{
  driver = passwd-file
  args = scheme=PLAIN {folder}/passwords
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={folder}/mail/%u
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
  }}
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service stats {{
  chroot =
}}
"""


class Server:
    """A mail server on free ports of loopback, `port` and `tls_port`, with two users; use it in a `with`.

    `certificate_and_key` is PEM. `restart` after `stop` finds the mails again, on the same ports.
    """

    def __init__(self, certificate_and_key: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="clachan-imap-"))
        # Mail is never kept as root, and programs that speak to strangers run as yet another.
        root = os.geteuid() == 0
        me = pwd.getpwnam("dovecot" if root else pwd.getpwuid(os.geteuid()).pw_name)
        login = "dovenull" if root else me.pw_name
        self.port, self.tls_port = _free_port(), _free_port()
        for name in ("run", "state", "mail"):
            (self.folder / name).mkdir()
        (self.folder / "passwords").write_text(f"{USER}:{PASSWORD}\n{FOREIGN_USER}:{FOREIGN_PASSWORD}\n")
        (self.folder / "certificate.pem").write_text(certificate_and_key)
        (self.folder / "log").touch()
        for path in (self.folder, *self.folder.iterdir()):
            os.chown(path, me.pw_uid, me.pw_gid)
        self.folder.chmod(0o755)
        (self.folder / "dovecot.conf").write_text(
            CONFIGURATION.format(
                folder=self.folder,
                user=me.pw_name,
                group=grp.getgrgid(me.pw_gid).gr_name,
                login=login,
                port=self.port,
                tls_port=self.tls_port,
            )
        )
        self.restart()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def restart(self) -> None:
        """Start the server and wait until it answers."""
        with (self.folder / "log").open("a") as words:
            self.process = subprocess.Popen(
                [PROGRAM, "-F", "-c", self.folder / "dovecot.conf"],
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=words,
                start_new_session=True,
            )
        for _ in range(200):
            try:
                with imaplib.IMAP4("127.0.0.1", self.port, timeout=10) as client:
                    client.noop()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        raise RuntimeError(f"the IMAP server of the tests did not start: {self.log()}")

    def stop(self) -> None:
        """End the server and every connection to it; the mails stay."""
        self.process.terminate()
        self.process.wait(20)
        # Those who serve a busy client would go on.
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def log(self) -> str:
        """Return what the server wrote into its log."""
        return (self.folder / "log").read_text()

    def client(self) -> imaplib.IMAP4:
        """Return a client of another program that reads the same mailbox, logged in; use it in a `with`."""
        client = imaplib.IMAP4("127.0.0.1", self.port, timeout=10)
        client.login(USER, PASSWORD)
        return client


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
