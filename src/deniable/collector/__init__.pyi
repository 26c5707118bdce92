from deniable.collector.addresses import Proxies as Proxies
from deniable.collector.app import make_app as make_app
from deniable.collector.dashboard.pages import routes as routes
from deniable.collector.gateway import gateway_keys as gateway_keys
from deniable.collector.limits import Limits as Limits
from deniable.collector.planned import Planned as Planned
from deniable.collector.planned import opened as opened
from deniable.collector.planned import planned_survey as planned_survey
from deniable.collector.planned import planned_surveys as planned_surveys
from deniable.collector.server import Serving as Serving
from deniable.collector.server import listening_socket as listening_socket
from deniable.collector.server import make_server as make_server
from deniable.collector.server import run_workers as run_workers
from deniable.collector.server import serve as serve
from deniable.collector.server import serve_relay as serve_relay
from deniable.collector.state import current_period as current_period
from deniable.collector.store import Arrival as Arrival
from deniable.collector.store import Store as Store
from deniable.collector.writer import Writer as Writer

__all__: list[str]
