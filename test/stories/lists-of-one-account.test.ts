/** One account asks for more lists at a time than anybody may: everybody else's are read in their turn. */
import { expect, test } from "bun:test";
import { onEveryStore } from "../acceptance/running-api.ts";
import { until } from "../until.ts";

const PATH = "/v1/sms/messages";

/** How many lists are read at a time. */
const AT_A_TIME = 8;
const LISTS = 60;

onEveryStore((start) => {
  test("one account's lists, however many, keep nobody else's waiting until they are answered", async () => {
    const asked: string[] = [];
    const answers: (() => void)[] = [];
    await using api = await start({
      over: (store) => ({
        ...store,
        messages: {
          ...store.messages,
          async list(query) {
            asked.push(query.accountId);
            await new Promise<void>((resolve) => answers.push(resolve));
            return store.messages.list(query);
          },
        },
      }),
    });
    const other = await api.newAccount("sandbox");
    const all = Array.from({ length: LISTS }, () => api.get(PATH));
    await until(() => api.clock.pending() >= LISTS - AT_A_TIME);
    all.push(api.get(PATH, { key: other.key }));
    await until(() => api.clock.pending() > LISTS - AT_A_TIME);

    for (const answer of answers.splice(0, 2)) answer();
    await until(() => asked.length === AT_A_TIME + 2);
    const next = asked.slice(AT_A_TIME);

    const isAnswered = () => {
      for (const answer of answers.splice(0)) answer();
      return api.observed.length === all.length;
    };
    await until(isAnswered);
    expect(next).toContain(other.accountId);
    for (const { status } of await Promise.all(all)) expect(status).toBe(200);
  });
});
