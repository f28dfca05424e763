// The workbench. Runs once, with Gradio's `element` (the page's root) and `server` (the acts of
// workbench/desk.py). Views come as HTML with every text escaped; where the owner is stands in the
// address, so that a reload, the back button and a restart come back to it.

const find = (selector) => element.querySelector(selector);
const main = find(".view");
const owner = find("input[name=owner]");
const OWNER = "followupeval-owner"; // the one thing kept in the browser: who sits before it

let shown = 0; // counts views: what answers late for an earlier one is dropped
let pollTimer = null;
let draftTimer = null;
let trouble = ""; // what a view that could not be had said
let acting = null; // the reply to the act that is under way
let arriving = false; // an act leads elsewhere: what it said stays to be read
const waitingKeys = []; // pressed for a view that is not there yet

const place = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const named = (found) => ({ ...found, owner: owner.value.trim() });

function say(message, refused = false) {
  const line = find(".status");
  line.textContent = message;
  line.classList.toggle("refused", refused);
}

async function ask(act, data) {
  // Gradio's client answers nothing at all when the server cannot be reached.
  try {
    const reply = await server[act](data);
    if (reply) return reply;
  } catch {
    // said below
  }
  return { refused: true, lost: true, message: "The workbench does not answer. What is typed stays here; try again." };
}

