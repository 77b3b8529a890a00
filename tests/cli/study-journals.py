#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes sound journals (docs/journal-format.md) of runs, sessions and other events, so that a test has a
study of any durations, phases, memory and failures without waiting for it.

  study-journals.py FOLDER [--blocks FILE] [SPEC]     SPEC: a JSON file; without it standard input
  probelauf import journal FOLDER/*.journal

FILE is what `probelauf block list --json` printed: a run that names its block then gets the condition
of it that has its pairs (id, all parameters). Equal specs give equal bytes: ids are made of a counter and the time.

SPEC = {"study": ID, "epoch": "2026-11-01T08:00:00Z", "defaults": {keys of a run}, "records": [RECORD...]}
A RECORD is one of (times in seconds from epoch; every key but the first may be left out):
  {"run": NAME, "at": 0, "block": "compare", "condition": {"size": "1"}, "command": ["work", "{size}"], "wall": 30.0,
   "phases": [["load", 5], ["compute", 20.5]]  (marks, one after the other; "wall" is their sum if it is not said, and
                                               what goes beyond them is unattributed)
   "step": NAME, "phase": "setup" (the whole run is that), "purpose": "work", "environment": ID, "paper_version": "v1",
   "exit": 0, "signal": 9, "lost": true, "incidents": [["gpu_oom", "CUDA out of memory.", {figures}, survived?]],
   "attempt": 1, "retry_of": NAME of a run before, "changes": ["text"], "note": "text", "session": NAME,
   "host_peak": bytes, "cpu": core seconds, "io": {"read": bytes, "written": bytes, "read_chars": b, "written_chars": b},
   "gpus": [{"uuid": "GPU-1", "name": "X", "total": b, "process": b, "device": b, "baseline": b, "mine": "yes"}],
   "memory": [{"phase": "load", "uuid": "GPU-1", "allocated_peak": b, "reserved_peak": b}]  (of torch),
   "inputs": [{"path": "a", "bytes": 1, "identity": "x"}], "outputs": [{"path": "o", "bytes": 1}], "expect": true|false,
   "results": {"acc": 0.5, "speed": [3, "token/s"]}, "items": 10, "length": 128, "batch": 4, "shape": "[1]",
   "code": {"commit": "c", "digest": "d"}, "packages": {"torch": "2.3.1"}, "driver": "550.54.15", "machine": {...},
   "series": [{"name": "tree.disk_wait", "unit": "s", "kind": "counter", "per_unit": 10**9, "points": [[1.0, 0], [2.0, 5]]}],
   "start": {more keys of START}, "end": {more keys of END}}
  {"session": NAME, "at": 0, "until": 3600, "environment": ID, "offer": ID, "gpus": 1,
   "notes": [["approval", 60, 120, "text"]]}          (from and to in seconds since its start)
  {"event": TYPE, "at": 0, "about": NAME of a run, "study": true, "keys": {...}}   any other event record
  {"estimate": NAME, "at": 0, "file": PATH, "keys": {plan_digest...}}   a kept estimate (probelauf.estimate/1)

Journals are named NNN-NAME.journal. Prints one line a record: NAME ID. Nothing here is random and nothing is measured.
"""
import argparse
import datetime
import hashlib
import json
import os
import struct
import sys

KIND = {name: n for n, name in enumerate(
    "HEADER START ENVIRONMENT DEVICE SERIES CHUNK MARK PHASE TEXT INCIDENT GAP CHILD COUNTERS END EVENT".split(), 1)}
NS = 10**9
BOOT = "0b00f0d0-0000-4000-8000-000000000001"
BOOT_UTC = 1767225600 * NS  # 2026-01-01: one boot of one machine for all that is made here, in whichever call


def crc32c_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def record(kind, payload):
    if not isinstance(payload, bytes):
        payload = json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()
    head = struct.pack("<IHHI", KIND[kind], 1, 0, len(payload))
    return head[:12] + struct.pack("<I", crc32c(head + payload)) + payload


def leb(value):
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def zigzag(value):
    return leb(2 * value if value >= 0 else -2 * value - 1)


def column(values):  # mode 3, nothing absent
    return b"\x03" + b"".join(zigzag(v) for v in values)


def chunk(series, points):  # one series, stands alone
    times = [int(t * NS) // 10**6 for t, _ in points]
    return (leb(1) + leb(1) + leb(len(points)) + zigzag(series - 1) + leb(0) + column(times)
            + column([int(v) for _, v in points]))


class Study:
    def __init__(self, spec, blocks, folder):
        self.spec, self.folder, self.number, self.ids = spec, folder, 0, {}
        text = spec.get("epoch", "2026-11-01T08:00:00Z").replace("Z", "+00:00")
        self.epoch = int(datetime.datetime.fromisoformat(text).timestamp()) * NS
        self.blocks = {b["id"]: b for b in (blocks or {"blocks": []})["blocks"]}
        self.study_id = spec.get("study") or (blocks or {}).get("study", {}).get("id")
        self.version = (blocks or {}).get("study", {}).get("paper_version")

    def utc(self, seconds):
        return self.epoch + round(seconds * NS)

    def boottime(self, seconds):
        return self.utc(seconds) - BOOT_UTC

    def new_id(self, name, at):
        # a UUIDv7 whose random bits are of the name
        bits = int(hashlib.sha256(f"{self.number} {name}".encode()).hexdigest(), 16)
        value = (self.utc(at) // 10**6) << 80 | 0x7 << 76 | (bits & 0xFFF) << 64
        value |= 0b10 << 62 | (bits >> 12) & (2**62 - 1)
        hexes = f"{value:032x}"
        self.ids[name] = "-".join([hexes[:8], hexes[8:12], hexes[12:16], hexes[16:20], hexes[20:]])
        return self.ids[name]

    def header(self, kind, at, run):
        header = {"format": 1, "type": kind, "run": run, "part": run, "boot_id": BOOT, "pid": 4242, "pid_start": 4242,
                  "utc_ns": self.utc(at), "program": "study-journals"}
        if self.study_id:
            header["study"] = self.study_id
        return header

    def write(self, name, run, records):
        path = os.path.join(self.folder, f"{self.number:03}-{name}.journal")
        with open(path, "wb") as file:
            file.write(b"PLJOURN1" + b"".join(record(kind, payload) for kind, payload in records))
        print(name, run)

    # ---- runs ----

    def find_condition(self, r):
        wanted = {k: str(v) for k, v in r.get("condition", {}).items()}
        for condition in self.blocks.get(r.get("block"), {"conditions": []})["conditions"]:
            if all(condition["parameters"].get(k) == v for k, v in wanted.items()):
                return condition["id"], condition["parameters"]
        if r.get("block") in self.blocks:
            raise SystemExit(f"block {r['block']} has no condition {wanted}")
        return None, wanted

    def start(self, r, run):
        at = r.get("at", 0)
        condition, parameters = self.find_condition(r)
        command = [str(a).format(**parameters) for a in r.get("command", ["work"])]
        start = {
            "command": command, "cwd": "/study", "plan_folder": ".", "purpose": r.get("purpose", "trial"),
            "condition": {k: str(v) for k, v in r.get("condition", {}).items()}, "changes": r.get("changes", []),
            "attempt": r.get("attempt", 1), "inputs": [{"kind": "file", **i} for i in r.get("inputs", [])],
            "outputs": [o["path"] for o in r.get("outputs", [])], "expect": [], "patterns": [],
            "budget": {"grace_ns": 30 * NS}, "linger_ns": 10 * NS, "streams": {}, "launch": {},
            "clock": {"boot_id": BOOT, "start_mono_ns": self.boottime(at),
                      "start_boottime_ns": self.boottime(at), "start_utc_ns": self.utc(at)},
            "rss_floor_bytes": 2**20, "variables": {}, "blind_spots": [], "uid": 1000, "host": "node",
        }
        if condition:
            start.update(condition_id=condition, parameters=parameters)
        elif parameters:
            start["parameters"] = parameters
        if self.study_id:
            start["study"] = self.study_id
        version = r.get("paper_version", self.version)
        for key, value in [("block", r.get("block")), ("step", r.get("step")), ("phase", r.get("phase")),
                           ("environment_id", r.get("environment")), ("note", r.get("note")),
                           ("paper_version", version), ("session", self.ids.get(r.get("session"))),
                           ("retry_of", self.ids.get(r.get("retry_of")))]:
            if value is not None:
                start[key] = value
        if "expect" in r:
            start["expect"] = [{"marker": "done", "text": "marker=done"}]
        start.update(r.get("start", {}))
        return start

    @staticmethod
    def environment(r):
        packages = [{"name": n, "version": v, "interpreter": "/usr/bin/python3"} for n, v in r.get("packages", {}).items()]
        machine = {"architecture": "x86_64", "cpu_model": "CPU", **r.get("machine", {})}
        environment = {"code": {"repo": "/study", "dirty": False, "commit": "c0", "digest": "d0", **r.get("code", {})},
                       "machine": machine, "limits": {}, "totals": {}, "packages": packages, "taken_t_ns": NS, "reasons": {}}
        if packages:
            environment["interpreters"] = [{"path": "/usr/bin/python3", "version": "3.11.2"}]
        text = json.dumps([packages, machine, r.get("driver")], sort_keys=True)
        environment["fingerprint"] = hashlib.sha256(text.encode()).hexdigest()
        devices = [{"name": g.get("name", "GPU"), "uuid": g["uuid"]} for g in r.get("gpus", [])]
        environment["gpu"] = {"count": len(devices), "devices": devices, "method": "nvml"}
        if r.get("driver"):
            environment["gpu"]["driver"] = r["driver"]
        return environment

    @staticmethod
    def devices(r):
        gpus = r.get("gpus", [])
        if not gpus:
            return [("DEVICE", {"probe": "nvml", "t_ns": 0, "state": "absent", "count": 0})]
        records = [("DEVICE", {"probe": "nvml", "t_ns": 0, "state": "ready", "count": len(gpus),
                               "driver": r.get("driver", "550.54.15")})]
        for n, g in enumerate(gpus):
            records.append(("DEVICE", {
                "device": n, "t_ns": 0, "kind": "gpu", "uuid": g["uuid"], "index": n, "name": g.get("name", "GPU"),
                "total_bytes": g.get("total", 80 * 2**30), "baseline_bytes": g.get("baseline", 0),
                "memory_method": "nvmlDeviceGetMemoryInfo", "mine": g.get("mine", "yes"), "mine_by": "only one",
                "reasons": {}}))
        return records

    def marks(self, r, end_ns):
        records, t = [], 0.0
        for name, seconds in r.get("phases", []):
            records.append(("MARK", {"t_ns": round(t * NS), "verb": "phase", "name": name, "pid": 77, "file_offset": 1}))
            t += seconds
        if r.get("phases") and round(t * NS) < end_ns:
            records.append(("MARK", {"t_ns": round(t * NS), "verb": "end", "pid": 77, "file_offset": 1}))
        for verb in ["items", "length", "batch"]:
            if verb in r:
                records.append(("MARK", {"t_ns": end_ns - 1, "verb": verb, "value": r[verb], "pid": 77, "file_offset": 1}))
        if "shape" in r:
            records.append(("MARK", {"t_ns": end_ns - 1, "verb": "shape", "text": r["shape"], "pid": 77, "file_offset": 1}))
        for name, value in r.get("results", {}).items():
            value, unit = value if isinstance(value, list) else (value, None)
            mark = {"t_ns": end_ns - 1, "verb": "result", "name": name, "value": value, "pid": 77, "file_offset": 1}
            records.append(("MARK", {**mark, "unit": unit} if unit else mark))
        for report in r.get("memory", []):
            data = {"event": "memory", "moment": "phase-end", "device": 0, "allocated": 0, "reserved": 0, **report}
            records.append(("MARK", {"t_ns": end_ns - 1, "verb": "agent", "name": "python-hook", "pid": 77, "file_offset": 1,
                                     "data": data}))
        return records

    @staticmethod
    def series(r):
        records = []
        for n, s in enumerate(r.get("series", []), 1):
            records.append(("SERIES", {"id": n, "interval_ns": NS, "method": "test", "kind": "gauge",
                                       **{k: v for k, v in s.items() if k != "points"}}))
            records.append(("CHUNK", chunk(n, s["points"])))
        return records

    @staticmethod
    def counters(r, end_ns):
        counters = {"t_ns": end_ns, "processes_seen": 1, "unreaped": False, "monitor_cpu_ns": {"monitor": 1000000}}
        if "cpu" in r:
            counters["cpu_ns"] = round(r["cpu"] * NS)
        if "io" in r:
            counters["io"] = r["io"]
        if "host_peak" in r:
            counters.update(maxrss_bytes=r["host_peak"], vmhwm_bytes=r["host_peak"], vmhwm_pid=77)
        gpus = []
        for n, g in enumerate(r.get("gpus", [])):
            entry = {"device": n, "others": False, "reasons": {}}
            if "device" in g:
                entry.update(used_peak_bytes=g["device"], used_samples=100)
            if "process" in g:
                entry.update(process_peak_bytes=g["process"], process_samples=100)
            gpus.append(entry)
        if gpus:
            counters["gpu"] = gpus
        return counters

    def end(self, r, end_ns):
        seconds = end_ns / NS
        end = {"t_ns": end_ns, "command_t_ns": end_ns, "end_boottime_ns": self.boottime(r.get("at", 0) + seconds),
               "end_utc_ns": self.utc(r.get("at", 0) + seconds), "budget": False, "stopped_ns": 0, "survivors": [],
               "wall_is_at_least": False, "outputs": [{"kind": "file", **o} for o in r.get("outputs", [])],
               "expectations": [], "streams": {}}
        if "signal" in r:
            end["signal"] = r["signal"]
        else:
            end["exit_code"] = r.get("exit", 0)
        if "expect" in r:
            end["expectations"] = [{"what": "marker=done", "met": "yes" if r["expect"] else "no"}]
        end.update(r.get("end", {}))
        return end

    def run(self, r):
        run = self.new_id(r["run"], r.get("at", 0))
        phases = r.get("phases", [])
        end_ns = round(r.get("wall", sum(s for _, s in phases) or 1.0) * NS)
        records = [("HEADER", self.header("run", r.get("at", 0), run)), ("START", self.start(r, run))]
        records += self.devices(r) + [("ENVIRONMENT", self.environment(r))] + self.marks(r, end_ns) + self.series(r)
        for name, line, *rest in r.get("incidents", []):
            records.append(("INCIDENT", {"name": name, "line": line, "figures": rest[0] if rest else {},
                                         "survived": rest[1] if len(rest) > 1 else False, "source": "text"}))
        child = {"pid": 77, "start": 77, "role": "command", "comm": "work", "utime_ns": 0, "stime_ns": 0, "t_ns": end_ns,
                 "maxrss_bytes": r.get("host_peak", 2**20)}
        child.update({"signal": r["signal"]} if "signal" in r else {"exit_code": r.get("exit", 0)})
        records.append(("COUNTERS", self.counters(r, end_ns)))
        if not r.get("lost"):
            records[-1:-1] = [("CHILD", child)]
            records.append(("END", self.end(r, end_ns)))
        self.write(r["run"], run, records)

    # ---- events ----

    def event(self, name, at, kind, keys):
        event = self.new_id(name, at)
        payload = {"type": kind, "utc_ns": self.utc(at), "who": "tester", **keys}
        self.write(name, event, [("HEADER", self.header("event", at, event)), ("EVENT", payload)])
        self.number += 1
        return event

    def clock(self, at):
        return {"boot_id": BOOT, "boottime_ns": self.boottime(at), "utc_ns": self.utc(at)}

    def session(self, s):
        at = s.get("at", 0)
        common = {"host": "node", **({"study": self.study_id} if self.study_id else {})}
        keys = {k: s[k] for k in ["environment", "offer", "gpus", "note"] if k in s}
        session = self.event(s["session"], at, "session-start", {**common, **keys, "clock": self.clock(at)})
        for n, (reason, begin, until, text) in enumerate(s.get("notes", [])):
            keys = {"about": session, "reason": reason, "text": text, "from_t_ns": round(begin * NS),
                    "to_t_ns": round(until * NS), "clock": self.clock(at + until)}
            self.event(f"{s['session']}-note{n}", at + until, "session-note", {**common, **keys})
        if "until" in s:
            self.event(f"{s['session']}-stop", s["until"], "session-stop",
                       {**common, "about": session, "clock": self.clock(s["until"])})

    def make(self):
        for r in self.spec["records"]:
            self.number += 1
            if "run" in r:
                self.run({**self.spec.get("defaults", {}), **r})
            elif "session" in r:
                self.session(r)
            elif "estimate" in r:
                with open(r["file"], encoding="utf-8") as file:
                    keys = {"name": r["estimate"], "estimate": json.load(file), **r.get("keys", {})}
                self.event(r["estimate"], r.get("at", 0), "estimate", {"study": self.study_id, **keys})
            else:
                keys = {"study": self.study_id} if r.get("study", True) and self.study_id else {}
                if "about" in r:
                    keys["about"] = self.ids[r["about"]]
                name = r.get("name", r["event"])
                self.event(name, r.get("at", 0), r["event"], {**keys, **r.get("keys", {})})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("spec", nargs="?")
    parser.add_argument("--blocks")
    arguments = parser.parse_intermixed_args()
    blocks = None
    if arguments.blocks:
        with open(arguments.blocks, encoding="utf-8") as file:
            blocks = json.load(file)
    with open(arguments.spec, encoding="utf-8") if arguments.spec else sys.stdin as file:
        spec = json.load(file)
    os.makedirs(arguments.folder, exist_ok=True)
    Study(spec, blocks, arguments.folder).make()


if __name__ == "__main__":
    main()
