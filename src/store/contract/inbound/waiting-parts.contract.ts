import { expect, test } from "bun:test";
import type { InboundPiece } from "../../../core/inbound/inbound.ts";
import { MAX_WAITING_PARTS } from "../../inbound/inbound-parts.ts";
import { inWorld, type OpenStore, SECOND, type World } from "../world.contract.ts";
import { map, piece } from "./inbound.contract.ts";

/** The parts of long messages wait for one another, but no more of them than there is room for. */
export function waitingPartsContract(open: OpenStore): void {
  test(
    "where as many parts wait as may, a part of a new message is stored alone, and one that others wait for joins them",
    inWorld(open, async (world) => {
      await map(world);
      const kindOf = async (one: InboundPiece) => (await world.store.inbound.receive([one]))[0]?.kind;
      expect(await kindOf(part(world, 1, 1))).toBe("waiting");
      await receive(
        world,
        numbers(MAX_WAITING_PARTS - 1).map((index) => part(world, 1_000 + index, 1)),
      );
      expect(await kindOf(part(world, 2, 1))).toBe("stored");
      world.clock.now += SECOND;
      expect(await kindOf(part(world, 3, 1))).toBe("stored");
      expect(await kindOf(part(world, 1, 2))).toBe("stored");
      expect(await newest(world, 3)).toEqual(["1.1 1.2 ", "3.1 partial", "2.1 partial"]);
    }),
    120_000,
  );

  test(
    "parts whose message is complete do not wait: however many there have been, the next message is joined",
    inWorld(open, async (world) => {
      await map(world);
      const both = (reference: number) => [part(world, reference, 1), part(world, reference, 2)];
      await receive(
        world,
        numbers(MAX_WAITING_PARTS / 2).flatMap((index) => both(1_000 + index)),
      );
      await receive(world, both(1));
      world.clock.now += SECOND;
      await receive(world, both(2));
      expect(await newest(world, 2)).toEqual(["2.1 2.2 ", "1.1 1.2 "]);
    }),
    120_000,
  );
}

function part(world: World, reference: number, number: number): InboundPiece {
  return piece(world, { text: `${reference}.${number} `, part: { reference, total: 2, number } });
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** A thousand at a time, as no provider hands over more. */
async function receive({ store }: World, pieces: readonly InboundPiece[]): Promise<void> {
  for (let start = 0; start < pieces.length; start += 1_000)
    await store.inbound.receive(pieces.slice(start, start + 1_000));
}

async function newest({ store, account }: World, limit: number): Promise<readonly string[]> {
  const found = await store.inbound.list({ accountId: account.id, limit });
  return found.map(({ text, isPartial }) => (isPartial ? `${text}partial` : text));
}
