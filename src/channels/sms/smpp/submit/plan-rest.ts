/** Plans a message of which segments may have been sent: the rest has to be of the same text. */
import type { OutgoingSms } from "../../../channel.ts";
import type { SmppConfig } from "../smpp-config.ts";
import { codingBegun } from "./joining.ts";
import { planSubmit } from "./submit-plan.ts";

type Planned = ReturnType<typeof planSubmit>;

/**
 * The account may have its texts written otherwise since segments were sent: the plan of `otherText`, if they are rather of that than of
 * `text`. `by`: the settings to plan by. `now`: those of the connector.
 */
export function planRest(
  message: OutgoingSms,
  { by, now }: { readonly by: SmppConfig; readonly now: SmppConfig },
): Planned {
  const plan = planSubmit(message, by);
  const { otherText: text } = message;
  if (text === undefined) return plan;
  const other = planSubmit({ ...message, text }, by);
  return likeness(message, other, now) > likeness(message, plan, now) ? other : plan;
}

/** How much speaks for it that the segments that were sent are of this plan: 0 to 2. */
function likeness(message: OutgoingSms, plan: Planned, now: SmppConfig): number {
  if ("error" in plan || plan.submits !== message.parts.length) return 0;
  // Of the plan's own settings both codings are the one that was used.
  const coding = plan.encoding === "gsm7" ? now.default_data_coding : now.ucs2_data_coding;
  return coding === codingBegun(message) ? 2 : 1;
}
