/** What operators of Kannel and Jasmin set for an SMSC, typed as they would. */
import { expect, test } from "bun:test";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { typeBesideService } from "./typed-commands.ts";

const { run, text, json } = typeBesideService();

const SMPP = "--kind smpp --host smsc.example --system-id acme".split(" ");

test("service type, priority, version, TLVs and local address are options, and an empty value clears a list", async () => {
  const created = await json(
    ...["connectors", "create", ...SMPP, "--service-type", "OTP", "--priority-flag", "2"],
    ...["--local-address", "192.0.2.10", "--interface-version", "3.4"],
    ...["--extra-tlvs", '{"tag":5123,"text":"ACME"}', "--extra-tlvs", '{"tag":5124,"integer":7,"octets":2}'],
  );
  expect(created.config).toMatchObject({
    service_type: "OTP",
    priority_flag: 2,
    local_address: "192.0.2.10",
    interface_version: "3.4",
    extra_tlvs: [
      { tag: 5123, text: "ACME" },
      { tag: 5124, integer: 7, octets: 2 },
    ],
  });
  const refused = await run(["connectors", "update", created.id, "--interface-version", "3.3"]);
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining("--extra-tlvs: must be empty with interface_version 3.3"),
  ]);
  const changed = await json(
    ...["connectors", "update", created.id, "--interface-version", "3.3", "--extra-tlvs", ""],
  );
  expect(changed.config).toMatchObject({ interface_version: "3.3", extra_tlvs: [] });
});

test("every field of a TLV that is wrong is named, with what would be right", async () => {
  const refused = await run([
    ...["connectors", "create", ...SMPP, "--service-type", "TOOLNG", "--interface-version", "5.0"],
    ...["--extra-tlvs", '{"tag":70000,"txt":"ACME"}'],
  ]);
  expect(refused.code).toBe(1);
  for (const words of [
    "--service-type: must be at most 5 characters",
    "--interface-version: must be one of 3.4, 3.3",
    "--extra-tlvs, 0.txt: unknown; did you mean text?",
    "--extra-tlvs, 0.tag: must be from 1 to 65535",
  ])
    expect(refused.err).toContain(words);
});

test("the test of a connector says that this machine does not have its local address", async () => {
  await using smsc = await openSmsc();
  const { id } = await json(
    ...["connectors", "create", "--kind", "smpp", "--system-id", "acme", "--local-address", "203.0.113.7"],
    ...["--host", smsc.host, "--port", `${smsc.port}`],
  );
  const failed = await run(["connectors", "test", id]);
  expect([failed.code, failed.out]).toEqual([
    1,
    expect.stringContaining("this machine does not have the address 203.0.113.7: set `local_address`"),
  ]);
  await text("connectors", "update", id, "--local-address", "127.0.0.2");
  expect(await text("connectors", "test", id)).toStartWith("ok: bound as acme");
});

async function openSmsc() {
  const smsc = await startFakeSmsc();
  return { host: smsc.host, port: smsc.port, [Symbol.asyncDispose]: () => smsc.close() };
}
