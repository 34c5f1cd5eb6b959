import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createDomainTurns } from "./domain-turns.ts";
import { TOO_MANY } from "./fresh-resolvers.ts";

/** Questions that are answered when the test says so. */
function openTurns() {
  const clock = createHeldClock();
  const turns = createDomainTurns(clock);
  const asked: {
    readonly name: string;
    readonly answer: () => void;
    readonly fail: (code: string) => void;
  }[] = [];
  const ask = (name: string) =>
    turns(
      name,
      () =>
        new Promise<string>((resolve, reject) =>
          asked.push({
            name,
            answer: () => resolve("192.0.2.1"),
            fail: (code) => reject(Object.assign(new Error(code), { code })),
          }),
        ),
    ).catch((error: { code: string }) => error.code);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, asked, ask, settle };
}

const names = (count: number, domain: string) =>
  Array.from({ length: count }, (_, index) => `n${index}.${domain}`);

test("an ordinary domain is asked about more names at once the more it has answered, up to 64", async () => {
  const { asked, ask, settle } = openTurns();
  const answers = names(200, "shop.test").map(ask);
  for (const [answered, begun] of [
    [0, 8],
    [1, 11],
    [8, 32],
    [28, 92],
    [92, 156],
  ] as const) {
    for (const { answer } of asked.slice(0, answered)) answer();
    await settle();
    expect(asked).toHaveLength(begun);
  }
  for (const { answer } of asked) answer();
  await settle();
  for (const { answer } of asked) answer();
  expect(await Promise.all(answers)).toEqual(Array(200).fill("192.0.2.1"));
});

test("owners who share the end of their names do not wait for each other", async () => {
  const { asked, ask } = openTurns();
  void names(20, "evil.co.uk").map(ask);
  void names(2, "shop.co.uk").map(ask);
  expect(asked).toHaveLength(10);
});

test("a domain with large answers is asked one question at a time, and others notice nothing", async () => {
  const { asked, ask, settle } = openTurns();
  const answers = names(20, "evil.test").map(ask);
  for (let done = 0; done < 20; done++) {
    asked[done]?.fail(TOO_MANY);
    await settle();
    // The eight that had begun are not called back.
    expect(asked).toHaveLength(Math.min(20, Math.max(8, done + 2)));
  }
  expect(await Promise.all(answers)).toEqual(Array(20).fill(TOO_MANY));
  void names(2, "EVIL.test.").map(ask);
  expect(asked).toHaveLength(21);
  void names(2, "shop.test").map(ask);
  expect(asked).toHaveLength(23);
});

test("a minute after its last large answer a domain is like any other", async () => {
  const { clock, asked, ask, settle } = openTurns();
  void ask("evil.test");
  asked[0]?.fail(TOO_MANY);
  await settle();
  await clock.advance(60_000);
  void names(3, "evil.test").map(ask);
  expect(asked).toHaveLength(4);
});

test("a failure ends a turn too, and with two questions of each webhook under way no more wait", async () => {
  const { asked, ask, settle } = openTurns();
  const answers = names(4_105, "silent.test").map(ask);
  expect(await answers[4_104]).toBe("EBUSY");
  expect(asked).toHaveLength(8);
  asked[0]?.fail("ETIMEOUT");
  await settle();
  expect(asked).toHaveLength(9);
});

test("of a domain that is silent nothing is asked that nobody waits for any more, so who came since gets a turn", async () => {
  const { clock, asked, ask, settle } = openTurns();
  const dead = names(100, "platform.test").map(ask);
  await clock.advance(14_000);
  const late = ask("shop.platform.test");
  await clock.advance(1_000);
  asked[0]?.fail("ETIMEOUT");
  await settle();
  expect(asked[8]?.name).toBe("shop.platform.test");
  asked[8]?.answer();
  expect(await late).toBe("192.0.2.1");
  expect(await Promise.all(dead.slice(8))).toEqual(Array(92).fill("EBUSY"));
});
