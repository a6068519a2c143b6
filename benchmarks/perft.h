/* What both perft programs share: counting plies as games.drivers does, timing, printing.
   The including file defines State, moves, play, over, turned, prepare and start. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEEPEST 100

static uint64_t leaves[DEEPEST + 1], ended[DEEPEST + 1];

static void count_plies(State s, int ply, int depth) {
    uint64_t mask = moves(s);
    if (!mask) {
        if (over(s)) { ended[ply]++; return; }
        leaves[ply]++;
        if (ply + 1 < depth) count_plies(turned(s), ply + 1, depth);
        return;
    }
    leaves[ply] += (uint64_t)__builtin_popcountll(mask);
    if (ply + 1 == depth) return;
    if (ply + 2 < depth) {
        for (; mask; mask &= mask - 1) count_plies(play(s, mask), ply + 1, depth);
        return;
    }
    uint64_t found = 0;
    for (; mask; mask &= mask - 1) {
        State child = play(s, mask);
        uint64_t replies = moves(child);
        if (replies) found += (uint64_t)__builtin_popcountll(replies);
        else if (over(child)) ended[ply + 1]++;
        else found++;
    }
    leaves[ply + 1] += found;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* perft DEPTH REPEATS: prints "leaves ended_early" for every depth, then the best seconds. */
int main(int words, char **word) {
    int depth = words > 1 ? atoi(word[1]) : 0, repeats = words > 2 ? atoi(word[2]) : 0;
    if (depth < 1 || depth > DEEPEST || repeats < 1) {
        fprintf(stderr, "usage: %s DEPTH REPEATS, DEPTH from 1 to %d\n", word[0], DEEPEST);
        return 2;
    }
    double best = 1e9;
    prepare();
    for (int repeat = 0; repeat < repeats; repeat++) {
        memset(leaves, 0, sizeof leaves);
        memset(ended, 0, sizeof ended);
        double begun = seconds();
        count_plies(start(), 0, depth);
        double taken = seconds() - begun;
        if (taken < best) best = taken;
    }
    uint64_t ended_early = 0;
    for (int ply = 0; ply < depth; ply++) {
        ended_early += ended[ply];
        printf("%" PRIu64 " %" PRIu64 "\n", leaves[ply], ended_early);
    }
    printf("%.9f\n", best);
    return 0;
}
