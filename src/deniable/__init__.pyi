from deniable.core import OGPM as OGPM
from deniable.core import Binary as Binary
from deniable.core import Categories as Categories
from deniable.core import Certificate as Certificate
from deniable.core import Circle as Circle
from deniable.core import CircularWindow as CircularWindow
from deniable.core import Epsilon as Epsilon
from deniable.core import HadamardResponse as HadamardResponse
from deniable.core import HybridMechanism as HybridMechanism
from deniable.core import Interval as Interval
from deniable.core import KaryRandomizedResponse as KaryRandomizedResponse
from deniable.core import Laplace as Laplace
from deniable.core import Mechanism as Mechanism
from deniable.core import NearestCells as NearestCells
from deniable.core import OptimizedLocalHashing as OptimizedLocalHashing
from deniable.core import OptimizedUnaryEncoding as OptimizedUnaryEncoding
from deniable.core import Privacy as Privacy
from deniable.core import RandomizedResponse as RandomizedResponse
from deniable.core import Record as Record
from deniable.core import Rectangle as Rectangle
from deniable.core import Report as Report
from deniable.core import SquareWave as SquareWave
from deniable.core import SubsetSelection as SubsetSelection
from deniable.core import Window as Window
from deniable.core import decode_report as decode_report
from deniable.core import decode_reports as decode_reports
from deniable.core import encode_report as encode_report
from deniable.core import encode_reports as encode_reports
from deniable.core import mechanism_from_recipe as mechanism_from_recipe
from deniable.core import names as names
from deniable.core import register as register
from deniable.errors import DeniableError as DeniableError
from deniable.errors import OutOfDomain as OutOfDomain
from deniable.surveys import Client as Client

__version__: str
__all__: list[str]
