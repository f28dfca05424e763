// Asking the server: one act at a time, and what it says in a line that is read aloud.

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

let told = ["", false, {}];

function tell(says, refused = false, values = {}) {
  told = [says, refused, values];
  for (const line of all(".status")) {
    line.textContent = say(says, values);
    line.classList.toggle("refused", refused);
  }
}

const tellReply = (reply) => tell(reply.says, reply.refused, reply.values);
const tellBusy = () => tell("Still saving: that key was not taken.", true);

let lastReceipt = null; // of the label saved last, as far as this page knows

// A key pressed while saving could only fall on an item not yet seen.
async function perform(act, data) {
  if (busy) return tellBusy();
  busy = true;
  clearTimeout(draftTimer);
  const at = document.activeElement; // what is disabled loses the focus
  find(".lock").disabled = true;
  form.setAttribute("aria-busy", "true");
  tell("Saving…");
  const reply = await ask(act, data);
  if (reply.stopped) return stop(reply, () => perform(act, data));
  find(".lock").disabled = false;
  if (reply.feedback) showFeedback(reply);
  else if (reply.screen) await show(reply.screen);
  else giveFocusBack(at);
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

function giveFocusBack(at) {
  at.focus({ preventScroll: true });
  if (document.activeElement === document.body) find(".work").focus({ preventScroll: true });
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
