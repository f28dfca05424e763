// What is on the page: an item, the end, the feedback of training, or a rubric that is new.

const ROLES = {
  system: "System message",
  user: "User asked",
  assistant: "Assistant said",
  answer: "Assistant answered",
  turn: "Next user turn — label this",
};
const ENDS = {
  finished: ["All done", "Every label is stored. You can close this page, or look at your items again."],
  waiting: [
    "Waiting for others",
    "The items that are left are with other people. One that is given up comes to you: look again in a while.",
  ],
  "none left": [
    "None left for you",
    "Some items still need a label from somebody else; you have done all that you can. Thank you.",
  ],
};
const SECTIONS = [".who", ".work", ".end", ".rubric-changed"];

let guideFor = null; // whether the guidelines on the page are those of training

function only(section) {
  for (const name of SECTIONS) find(name).hidden = name !== section;
}

function leadTo(section) {
  find(section).focus({ preventScroll: true });
  find(section).scrollIntoView({ block: "start" });
}

async function show(next) {
  if (next.end === "training") return start(next.annotator); // asked for since the page was opened
  if (next.rubric_version !== rubricVersion) return announceRubric(next);
  screen = next;
  if (guideFor !== Boolean(next.training)) loadGuide(Boolean(next.training));
  showProgress();
  renewWhileOpen();
  if (next.end) return showEnd();
  find(".feedback").hidden = true;
  only(".work");
  root.classList.toggle("training", Boolean(next.training));
  find(".who-is").textContent = next.annotator;
  fill(next.choice);
  const saved = find(".saved");
  saved.hidden = !next.saved;
  saved.textContent = next.saved
    ? say("Saved before as: {label}. Submit again to change it.", { label: next.saved })
    : "";
  startRecord();
  await showParts();
  leadTo(".work");
}

function showProgress() {
  const done = screen.labelled + screen.skipped;
  const values = { ...screen, done, percent: Math.floor((100 * screen.given) / (screen.wanted || 1)) };
  const parts = [
    say(screen.shared ? "{done} done by you, the study {percent} %" : "{done} of {wanted} done", values),
  ];
  if (screen.skipped) parts.push(say("({skipped} skipped)", values));
  for (const tally of all(".tally")) tally.textContent = parts.join(" ");
  find(".training-is").hidden = !screen.training;
  find(".training-is").textContent = screen.training ? say("Training, round {round}", screen.training) : "";
  const progress = find("progress");
  progress.max = screen.wanted || 1;
  progress.value = screen.given;
}

function showEnd() {
  only(".end");
  const [heading, explanation] = ENDS[screen.end];
  find("#end-heading").textContent = say(heading);
  find(".explanation").textContent = say(explanation);
  find(".look-again").hidden = screen.end === "finished" && !screen.shared;
  find(".review").hidden = !(screen.labelled + screen.skipped);
  leadTo(".end");
}

// In training the guidelines come without their examples, which may be what is asked.
async function loadGuide(inTraining) {
  guideFor = inTraining;
  const { rubric } = await ask("rubric_view", {});
  if (rubric) find(".guide").innerHTML = rubric.guidelines; // the server's own template
}

// Another rubric has come into force: no key means anything until its categories were shown.
async function announceRubric(next) {
  const reply = await ask("rubric_view", { annotator: next.annotator });
  if (!reply.rubric) return tellReply(reply);
  const { rubric } = reply;
  held = next;
  rubricVersion = next.rubric_version;
  guideFor = Boolean(next.training);
  // The server's own templates, escaped there.
  find(".choices").innerHTML = rubric.categories;
  speak(language);
  find(".guide").innerHTML = rubric.guidelines;
  find(".changes").innerHTML = rubric.changed;
  find(".rubric-version").textContent = rubric.version;
  find("#changed-heading").textContent = say("The rubric is now {version}", rubric);
  only(".rubric-changed");
  leadTo(".rubric-changed");
}

function showFeedback(reply) {
  const { feedback, result } = reply;
  held = reply.screen ?? "open";
  find(".lock").disabled = true;
  find(".feedback").classList.toggle("right", feedback.correct);
  find("#feedback-heading").textContent = feedback.correct
    ? say("Right: {expected}", feedback)
    : say("You chose {given}. Right is: {expected}", feedback);
  find(".feedback .reason").textContent = feedback.why;
  find(".score").textContent = result ? score(result) : "";
  find(".feedback").hidden = false;
  find(".feedback").focus();
}

function score(result) {
  if (result.passed) {
    return say("{correct} of {total} right, {needed} were needed. Now the study begins.", result);
  }
  return say("{correct} of {total} right, {needed} are needed. Read the guidelines again; another round follows.", result);
}

async function goOn() {
  const next = held;
  held = null;
  find(".lock").disabled = false;
  find(".feedback").hidden = true;
  if (next === "open") return perform("open_screen", {});
  await show(next);
}

function fill(filled) {
  form.reset();
  for (const name of ["category", "confidence"]) {
    for (const input of all(`input[name=${name}]`)) input.checked = input.value === filled[name];
  }
  form.elements.note.value = filled.note;
  form.elements.flagged.checked = filled.flagged;
}

// The item before goes off the screen at once: no key may fall on a text that is not there.
async function showParts() {
  const shown = screen;
  find(".parts").replaceChildren();
  let rendered = null;
  if (find("input.rendered").checked) {
    const reply = await ask("rendered_view", onScreen());
    if (screen !== shown) return;
    rendered = reply.parts;
    if (!rendered) {
      tell("The rendered view is not to be had. {why}", true, { why: say(reply.says, reply.values) });
    }
  }
  const parts = (rendered ?? shown.parts).map((part) => {
    const heading = part.role in ROLES ? say(ROLES[part.role]) : part.role;
    return partElement(part, heading, { rendered: Boolean(rendered), say, language });
  });
  find(".parts").replaceChildren(...parts);
}
