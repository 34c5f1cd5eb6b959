import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { createLines } from "./lines.ts";

const QUEUE = "queue-a";

async function linesAfter(flows: readonly number[]) {
  const clock = createHeldClock();
  const forgets: (() => void)[] = [];
  const lines = createLines({ onOtherServer: (forget) => void forgets.push(forget) }, clock);
  const places = flows.map((flow, index) => ({ flow, deadline: index, jobId: index }));
  lines.note(QUEUE, { after: -1, floors: [] }, { places, last: 7, lookedTo: -1 });
  const look = async () => {
    const start = lines.startOf(QUEUE);
    // One that is slow, if it is one from the start.
    await lines.timed(QUEUE, start, () => clock.advance(1_000));
    return start;
  };
  lines.note(QUEUE, await look(), { places: [], last: 7, lookedTo: 7 });
  return { lines, clock, look, changeServer: () => forgets.forEach((forget) => void forget()) };
}

const repeated = (flow: number, count: number) => Array.from({ length: count }, () => flow);

test("of more flows than are remembered, the places of those stay of which most was taken", async () => {
  const few = Array.from({ length: 1_000 }, (_, at) => 100 + at);
  const { lines } = await linesAfter([...repeated(5, 6_000), ...repeated(3, 6_000), ...few]);
  const { after, floors } = lines.startOf(QUEUE);
  expect(after).toBe(7);
  expect(floors).toHaveLength(100);
  expect(floors.slice(0, 2)).toEqual([
    { flow: 3, deadline: 11_999, jobId: 11_999 },
    { flow: 5, deadline: 5_999, jobId: 5_999 },
  ]);
});

test("a process that has taken few jobs, or has come to another server, begins at the start", async () => {
  expect((await linesAfter(repeated(5, 100))).lines.startOf(QUEUE).floors).toEqual([]);
  const { lines, changeServer } = await linesAfter(repeated(5, 10_000));
  expect(lines.startOf(QUEUE).floors).toHaveLength(1);
  changeServer();
  expect(lines.startOf(QUEUE)).toEqual({ after: -1, floors: [] });
});

test("flows that a look from the start did not come to are looked at from their start at their turn", async () => {
  const { lines, clock, look } = await linesAfter([3, 5, 9].flatMap((flow) => repeated(flow, 6_000)));
  const flowsWithFloor = () => lines.startOf(QUEUE).floors.map(({ flow }) => flow);
  expect(flowsWithFloor()).toEqual([3, 5, 9]);
  await clock.advance(4_000);
  lines.note(QUEUE, await look(), { places: [], last: 9, lookedTo: 9 });
  expect(flowsWithFloor()).toEqual([9]);
  lines.note(QUEUE, await look(), { places: [], last: 3, lookedTo: 3 });
  expect(flowsWithFloor()).toEqual([3, 9]);
  lines.note(QUEUE, await look(), { places: [], last: 9, lookedTo: 9 });
  expect(flowsWithFloor()).toEqual([3, 5, 9]);
  // In three parts the look took three seconds.
  await clock.advance(11_999);
  expect(flowsWithFloor()).toEqual([3, 5, 9]);
  await clock.advance(1);
  expect(flowsWithFloor()).toEqual([]);
});

test("a look from the start that fails is not repeated at once", async () => {
  const { lines, clock } = await linesAfter(repeated(5, 10_000));
  await clock.advance(4_000);
  const start = lines.startOf(QUEUE);
  expect(start.floors).toEqual([]);
  const failing = lines.timed(QUEUE, start, async () => {
    await clock.advance(10_000);
    throw new Error("it took too long");
  });
  expect(await failing.catch((error) => error.message)).toBe("it took too long");
  expect(lines.startOf(QUEUE).floors).toHaveLength(1);
  await clock.advance(40_000);
  expect(lines.startOf(QUEUE).floors).toEqual([]);
});
