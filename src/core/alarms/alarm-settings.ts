/** Settings about what an operator is alarmed of, and how. */
import { integer, secret, webhookUrl } from "../records/setting-kinds.ts";

export const ALARM_SETTINGS = {
  alarm_connector_down_seconds: integer(60, {
    min: 1,
    max: 86_400,
    description: "Time a connector is not up before an alarm is raised.",
    scope: "instance",
  }),
  alarm_queue_age_seconds: integer(300, {
    min: 1,
    max: 86_400,
    description: "Age of a queue's oldest ready job at which an alarm is raised.",
    scope: "instance",
  }),
  alarm_receipts_overdue: integer(100, {
    min: 0,
    max: 100_000,
    description:
      "Number of a connector's segments with overdue receipts at which an alarm is raised; 0: no alarm.",
    scope: "instance",
  }),
  alarm_free_disk_mb: integer(1_000, {
    min: 0,
    max: 10_000_000,
    description:
      "Free space on the disk of SQLite's data folder, in MB, below which an alarm is raised; never more than a tenth of the disk. 0: no alarm.",
    scope: "instance",
  }),
  alarm_webhook_url: webhookUrl({
    description: "Receives a webhook for every alarm raised or cleared; unset: none is sent.",
    scope: "instance",
  }),
  alarm_webhook_secret: secret(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, {
    expected: "whsec_ and at least 24 octets in base64",
    description: "Signs the webhooks to alarm_webhook_url; unset: none is sent.",
    scope: "instance",
  }),
} as const;
