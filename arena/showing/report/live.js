"use strict";
(() => {
  const place = (id) => document.getElementById(id);
  const QUIET = 12000, SORTED = 5000, SPOKEN = 10000;
  let heard = Date.now(), sorted = 0, spoken = 0, line = place("now").textContent, over = false;
  const busy = (part) => part.matches(":hover") || part.contains(document.activeElement);
  const speak = (words) => {
    if (Date.now() - spoken < SPOKEN) return;
    spoken = Date.now();
    place("spoken").textContent = words;
  };
  const fill = (id, html) => {
    const part = place(id);
    if (part.dataset.html === html || busy(part)) return;
    part.dataset.html = html;
    part.innerHTML = html;
  };
  const show = (state) => {
    line = state.now;
    place("now").textContent = line;
    place("bar").value = state.bar;
    place("answer").textContent = state.answer;
    fill("sure", state.sure);
    fill("checks", state.checks);
    if (Date.now() - sorted >= SORTED) {
      sorted = Date.now();
      fill("standings", state.standings);
      fill("matrix", state.matrix);
    }
    speak(line);
  };
  const end = (words) => {
    over = true;
    source.close();
    place("now").textContent = words;
    place("spoken").textContent = words;
  };
  const source = new EventSource("events");
  source.onmessage = (event) => { heard = Date.now(); show(JSON.parse(event.data)); };
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
  setInterval(() => {
    const silent = Date.now() - heard;
    if (!over && silent >= QUIET) {
      place("now").textContent = `${line} \u00b7 no news for ${Math.round(silent / 1000)} s`;
    }
  }, 1000);
})();
