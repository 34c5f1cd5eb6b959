/** The service on a held clock, with an operator's webhook that is told of alarms. */
import { admin } from "./admin.ts";
import type { FakeWebhookReceiver } from "./fakes/fake-webhook-receiver.ts";
import type { HeldPostrider } from "./held-postrider.ts";
import { startWebhookRig } from "./webhook-rig.ts";

export interface ShownAlarm {
  readonly name: string;
  readonly subject: string;
  readonly reason: string;
}

export interface AlarmRig {
  readonly service: HeldPostrider;
  readonly receiver: FakeWebhookReceiver;
  alarms(): Promise<readonly ShownAlarm[]>;
  /** What the operator has been told, in order: `alarm.raised connector_down`. */
  told(): readonly string[];
  /** The lines of the alarm metric. */
  metric(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;

export async function startAlarmRig(more?: Parameters<typeof startWebhookRig>[0]): Promise<AlarmRig> {
  const rig = await startWebhookRig(more);
  const { service } = rig;
  const receiver = await rig.addReceiver({ secret: SECRET });
  await rig.set("alarm_webhook_url", receiver.url({ path: "/alarms" }));
  await rig.set("alarm_webhook_secret", SECRET);
  return {
    service,
    receiver,
    alarms: async () => (await admin<{ data: ShownAlarm[] }>(service, "/alarms")).data,
    told: () =>
      receiver.deliveries.map(({ body, problem }) => {
        const { type, data } = JSON.parse(body) as { type: string; data: { name: string } };
        return `${type} ${data.name}${problem === undefined ? "" : ` (${problem})`}`;
      }),
    async metric() {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      return text.split("\n").filter((line) => line.startsWith("postrider_alarm{"));
    },
    stop: rig.stop,
  };
}
