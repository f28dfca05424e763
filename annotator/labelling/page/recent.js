// What this person saved last, to look at again.

function recentAreStale() {
  if (find(".recent").open) listRecent();
}

async function listRecent() {
  const reply = await ask("recent_labels", {});
  if (!reply.recent) return tellReply(reply);
  find(".recent ol").replaceChildren(...reply.recent.map(recentElement));
  find(".none-yet").hidden = reply.recent.length > 0;
}

function recentElement(said) {
  const line = document.createElement("li");
  const about = document.createElement("div");
  const turn = document.createElement("div");
  turn.className = "turn";
  turn.lang = "";
  turn.innerHTML = said.html; // escaped by the server
  turn.dir = "auto";
  const what = document.createElement("div");
  what.className = "what";
  const at = new Date(said.saved_at).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
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
