/** Settings of a connector are tried before they are stored, beside the session that it has open. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc } from "../live-sms.ts";
import { typeBesideService } from "./typed-commands.ts";

const { run, fed, service, dataFolder } = typeBesideService();

let smsc: FakeSmsc;
let id: string;
beforeEach(async () => {
  smsc = await startFakeSmsc();
  id = await connectSmsc(service(), smsc);
  await smsc.until(() => smsc.bound().length === 1);
});
afterEach(async () => {
  await admin(service(), `/connectors/${id}`, undefined, "DELETE");
  await smsc.close();
});

const tried = (...fields: string[]) =>
  run(["connectors", "test", id, ...fields], { POSTRIDER_DATA: dataFolder });

/** The passwords of the binds, in order. */
const passwords = ({ binds }: FakeSmsc) => binds.map((body) => body.toString("latin1").split("\0")[1]);

test("a new password is tried beside the session that is up, and is neither stored nor shown", async () => {
  smsc.dial.bindStatus = 0x0e;
  const wrong = await tried("--password", "mistyped");
  expect(wrong.code).toBe(1);
  expect(wrong.out).toBe("failed: the SMSC refused the bind: password is invalid (ESME_RINVPASWD)\n");
  expect(smsc.bound()).toEqual(["transceiver"]);
  smsc.dial.bindStatus = 0;
  expect(await fed('{"password":"renewed"}', "connectors", "test", id, "--config", "-")).toBe(
    "ok: bound as acme, and unbound\n",
  );
  await smsc.until(() => smsc.connections() === 1);
  expect(await admin(service(), `/connectors/${id}`)).toMatchObject({ status: { state: "up" } });
  // Without fields what is stored is tried.
  expect((await tried()).out).toBe("ok: bound as acme, and unbound\n");
  expect(passwords(smsc)).toEqual(["secret", "mistyped", "renewed", "secret"]);
  for (const secret of ["mistyped", "renewed"]) expect(service().output()).not.toContain(secret);
});

test("a refusal of one session more is told from one of the password", async () => {
  smsc.dial.bindStatus = 0x05;
  expect((await tried("--password", "renewed")).out).toBe(
    "failed: the SMSC refused the bind: already bound (ESME_RALYBND); it allows no session beside the open ones, such as the connector's own\n",
  );
  smsc.dial.bindStatus = 0x0d;
  expect((await tried("--password", "renewed")).out).toContain("the password may be wrong, or it allows");
});

test("a test sends the stored password to no other place than it is stored for", async () => {
  const other = await startFakeSmsc();
  const refused = await tried("--port", String(other.port));
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain("--password: required with another `port`");
  expect(other.binds).toEqual([]);
  const elsewhere = ["--port", String(other.port), "--password", "theirs"];
  expect((await tried(...elsewhere)).out).toBe("ok: bound as acme, and unbound\n");
  expect(passwords(other)).toEqual(["theirs"]);
  expect((await tried("--tls")).err).toContain("--password: required with another `tls`");
  // What is there already, as a default for example, changes nothing.
  expect((await tried("--no-tls", "--port", String(smsc.port))).code).toBe(0);
  expect(passwords(smsc)).toEqual(["secret", "secret"]);
  await other.close();
});
