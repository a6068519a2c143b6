/* Perft of Othello, `pitflip game GAME perft` in C: the last ply is counted, not played. */
#include "othello.h"

#include "perft.h"
