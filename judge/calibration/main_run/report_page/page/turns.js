// The single turns. They lie in files of `perFile` beside the page, each of which hands over its
// turns by calling `turnsArrived`: a page that is opened from a folder can read no other way.

const PAGE = 25;
const KEPT = 30; // files in memory: a page of a rare label can rest on as many as it has turns
const LONG = 1200; // characters, from which on a text is folded
const files = new Map(); // promises by number, the one asked for last at the end
const waiting = new Map();

window.turnsArrived = (number, text) => {
  waiting.get(number)?.(JSON.parse(text));
  waiting.delete(number);
};

function load(number) {
  const asked = files.get(number) ?? new Promise((resolve, reject) => {
    const script = element("script", { src: `turns/${String(number).padStart(5, "0")}.js` });
    script.onload = script.onerror = () => {
      script.remove();
      if (!waiting.delete(number)) return; // it arrived
      files.delete(number);
      reject(new Error(`${script.getAttribute("src")} cannot be read; it belongs beside index.html, as the report was written.`));
    };
    waiting.set(number, resolve);
    document.head.append(script);
  });
  files.delete(number);
  files.set(number, asked);
  if (files.size > KEPT) files.delete(files.keys().next().value);
  return asked;
}

// The turn at a place, with its file's answers and conversations.
async function turnAt(number) {
  const file = await load(Math.floor(number / data.perFile));
  const turn = file.turns[number % data.perFile];
  const answer = file.answers[turn.row.answer_id];
  return { number, turn, answer, conversation: file.conversations[answer.row.conversation_id], group: groupAt(number) };
}

const groupAt = (number) => groups.find((group) => number < group.start + group.turns);

// Places of a page's turns: what a filter leaves is a union of ranges.
function placesOf(found, first) {
  const places = [];
  for (const group of found) {
    if (first >= group.turns) { first -= group.turns; continue; }
    const taken = Math.min(group.turns - first, PAGE - places.length);
    for (let at = 0; at < taken; at++) places.push(group.start + first + at);
    if (places.length === PAGE) break;
    first = 0;
  }
  return places;
}

async function showTurns(place, current) {
  const found = groupsOf(place);
  const all = sum(found);
  const pages = Math.max(1, Math.ceil(all / PAGE));
  const page = Math.min(pages, Math.max(1, Math.floor(Number(place.page)) || 1));
  const first = PAGE * (page - 1);
  const to = (number) => link({ ...place, page: number > 1 ? number : "" });
  const words = all ? `${count(first + 1)}–${count(Math.min(all, first + PAGE))} of ${counted(all, "turn")}` : "no turn";
  showPager(page > 1 && to(page - 1), words, page < pages && to(page + 1), pages > 1 && element("label", {}, "Page ", element("input", { type: "number", name: "page", min: 1, max: pages, value: page }), ` of ${count(pages)}`));
  await showArticles(placesOf(found, first), current);
}

async function showRow(place, current) {
  const number = Number(place.row); // from 1 on
  if (!Number.isInteger(number) || number < 1 || number > turns) {
    showPager(false, `There is no turn ${place.row} among ${count(turns)}.`, false);
    return find(".list").replaceChildren();
  }
  const { cell, label, start } = groupAt(number - 1);
  const here = Object.fromEntries(KEYS.map((key) => [key, cell[key]]));
  const page = Math.ceil((number - start) / PAGE);
  showPager(
    number > 1 && link({ row: number - 1 }), `turn ${count(number)} of ${count(turns)}`, number < turns && link({ row: number + 1 }),
    element("a", { href: link({ ...here, label: label.id, view: "turns", page: page > 1 ? page : "" }) }, "Among those of its cell and label"),
  );
  await showArticles([number - 1], current);
  const raw = find(".list .raw");
  if (raw) raw.open = true;
}

function showPager(before, words, after, more) {
  for (const pager of document.querySelectorAll(".pager")) {
    const inside = [
      before ? element("a", { class: "button", rel: "prev", href: before }, "Previous") : "",
      element("span", {}, words),
      after ? element("a", { class: "button", rel: "next", href: after }, "Next") : "",
    ];
    pager.replaceChildren(...inside, more ? more.cloneNode(true) : "");
  }
}

async function showArticles(places, current) {
  const list = find(".list");
  list.setAttribute("aria-busy", "true");
  let shown;
  try {
    shown = (await Promise.all(places.map(turnAt))).map(article);
  } catch (error) {
    shown = [element("p", { class: "notice", role: "alert" }, error.message)];
  }
  if (!current()) return; // one has gone elsewhere meanwhile
  list.replaceChildren(...shown);
  list.removeAttribute("aria-busy");
}

