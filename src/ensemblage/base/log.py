"""The library's loggers: children of ``ensemblage`` by module, silent unless the user gives them a handler."""

import logging

logging.getLogger("ensemblage").addHandler(logging.NullHandler())

get_logger = logging.getLogger
