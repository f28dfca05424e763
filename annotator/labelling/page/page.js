// The labelling page. Runs once, with Gradio's `element` (the page's root) and `server` (the acts
// of annotator/labelling/desk.py). What is shown and stored is decided there; the browser keeps
// nothing but the language of the page.

const find = (selector) => element.querySelector(selector);
const all = (selector) => [...element.querySelectorAll(selector)];
const root = find(".desk");
const form = find("form.verdict");
const asksName = root.dataset.asksName === "yes";
const ROLES = {
  system: "System message",
  user: "User asked",
  assistant: "Assistant said",
  answer: "Assistant answered",
  turn: "Next user turn — label this",
};
const ENDS = {
  finished: ["All done", "Every label is stored. You can close this page, or look at your items again."],
  waiting: [
    "Waiting for others",
    "The items that are left are with other people. One that is given up comes to you: look again in a while.",
  ],
  "none left": [
    "None left for you",
    "Some items still need a label from somebody else; you have done all that you can. Thank you.",
  ],
};
const AWAY_MS = 30 * 60 * 1000; // an open page that nobody has touched for so long keeps no item
const MARK_MS = 5000; // one mark of activity at most in this time
const MARKS = 2000;

let screen = null; // as sent by the server
let busy = false; // an act is under way: the page takes no other
let held = null; // a screen that waits until what comes before it was read
let draftTimer = null;
let renewTimer = null;
let touchedAt = performance.now();
let rubricVersion = root.dataset.rubric;
let lastReceipt = null; // of the label saved last, as far as this page knows
let guideFor = null; // whether the guidelines on the page are those of training

// --- Language -------------------------------------------------------------------------------

const WORDS = JSON.parse(root.dataset.words);
const LANGUAGE = "followupeval-language";
let language = "en";

