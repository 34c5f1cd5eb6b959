/** All endpoints of the admin API: under `/admin/v1`, behind the admin token. */
import type { Endpoint } from "../endpoint.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { alarmEndpoints } from "./alarms-resource.ts";
import { connectorEndpoints } from "./connectors/connectors-resource.ts";
import { consolePasswordEndpoints } from "./console-password-resource.ts";
import { contactEndpoints } from "./contacts-resource.ts";
import { dltEntityEndpoints } from "./dlt/dlt-entities-resource.ts";
import { dltImportEndpoints } from "./dlt/dlt-import-resource.ts";
import { domainEndpoints } from "./domains/domains-resource.ts";
import { erasureEndpoints } from "./erasures-resource.ts";
import { inboundMessageEndpoints } from "./inbound-messages-resource.ts";
import { inboundNumberEndpoints } from "./inbound-numbers-resource.ts";
import { messageEndpoints } from "./messages/messages-resource.ts";
import { receiptEndpoints } from "./messages/receipts-resource.ts";
import { sandboxMessageEndpoints } from "./messages/sandbox-messages-resource.ts";
import { timelineEndpoints } from "./messages/timeline-resource.ts";
import { pushAppEndpoints } from "./push-apps-resource.ts";
import { queueEndpoints } from "./queues-resource.ts";
import { accountEndpoints } from "./records/accounts-resource.ts";
import { keyEndpoints } from "./records/keys-resource.ts";
import { routeEndpoints } from "./records/routes-resource.ts";
import { settingEndpoints } from "./records/settings-resource.ts";
import { senderEndpoints } from "./senders-resource.ts";
import { smsTemplateEndpoints } from "./sms-templates-resource.ts";
import { optOutEndpoints } from "./suppressions/opt-outs-resource.ts";
import { suppressionImportEndpoints } from "./suppressions/suppression-import.ts";
import { suppressionEndpoints } from "./suppressions/suppressions-resource.ts";
import { webhookReplayEndpoints } from "./webhooks/webhook-replay.ts";
import { webhookSecretEndpoints } from "./webhooks/webhook-secrets-resource.ts";
import { webhookEndpoints } from "./webhooks/webhooks-resource.ts";

export function adminEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return [
    accountEndpoints,
    keyEndpoints,
    smsTemplateEndpoints,
    senderEndpoints,
    dltEntityEndpoints,
    dltImportEndpoints,
    domainEndpoints,
    pushAppEndpoints,
    contactEndpoints,
    connectorEndpoints,
    routeEndpoints,
    suppressionEndpoints,
    suppressionImportEndpoints,
    inboundNumberEndpoints,
    inboundMessageEndpoints,
    optOutEndpoints,
    settingEndpoints,
    webhookEndpoints,
    webhookReplayEndpoints,
    webhookSecretEndpoints,
    sandboxMessageEndpoints,
    messageEndpoints,
    timelineEndpoints,
    queueEndpoints,
    alarmEndpoints,
    receiptEndpoints,
    erasureEndpoints,
    consolePasswordEndpoints,
  ].flatMap((endpoints) => endpoints(deps));
}
