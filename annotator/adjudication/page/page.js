// The adjudicator's page. Runs once, after web/page/parts.js, with Gradio's `element` (the page's
// root) and `server` (the acts of annotator/adjudication/desk.py). What is shown and stored is
// decided there; what is typed and not stored is kept by this page alone, until it is left.

const find = (selector) => element.querySelector(selector);
const all = (selector) => [...element.querySelectorAll(selector)];
const root = find(".desk");
const form = find("form.verdict");
const talk = find("form.talk");
const HEADINGS = {
  system: "System message",
  user: "User asked",
  assistant: "Assistant said",
  answer: "Assistant answered",
  turn: "Next user turn — decide this",
};

let screen = null; // as sent by the server
let busy = false; // an act is under way: the page takes no other
let rubricVersion = root.dataset.rubric;
const typed = new Map(); // by item: what was filled in and not stored

// --- Acts -----------------------------------------------------------------------------------

const NO_ANSWER = {
  refused: true,
  message: "Not stored: the server does not answer. What you wrote is kept here; try again.",
};

async function ask(act, data) {
  // Gradio's client answers nothing at all when the server cannot be reached.
  try {
    return (await server[act](data)) ?? NO_ANSWER;
  } catch {
    return NO_ANSWER;
  }
}

function tell(text, refused = false) {
  for (const line of all(".status")) {
    line.textContent = text;
    line.classList.toggle("refused", refused);
  }
}

const place = () => ({ item_id: screen.item_id, decided: screen.in_decided });
const version = () => ({ rubric_version: screen.rubric_version });

// One act at a time: a key pressed meanwhile could only fall on an item not yet seen.
async function perform(act, data) {
  if (busy) return tell("Still at work: that key was not taken.", true);
  busy = true;
  const before = screen?.item_id;
  const at = document.activeElement; // what is disabled loses the focus
  keepTyped();
  find(".lock").disabled = true;
  form.setAttribute("aria-busy", "true");
  const reply = await ask(act, data);
  if (reply.stored) forgetTyped(before, act);
  if (reply.screen) await show(reply.screen);
  find(".lock").disabled = false;
  form.removeAttribute("aria-busy");
  busy = false;
  if (!screen) showNothing(reply.message);
  tell(reply.message, reply.refused);
  settleFocus(at, before, reply);
}

function settleFocus(at, before, reply) {
  if (!screen || screen.item_id === null) return find(".end").focus();
  const here = screen.item_id === before;
  // In the middle of it: a refusal or a note of one's own is no reason to leave.
  if (here && (reply.refused || talk.contains(at))) return at.focus();
  find(".work").focus({ preventScroll: true });
  find(".work").scrollIntoView({ block: "start" });
}

// --- Screens --------------------------------------------------------------------------------

async function show(next) {
  if (next.rubric_version !== rubricVersion) await takeUpRubric(next.rubric_version);
  screen = next;
  find(".who-is").textContent = next.adjudicator;
  find(".end .other-list").hidden = false;
  find(".work").hidden = next.item_id === null;
  find(".end").hidden = next.item_id !== null;
  const other = next.in_decided ? `To decide: ${count(next.undecided)}` : `Decided: ${count(next.decided)}`;
  for (const name of all(".other-name")) name.textContent = other;
  // In the address, so that a reload comes back here and one can send another the item.
  history.replaceState(null, "", next.item_id === null ? location.pathname + location.search : `#${next.item_id}`);
  if (next.item_id === null) return showEnd();
  find(".place").textContent = placeText(next);
  find(".given ul").replaceChildren(...next.labels.map(labelElement));
  const said = next.notes.map((html) => item(textElement(html)));
  find(".annotators-notes ul").replaceChildren(...said);
  find(".annotators-notes").hidden = !said.length;
  find(".discussion ol").replaceChildren(...next.discussion.map(noteElement));
  showDecision(next.decision);
  fill();
  await showParts();
}

const count = (number) => number.toLocaleString("en");

function placeText({ in_decided, position, undecided, decided }) {
  if (position === null) return in_decided ? "To be decided anew" : "Decided meanwhile";
  return in_decided
    ? `Decided item ${count(position)} of ${count(decided)}`
    : `Item ${count(position)} of ${count(undecided)} to decide`;
}

function showEnd() {
  const empty = screen.in_decided ? "Nothing is decided yet" : "Nothing to decide";
  find("#end-heading").textContent = empty;
  find(".explanation").textContent = screen.in_decided
    ? "Decided items can be looked at and decided anew here."
    : screen.decided
      ? "Every item that awaited a decision has one. New ones come while people label."
      : "No item is labelled differently so far. Some may be while people label.";
}

// Not even a first item could be had.
function showNothing(why) {
  find("#end-heading").textContent = "This page cannot be shown";
  find(".explanation").textContent = why;
  find(".end").hidden = false;
  find(".end .other-list").hidden = true;
}

function labelElement({ name, people }) {
  const line = document.createElement("li");
  const times = document.createElement("span");
  times.className = "people";
  times.textContent = `${people} ×`;
  const label = document.createElement("span");
  label.textContent = name;
  line.append(times, label);
  return line;
}

function noteElement({ author, html, written_at }) {
  const signed = document.createElement("div");
  signed.className = "signed";
  signed.textContent = `${author} · ${moment(written_at)}`;
  return item(signed, textElement(html));
}

const moment = (at) => new Date(at).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });

