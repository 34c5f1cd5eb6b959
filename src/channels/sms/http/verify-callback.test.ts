import { describe, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import type { VerifyDescription } from "./gateway.ts";
import { isAuthentic } from "./verify-callback.ts";

const FORM = { "Content-Type": "application/x-www-form-urlencoded" };

interface Sent {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function verify(description: VerifyDescription, secret: string, sent: Sent): boolean {
  return isAuthentic(
    description,
    { [description.secret]: secret },
    {
      method: sent.method ?? "POST",
      url: sent.url,
      headers: new Headers(sent.headers),
      body: sent.body ?? "",
      receivedAt: 0,
    },
  );
}

describe("Twilio's signature", () => {
  // The example of Twilio's security page, as its own libraries test it.
  const description = { scheme: "twilio", secret: "auth_token" } as const;
  const sent = {
    url: "https://mycompany.com/myapp.php?foo=1&bar=2",
    headers: { ...FORM, "X-Twilio-Signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=" },
    body: "CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212",
  };

  test("is the one of the documentation", () => expect(verify(description, "12345", sent)).toBe(true));

  test.each([
    ["another token", "54321", sent],
    ["another field", "12345", { ...sent, body: `${sent.body}&MessageStatus=delivered` }],
    ["another URL", "12345", { ...sent, url: "https://mycompany.com/myapp.php?foo=1" }],
    ["no signature", "12345", { ...sent, headers: FORM }],
    ["an empty one", "12345", { ...sent, headers: { ...FORM, "X-Twilio-Signature": "" } }],
  ])("with %s is refused", (_, secret, forged) => expect(verify(description, secret, forged)).toBe(false));

  test.each([
    ["https://sms.acme.example/r", "https://sms.acme.example:443/r"],
    ["https://sms.acme.example:8443/r?a=1", "https://sms.acme.example/r?a=1"],
    ["http://[2001:db8::1]:8080/r", "http://[2001:db8::1]/r"],
    ["http://[2001:db8::1]/r", "http://[2001:db8::1]:80/r"],
  ])("is over the URL %s, or over %s", (url, other) => {
    const accepts = (signed: string) => {
      const signature = createHmac("sha1", "12345").update(`${signed}MessageSidSM1`).digest("base64");
      const headers = { ...FORM, "X-Twilio-Signature": signature };
      return verify(description, "12345", { url, headers, body: "MessageSid=SM1" });
    };
    expect([url, other].map(accepts)).toEqual([true, true]);
    expect(accepts(url.replace(/(:\d+)?\/r/, ":444/r"))).toBe(false);
  });

  test("of a URL alone does not do for a body that it does not cover", () => {
    const url = "https://mycompany.com/dlr?MessageSid=SM1&MessageStatus=sent";
    const signed = { "X-Twilio-Signature": createHmac("sha1", "12345").update(url).digest("base64") };
    expect(verify(description, "12345", { method: "GET", url, headers: signed })).toBe(true);
    for (const [type, body] of [
      ["text/plain", "MessageStatus=delivered"],
      ["multipart/form-data", "MessageStatus=delivered"],
      ["application/json", '{"MessageSid":"SM1","MessageStatus":"delivered"}'],
    ] as const) {
      const headers = { ...signed, "Content-Type": type };
      expect(verify(description, "12345", { url, headers, body })).toBe(false);
    }
  });
});

describe("Plivo's signature", () => {
  const description = { scheme: "plivo", secret: "auth_token" } as const;
  const secret = "plivo_test_auth_token";
  const nonce = "05429567804466091622";
  const v2 = "VsV6OMNPwof2Xzndy/tbRHiVryVEKo5Y80vilsNiGJU=";

  test("of messaging is over the URL without its query, and one of several will do", () => {
    const url = "https://example.com/answer/?ignored=query";
    for (const signature of [v2, `wrong,${v2}`, `${v2}, wrong`, `wrong, ${v2}`]) {
      const headers = { "X-Plivo-Signature-V2": signature, "X-Plivo-Signature-V2-Nonce": nonce };
      expect(verify(description, secret, { url, headers })).toBe(true);
    }
    const headers = { "X-Plivo-Signature-V2": v2, "X-Plivo-Signature-V2-Nonce": `${nonce}1` };
    expect(verify(description, secret, { url, headers })).toBe(false);
  });

  test("of version 3 is over the sorted query and fields too", () => {
    const signed = `https://example.com/a?x=1&y=2.Status=`.replace("=2.Status=", "=2.Fromm1Statusdelivered");
    const signature = createHmac("sha256", secret).update(`${signed}.${nonce}`).digest("base64");
    const headers = { ...FORM, "X-Plivo-Signature-V3": signature, "X-Plivo-Signature-V3-Nonce": nonce };
    const sent = { url: "https://example.com/a?y=2&x=1", headers, body: "Status=delivered&From=m1" };
    expect(verify(description, secret, sent)).toBe(true);
    expect(verify(description, secret, { ...sent, body: "Status=failed&From=m1" })).toBe(false);
    const ofUrl = createHmac("sha256", secret).update(`https://example.com/a?x=1.${nonce}`).digest("base64");
    const plain = { ...headers, "X-Plivo-Signature-V3": ofUrl, "Content-Type": "text/plain" };
    expect(
      verify(description, secret, {
        url: "https://example.com/a?x=1",
        headers: plain,
        body: "Status=failed",
      }),
    ).toBe(false);
    expect(verify(description, secret, { url: "https://example.com/a?x=1", headers: plain, body: "" })).toBe(
      true,
    );
  });

  test("is refused without a nonce", () => {
    const headers = { "X-Plivo-Signature-V2": v2 };
    expect(verify(description, secret, { url: "https://example.com/answer/", headers })).toBe(false);
  });
});

describe("Vonage's signature", () => {
  // As Vonage's own libraries test it.
  test.each([
    [undefined, "d2e7b1dc968737c5998ad624e02f90b7"],
    ["md5", "DDEBD46008C2D4E93CCE578A332A52D5"],
    ["sha1", "27D0D05C2876C7CB1720DBCDBA4D492E1E55C09A"],
    ["sha256", "DDB8397C2B90AAC7F3882D306475C9A5058C92322EEF43C92B298B6E0FC0D330"],
  ] as const)("by %p is the one of its libraries, in query, form and JSON", (algorithm, sig) => {
    const description: VerifyDescription = {
      scheme: "vonage",
      secret: "signature_secret",
      ...(algorithm && { algorithm }),
    };
    const fields = {
      "message-timestamp": "2013-11-21 15:27:30",
      messageId: "020000001B0FE827",
      msisdn: "14843472194",
      text: "Test again",
      timestamp: "1385047698",
      to: "13239877404",
      type: "text",
      sig,
    };
    const secret = "my_secret_key_for_testing";
    const text = new URLSearchParams(fields).toString();
    const url = "https://example.com/dlr";
    const json = { "Content-Type": "application/json" };
    expect(verify(description, secret, { method: "GET", url: `${url}?${text}` })).toBe(true);
    expect(verify(description, secret, { url, headers: FORM, body: text })).toBe(true);
    expect(verify(description, secret, { url, headers: json, body: JSON.stringify(fields) })).toBe(true);
    expect(verify(description, "other", { url, headers: FORM, body: text })).toBe(false);
    expect(verify(description, secret, { url, headers: FORM, body: text.replace("again", "twice") })).toBe(
      false,
    );
    expect(verify(description, secret, { url, headers: FORM, body: "a=1" })).toBe(false);
  });
});

test("Vonage signs values with _ for the characters that part fields", () => {
  const sig = createHash("md5").update("&messageId=1&text=a_b_c my_secret").digest("hex");
  const body = new URLSearchParams({ messageId: "1", text: "a&b=c", sig }).toString();
  const description = { scheme: "vonage", secret: "signature_secret" } as const;
  const url = "https://example.com/dlr";
  expect(verify(description, " my_secret", { url, headers: FORM, body })).toBe(true);
});

describe("other proofs", () => {
  const url = "https://example.com/dlr";

  test("basic: name and password", () => {
    const description = { scheme: "basic", secret: "callback_password", username: "infobip" } as const;
    const headers = (pair: string) => ({ Authorization: `Basic ${Buffer.from(pair).toString("base64")}` });
    expect(verify(description, "pw", { url, headers: headers("infobip:pw") })).toBe(true);
    expect(verify(description, "pw", { url, headers: headers("infobip:no") })).toBe(false);
    expect(verify(description, "pw", { url })).toBe(false);
  });

  test("header: a shared value", () => {
    const description = { scheme: "header", secret: "token", header: "X-Key" } as const;
    expect(verify(description, "pw", { url, headers: { "x-key": "pw" } })).toBe(true);
    expect(verify(description, "pw", { url, headers: { "x-key": "p" } })).toBe(false);
  });

  test("hmac: of the body, behind a prefix", () => {
    const description = { scheme: "hmac", secret: "token", header: "X-Sig", prefix: "sha256=" } as const;
    const sig = `sha256=${createHmac("sha256", "pw").update("body").digest("hex")}`;
    expect(verify(description, "pw", { url, body: "body", headers: { "X-Sig": sig } })).toBe(true);
    expect(verify(description, "pw", { url, body: "bodY", headers: { "X-Sig": sig } })).toBe(false);
  });

  test("hmac: by another algorithm, and in base64", () => {
    const description = {
      scheme: "hmac",
      secret: "token",
      header: "X-Sig",
      algorithm: "sha1",
      encoding: "base64",
    } as const;
    const signed = (algorithm: string) => {
      const sig = createHmac(algorithm, "pw").update("body").digest("base64");
      return verify(description, "pw", { url, body: "body", headers: { "X-Sig": sig } });
    };
    expect([signed("sha1"), signed("sha256")]).toEqual([true, false]);
  });

  test("without the secret nothing is a proof", () => {
    const request = { method: "POST", url, headers: new Headers({ "X-Key": "" }), body: "", receivedAt: 0 };
    expect(isAuthentic({ scheme: "header", secret: "token", header: "X-Key" }, {}, request)).toBe(false);
  });
});
