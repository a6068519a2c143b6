/* Play against an agent: the server knows the rules and the moves, the page draws and asks. */
const data = JSON.parse(document.getElementById("data").textContent);
const makeBoard = { sowing, othello }[data.board.kind];
const drawing = makeBoard ? makeBoard(data.board) : null;
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
const FRAME_MS = 130, FLIP_MS = 350;
let state = null, states = [], busy = false, target = 0;

const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });
const button = (label, key, does) => {
  const made = el("button", { type: "button", title: `key ${key}` }, label);
  made.addEventListener("click", does);
  return made;
};
const told = el("p", { class: "told", id: "told", role: "status", "aria-live": "polite" });
const stage = el("div", { class: "stage", id: "board" });
const choices = el("p", { class: "choices" });
const plates = [0, 1].map(() => el("p", { class: "plate" }));
const advice = el("div", { id: "advice" });
const undo = button("undo", "u", () => act("undo"));
const hint = button("hint", "h", () => showHint());
const again = button("new game", "n", () => act("restart"));
const replayLink = el("a", { href: "replay", target: "_blank", rel: "noopener" }, "replay this game");
const moves = el("ol", { class: "moves", "aria-label": "Moves", tabindex: "0" });
document.getElementById("play").append(el("div", { class: drawing ? `card ${drawing.colours}` : "card" },
  el("div", { class: "table" }, plates[1], stage, plates[0], told, choices,
    el("div", { class: "controls" }, undo, hint, again, replayLink)),
  el("div", { class: "beside" }, moves, advice)));

async function request(name, body) {
  const options = name === "state" ? {} : { method: "POST",
    headers: { "Content-Type": "application/json" }, body: JSON.stringify(body || {}) };
  const answer = await fetch(name, options);
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}
const minus = (text) => text.replaceAll("-", "\u2212");
const statesOf = (words) => {
  const found = [{ state: drawing.start(), step: null }];
  for (const word of words) found.push(drawing.play(found[found.length - 1].state, word));
  return found;
};

/* What each click on the board means: only moves that the server calls legal. */
const targetsNow = () => {
  if (!drawing || !state.waits) return [];
  const here = states[states.length - 1].state, legal = new Set(state.legal);
  return drawing.targets(here).filter((each) => legal.has(each.word));
};
const drawBoard = (position, step, targets) => {
  if (!drawing) {
    stage.replaceChildren(el("pre", {}, state.text));
    return;
  }
  const board = drawing.draw(position, step, false);
  if (targets.length) board.setAttribute("role", "group");
  targets.forEach((each, at) => {
    const mark = svg(each.r ? "circle" : "rect", { ...each.shape, class: "choice", role: "button",
      tabindex: at === target ? 0 : -1, "aria-label": each.label, "data-word": each.word });
    mark.addEventListener("click", () => play(each.word));
    board.append(mark);
  });
  stage.replaceChildren(board);
};
const render = () => {
  if (drawing) states = statesOf(state.words);
  const now = drawing ? states[states.length - 1] : {}, targets = targetsNow();
  target = Math.min(target, Math.max(0, targets.length - 1));
  const hadFocus = stage.contains(document.activeElement);
  drawBoard(now.state, now.step, targets);
  if (hadFocus && targets.length) stage.querySelectorAll(".choice")[target].focus();
  const onBoard = new Set(targets.map((each) => each.word));
  const others = state.legal.filter((word) => !onBoard.has(word));
  choices.replaceChildren(...others.map((word) => {
    const made = el("button", { type: "button" }, word);
    made.addEventListener("click", () => play(word));
    return made;
  }));
  plates.forEach((plate, seat) => {
    const side = now.state && now.state.swapped ? 1 - seat : seat, owner = side;
    const kind = drawing && drawing.colours === "discs" ? `disc${seat}` : `s${seat}`;
    plate.replaceChildren(el("i", { class: `chip ${kind}`, "aria-hidden": "true" }),
      el("b", {}, el("bdi", {}, data.agents[owner])), " ",
      el("span", { class: "seat" }, drawing ? drawing.names[seat] : ""), " ",
      state.mover === owner ? el("span", { class: "moving" }, "to move") : "",
      el("b", { class: "points" }, String(state.score[owner])));
  });
  moves.replaceChildren(...state.words.map((word) => el("li", {}, word)));
  moves.scrollTop = moves.scrollHeight;
  undo.disabled = !state.words.length;
  hint.disabled = !state.waits;
  told.textContent = sentence(now.step);
};
const sentence = (step) => {
  const last = state.words[state.words.length - 1], parts = [];
  if (step) parts.push(`${data.agents[step.by]} ${drawing.tell(step, last)}.`);
  else if (last) parts.push(`The last move is ${last}.`);
  if (state.over) parts.push(state.ending);
  else if (state.waits) parts.push(`${data.agents[state.mover]}, choose a move.`);
  else parts.push(`${data.agents[state.mover]} is thinking.`);
  return parts.join(" ");
};

