"""Runs `evaluate(case, response)` of a Python file for ragstage: a request per line in, a reply per line out, and before the first
reply a line that says that the file is loaded.

Started with the path of the file. What that prints goes to stderr, for stdout belongs to the protocol.
"""

import inspect
import json
import os
import sys
import traceback
import types


def pipes():
    """Our own ends of stdin and stdout; whoever else reads or writes these gets nothing, and stderr."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdin = open(os.devnull, encoding="utf-8")
    sys.stdout = sys.stderr
    return requests, replies


def load(path):
    """The file as a module. Compiled from its text: a file in `__pycache__` may be of another state of it."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module = types.ModuleType("ragstage_evaluator")
    module.__file__ = path
    sys.modules[module.__name__] = module
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec")
    exec(code, module.__dict__)
    return module


class Evaluator:
    """The functions of the file."""

    def __init__(self, path):
        module = load(path)
        self.one = getattr(module, "evaluate", None)
        self.many = getattr(module, "evaluate_batch", None)
        self.loop = None
        if not callable(self.one) and not callable(self.many):
            raise SystemExit(
                f"{path} has neither `def evaluate(case, response)` nor `def evaluate_batch(cases, responses)`"
            )

    def call(self, function, *arguments):
        value = function(*arguments)
        if inspect.isawaitable(value):
            import asyncio

            # One loop for all, for clients stay bound to the loop that they were made in.
            self.loop = self.loop or asyncio.new_event_loop()

            async def wait():
                return await value

            value = self.loop.run_until_complete(wait())
        return value

    def outcome(self, item):
        if not callable(self.one):
            return self.outcomes([item])[0]
        try:
            return said(self.call(self.one, item["case"], item["response"]))
        except Exception as error:
            return failed(error)

    def outcomes(self, items):
        if not callable(self.many):
            return [self.outcome(item) for item in items]
        try:
            values = self.call(self.many, [item["case"] for item in items], [item["response"] for item in items])
            values = list(values)
            if len(values) != len(items):
                raise ValueError(f"evaluate_batch was given {len(items)} cases and returned {len(values)} values")
        except Exception as error:
            if len(items) == 1:
                return [failed(error)]
            # Which of them it was shows when each is asked for alone.
            return [self.outcomes([item])[0] for item in items]
        return [said(value) for value in values]


def said(value):
    """What a returned value means: a score or several by name, with a second value as detail; None skips the case."""
    detail = {}
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict):
        value, detail = value
    value = own(value)
    if value is None:
        return {"skipped": "the evaluator returned None"}
    if isinstance(value, dict):
        value = {str(name): own(score) for name, score in value.items()}
    elif not isinstance(value, (bool, int, float, str)):
        return {"error": f"expected a number, a truth value, a text or a dict of these, found {type(value).__name__}"}
    outcome = {"scores": value, "detail": detail} if detail else {"scores": value}
    try:
        json.dumps(outcome, allow_nan=False, default=unlike_itself)
    except (TypeError, ValueError) as error:
        return {"error": f"{error}: {value!r}"}
    return outcome


def own(value):
    """A number of NumPy and the like as Python's own."""
    if value is None or isinstance(value, (bool, int, float, str, dict, list, tuple)):
        return value
    item = getattr(value, "item", None)
    return item() if callable(item) else value


def failed(error):
    """The exception with where it was raised, without our own lines."""
    inner = error.__traceback__
    while inner is not None and inner.tb_frame.f_code.co_filename == "<string>":
        inner = inner.tb_next
    trace = "".join(traceback.format_exception(type(error), error, inner)).strip()
    return {"error": f"{type(error).__name__}: {error}\n{trace}"}


def unlike_itself(value):
    """The encoder asks for what it does not know; what stays unknown is an error."""
    mine = own(value)
    if mine is value:
        raise TypeError(f"a {type(value).__name__} cannot be written as JSON")
    return mine


def main():
    requests, replies = pipes()
    evaluator = Evaluator(sys.argv[1])
    replies.write('{"ready": true}\n')
    replies.flush()
    for line in requests:
        request = json.loads(line)
        if "items" in request:
            reply = {"items": evaluator.outcomes(request["items"])}
        else:
            reply = evaluator.outcome(request)
        reply["id"] = request["id"]
        replies.write(json.dumps(reply, allow_nan=False, default=unlike_itself) + "\n")
        replies.flush()


main()
