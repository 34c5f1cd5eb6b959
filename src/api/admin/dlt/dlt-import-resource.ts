import Type from "typebox";
import { DLT_LISTS } from "../../../core/dlt/dlt-columns.ts";
import type { Endpoint } from "../../endpoint.ts";
import { validationFailed } from "../../errors.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { accountNamed, noSuchAccount, readDraft, sealDraft } from "../draft.ts";
import { givenFields } from "../given-fields.ts";
import { adminOnly, adminPath, bodyOf } from "../record-plan.ts";
import { readDltCsv } from "./dlt-csv.ts";
import { importDlt } from "./dlt-import.ts";

/** More than other admin requests may have: lists of templates are long. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Imports a CSV export of a DLT portal, in several requests if it is long. */
export function dltImportEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return [
    {
      ...adminOnly("DLT imports"),
      method: "POST",
      path: adminPath("dlt/import"),
      operation: "importDlt",
      summary: "Import templates, headers or entities from a DLT portal's CSV export",
      request: { schema: request, maxBytes: MAX_BYTES },
      responses: {
        200: { description: "The result by row; with `next`, rows are left", schema: report },
      },
      async handle(call) {
        const draft = readDraft(request, bodyOf(call));
        const account = await accountNamed(deps.store.records, draft.valid.account_id, draft.errors);
        const given = sealDraft(draft);
        const sheet = await readDltCsv(given.csv, given.kind);
        if ("problem" in sheet) throw validationFailed({ csv: sheet.problem });
        if (!account) throw noSuchAccount();
        const isDryRun = given.dry_run ?? false;
        const wanted = { account, sheet, isDryRun, from: given.after ?? 0, now: call.now };
        const imported = await importDlt(deps, wanted);
        if ("problem" in imported) throw validationFailed({ csv: imported.problem });
        const { done, total, ...counts } = imported;
        return Response.json({
          kind: sheet.layout.list,
          dry_run: isDryRun,
          rows: sheet.rows.length,
          ...counts,
          ignored_columns: sheet.layout.ignored,
          done,
          total,
          ...(done < total && { next: done }),
        });
      },
    },
  ];
}

const request = Type.Object({
  account_id: givenFields.account_id,
  csv: Type.String({ minLength: 1, description: "The file's text, its row of column names included" }),
  kind: Type.Optional(Type.Enum(DLT_LISTS, { type: "string", description: "Absent: the columns tell" })),
  dry_run: Type.Optional(Type.Boolean({ description: "Says what would happen, and changes nothing" })),
  after: Type.Optional(
    Type.Integer({ minimum: 0, description: "`next` of the answer before, with the same text" }),
  ),
});

const count = Type.Integer({ minimum: 0 });

const report = Type.Object({
  kind: Type.Enum(DLT_LISTS, { type: "string" }),
  dry_run: Type.Boolean(),
  rows: count,
  created: count,
  updated: count,
  unchanged: count,
  merged: Type.Integer({
    minimum: 0,
    description: "Rows that repeat an earlier one, or only add a header to its template",
  }),
  refused: Type.Array(Type.Object({ line: Type.Integer({ minimum: 1 }), reason: Type.String() }), {
    description: "Rows that were not taken, by the line they begin on",
  }),
  ignored_columns: Type.Array(Type.String()),
  done: Type.Integer({ minimum: 0, description: "Entries dealt with so far, of `total`" }),
  total: count,
  next: Type.Optional(Type.Integer({ minimum: 1, description: "Give it as `after` for the rest" })),
});
