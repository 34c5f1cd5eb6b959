/** Imports from a file: first what one would do, then doing it. */
import { Failure } from "../client.ts";
import { deedButton } from "../dom/buttons.ts";
import { type Child, fill, h } from "../dom/dom.ts";
import { none, section } from "../dom/pieces.ts";
import type { Field, Row } from "../forms/fields.ts";
import { recordForm } from "../forms/form.ts";
import type { View, Visit } from "../visit.ts";
import { createProgress, type Tell } from "./progress.ts";
import { decodeText } from "./text-file.ts";

export interface ImportPlan {
  readonly title: string;
  /** One of them is `FILE`. */
  readonly fields: readonly Field[];
  readonly values: Row;
  readonly back: string;
  /** Reads what was chosen; fails with details for the fields. */
  readonly check: (given: Row, tell: Tell) => Promise<Checked>;
}

export interface Checked {
  /** What an import would do. */
  readonly preview: Child;
  /** `Import 5 entries`; absent: there is nothing to import. */
  readonly verb?: string;
  /** What an import would not take. */
  readonly refused?: Child;
  /** Does it, and resolves with what has become of it. It ends early when the page is left. */
  readonly run: (tell: Tell) => Promise<Child>;
}

export function fileField(hint: string): Field {
  return { name: "csv", label: "File", kind: "file", isRequired: true, hint };
}

/** The text of the file that was chosen. */
export async function readText({ csv }: Row): Promise<string> {
  if (!(csv instanceof File)) throw fileProblem("required");
  const octets = await csv.arrayBuffer().catch(() => {
    throw fileProblem("cannot be read any more: choose it again");
  });
  const read = decodeText(new Uint8Array(octets));
  if ("problem" in read) throw fileProblem(read.problem);
  return read.text;
}

export function fileProblem(text: string): Failure {
  return new Failure(400, "validation failed", { csv: text });
}

export function importView({ title, fields, values, back, check }: ImportPlan, visit: Visit): View {
  const result = h("div");
  const progress = createProgress();
  const show = (heading: string, ...content: readonly Child[]) => {
    const part = section(heading, content);
    fill(result, part);
    // What follows is read from here on, and Tab goes on from here.
    part.querySelector("h2")?.setAttribute("tabindex", "-1");
    part.querySelector("h2")?.focus();
  };
  const form = recordForm({
    fields,
    values,
    submit: "Check the file",
    back,
    async save(given) {
      fill(result);
      const { preview, verb, refused, run } = await progress.during((tell) => check(given, tell));
      const work = async () => {
        form.inert = true;
        try {
          const done = await progress.during(run);
          const stoppedAt = progress.stoppedAt();
          if (stoppedAt)
            visit.notify(`The import has stopped after ${stoppedAt}: import again for the others`);
          show("Imported", done);
        } finally {
          form.inert = false;
        }
      };
      const button = verb !== undefined && deedButton({ text: verb, kind: "primary", work }, visit);
      const next = button ? h("p", { class: "links" }, button) : none("There is nothing to import.");
      show("What an import would do", preview, next, refused);
    },
  });
  // What was found is of another file, or for another account.
  form.addEventListener("change", () => fill(result));
  return { title, content: [form, progress.element, result] };
}