// `calm` leaves the focus where it is; only the parts that live are replaced, unless all is wanted.
// Forms that pass `stays` are kept as they are typed.
async function showView({ calm = false, whole = !calm, stays = calm && !whole ? isChanged : () => false } = {}) {
  const number = ++shown;
  clearTimeout(pollTimer);
  main.setAttribute("aria-busy", "true");
  const asked = location.hash;
  const reply = await ask("show_view", named(place()));
  if (number !== shown) return;
  main.removeAttribute("aria-busy");
  if (reply.refused) {
    say(reply.message, true);
    trouble = reply.message;
    waitingKeys.length = 0;
    if (reply.lost || calm) pollTimer = setTimeout(() => showView({ calm, whole, stays }), 2000);
    return;
  }
  if (trouble && find(".status").textContent === trouble) say("");
  trouble = "";
  const waited = main.querySelector("[data-waiting]") || !main.firstElementChild;
  if (!whole && !waited) replaceLive(reply.html);
  else replaceAll(reply.html, calm, [...main.querySelectorAll("form[data-act]")].filter(stays));
  document.title = `${reply.title} · followupeval`;
  const view = place().view || "overview";
  for (const link of element.querySelectorAll(".top a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (reply.poll) pollTimer = setTimeout(() => showView({ calm: true }), reply.poll * 1000);
  main.dataset.place = asked; // whose view this is, for whoever waits for it
  waitingKeys.splice(0).forEach(press);
}

const elsewhere = () => main.dataset.place !== location.hash;

function replaceAll(html, calm, forms) {
  const fresh = document.createElement("div");
  fresh.innerHTML = html;
  const next = new Map();
  for (const form of forms) {
    const same = [...fresh.querySelectorAll("form")].find((each) => subjectOf(each) === subjectOf(form));
    if (!same) return; // what is typed belongs to what is on screen, which therefore stays
    next.set(same, form);
  }
  const focused = focusIn(main);
  const open = opened();
  for (const [same, form] of next) same.replaceWith(form);
  main.replaceChildren(...fresh.childNodes);
  if (calm) {
    reopen(open);
    focused?.();
  } else {
    main.querySelector("h1")?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
}

// What a form is about: its act, and what the page filled in but for what changes by saving.
const subjectOf = (form) =>
  [form.dataset.act, ...[...form.querySelectorAll("input[type=hidden]:not([name=seen])")].map((each) => each.value)].join();

// How to give the focus back after a replacement; null where `part` has it not.
function focusIn(part) {
  const at = document.activeElement;
  if (!part.contains(at)) return null;
  const nameOf = (each) =>
    [each.tagName, each.name, each.getAttribute("href"), each.type === "checkbox" ? each.value : "",
      each.matches("button, summary") ? each.textContent : "", each.getAttribute("aria-label")].join("|");
  const name = nameOf(at);
  return () => {
    const again = main.contains(at) ? at : [...main.querySelectorAll(at.tagName)].find((each) => nameOf(each) === name);
    (again ?? main.querySelector("h1"))?.focus({ preventScroll: true });
  };
}

function replaceLive(html) {
  const fresh = document.createElement("div");
  fresh.innerHTML = html;
  for (const part of main.querySelectorAll("[data-live]")) {
    const next = fresh.querySelector(`[data-live="${part.dataset.live}"]`);
    if (!next || next.innerHTML === part.innerHTML) continue;
    const focused = focusIn(part);
    const open = opened();
    part.innerHTML = next.innerHTML;
    reopen(open);
    focused?.();
  }
}

const opened = () => new Set([...main.querySelectorAll("details[open] > summary")].map((each) => each.textContent));
const reopen = (open) => {
  for (const summary of main.querySelectorAll("details > summary")) {
    if (open.has(summary.textContent)) summary.parentElement.open = true;
  }
};

function fieldsOf(form) {
  const fields = { causes: [] };
  for (const [name, value] of new FormData(form)) {
    if (name === "causes") fields.causes.push(value);
    else fields[name] = value;
  }
  return fields;
}

function setFields(form, fields = {}) {
  for (const [name, value] of Object.entries(fields)) form.elements[name].value = value;
}

const typedIn = (form) => JSON.stringify(fieldsOf(form));
const isChanged = (form) => form.dataset.typed !== undefined && form.dataset.typed !== typedIn(form);

// One act at a time; what was typed stays in the form unless the act was taken.
async function perform(form, act = form.dataset.act) {
  if (element.dataset.busy) return say("Still at the last act: that was not taken.", true);
  clearTimeout(draftTimer);
  element.dataset.busy = act;
  say("…");
  const sent = fieldsOf(form);
  acting = ask("do_act", { act, place: named(place()), fields: sent });
  const reply = await acting;
  delete element.dataset.busy;
  say(reply.message, reply.refused);
  if (reply.refused) return refused(form, reply);
  setFields(form, reply.fields);
  form.dataset.typed = JSON.stringify({ ...sent, ...reply.fields });
  if (reply.goto !== null && reply.goto !== location.hash) {
    arriving = true;
    location.hash = reply.goto;
  } else if (!reply.quiet) await showView({ calm: true, whole: true, stays: (each) => each === form && isChanged(form) });
}

// Where somebody else was first, theirs is shown beside what is typed, and the form knows of it.
async function refused(form, reply) {
  if (!reply.fields) return;
  setFields(form, reply.fields);
  await showView({ calm: true, whole: true, stays: (each) => each === form });
}

function keepDraft(form) {
  clearTimeout(draftTimer);
  const mine = (draftTimer = setTimeout(async () => {
    const reply = await ask("do_act", { act: "keep_form", place: named(place()), fields: fieldsOf(form) });
    if (draftTimer !== mine || element.dataset.busy) return; // newer words are on their way
    if (reply.refused) return say(reply.message, true);
    say(reply.message);
    if (!reply.quiet && form.isConnected) await showView({ calm: true });
  }, 350));
}

element.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  if (form.dataset.confirm && !confirmed(form)) return;
  await perform(form);
});

// Asked on the page: a dialog of the browser's would hold up everything else.
function confirmed(form) {
  const button = form.querySelector("button");
  if (button.dataset.asked) return true;
  const write = main.querySelector("form.write");
  const untouched = !main.querySelector(".diff");
  if (!write || untouched) return true;
  button.dataset.asked = "yes";
  button.textContent = "Yes, replace it";
  say(form.dataset.confirm, true);
  return false;
}

element.addEventListener("input", (event) => {
  const form = event.target.form;
  if (form?.dataset.draft) keepDraft(form);
});

element.addEventListener("focusin", (event) => {
  const form = event.target.form;
  if (form && form.dataset.typed === undefined) form.dataset.typed = typedIn(form);
});

element.addEventListener("change", (event) => {
  const form = event.target.form;
  if (!form || !("place" in form.dataset)) return;
  const next = { ...place(), ...fieldsOf(form) };
  delete next.causes;
  if (form.dataset.reset) next[form.dataset.reset] = "";
  location.hash = new URLSearchParams(Object.entries(next).filter(([, value]) => value)).toString();
});

owner.addEventListener("change", () => {
  localStorage.setItem(OWNER, owner.value.trim());
  showView({ stays: (form) => "saveOnLeave" in form.dataset && isChanged(form) });
});

element.addEventListener("click", async (event) => {
  const at = event.target.closest("button, a");
  if (!at) return;
  if (at.matches(".unfold")) {
    const text = at.previousElementSibling;
    const folded = text.classList.toggle("folded");
    at.dataset.label ??= at.textContent;
    at.textContent = folded ? at.dataset.label : "Show less";
    at.setAttribute("aria-expanded", String(!folded));
  } else if (at.matches(".copy")) {
    const command = at.previousElementSibling.textContent;
    try {
      await navigator.clipboard.writeText(command);
    } catch {
      getSelection().selectAllChildren(at.previousElementSibling);
    }
    say("Copied the command.");
  } else if (at.matches("button[type=button][data-act]")) {
    await perform(at.form, at.dataset.act);
  }
});

// Going elsewhere saves a note that was changed; where that is refused, one stays.
let staying = false;
let before = location.hash;
function stay() {
  if (location.hash === before) return;
  staying = true;
  location.hash = before;
}
window.addEventListener("hashchange", async () => {
  if (staying) return void (staying = false);
  const busy = element.dataset.busy && (await acting);
  if (busy?.refused) return stay();
  const form = main.querySelector("form[data-save-on-leave]");
  if (form && isChanged(form)) {
    const there = location.hash;
    clearTimeout(draftTimer);
    const reply = await ask("do_act", { act: form.dataset.act, place: named(place()), fields: fieldsOf(form) });
    if (reply.refused) {
      say(reply.message, true);
      stay();
      return refused(form, reply);
    }
    say(reply.message);
    if (location.hash !== there) return;
  } else if (!arriving && !busy) say("");
  arriving = false;
  before = location.hash;
  await showView();
});

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  const at = event.target;
  if (event.key === "Escape") return at.matches?.("textarea, select, input") ? at.blur() : undefined;
  if (at.isContentEditable || at.matches?.("textarea, select, input:not([type=radio], [type=checkbox])")) return;
  if (event.key === "Enter" && at.matches?.("button, summary, a, input[type=checkbox]")) return;
  const target = main.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!target) return;
  event.preventDefault();
  if (elsewhere()) waitingKeys.push(event.key);
  else press(event.key);
});

function press(key) {
  if (elsewhere()) return void waitingKeys.push(key);
  const target = main.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!target) return;
  if (target.matches("textarea")) target.focus();
  else if (target.matches("input[type=checkbox]")) {
    target.focus({ preventScroll: true }); // what stood before it was changed is known then
    target.click();
  } else if (target.matches("a")) location.hash = target.hash;
  else target.click();
}

owner.value = localStorage.getItem(OWNER) ?? "owner";
showView();
