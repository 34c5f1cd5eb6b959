/** A live account that sends SMS over connectors of the test, all set up over HTTP. */
import { COMMAND } from "../src/channels/sms/smpp/wire/pdu.ts";
import { admin, liveAccount, type Peer, send } from "./admin.ts";
import type { FakeSmsc } from "./fakes/fake-smsc.ts";
import type { HeldPostrider, MessageAt } from "./held-postrider.ts";

export interface LiveSms {
  readonly accountId: string;
  readonly apiKey: string;
  readonly templateId: string;
  /** Sends to a number; resolves with where to look it up, and rejects if it is not accepted. */
  send(to: string, over?: Record<string, unknown>): Promise<MessageAt>;
  timeline(message: MessageAt): Promise<readonly Entry[]>;
}

export interface Entry {
  readonly kind: string;
  readonly status: string;
  readonly recipient?: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** The text of messages that are given no other. */
const TEXT = "Your table is ready.";

/** Makes a connector to an SMSC; resolves with its id. */
export async function connectSmsc(
  service: Peer,
  smsc: Pick<FakeSmsc, "host" | "port">,
  config: Record<string, unknown> = {},
): Promise<string> {
  const { connector_id } = await admin<{ connector_id: string }>(service, "/connectors", {
    kind: "smpp",
    name: `smsc-${smsc.port}`,
    config: { host: smsc.host, port: smsc.port, system_id: "acme", password: "secret", ...config },
  });
  return connector_id;
}

/** A connector that does not wait long for an answer. */
export const IMPATIENT = { response_timeout_ms: 5_000 };

/** So often an SMSC that answers no submit_sm shows that it lives. */
const ALIVE_MS = 1_900;

/** Lets time pass until an impatient connector has given up on so many submits, though the SMSC shows that it lives. */
export async function giveUpOn(
  submits: number,
  { postrider, smsc }: { postrider: HeldPostrider; smsc: FakeSmsc },
): Promise<void> {
  await smsc.until(() => smsc.submits.length === submits);
  for (let past = 0; past <= IMPATIENT.response_timeout_ms; past += ALIVE_MS) {
    await postrider.pass(ALIVE_MS);
    await smsc.request(COMMAND.enquireLink);
  }
}

/** A live account with a template, a sender and a route to these connectors: its own, or the one for every account. */
export async function openLiveSms(
  service: Peer,
  options: {
    connectors: readonly string[];
    body?: string;
    settings?: Record<string, string>;
    sharesRoute?: boolean;
    /** The account's sender. */
    from?: string;
  },
): Promise<LiveSms> {
  const { accountId, apiKey } = await liveAccount(service);
  const account_id = accountId;
  for (const [name, value] of Object.entries(options.settings ?? {})) {
    await admin(service, `/settings/${name}?account_id=${accountId}`, { value }, "PUT");
  }
  await openRoute(service, options.connectors, options.sharesRoute ? undefined : account_id);
  await admin(service, "/senders", { account_id, sender_id: options.from ?? "ACMECO", is_default: true });
  const { template_id: templateId } = await admin<{ template_id: string }>(service, "/sms-templates", {
    account_id,
    name: "story",
    body: options.body ?? TEXT,
  });
  return {
    accountId,
    apiKey,
    templateId,
    async send(to, over = {}) {
      const body = { to, template_id: templateId, ...over };
      const answer = await send(service, { apiKey, path: "/v1/sms/messages", body });
      if (answer.status !== 202) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      return { apiKey, path: `/v1/sms/messages/${answer.body.message_id}` };
    },
    async timeline({ path }) {
      const id = path.split("/").at(-1);
      const at = `/messages/sms/${id}/timeline?account_id=${accountId}`;
      return (await admin<{ data: readonly Entry[] }>(service, at)).data;
    },
  };
}

async function openRoute(service: Peer, connectors: readonly string[], accountId?: string): Promise<void> {
  if (accountId === undefined) {
    const { data } = await admin<{ data: { account_id?: string }[] }>(service, "/routes");
    if (data.some(({ account_id }) => account_id === undefined)) return;
  }
  await admin(service, "/routes", { account_id: accountId, channel: "sms", connector_ids: connectors });
}
