import type { Clock } from "../../../core/clock.ts";
import { authorityProblem } from "../../authority-problem.ts";
import { withCertificateAdvice } from "../../certificate-advice.ts";
import type { ConnectorKind } from "../../channel.ts";
import { speaksTls, withClearAdvice } from "../../tls-advice.ts";
import { providerProblems, readMailCallback, WEBHOOK_SECRET } from "../providers/read-mail-callback.ts";
import { openCut } from "./cut.ts";
import { ehloNameProblem } from "./ehlo-name.ts";
import { openSmtpChannel } from "./smtp-channel.ts";
import { type SmtpSettings, smtpConfigSchema, toSmtpSettings } from "./smtp-config.ts";
import { openSmtpSession } from "./smtp-session.ts";

const CALLBACK_TOKEN = "callback_token";

/** An SMTP relay (smarthost). */
export const smtpConnectorKind: ConnectorKind = {
  kind: "smtp",
  channel: "email",
  config: smtpConfigSchema,
  secrets: ["password", WEBHOOK_SECRET, CALLBACK_TOKEN],
  problems: (settings) => ({
    ...providerProblems(settings),
    ...ehloNameProblem(settings),
    ...authorityProblem("ca", settings.config.ca),
  }),
  open: openSmtpChannel,
  callbacks: {
    tokenSecret: CALLBACK_TOKEN,
    isUsedBy: ({ provider }) => provider !== undefined,
    read: readMailCallback,
  },
  async check(connector, clock) {
    const settings = toSmtpSettings(connector);
    const cut = openCut(clock, CHECK_LIMIT_MS, []);
    const opened = await openSmtpSession(settings, clock, cut.signal);
    cut.release();
    if ("fault" in opened) {
      const { code, message } = opened.fault;
      const fields = { authority: "ca", hasAuthority: settings.ca !== undefined, host: "`host`" };
      const advised = `${code}: ${withCertificateAdvice(message, fields)}`;
      if (settings.tls === "implicit") return { ok: false, detail: withClearAdvice(advised, STARTTLS) };
      return { ok: false, detail: advised + (await wayInto(settings, code, clock)) };
    }
    await opened.session.quit();
    const security = opened.session.isSecure ? "over TLS" : "without TLS";
    const identity = settings.auth ? `as ${settings.auth.username}` : "without a password";
    return { ok: true, detail: `connected to ${settings.host}:${settings.port} ${security}, ${identity}` };
  },
};

/** The commonest mistake with port 587: its servers begin in the clear. */
const STARTTLS = "`tls` is to be `required`, which is STARTTLS";

/** The commonest one with port 465: there both sides wait for the other to begin. */
async function wayInto(settings: SmtpSettings, code: string, clock: Clock): Promise<string> {
  const mayWait = code === "smtp.timeout" || code === "smtp.connect";
  return mayWait && (await speaksTls(settings, clock))
    ? "; the server begins with TLS: `tls` is to be `implicit`"
    : "";
}

/** With the 2 s a goodbye may take, within the 15 s of `ConnectorKind.check`. */
const CHECK_LIMIT_MS = 12_000;
