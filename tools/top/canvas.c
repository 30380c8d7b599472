// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "canvas.h"

static struct krp_cell *at(const struct krp_canvas *c, int y, int x)
{
	if (y < 0 || y >= c->height || x < 0 || x >= c->width)
		return NULL;
	return &c->cell[(size_t)y * c->width + x];
}

void krp_canvas_init(struct krp_canvas *c, int height, int width)
{
	size_t n, i;

	c->height = height > 0 ? height : 0;
	c->width = width > 0 ? width : 0;
	n = (size_t)c->height * c->width;
	c->cell = krp_new(n, sizeof(*c->cell));
	for (i = 0; i < n; i++)
		c->cell[i].ch[0] = ' ';
}

void krp_canvas_free(struct krp_canvas *c)
{
	free(c->cell);
	memset(c, 0, sizeof(*c));
}

void krp_canvas_put(struct krp_canvas *c, int y, int x, int attr, const char *ch)
{
	struct krp_cell *p = at(c, y, x);

	if (!p)
		return;
	memset(p->ch, 0, sizeof(p->ch));
	memcpy(p->ch, ch, strnlen(ch, sizeof(p->ch) - 1));
	p->attr = attr;
}

int krp_canvas_text(struct krp_canvas *c, int y, int x, int attr, const char *s)
{
	bool begins = x < c->width;
	char ch[4] = "";

	for (; *s; s++, x++) {
		ch[0] = *s >= ' ' && *s <= '~' ? *s : '?';
		krp_canvas_put(c, y, x, attr, ch);
		if (begins && x >= c->width && *s != ' ')
			krp_canvas_put(c, y, c->width - 1, attr, ">");
	}
	return x;
}

int krp_canvas_printf(struct krp_canvas *c, int y, int x, int attr, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return krp_canvas_text(c, y, x, attr, text);
}

void krp_canvas_attr(struct krp_canvas *c, int y, int x, int width, int attr)
{
	struct krp_cell *p;

	for (; width > 0; width--, x++) {
		p = at(c, y, x);
		if (p)
			p->attr = attr;
	}
}

void krp_canvas_line(const struct krp_canvas *c, int y, char *buf, size_t size)
{
	const struct krp_cell *p;
	size_t n = 0, end = 0, len;
	int x;

	for (x = 0; x < c->width; x++) {
		p = at(c, y, x);
		len = p ? strlen(p->ch) : 0;
		if (!p || n + len >= size)
			break;
		memcpy(buf + n, p->ch, len);
		n += len;
		if (strcmp(p->ch, " "))
			end = n;
	}
	if (size)
		buf[end] = '\0';
}
