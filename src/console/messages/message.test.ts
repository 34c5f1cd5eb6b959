import { expect, test } from "bun:test";
import { type Message, newestOf, recipientText } from "./message.ts";

const sent = { account_id: "a", status: "sent", created_at: "2026-11-28T10:00:00.000Z" };
const sms: Message = { ...sent, message_id: "1", channel: "sms", to: "+919876543210" };
const email: Message = {
  ...sent,
  message_id: "2",
  channel: "email",
  to: [{ email: "b@example.org" }],
  bcc: [{ email: "c@example.org" }],
};

test("an email names its first recipient, and how many more there are", () => {
  expect([recipientText(sms), recipientText(email)]).toEqual(["+919876543210", "b@example.org and 1 more"]);
});

test("the newest of both channels come first", () => {
  const later = { ...email, created_at: "2026-11-28T11:00:00.000Z" };
  expect(newestOf([[sms], [later]], 1).map(({ message_id }) => message_id)).toEqual(["2"]);
});
