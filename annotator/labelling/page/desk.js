// The labelling page: these files run once, one after the other as one script, with Gradio's
// `element` (the page's root) and `server` (the acts of annotator/labelling/desk.py). What is
// shown and stored is decided there; the browser keeps nothing but how the page is set.

const find = (selector) => element.querySelector(selector);
const all = (selector) => [...element.querySelectorAll(selector)];
const root = find(".desk");
const form = find("form.verdict");
const asksName = root.dataset.asksName === "yes";

let screen = null; // as sent by the server
let busy = false; // an act is under way: the page takes no other
let held = null; // a screen that waits until what comes before it was read
let rubricVersion = root.dataset.rubric;
