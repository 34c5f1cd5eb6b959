/**
 * A load generator of a fixed number of requests, in a process of its own: each connection sends one, reads its
 * answer, sends the next. `bun bench/load.ts <port> <requests> <connections>`, and on its standard input one request
 * with `{n}` where a number of seven digits shall stand, counted up. Prints when it began and ended (Unix ms), and how
 * many answers were not 2xx.
 */
export {};

const [port = 0, requests = 0, connections = 0] = process.argv.slice(2).map(Number);
const template = (await Bun.stdin.text()).split("{n}");

let sent = 0;
let answered = 0;
let refused = 0;
const startedAt = performance.timeOrigin + performance.now();
const { promise: finished, resolve: finish } = Promise.withResolvers<void>();

function next(): string | undefined {
  if (sent >= requests) return undefined;
  return template.join(String(1_000_000 + sent++));
}

interface Answer {
  text: string;
}

function takeAnswer(data: Answer): boolean {
  const head = data.text.indexOf("\r\n\r\n");
  if (head < 0) return false;
  const length = Number(/^content-length: *(\d+)/im.exec(data.text.slice(0, head))?.[1] ?? 0);
  if (data.text.length < head + 4 + length) return false;
  if (data.text[9] !== "2") refused++;
  answered++;
  data.text = data.text.slice(head + 4 + length);
  return true;
}

for (let index = 0; index < connections; index++) {
  await Bun.connect<Answer>({
    hostname: "127.0.0.1",
    port,
    socket: {
      open(socket) {
        socket.data = { text: "" };
        socket.write(next() ?? "");
      },
      data(socket, chunk) {
        socket.data.text += chunk.toString("latin1");
        if (!takeAnswer(socket.data)) return;
        if (answered === requests) finish();
        const request = next();
        if (request !== undefined) socket.write(request);
      },
      close() {
        if (answered < requests) finish();
      },
    },
  });
}
await finished;
console.log(
  JSON.stringify({ startedAt, endedAt: performance.timeOrigin + performance.now(), answered, refused }),
);
process.exit(0);
