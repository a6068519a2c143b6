/* Solving Kalah (6,4) in C, as games.solving does: endgame database by threads, then zero-window
   questions on rows without pots.  Prints seconds of the database (elapsed), and for each position
   read from stdin (two words) value, nodes, seconds of the processor, and those to the result.
   usage: solve_kalah BEANS THREADS TABLE_BITS [NODES a position] < positions */
#include "kalah.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WIDTH 64
#define UNKNOWN (-128)
#define LOWEST (-(1 << 20))
#define AGAIN (1 << 20)
#define PENALTY 6
#define PIECES 16
#define PLIES 1024
#define FIRST (POT - HOLES)

typedef struct { uint64_t own, other; } Entry;
typedef struct { State rows; int gain, same; } Child;

static int64_t ranks[2 * POT][WIDTH];
static int8_t *values;
static uint64_t *rows, starts[WIDTH + 1];
static Entry *table;
static uint64_t table_mask, nodes, most_nodes;
static int most_beans;

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t choose(int n, int k) {
    double product = 1;
    for (int i = 1; i <= k; i++) product = product * (n - k + i) / i;
    return (uint64_t)(product + .5);
}

static inline uint64_t rank_of(State s) {
    uint64_t sums = s.own * EACH, total = sums >> 48 & 255;
    uint64_t more = (s.other + (total << 8 * FIRST)) * EACH;
    int64_t rank = 0;
    for (int hole = 0; hole < HOLES; hole++) rank += ranks[hole][sums >> 8 * (FIRST + hole) & 255];
    for (int hole = 0; hole < HOLES; hole++)
        rank += ranks[HOLES + hole][more >> 8 * (FIRST + hole) & 255];
    return (uint64_t)rank;
}

/* The rows after a move as its mover sees them, without pots; whether the game is over. */
static inline int played(State s, unsigned slot, Child *child) {
    State next = after(s, slot, &child->same);
    int own = (int)(next.own >> 56), other = (int)(next.other >> 56);
    child->gain = child->same ? own - other : other - own;
    child->rows = (State){next.own & ROW, next.other & ROW};
    return !(child->rows.own | child->rows.other);
}

static inline unsigned last_slot(uint64_t mask) { return (unsigned)(63 - __builtin_clzll(mask)) >> 3; }
static inline uint64_t but_last(uint64_t mask) { return mask ^ 1ull << (63 - __builtin_clzll(mask)); }

/* ---- the database */

static int value_of(State s) {
    uint64_t place = rank_of(s);
    int best = values[place];
    if (best != UNKNOWN) return best;
    for (uint64_t mask = moves(s); mask; mask = but_last(mask)) {
        Child child;
        int value, over = played(s, last_slot(mask), &child);
        value = child.gain;
        if (!over) value += child.same ? value_of(child.rows) : -value_of(child.rows);
        if (value > best) best = value;
    }
    values[place] = (int8_t)best;
    return best;
}

static int held;
static uint64_t next_piece, piece;

static void *fill(void *nothing) {
    uint64_t end = starts[held + 1];
    for (;;) {
        uint64_t from = __atomic_fetch_add(&next_piece, piece, __ATOMIC_RELAXED), to = from + piece;
        if (from >= end) return nothing;
        for (uint64_t own = from; own < (to < end ? to : end); own++) {
            int left = held - (int)beans(rows[own]);
            for (uint64_t at = starts[left]; at < starts[left + 1]; at++)
                value_of((State){rows[own], rows[at]});
        }
    }
}

static void list_rows(int total, uint64_t at) {
    uint64_t row = (uint64_t)total << 8 * FIRST;
    for (; at < starts[total + 1]; at++) {
        rows[at] = row;
        int shift = 8 * FIRST;
        while (shift < 8 * (POT - 1) && !(row >> shift & 255)) shift += 8;
        uint64_t taken = row >> shift & 255;
        row += ((taken - 1) << 8 * FIRST) - (taken << shift);
        if (shift < 8 * (POT - 1)) row += 1ull << (shift + 8);
    }
}

