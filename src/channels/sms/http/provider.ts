import type { Gateway } from "./gateway.ts";
import type { HttpConfig, HttpSecret } from "./http-config.ts";

/** A provider whose public interface is known: what it needs to be told, and its description. */
export interface Provider {
  /** Its public interface; absent: `base_url` is one of its needs. */
  readonly baseUrl?: string;
  readonly needs: readonly (keyof HttpConfig)[];
  readonly needsSecrets: readonly HttpSecret[];
  describe(settings: ProviderSettings): Gateway;
}

export interface ProviderSettings {
  /** `base_url`, or the provider's public one; without a slash at the end. */
  readonly baseUrl: string;
  readonly config: HttpConfig;
  hasSecret(name: HttpSecret): boolean;
}
