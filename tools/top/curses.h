/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The terminal of krping-top, by ncurses: a canvas out, keys in. */
#ifndef KRP_TOP_CURSES_H
#define KRP_TOP_CURSES_H

#include <stdbool.h>

#include "canvas.h"

/* Takes the terminal; false if it can show no screen. It is given back at exit, too. */
bool top_curses_start(void);
void top_curses_stop(void);
void top_curses_size(int *height, int *width);
void top_curses_show(const struct krp_canvas *c);
/* A character or one of enum top_key; -1: no more keys. */
int top_curses_key(void);
/* Does the locale of the terminal have the block characters of Unicode? */
bool top_curses_unicode(void);

#endif /* KRP_TOP_CURSES_H */
