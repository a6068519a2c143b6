/* The list of games: questions, filters, order, and a table of fifty rows at a time. */
const gamesList = (data, open) => {
  if (!data.n.length) return { show: () => {}, order: () => [], select: () => {} };
  const step = 50, some = data.n.length;
  const loser = (at) => data.r[at] === 1 ? null : data.r[at] === 2 ? data.s[at] : data.f[at];
  const winner = (at) => data.r[at] === 1 ? null : data.r[at] === 2 ? data.f[at] : data.s[at];
  /* The agent to move after the opening; side 0 if it is unknown. */
  const mover = (at) => data.k[at] < 0 ? data.f[at] : data.k[at];
  const follower = (at) => data.f[at] + data.s[at] - mover(at);
  const rated = data.elo.every((elo) => elo !== null) && data.elo.length > 1;
  const surprise = (at) => winner(at) === null ? -Infinity
    : data.elo[loser(at)] - data.elo[winner(at)];
  const forfeits = new Set(data.forfeits), against = new Set(data.against);
  const all = [...Array(some).keys()];
  const questions = {
    against: { name: data.claim || "Against the claim", keep: (at) => against.has(at), key: "number", counted: true },
    surprises: { name: "Surprises", keep: (at) => surprise(at) > 0, key: "surprise", down: true },
    closest: { name: "Closest", keep: (at) => data.r[at] !== 1 && !forfeits.has(at), key: "margin" },
    shortest: { name: "Shortest", keep: () => true, key: "plies" },
    longest: { name: "Longest", keep: () => true, key: "plies", down: true },
    draws: { name: "Draws", keep: (at) => data.r[at] === 1, key: "number", counted: true },
    forfeits: { name: "Forfeits", keep: (at) => forfeits.has(at), key: "number", counted: true },
    all: { name: "All", keep: () => true, key: "number" },
  };
  if (!against.size) delete questions.against;
  if (!rated || !all.some(questions.surprises.keep)) delete questions.surprises;
  const keys = {
    number: (at) => data.n[at], margin: (at) => Math.abs(data.m[at]), plies: (at) => data.p[at],
    surprise, opening: (at) => data.o[at],
    first: (at) => data.agents[mover(at)], second: (at) => data.agents[follower(at)],
    winner: (at) => winner(at) === null ? "" : data.agents[winner(at)],
    end: (at) => data.endings[data.e[at]],
  };
  const heads = [["number", "game", "n"], ["first", "first mover", ""], ["second", "second mover", ""],
    ["winner", "won by", ""], ["margin", "margin", "n"], ["plies", "plies", "n"],
    ["opening", "opening", ""], ["end", "end", ""]];
  const usual = some <= 20 ? "all" : Object.keys(questions)[0];
  let view = { question: usual, agent: "", opponent: "", opening: "", number: "", shown: step };
  let order = [], chosen = null;

  const place = document.getElementById("list");
  const body = el("tbody"), more = el("button", { type: "button", class: "more" });
  const count = el("p", { class: "note", "aria-live": "polite" });
  const toggles = {};
  for (const [name, question] of Object.entries(questions)) {
    const number = question.counted ? ` (${all.filter(question.keep).length.toLocaleString("en")})` : "";
    toggles[name] = el("button", { type: "button", "aria-pressed": "false" }, question.name + number);
    toggles[name].addEventListener("click", () => change({ question: name, key: null }));
  }
  const agents = data.agents.map((name, at) => [name, at]).sort((a, b) =>
    (data.elo[b[1]] ?? 0) - (data.elo[a[1]] ?? 0)).map(([name]) => name);
  const choice = (label, name) => {
    const select = el("select", { id: `choose-${name}` }, el("option", { value: "" }, "any"),
      ...agents.map((agent) => el("option", { value: agent }, agent)));
    select.addEventListener("change", () => change({ [name]: select.value }));
    return [el("label", { for: `choose-${name}` }, label), select];
  };
  const field = (label, name) => {
    const input = el("input", { id: `choose-${name}`, inputmode: "numeric", size: "6" });
    input.addEventListener("input", () => change({ [name]: input.value.trim() }));
    return [el("label", { for: `choose-${name}` }, label), input];
  };
  const columns = {};
  const head = el("tr", {}, ...heads.map(([key, name, kind]) => {
    const button = el("button", { type: "button" }, name);
    button.addEventListener("click", () => change({
      key, down: view.key === key ? !view.down : false,
    }));
    columns[key] = el("th", { scope: "col", class: kind || null }, button);
    return columns[key];
  }));
  more.addEventListener("click", () => { view.shown += step; render(); });
  place.append(
    el("div", { class: "toggles", role: "group", "aria-label": "Questions" }, ...Object.values(toggles)),
    el("div", { class: "filters" }, ...choice("agent", "agent"), ...choice("against", "opponent"),
      ...field("opening", "opening"), ...field("game", "number")),
    count,
    el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "List of games" },
      el("table", { class: "games" }, el("caption", { class: "hidden" }, "Games"),
        el("thead", {}, head), body)),
    more);

  const kept = (at) => {
    const names = [data.agents[data.f[at]], data.agents[data.s[at]]];
    return questions[view.question].keep(at)
      && (!view.agent || names.includes(view.agent))
      && (!view.opponent || (names.includes(view.opponent) && view.opponent !== view.agent))
      && (view.opening === "" || String(data.o[at]) === view.opening)
      && (view.number === "" || String(data.n[at]) === view.number);
  };
  const sort = () => {
    const question = questions[view.question];
    const key = keys[view.key || question.key], down = view.key ? view.down : question.down;
    order = all.filter(kept).sort((a, b) => {
      const one = key(a), other = key(b);
      const ahead = one < other ? -1 : one > other ? 1 : 0;
      return (down ? -ahead : ahead) || data.n[a] - data.n[b];
    });
  };
  const change = (changes) => {
    view = { ...view, shown: step, ...changes };
    sort();
    render();
    address();
  };
  const address = () => {
    const words = [`games=${view.question}`];
    for (const name of ["agent", "opponent", "opening", "number"]) {
      if (view[name]) words.push(`${name}=${encodeURIComponent(view[name])}`);
    }
    try {
      history.replaceState(null, "", `#${words.join("&")}`);
    } catch { /* in a frame of a notebook, which has no address */ }
  };
  const cells = (at) => {
    const won = winner(at), margin = Math.abs(data.m[at]);
    const player = (agent) => el("td", { class: won === agent ? "won" : null }, el("bdi", {}, data.agents[agent]));
    const link = el("a", { href: `#game=${data.n[at]}` }, String(data.n[at]));
    return [el("td", { class: "n" }, link), player(mover(at)), player(follower(at)),
      el("td", {}, won === null ? "draw" : el("bdi", {}, data.agents[won])),
      el("td", { class: "n" }, String(margin)), el("td", { class: "n" }, String(data.p[at])),
      el("td", {}, el("code", {}, data.openings[data.o[at]] || "start")),
      el("td", { class: forfeits.has(at) ? "bad" : null }, data.endings[data.e[at]])];
  };
  const render = () => {
    for (const [name, button] of Object.entries(toggles)) {
      button.setAttribute("aria-pressed", String(name === view.question));
    }
    const key = view.key || questions[view.question].key;
    const down = view.key ? view.down : questions[view.question].down;
    for (const [name, column] of Object.entries(columns)) {
      if (name === key) column.setAttribute("aria-sort", down ? "descending" : "ascending");
      else column.removeAttribute("aria-sort");
    }
    for (const name of ["agent", "opponent", "opening", "number"]) {
      document.getElementById(`choose-${name}`).value = view[name];
    }
    body.replaceChildren(...order.slice(0, view.shown).map((at) => {
      const line = el("tr", { class: at === chosen ? "chosen" : null, "data-at": String(at) }, ...cells(at));
      return line;
    }));
    const listed = Math.min(view.shown, order.length);
    count.textContent = order.length
      ? `${listed.toLocaleString("en")} of ${order.length.toLocaleString("en")} games`
        + (data.total > some ? ` (${some.toLocaleString("en")} of ${data.total.toLocaleString("en")} are listed)`
          : order.length < some ? ` (${some.toLocaleString("en")} in all)` : "")
      : "No game fits.";
    more.hidden = order.length <= view.shown;
    more.textContent = `${Math.min(step, order.length - view.shown)} more`;
  };
  body.addEventListener("click", (event) => {
    const line = event.target.closest("tr");
    if (line && !event.target.closest("a")) open(Number(line.dataset.at));
  });
  sort();
  render();
  return {
    show: (wanted) => {
      const known = wanted.question in questions ? wanted.question : "all";
      view = { ...view, agent: "", opponent: "", opening: "", number: "", key: null,
        shown: step, ...wanted, question: known };
      sort();
      render();
    },
    order: () => order,
    select: (at) => {
      chosen = at;
      for (const line of body.children) line.classList.toggle("chosen", Number(line.dataset.at) === at);
    },
  };
};
