/** How settings are stored. Secret ones are sealed, for the same place in both engines, since a move copies them unopened. */
import { isSettingName, SETTINGS, type Setting, type StoredSettings } from "../../core/records/settings.ts";
import type { Vault } from "../vault.ts";

export function toStoredSetting(vault: Vault, name: string, value: string): string {
  return isSecret(name) ? vault.seal(value, placeOf(name)) : value;
}

export interface SettingRow {
  readonly name: string;
  readonly value: string;
}

export function fromSettingRows(vault: Vault, rows: readonly SettingRow[]): StoredSettings {
  return Object.fromEntries(
    rows.map(({ name, value }) => [name, isSecret(name) ? vault.open(value, placeOf(name)) : value]),
  );
}

function isSecret(name: string): boolean {
  const setting: Setting<unknown> | undefined = isSettingName(name) ? SETTINGS[name] : undefined;
  return setting?.isSecret === true;
}

function placeOf(name: string): string {
  return `settings/${name}`;
}
