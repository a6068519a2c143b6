// A bot of the line protocol in Java: it plays a hole whose last bean reaches its pot, if any.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

public class LineBot {
    public static void main(String[] arguments) throws IOException {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            String[] fields = line.trim().split(";"); // position, legal moves, seconds, chance, game
            String[] moves = fields[1].split(" ");
            String best = moves[moves.length - 1];
            if (fields[4].startsWith("kalah")) {
                boolean south = fields[0].contains("South to move");
                String[] row = fields[0].split(", ")[south ? 0 : 1].split(" "); // row[0] is a letter
                for (String move : moves) {
                    if (!move.matches("[0-9]+")) continue;
                    int hole = Integer.parseInt(move);
                    int steps = south ? row.length - hole : hole; // from the hole to the own pot
                    if (Integer.parseInt(row[hole]) == steps) best = move;
                }
            }
            System.out.println(best);
        }
    }
}
