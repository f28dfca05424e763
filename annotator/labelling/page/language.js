// The language of the page. English is the key of every text.

const WORDS = JSON.parse(root.dataset.words);
const LANGUAGE = "followupeval-language";
let language = "en";

// {names} in a text are filled after it was translated.
function say(text, values = {}) {
  const said = WORDS[language]?.[text] ?? text;
  return said.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

function speak(code) {
  language = code in WORDS ? code : "en";
  root.lang = language;
  find("select.language").value = language;
  for (const text of all("[data-say]")) text.textContent = say(text.dataset.say);
  for (const named of all("[data-say-label]")) named.setAttribute("aria-label", say(named.dataset.sayLabel));
}

find("select.language").addEventListener("change", (event) => {
  localStorage.setItem(LANGUAGE, event.target.value);
  speak(event.target.value);
  tell(...told);
  if (!screen) return;
  showProgress();
  if (screen.end) showEnd();
  else if (!held) showParts();
});