// English is the key of every text; {names} in it are filled after it was translated.
function say(text, values = {}) {
  const said = WORDS[language]?.[text] ?? text;
  return said.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

function speak(code) {
  language = code in WORDS ? code : "en";
  root.lang = language;
  find("select.language").value = language;
  for (const text of all("[data-say]")) text.textContent = say(text.dataset.say);
  for (const named of all("[data-say-label]")) named.setAttribute("aria-label", say(named.dataset.sayLabel));
}

// --- Acts -----------------------------------------------------------------------------------

const NO_ANSWER = {
  refused: true,
  says: "Not saved: the server does not answer. Your choice is kept here; try again.",
};

async function ask(act, data) {
  // Gradio's client answers nothing at all when the server cannot be reached.
  try {
    return (await server[act]({ annotator: screen?.annotator, ...data })) ?? NO_ANSWER;
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

const tellReply = (reply) => tell(say(reply.says, reply.values), reply.refused);

// One act at a time: a key pressed while saving could only fall on an item not yet seen.
async function perform(act, data) {
  if (busy) return tell(say("Still saving: that key was not taken."), true);
  busy = true;
  clearTimeout(draftTimer);
  find(".lock").disabled = true;
  form.setAttribute("aria-busy", "true");
  tell(say("Saving…"));
  const reply = await ask(act, data);
  if (reply.stopped) return stop(reply, () => perform(act, data));
  find(".lock").disabled = false;
  if (reply.feedback) showFeedback(reply);
  else if (reply.screen) await show(reply.screen);
  form.removeAttribute("aria-busy");
  busy = false;
  tellReply(reply);
  lastReceipt = act === "take_back" ? null : (reply.values?.receipt ?? lastReceipt);
  // Training has ended meanwhile, by another tab or by the owner.
  if (act === "answer_training" && !reply.feedback && !reply.screen && reply !== NO_ANSWER) {
    return perform("open_screen", {});
  }
  recentAreStale();
}

// The store refuses: say so where nobody can overlook it, and take no label until it does not.
function stop(reply, again) {
  form.removeAttribute("aria-busy");
  find(".stopped .why").textContent = say(reply.says, reply.values);
  find(".stopped").hidden = false;
  find(".stopped").focus();
  tellReply(reply);
  find(".try-again").onclick = () => {
    find(".stopped").hidden = true;
    busy = false;
    again();
  };
}

const onScreen = () => ({ nonce: screen.nonce, item_id: screen.item_id });

const choice = () => ({
  category: form.elements.category.value || null,
  confidence: form.elements.confidence.value || null,
  note: form.elements.note.value,
  flagged: form.elements.flagged.checked,
});

// --- Activity: when something was done on the page, for the time that an item took -----------

let record = [];
let shownAt = performance.now();

function mark(kind, always = false) {
  touchedAt = performance.now();
  const at = Math.round(touchedAt - shownAt);
  const last = record.at(-1);
  if (!always && last?.[0] === kind && at - last[1] < MARK_MS) return;
  if (record.length < MARKS) record.push([kind, at]);
}

function startRecord() {
  shownAt = performance.now();
  record = [["shown", 0]];
  if (document.hidden) mark("hidden", true);
}

function finishedRecord() {
  const at = Math.round(performance.now() - shownAt);
  return [...record, ["saved", at]].slice(-MARKS);
}

for (const event of ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "touchmove"]) {
  document.addEventListener(event, () => mark("input"), { passive: true, capture: true });
}

// --- Screens --------------------------------------------------------------------------------

const SECTIONS = [".who", ".work", ".end", ".rubric-changed"];

function only(section) {
  for (const name of SECTIONS) find(name).hidden = name !== section;
}

async function show(next) {
  if (next.end === "training") return start(next.annotator); // asked for since the page was opened
  if (next.rubric_version !== rubricVersion) return announceRubric(next);
  screen = next;
  if (guideFor !== Boolean(next.training)) loadGuide(Boolean(next.training));
  showProgress();
  renewWhileOpen();
  if (next.end) return showEnd();
  find(".feedback").hidden = true;
  only(".work");
  root.classList.toggle("training", Boolean(next.training));
  find(".who-is").textContent = next.annotator;
  fill(next.choice);
  const saved = find(".saved");
  saved.hidden = !next.saved;
  saved.textContent = next.saved
    ? say("Saved before as: {label}. Submit again to change it.", { label: next.saved })
    : "";
  startRecord();
  await showParts();
  find(".work").focus({ preventScroll: true });
  find(".work").scrollIntoView({ block: "start" });
}

function showProgress() {
  const done = screen.labelled + screen.skipped;
  const values = { ...screen, done, percent: Math.floor((100 * screen.given) / (screen.wanted || 1)) };
  const parts = [
    say(screen.shared ? "{done} done by you, the study {percent} %" : "{done} of {wanted} done", values),
  ];
  if (screen.skipped) parts.push(say("({skipped} skipped)", values));
  for (const tally of all(".tally")) tally.textContent = parts.join(" ");
  find(".training-is").hidden = !screen.training;
  find(".training-is").textContent = screen.training ? say("Training, round {round}", screen.training) : "";
  const progress = find("progress");
  progress.max = screen.wanted || 1;
  progress.value = screen.given;
}

function showEnd() {
  only(".end");
  const [heading, explanation] = ENDS[screen.end];
  find("#end-heading").textContent = say(heading);
  find(".explanation").textContent = say(explanation);
  find(".look-again").hidden = screen.end === "finished" && !screen.shared;
  find(".review").hidden = !(screen.labelled + screen.skipped);
  find(".end").focus();
}

// In training the guidelines come without their examples, which may be what is asked.
async function loadGuide(inTraining) {
  guideFor = inTraining;
  const { rubric } = await ask("rubric_view", {});
  if (rubric) find(".guide").innerHTML = rubric.guidelines; // the server's own template
}

// Another rubric has come into force: no key means anything until its categories were shown.
async function announceRubric(next) {
  const reply = await ask("rubric_view", { annotator: next.annotator });
  if (!reply.rubric) return tellReply(reply);
  const { rubric } = reply;
  held = next;
  rubricVersion = next.rubric_version;
  guideFor = Boolean(next.training);
  // The server's own templates, escaped there.
  find(".choices").innerHTML = rubric.categories;
  find(".guide").innerHTML = rubric.guidelines;
  find(".changes").innerHTML = rubric.changed;
  find(".rubric-version").textContent = rubric.version;
  find("#changed-heading").textContent = say("The rubric is now {version}", rubric);
  only(".rubric-changed");
  find(".rubric-changed").focus();
}

function showFeedback(reply) {
  const { feedback, result } = reply;
  held = reply.screen ?? "open";
  find(".lock").disabled = true;
  find(".feedback").classList.toggle("right", feedback.correct);
  find("#feedback-heading").textContent = feedback.correct
    ? say("Right: {expected}", feedback)
    : say("You chose {given}. Right is: {expected}", feedback);
  find(".feedback .reason").textContent = feedback.why;
  find(".score").textContent = result ? score(result) : "";
  find(".feedback").hidden = false;
  find(".feedback").focus();
}

function score(result) {
  if (result.passed) {
    return say("{correct} of {total} right, {needed} were needed. Now the study begins.", result);
  }
  return say("{correct} of {total} right, {needed} are needed. Read the guidelines again; another round follows.", result);
}

async function goOn() {
  const next = held;
  held = null;
  find(".lock").disabled = false;
  find(".feedback").hidden = true;
  if (next === "open") return perform("open_screen", {});
  await show(next);
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
    if (!rendered) {
      tell(say("The rendered view is not to be had. {why}", { why: say(reply.says, reply.values) }), true);
    }
  }
  const parts = (rendered ?? shown.parts).map((part) => {
    const heading = part.role in ROLES ? say(ROLES[part.role]) : part.role;
    return partElement(part, heading, { rendered: Boolean(rendered), say, language });
  });
  find(".parts").replaceChildren(...parts);
}

// --- Drafts and leases ----------------------------------------------------------------------

function keepDraft() {
  clearTimeout(draftTimer);
  draftTimer = setTimeout(sendDraft, 300);
}

async function sendDraft() {
  clearTimeout(draftTimer);
  draftTimer = null;
  if (busy || held || !screen?.nonce || screen.training) return;
  const asked = screen.nonce;
  const reply = await ask("keep_draft", { ...onScreen(), choice: choice() });
  if (!busy && screen.nonce === asked) tellReply(reply);
}

function renewWhileOpen() {
  clearInterval(renewTimer);
  if (!screen.renew_after || !screen.nonce) return;
  renewTimer = setInterval(async () => {
    if (busy || performance.now() - touchedAt > AWAY_MS) return;
    const asked = screen.nonce;
    const reply = await ask("renew_lease", onScreen());
    if (!busy && screen.nonce === asked && reply.refused) tellReply(reply);
  }, screen.renew_after * 1000);
}

document.addEventListener("visibilitychange", () => {
  mark(document.hidden ? "hidden" : "visible", true);
  if (document.hidden && draftTimer) sendDraft();
});
window.addEventListener("pagehide", () => draftTimer && sendDraft());

// --- What people do -------------------------------------------------------------------------

function submit() {
  const data = { ...onScreen(), choice: choice(), activity: finishedRecord() };
  return perform(screen.training ? "answer_training" : "save_label", data);
}

function skip() {
  const reason = form.elements.reason;
  if (!reason.value) {
    reason.focus();
    return tell(say("Choose a reason for skipping (arrow keys), then press Enter."), true);
  }
  const data = { ...onScreen(), reason: reason.value, choice: choice(), activity: finishedRecord() };
  return perform("skip_item", data);
}

function pick(key) {
  const input = find(`input[data-key="${CSS.escape(key)}"]`);
  if (!input) return false;
  if (busy) {
    tell(say("Still saving: that key was not taken."), true);
    return true;
  }
  input.checked = true;
  input.focus({ preventScroll: true });
  keepDraft();
  return true;
}

const leave = (act) => perform(act, { ...onScreen(), choice: choice() });
const review = () => perform("review_items", {});
const undo = () => perform("take_back", { receipt: lastReceipt });

function guidelines(open) {
  find(".guidelines").open = open;
  if (open) find(".guidelines summary").focus();
}

// --- My last labels -------------------------------------------------------------------------

function recentAreStale() {
  if (find(".recent").open) listRecent();
}

async function listRecent() {
  const reply = await ask("recent_labels", {});
  if (!reply.recent) return tellReply(reply);
  find(".recent ol").replaceChildren(...reply.recent.map(recentElement));
  if (!reply.recent.length) find(".recent ol").textContent = say("Nothing yet.");
}

function recentElement(said) {
  const line = document.createElement("li");
  const about = document.createElement("div");
  const turn = document.createElement("div");
  turn.className = "turn";
  turn.dir = "auto";
  turn.lang = "";
  turn.innerHTML = said.html; // escaped by the server
  const what = document.createElement("div");
  const at = new Date(said.saved_at).toLocaleString(language);
  what.textContent = `${said.saved} · ${say("receipt {receipt}", said)} · ${at}`;
  about.append(what, turn);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = say("Look at it");
  button.setAttribute("aria-label", say("Look at it: receipt {receipt}", said));
  button.addEventListener("click", () => perform("revisit_item", { item_id: said.item_id }));
  line.append(about, button);
  return line;
}

find(".recent").addEventListener("toggle", recentAreStale);

// --- Keys -----------------------------------------------------------------------------------

const STUDY_KEYS = {
  b: () => leave("go_back"),
  n: () => leave("go_forward"),
  s: skip,
  u: undo,
  l: () => {
    const recent = find(".recent");
    recent.open = !recent.open;
    if (recent.open) find(".recent summary").focus();
  },
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
  if (typing || !(screen || held) || !find(".stopped").hidden) return;
  const pressed = at.matches?.("button, summary, a, input[type=checkbox]");
  if (held) {
    if (event.key === "Enter" && !pressed) {
      event.preventDefault();
      goOn();
    } else if (event.key === "g") guidelines(!find(".guidelines").open);
    return;
  }
  if (screen.end) return event.key === "b" && !find(".review").hidden ? review() : undefined;
  if (event.key === "Enter") {
    if (pressed) return;
    event.preventDefault();
    submit();
  } else if (pick(event.key)) {
    event.preventDefault();
  } else if (event.key === "g") {
    event.preventDefault();
    guidelines(!find(".guidelines").open);
  } else if (STUDY_KEYS[event.key] && !screen.training) {
    event.preventDefault();
    STUDY_KEYS[event.key]();
  }
});

