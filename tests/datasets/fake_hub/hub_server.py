"""A fake Hugging Face hub on the loopback address; models lie under ``models/<name>``. No Xet, no pull requests."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import re
import threading
import time
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from hub_faults import Body, Cut, Plan, Slow, Spoilt, Status, Whole, WrongLength

TOKEN = "hf_right"
LARGE = 4096
"""Files of at least this many bytes are large (LFS)."""
LFS = (".parquet", ".safetensors")
_PAGES = {"models": ""}
"""Prefix of a repository's page address by kind."""


@dataclass
class Repo:
    """A dataset or model: the files of each commit, and the commit of each branch."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    gated: bool = False
    private: bool = False

    def commit(self, files: dict[str, bytes], branch: str = "main", name: str | None = None) -> str:
        """Add a commit whose files are exactly ``files`` to a branch; return its name."""
        text = json.dumps([branch, len(self.commits), sorted(files)])
        name = name or hashlib.sha1(text.encode()).hexdigest()
        self.commits[name] = files
        self.branches[branch] = name
        return name

    def at(self, revision: str) -> str | None:
        """Return the commit of a revision."""
        return revision if revision in self.commits else self.branches.get(revision)


@dataclass(frozen=True)
class Seen:
    """A received request."""

    host: str
    method: str
    path: str
    span: str | None
    token: str | None


class FakeHub:
    """The hub at ``url`` and the host of large files; ``close`` ends both."""

    def __init__(self, page: int = 3) -> None:
        self.repos: dict[str, Repo] = {}
        self.renamed: dict[str, str] = {}
        self.plan = Plan()
        self.seen: list[Seen] = []
        self.large: dict[str, bytes] = {}
        self.page = page
        self._servers = [self._serve(_Hub), self._serve(_Store)]
        self.url, self.store_url = (f"http://127.0.0.1:{s.server_port}" for s in self._servers)

    def _serve(self, handler: type[_Answers]) -> ThreadingHTTPServer:
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (handler,), {"hub": self}))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return server

    def put(
        self, repo: str, files: dict[str, bytes], branch: str = "main", name: str | None = None
    ) -> str:
        """Commit ``files`` to a dataset; return the commit."""
        return self.repos.setdefault(repo, Repo()).commit(files, branch, name)

    def bodies(self, name: str) -> list[Seen]:
        """Return the requests for a file's body, without redirects."""
        return [
            s
            for s in self.seen
            if s.method == "GET" and s.path.endswith(name) and s.host == "store"
        ]

    def close(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()


class _Answers(BaseHTTPRequestHandler):
    hub: FakeHub
    host: str
    protocol_version = "HTTP/1.0"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        path = urllib.parse.urlsplit(self.path).path
        token = (self.headers["Authorization"] or "").removeprefix("Bearer ") or None
        self.hub.seen.append(Seen(self.host, self.command, path, self.headers["Range"], token))
        fault = self.hub.plan.next(self.path)
        if isinstance(fault, Slow):
            time.sleep(fault.seconds)
        self.fault = fault
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if isinstance(fault, Status):
                more = {} if fault.wait is None else {"Retry-After": fault.wait}
                self.send(fault.code, b'{"error": "on purpose"}', more)
            elif isinstance(fault, Body):
                self.send(200, fault.data, {})
            else:
                self.answer(path)

    do_HEAD = do_GET
    do_POST = do_GET
    do_PUT = do_GET

    def answer(self, path: str) -> None:
        raise NotImplementedError

    def body(self) -> bytes:
        """Return the request body, sent with a length or in chunks."""
        if self.headers["Transfer-Encoding"] == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers["Content-Length"] or 0))

    def send(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        """Send an answer, changed by the planned fault."""
        promised = len(body)
        if isinstance(self.fault, Cut):
            body = body[: self.fault.after]
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(promised))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status: int, code: str, message: str = "") -> None:
        """Send an error as the hub does."""
        body = json.dumps({"error": message or code}).encode()
        self.send(status, body, {"X-Error-Code": code, "X-Error-Message": message or code})

    def file(self, data: bytes, headers: dict[str, str]) -> None:
        """Send a file or the part that a Range header asks for."""
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers["Range"] or "")
        if isinstance(self.fault, Spoilt):
            data = b"#" * len(data)
        if isinstance(self.fault, WrongLength):
            data = data[: len(data) - self.fault.less]
        headers = {"Accept-Ranges": "bytes", **headers}
        if asked is None or isinstance(self.fault, Whole):
            self.send(200, data, headers)
            return
        first, last = int(asked[1]), min(int(asked[2] or len(data) - 1), len(data) - 1)
        if first >= len(data):
            self.send(416, b"", {"Content-Range": f"bytes */{len(data)}"})
            return
        headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        self.send(206, data[first : last + 1], headers)


