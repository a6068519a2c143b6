/* Perft of Kalah (6,4), `pitflip game GAME perft` in C: the last ply is counted, not played. */
#include "kalah.h"

#include "perft.h"
