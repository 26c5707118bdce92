"""What is logged, and in which form. All of it goes to the error output, which is not for programs."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, message; of a request its method, path and status, and nothing about its sender."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": moment.replace("+00:00", "Z"), "level": record.levelname.lower()}
        if record.name == "uvicorn.access" and isinstance(record.args, tuple) and len(record.args) == 5:
            _, method, path, _, status = record.args
            line |= {"message": "request", "method": method, "path": str(path).partition("?")[0], "status": status}
        else:
            line["message"] = record.getMessage()
            if record.exc_info and record.exc_info[0] is not None:
                line["error"] = record.exc_info[0].__name__
        return json.dumps(line)


def logging_of(*, access: bool, form: str) -> dict[str, Any]:
    """Errors, and one line for each request when that is asked for.

    Uvicorn's warnings are about what strangers send, and strangers must not fill a log.
    """
    access_form = {"()": "uvicorn.logging.AccessFormatter", "fmt": '%(client_addr)s "%(request_line)s" %(status_code)s'}
    texts = {"access": {**access_form, "use_colors": False}, "default": {"format": "deniable: %(message)s"}}
    lines = {name: {"()": JsonLines} for name in texts}
    handler = {"class": "logging.StreamHandler", "stream": "ext://sys.stderr"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": lines if form == "json" else texts,
        "handlers": {name: {**handler, "formatter": name} for name in texts},
        "loggers": {
            "deniable.collector": {"handlers": ["default"], "level": "WARNING", "propagate": False},
            "uvicorn": {"handlers": ["default"], "level": "ERROR", "propagate": False},
            "uvicorn.error": {"level": "ERROR"},  # without a level of its own it would trace every connection
            "uvicorn.access": {"handlers": ["access"] if access else [], "level": "INFO", "propagate": False},
        },
    }