function article(told) {
  const { number, turn, answer, conversation, group } = told;
  const made = find("#turn").content.cloneNode(true).firstElementChild;
  const title = find(".which", made);
  title.textContent = `Turn ${count(number + 1)}`;
  title.href = link({ row: number + 1 });
  find(".label", made).append(badge(group.label));
  find(".made", made).append(...madeOf(turn, group.cell));
  if (turn.html === null) find(".said", made).append(element("p", { class: "withheld" }, `q, a, u and the rationale are ${data.withheld}.`));
  else find(".said", made).append(...messagesOf(conversation), part("a · the answer", answer.html, "a"), part("u · the user turn", turn.html, "u"));
  const verdicts = turn.verdicts.map((verdict) => said(verdict, turn.verdicts.length));
  find(".verdicts", made).append(...verdicts, people(turn.people, group.label));
  const raw = find(".raw", made);
  raw.addEventListener("toggle", () => { if (raw.open) find("pre", raw).textContent = rawRow(told); });
  return made;
}

const messagesOf = ({ messages }) =>
  messages.map(({ role, html }, at) => part(at === messages.length - 1 ? `q · ${role}` : role, html, "q"));

const badge = (label) =>
  element("span", { class: `badge${label.sigma ? " genuine" : ""}${label.sigma === null ? " none" : ""}` }, label.name + (label.sigma === null ? "" : `, σ = ${label.sigma}`));

function madeOf(turn, cell) {
  const facts = [
    element("bdi", {}, cell.model), element("bdi", {}, cell.dataset), cell.setting, `T = ${cell.temperature}`, `sample ${turn.row.sample_index}`,
    cell.perturbation === "none" ? "" : `perturbed: ${cell.perturbation}`, cell.condition,
  ];
  const flags = turn.row.flags.map((flag) => element("span", { class: "flag" }, `flag: ${flag}`));
  return [...facts.filter(Boolean), ...flags].flatMap((fact, at) => (at ? [" · ", fact] : [fact]));
}

// `html` has every text escaped; null is one that is withheld.
function part(name, html, kind) {
  const made = find("#part").content.cloneNode(true).firstElementChild;
  made.classList.add(kind);
  find("h4", made).textContent = name;
  const text = find(".text", made);
  if (html) text.innerHTML = html;
  else text.append(element("em", { class: "muted" }, html === null ? data.withheld : "(empty)"));
  const size = text.textContent.length;
  if (size > LONG) {
    text.classList.add("folded");
    made.append(element("button", { type: "button", class: "unfold", "aria-expanded": "false" }, `Show all ${count(size)} characters`));
  }
  return made;
}

function said(verdict, runs) {
  const of = runs > 1 ? ` of run ${verdict.row.run_index}` : "";
  const label = labelOf.get(verdict.row.label);
  if (verdict.html === null) return runs > 1 ? element("p", {}, `Judge${of}: ${label?.name ?? "unreadable"}`) : "";
  if (!label) return part(`Judge${of}: unreadable, ${verdict.row.invalid_reason}; it wrote`, verdict.html, "verdict");
  return part(runs > 1 ? `Rationale${of}: ${label.name}` : "The judge’s rationale", verdict.html, "verdict");
}

function people(found, judged) {
  if (!found) return element("p", { class: "muted" }, "Nobody labelled this item.");
  const names = found.counts.map(([label, number]) => `${number} × ${labelOf.get(label)?.name ?? label}`);
  if (found.skipped) names.push(`${found.skipped} × skipped`);
  const reference = labelOf.get(found.reference);
  const differs = reference && judged.sigma !== null && reference !== judged;
  return element(
    "div", { class: "people" }, element("h4", {}, "People"),
    element("p", {}, "Reference label: ", element("strong", {}, reference?.name ?? "none"), differs ? element("span", { class: "flag" }, "not the judge’s") : ""),
    element("p", { class: "muted" }, names.join(", ")),
  );
}

const textOf = (html) => {
  if (html === null) return data.withheld;
  const made = document.createElement("template");
  made.innerHTML = html;
  return made.content.textContent;
};

// Everything stored of the row. What is invisible is written as JSON may write it, so that a copy is
// still the row.
function rawRow({ number, turn, answer, conversation, group }) {
  const row = {
    row: number + 1,
    label: group.label.id,
    runs: turn.runs,
    turn: { ...turn.row, text: textOf(turn.html) },
    answer: { ...answer.row, text: textOf(answer.html) },
    conversation: { ...conversation.row, messages: conversation.messages.map(({ role, html }) => ({ role, content: textOf(html) })) },
    judgments: turn.verdicts.map((verdict) => ({ ...verdict.row, [verdict.row.label === null ? "raw" : "rationale"]: textOf(verdict.html) })),
    people: turn.people,
  };
  return JSON.stringify(row, null, 2).replace(/[\p{C}\p{Z}]/gu, (found) =>
    found === " " || found === "\n" ? found : [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""));
}
