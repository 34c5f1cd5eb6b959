import net from "node:net";
import tls from "node:tls";
import type { Clock } from "../../../core/clock.ts";
import { errorText } from "../../../core/error-text.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import { authorityProblem } from "../../authority-problem.ts";
import { withCertificateAdvice } from "../../certificate-advice.ts";
import type { ConnectorKind } from "../../channel.ts";
import { speaksTls, withClearAdvice } from "../../tls-advice.ts";
import { withoutEcho } from "../../without-echo.ts";
import { descriptionProblems, missingSecrets, secretProblems } from "./description-problems.ts";
import { tidyText } from "./error-words.ts";
import { openClient, openHttpChannel } from "./http-channel.ts";
import {
  CALLBACK_TOKEN,
  certificateFields,
  HTTP_SECRETS,
  type HttpConfig,
  httpConfigSchema,
  readHttpConfig,
} from "./http-config.ts";
import { redirectOf } from "./judge-answer.ts";
import { valuesOfConnector } from "./message-values.ts";
import { type Described, gatewayOf, missingSettings, readDescribed } from "./providers.ts";
import { readCallback } from "./read-callback.ts";
import { renderRequest } from "./render-request.ts";
import { fillTemplate } from "./template.ts";

/** Shorter than the 15 s that a check may take. */
const CHECK_TIMEOUT_MS = 12_000;

/** An SMS provider with an HTTP interface, by a description: one of ours, or the operator's own. */
export const httpConnectorKind: ConnectorKind = {
  kind: "http",
  channel: "sms",
  config: httpConfigSchema,
  secrets: HTTP_SECRETS,
  problems({ config, secrets }) {
    const read = readHttpConfig({ name: "", config });
    if (read instanceof Error) return {};
    const gateway = gatewayOf(read, secrets);
    return {
      ...missingSettings(read, secrets),
      ...tokenProblem(secrets[CALLBACK_TOKEN]),
      ...authorityProblem("tls_ca", config.tls_ca),
      ...(gateway && secretProblems(gateway, secrets)),
      ...(read.gateway && { ...missingSecrets(read.gateway, secrets), ...descriptionProblems(read.gateway) }),
    };
  },
  open: openHttpChannel,
  check,
  // Any setting may be a part of the URL. Callbacks alone use the other secrets.
  destination: { secrets: ["auth_token", "api_key", "api_secret", "authkey", "password"] },
  rendersTemplates: (connector) => described(connector)?.gateway.renders_template ?? false,
  callbacks: {
    tokenSecret: CALLBACK_TOKEN,
    read(connector, request) {
      const { config, gateway } = described(connector) ?? {};
      if (!config || !gateway?.callback) {
        return { kind: "refused", status: 400, reason: "this connector reads no callbacks" };
      }
      const { provider, dlt_codes: dltCodes } = config;
      const hasOwnIds = gateway.answer.own_id === true;
      const { callback: description } = gateway;
      return readCallback({ connector, provider, description, dltCodes, hasOwnIds }, request);
    },
  },
};

function tokenProblem(token: string | undefined): Record<string, string> {
  if (token === undefined || /^[A-Za-z0-9_-]{16,128}$/.test(token)) return {};
  return { [CALLBACK_TOKEN]: "must be 16 to 128 letters, digits, - and _; leave it out and one is made" };
}

/** Remembered, since reading a configuration takes a millisecond or two, and callbacks come in bursts. */
const known = new WeakMap<Connector, Described>();

function described(connector: Connector): Described | undefined {
  const before = known.get(connector);
  if (before) return before;
  const found = readDescribed(connector);
  if (found instanceof Error) return undefined;
  known.set(connector, found);
  return found;
}

// ---------------------------------------------------------------- check

type Checked = { readonly ok: boolean; readonly detail: string };

/** `inDoubt`: the URL, if it was asked without TLS and the server may expect TLS. */
type Tried = Checked & { readonly inDoubt?: URL };

const OVER_TLS = "speaks TLS on this port: the URL is to begin with https://";
const IN_THE_CLEAR = "the URL is to begin with http://";

