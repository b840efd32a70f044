"""How a plugin of Apprise is made to send one message: quietly, by our own exchanges, and without waiting."""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Collection, Mapping
from typing import Any, Final

from server.channels import Brief, DeliveryError
from server.channels.guarded import Passage

# Where each plugin is found in the library: module and class. There are no others for us.
PLUGINS: Final = {
    "discord": ("apprise.plugins.discord", "NotifyDiscord"),
    "matrix": ("apprise.plugins.matrix.base", "NotifyMatrix"),
    "ntfy": ("apprise.plugins.ntfy", "NotifyNtfy"),
    "slack": ("apprise.plugins.slack", "NotifySlack"),
    "telegram": ("apprise.plugins.telegram", "NotifyTelegram"),
}
_DOOR: Final = threading.Lock()


def over(
    kind: str,
    passage: Passage,
    brief: Brief,
    text: str,
    given: Mapping[str, Any],
    *,
    hosts: Collection[str],
    lasting: Collection[int] = (),
    after: Mapping[str, Any] | None = None,
) -> None:
    """Have the plugin of a kind, made with what is `given`, send title and text of a message.

    `hosts` are the machines it may speak to, `lasting` the answers that will not become better, and `after` what is set
    on the plugin when it is made. Raises `DeliveryError`.
    """
    # As with the library itself: only who sends something needs it.
    from server.channels.apprise.exchanges import IN_HAND

    session = passage.session(hosts)
    held = IN_HAND.set(session)
    try:
        sent = _made(kind, given, after or {}).notify(title=brief.title, body=text, body_format="text")
    except Exception as fault:  # noqa: BLE001 - whatever a plugin fails at, its words may hold a secret
        raise DeliveryError(f"cannot be written: {type(fault).__name__}") from None
    finally:
        IN_HAND.reset(held)
        session.close()
    if not sent:
        raise session.refusal(lasting)


def _made(kind: str, given: Mapping[str, Any], after: Mapping[str, Any]) -> Any:
    """Return the library with this one plugin; it turns plain text into what the service wants."""
    plugin_class, asset = _plugin(kind), _asset()
    plugin = plugin_class(asset=asset, **given)
    # It waits between two exchanges, and as long as an answer wants; how long to wait is for the queue to say.
    for name, value in {"throttle": _not_waiting, **after}.items():
        setattr(plugin, name, value)
    library = importlib.import_module("apprise").Apprise(asset=asset)
    library.add(plugin)
    return library


def _not_waiting(*_given: Any, **_named: Any) -> None:
    """Stands where a plugin would wait."""


def _plugin(kind: str) -> Any:
    """Return the class of a plugin; it takes time and space to import, so only who sends something does."""
    from server.channels.apprise.exchanges import Exchanges

    place, name = PLUGINS[kind]
    with _DOOR:
        # What it logs holds addresses and messages.
        logging.getLogger("apprise").disabled = True
        module = importlib.import_module(place)
        if not isinstance(vars(module)["requests"], Exchanges):
            vars(module)["requests"] = Exchanges()
    return vars(module)[name]


def _asset() -> Any:
    """Return what the library is to go by: our name, and no memory, plugins or pictures from elsewhere."""
    asset = importlib.import_module("apprise.asset").AppriseAsset
    return asset(app_id="Clachan", app_desc="Clachan", app_url="", secure_logging=True, async_mode=False)
