// When something was done on the page, for the time that an item took.

const MARK_MS = 5000; // one mark of activity at most in this time
const MARKS = 2000;

let record = [];
let shownAt = performance.now();
let touchedAt = performance.now();

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
