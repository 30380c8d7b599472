/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What krping-top shows and how keys change that: columns for a width, order,
 * filter, and the screens, drawn on a canvas. This code knows no terminal.
 */
#ifndef KRP_TOP_VIEW_H
#define KRP_TOP_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"
#include "../lib/hwcnt.h"
#include "../lib/environment.h"
#include "rows.h"

/*
 * From left to right: those of groups, where iterations and bytes count at each end, and the columns say so; and those of
 * runs, some of which groups have, too.
 */
enum top_col {
	TOP_GROUP,
	TOP_ENDS,
	TOP_RUNNING,
	TOP_END_RATE,
	TOP_END_MB,
	TOP_RUN,
	TOP_ROLE,
	TOP_TEST,
	TOP_DEV,
	TOP_RATE,
	TOP_MB,
	TOP_P50,
	TOP_P99,
	TOP_ERR,
	TOP_STATE,
	TOP_PEER,
	TOP_QD,
	TOP_MAX,
	TOP_NAME,
	TOP_SIZE,
	TOP_BAR,
	TOP_NR_COLS,
};

struct top_layout {
	unsigned int nr;
	struct {
		enum top_col col;
		int x, width;
	} v[TOP_NR_COLS];
	int width; /* of a whole line */
};

/* The columns of runs, or of groups, that fit into a line of that many characters. */
void top_layout(struct top_layout *l, int width, bool groups);
/* The column of runs, or of groups, that has what this one has; TOP_RUN or TOP_GROUP if none has. */
enum top_col top_column_of(enum top_col col, bool groups);
/* The place of a column in a layout; -1: it is not there. */
int top_layout_find(const struct top_layout *l, enum top_col col);
const char *top_col_head(enum top_col col);
/* The words of --sort, between commas. */
const char *top_sort_words(void);
/* The column of such a word; -1: none. */
int top_sort_column(const char *word);

/* The text of a cell, at its full length. Not for TOP_BAR. */
void top_cell(const struct top_row *r, enum top_col col, char *buf, size_t size);

/*
 * Sorts by a column, the largest or the first of the alphabet first; equal rows by id, or groups by
 * their keys. keys is NULL where the rows are runs. bad_first: what has errors is before the others.
 */
void top_sort(struct top_row **v, size_t nr, enum top_col col, bool reverse, bool bad_first,
	      const struct krp_groups *keys);
/* Is text in one of the cells that the layout has? Case does not matter. */
bool top_match(const struct top_row *r, const struct top_layout *l, const char *text);

/* What phases are for, in the bars. */
enum top_class {
	TOP_SETUP,
	TOP_DATA,
	TOP_REGISTER,
	TOP_SEND,
	TOP_WAIT,
	TOP_TRANSFER,
	TOP_OTHER,
	TOP_NR_CLASSES,
};

enum top_class top_phase_class(uint32_t phase);
char top_class_letter(enum top_class c);
const char *top_class_word(enum top_class c);
int top_class_colour(enum top_class c);
/*
 * Divides width among the classes in proportion to the time of their phases.
 * The parts add up to width, or to 0 if there was no time.
 */
void top_bar(const uint64_t *phase_ns, int width, int part[TOP_NR_CLASSES]);

/*
 * A picture of a histogram: bars over a logarithmic axis of time, the axis and
 * its labels below. Draws nothing if the histogram is empty or there is no
 * room.
 */
void top_picture(struct krp_canvas *c, int y, int x, int height, int width,
		 const struct krp_hist *h, bool unicode);

enum top_screen {
	TOP_LIST,
	TOP_ONE,
	TOP_HELP,
};

enum top_key {
	TOP_KEY_UP = 0x110000, /* beyond all characters */
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_ESC,
	TOP_KEY_BACKSPACE,
};

/* The smallest terminal that something can be shown on. */
#define TOP_MIN_WIDTH  40
#define TOP_MIN_HEIGHT 8

struct top_view {
	/* The data. */
	struct top_rows *rows;
	struct krp_hwports *ports;
	const struct krp_environment *environment;
	struct top_groups *groups;
	uint64_t now, keep_ns;
	char lost[24]; /* lost events; "-" if it is unknown */
	char clock[16];
	/* Of a recording: how much of it was shown, from 0 to 1, or negative, and that it is over. */
	bool replays;
	double position;
	bool at_end;
	/* What the user asked for. */
	bool full;  /* this is the full screen */
	bool apart; /* there, two ends of a ping that are both here have a row each */
	bool unicode;
	enum top_screen screen, below_help;
	enum top_col sort;
	bool reverse, paused, typing, interval_only;
	char filter[64];
	unsigned int max_rows; /* 0: all */
	char absent[96];       /* what is awaited and not there yet; "": nothing */
	unsigned int steps;    /* of a recording: so many intervals are wanted */
	enum krp_by by;	       /* the list is of groups; KRP_BY_RUN: of runs */
	uint32_t within;       /* the list is of the runs of this group, by its id; 0: it is not */
	uint32_t selected;     /* a run, or a group by its id */
	uint32_t opened;       /* a run, on the screen TOP_ONE */
	int scroll;	       /* of TOP_ONE */
	/* What a key has asked the tool for: x stops the run, s and m show its stages and its keys; 0: nothing. */
	char wish;
	uint32_t wish_run;
	uint32_t asked; /* a key x asked for the end of this run, and another one is to confirm it */
	char said[256]; /* in the last line, until the next key */
	/* The result, for the screen. */
	struct top_row **shown;
	size_t nr_shown, room_shown;
	unsigned long shown_dropped; /* rows that had been freed then */
	int shown_width;
	size_t first; /* the row at the top of the screen */
	int page;     /* how many rows fit */
	int lines;    /* of TOP_ONE */
	struct top_layout layout;
};

/* What to say as long as there is no run to show. */
void top_view_nothing(const struct top_view *v, char *text, size_t size);
/* Makes the groups for the last interval, or for another key. */
void top_view_group(struct top_view *v);
/* The rows that are shown, in order: for a screen of that width. */
void top_view_collect(struct top_view *v, int width);
void top_view_free(struct top_view *v);
/* Draws all of the screen; call top_view_collect() before it. */
void top_view_draw(struct top_view *v, struct krp_canvas *c);
/* Handles a key; false if it is the key that ends the tool. */
bool top_view_key(struct top_view *v, int key);

/* Draws parts of the list, also for text. Each returns the line below. */
int top_draw_head(struct krp_canvas *c, int y, const struct top_layout *l, int sort);
int top_draw_row(struct krp_canvas *c, int y, const struct top_layout *l, const struct top_row *r,
		 bool selected);
/* Draws the counters that have moved, of errors or of traffic, or both, errors first; max lines at most. */
#define TOP_ERRORS  0x1
#define TOP_TRAFFIC 0x2
int top_draw_ports(struct krp_canvas *c, int y, int max, const struct krp_hwports *ports,
		   unsigned int which);
/* The cause of the end of a run, in words. */
void top_cause(const struct top_row *r, char *buf, size_t size);

#endif /* KRP_TOP_VIEW_H */
