/** The process is killed while it sends a message, at each start anew: something about the message, or about the machine, ends it. */
import { expect, test } from "bun:test";
import { MAX_INTERRUPTIONS } from "../../src/core/queue/retry-policy.ts";
import { reached } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { keptPort } from "../fakes/kept-port.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { makeDataFolder, startPostrider } from "../postrider-process.ts";
import { changeRows } from "../stored-rows.ts";
import { until } from "../until.ts";

const STARTS = 3;
/** Earlier starts like these. They are written to the database, since each takes seconds. */
const EARLIER = MAX_INTERRUPTIONS - STARTS;

onBothStores(() => {
  test("a message that was under way each time is not sent again without end: it is held, and its receipt still counts", async () => {
    await using world = new AsyncDisposableStack();
    const folder = makeDataFolder();
    world.defer(folder.remove);
    const smsc = await startFakeSmsc({ receipts: "none", holdSubmits: true });
    world.defer(smsc.close);
    const options = { dataFolder: folder.path, env: { PORT: String(await keptPort()) } };
    let service = await startPostrider(options);
    world.defer(async () => {
      service.kill("SIGKILL");
      await service.exited;
    });
    const restart = async (earlier: number) => {
      service.kill("SIGKILL");
      await service.exited;
      await changeRows(folder.path, `UPDATE jobs SET interruptions = interruptions + ${earlier}`);
      await smsc.until(() => smsc.connections() === 0);
      service = await startPostrider(options);
    };
    const config = { user_message_reference: true };
    const live = await openLiveSms(service, { connectors: [await connectSmsc(service, smsc, config)] });
    const message = await live.send("+14155550901");
    for (let start = 1; start <= STARTS; start++) {
      await smsc.until(() => smsc.submits.length === start);
      await restart(start === STARTS ? EARLIER : 0);
    }

    smsc.dial.holdSubmits = false;
    const timeline = await until(
      () => live.timeline(message),
      ({ length }) => length > STARTS,
    );
    expect(await reached(service, message, "sending")).toMatchObject({ status: "sending" });
    expect(smsc.submits).toHaveLength(STARTS);
    expect(timeline.map(({ kind }) => kind)).toEqual([...Array(STARTS).fill("interrupted"), "status"]);
    expect(timeline.at(-1)?.error).toMatchObject({
      code: "unconfirmed",
      message: "not sent again: 20 attempts at it were interrupted, and any of them may have sent it",
    });
    expect(service.output()).toContain("a message is held: too many attempts at it were interrupted");

    await smsc.sendReceipt(smsc.submits[0]!);
    expect(await reached(service, message, "delivered")).toMatchObject({ status: "delivered" });
  }, 180_000);
});
