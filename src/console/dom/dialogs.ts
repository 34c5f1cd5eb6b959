/** Questions, and things to be seen once, in front of the page. */
import { type Child, h } from "./dom.ts";
import { goOnFrom } from "./focus.ts";

/** Asks once. Escape and Cancel are a no. */
export function isConfirmed(question: string, verb: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const yes = h("button", { type: "button", class: "danger" }, verb);
  const dialog = openDialog({
    name: question,
    content: h("p", {}, withNameIsolated(question)),
    buttons: yes,
    close: "Cancel",
    onClose: () => resolve(false),
  });
  yes.addEventListener("click", () => {
    resolve(true);
    dialog.close();
  });
  // Whoever has gone to another page does not mean this one.
  addEventListener("hashchange", () => dialog.close(), { once: true });
  return promise;
}

/** What is in quotes, strangers may have named: it must not turn the question around. */
function withNameIsolated(question: string): Child {
  const [from, to] = [question.indexOf("“") + 1, question.lastIndexOf("”")];
  if (from === 0 || to < from) return question;
  return [question.slice(0, from), h("bdi", {}, question.slice(from, to)), question.slice(to)];
}

/** A secret that is never shown again. */
export function showOnce(title: string, secret: string): void {
  const copying = copyButton(secret);
  // Whoever presses Enter once too often copies it, and does not close it unseen.
  copying.querySelector("button")?.setAttribute("autofocus", "");
  openDialog({
    name: title,
    content: [
      h("h2", {}, title),
      h("p", {}, "Keep it now: it is not stored, and never shown again."),
      h("pre", {}, secret),
    ],
    buttons: copying,
    close: "Done",
  });
}

/** Copies a text, or what a function makes only then, and says so in its own place. */
export function copyButton(text: string | (() => string), label = "Copy"): HTMLElement {
  const button = h("button", { type: "button" }, label);
  button.addEventListener("click", () => {
    copy(typeof text === "string" ? text : text(), button).then(
      () => {
        button.textContent = "Copied";
      },
      () => {
        button.textContent = "Could not copy";
      },
    );
  });
  return h("span", { "aria-live": "polite" }, button);
}

/** Over plain HTTP, or where it is not allowed, there is no clipboard; what is selected can be copied all the same. */
async function copy(text: string, near: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copySelected(text, near);
  }
}

function copySelected(text: string, near: HTMLElement): void {
  const area = h("textarea", { class: "unseen", "aria-hidden": "true" }, text);
  near.after(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  near.focus();
  if (!isCopied) throw new Error("not copied");
}

/**
 * Takes what is in front of the page away: all behind a dialog is inert, whatever is put there. The function brings back what
 * was not closed meanwhile: a secret is never shown again, and a question waits for its answer.
 */
export function putDialogsAside(): () => void {
  const dialogs = [...document.querySelectorAll("dialog")];
  for (const dialog of dialogs) dialog.remove();
  return () => {
    for (const dialog of dialogs.filter(({ open }) => open)) {
      // The browser refuses to put one in front that is open behind.
      dialog.removeAttribute("open");
      showInFront(dialog);
    }
  };
}

interface DialogPlan {
  /** What a screen reader says as the dialog opens: of what is in it, that says the button alone which has the focus. */
  readonly name: string;
  readonly content: Child;
  readonly buttons: Child;
  /** The word that closes it. */
  readonly close: string;
  readonly onClose?: () => void;
}

function openDialog({ name, content, buttons, close, onClose }: DialogPlan): HTMLDialogElement {
  const closing = h("button", { type: "button", onclick: () => dialog.close() }, close);
  const dialog = h(
    "dialog",
    { "aria-label": name },
    content,
    h("div", { class: "actions" }, closing, buttons),
  );
  const opener = document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    // The browser forgets where one was while a dialog is aside, or where that is gone with its page.
    if (document.activeElement === document.body) goOnFrom(opener);
    onClose?.();
  });
  showInFront(dialog);
  return dialog;
}

function showInFront(dialog: HTMLDialogElement): void {
  document.body.append(dialog);
  dialog.showModal();
}
