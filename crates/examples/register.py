"""A register on a majority, in Python: a guest of Whitewater, after Attiya, Bar-Noy and Dolev.

Whoever is asked for a write asks a majority for the newest stamp, then gives a majority the value under a newer one.
Whoever is asked for a read asks a majority for the newest value, and gives it back to a majority before it answers:
without that (`--forgetful`, the planted bug) a later read may return an older value.
"""

import json
import sys

FORGETFUL = "--forgetful" in sys.argv
# A stamp: higher than the newest that was seen, by whom, and a number that no other write of that server has.
NONE = [0, "", 0]


def say(line):
    print(json.dumps(line, separators=(",", ":")), flush=True)


def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask(**request):
    say(request)
    return hear()


class Server:
    def __init__(self, boot):
        self.id, self.servers = boot["id"], boot["servers"]
        self.peers = ["n%d" % (place + 1) for place in range(self.servers)]
        # What is under way here, by number; no number is used again after a restart.
        self.next, self.open = boot["start"] << 20, {}
        self.kept = {}
        for line in ask(ask="read", file="register")["text"].splitlines():
            try:
                key, stamp, value = json.loads(line)
            except ValueError:
                continue  # A crash cut it short.
            self.keep(key, stamp, value)
        self.effects = []

    def keep(self, key, stamp, value):
        if stamp > self.kept.get(key, [NONE, None])[0]:
            self.kept[key] = [stamp, value]
            return True
        return False

    def store(self, key, stamp, value):
        if self.keep(key, stamp, value):
            ask(ask="append", file="register", text="\n" + json.dumps([key, stamp, value]) + "\n")
            ask(ask="sync", file="register")

    def send_all(self, kind, body):
        for peer in self.peers:
            self.effects.append({"send": {"to": peer, "kind": kind, "body": body}})

    def operation(self, op, operation):
        self.next += 1
        key = operation["key"]
        self.open[self.next] = {"op": op, "key": key, "value": operation.get("value"), "seen": {}, "done": None}
        self.send_all("Query", [self.next, key])

    def message(self, sender, kind, body):
        if kind == "Query":
            number, key = body
            stamp, value = self.kept.get(key, [NONE, None])
            self.effects.append({"send": {"to": sender, "kind": "Newest", "body": [number, stamp, value]}})
        elif kind == "Store":
            number, key, stamp, value = body
            self.store(key, stamp, value)
            self.effects.append({"send": {"to": sender, "kind": "Stored", "body": [number]}})
        elif body[0] in self.open:
            self.answered(sender, kind, body[0], body[1:])

    def answered(self, sender, kind, number, rest):
        todo = self.open[number]
        if kind == "Newest" and todo["done"] is None:
            todo["seen"][sender] = rest
            if len(todo["seen"]) > self.servers // 2:
                self.decided(number, todo)
        elif kind == "Stored" and todo["done"] is not None:
            todo["done"].add(sender)
            if len(todo["done"]) > self.servers // 2:
                self.finish(number, todo)

    def decided(self, number, todo):
        """A majority has said what it has."""
        stamp, value = max(todo["seen"].values(), key=lambda seen: seen[0])
        if todo["value"] is not None:
            # Writes of one server may overlap, or follow one that a restart cut short: without the number, two values would
            # stand under one stamp.
            stamp, value = [stamp[0] + 1, self.id, number], todo["value"]
        todo["result"], todo["done"] = value, set()
        if todo["value"] is None and (FORGETFUL or stamp == NONE):
            self.finish(number, todo)
        else:
            self.send_all("Store", [number, todo["key"], stamp, value])

    def finish(self, number, todo):
        del self.open[number]
        reply = {"op": todo["op"], "result": "ok"}
        if todo["value"] is None:
            reply["value"] = todo["result"]
        self.effects.append({"reply": reply})


def main():
    server = None
    while True:
        line = hear()
        if line["input"] == "hello":
            say({"messages": ["Query", "Newest", "Store", "Stored"], "operations": ["put", "get"]})
            continue
        if line["input"] == "boot":
            server = Server(line)
        elif line["input"] == "message":
            server.message(line["from"], line["kind"], line["body"])
        elif line["input"] == "operation":
            server.operation(line["op"], line["operation"])
        say({"effects": server.effects, "state": json.dumps(server.kept)})
        server.effects = []


main()
