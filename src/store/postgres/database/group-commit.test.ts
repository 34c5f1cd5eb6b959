import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { StoreUnavailable } from "../../store.ts";
import { createGroupCommit } from "./group-commit.ts";

interface Asked {
  readonly name: string;
}

/** Groups as they were begun, each under way until it is let go. */
function createGround(atOnce: number) {
  const begun: { readonly names: readonly string[]; readonly letGo: () => void }[] = [];
  const clock = createHeldClock();
  const enter = createGroupCommit<Asked, string>({
    clock,
    atOnce,
    nameOf: ({ name }) => (name.startsWith("key") ? name : undefined),
    weightOf: () => 1,
    run: (requests) =>
      new Promise((resolve) => {
        const names = requests.map(({ name }) => name);
        begun.push({ names, letGo: () => resolve(names) });
      }),
  });
  const turn = async () => {
    // A group that follows the end of another begins only in the second.
    for (let each = 0; each < 2; each++) await new Promise((resolve) => setImmediate(resolve));
  };
  const groups = () => begun.map(({ names }) => names);
  return { clock, begun, enter: (...names: string[]) => names.map((name) => enter({ name })), turn, groups };
}

test("a group leaves while others are under way once it carries its share of the calls", async () => {
  const { enter, turn, begun, groups } = createGround(2);
  void Promise.all(enter("a", "b", "c", "d", "e"));
  await turn();
  void Promise.all(enter("f"));
  await turn();
  expect(groups()).toEqual([["a", "b", "c", "d", "e"]]);
  void Promise.all(enter("g"));
  await turn();
  expect(groups().at(1)).toEqual(["f", "g"]);
  void Promise.all(enter("h", "i", "j", "k"));
  await turn();
  expect(begun).toHaveLength(2);
  begun[0]?.letGo();
  await turn();
  expect(groups().at(2)).toEqual(["h", "i", "j", "k"]);
});

test("two of one name are never under way at once, and the second goes when the first has ended", async () => {
  const { enter, turn, begun, groups } = createGround(3);
  const [first] = enter("key 1");
  await turn();
  const [again] = enter("key 1");
  void Promise.all(enter("other"));
  await turn();
  expect(groups()).toEqual([["key 1"], ["other"]]);
  begun[1]?.letGo();
  await turn();
  expect(begun).toHaveLength(2);
  begun[0]?.letGo();
  expect(await first).toBe("key 1");
  await turn();
  expect(groups().at(2)).toEqual(["key 1"]);
  begun[2]?.letGo();
  expect(await again).toBe("key 1");
});

test("a call whose group has not begun after five seconds is told to come again, and takes no place any more", async () => {
  const { clock, enter, turn, begun, groups } = createGround(1);
  const [first] = enter("a");
  await turn();
  const [late] = enter("b");
  const told = late?.catch((error) => error);
  await clock.advance(4_000);
  const [later] = enter("c");
  await clock.advance(2_000);
  expect(await told).toBeInstanceOf(StoreUnavailable);
  begun[0]?.letGo();
  expect(await first).toBe("a");
  await turn();
  expect(groups()).toEqual([["a"], ["c"]]);
  begun[1]?.letGo();
  expect(await later).toBe("c");
});

test("beside twenty thousand calls that wait a further one is refused at once", async () => {
  const { enter, turn } = createGround(1);
  void enter("under way");
  await turn();
  void enter(...Array.from({ length: 20_000 }, () => "waiting"));
  const [further] = enter("one too many");
  expect(await further?.catch((error: unknown) => error)).toBeInstanceOf(StoreUnavailable);
});
