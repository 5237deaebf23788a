"""JSON schemas out of type hints, and values out of JSON by the same hints.

`str`, `int`, `float`, `bool`, `list[T]`, `dict[str, T]`, `Literal[...]`, enumerations of texts,
`T | None`, dataclasses and `TypedDict`s; `Annotated[T, "what it is", moss.schema.Limits(minimum=1)]`
describes and bounds.
"""

import dataclasses
import enum
import inspect
import types
import typing
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Limits:
    """Bounds of a value: of a number, of the length of a text, of the length of a list."""

    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    min_items: int | None = None
    max_items: int | None = None

    def json(self) -> dict:
        words = {key: value for key, value in dataclasses.asdict(self).items() if value is not None}
        return {_camel(key): value for key, value in words.items()}


def of_parameters(function) -> dict:
    """Returns the schema of a function's parameters."""
    hints = get_type_hints(function, include_extras=True)
    properties, required = {}, []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in hints:
            raise TypeError(f"the parameter `{name}` of `{function.__name__}` has no type")
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"`{function.__name__}` takes `*{name}`; a tool names its parameters")
        properties[name] = of(hints[name])
        if parameter.default is parameter.empty:
            required.append(name)
        elif parameter.default is not None:
            properties[name]["default"] = to_json(parameter.default)
    return _closed(properties, required)


def of(hint: Any) -> dict:
    """Returns the schema of a type."""
    if get_origin(hint) is Annotated:
        base, *notes = get_args(hint)
        schema = of(base)
        for note in notes:
            if isinstance(note, str):
                schema["description"] = note
            elif isinstance(note, Limits):
                schema.update(note.json())
        return schema
    simple = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
    if hint in simple:
        return {"type": simple[hint]}
    if hint in (Any, object):
        return {}
    if hint in (list, dict):
        return {"type": "array" if hint is list else "object"}
    return _of_generic(hint) or _of_class(hint)


def _of_generic(hint: Any) -> dict | None:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is list:
        return {"type": "array", "items": of(arguments[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": of(arguments[1])}
    if origin is Literal:
        return _of_values(list(arguments))
    if origin in (Union, types.UnionType):
        options = [option for option in arguments if option is not type(None)]
        if len(options) == 1:
            # None means absent: moss drops `null` before a call.
            return of(options[0])
        return {"anyOf": [of(option) for option in options]}
    return None


def _of_class(hint: Any) -> dict:
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _of_values([member.value for member in hint])
    if dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint, include_extras=True)
        properties, required = {}, []
        for field in dataclasses.fields(hint):
            properties[field.name] = of(hints[field.name])
            if _has_no_default(field):
                required.append(field.name)
        return _closed(properties, required)
    if typing.is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        properties = {name: of(_unqualified(kind)) for name, kind in hints.items()}
        return _closed(properties, sorted(hint.__required_keys__, key=list(hints).index))
    raise TypeError(f"there is no JSON schema for `{hint}`; use a dataclass or a simpler type")


def from_json(hint: Any, value: Any) -> Any:
    """Makes a value of a type of what was read from JSON and fits its schema."""
    origin, arguments = get_origin(hint), get_args(hint)
    if value is None or hint is Any:
        return value
    if origin is Annotated:
        return from_json(arguments[0], value)
    if origin in (Union, types.UnionType):
        options = [option for option in arguments if option is not type(None)]
        return from_json(options[0], value) if len(options) == 1 else value
    if origin is list:
        return [from_json(arguments[0], item) for item in value]
    if origin is dict:
        return {key: from_json(arguments[1], item) for key, item in value.items()}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint(value)
    if hint is int:
        return int(value)
    if hint is float:
        return float(value)
    if dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint, include_extras=True)
        return hint(**{name: from_json(hints[name], item) for name, item in value.items()})
    return value


def to_json(value: Any) -> Any:
    """Makes JSON of dataclasses, enumerations and what holds them."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        # None means absent.
        return {name: to_json(item) for name, item in fields.items() if item is not None}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return value


def _has_no_default(field: dataclasses.Field) -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def _of_values(values: list) -> dict:
    if all(isinstance(value, str) for value in values):
        return {"type": "string", "enum": values}
    return {"enum": values}


def _unqualified(hint: Any) -> Any:
    is_qualified = get_origin(hint) in (typing.Required, typing.NotRequired)
    return get_args(hint)[0] if is_qualified else hint


def _closed(properties: dict, required: list) -> dict:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
