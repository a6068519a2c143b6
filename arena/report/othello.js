/* Othello: the rules of placing and turning discs, and the board. */
const othello = (rules) => {
  const size = rules.size, square = 56, edge = 34;
  const directions = [-1, 0, 1].flatMap((down) => [-1, 0, 1].map((across) => [down, across]))
    .filter(([down, across]) => down || across);
  const names = ["Black", "White"];

  const start = () => {
    const discs = Array(size * size).fill(-1), half = size / 2;
    for (const [down, across, colour] of [[1, 1, 1], [0, 0, 1], [1, 0, 0], [0, 1, 0]]) {
      discs[(half - down) * size + half - across] = colour;
    }
    return { discs, mover: 0, passes: 0, over: false };
  };
  const inside = (at) => at >= 0 && at < size;
  const flips = (s, place) => {
    if (s.discs[place] >= 0) return [];
    const top = Math.floor(place / size), left = place % size, found = [];
    for (const [down, across] of directions) {
      const line = [];
      let y = top + down, x = left + across;
      while (inside(y) && inside(x) && s.discs[y * size + x] === 1 - s.mover) {
        line.push(y * size + x);
        y += down;
        x += across;
      }
      if (line.length && inside(y) && inside(x) && s.discs[y * size + x] === s.mover) found.push(...line);
    }
    return found;
  };
  const touches = (s, place) => {
    const top = Math.floor(place / size), left = place % size;
    return directions.some(([down, across]) => {
      if (rules.adjacency === 4 && down && across) return false;
      const y = top + down, x = left + across;
      return inside(y) && inside(x) && s.discs[y * size + x] >= 0;
    });
  };
  const playable = (s, place) => s.discs[place] < 0
    && (rules.adjacency ? touches(s, place) : flips(s, place).length > 0);
  const legal = (s) => s.over ? [] : s.discs.map((_, place) => place).filter((place) => playable(s, place));
  const word = (place) => `${String.fromCharCode(97 + place % size)}${Math.floor(place / size) + 1}`;
  const place = (text) => (Number(text.slice(1)) - 1) * size + text.charCodeAt(0) - 97;

  const settle = (s) => {
    const other = { ...s, mover: 1 - s.mover };
    return { ...s, over: !legal({ ...s, over: false }).length && !legal({ ...other, over: false }).length };
  };
  const play = (s, text) => {
    if (text === "pass") {
      return { state: { ...s, mover: 1 - s.mover }, step: { by: s.mover, own: s.mover, pass: true, last: s.last } };
    }
    const at = place(text), turned = flips(s, at), discs = [...s.discs];
    for (const each of [at, ...turned]) discs[each] = s.mover;
    const state = settle({ discs, mover: 1 - s.mover, last: at });
    return { state, step: { by: s.mover, own: s.mover, at, turned } };
  };
  const score = (s) => {
    const found = [0, 1].map((colour) => s.discs.filter((disc) => disc === colour).length);
    const empty = size * size - found[0] - found[1];
    if (s.over && found[0] !== found[1]) found[found[0] > found[1] ? 0 : 1] += empty;
    else if (s.over) { found[0] += empty / 2; found[1] += empty / 2; }
    return found;
  };
  const tell = (step, text) => {
    if (step.pass) return "passes: no square can be played";
    const turned = step.turned.length;
    return `plays ${text} and turns ${turned || "no"} disc${turned === 1 ? "" : "s"}`;
  };

  const draw = (s, step, turned) => {
    const wide = size * square + 2 * edge;
    const board = svg("svg", {
      viewBox: `0 0 ${wide} ${wide}`, class: "board othello", role: "img", "aria-label": describe(s),
    });
    board.append(svg("rect", { x: edge, y: edge, width: size * square, height: size * square, class: "felt" }));
    const shown = (line) => turned ? size - 1 - line : line;
    for (let line = 0; line < size; line++) {
      const at = edge + (shown(line) + 0.5) * square;
      board.append(svg("text", { x: at, y: 22, class: "coordinate" }, String.fromCharCode(97 + line)));
      board.append(svg("text", { x: 16, y: at + 5, class: "coordinate" }, String(line + 1)));
    }
    for (let line = 0; line <= size; line++) {
      const at = edge + line * square, end = edge + size * square;
      board.append(svg("line", { x1: at, x2: at, y1: edge, y2: end, class: "rule" }));
      board.append(svg("line", { y1: at, y2: at, x1: edge, x2: end, class: "rule" }));
    }
    if (size >= 8) {
      for (const y of [2, size - 2]) for (const x of [2, size - 2]) {
        board.append(svg("circle", { cx: edge + x * square, cy: edge + y * square, r: 4, class: "point" }));
      }
    }
    const playable = new Set(legal(s)), last = step && (step.pass ? step.last : step.at);
    s.discs.forEach((disc, at) => {
      const cx = edge + (shown(at % size) + 0.5) * square;
      const cy = edge + (shown(Math.floor(at / size)) + 0.5) * square;
      if (disc >= 0) {
        board.append(svg("circle", { cx, cy, r: 22.5, class: disc ? "white disc" : "black disc" }));
        if (at === last) board.append(svg("circle", { cx, cy, r: 8, class: disc ? "last white" : "last black" }));
        else if (step && step.turned && step.turned.includes(at)) {
          board.append(svg("circle", { cx, cy, r: 4, class: disc ? "turned white" : "turned black" }));
        }
      } else if (playable.has(at)) {
        board.append(svg("circle", { cx, cy, r: 5, class: "legal" }));
      }
    });
    return board;
  };
  const describe = (s) => [0, 1].map((colour) => {
    const found = s.discs.map((disc, at) => disc === colour ? word(at) : "").filter(Boolean);
    return `${names[colour]}: ${found.join(" ") || "none"}.`;
  }).join(" ");

  /* Where a person clicks to place a disc. */
  const targets = (s) => legal(s).map((at) => {
    const [line, column] = [Math.floor(at / size), at % size];
    const shape = { x: edge + column * square, y: edge + line * square, width: square, height: square };
    return { word: word(at), shape, label: word(at) };
  });
  return { start, play, score, tell, draw, targets, names, unit: "discs", colours: "discs", legal,
    over: (s) => s.over, side: (s) => s.mover };
};
