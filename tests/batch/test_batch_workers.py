"""Worker processes that are killed, that hang, that want too much: one error line each, and all other answers stand."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from gradcli.batch.answers import Records
from gradcli.batch.pool import THREADS, Feed, Limits, Pool, one_thread
from gradcli.batch.records import Wanted
from gradcli.errors import Budget, GradcliError
from oracles import ask, cases, portion, strict_json

TABLES = cases("batch_workers.toml")

ENDLESS = {"id": "endless", "program": "while True: pass\nx", "inputs": {"x": 1}}
BOUNDLESS = Budget(turns=10**12, seconds=10**6)
LIMITS = Limits(seconds=60, memory=4096)


def square(number):
    return {"id": number, "program": "x**2", "inputs": {"x": float(number)}}


def text_of(records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def right(document):
    """Whether an answer to a square is there, and right."""
    return document["error"] is None and document["grad"] == {"x": 2.0 * document["id"]}


def in_hand(pool):
    """Wait until a worker has the endless record in hand, and return it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for worker in pool.workers:
            if worker.started and worker.sent and b"endless" in worker.sent[0][1].text:
                return worker
        time.sleep(0.01)
    raise AssertionError("no worker has the record")


@pytest.mark.parametrize("name", portion(["SIGKILL", "SIGSEGV", "SIGABRT", "SIGTERM"], 4))
@pytest.mark.parametrize("jobs", portion([2, 1], 2))
def test_a_worker_that_is_killed_costs_the_record_that_it_had_in_hand(name, jobs):
    records = [*map(square, range(20)), ENDLESS, *map(square, range(20, 60))]
    killed = []
    wanted = Wanted(symbolic=False, budget=BOUNDLESS)
    with Pool(jobs, Records(wanted), LIMITS) as pool:

        def kill():
            worker = in_hand(pool)
            killed.append(worker.process.pid)
            os.kill(worker.process.pid, getattr(signal, name))

        threading.Thread(target=kill, daemon=True).start()
        found = [json.loads(reply.text) for _, reply in pool.replies(Feed(io.BytesIO(text_of(records)).read))]
    assert [d["id"] for d in found] == [record["id"] for record in records]
    assert [d["id"] for d in found if not right(d)] == ["endless"]
    error = found[20]
    assert len(killed) == 1
    assert (error["line"], error["error"]["kind"]) == (21, "worker")
    assert f"(signal {int(getattr(signal, name))})" in error["error"]["message"]


def batch(*records, args=()):
    found = subprocess.run(
        [sys.executable, "-m", "gradcli", "batch", "-", *args], input=text_of(records), capture_output=True,
        timeout=120, check=False,
    )  # fmt: skip
    return [strict_json(line) for line in found.stdout.splitlines()], found


TURNS = ("--budget", "turns=900000000000", "--budget", "seconds=900000")


class Clock:
    """Stands still, and goes on by an hour whenever the records at work are those that never end."""

    def __init__(self):
        self.now, self.workers = 0.0, []

    def monotonic(self):
        at_work = [worker.sent[0][1].text for worker in self.workers if worker.sent]
        if at_work and all(b"endless" in text for text in at_work) and all(w.started for w in self.workers):
            self.now += 3600.0
        return self.now


@pytest.mark.long
@pytest.mark.parametrize("jobs", portion([2, 1], 2))
def test_records_that_run_forever_are_ended_and_the_rest_is_answered(jobs, monkeypatch):
    records = [square(1), ENDLESS, *map(square, range(2, 30)), ENDLESS, square(30), ENDLESS]
    clock = Clock()
    monkeypatch.setattr("gradcli.batch.pool.time", clock)
    with Pool(jobs, Records(Wanted(symbolic=False, budget=BOUNDLESS)), Limits(seconds=60, memory=4096)) as pool:
        clock.workers = pool.workers
        found = [json.loads(reply.text) for _, reply in pool.replies(Feed(io.BytesIO(text_of(records)).read))]
    assert [d["id"] for d in found] == [record["id"] for record in records]
    assert {d["line"]: d["error"]["kind"] for d in found if not right(d)} == dict.fromkeys((2, 31, 33), "worker")


