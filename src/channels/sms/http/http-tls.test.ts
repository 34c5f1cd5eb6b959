/** Sending over TLS: whose certificate is good enough, and what is known of a message whose connection is lost. */
import { afterEach, expect, test } from "bun:test";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { type HttpRig, never, openPlain, outgoingSms } from "../../../../test/fakes/http-rig.ts";
import { testTls } from "../../../../test/fakes/test-tls.ts";

let rig: HttpRig | undefined;
let close = async () => {};
afterEach(async () => {
  await rig?.channel.stop();
  await close();
  rig = undefined;
});

/** A gateway over TLS that answers, or hangs up once it has read the request. */
async function startTlsGateway() {
  const dial = { drops: false };
  let connections = 0;
  const lengths: (string | undefined)[] = [];
  const server = createServer({ key: testTls.key, cert: testTls.cert }, (request, response) => {
    request.resume().on("end", () => {
      lengths.push(request.headers["content-length"]);
      if (dial.drops) request.socket.destroy();
      else response.end('{"id":"a-1"}');
    });
  });
  server.on("secureConnection", () => connections++);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, dial, connections: () => connections, lengths };
}

function openAt(url: string, config: Record<string, unknown>) {
  rig = openPlain(url, config);
  return rig.channel;
}

test.each([
  ["for its authority", { tls_ca: testTls.ca }],
  ["whoever it is", { tls_verify: false }],
])(
  "messages go one after the other over one connection to a gateway that is trusted %s",
  async (_, config) => {
    const { url, connections, lengths } = await startTlsGateway();
    const channel = openAt(url, config);
    for (let n = 0; n < 3; n++)
      expect((await channel.send(outgoingSms(), never)).parts[0]?.kind).toBe("sent");
    expect(connections()).toBe(1);
    expect(lengths).toEqual(["22", "22", "22"]);
  },
);

test("nothing is sent to a gateway whose certificate nobody vouches for", async () => {
  const { url, lengths } = await startTlsGateway();
  const channel = openAt(url, {});
  expect(await channel.send(outgoingSms(), never)).toMatchObject({
    parts: [{ kind: "deferred", error: { code: "http.not_connected" } }],
    countsAsAttempt: false,
  });
  const { state, reason } = channel.status();
  expect([state, lengths]).toEqual(["down", []]);
  expect(reason).toContain("; set `tls_ca` to the certificate (PEM) of the authority that signed it");
});

test("a message whose connection is lost after it was written is unconfirmed, on a new connection and on a used one", async () => {
  const { url, dial } = await startTlsGateway();
  const channel = openAt(url, { tls_ca: testTls.ca });
  for (const drops of [true, false, true]) {
    dial.drops = drops;
    const { parts } = await channel.send(outgoingSms(), never);
    expect(parts[0]?.kind).toBe(drops ? "unconfirmed" : "sent");
  }
});
