import { afterEach, expect, test } from "bun:test";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { mailTls } from "../../../test/fakes/mail-tls.ts";
import { createWeb } from "./web.ts";

let server: Server | undefined;

afterEach(() => {
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  server?.close();
});

test("nothing is fetched from a host without a certificate for its name, whatever the environment says", async () => {
  const listening = createServer({ key: mailTls.key, cert: mailTls.cert }, (_, res) => res.end("a key"));
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const { port } = listening.address() as AddressInfo;
  const web = createWeb(createHeldClock(), { address: "127.0.0.1", port, ca: mailTls.ca });
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  expect(await web.get(new URL("https://mta-sts.example.net/key.pem"))).toBe("a key");
  expect(await web.get(new URL("https://elsewhere.test/key.pem"))).toBeUndefined();
});
