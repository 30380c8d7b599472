// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "join.h"

void krp_join_tile(struct join *j, uint64_t t, uint32_t what)
{
	if (t <= j->t_tiled)
		return;
	j->tile[j->head++ & (JOIN_TILES - 1)] = (struct join_tile){ t, what };
	j->t_tiled = t;
}

bool krp_join_wait(struct join *j, uint64_t t, uint64_t t_end, uint32_t row)
{
	if (j->tail - j->joined >= JOIN_QUEUE) {
		j->overrun++;
		return false;
	}
	j->queue[j->tail++ & (JOIN_QUEUE - 1)] = (struct join_wait){ t, t_end, row };
	return true;
}

static const struct join_tile *tile_at(const struct join *j, uint32_t n)
{
	return &j->tile[n & (JOIN_TILES - 1)];
}

/* The wait was in this from where it has come to up to t. */
static void lay(struct join *j, struct join_wait *w, uint64_t t, uint32_t what)
{
	if (t > w->t_end)
		t = w->t_end;
	if (t <= w->t)
		return;
	j->cell[w->row & (JOIN_ROWS - 1)][what & (JOIN_COLS - 1)] += t - w->t;
	w->t = t;
}

void krp_join(struct join *j, const struct join *peer, uint64_t t_first)
{
	const struct join_tile *tile;
	struct join_wait *w;

	/* The oldest tiles are gone, and half of what is left soon would be. */
	if (peer->head - j->cursor > JOIN_TILES) {
		j->cursor = peer->head - JOIN_TILES / 2;
		j->t_cursor = tile_at(peer, j->cursor - 1)->t_end;
	}
	while (j->joined != j->tail) {
		w = &j->queue[j->joined & (JOIN_QUEUE - 1)];
		/* The time line of a run that was there before us may begin behind the wait. */
		if (w->t < t_first)
			w->t = t_first < w->t_end ? t_first : w->t_end;
		if (w->t < j->t_cursor) {
			lay(j, w, j->t_cursor, JOIN_NONE);
			j->overrun++;
		}
		if (j->cursor == peer->head)
			return;
		tile = tile_at(peer, j->cursor);
		lay(j, w, tile->t_end, tile->what);
		if (tile->t_end >= w->t_end)
			j->joined++;
		/* The next wait may begin in the same tile. */
		if (tile->t_end <= w->t_end) {
			j->t_cursor = tile->t_end;
			j->cursor++;
		}
	}
}