/* The beans of the last sowing fall one by one; the discs of the last move turn after a moment. */
async function animate(word) {
  if (!drawing || still || document.hidden) return;
  const before = states[states.length - 1].state, { step } = drawing.play(before, word);
  if (step.path) {
    const cells = [...before.cells];
    cells[step.begin] = 0;
    for (const cell of step.path) {
      cells[cell]++;
      drawBoard({ ...before, cells: [...cells] }, { own: step.own, begin: step.begin, fresh: { [cell]: 1 } }, []);
      await pause(FRAME_MS);
    }
  } else if (step.turned) {
    const discs = [...before.discs];
    discs[step.at] = before.mover;
    drawBoard({ ...before, discs, over: true }, { ...step, turned: [] }, []);
    await pause(FLIP_MS);
  }
}
async function act(name, body) {
  if (busy) return;
  busy = true;
  advice.replaceChildren();
  try {
    if (name) await accept(await request(name, body));
    while (!state.over && !state.waits) await accept(await request("answer"));
  } catch {
    told.textContent = "The server has ended: start the command again.";
  } finally { busy = false; }
}
async function accept(next) {
  const isNext = state && next.words.length === state.words.length + 1;
  if (isNext) await animate(next.words[next.words.length - 1]);
  state = next;
  render();
}
const play = (word) => act("move", { move: word });
async function showHint() {
  if (busy || !state.waits) return;
  busy = true;
  advice.replaceChildren(el("p", { class: "note", role: "status" }, "Looking for the values of all moves ..."));
  try {
    const found = await request("hint");
    const rows = found.moves.map((each) => el("tr", { class: each.chosen ? "best" : null },
      el("th", { scope: "row" }, each.word, each.chosen ? " (its choice)" : ""),
      el("td", {}, minus(each.value)), el("td", {}, minus(each.exact))));
    advice.replaceChildren(el("table", { class: "hints" },
      el("caption", {}, "Values for you. ", el("bdi", {}, found.agent), `: ${found.meaning}. `
        + "Exact: the final margin under perfect play."),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "move"),
        el("th", { scope: "col" }, el("bdi", {}, found.agent)), el("th", { scope: "col" }, "exact"))),
      el("tbody", {}, ...rows)));
  } catch {
    advice.replaceChildren(el("p", { class: "note", role: "alert" }, "There is no hint."));
  } finally { busy = false; }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const marks = [...stage.querySelectorAll(".choice")], at = marks.indexOf(document.activeElement);
  const steps = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
  if (at >= 0 && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    play(marks[at].dataset.word);
  } else if (marks.length && event.key in steps && !event.target.closest(".moves")) {
    event.preventDefault();
    target = at < 0 ? target : (at + steps[event.key] + marks.length) % marks.length;
    marks.forEach((mark, place) => mark.setAttribute("tabindex", place === target ? 0 : -1));
    marks[target].focus();
  } else if (event.key === "u") act("undo");
  else if (event.key === "h") showHint();
  else if (event.key === "n") act("restart");
  else if (data.board.kind === "sowing" && state && state.legal.includes(event.key)) play(event.key);
});
request("state").then((first) => { state = first; render(); return act(null); })
  .catch(() => { told.textContent = "The server has ended: start the command again."; });
