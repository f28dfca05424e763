// The guidelines lie over the texts. Whoever opens them by key is led into them and back again.

const guide = find(".guidelines");
const isBeside = matchMedia("(min-width: 960px)"); // as in page.css: the form stays in sight
let cameFrom = null;

function guidelines(open) {
  if (guide.open === open) return;
  if (open) cameFrom = document.activeElement;
  guide.open = open;
  if (open) find(".guidelines summary").focus();
  else if (guide.contains(document.activeElement)) cameFrom?.focus({ preventScroll: true });
}

// Nobody works on what lies under them.
guide.addEventListener("focusout", ({ relatedTarget: to }) => {
  if (!to || guide.contains(to) || (isBeside.matches && form.contains(to))) return;
  guide.open = false;
});
guide.addEventListener("toggle", () => {
  if (!guide.open) cameFrom = null;
});