form.addEventListener("input", keepDraft);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!held) submit();
});
find("button.back").addEventListener("click", STUDY_KEYS.b);
find("button.forward").addEventListener("click", STUDY_KEYS.n);
find("button.undo").addEventListener("click", undo);
find("button.skip-it").addEventListener("click", skip);
find("input.rendered").addEventListener("change", () => screen && showParts());
find("button.review").addEventListener("click", review);
find("button.look-again").addEventListener("click", () => perform("open_screen", {}));
for (const button of all("button.go-on")) button.addEventListener("click", goOn);
find("select.language").addEventListener("change", (event) => {
  localStorage.setItem(LANGUAGE, event.target.value);
  speak(event.target.value);
  if (!screen) return;
  showProgress();
  if (screen.end) showEnd();
  else if (!held) showParts();
});

// --- Start ----------------------------------------------------------------------------------

async function start(annotator) {
  const reply = await ask("open_screen", { annotator });
  if (reply.stopped) return stop(reply, () => start(annotator));
  if (reply.screen) return show(reply.screen);
  only(".who");
  find(".who label").hidden = !asksName;
  find(".who button").textContent = asksName ? say("Start") : say("Try again");
  tellReply(reply);
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

speak(localStorage.getItem(LANGUAGE) ?? navigator.language.slice(0, 2));
const named = new URLSearchParams(location.search).get("annotator");
if (named || !asksName) start(named ?? "");
else {
  only(".who");
  find(".who input").focus();
}
