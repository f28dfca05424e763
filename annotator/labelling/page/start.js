// Where somebody left off, under the name that the login, the address or the page itself gives.

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
useSingleKeys(localStorage.getItem(KEYS) !== "off");
const named = new URLSearchParams(location.search).get("annotator");
if (named || !asksName) start(named ?? "");
else {
  only(".who");
  find(".who input").focus();
}
