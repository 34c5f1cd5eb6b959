import type { Clock } from "../../../core/clock.ts";
import type { MessageError } from "../../../core/messages/message.ts";
import { authorityProblem } from "../../authority-problem.ts";
import type { ConnectorKind } from "../../channel.ts";
import { hostProblem } from "../../host-name.ts";
import { localAddressProblem } from "../../local-address.ts";
import { speaksTls } from "../../tls-advice.ts";
import { providerProblems, readMailCallback, WEBHOOK_SECRET } from "../providers/read-mail-callback.ts";
import { ehloNameProblem } from "./ehlo-name.ts";
import { openSmtpChannel } from "./smtp-channel.ts";
import { type SmtpSettings, smtpConfigSchema, toSmtpSettings } from "./smtp-config.ts";
import { openSmtpSession } from "./smtp-session.ts";
import { withTlsAdvice } from "./with-tls-advice.ts";
import { withinLimit } from "./within-limit.ts";

const CALLBACK_TOKEN = "callback_token";

/** An SMTP relay (smarthost). */
export const smtpConnectorKind: ConnectorKind = {
  kind: "smtp",
  channel: "email",
  config: smtpConfigSchema,
  secrets: {
    password: "Password for AUTH",
    [WEBHOOK_SECRET]: "sendgrid, resend: what their webhooks are signed with",
    [CALLBACK_TOKEN]: "Last part of the callback URL; generated if not given",
  },
  problems: (settings) => ({
    ...providerProblems(settings),
    ...ehloNameProblem(settings),
    ...hostProblem(settings.config.host),
    ...localAddressProblem(settings.config),
    ...authorityProblem("ca", settings.config.ca),
  }),
  open: openSmtpChannel,
  callbacks: {
    tokenSecret: CALLBACK_TOKEN,
    isUsedBy: ({ provider }) => provider !== undefined,
    read: readMailCallback,
  },
  destination: { fields: ["host", "port", "tls", "ca"], secrets: ["password"] },
  async check(connector, clock) {
    const settings = toSmtpSettings(connector);
    const opened = await withinLimit(clock, { limitMs: CHECK_LIMIT_MS }, (limited) =>
      openSmtpSession(settings, clock, limited),
    );
    if ("fault" in opened) {
      const advised = withTlsAdvice(opened.fault, settings);
      return { ok: false, detail: advised + (await implicitTlsAdvice(settings, opened.fault, clock)) };
    }
    await opened.session.quit();
    const security = opened.session.isSecure ? "over TLS" : "without TLS";
    const identity = settings.auth ? `as ${settings.auth.username}` : "without a password";
    return { ok: true, detail: `connected to ${settings.host}:${settings.port} ${security}, ${identity}` };
  },
};

/** Advice for the most common mistake with port 465, where both sides wait for the other to begin. */
async function implicitTlsAdvice(
  settings: SmtpSettings,
  { code }: MessageError,
  clock: Clock,
): Promise<string> {
  const mayWait = settings.tls !== "implicit" && (code === "smtp.timeout" || code === "smtp.connect");
  return mayWait && (await speaksTls(settings, clock))
    ? "; the server begins with TLS: `tls` is to be `implicit`"
    : "";
}

/** Together with the 2 s that QUIT may take, within the 15 s of `ConnectorKind.check`. */
const CHECK_LIMIT_MS = 12_000;
