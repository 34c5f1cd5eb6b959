import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { createLines } from "./lines.ts";

const QUEUE = "queue-a";

async function linesAfter(flows: readonly number[]) {
  const clock = createHeldClock();
  const forgets: (() => void)[] = [];
  const lines = createLines({ onOtherServer: (forget) => void forgets.push(forget) }, clock);
  const places = flows.map((flow, index) => ({ flow, deadline: index, jobId: index }));
  lines.note(QUEUE, { places, last: 7 });
  // One look from the start that is slow.
  await lines.timed(QUEUE, lines.startOf(QUEUE), () => clock.advance(1_000));
  return { lines, changeServer: () => forgets.forEach((forget) => void forget()) };
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
