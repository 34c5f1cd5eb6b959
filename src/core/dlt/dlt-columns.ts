/**
 * Finds the fields in the columns of a DLT portal's export. The portals (Jio, Vi's Vilpower, Airtel, BSNL, Tata and Videocon's
 * SmartPing) name their columns differently and publish none of the names, so each field is known by all the names that we have met. To
 * support another name, add it to the row of its field. A sheet that an operator wrote may use our own names.
 */
import { plain } from "./dlt-words.ts";

export const DLT_LISTS = ["templates", "headers", "entities"] as const;
export type DltList = (typeof DLT_LISTS)[number];

/** A `…Hint` may hold something else, such as the line of business. */
export type DltField =
  | "templateId"
  | "name"
  | "content"
  | "headers"
  | "category"
  | "categoryHint"
  | "status"
  | "blacklistStatus"
  | "entityId"
  | "tags"
  | "header"
  | "headerType"
  | "headerTypeHint"
  | "urls"
  | "numbers";

/** Where the fields of a list are: the indexes of their columns, the ones that are preferred first. */
export interface Layout {
  readonly list: DltList;
  readonly columns: Readonly<Partial<Record<DltField, readonly number[]>>>;
  /** How many columns there are, with or without a name. */
  readonly width: number;
  /** Names of the columns that are not read. */
  readonly ignored: readonly string[];
}

/** Later columns are not read, so that it does not take long to see that a row of a million empty cells is not a head. */
export const MAX_COLUMNS = 300;

/** A longer cell is not taken for the name of a column. */
const MAX_NAME = 100;

/** Reads the row with the names of the columns; `undefined` if it is not the head of a list, or not of the `wanted` one. */
export function readHead(row: readonly string[], wanted?: DltList): Layout | undefined {
  const head = row.slice(0, MAX_COLUMNS);
  const names = head.map((name) => (name.length > MAX_NAME ? "" : plain(name)));
  const lists = wanted === undefined ? DLT_LISTS : [wanted];
  const list = lists.find((each) =>
    NEEDED[each].every((field) => find(names, ALIASES[each][field]).length > 0),
  );
  if (list === undefined) return undefined;
  const columns: Partial<Record<DltField, readonly number[]>> = {};
  const read = new Set<number>();
  for (const [field, aliases] of Object.entries(ALIASES[list])) {
    const found = find(names, aliases);
    for (const index of found) read.add(index);
    if (found.length > 0) columns[field as DltField] = found;
  }
  const ignored = head.filter((name, index) => !read.has(index) && name.trim() !== "");
  return { list, columns, width: row.length, ignored };
}

function find(names: readonly string[], aliases: readonly string[] = []): readonly number[] {
  return aliases.flatMap((alias) => names.flatMap((name, index) => (name === alias ? [index] : [])));
}

type Aliases = Readonly<Partial<Record<DltField, readonly string[]>>>;

/** The fields that a list must have. They also show which list it is. */
const NEEDED: Readonly<Record<DltList, readonly DltField[]>> = {
  templates: ["templateId", "content"],
  headers: ["header"],
  entities: ["entityId"],
};

const ENTITY_ID = [
  "entityid",
  "dltentityid",
  "peid",
  "principalentityid",
  "dltpeid",
  "entityregistrationid",
  "entityregistrationnumber",
];

const STATUS = [
  "status",
  "approvalstatus",
  "templatestatus",
  "headerstatus",
  "entitystatus",
  "registrationstatus",
  "currentstatus",
  "activestatus",
  "operationalstatus",
];

const BLACKLIST_STATUS = [
  "blackliststatus",
  "blacklistedstatus",
  "blacklisted",
  "isblacklisted",
  "blacklist",
];

const HEADER = ["header", "headername", "senderid", "sender", "cli", "sendername", "headercli"];

const ALIASES: Readonly<Record<DltList, Aliases>> = {
  templates: {
    templateId: [
      "templateid",
      "dlttemplateid",
      "contenttemplateid",
      "dltcontenttemplateid",
      "dltteid",
      "teid",
      "templateregistrationid",
      "urn",
    ],
    name: ["templatename", "contenttemplatename", "dlttemplatename", "templatelabel", "name"],
    content: [
      "templatecontent",
      "templatemessage",
      "contenttemplate",
      "templatetext",
      "templatebody",
      "messagecontent",
      "smscontent",
      "content",
      "message",
      "body",
      "text",
      "template",
    ],
    headers: [
      ...["headers", "linkedheaders", "linkedheader", "mappedheaders", "mappedheader", "associatedheaders"],
      ...HEADER,
      "senderids",
    ],
    category: [
      ...["templatetype", "communicationtype", "messagecategory", "templatecategory"],
      ...["contenttype", "messagetype", "type"],
    ],
    categoryHint: ["category"],
    status: STATUS,
    blacklistStatus: BLACKLIST_STATUS,
    entityId: ENTITY_ID,
    tags: ["variabletags", "variabletypes", "variabletype", "variabletag", "tags", "tag"],
  },
  headers: {
    header: [...HEADER, "headerid"],
    headerType: ["headertype", "communicationtype", "type"],
    headerTypeHint: ["headercategory", "category"],
    status: STATUS,
    blacklistStatus: BLACKLIST_STATUS,
    entityId: ENTITY_ID,
  },
  entities: {
    entityId: ENTITY_ID,
    name: [
      ...["entityname", "principalentityname", "pename", "companyname", "organisationname"],
      ...["organizationname", "businessname", "name"],
    ],
    status: STATUS,
    blacklistStatus: BLACKLIST_STATUS,
    urls: ["whitelistedurls", "whitelistedurl", "urls", "url"],
    numbers: ["callbacknumbers", "callbacknumber", "cbn", "whitelistednumbers"],
  },
};
