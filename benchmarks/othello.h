/* Othello in C: bitboards, parallel prefix and ray masks, as games.othello.bitboard. */
#include <stdint.h>

#define INNER 0x7E7E7E7E7E7E7E7Eu
#define TOP_BIT 0x8000000000000000u

typedef struct { uint64_t own, other; } State;

static uint64_t rays[64][8]; /* four towards higher bits, then four towards lower ones */

/* Squares that end a run of `through` discs from an own disc, both ways on one axis. */
static inline uint64_t along(uint64_t own, uint64_t through, int by) {
    uint64_t up = through & own << by, down = through & own >> by;
    up |= through & up << by;
    down |= through & down >> by;
    uint64_t pairs_up = through & through << by, pairs_down = pairs_up >> by;
    up |= pairs_up & up << 2 * by;
    down |= pairs_down & down >> 2 * by;
    up |= pairs_up & up << 2 * by;
    down |= pairs_down & down >> 2 * by;
    return up << by | down >> by;
}

static inline uint64_t moves(State s) {
    uint64_t inner = s.other & INNER;
    uint64_t ends = along(s.own, inner, 1) | along(s.own, s.other, 8);
    return (ends | along(s.own, inner, 7) | along(s.own, inner, 9)) & ~(s.own | s.other);
}

static inline State turned(State s) { return (State){s.other, s.own}; }
static inline int over(State s) { return !moves(turned(s)); }

/* Adding one carries through the other's discs. */
static inline uint64_t rising(State s, uint64_t ray) {
    uint64_t end = ((s.other | ~ray) + 1) & s.own & ray;
    return (end - (end != 0)) & ray;
}

/* The highest square that is not the other's ends the run. */
static inline uint64_t falling(State s, uint64_t ray) {
    uint64_t stop = TOP_BIT >> __builtin_clzll((ray & ~s.other) | 1);
    uint64_t end = stop & s.own & ray;
    return -(end + end) & ray;
}

/* The position after a move as its mover sees it; nobody moves twice. */
static inline State after(State s, unsigned square, int *same) {
    const uint64_t *ray = rays[square];
    uint64_t flips = rising(s, ray[0]) | rising(s, ray[1]) | rising(s, ray[2]) | rising(s, ray[3]);
    flips |= falling(s, ray[4]) | falling(s, ray[5]) | falling(s, ray[6]) | falling(s, ray[7]);
    *same = 0;
    return (State){s.other & ~flips, s.own | flips | 1ull << square};
}

static inline State play(State s, uint64_t mask) {
    int same;
    return after(s, (unsigned)__builtin_ctzll(mask), &same);
}

static void prepare(void) {
    static const int down[8] = {0, 1, 1, 1, 0, -1, -1, -1};
    static const int right[8] = {1, -1, 0, 1, -1, 1, 0, -1};
    for (int square = 0; square < 64; square++)
        for (int way = 0; way < 8; way++) {
            int row = square / 8 + down[way], col = square % 8 + right[way];
            for (; row >= 0 && row < 8 && col >= 0 && col < 8; row += down[way], col += right[way])
                rays[square][way] |= 1ull << (row * 8 + col);
        }
}

static State start(void) { return (State){1ull << 28 | 1ull << 35, 1ull << 27 | 1ull << 36}; }