LARGE = {"id": "large", "program": "y = x*ones(5000, 200)\n" + "y = y*y\n" * 90 + "y.sum()", "inputs": {"x": 1}}


@pytest.mark.slow
def test_a_record_that_takes_more_memory_than_a_worker_has_is_one_error():
    records = [square(1), LARGE, square(2), LARGE, square(3)]
    args = ("--jobs", "2", "--memory", "600", "--no-symbolic", "--budget", "total=900000000")
    documents, found = batch(*records, args=args)
    assert [d["id"] for d in documents] == [record["id"] for record in records]
    assert [d["id"] for d in documents if not right(d)] == ["large", "large"]
    assert {d["error"]["kind"] for d in documents if not right(d)} <= {"budget", "worker"}
    assert found.returncode == 2
    alone, found = batch(LARGE, args=("--memory", "6000", "--no-symbolic", "--budget", "total=900000000"))
    assert alone[0]["error"] is None
    assert found.returncode == 0


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system does not keep the bound")
@pytest.mark.parametrize("memory", portion([1, 40, 60, 80, 100], 3))
def test_a_worker_that_cannot_start_is_an_error_of_the_batch(memory, capfd):
    pool = Pool(1, Records(Wanted()), Limits(seconds=60, memory=memory))
    with pytest.raises(GradcliError, match="a worker process did not start: it died") as caught, pool:
        list(pool.replies(Feed(io.BytesIO(text_of([square(1)])).read)))
    assert caught.value.hint == f"--memory {memory} may be too little"
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_the_time_of_the_budget_is_kept_without_a_worker():
    """Records of a few operations never look at the clock, so that no machine is too slow for them."""
    records = [square(1), ENDLESS, square(2)]
    documents, found = batch(*records, args=("--budget", "seconds=1", "--budget", "turns=900000000000"))
    assert [d["error"] and d["error"]["kind"] for d in documents] == [None, "budget", None]
    assert "'seconds'" in documents[1]["error"]["message"]
    assert found.returncode == 2


@pytest.mark.long
@pytest.mark.parametrize("jobs", portion(["2", "3"], 2))
def test_workers_give_the_same_lines_as_one_process(jobs):
    programs = ["x**2", "where(x > 1, sqrt(x), x)", "sinn(x)", "x*ones(9, 9)", "1/x", "h = sin(x); h*exp(h)"]
    records = [
        {"id": k, "program": programs[k % 6], "inputs": {"x": k % 7}, "v": [[1.0] * 9] * 9 if k % 6 == 3 else 1}
        for k in range(60)
    ]
    alone, together = batch(*records), batch(*records, args=("--jobs", jobs))
    assert together[1].stdout == alone[1].stdout
    assert (together[1].returncode, together[1].stderr) == (alone[1].returncode, alone[1].stderr)
    assert len(alone[0]) == 60


@pytest.mark.slow
def test_large_lines_pass_through_the_pipes():
    records = [{"id": k, "program": "x*2", "inputs": {"x": [1.5] * 60_000}, "v": [0.5] * 60_000} for k in range(12)]
    documents, _ = batch(*records, args=("--jobs", "2", "--no-symbolic"))
    assert [d["id"] for d in documents] == list(range(12))
    assert all(d["grad"]["x"] == [1.0] * 60_000 for d in documents)


def test_little_is_read_ahead_of_a_reader_that_is_slow():
    """Back pressure: while nobody takes the answers, a bounded number of lines is taken from the stream."""
    taken = 0

    def endless(_):
        nonlocal taken
        taken += 1
        return b"".join(text_of([square(k)]) for k in range(100))

    with Pool(2, Records(Wanted(symbolic=False)), LIMITS) as pool:
        feed = Feed(endless)
        replies = pool.replies(feed)
        for k in range(300):
            assert json.loads(next(replies)[1].text)["id"] == k % 100
        while feed._has_room() and taken * 100 < 300 + 3000:
            time.sleep(0.01)
        assert taken * 100 < 300 + 3000
        assert len(pool.waiting) + len(pool.replied) <= 2 * 64
        feed.close()


