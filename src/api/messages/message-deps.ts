import type { ConnectorStatus } from "../../channels/channel.ts";
import type { Intake } from "../../store/store.ts";
import type { Directory } from "../records/directory.ts";

/** What the endpoints that send messages need. */
export interface MessageDeps {
  readonly intake: Intake;
  readonly directory: Directory;
  readonly ids: () => string;
  /** A message's `created_at`, by its id. */
  readonly createdAtOf: (id: string) => string;
  /** How a connector is doing in this process; `undefined` if it does not run here. */
  readonly connectorStatus: (id: string) => ConnectorStatus | undefined;
}
