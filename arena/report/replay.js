/* The replay of a game: board, moves, curve, keys; every ply has an address. */
const replayer = (data, list) => {
  const place = document.getElementById("replay");
  const board = data.board && { sowing, othello }[data.board.kind];
  const drawing = board ? board(data.board) : null;
  let game = null, ply = 0, turned = false;

  const lineOf = (at) => data.moves ? data.moves[at] : null;
  const load = (at) => {
    const line = lineOf(at), number = data.n[at];
    const words = line ? line.split(" ") : [];
    const opening = (data.openings[data.o[at]] || "").split(" ").filter(Boolean).length;
    const loaded = { at, number, words, opening, states: [], steps: [null], texts: null,
      players: [data.f[at], data.s[at]], first: data.k[at] < 0 ? null : data.k[at] === data.f[at] ? 0 : 1 };
    if (drawing && line !== null) {
      loaded.states.push(drawing.start());
      for (const word of words) {
        const { state, step } = drawing.play(loaded.states[loaded.states.length - 1], word);
        loaded.states.push(state);
        loaded.steps.push(step);
      }
    } else if (data.drawn && data.drawn[number]) {
      loaded.movers = [...data.drawn[number][0]].map(Number);
      loaded.texts = boardsOf(data.drawn[number].slice(1));
    }
    return loaded;
  };
  /* A board is a text, or the changes of the board before it. */
  const boardsOf = (stored) => {
    const found = [];
    for (const each of stored) {
      if (typeof each === "string") { found.push(each); continue; }
      const letters = [...found[found.length - 1]];
      for (let at = 0; at < each.length; at += 2) letters[each[at]] = each[at + 1];
      found.push(letters.join(""));
    }
    return found;
  };
  const player = (side) => data.agents[game.players[side]];
  /* The exact values of a move; margins are those of side 0. */
  const share = (margin) => 0.5 + 0.5 * margin / (Math.abs(margin) + data.usual);
  const value = (at) => {
    const known = data.values && data.values[game.number] && data.values[game.number][at - 1];
    if (!known) return null;
    const [after, loss = 0, result = 0, best = ""] = known, sign = seatOf(at) === 1 ? -1 : 1;
    return { value: sign * after, before: sign * (after + loss), after, loss, result, best };
  };
  const told_of = (known) => {
    if (!known.loss) return "A best move.";
    const gave = known.result === 2 ? "Turned a win into a loss. "
      : known.result && known.after + known.loss > 0 ? "Gave away the win. "
        : known.result ? "Gave away the draw. " : "";
    return `${gave}Loss of ${known.loss}: ${known.best} was worth ${minus(known.after + known.loss)}, `
      + `this ${minus(known.after)}.`;
  };
  const mark = (at) => {
    const known = at > game.opening ? value(at) : null;
    if (!known || !known.loss) return "";
    if (known.result) return "??";
    return Math.abs(share(known.before) - share(known.value)) >= 0.12 ? "?" : "";
  };
  const mistakes = () => game.words.map((_, at) => at + 1).filter((at) => mark(at));

  /* ---------------------------------------------------------------- parts */
  const button = (label, path, does) => {
    const made = el("button", { type: "button", "aria-label": label, title: label },
      svg("svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: path })));
    made.addEventListener("click", does);
    return made;
  };
  const told = el("p", { class: "told", "aria-live": "polite" });
  const where = el("span", { class: "where" });
  const stage = el("div", { class: "stage", tabindex: "-1", id: "board" });
  const filled = el("i"), scale = el("div", { class: "scalebar", "aria-hidden": "true" }, filled);
  const upper = el("p", { class: "plate" }), lower = el("p", { class: "plate" });
  const title = el("h3"), about = el("p", { class: "note" });
  const moves = el("ol", { class: "moves", tabindex: "0", "aria-label": "Moves" });
  const curve = el("div", { class: "curve" });
  /* The curve: the score, exact values, or search information of the agents. */
  const chooser = el("select", { "aria-label": "What the curve shows" });
  const choosing = el("p", { class: "note choosing", hidden: "" }, "curve: ", chooser);
  chooser.addEventListener("change", () => { drawCurve(); show(); });
  const command = el("code", { tabindex: "0" });
  const copy = el("button", { type: "button" }, "copy");
  copy.addEventListener("click", () => copied(copy, command.textContent));
  /* The command that explains a move: the agent's values and exact ones. */
  const why = el("code", { tabindex: "0" });
  const copyWhy = el("button", { type: "button" }, "copy");
  copyWhy.addEventListener("click", () => copied(copyWhy, why.textContent));
  const explained = el("div", { class: "explained" }, el("p", { class: "note" }),
    el("div", { class: "command" }, why, copyWhy));
  const explain = () => {
    explained.hidden = !data.explain || lineOf(game.at) === null || ply <= game.opening;
    if (explained.hidden) return;
    const by = seatOf(ply);
    explained.firstChild.replaceChildren("The values of ", by === null ? "the agent" : el("bdi", {}, player(by)),
      ` before move ${ply}, and exact values:`);
    why.textContent = `${data.explain}#${game.number}@${ply - 1} explain`;
  };
  const nextMistake = el("button", { type: "button" }, "next mistake");
  nextMistake.addEventListener("click", () => jump(1));
  const keys = el("details", { class: "keys" }, el("summary", {}, "Keys"),
    el("dl", {}, ...[["\u2190 \u2192", "a ply"], ["\u2191 \u2193", "a turn"], ["Home End", "start, end"],
      ["n p", "next, last mistake"], ["f", "turn the board"], ["c", "copy the command"],
      ["j k", "next, last game of the list"], ["?", "this list"]].flatMap(([key, does]) =>
      [el("dt", {}, key), el("dd", {}, does)])));
  const controls = el("div", { class: "controls" },
    button("start", "M3 2v12M13 2L5 8l8 6z", () => go(0)), button("back", "M12 2L4 8l8 6z", () => go(ply - 1)),
    button("forward", "M4 2l8 6-8 6z", () => go(ply + 1)),
    button("end", "M13 2v12M3 2l8 6-8 6z", () => go(last())), nextMistake, where);
  const card = el("div", { class: drawing ? `card ${drawing.colours}` : "card", role: "group", "aria-label": "Replay" },
    el("div", { class: "table" }, upper, el("div", { class: "staged" }, scale, stage), lower, told, curve, choosing, controls),
    el("div", { class: "beside" }, title, about, moves,
      el("div", { class: "command" }, command, copy), explained, keys));

  const last = () => Math.max(game.words.length, (game.texts || []).length - 1, 0);
  const plate = (node, side) => {
    const state = game.states[ply], swapped = state && state.swapped;
    const owner = swapped ? 1 - side : side;
    const seat = game.first === null ? "" : owner === game.first ? "moved first" : "moved second";
    const named = [drawing ? drawing.names[side] : "", seat].filter(Boolean).join(", ");
    const kind = drawing && drawing.colours === "discs" ? `disc${side}` : `s${side}`;
    const mover = state ? drawing.side(state) : game.movers ? game.movers[ply] : null;
    const moving = !(state && drawing.over(state)) && ply < last() && mover === side;
    const points = state ? String(drawing.score(state)[owner]) : "";
    node.replaceChildren(el("i", { class: `chip ${kind}`, "aria-hidden": "true" }),
      el("b", {}, el("bdi", {}, player(owner))), " ", el("span", { class: "seat" }, named), " ",
      moving ? el("span", { class: "moving" }, "to move") : "", el("b", { class: "points" }, points));
  };
  const seatOf = (at) => {
    if (game.steps[at]) return game.steps[at].by;
    return game.movers && at > 0 && at <= game.words.length ? game.movers[at - 1] : null;
  };
  const sideOf = (at) => game.steps[at] ? game.steps[at].own : seatOf(at) ?? (at + 1) % 2;
  const sentence = () => {
    if (ply === 0) return "The start.";
    const word = game.words[ply - 1], by = seatOf(ply);
    const name = by === null ? `Move ${word}` : player(by);
    const does = game.steps[ply] ? ` ${drawing.tell(game.steps[ply], word)}` : by === null ? "" : ` plays ${word}`;
    const text = el("span", {}, el("b", {}, `${ply}. `, el("bdi", {}, name), does), ". ");
    if (ply <= game.opening) text.append("A move of the opening. ");
    const known = ply > game.opening ? value(ply) : null;
    if (known) text.append(el("span", { class: known.loss ? "mistake" : null }, told_of(known)), " ");
    if (ply === last()) text.append(ending());
    return text;
  };
  const ending = () => {
    const at = game.at, how = data.endings[data.e[at]];
    const margin = Math.abs(data.m[at]), won = data.r[at] === 1 ? null : player(data.r[at] === 2 ? 0 : 1);
    if (how === "unfinished") return "";
    if (how !== "normal") return `The game ended by a fault (${how})${won === null ? "" : `; ${won} wins`}.`;
    if (won === null) return "The game is drawn.";
    return `${won} wins by ${margin}.`;
  };
  const movesList = () => game.words.map((word, at) => {
    const number = at + 1, known = value(number), side = sideOf(number);
    const kind = drawing && drawing.colours === "discs" ? `disc${side}` : `s${side}`;
    const item = el("a", { href: `#game=${game.number}&ply=${number}` },
      el("span", { class: "number" }, String(number)),
      el("i", { class: `chip ${kind}`, "aria-hidden": "true" }),
      el("span", { class: "word" }, word),
      mark(number) ? el("b", { class: "mistake" }, mark(number)) : "",
      el("span", { class: "value" }, known ? minus(known.value) : ""));
    const classes = [number <= game.opening ? "random" : "", side ? "north" : "south"];
    return el("li", { class: classes.filter(Boolean).join(" "), value: String(number) }, item);
  });
  const series = () => {
    const known = game.words.map((_, at) => value(at + 1));
    if (known.some(Boolean)) return [null, ...known.map((each) => each ? each.value : null)];
    return game.states.map((state) => { const [one, other] = drawing.score(state); return one - other; });
  };
  const said = () => data.thoughts && data.thoughts.games[game.number];
  const choose = () => {
    const names = said() ? data.thoughts.names.filter((name) => said()[name]) : [];
    const before = chooser.value, usual = data.values && data.values[game.number] ? "exact value" : "score";
    chooser.replaceChildren(...(drawing ? [el("option", { value: "" }, usual)] : []),
      ...names.map((name) => el("option", { value: `=${name}` }, name)));
    if ([...chooser.options].some((each) => each.value === before)) chooser.value = before;
    choosing.hidden = !names.length;
  };
  /* A value is converted to side 0; other numbers do not change. */
  const saidSeries = (name) => {
    const ys = Array(last() + 1).fill(null), given = said()[name];
    for (let at = 0; at < given.length; at += 2) {
      const by = seatOf(given[at]);
      ys[given[at]] = name === "value" && by === 1 ? -given[at + 1] : given[at + 1];
    }
    return ys;
  };
  const drawSaid = (name) => {
    const ys = saidSeries(name), n = Math.max(1, ys.length - 1), there = ys.filter((y) => y !== null);
    const most = Math.max(...there, 0), least = Math.min(...there, 0), range = most - least || 1;
    const height = (y) => 96 - 92 * (y - least) / range;
    const pathOf = (seat) => ys.map((y, at) => y === null || (seatOf(at) ?? (at + 1) % 2) !== seat ? null
      : `${(1000 * at / n).toFixed(1)} ${height(y).toFixed(1)}`).filter(Boolean).map((each, at) => `${at ? "L" : "M"}${each}`).join("");
    const whole = svg("svg", { width: "100%", height: 84, "aria-hidden": "true" },
      svg("rect", { width: `${100 * game.opening / n}%`, height: "100%", class: "shade" }),
      svg("line", { x1: 0, x2: "100%", y1: `${height(0)}%`, y2: `${height(0)}%`, class: "zero" }),
      svg("svg", { width: "100%", height: "100%", viewBox: "0 0 1000 100", preserveAspectRatio: "none" },
        svg("path", { d: pathOf(0), class: "curveline" }), svg("path", { d: pathOf(1), class: "curveline second" })),
      svg("line", { class: "now", y1: 0, y2: "100%" }));
    whole.addEventListener("click", (event) => {
      const box = whole.getBoundingClientRect();
      go(Math.round(n * (event.clientX - box.left) / box.width));
    });
    const sign = name === "value" ? ", above the line: good for the former" : "";
    curve.append(whole, el("p", { class: "note" }, el("span", {}, el("b", {}, name), " as said by ",
      el("bdi", {}, player(0)), " (line) and ", el("bdi", {}, player(1)), ` (dashes)${sign}`), el("span", { class: "nowvalue" })));
    curve.values = ys;
  };
  const drawCurve = () => {
    curve.replaceChildren();
    if (chooser.value) return drawSaid(chooser.value.slice(1));
    if (!drawing || game.states.length < 2) return;
    const ys = series(), most = Math.max(1, ...ys.map((y) => Math.abs(y ?? 0))), n = ys.length - 1;
    const points = ys.map((y, at) => y === null ? null : [1000 * at / n, 50 - 46 * y / most]).filter(Boolean);
    const path = points.map(([x, y], at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
    const kind = drawing.colours === "discs" ? "discs" : "beans";
    const area = (clip) => svg("svg", { y: clip ? "50%" : 0, width: "100%", height: "50%", viewBox: clip ? "0 50 1000 50" : "0 0 1000 50",
      preserveAspectRatio: "none" }, svg("path", { d: `${path}L${points[points.length - 1][0]} 50L${points[0][0]} 50Z`, class: `area ${kind}${clip}` }));
    const whole = svg("svg", { width: "100%", height: 84, "aria-hidden": "true" },
      svg("rect", { width: `${100 * game.opening / n}%`, height: "100%", class: "shade" }), area(0), area(1),
      svg("line", { x1: 0, x2: "100%", y1: "50%", y2: "50%", class: "zero" }),
      svg("svg", { width: "100%", height: "100%", viewBox: "0 0 1000 100", preserveAspectRatio: "none" },
        svg("path", { d: path, class: "curveline" })),
      ...mistakes().map((at) => svg("line", { x1: `${100 * at / n}%`, x2: `${100 * at / n}%`, y1: 0, y2: 12, class: "tick" })),
      svg("line", { class: "now", y1: 0, y2: "100%" }));
    whole.addEventListener("click", (event) => {
      const box = whole.getBoundingClientRect();
      go(Math.round(n * (event.clientX - box.left) / box.width));
    });
    const what = data.values && data.values[game.number] ? "exact, under perfect play" : `${drawing.unit} ahead`;
    curve.append(whole, el("p", { class: "note" }, el("span", {}, "above the line: ", el("b", {}, el("bdi", {}, player(0))),
      ` ahead (${what})`), el("span", { class: "nowvalue" })));
    curve.values = ys;
  };
  function minus(number) { return number > 0 ? `+${number}` : String(number).replace("-", "\u2212"); }
  const commandOf = () => {
    const line = lineOf(game.at);
    if (line === null) return data.run ? `${data.run} --pair ${Math.floor(game.number / 2)}` : "";
    const quoted = /["$`\\!]/.test(line) ? `'${line.replaceAll("'", `'"'"'`)}'` : `"${line}"`;
    return data.command + quoted;
  };

  const show = () => {
    plate(upper, turned ? 0 : 1);
    plate(lower, turned ? 1 : 0);
    if (drawing && game.states.length) {
      stage.replaceChildren(drawing.draw(game.states[ply], game.steps[ply], turned));
    } else if (game.texts) {
      stage.replaceChildren(el("pre", {}, game.texts[ply]));
    } else {
      const why = lineOf(game.at) === null ? "The moves of this game are not on the page."
        : "The boards of this game are not on the page.";
      const shown = commandOf() ? " The command shows it." : "";
      stage.replaceChildren(el("p", { class: "nothing" }, why + shown));
    }
    const now = value(ply);
    scale.hidden = now === null;
    if (now) filled.style.height = `${100 * share(now.value)}%`;
    told.replaceChildren(sentence());
    explain();
    where.textContent = `ply ${ply} of ${last()}`;
    for (const item of moves.children) item.classList.toggle("here", item.value === ply);
    const here = moves.children[ply - 1];
    if (here) {
      here.firstChild.setAttribute("aria-current", "step");
      moves.scrollTop = Math.max(0, here.offsetTop - moves.clientHeight / 2);
    } else moves.scrollTop = 0;
    for (const item of moves.children) if (item !== here) item.firstChild.removeAttribute("aria-current");
    const line = curve.querySelector(".now"), number = curve.querySelector(".nowvalue");
    if (line) {
      const at = `${100 * ply / Math.max(last(), 1)}%`;
      line.setAttribute("x1", at);
      line.setAttribute("x2", at);
      const known = curve.values[ply];
      number.textContent = known === null || known === undefined ? "" : `now ${minus(known)}`;
    }
  };
  const address = () => {
    try {
      history.replaceState(null, "", `#game=${game.number}&ply=${ply}`);
    } catch { /* in a frame of a notebook, which has no address */ }
  };
  const go = (wanted) => {
    ply = Math.min(Math.max(wanted, 0), last());
    show();
    address();
  };
  const turn = (direction) => {
    const begun = seatOf(direction > 0 ? ply + 1 : ply);
    let to = ply + direction;
    while (to > 0 && to < last() && seatOf(direction > 0 ? to + 1 : to) === begun && begun !== null) to += direction;
    go(to);
  };
  const jump = (direction) => {
    const found = mistakes().filter((at) => direction > 0 ? at > ply : at < ply);
    if (found.length) go(direction > 0 ? found[0] : found[found.length - 1]);
  };
  const open = (at, wanted = null, quiet = false) => {
    game = load(at);
    if (!card.isConnected) place.append(card);
    title.textContent = `Game ${game.number}`;
    const judged = data.values && data.values[game.number]
      ? `Values are exact: the final margin under perfect play, seen by ${player(0)}. `
        + "? moves the bar by 12\u00a0%, ?? changes the result. " : "";
    about.textContent = judged + (game.opening ? "Grey: moves of the opening, which no agent chose." : "");
    moves.replaceChildren(...movesList());
    command.textContent = commandOf();
    nextMistake.hidden = !mistakes().length;
    choose();
    drawCurve();
    ply = Math.min(Math.max(wanted === null ? game.opening : wanted, 0), last());
    show();
    list().select(at);
    if (quiet) return;
    if (wanted === null) address();
    card.scrollIntoView({ block: "start" });
    stage.focus({ preventScroll: true });
  };
  const neighbour = (direction) => {
    const order = list().order(), here = order.indexOf(game.at);
    const next = order[here + direction];
    if (next !== undefined) open(next);
  };
  const actions = {
    ArrowLeft: () => go(ply - 1), ArrowRight: () => go(ply + 1), ArrowUp: () => turn(-1),
    ArrowDown: () => turn(1), Home: () => go(0), End: () => go(last()), n: () => jump(1), p: () => jump(-1),
    f: () => { turned = !turned; show(); }, c: () => copied(copy, command.textContent),
    j: () => neighbour(1), k: () => neighbour(-1), "?": () => { keys.open = !keys.open; },
  };
  card.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea, .moves") || event.ctrlKey || event.metaKey || event.altKey) return;
    const does = actions[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
  return { open, at: () => game && game.at };
};
