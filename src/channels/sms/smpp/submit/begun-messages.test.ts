import { expect, test } from "bun:test";
import type { Session } from "../session/session.ts";
import { createSubmitWindow } from "../session/submit-window.ts";
import type { SmppConfig } from "../smpp-config.ts";
import { createBegunMessages } from "./begun-messages.ts";

const openSession = () =>
  ({
    slots: createSubmitWindow(
      () => 1,
      () => {},
    ),
  }) as Session;

test("sessions that have closed are let go when messages go over another, and what else they had in common stays", () => {
  const messages = createBegunMessages();
  const [first, second] = [openSession(), openSession()];
  const config = { host: "smsc.example" } as SmppConfig;
  messages.note("m1", { over: first, validMs: 1, config });
  messages.note("m2", { over: second, validMs: 2, config });
  first.slots.close();
  messages.note("m3", { over: openSession(), validMs: 3, config });
  expect(messages.of("m1")).toEqual({ validMs: 1, config });
  expect(messages.of("m2")?.over).toBe(second);
});
