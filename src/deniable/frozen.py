"""Frozen records for the rooms a phone needs: what `dataclasses` does, without the 20 ms it takes to load.

`dataclasses` brings `inspect`, `ast`, `dis` and `tokenize` with it, more than a first report takes in all. Type checkers see
the real decorator, and so does everything that asks a class for its fields: `dataclasses.fields`, `replace`, `asdict` and real
dataclasses that inherit from these all work.
"""

from __future__ import annotations

from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass, field, fields, replace

    __all__ = ["dataclass", "field", "fields", "replace"]
else:
    NOTHING = object()

    class Field:
        """One field of a frozen record, under the names that `dataclasses.Field` uses."""

        __slots__ = ("compare", "default", "default_factory", "init", "kw_only", "name", "repr", "type")

        def __init__(self, default, default_factory, init, compare, shown):
            self.default, self.default_factory = default, default_factory
            self.init, self.compare, self.repr = init, compare, shown

        @property
        def in_signature(self):
            """How `__init__` takes it."""
            return self.name if self.default is self.default_factory is NOTHING else f"{self.name}=_default_{self.name}"

        @property
        def value(self):
            """What `__init__` keeps of it."""
            if self.default_factory is NOTHING:
                return self.name
            return f"_factory_{self.name}() if {self.name} is _default_{self.name} else {self.name}"

    def field(*, default=NOTHING, default_factory=NOTHING, init=True, compare=True, repr=True):  # noqa: A002 (the words of dataclasses)
        """A field with more to say than its type and default."""
        return Field(default, default_factory, init, compare, repr)

    def fields(record):
        """The fields of a record or its class, those of real dataclasses that inherit from one included."""
        for cls in (record if isinstance(record, type) else type(record)).__mro__:
            if "__frozen_fields__" in cls.__dict__:
                return tuple(cls.__frozen_fields__.values())
            if "__dataclass_fields__" in cls.__dict__:
                import dataclasses

                return dataclasses.fields(cls)
        raise TypeError("fields() must be asked of a record")

    def replace(record, **changes):
        """The same record with other values in some fields."""
        kept = {own.name: getattr(record, own.name) for own in fields(record) if own.init}
        return type(record)(**{**kept, **changes})

    class AsDataclass:
        """What `dataclasses` looks for in a class, made when it is looked for."""

        def __init__(self, name):
            self.name = name

        def __get__(self, instance, owner):
            import dataclasses

            home = next(cls for cls in owner.__mro__ if "__frozen_fields__" in cls.__dict__)
            told = []
            for own in home.__frozen_fields__.values():
                defaults = {} if own.default is NOTHING else {"default": own.default}
                if own.default_factory is not NOTHING:
                    defaults["default_factory"] = own.default_factory
                same = {"init": own.init, "compare": own.compare, "repr": own.repr, "kw_only": own.kw_only}
                told.append((own.name, own.type, dataclasses.field(**defaults, **same)))
            shape = dataclasses.make_dataclass(home.__name__, told, frozen=True, eq="__eq__" in home.__dict__)
            home.__dataclass_fields__, home.__dataclass_params__ = shape.__dataclass_fields__, shape.__dataclass_params__
            return getattr(home, self.name)

    def dataclass(*, frozen, init=True, repr=True, eq=True, kw_only=False, slots=False):  # noqa: A002
        """The decorator of `dataclasses`, for frozen records."""
        assert frozen, "only frozen records belong in these rooms"

        def made(cls):
            cls.__frozen_fields__ = found = _fields_of(cls, kw_only)
            arguments = [own for own in found.values() if own.init]
            positional = [own for own in arguments if not own.kw_only]
            methods = {"__setattr__": _refusal(cls, "assign to"), "__delattr__": _refusal(cls, "delete")}
            if init:
                methods["__init__"] = _initialiser(cls, positional, [own for own in arguments if own.kw_only])
            if repr:
                methods["__repr__"] = _representation([name for name, own in found.items() if own.repr])
            if eq:
                methods.update(_equality([name for name, own in found.items() if own.compare]))
            for name, method in methods.items():
                # A class that says `__eq__` and no `__hash__` has None there, which is no decision of its author.
                if name not in cls.__dict__ or (name == "__hash__" and cls.__dict__[name] is None):
                    method.__name__, method.__qualname__, method.__module__ = name, f"{cls.__qualname__}.{name}", cls.__module__
                    setattr(cls, name, method)
            cls.__match_args__ = tuple(own.name for own in positional)
            for name in ("__dataclass_fields__", "__dataclass_params__"):
                setattr(cls, name, AsDataclass(name))
            return _with_slots(cls, tuple(found)) if slots else cls

        return made

    def _fields_of(cls, kw_only):
        """The fields of a class: those of its bases, in order, then its own."""
        found = {}
        for base in reversed(cls.__mro__[1:]):
            found.update(base.__dict__.get("__frozen_fields__", {}))
        for name, annotation in cls.__dict__.get("__annotations__", {}).items():  # noqa: RUF063 (inspect is what we avoid)
            if (annotation if isinstance(annotation, str) else repr(annotation)).startswith(("ClassVar", "typing.ClassVar")):
                continue
            given = cls.__dict__.get(name, NOTHING)
            own = given if isinstance(given, Field) else Field(given, NOTHING, True, True, True)
            own.name, own.type, own.kw_only = name, annotation, kw_only
            found[name] = own
            if isinstance(given, Field):
                if own.default is NOTHING:
                    delattr(cls, name)
                else:
                    setattr(cls, name, own.default)
        return found

    def _initialiser(cls, positional, named):
        """`__init__` as one would write it, so that help and editors show it."""
        taken = [own.in_signature for own in positional]
        if named:
            taken += ["*", *(own.in_signature for own in named)]
        known = {"_set": object.__setattr__}
        for own in (*positional, *named):
            known[f"_default_{own.name}"] = own.default
            known[f"_factory_{own.name}"] = own.default_factory
        lines = [f" _set(self, {own.name!r}, {own.value})" for own in (*positional, *named)]
        if hasattr(cls, "__post_init__"):
            lines.append(" self.__post_init__()")
        source = f"def __init__({', '.join(['self', *taken])}):\n" + "\n".join(lines or [" pass"])
        exec(source, known)  # noqa: S102 (names of fields only, as dataclasses does)
        written = known["__init__"]
        written.__annotations__ = {own.name: own.type for own in (*positional, *named)} | {"return": None}
        return written

    def _refusal(cls, verb):
        names = frozenset(cls.__frozen_fields__)
        plain = object.__setattr__ if verb == "assign to" else object.__delattr__

        def refuse(self, name, *value):
            if type(self) is cls or name in names:
                from dataclasses import FrozenInstanceError

                raise FrozenInstanceError(f"cannot {verb} field {name!r}")
            plain(self, name, *value)

        return refuse

    def _representation(names):
        def shown(self):
            return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

        return shown

    def _equality(names):
        compared = attrgetter(*names) if names else lambda record: ()

        def equal(self, other):
            return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

        def hashed(self):
            return hash(compared(self))

        return {"__eq__": equal, "__hash__": hashed}

    def _with_slots(cls, names):
        """The same class with slots, which only a new class can have."""
        body = {name: value for name, value in cls.__dict__.items() if name not in (*names, "__dict__", "__weakref__")}

        def state_of(self):
            return [getattr(self, name) for name in names]

        def restore(self, state):
            for name, value in zip(names, state, strict=True):
                object.__setattr__(self, name, value)

        body |= {"__slots__": names, "__getstate__": state_of, "__setstate__": restore}
        return type(cls)(cls.__name__, cls.__bases__, body)