class _Store(_Answers):
    """The host of large files, which rejects tokens."""

    host = "store"

    def answer(self, path: str) -> None:
        stored = self.hub.large.get(path.split("/")[1])
        if self.command == "PUT":
            data = self.body()
            self.hub.large[hashlib.sha256(data).hexdigest()] = data
            self.send(200)
        elif self.headers["Authorization"]:
            self.send(400, b"only one way to authorise may be given")
        elif stored is not None:
            self.file(stored, {})
        else:
            self.send(404)


class _Hub(_Answers):
    host = "hub"

    def answer(self, path: str) -> None:
        if path == "/":
            self.send(200)
            return
        if path == "/api/repos/create":
            self._create()
            return
        if path == "/api/validate-yaml":
            self.body()
            self.send(200, json.dumps({"errors": [], "warnings": []}).encode())
            return
        kind, name, rest = _parts(path)
        if name in self.hub.renamed:
            new = self.path.replace(name, self.hub.renamed[name], 1)
            self.send(307, b"Temporary Redirect", {"Location": new})
            return
        repo = self.hub.repos.get(name)
        token = (self.headers["Authorization"] or "").removeprefix("Bearer ")
        if repo is None or (repo.private and token != TOKEN):
            self.refuse(401 if not token else 404, "RepoNotFound", "Repository not found")
        elif kind == "api":
            self._api(name, repo, rest)
        elif rest.startswith("info/lfs/objects/batch"):
            self._batch()
        elif repo.gated and token != TOKEN:
            self.refuse(
                403 if token else 401, "GatedRepo", f"Access to dataset {name} is restricted."
            )
        else:
            revision, _, file = rest.removeprefix("resolve/").partition("/")
            self._resolve(repo, urllib.parse.unquote(revision), urllib.parse.unquote(file))

    def _api(self, name: str, repo: Repo, rest: str) -> None:
        verb, _, further = rest.partition("/")
        if verb in ("preupload", "commit"):
            getattr(self, f"_{verb}")(name, repo)
            return
        revision, _, _ = further.partition("/")
        commit = repo.at(urllib.parse.unquote(revision) or "main")
        if commit is None:
            self.refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
            return
        files = repo.commits[commit]
        if verb == "tree":
            self._tree(files)
            return
        about = {"id": name, "sha": commit, "private": repo.private, "gated": repo.gated and "auto"}
        about["siblings"] = [{"rfilename": path} for path in sorted(files)]
        self.send(200, json.dumps(about).encode(), {"Content-Type": "application/json"})

    def _tree(self, files: dict[str, bytes]) -> None:
        """Send one page of the listing, with the next page's address in the Link header."""
        address = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(address.query))
        entries = [_entry(name, data) for name, data in sorted(files.items())]
        folders = {name.rpartition("/")[0] for name in files} - {""}
        entries += [{"type": "directory", "oid": "0" * 40, "size": 0, "path": f} for f in folders]
        start = int(query.get("cursor", 0))
        headers = {"Content-Type": "application/json"}
        if start + self.hub.page < len(entries):
            query["cursor"] = str(start + self.hub.page)
            following = f"{self.hub.url}{address.path}?{urllib.parse.urlencode(query)}"
            headers["Link"] = f'<{following}>; rel="next"'
        self.send(200, json.dumps(entries[start : start + self.hub.page]).encode(), headers)

    def _resolve(self, repo: Repo, revision: str, name: str) -> None:
        commit = repo.at(revision)
        if commit is None:
            self.refuse(404, "RevisionNotFound")
            return
        data = repo.commits[commit].get(name)
        if data is None:
            self.refuse(404, "EntryNotFound", "Entry not found")
            return
        headers = {"X-Repo-Commit": commit}
        if not _is_large(name, data):
            self.file(data, {**headers, "ETag": f'"{_git(data)}"'})
            return
        sha = hashlib.sha256(data).hexdigest()
        self.hub.large[sha] = data
        headers |= {"X-Linked-Size": str(len(data)), "X-Linked-ETag": f'"{sha}"'}
        headers["Location"] = f"{self.hub.store_url}/{sha}/{urllib.parse.quote(name)}?signature=1"
        fault, self.fault = self.fault, None
        if fault is not None:  # the fault applies to the body
            self.hub.plan.by_path.setdefault(sha, []).append(fault)
        self.send(302, b"Found", headers)

    def _create(self) -> None:
        asked = json.loads(self.body())
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self.refuse(401, "", "Invalid username or password.")
            return
        name = f"{asked['organization']}/{asked['name']}"
        page = f"{self.hub.url}/{name}"
        if asked.get("type") == "dataset":
            page = f"{self.hub.url}/datasets/{name}"
        else:
            name = f"models/{name}"
        if name in self.hub.repos:
            self.send(409, json.dumps({"error": "exists", "url": page}).encode())
            return
        private = asked.get("visibility") == "private" or asked.get("private") is True
        self.hub.repos[name] = Repo(private=private)
        self.hub.repos[name].commit({".gitattributes": b""})
        answer = {"url": page, "name": name}
        self.send(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _preupload(self, name: str, repo: Repo) -> None:
        files = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if file["path"].endswith(LFS) else "regular",
                "shouldIgnore": False,
            }
            for file in json.loads(self.body())["files"]
        ]
        self.send(200, json.dumps({"files": files}).encode(), {"Content-Type": "application/json"})

    def _batch(self) -> None:
        objects = []
        for o in json.loads(self.body())["objects"]:
            upload = {"upload": {"href": f"{self.hub.store_url}/{o['oid']}/upload"}}
            objects.append(o if o["oid"] in self.hub.large else {**o, "actions": upload})
        answer = {"transfer": "basic", "objects": objects}
        self.send(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _commit(self, name: str, repo: Repo) -> None:
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self.refuse(401, "", "Invalid username or password.")
            return
        files = dict(repo.commits[repo.branches["main"]])
        for line in self.body().splitlines():
            item = json.loads(line)
            value = item["value"]
            if item["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif item["key"] == "lfsFile":
                files[value["path"]] = self.hub.large[value["oid"]]
            elif item["key"] == "deletedFile":
                del files[value["path"]]
        commit = repo.commit(files)
        answer = {
            "commitUrl": f"{self.hub.url}/{_PAGES.get(name.split('/')[0], 'datasets/')}{name.removeprefix('models/')}"
            f"/commit/{commit}",
            "commitOid": commit,
        }
        self.send(200, json.dumps({**answer, "success": True}).encode())


def _parts(path: str) -> tuple[str, str, str]:
    """Return (API or files, repository, rest) of a path."""
    found = re.fullmatch(r"/(api/)?((?:datasets|models)/)?([^/]+/[^/]+?)(?:\.git)?(?:/(.*))?", path)
    if found is None:
        return "", "", ""
    name = found[3] if found[2] == "datasets/" else f"models/{found[3]}"
    return ("api" if found[1] else "files"), name, found[4] or ""


def _is_large(name: str, data: bytes) -> bool:
    return name.endswith(LFS) or len(data) >= LARGE


def _git(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _entry(name: str, data: bytes) -> dict[str, object]:
    entry: dict[str, object] = {"type": "file", "oid": _git(data), "size": len(data), "path": name}
    if _is_large(name, data):
        sha = hashlib.sha256(data).hexdigest()
        entry["lfs"] = {"oid": sha, "size": len(data), "pointerSize": 130}
    return entry


@contextlib.contextmanager
def serving(page: int = 3) -> Iterator[FakeHub]:
    """Yield a hub that is closed at the end of the block."""
    hub = FakeHub(page)
    try:
        yield hub
    finally:
        hub.close()
