/** Settings about what an operator is alarmed of, and how. */
import { integer, secret, text } from "../records/setting-kinds.ts";

export const ALARM_SETTINGS = {
  alarm_connector_down_seconds: integer(60, {
    min: 1,
    max: 86_400,
    description: "A connector that has not been up for so long raises an alarm.",
    scope: "instance",
  }),
  alarm_queue_age_seconds: integer(300, {
    min: 1,
    max: 86_400,
    description: "A queue whose oldest job has been due for so long raises an alarm.",
    scope: "instance",
  }),
  alarm_receipts_overdue: integer(100, {
    min: 0,
    max: 100_000,
    description: "So many segments of a connector without a receipt in time raise an alarm; 0: none.",
    scope: "instance",
  }),
  alarm_webhook_url: text(/^https:\/\/[^\s]+$/, {
    expected: "an https:// URL",
    description: "Is told of every alarm that is raised or cleared; unset: nobody is.",
    scope: "instance",
  }),
  alarm_webhook_secret: secret(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, {
    expected: "whsec_ and at least 24 octets in base64",
    description: "Signs the calls to alarm_webhook_url; without it there are none.",
    scope: "instance",
  }),
} as const;
