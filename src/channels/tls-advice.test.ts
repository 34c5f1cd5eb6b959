/** Only one side speaks TLS: what `connectors test` then says. */
import { afterEach, expect, test } from "bun:test";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { startTlsServer } from "../../test/fakes/doubtful-tls.ts";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { testTls } from "../../test/fakes/test-tls.ts";
import type { ConnectorKind } from "./channel.ts";
import { smtpConnectorKind } from "./email/smtp/smtp-connector.ts";
import { httpConnectorKind } from "./sms/http/http-connector.ts";
import { smppConnectorKind } from "./sms/smpp/smpp-connector.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function listen(hear: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    hear(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

async function startTls(): Promise<number> {
  const { port, close } = await startTlsServer(testTls);
  cleanups.push(close);
  return port;
}

/** Hangs up on whoever does not begin with a handshake, as load balancers do: without an alert. */
function startCurtTls(behind: number): Promise<number> {
  return listen((socket) => {
    socket.once("data", (octets) => {
      if (octets[0] !== 0x16) return void socket.destroy();
      const onward = connect(behind, "127.0.0.1", () => onward.write(octets));
      onward.on("error", () => {});
      onward.pipe(socket).pipe(onward);
    });
  });
}

const clock = createHeldClock();

function check(kind: ConnectorKind, config: Record<string, unknown>) {
  const named = { id: "c1", name: "c", kind: kind.kind, isEnabled: true, createdAt: 0 };
  return kind.check({ ...named, config, secrets: { auth_token: "t", password: "p" } }, clock);
}

const smpp = (port: number, tls: boolean) =>
  check(smppConnectorKind, { host: "127.0.0.1", port, system_id: "rider", tls });
const smtp = (port: number, tls: string) =>
  check(smtpConnectorKind, { host: "127.0.0.1", port, tls, greeting_timeout_ms: 300 });
const asked = (base_url: string) =>
  check(httpConnectorKind, { provider: "twilio", base_url, account_sid: "AC1" });
const connectedTo = (url: string) =>
  check(httpConnectorKind, { provider: "custom", gateway: { send: { url }, answer: {} } });
const fails = (words: string) => ({ ok: false, detail: expect.stringContaining(words) });

test("SMPP in the clear on a port that speaks TLS: told by its alert, or by its handshake where it only hangs up", async () => {
  const port = await startTls();
  for (const one of [port, await startCurtTls(port)]) {
    expect(await smpp(one, false)).toEqual(fails("speaks TLS on this port: `tls` is to be true"));
  }
});

test("an alert of TLS in place of a PDU is enough", async () => {
  const alert = Buffer.from("15030100020246", "hex");
  const port = await listen((socket) => void socket.once("data", () => socket.end(alert)));
  expect(await smpp(port, false)).toEqual(fails("speaks TLS on this port: `tls` is to be true"));
});

test.each(["HTTP/1.1 400 Bad Request\r\n\r\n", "220 mx.example.net ESMTP\r\n", "SSH-2.0-OpenSSH_9.2\r\n"])(
  "SMPP on a port where %j is said is told that another protocol is spoken there",
  async (words) => {
    const port = await listen((socket) => void socket.once("data", () => socket.end(words)));
    expect(await smpp(port, false)).toEqual(fails("another protocol than SMPP is spoken on this port"));
  },
);

test("a PDU of impossible length that is no text is left at that", async () => {
  const pdu = Buffer.from("7fffffff800000090000000000000000", "hex");
  const port = await listen((socket) => void socket.once("data", () => socket.end(pdu)));
  expect(await smpp(port, false)).toEqual(fails("the SMSC sent a PDU of impossible length"));
});

test("an SMSC that hangs up in the clear and speaks no TLS is left at that", async () => {
  const port = await listen((socket) => void socket.once("data", () => socket.destroy()));
  expect(await smpp(port, false)).toEqual({ ok: false, detail: "the SMSC closed the connection" });
});

test("SMPP over TLS on a port in the clear: told by what it answers, by its silence, or by its hanging up", async () => {
  const nack = Buffer.from("00000010800000000000000200000000", "hex");
  const nacking = await listen((socket) => void socket.once("data", () => socket.write(nack)));
  expect(await smpp(nacking, true)).toEqual(fails("does not begin with TLS: `tls` is to be false"));

  const closing = await listen((socket) => void socket.once("data", () => socket.end()));
  expect(await smpp(closing, true)).toEqual(
    fails("if the server does not begin with TLS, `tls` is to be false"),
  );

  const greeted = Promise.withResolvers<unknown>();
  const silent = await listen((socket) => void socket.once("data", greeted.resolve));
  const checking = smpp(silent, true);
  await greeted.promise;
  await clock.advance(12_000);
  expect(await checking).toEqual(
    fails("the TLS handshake took too long; if the server does not begin with TLS"),
  );
});

test("SMTP on a port that begins with TLS, where each side waits for the other", async () => {
  const port = await startTls();
  for (const mode of ["none", "opportunistic", "required"]) {
    expect(await smtp(port, mode)).toEqual(fails("begins with TLS: `tls` is to be `implicit`"));
  }
});

test("a gateway that speaks TLS behind http://, and one that does not behind https://", async () => {
  const secure = `127.0.0.1:${await startTls()}`;
  const bare = `127.0.0.1:${await listen((socket) => void socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"))}`;
  for (const ask of [asked, connectedTo]) {
    expect(await ask(`http://${secure}`)).toEqual(
      fails("speaks TLS on this port: the URL is to begin with https://"),
    );
    expect(await ask(`https://${bare}`)).toEqual(
      fails("does not begin with TLS: the URL is to begin with http://"),
    );
  }
});