function item(...content) {
  const line = document.createElement("li");
  line.append(...content);
  return line;
}

function textElement(html) {
  const text = document.createElement("div");
  text.dir = "auto";
  text.lang = "";
  text.innerHTML = html; // escaped by the server
  return text;
}

function showDecision(decision) {
  find(".decision").hidden = !decision;
  if (!decision) return;
  const { name, adjudicator, decided_at } = decision;
  find("#decision-heading").textContent = `${name}: decided by ${adjudicator}, ${moment(decided_at)}`;
  find(".decision .why").innerHTML = decision.html; // escaped by the server
}

// The item before goes off the screen at once: no key may fall on a text that is not there.
async function showParts() {
  const shown = screen;
  find(".parts").replaceChildren();
  let rendered = null;
  if (find("input.rendered").checked) {
    const reply = await ask("rendered_view", place());
    if (screen !== shown) return;
    rendered = reply.parts;
    if (!rendered) tell(`The rendered view is not to be had. ${reply.message}`, true);
  }
  const parts = (rendered ?? shown.parts).map((part) =>
    partElement(part, HEADINGS[part.role] ?? part.role, { rendered: Boolean(rendered) }),
  );
  find(".parts").replaceChildren(...parts);
}

async function takeUpRubric(next) {
  const { rubric } = await ask("rubric_view", {});
  if (rubric?.version !== next) return;
  rubricVersion = next;
  // The server's own templates, escaped there.
  find(".choices").innerHTML = rubric.categories;
  find(".guide").innerHTML = rubric.guidelines;
  find(".rubric-version").textContent = rubric.version;
}

// --- What is typed --------------------------------------------------------------------------

const choice = () => ({ category: form.elements.category.value, reason: form.elements.reason.value });

function keepTyped() {
  if (!screen?.item_id) return;
  const kept = { ...choice(), note: talk.elements.note.value };
  if (kept.category || kept.reason || kept.note) typed.set(screen.item_id, kept);
  else typed.delete(screen.item_id);
}

function forgetTyped(item_id, act) {
  const kept = typed.get(item_id);
  if (!kept) return;
  typed.set(item_id, act === "add_note" ? { ...kept, note: "" } : { note: kept.note });
}

function fill() {
  const kept = typed.get(screen.item_id);
  const { category = "", reason = "", note = "" } = kept ?? {};
  for (const input of all("input[name=category]")) input.checked = input.value === category;
  form.elements.reason.value = reason;
  talk.elements.note.value = note;
}

window.addEventListener("beforeunload", (event) => {
  keepTyped();
  if ([...typed.values()].some((kept) => kept.reason || kept.note)) event.preventDefault();
});

// --- What people do -------------------------------------------------------------------------

function decide() {
  const { category, reason } = choice();
  if (!category) return tell("Choose a category first.", true);
  if (!reason.trim()) {
    form.elements.reason.focus();
    return tell("Say why, in a sentence; then Ctrl+Enter.", true);
  }
  return perform("decide", { ...place(), ...version(), category, reason, after: screen.after });
}

function addNote() {
  const note = talk.elements.note.value;
  if (!note.trim()) {
    talk.elements.note.focus();
    return tell("Write the note first.", true);
  }
  return perform("add_note", { ...place(), ...version(), note });
}

function pick(key) {
  const input = find(`input[data-key="${CSS.escape(key)}"]`);
  if (!input) return false;
  if (busy) tell("Still at work: that key was not taken.", true);
  else {
    input.checked = true;
    input.focus({ preventScroll: true });
  }
  return true;
}

const step = (act) => perform(act, place());
const otherList = () => perform("show_dispute", { decided: !screen.in_decided });

function guidelines(open) {
  find(".guidelines").open = open;
  if (open) find(".guidelines summary").focus();
}

const KEYS = {
  b: () => step("previous_dispute"),
  n: () => step("next_dispute"),
  d: otherList,
  w: () => form.elements.reason.focus(),
  c: () => talk.elements.note.focus(),
  g: () => guidelines(!find(".guidelines").open),
};

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.altKey || event.metaKey || !screen) return;
  const at = event.target;
  const writing = at.matches?.("textarea");
  if (event.ctrlKey) {
    if (!writing || event.key !== "Enter") return;
    event.preventDefault();
    return at.name === "note" ? addNote() : decide();
  }
  if (event.key === "Escape") return writing ? at.blur() : guidelines(false);
  if (writing || at.isContentEditable) return;
  if (screen.item_id === null) return event.key === "d" ? otherList() : undefined;
  if (event.key === "Enter") {
    if (at.matches?.("button, summary, a, input[type=checkbox]")) return;
    event.preventDefault();
    decide();
  } else if (pick(event.key)) {
    event.preventDefault();
  } else if (KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]();
  }
});

form.noValidate = true; // what is missing is said in the status line
form.addEventListener("submit", (event) => {
  event.preventDefault();
  decide();
});
talk.addEventListener("submit", (event) => {
  event.preventDefault();
  addNote();
});
find("button.back").addEventListener("click", KEYS.b);
find("button.forward").addEventListener("click", KEYS.n);
find("button.look-again").addEventListener("click", () => perform("show_dispute", { decided: Boolean(screen?.in_decided) }));
for (const button of all("button.other-list")) button.addEventListener("click", otherList);
find("input.rendered").addEventListener("change", () => screen?.item_id && showParts());

perform("show_dispute", { item_id: location.hash.slice(1) });
