import type { Gateway } from "./gateway.ts";
import type { HttpConfig, HttpSecret } from "./http-config.ts";

/** A provider whose interface is described in `providers/`: which settings it needs, and the description they make. */
export interface Provider {
  /** URL of its public interface; absent: `base_url` must be set. */
  readonly baseUrl?: string;
  readonly needs: readonly (keyof HttpConfig)[];
  readonly needsSecrets: readonly HttpSecret[];
  describe(settings: ProviderSettings): Gateway;
}

export interface ProviderSettings {
  /** The setting `base_url`, or the provider's own; without a slash at the end. */
  readonly baseUrl: string;
  readonly config: HttpConfig;
  hasSecret(name: HttpSecret): boolean;
}
