"""waitress, with the manners it lacks: it answers what it cannot read in the shape of all errors, a body
that is too large with a 413 that arrives, and it stops when told.

By itself waitress resets the connection of a large body and answers a malformed request in plain text.
Here a refused body is not waited for: the application answers from the headers alone, and the
connection stays open for a moment, so that a client still sending gets to read the answer.
"""

import os
import signal
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from waitress.adjustments import Adjustments
from waitress.buffers import OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask

from ohmykb.server.faults import Refusal, body_of, status_line
from ohmykb.server.guard import BODY_LIMIT

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

THREADS: Final = 12
LINGER_S: Final = 3.0
TICK_S: Final = 30.0
"""The loop turns over at least so often, to close forgotten connections."""
HEADERS_S: Final = 10.0
"""A connection that never sent one whole request in that time is closed, however it drips."""
CROWDED_S: Final = 1.0
"""While there is no room for others, one that asks nothing is closed so soon."""
CONNECTIONS: Final = 128
_NO_LIMIT: Final = 1 << 62


class CappedBuffer(OverflowableBuffer):  # type: ignore[misc]  # waitress has no types
    """Keeps a body up to just beyond the limit."""

    def append(self, data: bytes) -> None:
        room = BODY_LIMIT + 1 - len(self)
        if room > 0:
            super().append(data[:room])


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Ends a request with a body that will be refused at once."""

    body_rcv: Any = None
    completed: bool = False
    refused = False

    def __init__(self, adj: Adjustments, channel: "Channel") -> None:
        super().__init__(adj)
        self._channel = channel

    def parse_header(self, header_plus: bytes) -> None:
        try:
            super().parse_header(header_plus)
        except ParsingError:
            if not hasattr(self, "path") or _is_length(self.headers.get("CONTENT_LENGTH", "0")):
                raise
            self._refuse()  # a Content-Length that is no number: the guard says so, in its turn
            return
        if self.chunked:
            self.body_rcv.buf = CappedBuffer(self.adj.inbuf_overflow)
        elif self.content_length > BODY_LIMIT:
            self._refuse()

    def received(self, data: bytes) -> int:
        taken: int = super().received(data)
        if self.chunked and not self.completed and len(self.body_rcv) > BODY_LIMIT:
            self.headers["CONTENT_LENGTH"] = str(len(self.body_rcv))
            self._refuse()
            self.completed = True
        self._channel.asked = self._channel.asked or self.completed
        if self.refused or self.error:
            self._channel.unread = True
            return len(data)
        return taken

    def _refuse(self) -> None:
        self.refused = True
        self.chunked = self.expect_continue = False
        self.content_length = 0
        self.body_rcv = None
        self.headers["CONNECTION"] = "close"


class MalformedTask(ErrorTask):  # type: ignore[misc]
    """A request that could not be read is answered as any other error."""

    def execute(self) -> None:
        error = self.request.error
        code = "server" if error.code >= 500 else "usage"
        body = body_of(Refusal(error.code, code, f"The request cannot be read: {error.body}.", "Send plain HTTP/1.1"))
        self.status = status_line(error.code)
        self.response_headers.append(("Content-Type", "application/json"))
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection that, closed on a sender, first lets it read the answer."""

    error_task_class = MalformedTask
    asked = False
    """A request came whole."""
    unread = False
    """A request was answered before all of it came."""
    _lingers_until = 0.0

    def parser_class(self, adj: Adjustments) -> Parser:
        return Parser(adj, self)

    def readable(self) -> bool:
        return bool(self._lingers_until or super().readable())

    def writable(self) -> bool:
        return bool(super().writable()) and (not self._lingers_until or self.will_close)

    def handle_read(self) -> None:
        if not self._lingers_until:
            super().handle_read()
        elif time.monotonic() > self._lingers_until:
            super().handle_close()
        else:
            try:
                self.recv(self.adj.recv_bytes)  # at the end of the stream it closes
            except OSError:
                super().handle_close()

    def handle_close(self) -> None:
        if self.unread and not self._lingers_until and self.connected:
            try:
                self.socket.shutdown(socket.SHUT_WR)
            except OSError:
                super().handle_close()
                return
            self._lingers_until = time.monotonic() + LINGER_S
            self.will_close = self.close_when_flushed = False
            return
        super().handle_close()


class Server(TcpWSGIServer):  # type: ignore[misc]
    channel_class = Channel

    def maintenance(self, now: float) -> None:
        super().maintenance(now)
        crowded = len(self._map) >= self.adj.connection_limit
        for channel in list(self.active_channels.values()):
            slow = not channel.asked and channel.creation_time < now - HEADERS_S
            idle = not channel.requests and channel.last_activity < now - CROWDED_S
            dripping = not channel.asked and channel.creation_time < now - CROWDED_S
            if slow or (crowded and (idle or dripping)):
                channel.will_close = True


class Front:
    """Listens on 127.0.0.1; serves `app` from `run` until `stop`."""

    def __init__(self, port: int) -> None:
        """`port` 0: any free one. Raises OSError when the port is taken."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._socket.bind(("127.0.0.1", port))
        except OSError:
            self._socket.close()
            raise
        self.port: int = self._socket.getsockname()[1]
        self._server: Any = None
        self._stopping = False

    def open(self, app: "WSGIApplication") -> None:
        """Answers from now on, as soon as `run` is called."""
        adj = Adjustments(
            threads=THREADS,
            ident="oh-my-kb",
            max_request_body_size=_NO_LIMIT,
            clear_untrusted_proxy_headers=False,
            connection_limit=CONNECTIONS,
            cleanup_interval=CROWDED_S,
        )
        info = (self._socket.family, self._socket.type, self._socket.proto, self._socket.getsockname())
        self._server = Server(app, _sock=self._socket, bind_socket=False, adj=adj, sockinfo=info)

    def run(self) -> None:
        """On the main thread: serves until `stop`; then all threads have ended."""
        # A signal that comes between the last look at `_stopping` and the wait for requests would be
        # heard only when that wait ends; so the system itself wakes the loop.
        end = self._server.trigger.trigger
        if isinstance(end, int):
            os.set_blocking(end, False)
        else:  # a socket, on Windows
            end.settimeout(0)
        signal.set_wakeup_fd(end if isinstance(end, int) else end.fileno(), warn_on_full_buffer=False)
        while not self._stopping:
            tick = CROWDED_S if self._server.active_channels else TICK_S
            self._server.asyncore.loop(timeout=tick, use_poll=True, map=self._server._map, count=1)
        signal.set_wakeup_fd(-1)
        self._server.task_dispatcher.shutdown()
        for channel in list(self._server.active_channels.values()):
            HTTPChannel.handle_close(channel)
        self._server.close()

    def stop(self) -> None:
        """May be called from any thread, and from a signal handler."""
        if self._stopping:
            return  # an impatient second Ctrl-C: the trigger may be closed by now
        self._stopping = True
        if self._server is not None:
            with suppress(OSError):  # it has ended already
                self._server.pull_trigger()

    def close(self) -> None:
        """For a front that was never opened."""
        if self._server is None:
            self._socket.close()


def _is_length(value: str) -> bool:
    return value.isascii() and value.isdigit()
