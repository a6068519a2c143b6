/* Alpha-beta for Kalah (6,4) with the weighted features of agents.features.sowing, in C. */
#include "kalah.h"

#define FEATURES 7
#define SORTED_FROM 2
#define DISTANCES 0x0001020304050607u
#define MANY_BEANS (1 << 17)
#define TURN_LEFT 2

static int64_t weights[FEATURES]; /* in the order of the pack */

static inline int first_slot(uint64_t mask) { return (int)slot_of(mask); }
static inline unsigned last_slot(uint64_t mask) {
    return (63u - (unsigned)__builtin_clzll(mask)) >> 3;
}
static inline uint64_t but_last(uint64_t mask) {
    return mask ^ 0x8000000000000000u >> __builtin_clzll(mask);
}
static inline int64_t pot(State s) { return (int64_t)(s.own >> 56); }
static inline int64_t final(State s) { return pot(s) - pot(turned(s)); }
static inline int64_t in_play(State s) { return (int64_t)beans(s.own & ROW); }
static inline int64_t mobility(State s) { return __builtin_popcountll(moves(s)); }
static inline int64_t far(State s) { return (int64_t)(s.own >> (POT - HOLES) * 8 & 255); }

/* Moves from holes with just enough beans to reach the pot. */
static inline uint64_t reaching(State s) {
    uint64_t off = (s.own & ROW) ^ DISTANCES;
    return TOP ^ ((((off & LOW) + LOW) | off) & TOP);
}
static inline int64_t extra_turn(State s) { return __builtin_popcountll(reaching(s)); }

/* The most beans that the mover's next sowing could take from the other row, laps aside. */
static inline int64_t capture(State s) {
    uint64_t best = 0;
    for (unsigned slot = POT - HOLES; slot < POT; slot++) {
        uint64_t held = s.own >> slot * 8 & 255, last = slot + held;
        if (!held || last >= POT || (s.own >> last * 8 & 255)) continue;
        uint64_t prize = s.other >> (2 * POT - HOLES - 1 - last) * 8 & 255;
        if (prize > best) best = prize;
    }
    return (int64_t)best;
}

/* Beans that the mover's holes would drop in the other row, each sown by itself. */
static inline int64_t given_away(State s) {
    int64_t total = 0;
    for (int slot = POT - HOLES; slot < POT; slot++) {
        int64_t held = (int64_t)(s.own >> slot * 8 & 255);
        int64_t beyond = held % (2 * HOLES + 1) - (POT - slot);
        total += held / (2 * HOLES + 1) * HOLES + (beyond > 0 ? beyond : 0);
        if (beyond > HOLES) total -= beyond - HOLES;
    }
    return total;
}

static inline int64_t evaluate(State s) {
    State t = turned(s);
    int64_t value = 0;
    if (weights[0]) value += weights[0] * (pot(s) - pot(t));
    if (weights[1]) value += weights[1] * (in_play(s) - in_play(t));
    if (weights[2]) value += weights[2] * (extra_turn(s) - extra_turn(t));
    if (weights[3]) value += weights[3] * (capture(s) - capture(t));
    if (weights[4]) value += weights[4] * (mobility(s) - mobility(t));
    if (weights[5]) value += weights[5] * (far(s) - far(t));
    if (weights[6]) value += weights[6] * (given_away(s) - given_away(t));
    return value;
}

/* Extra turns first, then the most beans banked, few extra turns left to the other side. */
static inline int64_t urgency(State s, State child, int same) {
    int64_t banked = pot(child) + pot(turned(child)) - pot(s) - pot(turned(s));
    return same ? banked + MANY_BEANS : banked - TURN_LEFT * extra_turn(child);
}

#include "search.h"
