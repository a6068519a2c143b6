/* Reload the page of an unfinished run every three seconds. The page of a finished run does not have
   this script. */
setInterval(() => {
  fetch(location.pathname, { method: "HEAD" }).then(
    () => location.reload(),
    () => {
      document.getElementById("live").textContent =
        "No news: the run has ended or was stopped. The same command continues it.";
    },
  );
}, 3000);
