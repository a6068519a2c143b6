/* A bot of the line protocol in C: it plays a hole whose last bean reaches its pot, if any. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        char *position = strtok(line, ";"), *legal = strtok(NULL, ";");
        strtok(NULL, ";"); /* seconds */
        strtok(NULL, ";"); /* chance */
        char *game = strtok(NULL, ";\r\n"), *best = strrchr(legal, ' ');
        int south = strstr(position, "South to move") != NULL, row[18] = {0}, holes = 0;
        if (strncmp(game, "kalah", 5) == 0) {
            char *at = south ? position + 1 : strstr(position, ", N") + 3, *end;
            for (row[1] = strtol(at, &end, 10); end != at; row[holes + 1] = strtol(at, &end, 10)) {
                holes++; /* the beans in hole 1, 2, ..., as they are printed */
                at = end;
            }
        }
        best = best ? best + 1 : legal;
        for (char *move = strtok(legal, " "); move; move = strtok(NULL, " ")) {
            int hole = atoi(move);
            int steps = south ? holes + 1 - hole : hole; /* from the hole to the own pot */
            if (hole >= 1 && hole <= holes && row[hole] == steps)
                best = move;
        }
        printf("%s\n", best);
        fflush(stdout); /* else the line stays in a buffer, and the bot loses on time */
    }
    return 0;
}
