// The labelling page. Runs once, with Gradio's `element` (the page's root) and `server` (the acts
// of annotator/desk.py). What is shown and stored is decided there; nothing is kept in the browser.

const find = (selector) => element.querySelector(selector);
const all = (selector) => [...element.querySelectorAll(selector)];
const form = find("form.verdict");
const asksName = find(".desk").dataset.asksName === "yes";
const ROLES = {
  system: "System message",
  user: "User asked",
  assistant: "Assistant said",
  answer: "Assistant answered",
  turn: "Next user turn — label this",
};

let screen = null; // as sent by the server
let busy = false; // an act is under way: the page takes no other
let draftTimer = null;

async function ask(act, data) {
  // Gradio's client answers nothing at all when the server cannot be reached.
  let reply;
  try {
    reply = await server[act](data);
  } catch {
    reply = undefined;
  }
  return reply ?? {
    refused: true,
    message: "Not saved: the server does not answer. Your choice is kept here; try again.",
  };
}

function say(message, refused = false) {
  for (const line of all(".status")) {
    line.textContent = message;
    line.classList.toggle("refused", refused);
  }
}

// One act at a time: a key pressed while saving could only fall on an item not yet seen.
async function perform(act, data) {
  if (busy) return say("Still saving: that key was not taken.", true);
  busy = true;
  clearTimeout(draftTimer);
  find(".lock").disabled = true;
  form.setAttribute("aria-busy", "true");
  say("Saving…");
  const reply = await ask(act, data);
  find(".lock").disabled = false;
  if (reply.screen) await show(reply.screen);
  form.removeAttribute("aria-busy");
  busy = false;
  say(reply.message, reply.refused);
}

const onScreen = () => ({ nonce: screen.nonce, item_id: screen.item_id });

const choice = () => ({
  category: form.elements.category.value || null,
  confidence: form.elements.confidence.value || null,
  note: form.elements.note.value,
  flagged: form.elements.flagged.checked,
});

async function show(next) {
  screen = next;
  find(".who").hidden = true;
  find(".work").hidden = next.finished;
  find(".finished").hidden = !next.finished;
  const done = next.labelled + next.skipped;
  for (const tally of all(".tally")) {
    tally.textContent = `${done} of ${next.total} done` + (next.skipped ? ` (${next.skipped} skipped)` : "");
  }
  if (next.finished) return find(".finished").focus();
  find(".who-is").textContent = next.annotator;
  const progress = find("progress");
  progress.max = next.total;
  progress.value = done;
  fill(next.choice);
  const saved = find(".saved");
  saved.hidden = !next.saved;
  saved.textContent = next.saved ? `Saved before as: ${next.saved}. Submit again to change it.` : "";
  await showParts();
  find(".work").focus({ preventScroll: true });
  find(".work").scrollIntoView({ block: "start" });
}

function fill(filled) {
  form.reset();
  for (const name of ["category", "confidence"]) {
    for (const input of all(`input[name=${name}]`)) input.checked = input.value === filled[name];
  }
  form.elements.note.value = filled.note;
  form.elements.flagged.checked = filled.flagged;
}

// The item before goes off the screen at once: no key may fall on a text that is not there.
async function showParts() {
  const shown = screen;
  find(".parts").replaceChildren();
  let rendered = null;
  if (find("input.rendered").checked) {
    const reply = await ask("rendered_view", onScreen());
    if (screen !== shown) return;
    rendered = reply.parts;
    if (!rendered) say(`The rendered view is not to be had. ${reply.message}`, true);
  }
  const parts = (rendered ?? shown.parts).map((part) => partElement(part, Boolean(rendered)));
  find(".parts").replaceChildren(...parts);
}

