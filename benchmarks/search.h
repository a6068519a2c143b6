/* What both search programs share: agents.kernels.search and .choose in C, to a fixed depth.
   The including file defines State, moves, after, over, turned, final, first_slot, last_slot,
   but_last, prepare, start, FEATURES, weights, evaluate, urgency and SORTED_FROM. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNIT 1000
#define WIN 1000000000ll
#define HIGHEST 2000000000ll
#define MOST_PLIES 64
#define MOST_MOVES 64
#define ENTRIES (1 << 16)
enum { AT_MOST = 1, AT_LEAST, EXACTLY };

typedef struct { uint64_t key; int64_t score; uint16_t depth, slot; uint8_t bound, solved; } Entry;

static Entry entries[ENTRIES];
static int64_t orders[MOST_PLIES][MOST_MOVES];
static uint64_t nodes, guesses, salt;

static inline uint64_t key(State s) {
    uint64_t word = s.own * 0x9E3779B97F4A7C15u + (s.other ^ s.other >> 31) * 0xD6E8FEB86659FD93u;
    word = (word ^ word >> 29) * 0xBF58476D1CE4E5B9u;
    return (word ^ word >> 32) | 1;
}

static inline int64_t exact(int64_t margin) {
    if (!margin) return 0;
    return margin > 0 ? WIN + UNIT * margin : UNIT * margin - WIN;
}

static inline int64_t leaf(State s) {
    if (!moves(s) && over(s)) return exact(final(s));
    guesses++;
    return evaluate(s);
}

static inline int64_t last_ply(State s, uint64_t mask, int64_t beta) {
    int64_t best = -HIGHEST;
    for (; mask && best < beta; mask = but_last(mask)) {
        int same;
        State child = after(s, last_slot(mask), &same);
        int64_t value = leaf(child);
        nodes++;
        if (!same) value = -value;
        if (value > best) best = value;
    }
    return best;
}

static inline int listed(int64_t *order, uint64_t mask) {
    int found = 0;
    for (; mask; mask = but_last(mask)) order[found++] = last_slot(mask);
    return found;
}

static inline void move_first(int64_t *order, int found, int slot) {
    for (int place = 0; place < found; place++)
        if ((order[place] & 255) == slot) {
            memmove(order + 1, order, (size_t)place * sizeof *order);
            order[0] = slot;
            return;
        }
}

static inline void sort_by_urgency(State s, int64_t *order, int found) {
    for (int place = 0; place < found; place++) {
        int64_t slot = order[place];
        int same, hole = place;
        State child = after(s, (unsigned)slot, &same);
        int64_t item = urgency(s, child, same) * 256 + slot;
        for (; hole > 0 && order[hole - 1] < item; hole--) order[hole] = order[hole - 1];
        order[hole] = item;
    }
}

static inline int order_moves(State s, uint64_t mask, int depth, int64_t *order, int best) {
    int found = listed(order, mask);
    if (depth >= SORTED_FROM) sort_by_urgency(s, order, found);
    if (best >= 0) move_first(order, found, best);
    return found;
}

static inline int decides(const Entry *entry, int depth, int64_t alpha, int64_t beta) {
    if (entry->depth != depth && !(entry->solved && entry->depth < depth)) return 0;
    if (entry->bound == EXACTLY) return 1;
    return entry->bound == AT_LEAST ? entry->score >= beta : entry->score <= alpha;
}

static int64_t value_within(State s, int depth, int ply, int64_t alpha, int64_t beta) {
    nodes++;
    uint64_t mask = moves(s);
    if (!mask && over(s)) return exact(final(s));
    if (depth <= 0 || ply >= MOST_PLIES) return leaf(s);
    if (!mask) return -value_within(turned(s), depth, ply + 1, -beta, -alpha);
    if (depth == 1) return last_ply(s, mask, beta);
    uint64_t word = key(s);
    Entry *entry = &entries[word >> 8 & (ENTRIES - 1)];
    int known = entry->key == (word ^ salt);
    if (known && decides(entry, depth, alpha, beta)) {
        if (!entry->solved) guesses++;
        return entry->score;
    }
    int64_t *order = orders[ply];
    int found = order_moves(s, mask, depth, order, known ? entry->slot : -1);
    uint64_t guessed = guesses;
    int64_t floor = alpha, best = -HIGHEST;
    int best_slot = 0;
    for (int i = 0; i < found; i++) {
        int slot = (int)(order[i] & 255), same;
        State child = after(s, (unsigned)slot, &same);
        int64_t value, high = i ? alpha + 1 : beta;
        for (;;) {
            value = same ? value_within(child, depth - 1, ply + 1, alpha, high)
                         : -value_within(child, depth - 1, ply + 1, -high, -alpha);
            if (high == beta || value <= alpha || value >= beta) break;
            high = beta;
        }
        if (value > best) {
            best = value;
            best_slot = slot;
            if (value > alpha) alpha = value;
            if (alpha >= beta) break;
        }
    }
    entry->key = word ^ salt;
    entry->score = best;
    entry->depth = (uint16_t)depth;
    entry->slot = (uint16_t)best_slot;
    entry->bound = best >= beta ? AT_LEAST : best > floor ? EXACTLY : AT_MOST;
    entry->solved = guesses == guessed;
    return best;
}

typedef struct { int slot; int64_t value; } Choice;

/* One iteration: the best move so far first, ties to the first on the board. */
static Choice root(State s, int depth, Choice last) {
    int slots[MOST_MOVES], found = 0, hint = 0;
    for (uint64_t mask = moves(s); mask; mask &= mask - 1) slots[found++] = first_slot(mask);
    for (int i = 0; i < found; i++)
        if (slots[i] == last.slot) hint = i;
    int64_t best = -HIGHEST;
    int best_place = -1;
    for (int i = 0; i < found; i++) {
        int place = i == 0 ? hint : i <= hint ? i - 1 : i, same;
        State child = after(s, (unsigned)slots[place], &same);
        int64_t alpha = i > 0 && place < best_place ? best - 1 : best, value;
        for (int64_t beta = i ? alpha + 1 : HIGHEST;; beta = HIGHEST) {
            value = same ? value_within(child, depth - 1, 1, alpha, beta)
                         : -value_within(child, depth - 1, 1, -beta, -alpha);
            if (value <= alpha || beta == HIGHEST) break;
        }
        if (value > best || (value == best && alpha < best)) {
            best = value;
            best_place = place;
        }
    }
    return (Choice){slots[best_place], best};
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* search DEPTH REPEATS WEIGHT...: prints nodes, value and slot of the move, then the best seconds. */
int main(int words, char **word) {
    int depth = words > 1 ? atoi(word[1]) : 0, repeats = words > 2 ? atoi(word[2]) : 0;
    if (depth < 1 || depth > MOST_PLIES || repeats < 1 || words != 3 + FEATURES) {
        fprintf(stderr, "usage: %s DEPTH REPEATS and %d WEIGHTs\n", word[0], FEATURES);
        return 2;
    }
    for (int i = 0; i < FEATURES; i++) weights[i] = atoll(word[3 + i]);
    double best = 1e9;
    Choice choice = {0, 0};
    prepare();
    for (int repeat = 0; repeat < repeats; repeat++) {
        double begun = seconds();
        salt += 0x9E3779B97F4A7C15u; /* entries of earlier repeats do not match */
        nodes = guesses = 0;
        choice = (Choice){first_slot(moves(start())), 0};
        for (int to = 1; to <= depth; to++) choice = root(start(), to, choice);
        double taken = seconds() - begun;
        if (taken < best) best = taken;
    }
    printf("%" PRIu64 "\n%" PRId64 "\n%d\n%.9f\n", nodes, choice.value, choice.slot, best);
    return 0;
}
