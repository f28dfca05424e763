// What is not saved yet: kept on the server as a draft, and the item kept for this person.

const AWAY_MS = 30 * 60 * 1000; // an open page that nobody has touched for so long keeps no item

let draftTimer = null;
let renewTimer = null;

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
form.addEventListener("input", keepDraft);
