/** What an attempt at a message to several domains says of itself. */
import { afterEach, expect, test } from "bun:test";
import { connect, createServer } from "node:net";
import { startFakeSmtp } from "../../../../test/fakes/fake-smtp.ts";
import { openMxRig } from "../../../../test/fakes/mx-rig.ts";
import { outgoingEmail } from "../../../../test/fakes/smtp-relay.ts";

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A host at 127.0.0.2, on this port, without TLS. */
async function openClearHost(port: number): Promise<void> {
  const smtp = await startFakeSmtp();
  closing.push(smtp.close);
  const server = createServer((socket) => {
    const onward = connect(smtp.port, smtp.host);
    socket.on("error", () => onward.destroy());
    onward.on("error", () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.2", resolve));
  closing.push(() => server.close());
}

const SIGNAL = new AbortController().signal;

test("an attempt was over TLS if it was to every domain that was reached, and says nothing where none was", async () => {
  const secure = await startFakeSmtp({ tls: "starttls" });
  closing.push(secure.close);
  await openClearHost(secure.port);
  const rig = await openMxRig({ port: secure.port });
  closing.push(rig.close);
  rig.host("secure.test", "mx.secure.test");
  rig.host("clear.test", "mx.clear.test", "127.0.0.2");
  rig.host("down.test", "mx.down.test", "127.0.0.3");
  const tlsTo = async (...domains: readonly string[]) => {
    const to = domains.map((domain) => ({ email: `ann@${domain}` }));
    const { detail } = await rig.channel.send(outgoingEmail({ to }), SIGNAL);
    return detail?.tls;
  };
  expect(await tlsTo("secure.test", "down.test")).toBe(true);
  expect(await tlsTo("secure.test", "clear.test")).toBe(false);
  expect(await tlsTo("clear.test")).toBe(false);
  expect(await tlsTo("down.test")).toBeUndefined();
});