// `part.html` comes escaped, or cleaned to a closed list of tags, from the server.
function partElement(part, isRendered) {
  const article = document.createElement("article");
  article.className = `part ${part.role}`;
  const heading = document.createElement("h2");
  heading.textContent = ROLES[part.role] ?? part.role;
  const text = document.createElement("div");
  text.className = isRendered ? "text as-rendered" : "text";
  text.dir = "auto";
  text.innerHTML = part.html;
  article.append(heading, text);
  if (!text.textContent.trim()) {
    text.dataset.hint = part.characters ? `(white space only: ${part.characters})` : "(no characters at all)";
  }
  if (part.long) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "unfold";
    const label = (open) => (open ? "Show less" : `Show all ${part.characters.toLocaleString("en")} characters`);
    const fold = (folded) => {
      text.classList.toggle("folded", folded);
      button.textContent = label(!folded);
      button.setAttribute("aria-expanded", String(!folded));
    };
    button.addEventListener("click", () => fold(!text.classList.contains("folded")));
    fold(true);
    article.append(button);
  }
  return article;
}

function keepDraft() {
  clearTimeout(draftTimer);
  draftTimer = setTimeout(async () => {
    if (busy || !screen || screen.finished) return;
    const asked = screen.nonce;
    const reply = await ask("keep_draft", { ...onScreen(), choice: choice() });
    if (!busy && screen.nonce === asked) say(reply.message, reply.refused);
  }, 300);
}

const submit = () => perform("save_label", { ...onScreen(), choice: choice() });

function skip() {
  const reason = form.elements.reason;
  if (!reason.value) {
    reason.focus();
    return say("Choose a reason for skipping (arrow keys), then press Enter.", true);
  }
  return perform("skip_item", { ...onScreen(), reason: reason.value, choice: choice() });
}

function pick(key) {
  const input = find(`input[data-key="${CSS.escape(key)}"]`);
  if (!input) return false;
  if (busy) {
    say("Still saving: that key was not taken.", true);
    return true;
  }
  input.checked = true;
  input.focus({ preventScroll: true });
  keepDraft();
  return true;
}

const leave = (act) => perform(act, { ...onScreen(), choice: choice() });

const review = () => perform("review_items", { annotator: screen.annotator });

function guidelines(open) {
  find(".guidelines").open = open;
}

const KEYS = {
  b: () => leave("go_back"),
  n: () => leave("go_forward"),
  s: skip,
  g: () => guidelines(!find(".guidelines").open),
};

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  const at = event.target;
  if (event.key === "Escape") return at.matches?.("textarea, select") ? at.blur() : guidelines(false);
  if (at.name === "reason" && at.value && ["Enter", "s"].includes(event.key)) {
    event.preventDefault();
    return skip();
  }
  const typing = at.isContentEditable || at.matches?.("textarea, select, input:not([type=radio], [type=checkbox])");
  if (typing || !screen) return;
  if (screen.finished) return event.key === "b" ? review() : undefined;
  if (event.key === "Enter") {
    if (at.matches?.("button, summary, a, input[type=checkbox]")) return;
    event.preventDefault();
    submit();
  } else if (pick(event.key)) {
    event.preventDefault();
  } else if (KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]();
  }
});

form.addEventListener("input", keepDraft);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
find("button.back").addEventListener("click", KEYS.b);
find("button.forward").addEventListener("click", KEYS.n);
find("button.skip-it").addEventListener("click", skip);
find("input.rendered").addEventListener("change", () => screen && showParts());
find("button.review").addEventListener("click", review);

async function start(annotator) {
  const reply = await ask("open_screen", { annotator });
  if (reply.screen) return show(reply.screen);
  find(".who").hidden = false;
  find(".who label").hidden = !asksName;
  find(".who button").textContent = asksName ? "Start" : "Try again";
  say(reply.message, true);
}

// The name stands in the address, so that a reload or a bookmark comes back to the same person.
find(".who").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = event.target.elements.annotator.value;
  if (!asksName) return start("");
  const address = new URL(location.href);
  address.searchParams.set("annotator", name);
  history.replaceState(null, "", address);
  start(name);
});

const named = new URLSearchParams(location.search).get("annotator");
if (named || !asksName) start(named ?? "");
else {
  find(".who").hidden = false;
  find(".who input").focus();
}
