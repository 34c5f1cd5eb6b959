import { afterEach, describe, expect, test } from "bun:test";
import { chainedTls } from "../../test/fakes/chained-tls.ts";
import {
  doubtfulCa,
  earlyTls,
  expiredTls,
  selfSignedTls,
  startTlsServer,
} from "../../test/fakes/doubtful-tls.ts";
import { startFakeSmtp } from "../../test/fakes/fake-smtp.ts";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { mailTls } from "../../test/fakes/mail-tls.ts";
import { testTls } from "../../test/fakes/test-tls.ts";
import type { ConnectorKind } from "./channel.ts";
import { smtpConnectorKind } from "./email/smtp/smtp-connector.ts";
import { httpConnectorKind } from "./sms/http/http-connector.ts";
import { smppConnectorKind } from "./sms/smpp/smpp-connector.ts";

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

interface Server {
  readonly port: number;
  close(): Promise<void>;
}

interface Way {
  readonly kind: ConnectorKind;
  /** The field for the authority. */
  readonly field: string;
  readonly host: string;
  readonly start: (certificate: Certificate) => Promise<Server>;
  readonly config: (port: number) => Record<string, unknown>;
}

const servers: Server[] = [];
afterEach(async () => void (await Promise.all(servers.splice(0).map((server) => server.close()))));

const http = { kind: httpConnectorKind, field: "tls_ca", start: startTlsServer };
const smtp = { kind: smtpConnectorKind, field: "ca", host: "`host` must be" };
const smpp = { kind: smppConnectorKind, field: "tls_ca", start: startTlsServer };
const bind = (port: number) => ({ host: "127.0.0.1", port, system_id: "rider", tls: true });

const ways: Readonly<Record<string, Way>> = {
  "SMPP over TLS": { ...smpp, host: "`host` (or `tls_server_name`) must be", config: bind },
  "SMTP with STARTTLS": {
    ...smtp,
    start: (certificate) => startFakeSmtp({ tls: "starttls", certificate }),
    config: (port) => ({ host: "127.0.0.1", port, tls: "required" }),
  },
  "SMTP over TLS": {
    ...smtp,
    start: (certificate) => startFakeSmtp({ tls: "implicit", certificate }),
    config: (port) => ({ host: "127.0.0.1", port, tls: "implicit" }),
  },
  "a gateway that is asked": {
    ...http,
    host: "the host in `base_url` must be",
    config: (port) => ({ provider: "twilio", base_url: `https://127.0.0.1:${port}`, account_sid: "AC1" }),
  },
  "a gateway that is only connected to": {
    ...http,
    host: "the host in its URL must be",
    config: (port) => ({
      provider: "custom",
      gateway: { send: { url: `https://127.0.0.1:${port}/` }, answer: {} },
    }),
  },
};

describe.each(Object.entries(ways))("%s", (_, { kind, field, host, start, config }) => {
  const check = async (certificate: Certificate, ca?: string) => {
    const server = await start(certificate);
    servers.push(server);
    return kind.check(
      {
        id: "c1",
        name: "c",
        kind: kind.kind,
        isEnabled: true,
        createdAt: 0,
        config: { ...config(server.port), ...(ca !== undefined && { [field]: ca }) },
        secrets: { auth_token: "t" },
      },
      createHeldClock(),
    );
  };
  const refused = (words: string) => ({ ok: false, detail: expect.stringContaining(`; ${words}`) });
  const set = `set \`${field}\` to the certificate (PEM) of the authority that signed it`;

  test("the authority that is to be trusted is asked for, by the field that takes it", async () => {
    expect(await check(testTls)).toEqual(refused(set));
    expect(await check(selfSignedTls)).toEqual(refused(set));
    expect(await check(testTls, mailTls.ca)).toEqual(refused(`\`${field}\` holds another authority`));
  });

  test("an intermediate certificate that the server does not send is told of, and one that is trusted alone", async () => {
    const { intermediate, root } = chainedTls;
    const isMissing = "the server does not send its intermediate certificate";
    const detailOf = async (ca?: string) => (await check(chainedTls, ca)).detail;
    expect(await detailOf()).toEndWith(
      `; ${set}; if that is a public one, ${isMissing}, and whoever runs it has to mend that`,
    );
    expect(await detailOf(root)).toEndWith(`; or ${isMissing}: add that to \`${field}\``);
    expect(await detailOf(intermediate)).toEndWith(
      `; add to \`${field}\` the certificate (PEM) of the authority that signed the one in it`,
    );
  });

  test("a server of another name is told by what has to name it", async () => {
    expect(await check(mailTls, mailTls.ca)).toEqual(refused(host));
  });

  test("a certificate out of its time is another's to replace", async () => {
    for (const certificate of [expiredTls, earlyTls]) {
      expect(await check(certificate, doubtfulCa)).toEqual(
        refused("whoever runs the server has to replace it"),
      );
    }
  });
});

test("a name of its own in the certificate is what has to be right where one is set", async () => {
  const server = await startTlsServer(testTls);
  servers.push(server);
  const config = { ...bind(server.port), tls_ca: testTls.ca, tls_server_name: "smsc.example" };
  const connector = { id: "c1", name: "c", kind: "smpp", isEnabled: true, createdAt: 0, config, secrets: {} };
  const { detail } = await smppConnectorKind.check(connector, createHeldClock());
  expect(detail).toContain("; `tls_server_name` must be one that the certificate is for");
});
