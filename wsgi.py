"""The web application for a WSGI server: `gunicorn wsgi:app`, settings from the environment."""

import os

from server import create_app, db, journal, settings

_settings = settings.load(os.environ)
journal.begin(_settings.log_format)
db.use(_settings.database)
app = create_app(_settings)
