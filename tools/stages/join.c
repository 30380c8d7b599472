// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "join.h"

static const struct join_tile *tile_at(const struct join *j, uint32_t n)
{
	return &j->tile[n & (JOIN_TILES - 1)];
}

/* A wait may begin before the known time of the peer: that part counts as JOIN_NONE. */
static void begin(struct join *j, struct join_wait *w, uint64_t t_first)
{
	uint64_t t;

	/* The time line of a run that began before we attached may begin behind the wait. */
	if (w->t < t_first)
		w->t = t_first < w->t_end ? t_first : w->t_end;
	if (w->t >= j->t_cursor)
		return;
	t = j->t_cursor < w->t_end ? j->t_cursor : w->t_end;
	j->cell[w->row & (JOIN_ROWS - 1)][JOIN_NONE] += t - w->t;
	w->t = t;
	j->overrun++;
}

void krp_join(struct join *j, const struct join *peer, uint64_t t_first)
{
	const struct join_tile *tile;
	uint64_t *cell, t, t_end;
	struct join_wait *w;
	uint32_t n;

	/*
	 * The oldest tiles are overwritten, and half of the others soon would
	 * be: skip these, too.
	 */
	if (peer->head - j->cursor > JOIN_TILES) {
		j->cursor = peer->head - JOIN_TILES / 2;
		j->t_cursor = tile_at(peer, j->cursor - 1)->t_end;
	}
	for (; j->joined != j->tail; j->joined++) {
		w = &j->queue[j->joined & (JOIN_QUEUE - 1)];
		begin(j, w, t_first);
		cell = j->cell[w->row & (JOIN_ROWS - 1)];
		t = w->t;
		t_end = w->t_end;
		/* Add the tiles that end in the wait. */
		for (n = j->cursor; n != peer->head; n++) {
			tile = tile_at(peer, n);
			if (tile->t_end > t_end)
				break;
			if (tile->t_end <= t)
				continue;
			cell[tile->what & (JOIN_COLS - 1)] += tile->t_end - t;
			t = tile->t_end;
		}
		if (n != j->cursor)
			j->t_cursor = tile_at(peer, n - 1)->t_end;
		j->cursor = n;
		w->t = t;
		if (t == t_end)
			continue;
		if (n == peer->head)
			return;
		/*
		 * Add part of the tile in which the wait ends; the next wait
		 * may begin in that tile.
		 */
		cell[tile_at(peer, n)->what & (JOIN_COLS - 1)] += t_end - t;
	}
}
