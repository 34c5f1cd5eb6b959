/** An SMS that only one connector may send any more, for stories about what becomes of it. */
import type { FakeSmsc } from "./fakes/fake-smsc.ts";
import type { MessageAt } from "./held-postrider.ts";
import type { TwoSmscs } from "./two-smscs.ts";

/** Two segments. */
export const LONG = "A long tale of two cities. ".repeat(8);

/** The SMSC takes the first segment, and puts the second one off: only it may send the rest. */
export async function takeInPart<Message>(smsc: FakeSmsc, sendOne: () => Promise<Message>): Promise<Message> {
  smsc.dial.submitStatus = () => (smsc.submits.length === 0 ? 0 : 0x08);
  const message = await sendOne();
  await smsc.until(() => smsc.submits.length === 2);
  delete smsc.dial.submitStatus;
  return message;
}

/**
 * A message to `other` takes the only slot of the first connector, which owns `message`, and the route of `message` names only the
 * second one from now on: so it waits in the first one's own queue.
 */
export async function waitInQueueOfFirst(two: TwoSmscs, message: MessageAt, other: string): Promise<void> {
  const { first, live, postrider, ids } = two;
  const before = first.submits.length;
  first.dial.holdSubmits = true;
  await live.send(other);
  await first.until(() => first.submits.length === before + 1);
  await two.changeRoute(() => ({ connector_ids: [ids[1]] }));
  const isWaiting = async () =>
    (await live.timeline(message)).some(({ detail }) => detail?.waits_for === ids[0]);
  await postrider.passUntil(isWaiting, 30_000);
}
