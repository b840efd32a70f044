"""The web application for a WSGI server: `gunicorn wsgi:app`, settings from the environment."""

import os

from server import create_app, db, settings

_settings = settings.load(os.environ)
db.use(_settings.database)
app = create_app(_settings)
