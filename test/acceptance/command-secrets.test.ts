/** Secrets need not be typed, where the list of processes shows them: they can come on standard input. */
import { expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { startRawSmtp } from "../fakes/fake-smtp.ts";
import { typeBesideService } from "./typed-commands.ts";

const { fed, service } = typeBesideService();

test("a connector is made, and changed, with a password that comes on standard input", async () => {
  const relay = await startRawSmtp((verb) => {
    if (verb === "EHLO") return "250-relay.test\r\n250 AUTH PLAIN";
    return verb === "AUTH" ? "235 2.7.0 welcome" : undefined;
  });
  const made = await fed(
    '{"password":"first"}\n',
    ...["connectors", "create", "--kind", "smtp", "--host", relay.host, "--port", String(relay.port)],
    ...["--tls", "none", "--username", "ann", "--config", "-", "--json"],
  );
  const { id } = JSON.parse(made) as { id: string };
  await fed('{"password":"second"}', "connectors", "update", id, "--config", "-");
  expect(await admin(service(), `/connectors/${id}/test`, {})).toMatchObject({ ok: true });
  const login = Buffer.from("\0ann\0second").toString("base64");
  expect(relay.lines.filter((line) => line.startsWith("AUTH")).at(-1)).toBe(`AUTH PLAIN ${login}`);
  await relay.close();
});

test("a setting takes its value from standard input, with its line breaks", async () => {
  await fed("acme.example\n", "settings", "set", "return_path_host", "-");
  expect(await fed("", "settings", "get", "return_path_host")).toBe("acme.example\n");
});
