// The page: where one is stands in the address, so that every view can be linked and gone back to.

const VIEWS = ["overview", "turns", "statements", "tables", "provenance"];
const main = find("main");
let shown = 0; // counts views: what arrives late for an earlier one is dropped
let before = null;

const place = () => Object.fromEntries([...new URLSearchParams(location.hash.slice(1))].filter(([, value]) => value));
const link = (next) => `#${new URLSearchParams(Object.entries(next).filter(([, value]) => value))}`;

function viewOf(at) {
  if (at.row) return "row";
  return VIEWS.includes(at.view) && find(`[data-views~="${at.view}"]`) ? at.view : "overview";
}

async function show({ scroll = 0, focus = true } = {}) {
  const number = ++shown;
  const current = () => number === shown;
  const at = place();
  const view = viewOf(at);
  for (const part of document.querySelectorAll("[data-views]")) part.hidden = !part.dataset.views.split(" ").includes(view);
  for (const to of document.querySelectorAll("[data-view]")) {
    const { row, page, ...rest } = at;
    to.href = link({ ...rest, view: to.dataset.view });
    if ((to.dataset.view || "overview") === (view === "row" ? "turns" : view)) to.setAttribute("aria-current", "page");
    else to.removeAttribute("aria-current");
  }
  const heading = find(`[data-views~="${view}"] h2[tabindex]`);
  document.title = `${view === "row" ? `Turn ${at.row}` : heading.textContent} · ${find("h1").textContent}`;
  if (view === "overview" || view === "turns") {
    showFilters(at);
    find(".found").textContent = foundText(at);
  }
  if (view === "overview") {
    showLabels(at);
    showCells(at);
  }
  if (view === "turns") await showTurns(at, current);
  if (view === "row") await showRow(at, current);
  if (!current()) return;
  const elsewhere = before !== null && before !== `${view} ${at.page} ${at.row}`;
  before = `${view} ${at.page} ${at.row}`;
  if (elsewhere && focus) {
    heading.focus({ preventScroll: true });
    window.scrollTo(0, scroll);
  }
  main.dataset.shown = location.hash; // whose view this is, for whoever waits for it
}

// How far one had scrolled is kept with the address that one leaves, for the way back.
function go(to) {
  history.replaceState({ scroll: window.scrollY }, "");
  location.hash = to.slice(1);
}

document.addEventListener("click", (event) => {
  const to = event.target.closest("a[href^='#'], button");
  if (!to) return;
  if (to.matches("a")) {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) history.replaceState({ scroll: window.scrollY }, "");
  } else if (to.dataset.sort) {
    // Another order is no other place: it takes the address's place, and the focus stays.
    history.replaceState(history.state, "", link({ ...place(), sort: to.dataset.sort }));
    show().then(() => find(`.cells button[data-sort$="${to.dataset.sort.replace(/^-/, "")}"]`).focus());
  } else if (to.matches(".unfold")) {
    const folded = to.previousElementSibling.classList.toggle("folded");
    to.dataset.label ??= to.textContent;
    to.textContent = folded ? to.dataset.label : "Show less";
    to.setAttribute("aria-expanded", String(!folded));
  }
});

document.addEventListener("submit", (event) => event.preventDefault());

document.addEventListener("change", (event) => {
  const { name, value } = event.target;
  const { page, ...rest } = place();
  go(link({ ...rest, [name]: name === "page" && value === "1" ? "" : value }));
});

history.scrollRestoration = "manual"; // the browser would do it before the turns are there
window.addEventListener("popstate", (event) => show({ scroll: event.state?.scroll ?? 0 }));
show();
