// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "curses.h"
#include "view.h"

/* Included last, since term.h makes macros of common words. */
#include <curses.h>
#include <term.h>

static SCREEN *screen;
static FILE *tty;
static bool colours;

static void start_colours(void)
{
	static const short colour_of[KRP_NR_COLOURS] = {
		-1, COLOR_RED, COLOR_GREEN, COLOR_YELLOW, COLOR_BLUE, COLOR_MAGENTA, COLOR_CYAN,
	};
	const char *no = getenv("NO_COLOR");
	int i;

	/* NO_COLOR counts whatever it is set to: see no-color.org. */
	if ((no && *no) || !has_colors() || start_color() == ERR || use_default_colors() == ERR)
		return;
	for (i = 1; i < KRP_NR_COLOURS; i++)
		init_pair(i, colour_of[i], -1);
	colours = true;
}

bool top_curses_start(void)
{
	int err;

	if (!tty) {
		/* Only for the characters that can be shown: numbers keep their points. */
		setlocale(LC_CTYPE, "");
		if (setupterm(NULL, STDOUT_FILENO, &err) == ERR || !cursor_address)
			return false;
		/* stdout is a stream without a descriptor, see krp_check_stdout(). */
		tty = fdopen(STDOUT_FILENO, "w");
		atexit(top_curses_stop);
	}
	screen = tty ? newterm(NULL, tty, stdin) : NULL;
	if (!screen)
		return false;
	set_term(screen);
	set_escdelay(50);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	start_colours();
	return true;
}

void top_curses_stop(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

void top_curses_size(int *height, int *width)
{
	getmaxyx(stdscr, *height, *width);
}

bool top_curses_unicode(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static attr_t attr_of(int attr)
{
	attr_t a = A_NORMAL;

	if (attr & KRP_BOLD)
		a |= A_BOLD;
	if (attr & KRP_REVERSE)
		a |= A_REVERSE;
	return a;
}

void top_curses_show(const struct krp_canvas *c)
{
	const struct krp_cell *p = c->cell;
	int y, x;

	erase();
	for (y = 0; y < c->height; y++) {
		move(y, 0);
		for (x = 0; x < c->width; x++, p++) {
			attr_set(attr_of(p->attr), colours ? KRP_COLOUR(p->attr) : 0, NULL);
			addstr(p->ch);
		}
	}
	refresh();
}

int top_curses_key(void)
{
	/* clang-format off */
	static const struct {
		int curses, key;
	} keys[] = {
		{ KEY_UP, TOP_KEY_UP }, { KEY_DOWN, TOP_KEY_DOWN }, { KEY_LEFT, TOP_KEY_LEFT },
		{ KEY_RIGHT, TOP_KEY_RIGHT }, { KEY_PPAGE, TOP_KEY_PAGE_UP },
		{ KEY_NPAGE, TOP_KEY_PAGE_DOWN }, { KEY_HOME, TOP_KEY_HOME },
		{ KEY_END, TOP_KEY_END }, { KEY_ENTER, TOP_KEY_ENTER }, { '\r', TOP_KEY_ENTER },
		{ '\n', TOP_KEY_ENTER }, { 27, TOP_KEY_ESC }, { KEY_BACKSPACE, TOP_KEY_BACKSPACE },
		{ 127, TOP_KEY_BACKSPACE }, { '\b', TOP_KEY_BACKSPACE },
	};
	/* clang-format on */
	unsigned int i;
	int ch;

	for (;;) {
		ch = getch();
		if (ch == ERR)
			return -1;
		if (ch == 'L' - '@') {
			clearok(stdscr, TRUE);
			continue;
		}
		for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
			if (keys[i].curses == ch)
				return keys[i].key;
		}
		/* A new size is handled anyway; other keys mean nothing. */
		if (ch < KEY_MIN)
			return ch;
	}
}
