// The texts of an item, as the server sends them: shared by the pages that show items, each of
// which loads this file before its own. `say` gives a page's text in its language.

// `part.html` comes escaped, or cleaned to a closed list of tags, from the server.
function partElement(part, heading, { rendered = false, say = plainly, language = "en" } = {}) {
  const article = document.createElement("article");
  article.className = `part ${part.role}`;
  const title = document.createElement("h2");
  title.textContent = heading;
  const text = document.createElement("div");
  text.className = rendered ? "text as-rendered" : "text";
  text.lang = "";
  text.innerHTML = part.html;
  text.dir = "auto"; // after the text: while that comes in, each piece of it would be looked at anew
  article.append(title, text);
  if (!text.textContent.trim()) {
    text.dataset.hint = part.characters
      ? say("(white space only: {characters})", part)
      : say("(no characters at all)");
  }
  if (part.long) article.append(foldButton(part, text, say, language));
  return article;
}

function foldButton(part, text, say, language) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "unfold";
  const characters = part.characters.toLocaleString(language);
  const fold = (folded) => {
    text.classList.toggle("folded", folded);
    button.textContent = folded ? say("Show all {characters} characters", { characters }) : say("Show less");
    button.setAttribute("aria-expanded", String(!folded));
  };
  button.addEventListener("click", () => fold(!text.classList.contains("folded")));
  fold(true);
  return button;
}

// A text in English with its {names} filled.
function plainly(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

// A browser's own copy drops line ends at the end, and what nobody sees among them.
document.addEventListener("copy", (event) => {
  const selection = getSelection();
  if (selection.rangeCount !== 1) return;
  const range = selection.getRangeAt(0);
  const within = range.commonAncestorContainer;
  const at = within.nodeType === Node.ELEMENT_NODE ? within : within.parentElement;
  if (!at?.closest(".text:not(.as-rendered)")) return;
  event.clipboardData.setData("text/plain", range.cloneContents().textContent);
  event.preventDefault();
});
