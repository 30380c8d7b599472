/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A rectangle of characters that views draw on. It knows of no terminal, so
 * that what is drawn can be tested, or printed, without one.
 */
#ifndef KRP_TOP_CANVAS_H
#define KRP_TOP_CANVAS_H

#include <stdint.h>
#include <stdio.h>

enum krp_colour {
	KRP_PLAIN,
	KRP_RED,
	KRP_GREEN,
	KRP_YELLOW,
	KRP_BLUE,
	KRP_MAGENTA,
	KRP_CYAN,
	KRP_NR_COLOURS,
};

/* An attribute is a colour, and any of these. */
#define KRP_BOLD	 0x10
#define KRP_REVERSE	 0x20
#define KRP_COLOUR(attr) (0xf & (attr))

struct krp_cell {
	char ch[4]; /* one character, UTF-8, with its NUL */
	uint8_t attr;
};

struct krp_canvas {
	int height, width;
	struct krp_cell *cell;
};

/* Makes the canvas that large, and blank. */
void krp_canvas_init(struct krp_canvas *c, int height, int width);
void krp_canvas_free(struct krp_canvas *c);

/*
 * Text outside the canvas is cut, with a '>' at the edge, so that no number looks like a shorter one. Text is ASCII: other bytes, which names from
 * elsewhere may have, become '?'. Both functions return the column behind the
 * text.
 */
int krp_canvas_text(struct krp_canvas *c, int y, int x, int attr, const char *s);
int krp_canvas_printf(struct krp_canvas *c, int y, int x, int attr, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* One character in UTF-8, of three bytes at most. */
void krp_canvas_put(struct krp_canvas *c, int y, int x, int attr, const char *ch);
/* Gives a part of a line another attribute. */
void krp_canvas_attr(struct krp_canvas *c, int y, int x, int width, int attr);
/* A line as text, without blanks at its end; cut where buf ends. */
void krp_canvas_line(const struct krp_canvas *c, int y, char *buf, size_t size);

#endif /* KRP_TOP_CANVAS_H */
