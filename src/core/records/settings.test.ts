import { describe, expect, test } from "bun:test";
import { testTls } from "../../../test/fakes/test-tls.ts";
import { isSettingName, readSetting, SETTINGS, type SettingName, settingProblem } from "./settings.ts";

const names = Object.keys(SETTINGS) as SettingName[];

describe("settings", () => {
  test("what nobody set has its default", () => {
    expect(Object.fromEntries(names.map((name) => [name, readSetting({}, name)]))).toEqual({
      idempotency: "replay",
      batch_duplicates: "send",
      on_unconfirmed: "resend",
      dlt_variable_max_length: 40,
      dlt_promotional_hours: "10:00-21:00",
      default_dlt_entity_id: undefined,
      keep_bodies: false,
      sms_default_window_seconds: 86_400,
      sms_transliterate: false,
      webhook_allowed_ranges: undefined,
      webhook_ca: undefined,
      dns_servers: undefined,
      public_url: undefined,
      hard_bounce_suppression_days: 0,
      domain_grace_days: 7,
      receipt_overdue_after_minutes: 60,
      return_path_host: undefined,
      soft_bounce_suppression_days: 30,
      suppress_after_soft_bounce_days: 3,
      email_window_hours: 48,
      rate_limit_per_key: 0,
      rate_limit_per_account: 0,
      push_rate_limit: 50,
      push_rate_burst: 500,
      inbound_url: undefined,
      stop_words: "STOP,STOPALL,UNSUBSCRIBE,CANCEL,END,QUIT,REVOKE,OPTOUT",
      start_words: "START,UNSTOP",
      opt_out_scope: "sender",
      allowed_destinations: undefined,
      daily_message_limit: 0,
      daily_segment_limit: 0,
      recipient_hourly_limit: 0,
      recipient_daily_limit: 0,
      alarm_connector_down_seconds: 60,
      alarm_queue_age_seconds: 300,
      alarm_receipts_overdue: 100,
      alarm_free_disk_mb: 1_000,
      alarm_webhook_url: undefined,
      alarm_webhook_secret: undefined,
    });
  });

  test("what was set is read in its type", () => {
    const strict: "replay" | "strict" = readSetting({ idempotency: "strict" }, "idempotency");
    const limit: number = readSetting({ push_rate_limit: "7" }, "push_rate_limit");
    expect([strict, limit]).toEqual(["strict", 7]);
    expect(readSetting({ keep_bodies: "true" }, "keep_bodies")).toBe(true);
  });

  test("a stored text that is no value any more reads as the default", () => {
    expect(readSetting({ idempotency: "no" }, "idempotency")).toBe("replay");
  });

  test("every default that is there can be set, and every setting is described", () => {
    for (const name of names) {
      const { default: byDefault, description, expected } = SETTINGS[name];
      expect(description).not.toBe("");
      expect(expected).not.toBe("");
      if (byDefault === undefined) continue;
      expect(settingProblem(name, { value: String(byDefault), forAccount: false })).toBeUndefined();
    }
  });

  test.each([
    ["idempotency", "Strict", "must be one of replay, strict"],
    ["keep_bodies", "1", "must be true or false"],
    ["email_window_hours", "0", "must be an integer from 1 to 168"],
    ["email_window_hours", "1.5", "must be an integer from 1 to 168"],
    ["email_window_hours", "", "must be an integer from 1 to 168"],
    [
      "dlt_promotional_hours",
      "21:00-10:00",
      "must be two times of a day, the earlier first, for example 10:00-21:00",
    ],
    [
      "dlt_promotional_hours",
      "9-18",
      "must be two times of a day, the earlier first, for example 10:00-21:00",
    ],
    ["default_dlt_entity_id", "ACME", "must be 8 to 30 digits"],
    ["inbound_url", "http://acme.test/in", "must be a valid https:// URL without a user name or password"],
    [
      "inbound_url",
      "https://u:p@acme.test/in",
      "must be a valid https:// URL without a user name or password",
    ],
    [
      "inbound_url",
      "https://acme.test:99999/",
      "must be a valid https:// URL without a user name or password",
    ],
    ["inbound_url", "https:///in", "must be a valid https:// URL without a user name or password"],
  ])("%s = %p is refused: %s", (name, value, problem) => {
    expect(settingProblem(name, { value, forAccount: true })).toBe(problem);
  });

  test.each([
    ["dns_servers", "abcd", "addresses separated by commas, each with or without a port"],
    ["dns_servers", "1.2.3.4:70000", "addresses separated by commas, each with or without a port"],
    ["dns_servers", "1.2.3.4, 1.2.3.5", "addresses separated by commas, each with or without a port"],
    ["webhook_ca", "ca.pem", "one or more certificates (PEM)"],
    ["webhook_ca", testTls.ca.replaceAll("\n", " "), "one or more certificates (PEM)"],
    ["webhook_ca", testTls.ca.replace(/MII.*\n/, ""), "one or more certificates (PEM)"],
    ["webhook_ca", testTls.ca.trim() + testTls.ca, "one or more certificates (PEM)"],
    ["webhook_ca", testTls.key, "one or more certificates (PEM)"],
    ["alarm_webhook_url", "https://u@ops.test/", "a valid https:// URL without a user name or password"],
  ])("%s = %p, which the service could not work with, is refused", (name, value, expected) => {
    expect(settingProblem(name, { value, forAccount: false })).toBe(`must be ${expected}`);
  });

  test("the authorities of webhooks may be several, in either way to end lines", () => {
    for (const value of [
      testTls.ca,
      `# ours\n${testTls.ca}\n${testTls.cert}`,
      testTls.ca.replaceAll("\n", "\r\n"),
    ])
      expect(settingProblem("webhook_ca", { value, forAccount: false })).toBeUndefined();
  });

  test("an unknown name is refused with the one that was meant, or all that there are", () => {
    expect(isSettingName("toString")).toBe(false);
    const problemOf = (name: string) => settingProblem(name, { value: "5", forAccount: false });
    expect(problemOf("rate_limit_per_kye")).toBe("unknown; did you mean rate_limit_per_key?");
    expect(problemOf("colour")).toMatch(/^unknown; known are idempotency, .*public_url/);
  });
});
