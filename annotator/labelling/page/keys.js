// What people do, by key or by button.

const KEYS = "followupeval-keys";

function submit() {
  const data = { ...onScreen(), choice: choice(), activity: finishedRecord() };
  return perform(screen.training ? "answer_training" : "save_label", data);
}

function skip() {
  const reason = form.elements.reason;
  if (!reason.value) {
    reason.focus();
    return tell("Choose a reason for skipping (arrow keys), then press Enter.", true);
  }
  const data = { ...onScreen(), reason: reason.value, choice: choice(), activity: finishedRecord() };
  return perform("skip_item", data);
}

function pick(key) {
  const input = find(`input[data-key="${CSS.escape(key)}"]`);
  if (!input) return false;
  if (busy) tellBusy();
  else {
    input.checked = true;
    input.focus({ preventScroll: true });
    keepDraft();
  }
  return true;
}

const leave = (act) => perform(act, { ...onScreen(), choice: choice() });
const review = () => perform("review_items", {});
const undo = () => perform("take_back", { receipt: lastReceipt });

function toggleRecent() {
  const recent = find(".recent");
  recent.open = !recent.open;
  if (recent.open) find(".recent summary").focus();
}

const STUDY_KEYS = {
  b: () => leave("go_back"),
  n: () => leave("go_forward"),
  s: skip,
  u: undo,
  l: toggleRecent,
};

// Whether the key meant something on this page, which then has it alone.
function took({ key, target }) {
  const pressed = target.matches?.("button, summary, a, input[type=checkbox]");
  if (key === "Enter") {
    if (pressed || (screen?.end && !held)) return false;
    held ? goOn() : submit();
    return true;
  }
  if (!find(".single-keys").checked) return false;
  if (key === "g" && (held || !screen.end)) guidelines(!guide.open);
  else if (held) return false;
  else if (screen.end) {
    if (key !== "b" || find(".review").hidden) return false;
    review();
  } else if (!pick(key)) {
    if (!STUDY_KEYS[key] || screen.training) return false;
    STUDY_KEYS[key]();
  }
  return true;
}

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
  if (took(event)) event.preventDefault();
});

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

// Who speaks to the computer, or has a screen reader that takes letters, does without them.
function useSingleKeys(use) {
  find(".single-keys").checked = use;
  root.classList.toggle("without-keys", !use);
}

find(".single-keys").addEventListener("change", (event) => {
  localStorage.setItem(KEYS, event.target.checked ? "on" : "off");
  useSingleKeys(event.target.checked);
});
