// A proxy that adds the key, for clients that cannot send one; everything else passes through as it came.
import http from "node:http";

export function keyed(target, key) {
  const to = new URL(target);
  const server = http.createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${key}` };
    const options = { host: to.hostname, port: to.port, path: request.url, method: request.method, headers };
    const onward = http.request(options, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", (error) => response.destroy(error));
    request.pipe(onward);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}
