import { hasSession, openSession } from "./client.ts";
import { putDialogsAside } from "./dom/dialogs.ts";
import { h } from "./dom/dom.ts";
import { failureText } from "./dom/failure-text.ts";
import { showWaiting } from "./dom/waiting.ts";

/**
 * Asks for the password in the place of `behind`, which is only hidden, and of dialogs: what was typed or asked there is still
 * there afterwards.
 * All who ask at the same time wait for the same form.
 */
export function createSignIn(behind: HTMLElement): () => Promise<void> {
  let asking: Promise<void> | undefined;
  return () => {
    asking ??= askForPassword(behind).finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

async function askForPassword(behind: HTMLElement): Promise<void> {
  const { promise: signedIn, resolve } = Promise.withResolvers<void>();
  const form = signInForm(resolve);
  const focused = document.activeElement;
  const y = scrollY;
  const seen = new AbortController();
  document.addEventListener("visibilitychange", () => void ifSignedIn(resolve), { signal: seen.signal });
  const bringDialogsBack = putDialogsAside();
  behind.hidden = true;
  document.body.append(form);
  form.querySelector("input")?.focus();
  await signedIn;
  seen.abort();
  form.remove();
  behind.hidden = false;
  bringDialogsBack();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  scrollTo(0, y);
}

/** Whoever comes back to this tab may have signed in in another. */
async function ifSignedIn(done: () => void): Promise<void> {
  if (document.visibilityState === "visible" && (await hasSession())) done();
}

function signInForm(done: () => void): HTMLElement {
  const input = h("input", {
    id: "password",
    type: "password",
    autocomplete: "current-password",
    required: true,
    "aria-describedby": "password-problem",
  });
  const problem = h("p", { id: "password-problem", class: "problem", role: "alert" });
  const button = h("button", { class: "primary" }, "Sign in");
  const submit = async () => {
    problem.textContent = "";
    button.disabled = true;
    try {
      await showWaiting(button, openSession(input.value));
      done();
    } catch (error) {
      problem.textContent = failureText(error);
      button.disabled = false;
      input.select();
    }
  };
  const onsubmit = (event: Event) => {
    event.preventDefault();
    void submit();
  };
  return h(
    "main",
    { class: "sign-in" },
    h("h1", {}, "Postrider"),
    h("form", { onsubmit }, h("label", { for: "password" }, "Console password"), input, problem, button),
    h(
      "p",
      { class: "hint" },
      "The password is ",
      h("code", {}, "console_password"),
      " in ",
      h("code", {}, "sandbox.json"),
      " in the data folder. This makes a new one; in the folder of the sources, ",
      h("code", {}, "postrider"),
      " is ",
      h("code", {}, "npm run -s postrider --"),
      ":",
    ),
    h("pre", {}, "postrider console password"),
  );
}