static void build(int threads) {
    for (int cell = 0; cell < 2 * POT; cell++)
        for (int sum = 0; sum < WIDTH; sum++) ranks[cell][sum] = (int64_t)(sum ? choose(sum + cell, cell + 1) : 0);
    uint64_t size = choose(most_beans + 2 * HOLES, 2 * HOLES);
    values = malloc(size);
    memset(values, UNKNOWN, size);
    for (int total = 0; total <= most_beans; total++)
        starts[total + 1] = starts[total] + choose(total + HOLES - 1, HOLES - 1);
    rows = malloc(starts[most_beans + 1] * sizeof *rows);
    for (int total = 0; total <= most_beans; total++) list_rows(total, starts[total]);
    for (held = 1; held <= most_beans; held++) {
        pthread_t others[64];
        next_piece = starts[1];
        piece = (starts[held + 1] - starts[1]) / (uint64_t)(threads * PIECES) + 1;
        for (int i = 1; i < threads; i++) pthread_create(&others[i], 0, fill, 0);
        fill(0);
        for (int i = 1; i < threads; i++) pthread_join(others[i], 0);
    }
}

/* ---- the search */

static inline Entry *bucket(State s) {
    uint64_t word = s.own * 0x9E3779B97F4A7C15u + (s.other ^ s.other >> 31) * 0xD6E8FEB86659FD93u;
    word = (word ^ word >> 29) * 0xBF58476D1CE4E5B9u;
    return table + (word >> 20 & table_mask) / 2;
}

static inline Entry *found(State s) {
    Entry *entry = bucket(s);
    for (int i = 0; i < 4; i++, entry++)
        if ((entry->own & ROW) == s.own && (entry->other & ROW) == s.other) return entry;
    return 0;
}

static inline int low_of(const Entry *entry) { return (int)(entry->own >> 56) - 128; }
static inline int high_of(const Entry *entry) { return (int)(entry->other >> 56) - 128; }

static inline int store(State s, int total, int bound, int value) {
    int low = -total, high = total;
    Entry *entry = found(s);
    if (entry) {
        low = low_of(entry);
        high = high_of(entry);
    } else {
        Entry *place = bucket(s);
        uint64_t fewest = 1 << 20;
        for (int i = 0; i < 4; i++, place++) {
            uint64_t count = beans(place->own & ROW) + beans(place->other & ROW);
            if (count < fewest) {
                entry = place;
                fewest = count;
            }
        }
    }
    if (value >= bound) low = value > low ? value : low;
    else high = value < high ? value : high;
    *entry = (Entry){s.own | (uint64_t)(low + 128) << 56, s.other | (uint64_t)(high + 128) << 56};
    return value;
}

static inline int reaching(State s) {
    uint64_t off = (s.own & ROW) ^ 0x0001020304050607u;
    return __builtin_popcountll(TOP ^ ((((off & LOW) + LOW) | off) & TOP));
}

static inline int settled(const Child *child, int bound) {
    int total = (int)(beans(child->rows.own) + beans(child->rows.other)), gain = child->gain;
    if (total <= most_beans) {
        int value = values[rank_of(child->rows)];
        return child->same ? gain + value : gain - value;
    }
    int low = gain - total, high = gain + total;
    if (low >= bound) return low;
    if (high < bound) return high;
    const Entry *entry = found(child->rows);
    if (entry) {
        low = child->same ? gain + low_of(entry) : gain - high_of(entry);
        high = child->same ? gain + high_of(entry) : gain - low_of(entry);
        if (low >= bound) return low;
        if (high < bound) return high;
    }
    return LOWEST;
}

static Child children[PLIES][8];
static int64_t orders[PLIES][8];

