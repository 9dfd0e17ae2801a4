"""Append and read in a consumer group with the package websockets, over the HTTP gateway at $SMOKE_GATEWAY."""

import json
import os
import time
import urllib.request

import websockets
from websockets.sync.client import connect

GATEWAY = os.environ["SMOKE_GATEWAY"]
PARTITIONS = 3
COUNT = 1_000
BATCH = 100
LIMIT_SECONDS = 120


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def call(method, path, body=None):
    request = urllib.request.Request(
        "http://" + GATEWAY + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=LIMIT_SECONDS) as response:
        return json.load(response)


def open_socket():
    return connect(
        "ws://" + GATEWAY + "/v1/ws", subprotocols=["journalq.json.v1"], open_timeout=LIMIT_SECONDS, max_size=2**20
    )


def receive(socket):
    message = json.loads(socket.recv(timeout=LIMIT_SECONDS))
    check(message["type"] != "error", message)
    return message


def append(topic):
    """Appends all records, and returns when they are acknowledged."""
    with open_socket() as socket:
        for first in range(0, COUNT, BATCH):
            records = [{"key": str(i), "value": f"message {i}"} for i in range(first, first + BATCH)]
            socket.send(json.dumps({"type": "produce", "id": first, "topic": topic, "records": records}))
        open_ids = set(range(0, COUNT, BATCH))
        while open_ids:
            message = receive(socket)
            check(message["type"] == "produced" and message["records"] == BATCH, message)
            open_ids.remove(message["id"])


def read(topic, group, count):
    """Reads at least this number of records as a member of a group, acknowledges all of them, and leaves."""
    seen = []
    offsets = {}
    deadline = time.monotonic() + LIMIT_SECONDS
    with open_socket() as socket:
        socket.send(
            json.dumps({"type": "subscribe", "topic": topic, "group": group, "from": "start", "credit": count})
        )
        while len(seen) < count:
            check(time.monotonic() < deadline, f"{len(seen)} of {count} records")
            message = receive(socket)
            if message["type"] == "revoked":
                check(not message["partitions"], "partitions were revoked from the only member")
            for record in message.get("records", []) if message["type"] == "records" else []:
                seen.append(record["value"])
                check(record["offset"] == offsets.get(record["partition"], record["offset"]), record)
                offsets[record["partition"]] = record["offset"] + 1
        cursor = ",".join(f"{partition}:{offset}" for partition, offset in sorted(offsets.items()))
        socket.send(json.dumps({"type": "ack", "id": "last", "topic": topic, "cursor": cursor}))
        while True:
            message = receive(socket)
            if message["type"] == "acked":
                check(message["id"] == "last", message)
                return seen


def main():
    topic = f"websockets-{int(time.time() * 1000)}"
    group = topic + "-group"
    call("POST", "/v1/topics", {"name": topic, "partitions": PARTITIONS})
    append(topic)

    first = read(topic, group, COUNT // 2)
    second = read(topic, group, COUNT - len(first))
    check(len(set(first + second)) == COUNT, f"{len(set(first + second))} of {COUNT} records, twice or missing")

    positions = call("GET", f"/v1/groups/{group}/offsets")["items"]
    check(sum(position["committed"] for position in positions) == COUNT, positions)
    check(all(position["lag"] == 0 for position in positions), positions)
    print(f"websockets {websockets.__version__}: {COUNT} records appended, read by two members, acknowledged")


if __name__ == "__main__":
    main()
