"""The web application for a WSGI server of one's own, settings from the environment; `clachan web` brings one."""

import os

from server import create_app, db, journal, settings

_settings = settings.load(os.environ)
journal.begin(_settings.log_format)
db.use(_settings.database)
app = create_app(_settings)
