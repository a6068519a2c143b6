/* While games are played the page is written anew every three seconds. The report that takes its
   place at the end does not have this script. */
setInterval(() => {
  fetch(location.pathname, { method: "HEAD" }).then(
    () => location.reload(),
    () => {
      document.getElementById("live").textContent =
        "No news: the run has ended or was stopped. The same command continues it.";
    },
  );
}, 3000);