static int at_least(State s, int bound, int ply) {
    if (++nodes > most_nodes) return 0;
    const Entry *known = found(s);
    if (known) {
        if (low_of(known) >= bound) return low_of(known);
        if (high_of(known) < bound) return high_of(known);
    }
    int total = (int)(beans(s.own) + beans(s.other)), best = LOWEST, count = 0;
    Child *child = children[ply];
    int64_t *order = orders[ply];
    for (uint64_t mask = moves(s); mask; mask = but_last(mask)) {
        unsigned slot = last_slot(mask);
        int over = played(s, slot, &child[count]);
        int value = over ? child[count].gain : settled(&child[count], bound);
        if (value >= bound) return store(s, total, bound, value);
        if (value > best) best = value;
        if (value != LOWEST) continue;
        int64_t urgency = AGAIN + (int64_t)slot;
        if (!child[count].same)
            urgency = 8 * child[count].gain + (int64_t)slot - PENALTY * reaching(child[count].rows);
        int64_t item = urgency * 8 + count;
        int place = count++;
        for (; place && order[place - 1] < item; place--) order[place] = order[place - 1];
        order[place] = item;
    }
    for (int i = 0; i < count && best < bound; i++) {
        const Child *next = &child[order[i] & 7];
        int value = next->same ? next->gain + at_least(next->rows, bound - next->gain, ply + 1)
                               : next->gain - at_least(next->rows, next->gain - bound + 1, ply + 1);
        if (nodes > most_nodes) return 0;
        if (value > best) best = value;
    }
    return store(s, total, bound, best);
}

/* Win? Draw? Then from the bound that came back; `more` is what the mover's pot is ahead.  As far
   as the nodes last: a position that takes more keeps the bound that it has. */
static int value_by_questions(State s, int more, double *result_seconds) {
    double begun = now(CLOCK_PROCESS_CPUTIME_ID);
    int total = (int)(beans(s.own) + beans(s.other)), low = more - total, high = more + total;
    int value = total <= most_beans ? more + values[rank_of(s)] : 0;
    *result_seconds = -1;
    if (total <= most_beans) low = high = value;
    while (low < high && nodes < most_nodes) {
        if (*result_seconds < 0 && (low > 0 || high < 0)) *result_seconds = now(CLOCK_PROCESS_CPUTIME_ID) - begun;
        int bound = low < 1 && 1 <= high ? 1 : low < 0 && 0 <= high ? 0 : low > 0 ? low + 1 : high;
        value = more + at_least(s, bound - more, 0);
        if (nodes >= most_nodes) break;
        if (value >= bound) low = value;
        else high = value;
    }
    if (*result_seconds < 0) *result_seconds = now(CLOCK_PROCESS_CPUTIME_ID) - begun;
    return low;
}

int main(int count, char **words) {
    (void)start;  // of kalah.h; positions come from stdin
    if (count < 4) return 2;
    most_beans = atoi(words[1]);
    most_nodes = count > 4 ? strtoull(words[4], 0, 10) : UINT64_MAX;
    prepare();
    double begun = now(CLOCK_MONOTONIC);
    build(atoi(words[2]));
    printf("%.6f\n", now(CLOCK_MONOTONIC) - begun);
    uint64_t size = 1ull << atoi(words[3]);
    table = aligned_alloc(64, size * sizeof *table);
    State s;
    while (scanf("%" SCNu64 " %" SCNu64, &s.own, &s.other) == 2) {
        int more = (int)(s.own >> 56) - (int)(s.other >> 56);
        double result_seconds;
        s = (State){s.own & ROW, s.other & ROW};
        memset(table, 0, size * sizeof *table);
        table_mask = size * 2 - 8;
        nodes = 0;
        begun = now(CLOCK_PROCESS_CPUTIME_ID);
        int value = value_by_questions(s, more, &result_seconds);
        double seconds = now(CLOCK_PROCESS_CPUTIME_ID) - begun;
        printf("%d %" PRIu64 " %.6f %.6f\n", value, nodes, seconds, result_seconds);
    }
    return 0;
}
