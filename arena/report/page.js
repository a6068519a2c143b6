/* The page: addresses, tooltips, copy buttons, keys in the matrix. */
function copied(button, text) {
  const label = button.textContent;
  const done = (word) => { button.textContent = word; setTimeout(() => { button.textContent = label; }, 1500); };
  navigator.clipboard.writeText(text).then(() => done("copied"), () => done("select it"));
}

const data = JSON.parse(document.getElementById("data").textContent);
let list = null;
const replay = replayer(data, () => list);
const rowOf = (number) => data.n.indexOf(number);
list = gamesList(data, (at) => replay.open(at));

const words = () => new Map(new URLSearchParams(location.hash.slice(1)));
const follow = (first) => {
  const asked = words();
  if (asked.has("game")) {
    const at = rowOf(Number(asked.get("game")));
    if (at < 0) return say(`Game ${asked.get("game")} is not on this page.`);
    const ply = asked.has("ply") ? Number(asked.get("ply")) : null;
    replay.open(at, Number.isFinite(ply) ? ply : null);
    return;
  }
  if (asked.has("games") && asked.get("games")) {
    const wanted = { question: asked.get("games") };
    for (const name of ["agent", "opponent", "opening", "number"]) wanted[name] = asked.get(name) || "";
    list.show(wanted);
    document.getElementById("list").scrollIntoView({ block: "start" });
  }
  if (first && data.n.length) replay.open(list.order().length ? list.order()[0] : 0, null, true);
};
function say(text) {
  document.getElementById("replay").replaceChildren(el("p", { class: "nothing", role: "alert" }, text));
}
addEventListener("hashchange", () => follow(false));

/* One tooltip for all marks; its text is also in a table. */
const tip = document.getElementById("tip");
/* A mark of a figure belongs to a row of the table below it. */
const rowOfMark = (mark) => {
  const table = mark.closest("section").querySelector("details table");
  return [table.tHead.rows[0], table.tBodies[0].rows[Number(mark.dataset.row)]];
};
const tipOf = (cell) => {
  if (cell.dataset.tip) return cell.dataset.tip;
  const [head, row] = rowOfMark(cell);
  return [...row.cells].map((each, at) => at ? `${head.cells[at].textContent}: ${each.textContent}`
    : `${head.cells[0].textContent} ${each.textContent}`).join(", ");
};
const showTip = (cell) => {
  tip.textContent = tipOf(cell);
  tip.hidden = false;
  const box = cell.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left + box.width / 2 - own.width / 2), innerWidth - own.width - 8);
  const above = box.top - own.height - 6;
  tip.style.left = `${left + scrollX}px`;
  tip.style.top = `${(above > 4 ? above : box.bottom + 6) + scrollY}px`;
};
const hideTip = () => { tip.hidden = true; };
document.addEventListener("mouseover", (event) => {
  if (event.target === tip) return;
  const cell = event.target.closest("[data-tip], [data-row]");
  if (cell) showTip(cell); else hideTip();
});
document.addEventListener("focusin", (event) => {
  const cell = event.target.closest("[data-tip]");
  if (cell) showTip(cell); else hideTip();
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
document.addEventListener("click", (event) => {
  const mark = event.target.closest("[data-row]"), link = mark && rowOfMark(mark)[1].querySelector("a");
  if (link) location.hash = link.hash;
  const button = event.target.closest("[data-copy]");
  if (button) copied(button, button.dataset.copy);
});

/* The matrix: Tab selects one cell, arrows move, Enter shows the games. */
for (const grid of document.querySelectorAll("[data-grid]")) {
  const lines = [...grid.tBodies[0].rows].map((line) => [...line.cells].slice(1));
  const first = lines.flat().find((cell) => cell.dataset.tip);
  if (first) first.tabIndex = 0;
  const games = (cell) => {
    location.hash = `games=all&agent=${encodeURIComponent(cell.dataset.a)}&opponent=${encodeURIComponent(cell.dataset.b)}`;
  };
  grid.addEventListener("click", (event) => {
    const cell = event.target.closest("[data-tip]");
    if (cell) games(cell);
  });
  grid.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const cell = event.target.closest("td");
    if (!cell) return;
    if (event.key === "Enter") { event.preventDefault(); games(cell); return; }
    if (!(event.key in moves)) return;
    event.preventDefault();
    const [down, across] = moves[event.key];
    let y = lines.findIndex((line) => line.includes(cell)), x = lines[y].indexOf(cell);
    do { y += down; x += across; } while (lines[y] && lines[y][x] && !lines[y][x].dataset.tip);
    if (!lines[y] || !lines[y][x]) return;
    cell.tabIndex = -1;
    lines[y][x].tabIndex = 0;
    lines[y][x].focus();
  });
}
follow(true);
