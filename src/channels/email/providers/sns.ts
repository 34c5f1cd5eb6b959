/** Amazon SNS: verifies the signature of a message (SNS Developer Guide, verifying signatures). */
import { verify, X509Certificate } from "node:crypto";
import type { Web } from "../../channel.ts";
import { type Json, textOf } from "./mail-event.ts";

/** The host of SNS in a region. Other names under amazonaws.com may be anybody's, such as a bucket. */
const SNS_HOST = /^sns\.[a-z]{2}(?:-[a-z]{2,10}){1,3}-\d\.amazonaws\.com(?:\.cn)?$/;
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[0-9a-f]{8,64}\.pem$/;

/** The URL, if it is an HTTPS URL of SNS itself. */
export function snsUrl(text: string | undefined): URL | undefined {
  const url = text === undefined ? undefined : URL.parse(text);
  const isSns =
    url?.protocol === "https:" && url.port === "" && url.username === "" && SNS_HOST.test(url.hostname);
  return isSns ? url : undefined;
}

/** The signed fields, in this order; fields that are absent are left out. */
const SIGNED = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: [
    "Message",
    "MessageId",
    "SubscribeURL",
    "Timestamp",
    "Token",
    "TopicArn",
    "Type",
  ],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
} as const;

export type SnsType = keyof typeof SIGNED;

export function snsType(message: Json): SnsType | undefined {
  const type = textOf(message.Type) ?? "";
  return Object.hasOwn(SIGNED, type) ? (type as SnsType) : undefined;
}

const MAX_CERTIFICATES = 8;

/** Certificates that were fetched before, by URL. A region has one at a time. */
export type Certificates = Map<string, X509Certificate>;

/** Whether SNS signed the message. Nothing is fetched unless the certificate's URL is one of SNS. */
export async function isSignedBySns(
  message: Json,
  {
    web,
    now,
    certificates,
  }: { readonly web: Web; readonly now: number; readonly certificates: Certificates },
): Promise<boolean> {
  const type = snsType(message);
  const url = snsUrl(textOf(message.SigningCertURL));
  if (!type || !url || !CERTIFICATE_PATH.test(url.pathname) || url.search !== "") return false;
  const algorithm = ALGORITHMS[textOf(message.SignatureVersion) ?? ""];
  if (!algorithm) return false;
  const certificate = certificates.get(url.href) ?? (await fetchCertificate(web, url));
  if (!certificate || !isValidAt(certificate, now)) return false;
  if (certificates.size >= MAX_CERTIFICATES) certificates.clear();
  certificates.set(url.href, certificate);
  const signature = Buffer.from(textOf(message.Signature) ?? "", "base64");
  return verify(algorithm, Buffer.from(signedText(message, type), "utf8"), certificate.publicKey, signature);
}

const ALGORITHMS: Readonly<Record<string, "sha1" | "sha256">> = { "1": "sha1", "2": "sha256" };

function signedText(message: Json, type: SnsType): string {
  return SIGNED[type]
    .flatMap((name) => {
      const value = textOf(message[name]);
      return value === undefined ? [] : [`${name}\n${value}\n`];
    })
    .join("");
}

async function fetchCertificate(web: Web, url: URL): Promise<X509Certificate | undefined> {
  const pem = await web.get(url);
  try {
    return pem === undefined ? undefined : new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function isValidAt(certificate: X509Certificate, now: number): boolean {
  return Date.parse(certificate.validFrom) <= now && now <= Date.parse(certificate.validTo);
}