def test_answers_come_while_the_stream_is_silent():
    for args in ((), ("--jobs", "2")):
        process = subprocess.Popen(
            [sys.executable, "-m", "gradcli", "batch", "-", "--no-symbolic", *args], stdin=-1, stdout=-1
        )
        assert process.stdin is not None
        assert process.stdout is not None
        for k in range(3):
            process.stdin.write(text_of([square(k)]))
            process.stdin.flush()
            assert right(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(60) == 0
        process.stdout.close()


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as stream:  # noqa: PTH123
        return [int(word) for word in stream.read().split()]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as stream:  # noqa: PTH123
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_first_process_that_starts_never_hears_an_interrupt():
    # A process of its own: the tracker of resources, which lets interrupts through as it starts, runs already here.
    script = """
import multiprocessing, signal
from gradcli.batch.pool import without_interrupts
process = multiprocessing.get_context("spawn").Process(target=signal.raise_signal, args=(signal.SIGINT,))
with without_interrupts():
    process.start()
process.join()
print(process.exitcode)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.parametrize("jobs", portion(["2", "1"], 2))
def test_an_interrupt_ends_the_workers_and_keeps_what_was_written(jobs, tmp_path):
    output = tmp_path / "answers.ndjson"
    process = subprocess.Popen(
        [sys.executable, "-m", "gradcli", "batch", "-", "--no-symbolic", "--jobs", jobs, "-o", str(output), *TURNS],
        stdin=-1, stdout=-1, stderr=-1, start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdin is not None
        process.stdin.write(text_of([square(1), square(2), ENDLESS, square(3)]))
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (not output.exists() or output.read_bytes().count(b"\n") < 2):
            time.sleep(0.05)
        started = children(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (130, b"", b"")
        assert [right(json.loads(line)) for line in output.read_bytes().splitlines()] == [True, True]
        assert len(started) >= (2 if jobs == "2" else 0)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and any(map(is_running, started)):
            time.sleep(0.05)
        assert not any(map(is_running, started))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("jobs", portion(["2", "1"], 2))
def test_a_closed_pipe_is_no_error_and_ends_the_workers(jobs, tmp_path):
    records = tmp_path / "records.ndjson"
    records.write_bytes(text_of(map(square, range(3000))))
    pipeline = f'"{sys.executable}" -m gradcli batch "$@" | head -1; echo "${{PIPESTATUS[0]}}"'
    found = subprocess.run(
        ["/bin/bash", "-c", pipeline, "bash", str(records), "--no-symbolic", "--jobs", jobs],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    first, code = found.stdout.splitlines()
    assert right(json.loads(first))
    assert (code, found.stderr) == ("0", "")


def test_a_stream_that_fails_is_an_error_after_the_answers():
    parts = [text_of(map(square, range(5)))]

    def failing(_):
        if parts:
            return parts.pop()
        raise GradcliError("file", "the disk is gone")

    found = []
    with (
        Pool(2, Records(Wanted(symbolic=False)), LIMITS) as pool,
        pytest.raises(GradcliError, match="the disk is gone"),
    ):
        found.extend(json.loads(reply.text)["id"] for _, reply in pool.replies(Feed(failing)))
    assert found == list(range(5))


def test_a_worker_has_one_thread_for_linear_algebra_unless_told_otherwise(monkeypatch):
    for name in THREADS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    with one_thread():
        assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
        assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "OPENBLAS_NUM_THREADS" not in os.environ
    assert os.environ["OMP_NUM_THREADS"] == "3"


OPTIONS = TABLES["OPTIONS"]


@pytest.mark.parametrize(("args", "words"), OPTIONS, ids=lambda item: " ".join(item) if isinstance(item, tuple) else "")
def test_options_that_are_refused(args, words):
    found = ask("batch", "-", *args, stdin='{"program": "1"}\n')
    assert (found.code, found.out) == (2, "")
    assert words in found.err
