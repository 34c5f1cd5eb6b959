import { showConnectors } from "./connectors/connectors.ts";
import { none } from "./dom/pieces.ts";
import { showErasures } from "./erasures.ts";
import type { NavigationGroup } from "./frame.ts";
import { showInbound } from "./inbound.ts";
import { showMessage } from "./messages/message-page.ts";
import { showMessages } from "./messages/messages.ts";
import { showSandbox } from "./messages/sandbox.ts";
import { showOverview } from "./overview.ts";
import type { Place } from "./place.ts";
import { showReceipts } from "./receipts.ts";
import { NOUNS } from "./records/nouns.ts";
import { recordPages } from "./records/records.ts";
import { showSettings } from "./records/settings.ts";
import type { ShowPage } from "./visit.ts";
import { showWebhooks } from "./webhooks/webhooks.ts";

const PAGES: Readonly<Record<string, ShowPage>> = {
  "": showOverview,
  messages: (visit) => (visit.place.path.length > 1 ? showMessage : showMessages)(visit),
  inbound: showInbound,
  sandbox: showSandbox,
  connectors: showConnectors,
  webhooks: showWebhooks,
  receipts: showReceipts,
  erasures: showErasures,
  settings: showSettings,
  ...Object.fromEntries(NOUNS.map((noun) => [noun.name, recordPages(noun)])),
};

export const NAVIGATION: readonly NavigationGroup[] = [
  {
    links: [
      { name: "", title: "Overview" },
      { name: "messages", title: "Messages" },
      { name: "inbound", title: "Inbound SMS" },
      { name: "sandbox", title: "Sandbox" },
      { name: "connectors", title: "Connectors" },
      { name: "routes", title: "Routes" },
    ],
  },
  { title: "Records", links: NOUNS.filter(({ name }) => name !== "routes") },
  {
    title: "Operation",
    links: [
      { name: "webhooks", title: "Webhooks" },
      { name: "receipts", title: "Parked receipts" },
      { name: "erasures", title: "Erasures" },
      { name: "settings", title: "Settings" },
    ],
  },
];

export function pageFor({ path }: Place): ShowPage {
  return PAGES[path[0] ?? ""] ?? showNothing;
}

const showNothing: ShowPage = async () => ({
  title: "Not found",
  content: none("There is no such page."),
});
