// A bot of the line protocol in JavaScript: it plays a hole whose last bean reaches its pot, if any.
const lines = require("readline").createInterface({ input: process.stdin });

lines.on("line", (line) => {
  const [position, legal, seconds, chance, game] = line.trim().split(";");
  const moves = legal.split(" ");
  let best = moves[moves.length - 1];
  if (game.startsWith("kalah")) {
    const south = position.includes("South to move");
    const row = position.split(", ")[south ? 0 : 1].split(" ").slice(1).map(Number);
    for (const move of moves.filter((each) => /^[0-9]+$/.test(each))) {
      const hole = Number(move);
      const steps = south ? row.length + 1 - hole : hole; // from the hole to the own pot
      if (row[hole - 1] === steps) best = move;
    }
  }
  console.log(best);
});
