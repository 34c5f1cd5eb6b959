import type { ConnectorKind, ConnectorStatus } from "../../channels/channel.ts";
import type { Alarm } from "../../core/alarms/alarm.ts";
import type { Clock } from "../../core/clock.ts";
import type { DomainDns } from "../../core/domains/domain-check.ts";
import type { Connector } from "../../core/records/accounts.ts";
import type { RandomBytes } from "../../core/uuid.ts";
import type { PausedHost, WebhookAttempt } from "../../core/webhooks/webhook-outbox.ts";
import type { Store } from "../../store/store.ts";
import type { MakeDkimKeys } from "./domains/dkim-pair.ts";

/** What the admin endpoints are given by the composition root. */
export interface AdminDeps extends DomainDns {
  readonly store: Store;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly randomBytes: RandomBytes;
  /** See `HandlerDeps`. */
  readonly consoleKey?: Uint8Array;
  readonly makeDkimKeys: MakeDkimKeys;
  readonly connectorKinds: readonly ConnectorKind[];
  /** Tries a connector within 15 s, sending nothing. `domain`: whose mail hosts to try, for kinds that look them up. */
  checkConnector(
    connector: Connector,
    domain?: string,
  ): Promise<{ readonly ok: boolean; readonly detail: string }>;
  /** How the connector is doing in this process; `undefined` if it does not run here. */
  connectorStatus(id: string): ConnectorStatus | undefined;
  /** Delivers a test event at once, within 15 s. */
  testWebhook(target: {
    readonly accountId: string;
    readonly url: string;
    readonly id: string;
  }): Promise<WebhookAttempt>;
  /** Hosts that this process does not deliver webhooks to at the moment; `undefined` if it delivers none at all. */
  pausedWebhookHosts(): readonly PausedHost[] | undefined;
  /** This process, as operators find it, if there may be others on its database. */
  readonly process?: string;
  /** The alarms that are raised in this process; `undefined` if it watches for none. */
  alarms(): readonly Alarm[] | undefined;
  /** To be called once changed connectors, routes or settings are stored; resolves when this process uses them. */
  onConfigChanged(): Promise<void>;
}
