"use strict";
(() => {
  const place = (id) => document.getElementById(id);
  const QUIET = 12000, SORTED = 5000, SPOKEN = 10000;
  const TABLES = ["rounds", "standings", "matrix"];
  let heard = Date.now(), told = heard, sorted = 0, spoken = 0, over = false;
  let line = place("now").textContent;
  const busy = (part) => part.matches(":hover") || part.contains(document.activeElement);
  const speak = (words) => {
    if (Date.now() - spoken < SPOKEN) return;
    spoken = Date.now();
    place("spoken").textContent = words;
  };
  // Numbers change in place; rows keep their places while somebody points at them.
  const renew = (part, html) => {
    let missing = false;
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    for (const cell of fresh.content.querySelectorAll("[data-of]")) {
      const old = part.querySelector(`[data-of="${cell.dataset.of}"]`);
      if (old === null) missing = true;
      else if (old.innerHTML !== cell.innerHTML) {
        old.className = cell.className;
        old.innerHTML = cell.innerHTML;
      }
    }
    return missing;
  };
  const fill = (part, html) => {
    const across = [...part.querySelectorAll(".wide")].map((each) => each.scrollLeft);
    part.dataset.html = html;
    part.innerHTML = html;
    part.querySelectorAll(".wide").forEach((each, at) => { each.scrollLeft = across[at] || 0; });
  };
  const change = (id, html, still) => {
    const part = place(id);
    if (part === null || html === null || part.dataset.html === html) return;
    const kept = busy(part) || still;
    if (!kept || (renew(part, html) && !busy(part))) fill(part, html);
  };
  const show = (state) => {
    line = state.now;
    place("now").textContent = line;
    if (state.bar === null) place("bar").removeAttribute("value");
    else place("bar").value = state.bar;
    place("answer").textContent = state.answer;
    change("sure", state.sure, false);
    change("checks", state.checks, false);
    const still = Date.now() - sorted < SORTED;
    if (!still) sorted = Date.now();
    for (const id of TABLES) change(id, state[id], still);
    speak(line);
  };
  const end = (words) => {
    over = true;
    source.close();
    place("now").textContent = words;
    place("spoken").textContent = words;
  };
  const source = new EventSource("events");
  source.onmessage = (event) => { heard = told = Date.now(); show(JSON.parse(event.data)); };
  source.addEventListener("alive", () => { heard = Date.now(); });
  source.addEventListener("stopped", (event) => end(JSON.parse(event.data)));
  source.addEventListener("finished", (event) => {
    end(JSON.parse(event.data));
    fetch("report").then((answer) => {
      if (!answer.ok) throw new Error(answer.status);
      return answer.text();
    }).then((page) => {
      document.open();
      document.write(page);
      document.close();
    }).catch(() => {});
  });
  const seconds = (since) => `${Math.round((Date.now() - since) / 1000)} s`;
  setInterval(() => {
    if (over) return;
    if (Date.now() - heard >= QUIET) {
      place("now").textContent = `${line} \u00b7 no news for ${seconds(heard)}`;
    } else if (Date.now() - told >= QUIET) {
      place("now").textContent = `${line} \u00b7 it runs; the latest games are ${seconds(told)} old`;
    }
  }, 1000);
})();
