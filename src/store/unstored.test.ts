import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { StoreUnavailable } from "./store.ts";
import { createUnstored } from "./unstored.ts";

function open() {
  const clock = createHeldClock();
  const stopping = new AbortController();
  const said: string[] = [];
  const log = {
    info: ({ id }: { id?: unknown }) => void said.push(`stored ${id}`),
    error: ({ id }: { id?: unknown }) => void said.push(`kept ${id}`),
  };
  const unstored = createUnstored({ clock, log, signal: stopping.signal });
  const world = { failure: undefined as Error | undefined, tries: 0 };
  const store = (id: number) =>
    unstored
      .untilStored(
        async () => {
          world.tries++;
          if (world.failure) throw world.failure;
        },
        { fields: { id }, onWait: () => void said.push(`waits ${id}`) },
      )
      .then(
        () => "stored",
        (error: Error) => error.message,
      );
  return { clock, stopping, said, unstored, world, store };
}

test("a result that an outage keeps from being stored is tried four times a second, and is no fault of its own", async () => {
  const { clock, said, unstored, world, store } = open();
  world.failure = new StoreUnavailable("away");
  const end = store(1);
  await clock.advance(0);
  await clock.advance(10_000);
  expect([world.tries, unstored.count(), said]).toEqual([41, 0, ["waits 1"]]);
  world.failure = undefined;
  await clock.advance(250);
  expect([await end, said]).toEqual(["stored", ["waits 1"]]);
});

test("a result that the database alone does not take is kept, and tried again after a longer and longer time, at most a minute", async () => {
  const { clock, said, unstored, world, store } = open();
  world.failure = new Error("damaged");
  const end = store(1);
  await clock.advance(0);
  await clock.advance(64_000);
  expect([world.tries, unstored.count(), said]).toEqual([8, 1, ["kept 1", "waits 1"]]);
  await clock.advance(600_000);
  expect(world.tries).toBe(18);
  world.failure = undefined;
  await clock.advance(60_000);
  expect([await end, unstored.count(), said.at(-1)]).toEqual(["stored", 0, "stored 1"]);
});

test("no more than 1,000 are kept, each until it is stored or the process stops", async () => {
  const { clock, stopping, said, unstored, world, store } = open();
  world.failure = new Error("damaged");
  const ends = Array.from({ length: 1_001 }, (_, id) => store(id));
  await clock.advance(0);
  expect([unstored.count(), await ends.at(-1)]).toEqual([1_000, "damaged"]);
  expect(said).not.toContain("kept 1000");
  stopping.abort();
  await clock.advance(0);
  expect([(await Promise.all(ends)).every((end) => end === "damaged"), unstored.count()]).toEqual([true, 0]);
});
