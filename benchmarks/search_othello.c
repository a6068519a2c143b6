/* Alpha-beta for Othello with the weighted features of agents.features.othello, in C. */
#include "othello.h"

#define FEATURES 6
#define SORTED_FROM 2
#define ROWS 0xFF000000000000FFu
#define COLUMNS 0x8181818181818181u
#define CORNERS (ROWS & COLUMNS)

static int64_t weights[FEATURES]; /* disc, mobility, potential_mobility, corner, edge, danger */

static inline int first_slot(uint64_t mask) { return __builtin_ctzll(mask); }
static inline unsigned last_slot(uint64_t mask) { return 63u - (unsigned)__builtin_clzll(mask); }
static inline uint64_t but_last(uint64_t mask) { return mask ^ TOP_BIT >> __builtin_clzll(mask); }
static inline int64_t bits(uint64_t area) { return __builtin_popcountll(area); }

/* Disc difference, empty squares counted for the winner. */
static inline int64_t final(State s) {
    int64_t own = bits(s.own), other = bits(s.other), empties = 64 - own - other;
    return own > other ? own - other + empties : own < other ? own - other - empties : 0;
}

static inline uint64_t beside(uint64_t area) { return area << 1 | area >> 1; }
static inline uint64_t above_below(uint64_t area) { return area << 8 | area >> 8; }
static inline uint64_t around(uint64_t area) {
    uint64_t wide = beside(area & ~COLUMNS) | (beside(area & COLUMNS) & ~COLUMNS) | area;
    return wide | above_below(wide);
}

static inline int64_t disc(State s) { return bits(s.own); }
static inline int64_t mobility(State s) { return bits(moves(s)); }
static inline int64_t potential_mobility(State s) {
    return bits(around(s.other) & ~(s.own | s.other));
}
static inline int64_t corner(State s) { return bits(s.own & CORNERS); }

/* The own discs on `line` joined by own discs to an own corner. */
static inline uint64_t joined(uint64_t own, uint64_t line, int by) {
    uint64_t own_line = own & line, run = own_line & CORNERS, grown = run;
    while (grown) {
        grown = (grown << by | grown >> by) & own_line & ~run;
        run |= grown;
    }
    return run;
}
static inline int64_t edge(State s) {
    uint64_t stable = joined(s.own, ROWS, 1) | joined(s.own, COLUMNS, 8);
    uint64_t border = s.own & (ROWS | COLUMNS) & ~CORNERS, loose = border & ~stable;
    uint64_t open_corners = CORNERS & ~(s.own | s.other);
    uint64_t exposed = (ROWS & beside(open_corners)) | (COLUMNS & above_below(open_corners));
    return bits(border) - 2 * bits(loose) - 2 * bits(loose & exposed);
}
static inline int64_t danger(State s) {
    uint64_t open_corners = CORNERS & ~(s.own | s.other);
    return -2 * bits(above_below(beside(open_corners)) & ~(ROWS | COLUMNS) & s.own);
}

static inline double ratio(int64_t own, int64_t other) {
    int64_t total = (own < 0 ? -own : own) + (other < 0 ? -other : other);
    return total ? 100.0 * (double)(own - other) / (double)total : 0.0;
}

static inline int64_t evaluate(State s) {
    State t = turned(s);
    double value = 0.0;
    if (weights[0]) value += (double)weights[0] * ratio(disc(s), disc(t));
    if (weights[1]) value += (double)weights[1] * ratio(mobility(s), mobility(t));
    if (weights[2])
        value += (double)weights[2] * ratio(potential_mobility(s), potential_mobility(t));
    if (weights[3]) value += (double)weights[3] * ratio(corner(s), corner(t));
    if (weights[4]) value += (double)weights[4] * ratio(edge(s), edge(t));
    if (weights[5]) value += (double)weights[5] * ratio(danger(s), danger(t));
    return (int64_t)(value + (value > 0.0 ? 0.5 : -0.5));
}

/* Few replies and few discs first; replies in corners count twice. */
static inline int64_t urgency(State s, State child, int same) {
    (void)same;
    uint64_t replies = moves(child);
    int64_t cost = 8 * (bits(replies) + bits(replies & CORNERS)) + bits(child.other);
    return (child.other & CORNERS & ~s.own ? 4 : 0) - cost;
}

#include "search.h"
