import { expect, test } from "bun:test";
import { selfSignedTls } from "../../../../test/fakes/doubtful-tls.ts";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { fingerprintOf, shownByMailAt } from "../../../../test/fakes/shown-certificate.ts";
import { testTls } from "../../../../test/fakes/test-tls.ts";
import { openBounceListener } from "./bounce-listener.ts";

test("whoever begins TLS is shown the certificate that the listener has by then, which stays if another one is none", async () => {
  const listener = await openBounceListener({
    host: "127.0.0.1",
    port: 0,
    tls: testTls,
    handler: { accepts: () => false, handle: () => Promise.reject(new Error("not asked")) },
    clock: createHeldClock(),
    log: { info() {}, warn() {}, debug() {} },
    onMail() {},
  });
  const shown = () => shownByMailAt(listener.port);
  expect(await shown()).toBe(fingerprintOf(testTls.cert));
  expect(() => listener.renew({ cert: selfSignedTls.cert, key: testTls.key })).toThrow();
  expect(await shown()).toBe(fingerprintOf(testTls.cert));
  listener.renew(selfSignedTls);
  expect(await shown()).toBe(fingerprintOf(selfSignedTls.cert));
  await listener.stop();
});
