/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The two ends of a connection side by side: in which of the peer's phases the
 * time of a waiting phase went.
 *
 * Each run has the time line of its thread as tiles without gaps, and its
 * waits in a queue. When the peer's time line has come as far, the waits are
 * laid over the peer's tiles. Memory is fixed: if the peer is further ahead
 * than there are tiles, it is not known any more what the peer did.
 */
#ifndef KRP_STAGES_JOIN_H
#define KRP_STAGES_JOIN_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
/* All powers of two. An iteration has some 20 tiles and 4 waits. */
#define JOIN_TILES	128
#define JOIN_QUEUE	16
#define JOIN_COLS	32
#define JOIN_ROWS	16

/* Values of "what" in a tile; the tool chooses the numbers between these. */
#define JOIN_OTHER	0	/* set-up and tear-down */
#define JOIN_NONE	31	/* not known */

struct join_wait {
	uint64_t t;		/* laid over the peer's tiles up to here */
	uint64_t t_end;
	uint32_t row;
};

struct join_tile {
	uint64_t t_end;
	uint32_t what;
};

/* All zero except t_tiled, which is where the time line begins. Counters may wrap. */
struct join {
	uint64_t t_tiled;	/* where the last tile ended */
	uint32_t head;		/* tiles that were made */
	/* The waits. */
	uint32_t joined;
	uint32_t tail;
	/* The peer's next tile, and where the tile before it ended. */
	uint32_t cursor;
	uint64_t t_cursor;
	uint64_t overrun;	/* how often the queue was full, or the peer too far ahead */
	struct join_tile tile[JOIN_TILES];
	struct join_wait queue[JOIN_QUEUE];
	uint64_t cell[JOIN_ROWS][JOIN_COLS];
};
/* clang-format on */

/*
 * The thread was in "what" up to t. Empty tiles are not made, so their ends always grow.
 * t_tiled and head are those of j, or a copy in registers of one who makes many tiles.
 */
static inline void krp_join_tile_at(struct join *j, uint64_t *t_tiled, uint32_t *head, uint64_t t,
				    uint32_t what)
{
	struct join_tile *tile = &j->tile[*head & (JOIN_TILES - 1)];

	if (t <= *t_tiled)
		return;
	tile->t_end = t;
	tile->what = what;
	(*head)++;
	*t_tiled = t;
}

static inline void krp_join_tile(struct join *j, uint64_t t, uint32_t what)
{
	krp_join_tile_at(j, &j->t_tiled, &j->head, t, what);
}

/* The thread waited, for something that is shown in that row. false: there is no room. */
static inline bool krp_join_wait(struct join *j, uint64_t t, uint64_t t_end, uint32_t row)
{
	if (j->tail - j->joined >= JOIN_QUEUE) {
		j->overrun++;
		return false;
	}
	j->queue[j->tail++ & (JOIN_QUEUE - 1)] = (struct join_wait){ t, t_end, row };
	return true;
}

/*
 * Lays waits over the tiles of the peer, as far as the peer has come. Time
 * before t_first, where the peer's time line begins, is in no cell.
 */
void krp_join(struct join *j, const struct join *peer, uint64_t t_first);

#endif /* KRP_STAGES_JOIN_H */
