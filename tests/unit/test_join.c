// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* tools/stages/join.c: the waits of one run are laid over the time line of another run. */
#include "unit.h"
#include "tools/stages/join.h"

#define FIRST 1000000ULL /* where a time line begins */

/* The time lines of the run that waits, and of its peer. */
static struct join j, p;

SETUP()
{
	j = p = (struct join){ .t_tiled = FIRST };
}

static uint64_t row_sum(unsigned int row)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < JOIN_COLS; i++)
		sum += j.cell[row][i];
	return sum;
}

TEST(tiles)
{
	krp_join_tile(&j, FIRST - 1, 3); /* before the beginning */
	krp_join_tile(&j, FIRST + 10, 3);
	krp_join_tile(&j, FIRST + 10, 4); /* empty */
	krp_join_tile(&j, FIRST + 5, 4);  /* back in time */
	are("1 10 3", j.head, j.tile[0].t_end - FIRST, j.tile[0].what);
}

TEST(full_queue)
{
	unsigned int i;

	for (i = 0; i < JOIN_QUEUE; i++)
		assert_int_equal(krp_join_wait(&j, FIRST + 10 * i, FIRST + 10 * i + 5, 1), 1);
	assert_int_equal(krp_join_wait(&j, FIRST + 1000, FIRST + 1001, 1), 0);
	assert_int_equal(j.overrun, 1);
	krp_join_tile(&p, FIRST + 2000, 7);
	krp_join(&j, &p, FIRST);
	assert_int_equal(j.cell[1][7], 5 * JOIN_QUEUE);
	assert_int_equal(krp_join_wait(&j, FIRST + 1000, FIRST + 1001, 1), 1);
}

/* Invalid rows and tiles do no harm. */
TEST(nonsense)
{
	krp_join_tile(&p, FIRST + 100, 200);
	krp_join_tile(&p, FIRST + 200, 1);
	krp_join_wait(&j, FIRST + 50, FIRST + 150, JOIN_ROWS);
	krp_join_wait(&j, FIRST + 50, FIRST + 150, 3);
	krp_join(&j, &p, FIRST);
	assert_int_equal(j.joined, 2);
	/* The first wait went on to the second tile: the tile in which the next began is gone. */
	are("50 50", j.cell[3][JOIN_NONE], j.cell[3][1]);
}

TEST(round_ahead)
{
	unsigned int i;

	krp_join_wait(&j, FIRST + 50, FIRST + 150, 0);
	for (i = 1; i <= 3 * JOIN_TILES; i++)
		krp_join_tile(&p, FIRST + 100 * i, i & 1);
	krp_join(&j, &p, FIRST);
	are("1 1 100 100", j.joined, j.overrun, j.cell[0][JOIN_NONE], row_sum(0));
	/* The next wait finds its place again: it covers the last two tiles. */
	krp_join_wait(&j, p.t_tiled - 150, p.t_tiled, 1);
	krp_join(&j, &p, FIRST);
	are("50 100", j.cell[1][1], j.cell[1][0]);
}

/* The peer ran before the tool did: its time line begins only after our first waits. */
TEST(before)
{
	krp_join_wait(&j, FIRST - 300, FIRST - 200, 0);
	krp_join_wait(&j, FIRST - 100, FIRST + 50, 1);
	krp_join_tile(&p, FIRST + 100, 3);
	krp_join(&j, &p, FIRST);
	are("2 0 50 50", j.joined, row_sum(0), j.cell[1][3], row_sum(1));
}

#define SPAN 20000

/* Two random time lines, joined now and then as they grow, against a count of each nanosecond. */
TEST(random)
{
	static uint8_t what[SPAN];
	static int8_t row_at[SPAN];
	uint64_t want[JOIN_ROWS][JOIN_COLS];
	unsigned int seed, t_own, t_peer, end, i;

	for (seed = 1; seed <= 300; seed++) {
		srand(seed);
		setup();
		memset(want, 0, sizeof(want));
		memset(row_at, -1, sizeof(row_at));
		/* Begin near the counters' end, so that they wrap around, too. */
		j.joined = j.tail = -(uint32_t)(seed % 7);
		p.head = j.cursor = -(uint32_t)(seed % 100);
		for (t_own = t_peer = 0; t_own < SPAN || t_peer < SPAN;) {
			/* The two lines are never far apart, as with a ping and its pong. */
			if (t_peer <= t_own && t_peer < SPAN) {
				end = t_peer + 1 + rand() % (seed % 3 ? 50 : 400);
				end = end > SPAN ? SPAN : end;
				i = rand() % JOIN_NONE;
				memset(what + t_peer, i, end - t_peer);
				krp_join_tile(&p, FIRST + end, i);
				t_peer = end;
			} else if (t_own < SPAN) {
				end = t_own + 1 + rand() % 300;
				end = end > SPAN ? SPAN : end;
				i = rand() % (JOIN_ROWS + 1);
				if (i < JOIN_ROWS) {
					assert_int_equal(krp_join_wait(&j, FIRST + t_own,
								       FIRST + end, i),
							 1);
					memset(row_at + t_own, i, end - t_own);
				}
				t_own = end;
			}
			if (rand() % 2)
				krp_join(&j, &p, FIRST);
		}
		krp_join(&j, &p, FIRST);
		for (i = 0; i < SPAN; i++) {
			if (row_at[i] >= 0)
				want[row_at[i]][what[i]]++;
		}
		assert_int_equal(j.overrun, 0);
		assert_int_equal(j.joined, j.tail);
		assert_memory_equal(j.cell, want, sizeof(want));
	}
}
