/* Kalah (6,4) in C: two 64-bit words and a sowing table, as games.sowing.packed. */
#include <stdint.h>

#define POT 7
#ifndef HOLES
#define HOLES 6
#endif
#ifndef BEANS
#define BEANS 4
#endif
#define TOTAL (2 * HOLES * BEANS)
#define ELSEWHERE 8
#define ROW 0x00FFFFFFFFFFFFFFu
#define LOW 0x007F7F7F7F7F7F7Fu
#define TOP 0x0080808080808080u
#define EACH 0x0101010101010101u

/* One byte a cell: the pot in the top lane, the row right under it. */
typedef struct { uint64_t own, other; } State;
typedef struct { uint64_t own, other; unsigned last; } Sowing;

static Sowing sowings[POT][TOTAL + 1];

static inline uint64_t moves(State s) { return (((s.own & LOW) + LOW) | s.own) & TOP; }
static inline unsigned slot_of(uint64_t mask) { return (unsigned)__builtin_ctzll(mask) >> 3; }
static inline uint64_t beans(uint64_t row) { return (row * EACH) >> 56; }
static inline int over(State s) { (void)s; return 1; }
static inline State turned(State s) { return (State){s.other, s.own}; }

/* A last bean alone in a hole takes itself and what lies opposite, if anything does. */
static inline State captured(State s, unsigned slot) {
    unsigned facing = (2 * POT - HOLES - 1 - slot) * 8;
    uint64_t prize = s.other >> facing & 255;
    if (prize) {
        s.own += ((prize + 1) << 56) - (1ull << slot * 8);
        s.other -= prize << facing;
    }
    return s;
}

/* Each side banks its own row. */
static inline State swept(State s) {
    uint64_t own = (s.own >> 56) + beans(s.own & ROW);
    uint64_t other = (s.other >> 56) + beans(s.other & ROW);
    return (State){own << 56, other << 56};
}

/* The position after a move as its mover sees it, and whether the same side moves again. */
static inline State after(State s, unsigned slot, int *same) {
    uint64_t taken = s.own >> slot * 8 & 255;
    const Sowing *sowing = &sowings[slot][taken];
    unsigned last = sowing->last;
    s.own += sowing->own - (taken << slot * 8);
    s.other += sowing->other;
    if (last < POT && (s.own >> last * 8 & 255) == 1) s = captured(s, last);
    if (!(s.own & ROW) || !(s.other & ROW)) s = swept(s);
    *same = last == POT;
    return *same ? s : turned(s);
}

static inline State play(State s, uint64_t mask) {
    int same;
    return after(s, slot_of(mask), &same);
}

static void prepare(void) {
    for (int hole = 0; hole < HOLES; hole++) {
        Sowing sowing = {0, 0, ELSEWHERE};
        int slot = POT - HOLES + hole;
        for (int bean = 1; bean <= TOTAL; bean++) {
            int cell = (hole + bean) % (2 * HOLES + 1); /* the other's pot is skipped */
            if (cell <= HOLES) sowing.own += 1ull << (POT - HOLES + cell) * 8;
            else sowing.other += 1ull << (POT - 2 * HOLES - 1 + cell) * 8;
            sowing.last = cell <= HOLES ? (unsigned)(POT - HOLES + cell) : ELSEWHERE;
            sowings[slot][bean] = sowing;
        }
    }
}

static State start(void) {
    State s = {0, 0};
    for (int hole = 0; hole < HOLES; hole++) s.own |= (uint64_t)BEANS << (POT - HOLES + hole) * 8;
    s.other = s.own;
    return s;
}
