/* Sowing games: the rules of the run, and the board. */
const sowing = (rules) => {
  const holes = rules.holes, ring = 2 * holes + 2;
  const pots = [holes, ring - 1];
  const settled = 0, firstPly = 1, firstTurn = 2, swapOpen = 3;
  const phased = rules.extra_turn === "not-first" || rules.swap === "yes";
  const names = ["South", "North"];
  const noun = rules.pits === "ring" ? "pit" : "hole";

  const start = () => {
    const cells = Array(ring).fill(rules.beans);
    for (const pot of pots) cells[pot] = 0;
    const phase = phased && rules.beans > 0 ? firstPly : settled;
    return { cells, mover: 0, swapped: false, phase, over: rules.beans === 0 };
  };
  const side = (s) => s.mover ^ s.swapped;
  const from = (own) => own * (holes + 1); /* the first hole of a side, in the order of sowing */
  const row = (own) => [...Array(holes).keys()].map((hole) => from(own) + hole);
  const hole = (own, word) => {
    const number = Number(word);
    if (rules.pits === "ring") return number - from(own);
    return own ? holes - number : number - 1;
  };
  const holeText = (own, place) =>
    rules.pits === "ring" ? place + from(own) : own ? holes - place : place + 1;

  /* The cells that get a bean, in order, when a side sows a hole. */
  const visited = (own, place, beans) => {
    const begin = from(own) + place, lap = [];
    for (let step = 1; step <= ring; step++) {
      const cell = (begin + step) % ring;
      if (cell === pots[1 - own] && rules.opponent_pot === "no") continue;
      if (cell === begin && rules.skip_start === "yes") continue;
      lap.push(cell);
    }
    return [...Array(beans).keys()].map((bean) => lap[bean % lap.length]);
  };
  const sum = (cells, places) => places.reduce((total, place) => total + cells[place], 0);
  const ended = (cells, own, same) => {
    const mine = sum(cells, row(own)), theirs = sum(cells, row(1 - own));
    const either = rules.end_when === "either";
    if (mine === 0 && (either || same)) return true;
    if (theirs === 0 && (either || !same)) return true;
    const total = cells.reduce((a, b) => a + b, 0);
    const most = Math.max(cells[pots[0]], cells[pots[1]]);
    return rules.majority_ends === "yes" && 2 * most > total;
  };
  const sweep = (cells, own) => {
    const left = [0, 1].map((each) => sum(cells, row(each)));
    for (const each of [0, 1]) for (const place of row(each)) cells[place] = 0;
    if (rules.sweep === "ender") cells[pots[own]] += left[0] + left[1];
    else if (rules.sweep === "owner") for (const each of [0, 1]) cells[pots[each]] += left[each];
    return left;
  };

  /* The state after a written move, with what happened on the board. */
  const play = (s, word) => {
    const own = side(s);
    if (word === "swap") {
      const state = { ...s, mover: 1 - s.mover, swapped: !s.swapped, phase: settled };
      return { state, step: { own, by: s.mover, swap: true } };
    }
    const place = hole(own, word), begin = from(own) + place;
    const cells = [...s.cells], beans = cells[begin], path = visited(own, place, beans);
    cells[begin] = 0;
    const fresh = {};
    for (const cell of path) { cells[cell]++; fresh[cell] = (fresh[cell] || 0) + 1; }
    const last = path[path.length - 1], within = last - from(own);
    let captured = null;
    if (within >= 0 && within < holes && cells[last] === 1 && rules.capture !== "none") {
      const facing = from(1 - own) + holes - 1 - within, prize = cells[facing];
      if (prize || rules.capture_needs_nonempty === "no") {
        cells[facing] = 0;
        let gained = prize;
        if (rules.capture === "both") { cells[last] = 0; gained++; }
        cells[pots[own]] += gained;
        fresh[pots[own]] = (fresh[pots[own]] || 0) + gained;
        captured = { facing, prize, last, gained };
      }
    }
    const inPot = last === pots[own] && rules.extra_turn !== "no";
    const same = inPot && !(s.phase === firstPly && rules.extra_turn === "not-first");
    const open = s.phase === firstPly || s.phase === firstTurn;
    let phase = settled;
    if (rules.swap === "yes" && open) phase = same ? firstTurn : swapOpen;
    const over = ended(cells, own, same), swept = over ? sweep(cells, own) : null;
    const mover = same ? s.mover : 1 - s.mover;
    const state = { ...s, cells, mover, phase: over ? settled : phase, over };
    return { state, step: { own, by: s.mover, begin, path, fresh, captured, same, swept, place } };
  };

  const score = (s) => {
    const found = [s.cells[pots[0]], s.cells[pots[1]]];
    return s.swapped ? found.reverse() : found;
  };

  const tell = (step, word) => {
    if (step.swap) return "takes the other side";
    let text = `sows ${noun} ${word}`;
    if (step.captured && step.captured.prize) text += ` and captures ${step.captured.prize}`;
    if (step.same && !step.swept) text += " and moves again";
    if (step.swept && step.swept[0] + step.swept[1]) text += "; the beans that are left are swept";
    return text;
  };

  /* ---------------------------------------------------------------- the drawing */
  const pitch = 84, radius = 38, wide = 764 + pitch * (holes - 6), high = 330;
  const rows = [226, 104], lanes = [176, 154], potX = [wide - 64, 64];
  const inner = [wide - 108, 108];
  const x = (cell) => {
    const own = cell > holes ? 1 : 0;
    if (cell === pots[own]) return potX[own];
    const place = cell - from(own);
    return 172 + pitch * (own ? holes - 1 - place : place);
  };
  const layouts = [[], [1], [2], [1, 2], [2, 2], [2, 1, 2], [3, 3], [2, 3, 2], [3, 2, 3], [3, 3, 3],
    [3, 4, 3], [4, 3, 4], [4, 4, 4], [4, 5, 4]];
  const layout = (beans) => {
    if (beans < layouts.length) return layouts[beans];
    const across = Math.max(5, Math.ceil(Math.sqrt(beans))), found = [];
    for (let left = beans; left > 0; left -= across) found.push(Math.min(across, left));
    return found;
  };
  const bean = (cx, cy, r, fresh, own) => fresh
    ? [svg("circle", { cx, cy, r, class: `sown s${own}` }),
       svg("circle", { cx, cy, r: r * 0.36, class: "heart" })]
    : [svg("circle", { cx, cy, r, class: "bean" })];
  const pit = (s, step, cell, own) => {
    const cx = x(cell), cy = rows[own], beans = s.cells[cell];
    const emptied = step && step.begin === cell;
    const parts = [svg("circle", {
      cx, cy, r: radius, class: emptied ? `pit from s${step.own}` : "pit",
    })];
    const lines = layout(beans), most = Math.max(5, ...lines);
    const gap = beans > 12 ? 62 / most : 15.4, r = beans > 12 ? Math.min(5.6, gap * 0.46) : 6.7;
    const fresh = step && step.fresh ? step.fresh[cell] || 0 : 0;
    let drawn = 0;
    lines.forEach((line, at) => {
      for (let place = 0; place < line; place++) {
        const bx = cx + (place - (line - 1) / 2) * gap;
        const by = cy + (at - (lines.length - 1) / 2) * gap;
        parts.push(...bean(bx, by, r, drawn++ >= beans - fresh, step && step.own));
      }
    });
    if (step && step.captured && step.captured.facing === cell && !step.swept) {
      parts.push(svg("circle", { cx, cy, r: radius, class: "taken" }));
      parts.push(svg("text", { x: cx, y: cy + 6, class: "taken" }, `\u2212${step.captured.prize}`));
    }
    const below = own === 0;
    parts.push(svg("text", { x: cx, y: below ? 288 : 56, class: "count" }, String(beans)));
    const label = String(holeText(own, cell - from(own)));
    parts.push(svg("text", { x: cx, y: below ? 320 : 22, class: "holename" }, label));
    return parts;
  };
  const pot = (s, step, own) => {
    const cell = pots[own], cx = potX[own], beans = s.cells[cell];
    const parts = [svg("rect", { x: cx - 42, y: 62, width: 84, height: 206, rx: 42, class: "pit" })];
    const across = beans > 60 ? 10 : 5, gap = across === 5 ? 13 : 7, r = across === 5 ? 5.4 : 2.9;
    const fresh = step && step.fresh ? step.fresh[cell] || 0 : 0;
    for (let at = 0; at < Math.min(beans, across * 14); at++) {
      const line = Math.floor(at / across), tens = Math.floor(at / 10);
      const bx = cx + (at % across - (across - 1) / 2) * gap;
      const by = 246 - line * gap - tens * 4;
      if (by > 72) parts.push(...bean(bx, by, r, at >= beans - fresh, step && step.own));
    }
    parts.push(svg("text", { x: cx, y: 22, class: "pot count" }, String(beans)));
    return parts;
  };
  /* A line in the lane between the rows, never over beans. */
  const trail = (step) => {
    if (!step || !step.path || !step.path.length) return [];
    let own = step.own, points = [[x(step.begin), rows[own] + (own ? radius : -radius)]];
    points.push([x(step.begin), lanes[own]]);
    let dropped = false, tip = null;
    for (const cell of step.path) {
      if (cell === pots[own]) { points.push([inner[own], lanes[own]]); dropped = true; tip = "pot"; continue; }
      const there = cell > holes ? 1 : 0;
      const end = dropped ? inner[own] : inner[own] + (own ? 16 : -16);
      if (there !== own) { points.push([end, lanes[own]], [end, lanes[there]]); own = there; }
      dropped = false;
      points.push([x(cell), lanes[own]]);
      tip = "pit";
    }
    const colour = `s${step.own}`, [ex, ey] = points[points.length - 1];
    let arrow;
    if (tip === "pot") {
      const to = own ? -1 : 1;
      arrow = `M${ex + 12 * to} ${ey}L${ex - 4 * to} ${ey - 8}V${ey + 8}Z`;
    } else {
      const to = own ? -1 : 1, edge = rows[own] - to * radius;
      points.push([ex, edge - to * 10]);
      arrow = `M${ex} ${edge + to * 2}L${ex - 8} ${edge - to * 11}H${ex + 8}Z`;
    }
    const line = points.map(([px, py], at) => `${at ? "L" : "M"}${px} ${py}`).join("");
    return [svg("path", { d: line, class: `trail ${colour}` }),
            svg("path", { d: arrow, class: `tip ${colour}` })];
  };
  const draw = (s, step, turned) => {
    const board = svg("svg", {
      viewBox: `0 0 ${wide} ${high}`, class: "board sowing", role: "img",
      "aria-label": describe(s),
    });
    board.append(svg("rect", { x: 2, y: 32, width: wide - 4, height: 266, rx: 40, class: "wood" }));
    for (const own of [1, 0]) {
      board.append(...pot(s, step, own));
      for (const cell of row(own)) board.append(...pit(s, step, cell, own));
    }
    board.append(...trail(step));
    return board;
  };
  const describe = (s) => {
    const text = (own) => row(own).map((cell) => s.cells[cell]).join(" ");
    return `South, left to right: ${text(0)}, pot ${s.cells[pots[0]]}. North, right to left: `
      + `${text(1)}, pot ${s.cells[pots[1]]}.`;
  };

  /* Where a person clicks to sow: the holes of the side to move. */
  const targets = (s) => row(side(s)).map((cell) => {
    const own = side(s), word = String(holeText(own, cell - from(own))), beans = s.cells[cell];
    const shape = { cx: x(cell), cy: rows[own], r: radius };
    return { word, r: radius, shape, label: `${noun} ${word}, ${beans} bean${beans === 1 ? "" : "s"}` };
  });
  return { start, play, score, tell, draw, targets, names, unit: "beans", colours: "beans",
    legal: () => [], over: (s) => s.over, side };
};
