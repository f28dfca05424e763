// The cells of the run and their filters. All that is counted here was counted per cell and label
// when the page was made; nothing is estimated anew.
"use strict";

const find = (selector, within = document) => within.querySelector(selector);
const data = JSON.parse(find("#data").textContent);
const KEYS = ["model", "dataset", "setting", "temperature", "perturbation", "condition"];
const NAMES = { model: "Model", dataset: "Data set", setting: "Setting", temperature: "T", perturbation: "Perturbation", condition: "Condition" };
const UNJUDGED = data.labels.at(-1).id;
const labelOf = new Map(data.labels.map((label) => [label.id, label]));
const conditions = data.cells.some((cell) => cell.condition);

// Groups follow one another among the turns, so each is a range of places.
let turns = 0;
const groups = data.groups.map(([cell, label, count, genuine]) => {
  const group = { cell: data.cells[cell], label: data.labels[label], turns: count, genuine, start: turns };
  turns += count;
  return group;
});

const fits = (cell, place, but) => KEYS.every((key) => key === but || !place[key] || cell[key] === place[key]);
const groupsOf = (place, but) =>
  groups.filter((group) => fits(group.cell, place, but) && (but === "label" || !place.label || group.label.id === place.label));
const sum = (found, of = (group) => group.turns) => found.reduce((total, group) => total + of(group), 0);
const count = (number) => number.toLocaleString("en");
const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
const percent = (share) => (100 * share).toFixed(1);

function element(tag, attributes = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}

// An estimate is [value, low, high], or [value or null, why there is no more].
const isWhole = (estimate) => estimate?.length === 3;
function estimated(estimate) {
  if (!estimate) return "–";
  const [value, ...more] = estimate;
  if (value === null) return more[0];
  return `${percent(value)} ${isWhole(estimate) ? `[${more.map(percent).join("–")}]` : `(${more[0]})`}`;
}

function showFilters(place) {
  for (const select of document.querySelectorAll(".filters select")) {
    const key = select.name;
    const byValue = new Map(key === "label" ? data.labels.map((label) => [label.id, 0]) : data.cells.map((cell) => [cell[key], 0]));
    if (place[key] !== undefined && !byValue.has(place[key])) byValue.set(place[key], 0);
    for (const group of groupsOf(place, key)) {
      const value = key === "label" ? group.label.id : group.cell[key];
      byValue.set(value, byValue.get(value) + group.turns);
    }
    const all = [...byValue.values()].reduce((total, number) => total + number, 0);
    const options = [["", `all (${count(all)})`], ...ordered(key, byValue).map(([value, number]) => [value, `${labelOf.get(key === "label" && value)?.name ?? value} (${count(number)})`])];
    select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
    select.value = place[key] ?? "";
    select.classList.toggle("set", Boolean(place[key]));
    select.parentElement.hidden = key === "condition" && !conditions;
  }
  find(".filters .clear").hidden = ![...KEYS, "label"].some((key) => place[key]);
  find(".filters .clear").href = link({ view: place.view });
}

const ordered = (key, byValue) =>
  key === "label" ? [...byValue] : [...byValue].filter(([value]) => value).sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }));

// What the filters leave, in words. An interval is a cell's own: of several cells together there
// is none here, since turns of one conversation are alike and stand in many cells.
function foundText(place) {
  const base = groupsOf(place, "label");
  const chosen = place.label ? base.filter((group) => group.label.id === place.label) : base;
  const cells = new Set(base.map((group) => group.cell));
  const judged = sum(base.filter((group) => group.label.id !== UNJUDGED));
  if (!sum(chosen)) return place.label && sum(base) ? `None of ${counted(sum(base), "turn")} has this label.` : "No turn fits these filters.";
  if (place.label) return `${counted(sum(chosen), "turn")} of ${count(sum(base))} in ${counted(cells.size, "cell")}.`;
  const size = `${counted(sum(base), "turn")} in ${counted(cells.size, "cell")}`;
  if (!judged) return `${size}, none of them judged.`;
  const [cell] = cells;
  if (cells.size === 1 && cell.rates[""]) {
    const [raw, corrected] = cell.rates[""].map(estimated);
    return `${size}, ${count(judged)} judged. Genuine follow-ups: ${corrected} % corrected, ${raw} % as judged.`;
  }
  const share = percent(sum(base, (group) => group.genuine) / judged);
  return `${size}, ${count(judged)} judged. Genuine follow-ups: ${share} % as judged, cells pooled; intervals and corrections are per cell.`;
}

function showLabels(place) {
  const base = groupsOf(place, "label");
  const all = sum(base);
  const rows = data.labels.map((label) => {
    const number = sum(base.filter((group) => group.label === label));
    if (label.sigma === null && !number) return "";
    const bar = element("span", { class: `bar${label.sigma ? " genuine" : ""}${label.sigma === null ? " none" : ""}` });
    bar.style.width = `${all ? (100 * number) / all : 0}%`;
    const here = place.label === label.id;
    const to = element("a", { href: link({ ...place, page: "", label: here ? "" : label.id }), "aria-current": here ? "true" : null }, label.name);
    return element("tr", { class: here ? "chosen" : null }, element("th", { scope: "row" }, to), element("td", {}, count(number)), element("td", {}, all ? percent(number / all) : "–"), element("td", { class: "wide" }, bar));
  });
  find(".labels tbody").replaceChildren(...rows);
  find(".several").hidden = !data.severalRuns;
  if (data.severalRuns) find(".several").textContent = `A turn stands under the label that most of its ${data.severalRuns} runs gave; rates count every run.`;
}