/** Makes a harmless request with the connector's credentials, if the provider has one; otherwise only connects. */
async function check(connector: Connector, clock: Clock): Promise<Checked> {
  const found = readDescribed(connector);
  if (found instanceof Error) return { ok: false, detail: found.message };
  const tried = found.gateway.check ? request : connect;
  try {
    const { inDoubt, ...checked } = await tried(connector, found, clock);
    const isTls = inDoubt !== undefined && (await speaksTls(placeOf(inDoubt), clock));
    return isTls ? { ok: false, detail: `${inDoubt.host} ${OVER_TLS}` } : checked;
  } catch (error) {
    // Only a setting can throw here.
    return { ok: false, detail: errorText(error) };
  }
}

async function request(connector: Connector, { config, gateway }: Described, clock: Clock): Promise<Tried> {
  const { auth, headers } = gateway.send;
  const send = {
    method: "GET" as const,
    url: gateway.check?.url ?? "",
    ...(auth && { auth }),
    ...(headers && { headers }),
  };
  const rendered = renderRequest(send, valuesOfConnector(connector));
  if ("error" in rendered) return { ok: false, detail: rendered.error.message };
  const limited = { ...config, response_timeout_ms: Math.min(config.response_timeout_ms, CHECK_TIMEOUT_MS) };
  const client = openClient(limited, clock);
  const exchange = await client.exchange(rendered.request, new AbortController().signal);
  client.close();
  const { url } = rendered.request;
  const secrets = Object.values(connector.secrets);
  if (exchange.kind !== "answered") {
    const isCutOff = url.protocol === "http:" && /hang up|parse error|ECONNRESET/i.test(exchange.reason);
    return { ok: false, detail: faultAt(url, exchange.reason, config), ...(isCutOff && { inDoubt: url }) };
  }
  const { status, body } = exchange.answer;
  if (status >= 200 && status < 300)
    return { ok: true, detail: `${url.host} knows these credentials; nothing was sent` };
  const words = tidyText(redirectOf(exchange.answer) ?? `${status} ${body}`);
  return { ok: false, detail: `${url.host} answered ${withoutEcho(words, { secrets })}` };
}

function faultAt({ host }: URL, reason: string, config: HttpConfig): string {
  const advised = withCertificateAdvice(reason, certificateFields(config));
  // At a provider's own address TLS is right: if it does not work, something else answers there.
  const isOwn = config.base_url !== undefined || config.provider === "custom";
  return `${host}: ${isOwn ? withClearAdvice(advised, IN_THE_CLEAR) : advised}`;
}

function placeOf(url: URL): { readonly host: string; readonly port: number } {
  const usual = url.protocol === "https:" ? 443 : 80;
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port) || usual };
}

function connect(connector: Connector, { config, gateway }: Described, clock: Clock): Promise<Tried> {
  const filled = fillTemplate(
    gateway.send.url,
    (name) => valuesOfConnector(connector)(name) ?? "x",
    encodeURIComponent,
  );
  const url = new URL(filled ?? gateway.send.url);
  const isTls = url.protocol === "https:";
  const { host, port } = placeOf(url);
  const ca = config.tls_ca === undefined ? {} : { ca: config.tls_ca };
  const verified = {
    rejectUnauthorized: config.tls_verify,
    ...(net.isIP(host) === 0 && { servername: host }),
  };
  return new Promise((resolve) => {
    const socket = isTls ? tls.connect({ host, port, ...verified, ...ca }) : net.connect({ host, port });
    const end = (checked: Tried) => {
      cancel();
      socket.destroy();
      resolve(checked);
    };
    const cancel = clock.after(Math.min(config.connect_timeout_ms, CHECK_TIMEOUT_MS), () =>
      end({ ok: false, detail: `${url.host}: no connection in time` }),
    );
    socket.once("error", ({ message }) => end({ ok: false, detail: faultAt(url, message, config) }));
    socket.once(isTls ? "secureConnect" : "connect", () =>
      end({
        ok: true,
        ...(!isTls && { inDoubt: url }),
        detail: `connected to ${url.host}${isTls ? " over TLS" : ""}; the provider has no request that tries the credentials and sends nothing`,
      }),
    );
  });
}
