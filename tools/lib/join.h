/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The two ends of a connection side by side: in which of the peer's phases the
 * time of a waiting phase went.
 *
 * Each run keeps the time line of its thread as tiles without gaps, and its
 * completed waits in a queue. Later, when the peer's time line has come as
 * far, its own thread lays the waits over the peer's tiles, a step a tile. So
 * a run's thread writes its own join and no other, and only reads the peer's;
 * memory is fixed and the work of an event is bounded. What is left when the
 * runs end is done by user space with the same code.
 *
 * Include <linux/types.h> before this file.
 */
#ifndef KRPING_JOIN_H
#define KRPING_JOIN_H

/* clang-format off */
/* All powers of two. An iteration has some 20 tiles and 4 waits. */
#define JOIN_TILES	128
#define JOIN_QUEUE	16
/* So many tiles may be written before the head that counts them: an iteration's. */
#define JOIN_MARGIN	32

#define JOIN_COLS	32
#define JOIN_ROWS	16
/* Steps after an iteration: more than it makes tiles and waits. */
#define JOIN_STEPS	40

/* What a tile says; between these are the numbers that the tool gives. */
#define JOIN_OTHER	0	/* set-up and tear-down */
#define JOIN_NONE	31	/* not known */

struct join_wait {
	__u64 t;		/* laid over the peer's tiles up to here */
	__u64 t_end;
	__u64 row;
};

struct join {
	__u32 peer;		/* its run; 0: none on this host, or not known */
	__u32 peer_slot;	/* + 1; 0: to be looked up */
	/* The time line. */
	__u64 t_tiled;		/* up to here */
	__u32 head;		/* tiles that were made */
	__u32 head_iter;	/* when the iteration began */
	/* The waits: joined .. ready are to be joined, ready .. tail not yet complete. */
	__u32 joined;
	__u32 ready;
	__u32 tail;
	/* The peer's tile that is next, and where the one before it ended. */
	__u32 cursor;
	__u64 t_cursor;
	__u64 overrun;		/* how often the queue was full, or the peer a round ahead */
	/*
	 * Since the run's t_first, << 8, and what: one word, so that a reader
	 * sees all of it or nothing, with no barriers.
	 */
	__u64 tile[JOIN_TILES];
	struct join_wait queue[JOIN_QUEUE];
	__u64 cell[JOIN_ROWS][JOIN_COLS];
};

#define JOIN_LOAD(x)	(*(const volatile __typeof__(x) *)&(x))
#define JOIN_STORE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
/* clang-format on */

static inline __u64 krp_tile_end(__u64 tile, __u64 t_first)
{
	return t_first + (tile >> 8);
}

static inline __u32 krp_tile_what(__u64 tile)
{
	return tile & 0xff;
}

/*
 * The thread was in "what" up to t. *head is the caller's copy of j->head, for
 * krp_tile_done(); empty tiles are not made, so their ends always grow.
 */
static inline void krp_tile(struct join *j, __u32 *head, __u64 t_first, __u64 t, __u32 what)
{
	if (t <= j->t_tiled || t < t_first)
		return;
	JOIN_STORE(j->tile[*head & (JOIN_TILES - 1)], (t - t_first) << 8 | what);
	j->t_tiled = t;
	(*head)++;
}

static inline void krp_tile_done(struct join *j, __u32 head)
{
	JOIN_STORE(j->head, head);
}

/* A wait of the iteration that goes on. 0: there is no room. */
static inline int krp_join_wait(struct join *j, __u64 t, __u64 t_end, __u32 row)
{
	struct join_wait *w = &j->queue[j->tail & (JOIN_QUEUE - 1)];

	if (j->tail - j->joined >= JOIN_QUEUE) {
		j->overrun++;
		return 0;
	}
	w->t = t;
	w->t_end = t_end;
	w->row = row;
	j->tail++;
	return 1;
}

/* The iteration is complete, or was cut short. */
static inline void krp_join_commit(struct join *j)
{
	j->ready = j->tail;
}

static inline void krp_join_abort(struct join *j)
{
	j->tail = j->ready;
}

/* The oldest wait, on its way over the peer's tiles: times are those of the tiles. */
struct join_way {
	__u64 from; /* so far */
	__u64 to;
	__u64 *cell;
};

/* What is before t is not known any more. */
static inline void krp_join_next(struct join *j, __u32 joined, __u64 t_first, __u64 t,
				 struct join_way *way)
{
	struct join_wait *w = &j->queue[joined & (JOIN_QUEUE - 1)];

	/*
	 * Of a run that was there before us the time line may begin behind the
	 * wait. By way of memory: the verifier sees one way instead of four.
	 */
	if (w->t < t_first)
		JOIN_STORE(w->t, t_first);
	if (w->t_end < t_first)
		JOIN_STORE(w->t_end, t_first);
	way->from = JOIN_LOAD(w->t) - t_first;
	way->to = JOIN_LOAD(w->t_end) - t_first;
	way->cell = j->cell[w->row & (JOIN_ROWS - 1)];
	if (way->from < t) {
		way->cell[JOIN_NONE] += (t < way->to ? t : way->to) - way->from;
		way->from = t;
	}
}

/*
 * Lays the oldest waits over the next tiles of the peer, whose time line began at
 * t_first, in so many steps at most. Returns the number of steps: 0 when there is
 * nothing to do, or the peer has not come as far.
 */
static inline __u32 krp_join(struct join *j, const struct join *peer, __u64 t_first, __u32 steps)
{
	__u32 cursor = j->cursor, joined = j->joined, head = JOIN_LOAD(peer->head), n;
	__u64 tile, end, t = j->t_cursor, *cell;
	struct join_way way;

	if (joined == j->ready)
		return 0;
	/* It is a round ahead: what was there up to half a round ago is lost. */
	if (head - cursor > JOIN_TILES - JOIN_MARGIN) {
		cursor = head - JOIN_TILES / 2;
		t = krp_tile_end(JOIN_LOAD(peer->tile[(cursor - 1) & (JOIN_TILES - 1)]), 0);
		j->overrun++;
	}
	krp_join_next(j, joined, t_first, t, &way);
	for (n = 0; n < steps && cursor != head; n++) {
		tile = JOIN_LOAD(peer->tile[cursor & (JOIN_TILES - 1)]);
		end = krp_tile_end(tile, 0);
		/*
		 * It may be of another round: the peer goes on meanwhile, or a CPU
		 * that orders weakly does not show it yet.
		 */
		if (JOIN_LOAD(peer->head) - cursor > JOIN_TILES - JOIN_MARGIN || end <= t)
			break;
		cell = &way.cell[tile & (JOIN_COLS - 1)];
		if (end < way.to) {
			if (end > way.from) {
				*cell += end - way.from;
				way.from = end;
			}
			cursor++;
			t = end;
			continue;
		}
		if (way.to > way.from)
			*cell += way.to - way.from;
		joined++;
		/* The next wait may begin in the same tile. */
		if (end == way.to) {
			cursor++;
			t = end;
		}
		if (joined == j->ready) {
			n++;
			goto out;
		}
		krp_join_next(j, joined, t_first, t, &way);
	}
	j->queue[joined & (JOIN_QUEUE - 1)].t = way.from + t_first;
out:
	j->cursor = cursor;
	j->joined = joined;
	j->t_cursor = t;
	return n;
}

#endif /* KRPING_JOIN_H */
