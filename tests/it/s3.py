"""An S3 server in memory: prints its address, and ends with its standard input.

The name of a bucket may begin with what its store does not do: `forgets-` ignores the condition that an object is absent, `refuses-`
refuses it, `keeps-` deletes no list of objects.
"""

import logging
import sys

import moto.moto_server.threaded_moto_server as threaded


class Store(threaded.DomainDispatcherApplication):
    def get_backend_for_host(self, host):
        """The only service. moto would look through its folder of services, twice for each request."""
        return "s3"

    def __call__(self, environ, start_response):
        kind = environ["PATH_INFO"].lstrip("/").partition("-")[0]
        if kind == "forgets":
            environ.pop("HTTP_IF_NONE_MATCH", None)
        is_list = environ["REQUEST_METHOD"] == "POST" and "delete" in environ.get("QUERY_STRING", "")
        if (kind == "refuses" and "HTTP_IF_NONE_MATCH" in environ) or (kind == "keeps" and is_list):
            start_response("400 Bad Request", [("Content-Length", "0")])
            return [b""]
        return super().__call__(environ, start_response)


threaded.DomainDispatcherApplication = Store
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = threaded.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
print(f"{host}:{port}", flush=True)
sys.stdin.read()
