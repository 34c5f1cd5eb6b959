import { createTestSimulator, email, sms } from "../../../test/fakes/open-simulator.ts";
import type { ChannelName, Part } from "../../core/messages/message.ts";
import { type ChannelFixture, channelContract } from "../channel.contract.ts";

type Behaviour = Parameters<ChannelFixture["behave"]>[0];

/** The peer is the ledger; what it does not do by itself is asked for by the recipient. */
const NUMBERS: Record<Behaviour, string> = {
  accept: "+919812345678",
  silent: "+919812345678",
  defer: "+919000000003",
  reject: "+919000000002",
};

const LOCAL_PARTS: Record<Behaviour, string> = {
  accept: "ann",
  silent: "ann",
  defer: "defer",
  reject: "reject",
};

async function openFixture(channel: ChannelName): Promise<ChannelFixture> {
  const { simulator, memory, clock, statuses } = createTestSimulator(channel);
  let behaviour: Behaviour = "accept";
  const release = () => {
    memory.setFault("none");
    memory.release();
  };

  const message: ChannelFixture["message"] = (states = ["pending", "pending"]) => {
    const addresses = states.map((_, i) => `${LOCAL_PARTS[behaviour]}+${i}@example.com`);
    const parts = states.map((status, i): Part => ({ status, address: addresses[i]! }));
    if (channel === "email") return { ...email(addresses), parts };
    return sms(NUMBERS[behaviour], { parts: states.map((status) => ({ status })) });
  };

  return {
    channel: simulator,
    statuses,
    message,
    whenUp: async () => {},
    behave(as) {
      behaviour = as;
      memory.setFault(as === "silent" ? "hold" : "none");
    },
    release,
    whenHanded: memory.whenHanded,
    handed: memory.handed,
    elapse: clock.advance,
    async close() {
      release();
      await simulator.stop();
    },
  };
}

channelContract("the SMS simulator", () => openFixture("sms"));
channelContract("the email simulator", () => openFixture("email"));