const COLUMNS = [
  ...KEYS.filter((key) => key !== "condition" || conditions).map((key) => ({ key, name: NAMES[key], value: (cell) => cell[key] })),
  { key: "turns", name: "Turns", number: true, value: (cell) => cell.turns },
  { key: "raw", name: "As judged, %", number: true, value: (cell, rate) => rate?.[0][0] ?? null },
  { key: "corrected", name: "Corrected, %", number: true, value: (cell, rate) => rate?.[1][0] ?? null },
  { key: "bar", name: "" },
  { key: "k", name: "k", number: true, value: (cell) => cell.k },
  { key: "unjudged", name: "Not judged", number: true, value: (cell) => cell.unjudged },
];

function showCells(place) {
  const label = labelOf.get(place.label);
  const rateOf = (cell) => cell.rates[place.label ?? ""];
  const cells = sorted(data.cells.filter((cell) => fits(cell, place)), place.sort ?? "", rateOf);
  const end = axisEnd(data.cells.map(rateOf));
  find(".about-cells").textContent =
    `${counted(cells.length, "cell")}. Rates are of ${label ? `the label “${label.name}”` : "genuine follow-ups"}, with 95% intervals by conversation; ` +
    `a bar is the corrected rate, or where there is none the one as judged (hollow). k: samples of each turn.`;
  find(".cells thead tr").replaceChildren(...COLUMNS.map((column) => heading(column, place, end)));
  find(".cells tbody").replaceChildren(...cells.map((cell) => row(cell, rateOf(cell), end, place)));
}

function heading(column, place, end) {
  const attributes = { scope: "col", class: column.number ? null : "left" };
  if (!column.value) return element("td", { class: "bars" }, element("span", { class: "axis" }, element("span", {}, "0"), element("span", {}, `${percent(end).replace(".0", "")} %`)));
  const [by, falls] = [(place.sort ?? "").replace(/^-/, ""), place.sort?.startsWith("-")];
  const here = by === column.key;
  if (here) attributes["aria-sort"] = falls ? "descending" : "ascending";
  const first = column.number ? `-${column.key}` : column.key; // of numbers one wants the largest
  const second = column.number ? column.key : `-${column.key}`;
  return element("th", attributes, element("button", { type: "button", "data-sort": here && place.sort === first ? second : first }, column.name));
}

function row(cell, rate, end, place) {
  const here = Object.fromEntries(KEYS.filter((key) => cell[key]).map((key) => [key, cell[key]]));
  const [raw, corrected] = rate ?? [];
  const inside = COLUMNS.map((column) => {
    if (column.key === "model") return element("th", { scope: "row" }, element("bdi", {}, cell.model));
    if (column.key === "turns") {
      const to = link({ ...here, label: place.label, view: "turns" });
      return element("td", {}, cell.turns ? element("a", { href: to, "aria-label": `${counted(cell.turns, "turn")} of this cell` }, count(cell.turns)) : "0");
    }
    if (column.key === "raw") return element("td", { class: "rate" }, rate ? estimated(raw) : cell.gap ?? "–");
    if (column.key === "corrected") return element("td", { class: "rate" }, rate ? estimated(corrected) : cell.gap ?? "–");
    if (column.key === "bar") return element("td", { class: "bars" }, bar(corrected?.[0] == null ? raw : corrected, end, corrected?.[0] == null));
    if (column.number) return element("td", { class: column.value(cell) ? null : "muted" }, column.value(cell) === null ? "–" : count(column.value(cell)));
    return element("td", { class: "left" }, element("bdi", {}, cell[column.key]));
  });
  return element("tr", { class: cell.gap ? "gap" : null }, ...inside);
}

// The numbers stand beside it, so that it is hidden from those who cannot see it.
function bar(estimate, end, hollow) {
  const track = element("span", { class: `track${hollow ? " hollow" : ""}`, "aria-hidden": "true" });
  const at = (share) => `${(100 * Math.min(share, end)) / end}%`;
  if (isWhole(estimate)) {
    const range = element("span", { class: "range" });
    range.style.left = at(estimate[1]);
    range.style.right = `calc(100% - ${at(estimate[2])})`;
    track.append(range);
  }
  if (estimate && estimate[0] !== null) {
    const point = element("span", { class: "point" });
    point.style.left = at(estimate[0]);
    track.append(point);
  }
  return track;
}

// Up to the next tenth that all intervals but the widest few fit in.
function axisEnd(rates) {
  const ends = rates.flatMap((rate) => (rate ? rate.filter(isWhole).map((estimate) => estimate[2]) : []));
  return Math.min(1, Math.max(0.1, Math.ceil(10 * Math.max(0, ...ends)) / 10));
}

// A cell without a value comes last, whichever way.
function sorted(cells, sort, rateOf) {
  const column = COLUMNS.find((each) => each.value && each.key === sort.replace(/^-/, ""));
  if (!column) return cells;
  const way = sort.startsWith("-") ? -1 : 1;
  const valued = cells.map((cell) => [column.value(cell, rateOf(cell)), cell]);
  const compare = ([one], [other]) =>
    one === null || other === null ? (one === null) - (other === null)
      : way * (typeof one === "number" ? one - other : one.localeCompare(other, "en", { numeric: true }));
  return valued.sort(compare).map(([, cell]) => cell);
}
