import { expect, test } from "bun:test";
import { createGroupCommit } from "./group-commit.ts";

interface Asked {
  readonly name: string;
}

/** Groups as they were begun, each under way until it is let go. */
function createGround(atOnce: number) {
  const begun: { readonly names: readonly string[]; readonly letGo: () => void }[] = [];
  const enter = createGroupCommit<Asked, string>({
    atOnce,
    schedule: queueMicrotask,
    nameOf: ({ name }) => (name.startsWith("key") ? name : undefined),
    weightOf: () => 1,
    run: (requests) =>
      new Promise((resolve) => {
        const names = requests.map(({ name }) => name);
        begun.push({ names, letGo: () => resolve(names) });
      }),
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const groups = () => begun.map(({ names }) => names);
  return { begun, enter: (...names: string[]) => names.map((name) => enter({ name })), turn, groups };
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
