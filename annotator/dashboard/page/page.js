// The dashboard. Runs once, with Gradio's `element` (the page's root) and `server` (the act of
// dashboard/desk.py). Views come as HTML with every text escaped; where the owner is stands in the
// address. New numbers take the place of old ones without moving focus or scroll.

const find = (selector) => element.querySelector(selector);
const main = find(".view");
const LOST = 5; // seconds until a page that got no answer asks again

let shown = 0; // counts views: what answers late for an earlier one is dropped
let timer = null;
let trouble = ""; // what a view that could not be had said
let latest = ""; // the HTML of the view as it came

const place = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

function say(message, refused = false) {
  const line = find(".status");
  line.textContent = message;
  line.classList.toggle("refused", refused);
}

async function ask(data) {
  // Gradio's client answers nothing at all when the server cannot be reached.
  try {
    const reply = await server.show_dashboard(data);
    if (reply) return reply;
  } catch {
    // said below
  }
  return { refused: true, lost: true, message: "The dashboard does not answer; it is asked again." };
}

// `calm`: the same place again, so the focus stays where it is and nothing is announced.
async function showView({ calm = false, at_once = false } = {}) {
  const number = ++shown;
  clearTimeout(timer);
  if (!calm) main.setAttribute("aria-busy", "true");
  const asked = location.hash;
  const reply = await ask({ ...place(), at_once });
  if (number !== shown) return;
  main.removeAttribute("aria-busy");
  if (reply.refused) {
    say(reply.message, true);
    trouble = reply.message;
    if (reply.lost) later(LOST);
    return;
  }
  if (trouble && find(".status").textContent === trouble) say("");
  trouble = "";
  if (!calm) replace(reply.html);
  else if (!choosing() && reply.html !== latest) replaceCalmly(reply.html);
  main.dataset.place = asked; // whose view this is, for whoever waits for it
  document.title = `${reply.title} · followupeval`;
  const view = place().view || "overview";
  for (const link of element.querySelectorAll(".top a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  later(reply.poll);
}

// Nobody computes for a page that nobody sees.
function later(seconds) {
  clearTimeout(timer);
  timer = setTimeout(() => (document.hidden ? later(seconds) : showView({ calm: true })), seconds * 1000);
}

// A list that is open, or words that are selected, would be torn from under the hand.
const choosing = () =>
  (document.activeElement?.matches("select") && main.contains(document.activeElement)) ||
  (!getSelection().isCollapsed && main.contains(getSelection().anchorNode));

function replace(html) {
  latest = html;
  main.innerHTML = html;
  main.querySelector("h1")?.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function replaceCalmly(html) {
  const at = document.activeElement;
  const name = main.contains(at) ? nameOf(at) : null;
  const open = new Set([...main.querySelectorAll("details[open] > summary")].map((each) => each.textContent));
  const unfolded = [...main.querySelectorAll(".unfold")].map((each) => each.getAttribute("aria-expanded") === "true");
  const scrolled = [...main.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
  latest = html;
  main.innerHTML = html;
  for (const summary of main.querySelectorAll("details > summary")) {
    if (open.has(summary.textContent)) summary.parentElement.open = true;
  }
  main.querySelectorAll(".unfold").forEach((each, n) => unfolded[n] && unfold(each));
  main.querySelectorAll(".scroll").forEach((each, n) => (each.scrollLeft = scrolled[n] ?? 0));
  if (name === null) return;
  const again = [...main.querySelectorAll(at.tagName)].find((each) => nameOf(each) === name);
  (again ?? main.querySelector("h1"))?.focus({ preventScroll: true });
}

const nameOf = (each) =>
  [each.tagName, each.name, each.getAttribute("href"),
    each.getAttribute("href") ? "" : each.getAttribute("aria-label") ?? "",
    each.matches("button, summary") ? each.textContent : ""].join("|");

function unfold(button) {
  const folded = button.previousElementSibling.classList.toggle("folded");
  button.dataset.label ??= button.textContent;
  button.textContent = folded ? button.dataset.label : "Show less";
  button.setAttribute("aria-expanded", String(!folded));
}

element.addEventListener("submit", (event) => event.preventDefault());

element.addEventListener("change", (event) => {
  const form = event.target.form;
  if (!form || !("place" in form.dataset)) return;
  const next = { ...place(), ...Object.fromEntries(new FormData(form)) };
  location.hash = new URLSearchParams(Object.entries(next).filter(([, value]) => value)).toString();
});

element.addEventListener("click", async (event) => {
  const at = event.target.closest("button");
  if (!at) return;
  if (at.matches(".unfold")) unfold(at);
  else if (at.matches(".refresh")) {
    say("…");
    await showView({ calm: true, at_once: true });
    if (!trouble) say("The numbers are those of now.");
  } else if (at.matches(".copy")) {
    const command = at.previousElementSibling;
    try {
      await navigator.clipboard.writeText(command.textContent);
      say("Copied the command.");
    } catch {
      getSelection().selectAllChildren(command);
      say("The command is selected; copy it with Ctrl+C.");
    }
  }
});

window.addEventListener("hashchange", () => {
  say("");
  showView();
});

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.isContentEditable || event.target.matches?.("textarea, select, input")) return;
  const target = main.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!target || main.dataset.place !== location.hash) return;
  event.preventDefault();
  location.hash = target.getAttribute("href");
});

showView();
