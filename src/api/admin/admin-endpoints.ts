/** The administration: one list of endpoints under `/admin/v1`, all behind the admin token. */
import type { Endpoint } from "../endpoint.ts";
import { accountEndpoints } from "./accounts-resource.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { alarmEndpoints } from "./alarms-resource.ts";
import { connectorEndpoints } from "./connectors-resource.ts";
import { contactEndpoints } from "./contacts-resource.ts";
import { dltEntityEndpoints } from "./dlt-entities-resource.ts";
import { dltImportEndpoints } from "./dlt-import-resource.ts";
import { domainEndpoints } from "./domains-resource.ts";
import { erasureEndpoints } from "./erasures-resource.ts";
import { inboundMessageEndpoints } from "./inbound-messages-resource.ts";
import { inboundNumberEndpoints } from "./inbound-numbers-resource.ts";
import { keyEndpoints } from "./keys-resource.ts";
import { optOutEndpoints } from "./opt-outs-resource.ts";
import { pushAppEndpoints } from "./push-apps-resource.ts";
import { receiptEndpoints } from "./receipts-resource.ts";
import { routeEndpoints } from "./routes-resource.ts";
import { sandboxMessageEndpoints } from "./sandbox-messages-resource.ts";
import { senderEndpoints } from "./senders-resource.ts";
import { settingEndpoints } from "./settings-resource.ts";
import { smsTemplateEndpoints } from "./sms-templates-resource.ts";
import { suppressionImportEndpoints } from "./suppression-import.ts";
import { suppressionEndpoints } from "./suppressions-resource.ts";
import { timelineEndpoints } from "./timeline-resource.ts";
import { webhookReplayEndpoints } from "./webhook-replay.ts";
import { webhookSecretEndpoints } from "./webhook-secrets-resource.ts";
import { webhookEndpoints } from "./webhooks-resource.ts";

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
    timelineEndpoints,
    alarmEndpoints,
    receiptEndpoints,
    erasureEndpoints,
  ].flatMap((endpoints) => endpoints(deps));
}
