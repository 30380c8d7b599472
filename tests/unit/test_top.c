// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* krping-top without a kernel and a terminal: figures, columns, bar, picture, keys, screens. */
#include "unit.h"
#include "tools/lib/names.h"
#include "tools/top/view.h"

#define SECOND 1000000000ULL

static struct top_rows rows;
static struct krp_canvas c;

/* What the screens show beside the rows. */
static struct screen {
	struct krp_hwports ports;
	struct krp_hwport port;
	struct krp_hwcnt counters[2];
	struct krp_environment environment;
	struct top_groups groups;
	struct top_view v;
} s;

TEARDOWN()
{
	top_view_free(&s.v);
	top_groups_free(&s.groups);
	top_rows_free(&rows);
	krp_canvas_free(&c);
	memset(&s, 0, sizeof(s));
	memset(&rows, 0, sizeof(rows));
	memset(&c, 0, sizeof(c));
}

static struct fake {
	struct krp_head head;
	struct top_sums more; /* since the row took it */
	struct krp_hist hist; /* of more */
	struct top_log log;
	uint64_t iters, reg, inv, t_phase; /* as /proc has them */
	uint32_t phase;
} f;

static struct top_row *listed(uint32_t run)
{
	struct top_row *r = top_rows_get(&rows, run);

	assert_non_null(r);
	r->listed = r->counts = true;
	strcpy(r->info.role, run & 1 ? "server" : "client");
	strcpy(r->info.test, "rping");
	strcpy(r->info.dev, run % 3 ? "rxe0" : "mlx5_0");
	snprintf(r->info.dst, sizeof(r->info.dst), "10.9.%u.%u:4711", run / 250, run % 250 + 1);
	strcpy(r->info.src, "10.9.0.1:9999");
	strcpy(r->info.state, "RDMA_READ_ADV");
	strcpy(r->info.name, "-");
	r->info.port = 1;
	r->info.size = 64;
	r->info.moves = 2;
	r->info.pid = 4000 + run;
	return r;
}

/* Returns the row of a run that begins at a time: /proc lists it, and the data of its events are f. */
static struct top_row *begin(uint32_t run, uint64_t t)
{
	memset(&f, 0, sizeof(f));
	f.head.run = run;
	f.head.state = KRP_SLOT_RUNNING;
	f.head.t_first = f.t_phase = t;
	strcpy(f.head.comm, "echo");
	return listed(run);
}

static void pass_phase(uint32_t phase, uint64_t ns)
{
	struct top_phase_sum *p = &f.more.phases[phase];

	*p = (struct top_phase_sum){ p->count + 1, p->sum + ns, ns > p->max ? ns : p->max };
	f.t_phase += ns;
	f.head.t_last = f.t_phase;
}

/* Adds pings of a client that take ns each. */
static void pings(unsigned int nr, uint64_t ns)
{
	for (; nr; nr--) {
		pass_phase(KRPING_PHASE_FILL, ns / 10);
		pass_phase(KRPING_PHASE_REG_SOURCE, ns / 10);
		pass_phase(KRPING_PHASE_WAIT_READ, ns - 2 * (ns / 10));
		f.more.commits++;
		f.iters++;
		f.reg += 2;
		f.inv += 2;
		krp_sum_add(&f.more.iter, ns);
		f.hist.bucket[krp_hist_index(ns)]++;
	}
}

static void take(struct top_row *r)
{
	r->head = f.head;
	r->log = f.log;
	r->known = true;
	f.more.hist = &f.hist;
	top_sums_add(&r->cur, &f.more);
	top_sums_clear(&f.more);
	r->info.moved_bytes = f.iters * r->info.moves * r->info.size;
	r->info.fastreg = f.reg;
	r->info.localinv = f.inv / 2;
	r->info.reminv = f.inv - f.inv / 2;
	r->phase = f.phase;
	r->t_phase = f.t_phase;
	snprintf(r->info.phase, sizeof(r->info.phase), "%s", krp_name(&krp_phase_names, f.phase));
}

static void take_at(struct top_row *r, uint64_t t)
{
	take(r);
	top_row_interval(r, t);
}

/* Counts of /proc from before the tool's start do not belong to the time that is shown. */
TEST(late)
{
	struct krp_run_info info = {
		.start_ns = 1000, .fastreg = 40, .localinv = 30, .moved_bytes = 50
	};
	struct top_row *r = top_rows_get(&rows, 3);

	top_row_info(r, &info, 2000);
	are("0 0", top_row_reg(r), top_row_bytes(r));
	info.fastreg += 4;
	info.reminv += 3;
	info.moved_bytes += 7;
	top_row_info(r, &info, 2000);
	are("4 3 7", top_row_reg(r), top_row_inv(r), top_row_bytes(r));
	r = top_rows_get(&rows, 4);
	info.start_ns = 3000;
	top_row_info(r, &info, 2000);
	are("44 33 57", top_row_reg(r), top_row_inv(r), top_row_bytes(r));
}

TEST(rows)
{
	static const uint32_t ids[] = { 5, 1, 9, 3, 7 };
	struct top_row *r;
	unsigned int i;

	each(id, ids)
		assert_int_equal(top_rows_get(&rows, *id)->info.id, *id);
	for (i = 0; i < 5; i++)
		assert_int_equal(rows.v[i]->info.id, 2 * i + 1);
	assert_ptr_equal(top_rows_get(&rows, 5), top_rows_find(&rows, 5));
	assert_true(rows.nr == 5 && !top_rows_find(&rows, 4));
	top_rows_drop(&rows, top_rows_find(&rows, 5));
	assert_true(!top_rows_find(&rows, 5) && top_rows_find(&rows, 9));

	/* If there are too many rows, the run that ended first goes, never one that still runs. */
	for (i = 0; i < TOP_KEEP + 50; i++) {
		r = top_rows_get(&rows, 100 + i);
		if (i >= 50)
			r->t_ended = 1 + (i * 7919) % 100000;
	}
	assert_true(rows.nr <= TOP_KEEP && rows.nr + rows.forgotten == 4 + TOP_KEEP + 50);
	for (i = 0; i < 50; i++)
		assert_non_null(top_rows_find(&rows, 100 + i));
	assert_true(rows.forgotten_id >= 150);
	top_rows_free(&rows);
	assert_int_equal(rows.nr, 0);
}

TEST(interval)
{
	uint64_t t = 1000 * SECOND, *phase_ns;
	struct top_row *r = begin(2, t);
	struct top_figures whole;

	pings(100, 1000000);
	/* The first interval begins with the run, not at the first display. */
	take_at(r, t + 2 * SECOND);
	near(r->last.rate, 50);
	near(r->last.reg, 100);
	near(r->last.inv, 100);
	near(r->last.mb, 0.0064);
	/* Percentiles are never outside of the run's exact minimum and maximum. */
	are("100 1000000 1000000 1000000", r->last.iters, r->last.p50, r->last.p99, r->last.max);

	/* The next interval contains no iteration of the last one. */
	pings(10, 10000000);
	take_at(r, t + 3 * SECOND);
	assert_in_range(r->last.p50, 9600000, 10400000);
	are("10 10 110 10 10000000", r->last.iters, krp_hist_total(r->prev.hist),
	    krp_hist_total(r->all.hist), r->last.phase_count[KRPING_PHASE_FILL],
	    r->last.phase_ns[KRPING_PHASE_FILL]);

	/* Two takes in one interval add up; one without a take is empty. */
	pings(1, 2000000);
	take(r);
	pings(1, 2000000);
	take_at(r, t + 4 * SECOND);
	are("2 2", r->last.iters, krp_hist_total(r->prev.hist));
	top_row_interval(r, t + 5 * SECOND);
	are("0 0 0", r->last.iters, krp_hist_total(r->prev.hist), r->last.p99);

	/* A phase that goes on is counted in each interval, for the whole interval. */
	phase_ns = &r->last.phase_ns[KRPING_PHASE_WAIT_WRITE];
	f.phase = KRPING_PHASE_WAIT_WRITE;
	f.t_phase = t + 5 * SECOND;
	take_at(r, t + 6 * SECOND);
	assert_int_equal(*phase_ns, SECOND);
	top_row_interval(r, t + 7 * SECOND);
	assert_int_equal(*phase_ns, SECOND);
	/* The phase is over, but its iteration goes on: its time has not been reported yet. */
	f.phase = KRPING_PHASE_FREE;
	f.t_phase = t + 7 * SECOND;
	take_at(r, t + 8 * SECOND);
	assert_int_equal(*phase_ns, 0);
	/* Now its time is reported; most of it was already counted while the phase went on. */
	f.more.phases[KRPING_PHASE_WAIT_WRITE].sum += 2 * SECOND + SECOND / 2;
	take_at(r, t + 8 * SECOND);
	assert_int_equal(*phase_ns, SECOND / 2);
	f.more.phases[KRPING_PHASE_WAIT_WRITE].sum -= 2 * SECOND + SECOND / 2;

	/* For a run that has ended, the figures are those of all its time. */
	f.head.state = KRP_SLOT_ENDED;
	f.head.t_last = r->t_ended = t + 8 * SECOND;
	take_at(r, t + 20 * SECOND);
	assert_ptr_equal(top_row_figures(r), &r->whole);
	are("8000000000 112 10000000", r->whole.ns, r->whole.iters, r->whole.max);
	near(r->whole.rate, 14);
	are("1 0", top_row_visible(r, t + 18 * SECOND, 10 * SECOND),
	    top_row_visible(r, t + 18 * SECOND + 1, 10 * SECOND));

	top_row_shrink(r, false);
	assert_null(r->all.hist);
	assert_in_range(r->p50, 960000, 1040000);
	assert_in_range(r->p999, 9600000, 10000000);
	top_row_whole(r, t, &whole);
	are("112", whole.iters);
}

/* MB/S comes from the bytes that /proc says were moved; requests of a disk overlap, and others do not. */
TEST(bytes)
{
	static const struct {
		const char *test;
		double mb,
			in_flight; /* in a second with three requests, that take one each; in the next there are none */
	} of[] = TABLE({ "rping", 3, -1 }, { "block", 3, 3 }, );
	struct krp_run_info info;
	struct top_row *r;

	each(row, of) {
		r = begin(2 + row - of, SECOND);
		pings(3, SECOND);
		take(r);
		info = r->info;
		strcpy(info.test, row->test);
		info.moved_bytes = 3000000;
		top_row_info(r, &info, 0);
		top_row_interval(r, 2 * SECOND);
		are("3", r->last.iters);
		near(r->last.mb, row->mb);
		near(r->last.in_flight, row->in_flight);
		info.moved_bytes += 500000;
		top_row_info(r, &info, 0);
		top_row_interval(r, 3 * SECOND);
		near(r->last.mb, 0.5);
		near(r->last.in_flight, row->in_flight < 0 ? -1 : 0);
	}
}

/* With --total, also the line of a run that goes on shows all its time. */
TEST(total)
{
	struct top_row *r;

	rows.total = true;
	r = begin(2, SECOND);
	pings(1, 1000000);
	take_at(r, 2 * SECOND);
	pings(1, 3000000);
	take_at(r, 3 * SECOND);
	are("1 2 2000000000", r->last.iters, top_row_figures(r)->iters, top_row_figures(r)->ns);
}

/* A run that only /proc knows: a server that listened before the tool's start. */
TEST(unknown)
{
	struct top_row *r = listed(1);

	top_row_interval(r, 5 * SECOND);
	top_row_interval(r, 6 * SECOND);
	are("0 1", r->last.iters, r->last.rate == 0);
	r->t_ended = 6 * SECOND;
	top_row_interval(r, 7 * SECOND);
	are("0 1", r->whole.ns, r->whole.rate == 0);
}

/* Checks that each column is one space behind the one before, and that the last one ends the line, which fits. */
static void check_layout(const struct top_layout *l, int width, enum top_col first)
{
	unsigned int i;
	int end = -1;

	assert_true(l->nr >= 1 && l->v[0].col == first);
	for (i = 0; i < l->nr; i++) {
		assert_int_equal(l->v[i].x, end + 1);
		end = l->v[i].x + abs(l->v[i].width);
	}
	assert_true(l->width == end && (end <= width || l->nr == 1));
}

/* The heads of the columns, with blanks between them. */
static const char *heads(const struct top_layout *l)
{
	unsigned int i;

	printer();
	for (i = 0; i < l->nr; i++)
		fprintf(unit_out, "%s%s", i ? " " : "", top_col_head(l->v[i].col));
	return printed();
}

TEST(layout)
{
#define COLUMNS_80 "RUN ROLE TEST DEV ITER/S MB/S P50 P99 ERR STATE "
	static const struct {
		int width;
		const char *columns;
	} t[] = TABLE(
		{ 40, "RUN ROLE ITER/S P99 ERR STATE" }, { 60, "RUN ROLE ITER/S P50 P99 ERR STATE TIME SPENT" },
		{ 79, COLUMNS_80 "TIME SPENT" }, { 80, COLUMNS_80 "TIME SPENT" }, { 92, COLUMNS_80 "PEER TIME SPENT" },
		{ 104, COLUMNS_80 "PEER QD MAX TIME SPENT" }, { 160, COLUMNS_80 "PEER QD MAX NAME SIZE TIME SPENT" },
	);
	struct top_layout l, before = { 0 };
	unsigned int i;
	int width;

	each(row, t) {
		top_layout(&l, row->width, false);
		assert_string_equal(heads(&l), row->columns);
	}
	for (width = 0; width < 500; width++) {
		top_layout(&l, width, false);
		check_layout(&l, width, TOP_RUN);
		assert_true(l.width <= (width > 6 ? width : 6));
		/* A wider screen never has fewer columns. */
		for (i = 0; i < before.nr; i++)
			assert_true(top_layout_find(&l, before.v[i].col) >= 0);
		before = l;
		top_layout(&l, width, true);
		check_layout(&l, width, TOP_GROUP);
	}
	/* The bar has ten cells of 80 columns, and takes the rest of the width. */
	top_layout(&l, 80, false);
	are("10", abs(l.v[top_layout_find(&l, TOP_BAR)].width));
	top_layout(&l, 160, false);
	are("160", l.width);
	top_layout(&l, 400, false);
	assert_true(abs(l.v[l.nr - 1].width) > 200 &&
		    top_layout_find(&l, TOP_BAR) == (int)l.nr - 1);
	/* 80 columns tell how many ends there are, and how many of them go on. */
	top_layout(&l, 79, true);
	assert_string_equal(heads(&l),
			    "GROUP ENDS RUNNING END-IT/S END-MB/S P50 P99 ERR MAX TIME SPENT");
	assert_true(top_column_of(TOP_RATE, true) == TOP_END_RATE &&
		    top_column_of(TOP_END_MB, false) == TOP_MB &&
		    top_column_of(TOP_P99, true) == TOP_P99 &&
		    top_column_of(TOP_NAME, true) == TOP_GROUP);
}

static void cell_is(const struct top_row *r, enum top_col col, const char *want)
{
	char buf[128];

	top_cell(r, col, buf, sizeof(buf));
	same_text(top_col_head(col), buf, want);
}

TEST(cells)
{
	static const char *const peers[][2] = { { "10.9.0.3:4711", "10.9.0.3" },
						{ "[fd09::1]:4711", "fd09::1" },
						{ "-", "-" },
						{ "", "-" } };
	struct top_row *r = begin(2, SECOND);

	take_at(r, 2 * SECOND);
	cell_is(r, TOP_RUN, "2");
	cell_is(r, TOP_P50, "-");
	cell_is(r, TOP_STATE, "READ_ADV");
	cell_is(r, TOP_NAME, "echo");
	memcpy(r->head.comm, "a\x1b[2J\x9b\\b56789012", KRP_COMM_LEN);
	cell_is(r, TOP_NAME, "a\\x1b[2J\\x9b\\\\b56789012");
	strcpy(r->info.name, "nightly");
	cell_is(r, TOP_NAME, "nightly");
	each(peer, peers) {
		strcpy(r->info.dst, (*peer)[0]);
		cell_is(r, TOP_PEER, (*peer)[1]);
	}
	/* A run that iterates shows what its time was for, and not what it is about to do; one that connects its state. */
	r->last.phase_ns[KRPING_PHASE_NONE] = 0;
	r->last.phase_ns[KRPING_PHASE_CONNECT] = 5;
	cell_is(r, TOP_STATE, "READ_ADV");
	r->last.phase_ns[KRPING_PHASE_REG_SOURCE] = 12;
	r->last.phase_ns[KRPING_PHASE_WAIT_READ] = r->last.phase_ns[KRPING_PHASE_WAIT_WRITE] = 41;
	cell_is(r, TOP_STATE, "wait 83%");
	r->last.phase_ns[KRPING_PHASE_REG_SOURCE] = 300;
	cell_is(r, TOP_STATE, "reg 78%");
	/* An ended run shows its result, even if its state has another name. */
	r->t_ended = 3 * SECOND;
	strcpy(r->info.state, "ERROR");
	r->info.err = ECONNREFUSED;
	cell_is(r, TOP_STATE, "ECONNREFUSED");
	r->info.err = 0;
	cell_is(r, TOP_STATE, "DONE");
	/* The error comes from the kernel side as long as /proc does not have it. */
	r->head.err = -EIO;
	cell_is(r, TOP_STATE, "EIO");
}

/* Begins an empty canvas. */
static void blank(int height, int width)
{
	krp_canvas_free(&c);
	krp_canvas_init(&c, height, width);
}

static void line_is(int y, const char *want)
{
	char buf[1024];

	krp_canvas_line(&c, y, buf, sizeof(buf));
	assert_string_equal(buf, want);
}

TEST(row_text)
{
	struct top_row *r = begin(3, SECOND);
	struct top_layout l;

	pings(1000, 500000);
	f.more.wc_err = 12345;
	take(r);
	strcpy(r->info.dst, "192.168.100.200:4711");
	r->t_ended = 2 * SECOND;
	r->info.err = ECONNRESET;
	top_row_interval(r, 2 * SECOND);
	top_layout(&l, 79, false);
	blank(2, 79);
	are("1 2", top_draw_head(&c, 0, &l, -1), top_draw_row(&c, 1, &l, r, false));
	line_is(0,
		"    RUN ROLE   TEST  DEV    ITER/S   MB/S    P50    P99 ERR STATE    TIME SPENT");
	line_is(1,
		"      3 server rping mlx5_0   1000   0.13  500us  500us 12~ ECONNRES .....DWWWW");
}

/* The result is the same, whatever order the rows come in; rows that show the same are in the order of their numbers. */
TEST(sort)
{
	struct top_row *v[60], *r;
	unsigned int i, round, col;
	char a[64], b[64];

	for (i = 0; i < 60; i++) {
		r = listed(i + 1);
		/* Only a few different values, so that many rows are equal. */
		r->last.iters = 1;
		r->last.rate = i % 4;
		r->last.p99 = i % 3;
		r->all.wc_err = i % 2;
		r->info.size = 1 << (i % 5);
	}
	assert_true(top_sort_column("rate") == TOP_RATE && top_sort_column("mb") == TOP_MB);
	are("-1", top_sort_column("nonsense"));
	has(top_sort_words(), "p99");
	for (col = TOP_ENDS; col < TOP_BAR; col++) {
		for (round = 0; round < 4; round++) {
			for (i = 0; i < 60; i++)
				v[i] = rows.v[(i * 7 + round * 13) % 60];
			top_sort(v, 60, col, round & 1, false, NULL);
			for (i = 1; i < 60 && col != TOP_RUN; i++) {
				top_cell(v[i - 1], col, a, sizeof(a));
				top_cell(v[i], col, b, sizeof(b));
				assert_true(strcmp(a, b) || v[i - 1]->info.id < v[i]->info.id);
			}
		}
	}
	top_sort(v, 60, TOP_RATE, false, false, NULL);
	for (i = 0; i < 60; i++)
		assert_int_equal(v[i]->last.rate, 3 - i / 15);
	top_sort(v, 60, TOP_RATE, true, false, NULL);
	are("0 1", v[0]->last.rate, v[0]->info.id);
	top_sort(v, 60, TOP_RUN, true, false, NULL);
	are("60", v[0]->info.id);
	top_sort(v, 60, TOP_ROLE, false, false, NULL);
	assert_string_equal(v[0]->info.role, "client");
	top_sort(v, 0, TOP_RUN, false, false, NULL);
	/* What has errors is first, whatever the order: failed requests, refused ones, and failed runs. */
	rows.v[0]->all.post_err = 1;
	rows.v[2]->info.err = EIO;
	for (round = 0; round < 2; round++) {
		top_sort(v, 60, TOP_RUN, round, true, NULL);
		for (i = 0; i < 60; i++)
			assert_true(top_row_bad(v[i]) == (i < 32));
		are("1 60", v[round ? 31 : 0]->info.id, v[round ? 0 : 31]->info.id);
	}
}

TEST(filter)
{
	struct top_row *r = listed(3);
	struct top_layout narrow, wide;

	strcpy(r->info.dst, "192.168.100.200:4711");
	top_row_interval(r, SECOND);
	top_layout(&narrow, 80, false);
	top_layout(&wide, 200, false);
	/* The filter looks at a cell's whole text, even if the screen cuts it. */
	each_text(is, "", "SERV", "mlx5", "read_adv")
		assert_true(top_match(r, &narrow, is));
	/* It looks only at columns that are shown. */
	each_text(is_not, "4711", "client", "100.200")
		assert_false(top_match(r, &narrow, is_not));
	assert_true(top_match(r, &wide, "100.200"));
}

TEST(bar)
{
	uint64_t ns[TOP_PHASES] = { 0 };
	int part[TOP_NR_CLASSES], sum, width;
	unsigned int i, round, class;

	top_bar(ns, 40, part);
	are("0 0 0", part[TOP_WAIT], part[TOP_DATA], part[TOP_OTHER]);
	ns[KRPING_PHASE_WAIT_READ] = 3;
	ns[KRPING_PHASE_FILL] = 1;
	top_bar(ns, 40, part);
	are("30 10", part[TOP_WAIT], part[TOP_DATA]);
	top_bar(ns, 0, part);
	are("0", part[TOP_WAIT]);
	srand(1);
	for (round = 0; round < 2000; round++) {
		width = 1 + rand() % 200;
		for (i = 0; i < TOP_PHASES; i++)
			ns[i] = rand() % 4 ? 0 : (uint64_t)rand() << (rand() % 30);
		ns[rand() % TOP_PHASES] = 1;
		top_bar(ns, width, part);
		for (class = 0, sum = 0; class < TOP_NR_CLASSES; class ++) {
			assert_true(part[class] >= 0);
			sum += part[class];
		}
		assert_int_equal(sum, width);
	}
}

/* Each phase of the module belongs to a class. */
TEST(classes)
{
	static const struct {
		uint32_t phase;
		int class;
	} of[] = TABLE(
		{ KRPING_PHASE_CONNECT, TOP_SETUP }, { KRPING_PHASE_VALIDATE, TOP_DATA }, { KRPING_PHASE_REG_SINK, TOP_REGISTER },
		{ KRPING_PHASE_GO_AHEAD_READ, TOP_SEND }, { KRPING_PHASE_WAIT_SOURCE, TOP_WAIT },
		{ KRPING_PHASE_RDMA_WRITE, TOP_TRANSFER }, { KRPING_NR_PHASES, TOP_OTHER }, { ~0U, TOP_OTHER },
	);
	uint32_t p;

	for (p = 0; p < KRPING_NR_PHASES; p++) {
		if (top_phase_class(p) == TOP_OTHER)
			fail_msg("phase %s has no class", krp_name(&krp_phase_names, p));
	}
	each(row, of)
		assert_int_equal(top_phase_class(row->phase), row->class);
}

/* How many cells of a part of the canvas are not blank. */
static int ink(int y0, int y1, int x0, int x1)
{
	int x, y, n = 0;

	for (y = y0; y < y1; y++) {
		for (x = x0; x < x1; x++)
			n += strcmp(c.cell[y * c.width + x].ch, " ") != 0;
	}
	return n;
}

TEST(picture)
{
	static struct krp_hist h;
	char line[512];
	int width, height;

	blank(12, 60);
	top_picture(&c, 1, 5, 10, 50, &h, true);
	assert_int_equal(ink(0, 12, 0, 60), 0);

	/* One value makes one bar, as high as there is room, in the first column. */
	h.bucket[krp_hist_index(1000000)] = 7;
	top_picture(&c, 1, 5, 10, 50, &h, true);
	assert_int_equal(ink(1, 9, 12, 55), 8);
	assert_string_equal(c.cell[1 * 60 + 12].ch, "\u2588");
	krp_canvas_line(&c, 1, line, sizeof(line));
	assert_memory_equal(line, "          7", 11);
	line_is(10, "            999us");

	/* A tail of one value in a million is visible. */
	blank(12, 60);
	h.bucket[krp_hist_index(1000000)] = 1000000;
	h.bucket[krp_hist_index(64000000)] = 1;
	top_picture(&c, 0, 0, 12, 60, &h, true);
	assert_int_equal(ink(9, 10, 8, 60), 1);

	/* Without Unicode everything is ASCII. */
	blank(12, 60);
	top_picture(&c, 0, 0, 12, 60, &h, false);
	krp_canvas_line(&c, 9, line, sizeof(line));
	assert_true(!line[strspn(line, "0123456789 #|+-")] && strchr(line, '#'));

	/* The first and the last bucket, at all sizes: the picture never leaves its room. */
	memset(&h, 0, sizeof(h));
	h.bucket[0] = 1;
	h.bucket[KRP_HIST_BUCKETS - 1] = UINT32_MAX;
	for (height = 0; height < 14; height++) {
		for (width = 0; width < 60; width++) {
			blank(16, 70);
			top_picture(&c, 1, 1, height, width, &h, width & 1);
			are("0 0 0 0", ink(0, 1, 0, 70), ink(0, 16, 0, 1),
			    ink(1 + height, 16, 0, 70), ink(0, 16, 1 + width, 70));
		}
	}
}

TEST(canvas)
{
	char buf[64];

	blank(2, 10);
	/* Whatever bytes a name has, they cannot control the terminal. */
	assert_int_equal(krp_canvas_text(&c, 0, 2, 0, "a\033[2J\n\xc3\xa9"), 10);
	line_is(0, "  a?[2J???");
	assert_int_equal(krp_canvas_text(&c, 1, 8, KRP_BOLD, "cut off"), 15);
	/* A number that is cut does not look like a shorter one. */
	line_is(1, "        c>");
	krp_canvas_text(&c, -1, 0, 0, "x");
	krp_canvas_text(&c, 2, 0, 0, "x");
	krp_canvas_text(&c, 1, -2, 0, "xyz");
	line_is(1, "z       c>");
	krp_canvas_line(&c, 1, buf, 4);
	assert_string_equal(buf, "z");
	blank(-1, 0);
	krp_canvas_text(&c, 0, 0, 0, "x");
}

/* The first group of all, anew at a time: of the runs that are shown for keep seconds; whole: of all their time. */
static const struct top_row *grouped(uint64_t t, uint64_t keep, bool whole)
{
	top_groups_make(&s.groups, &rows, t, keep, whole);
	return s.groups.v[0];
}

/*
 * A group has the sums of its runs: iterations and rates of the interval, percentiles of all values,
 * also of a run that has ended in it.
 */
TEST(groups)
{
	uint64_t t = 10 * SECOND, reg = 0, phase = 0;
	const struct top_row *g;
	struct fake of[4];
	struct top_row *r;
	unsigned int i;
	double mb = 0;

	s.groups.keys.by = KRP_BY_TEST;
	for (i = 0; i < 4; i++) {
		take_at(begin(i + 1, t), t);
		pings(90, i == 1 ? 50000 : 1000);
		of[i] = f;
	}
	strcpy(top_rows_find(&rows, 3)->info.test, "bw");
	of[1].more.wc_err = 2;
	of[1].head.state = KRP_SLOT_ENDED;
	t += SECOND;
	for (i = 0; i < 4; i++) {
		r = rows.v[i];
		r->t_ended = i == 1 ? t : 0;
		f = of[i];
		take_at(r, t);
		if (i == 2)
			continue;
		mb += r->last.mb;
		reg += top_row_reg(r);
		phase += r->last.phase_ns[KRPING_PHASE_FILL];
	}
	g = grouped(t, 10 * SECOND, false);
	assert_string_equal(g->group->key, "rping");
	are("2 3 2 270 2", s.groups.keys.nr, g->group->ends, g->group->running, g->last.iters,
	    g->all.wc_err);
	near(g->last.rate, 270);
	near(g->last.mb, mb);
	assert_true(g->last.phase_ns[KRPING_PHASE_FILL] == phase && top_row_reg(g) == reg);
	/* A third of all values is long: more than 1 %, less than half. */
	assert_in_range(g->last.p50, 970, 1030);
	assert_in_range(g->last.p99, 48000, 52000);
	assert_int_equal(s.groups.v[1]->last.iters, 90);
	assert_in_range(s.groups.v[1]->last.p99, 970, 1030);

	/* A run that is not shown any more is not in a sum either, unless it ended in the interval. */
	are("3", grouped(t, 0, false)->group->ends);
	t += SECOND;
	for (i = 0; i < 4; i++)
		top_row_interval(rows.v[i], t);
	g = grouped(t, 0, false);
	are("2 0 0 1", g->group->ends, g->last.iters, rows.v[1]->counted, rows.v[0]->counted);

	/* All the time has all of them, with the histograms that they keep. They ran for two seconds. */
	top_row_shrink(rows.v[1], true);
	g = grouped(t, 0, true);
	are("3 270 270 50000 0", g->group->ends, g->whole.iters, krp_hist_total(g->all.hist),
	    g->all.iter.max, g->part);
	assert_in_range(g->whole.p99, 48000, 50000);
	near(g->whole.rate, 135);

	/* One has no histogram any more: then the percentiles of all are not known. */
	free(rows.v[1]->all.hist);
	rows.v[1]->all.hist = NULL;
	g = grouped(t, 0, true);
	assert_true(g->part && g->whole.p99 == KRP_NS_UNKNOWN);
}

/* A screen with so many runs, of a tool that began two seconds ago. */
static void screen_open(unsigned int nr)
{
	struct top_row *r;
	unsigned int i, j;

	teardown();
	strcpy(s.environment.kernel, "6.1.0-56-amd64");
	strcpy(s.environment.clock, "tsc");
	s.v = (struct top_view){ .rows = &rows,
				 .ports = &s.ports,
				 .environment = &s.environment,
				 .groups = &s.groups,
				 .full = true,
				 .sort = TOP_RUN,
				 .now = 100 * SECOND,
				 .keep_ns = 10 * SECOND,
				 .clock = "12:34:56",
				 .lost = "0" };
	for (i = 1; i <= nr; i++) {
		r = begin(i, 98 * SECOND);
		for (j = 0; j < 10 + i % 7; j++)
			pings(1, 100000 * (1 + i % 5) + j * 1000);
		f.phase = KRPING_PHASE_WAIT_READ;
		f.log.nr = TOP_LOG + 4;
		for (j = 0; j < TOP_LOG; j++)
			f.log.entry[(j + 4) % TOP_LOG] =
				(struct top_entry){ 98 * SECOND + j * 1000000, j % 5, j, j + 1,
						    j & 1 ? 0 : -EIO };
		take_at(r, 100 * SECOND);
	}
	s.counters[0] =
		(struct krp_hwcnt){ .name = "rcvd_seq_err", .fd = -1, .error = true, .now = 12 };
	s.counters[1] = (struct krp_hwcnt){ .name = "sent_pkts", .fd = -1, .now = 4321 };
	s.port = (struct krp_hwport){ .dev = "rxe0",
				      .port = 1,
				      .used = true,
				      .t_prev = SECOND,
				      .t_now = 3 * SECOND,
				      .v = s.counters,
				      .nr = 2 };
	s.ports = (struct krp_hwports){ .v = &s.port, .nr = 1 };
}

static const char *screen_draw(int width, int height)
{
	char line[2048];
	int y;

	top_view_collect(&s.v, width);
	blank(height, width);
	top_view_draw(&s.v, &c);
	printer();
	for (y = 0; y < height; y++) {
		krp_canvas_line(&c, y, line, sizeof(line));
		fprintf(unit_out, "%s\n", line);
	}
	return printed();
}

/* The keys that are no characters, as characters of a text of keys. */
#define DOWN   "\1"
#define PGDOWN "\2"
#define HOME   "\3"
#define END    "\4"
#define ENTER  "\5"
#define BACK   "\6"
#define ESC    "\7"

static void keys(const char *keys)
{
	static const int special[] = { 0,	    TOP_KEY_DOWN,  TOP_KEY_PAGE_DOWN, TOP_KEY_HOME,
				       TOP_KEY_END, TOP_KEY_ENTER, TOP_KEY_BACKSPACE, TOP_KEY_ESC };

	for (; *keys; keys++)
		assert_true(top_view_key(&s.v, *keys < 8 ? special[(int)*keys] : *keys));
}

/* Draws a screen, presses the keys, and draws it again: it has these parts then, and not those that begin with '!'. */
#define shows(pressed, width, height, ...)     \
	do {                                   \
		press(pressed, width, height); \
		each_text(part, __VA_ARGS__)   \
			has(unit_text, part);  \
	} while (0)
static void press(const char *pressed, int width, int height)
{
	if (*pressed)
		screen_draw(width, height);
	keys(pressed);
	screen_draw(width, height);
}

/* Run 2 has ended, five seconds ago. */
static struct top_row *refused(void)
{
	struct top_row *r = top_rows_find(&rows, 2);

	r->t_ended = 95 * SECOND;
	r->info.err = ECONNREFUSED;
	return r;
}

TEST(list)
{
	screen_open(0);
	shows("", 80, 24, "nothing running yet");
	/* A user who waits for one run is told which. */
	strcpy(s.v.absent, "there is no run 9999 yet");
	shows("", 80, 24, "there is no run 9999 yet");

	screen_open(100);
	shows("", 80, 24, "krping-top 12:34:56  100 running",
	      "\nrxe0/1  rcvd_seq_err 6.00/s\n     RUN ROLE   TEST  DEV    ITER/S   MB/S    P50    P99 ERR STATE    TIME SPENT\n       1 server",
	      "       2 client rping rxe0     6.00   0.00  307us  307us   0 wait 100 WWWWWWWWWW\n",
	      "\nrxe0/1  sent_pkts 2160/s\n", "h help  q quit", "RUN 1-19/100",
	      "!\n      20 client", "!clock tsc");
	/* What the figures depend on is in the help. */
	shows("h", 80, 24, "\n# 6.1.0-56-amd64  clock tsc\n");
	shows(" ", 80, 24, "!clock tsc");
	/* The selected run is always on the screen. */
	are("1", s.v.selected);
	shows(PGDOWN, 80, 24, "\n      20 client");
	are("20", s.v.selected);
	shows(END, 80, 24, "\n     100 client");
	are("100", s.v.selected);
	keys("k");
	are("99", s.v.selected);
	keys(HOME "jj");
	are("3", s.v.selected);

	/* The selection stays on its run, whatever the order. */
	shows("R", 80, 24, "RUN reversed", "\n       3 server");
	are("3", s.v.selected);
	shows("R>>>>", 80, 24, "sort ITER/S ", "!reversed");
	keys(">");
	assert_int_equal(s.v.sort, TOP_MB);
	keys("<<<<<<<<");
	assert_int_equal(s.v.sort, TOP_RUN);

	/* If the selected run goes, the selection moves to another one. */
	top_rows_find(&rows, 3)->listed = false;
	screen_draw(80, 24);
	assert_int_not_equal(s.v.selected, 3);

	/* A result stays for a while, with its cause; what has failed is above what has not. */
	strcpy(refused()->info.reason, "connection refused");
	rows.v[39]->all.wc_err = 7;
	shows(HOME, 80, 24,
	      "6.00/s\nrun 2 ended: ECONNREFUSED: connection refused\n     RUN ROLE ");
	has(unit_text, " TIME SPENT\n       2 client rping rxe0 ");
	has(strstr(unit_text, "\n       2 "), "  0 ECONNREF");
	assert_true(strstr(unit_text, "\n      40 client") <
		    strstr(unit_text, "\n       1 server"));
	rows.v[39]->all.wc_err = 0;
	s.v.now = 106 * SECOND;
	shows("", 80, 24, "!ECONNREFUSED");

	/* The bar has a legend where there is room. */
	shows("", 80, 30, "W wait");
	shows("", 80, 29, "!W wait");
	s.v.max_rows = 5;
	shows("", 80, 24, "RUN 1-5/5");
}

/*
 * A connection counts once if both ends are on this host; a run of another host may have the same number as one of this host.
 */
TEST(rate)
{
	struct top_row *r;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		r = listed(i + 1);
		r->info.peer_run = (i ^ 1) + 1;
		r->last.rate = 100 + 10 * i;
		strcpy(r->info.role, i & 1 ? "client" : "server");
		strcpy(r->info.src, i & 1 ? "10.9.0.1:4711" : "10.9.0.1:9999");
		strcpy(r->info.dst, i & 1 ? "10.9.0.1:9999" : "10.9.0.1:4711");
	}
	assert_true(top_rows_rate(&rows) == 110 + 130);
	/* The runs of the second pair now have their peers on other hosts. */
	strcpy(rows.v[2]->info.dst, "10.9.0.2:4711");
	assert_true(top_rows_rate(&rows) == 110 + 120 + 130);
	/* A run that has ended adds no rate, but its server still does. */
	rows.v[1]->t_ended = 1;
	assert_true(top_rows_rate(&rows) == 100 + 120 + 130);
	/* A classic peer has no number. */
	rows.v[2]->info.peer_run = 0;
	assert_true(top_rows_rate(&rows) == 100 + 120 + 130);
}

/*
 * Two ends of a ping that are both here are one row, with the figures of the client, or of the end that does the work, and
 * with the errors of both.
 */
TEST(pairs)
{
	struct top_row *server, *client;

	screen_open(4);
	server = rows.v[2];
	client = rows.v[3];
	server->info.peer_run = 4;
	client->info.peer_run = 3;
	strcpy(server->info.src, client->info.dst);
	strcpy(server->info.dst, client->info.src);
	/* The selection goes to the row that has both. */
	s.v.selected = 3;
	screen_draw(80, 24);
	are("4", s.v.selected);
	server->all.wc_err = 2;
	client->all.wc_err = 3;
	client->last.rate = 77;
	shows("", 80, 24, " TIME SPENT\n    3<>4 both   rping rxe0     77.0 ", "  5 wait 100 ",
	      "RUN 1-3/3", "4 running", "!     3 server", "!     4 client");
	/* The filter finds either. */
	shows("/SERVER" ENTER, 80, 24, "    3<>4 both", "RUN 1-2/2");
	shows(ESC "a", 80, 24, "       3 server", "       4 client", "RUN 1-4/4");
	shows("a", 80, 24, "    3<>4 both");
	/* One page leads to the other. */
	shows(ENTER, 80, 24, "run 4  all");
	shows("a", 80, 24, "run 3  all", "peer run 4");
	keys(BACK);
	/* Either end that fails is the result of both, with its cause; and it is not gone before both are. */
	server->info.err = EIO;
	strcpy(server->info.reason, "broken");
	server->t_ended = SECOND;
	shows("", 80, 24, "\nrun 3 ended: EIO: broken\n", "    3<>4 both", "  5 EIO ");
	/* Of this test it is the server that reads. */
	strcpy(server->info.test, "fast");
	strcpy(client->info.test, "fast");
	shows(HOME, 80, 24, "    3<>4 both", "!77.0");
	are("3", s.v.selected);
	/* Groups count ends, and tables have a row for each. */
	shows("b", 80, 24, "ENDS");
	shows(END ENTER, 80, 24, "!both");
	shows(BACK "bbbbb", 80, 24, "    3<>4 both");
	s.v.full = false;
	shows("", 80, 24, "!both", "       4 client");
	/* A run of another host may have the same number as one of this host. */
	s.v.full = true;
	strcpy(server->info.src, "10.9.0.77:1");
	shows("", 80, 24, "!both", "       4 client");
	shows(HOME ENTER "a", 80, 24, "the other end is not here");
}

/* Keys that ask for something that is not on the screen: x is to be confirmed, for the same run. */
TEST(wishes)
{
	screen_open(3);
	shows("x", 80, 24, "stop run 1, server rping?  x: yes");
	shows("jx", 80, 24, "stop run 2, client rping?  x: yes", "!run 1,");
	are("0", s.v.wish);
	keys("x");
	are("120 2", s.v.wish, s.v.wish_run);
	s.v.wish = 0;
	shows("xp", 80, 24, "!stop run", "PAUSED");
	shows("x", 80, 24, "stop run 2");
	are("0", s.v.wish);
	/* Another run has come to the place of the one that was asked for. */
	rows.v[1]->listed = false;
	shows("", 80, 24, "stop run 2");
	keys("x");
	are("0", s.v.wish);
	rows.v[1]->listed = true;
	s.v.selected = 2;
	keys(ENTER "s");
	are("115 2", s.v.wish, s.v.wish_run);
	s.v.wish = 0;
	shows("x", 80, 24, "stop run 2");
	keys("x");
	are("120 2", s.v.wish, s.v.wish_run);
	s.v.wish = 0;
	refused();
	shows("x", 80, 24, "run 2 has ended");
	shows("m", 80, 24, "run 2 has ended");
	/* The runs of a recording have ended long ago, but their events are there. */
	s.v.replays = true;
	shows("xx", 80, 24, "this is a recording");
	are("0", s.v.wish);
	keys("m");
	are("109 2", s.v.wish, s.v.wish_run);
	s.v.wish = 0;
	shows(BACK "bxx", 80, 24, "select a run first");
	are("0", s.v.wish);
	keys("h");
	keys("x");
	keys("/x");
	are("0 0", s.v.wish, s.v.asked);
}

/* The screen names the column by which it is sorted. */
TEST(order)
{
	screen_open(20);
	shows("", 80, 24, " sort RUN 1-19/20");
	shows("R>>", 80, 24, " sort TEST reversed 1-19/20");
	/* Of a recording it says where that is. */
	s.v.replays = true;
	s.v.position = 0.42;
	shows("", 80, 24, "krping-top 12:34:56  42%  20 running");
}

TEST(typing)
{
	screen_open(20);
	shows("/", 80, 24, "filter: _");
	/* The filter works while it is typed; letters are text now, even q. */
	shows("mlx", 80, 24, "filter: mlx_", "RUN 1-6/6", "!rxe0  ");
	shows("q", 80, 24, "no run matches");
	shows(BACK, 80, 24, "RUN 1-6/6");
	keys(DOWN);
	are("6", s.v.selected);
	shows(ENTER, 80, 24, "filter: mlx ");
	/* Now letters are keys again. */
	keys("R");
	assert_true(s.v.reverse);
	shows(ESC, 80, 24, "/20");
	keys("/xyz" ESC);
	assert_true(!s.v.typing && !*s.v.filter);
	/* The filter keeps only as much text as it has room for. */
	keys("/0123456789012345678901234567890123456789012345678901234567890123456789");
	assert_int_equal(strlen(s.v.filter), sizeof(s.v.filter) - 1);
}

TEST(one)
{
	struct top_row *r;

	screen_open(3);
	screen_draw(80, 24);
	keys("j" ENTER);
	are("2", s.v.opened);
	shows("", 80, 60, "run 2  all its time", "client rping  rxe0/1",
	      "10.9.0.1:9999 > 10.9.0.3:4711", "in phase wait_read",
	      "PHASE            COUNT   MEAN    MAX SHARE%  LATENCY OF AN ITERATION",
	      "\n>wait_read          12", "requests       SEND",
	      "REG_MR 24  LOCAL_INV 12  by READs 0  by the peer 12", "not kept: 4\n",
	      "0.010000s  CM     DISCONNECTED, status -5\n     0.009000s  error",
	      "0.000000s  CM     ADDR_RESOLVED, status -5");
	/* Errors are right below the head, and the first ones say what they were. */
	shows("", 80, 24,
	      "0.00 MB/s\nerrors         failed 0  flushed 0  refused by the verbs call 0\n  error  SEND_WITH_INV failed: SUCCESS, vendor's 0x4\n  error  READ was not posted: EIO\n  error  READ_WITH_INV failed: ?, vendor's 0x9\nlatency");
	shows("t", 80, 60, "the last interval");
	/* Where many requests are in flight the time of an iteration is no latency. */
	strcpy(top_rows_find(&rows, 2)->info.test, "rlat");
	top_rows_find(&rows, 2)->info.queues = 2;
	shows("", 80, 60, "spacing mean ", "SPACING OF ITERATIONS", "!latency mean", "!LATENCY");
	strcpy(top_rows_find(&rows, 2)->info.test, "rping");
	shows("", 80, 60, "latency mean ");
	/* On a small screen, the rest is reached by scrolling down. */
	shows("t", 80, 24, "!0.000000s  CM");
	shows(PGDOWN PGDOWN PGDOWN PGDOWN, 80, 24, "0.000000s  CM", "run 2  all its time",
	      "!PHASE ");
	shows(HOME, 80, 24, "PHASE ");
	/* On a narrow screen, the picture is below the table. */
	shows("", 60, 80, "\nLATENCY OF AN ITERATION");

	/* A run whose screen is open stays there after it has ended, however long ago. */
	r = top_rows_find(&rows, 2);
	r->t_ended = SECOND;
	r->info.err = EIO;
	shows("", 80, 24, "run 2 ended: EIO");
	shows("h", 80, 24, "any key: back");
	shows("y", 80, 24, "run 2 ended");
	shows(BACK, 80, 24, "!run 2 ended");
	are("0", s.v.opened);
	/* A run without an iteration. */
	keys(ENTER);
	assert_int_not_equal(s.v.opened, 0);
	r = top_rows_find(&rows, s.v.opened);
	top_sums_clear(&r->all);
	top_sums_clear(&r->prev);
	shows("", 80, 60, "no iteration was watched from its beginning to its end");
	shows("t", 60, 60, "no iteration in the last interval");
	/* A run that is forgotten while its screen is open. */
	top_rows_drop(&rows, top_rows_find(&rows, s.v.opened));
	shows("", 80, 24, "h help  q quit");
	are("0", s.v.opened);
	shows("p", 80, 24, "PAUSED");
	assert_true(s.v.paused);
	shows(" ", 80, 24, "!PAUSED");
	assert_false(top_view_key(&s.v, 'q'));
}

/* b sums the runs up, Enter shows those of a group, and Backspace the groups again. */
TEST(by)
{
	screen_open(30);
	/* mlx5_0 is before rxe0. */
	shows("b", 80, 24, "30 running by dev  ", "\nGROUP ", " ENDS RUNNING END-IT/S END-MB/S ",
	      "\nmlx5_0 ", "  10      10 ", "  20      20 ", "sort GROUP 1-2/2");
	assert_true(strstr(unit_text, "\nmlx5_0 ") < strstr(unit_text, "\nrxe0 "));
	shows("R", 80, 24, "\nrxe0 ");
	assert_true(strstr(unit_text, "\nmlx5_0 ") > strstr(unit_text, "\nrxe0 "));
	shows("R>>>", 80, 24, "sort END-IT/S 1-2/2");
	/* The order is the same in the list of runs, whose column has another name. */
	shows(">", 80, 24, "sort END-MB/S 1-2/2");
	shows(ENTER, 80, 40, "sort MB/S 1-");
	shows(BACK "<<<<", 80, 24, "sort GROUP");
	shows(HOME ENTER, 80, 40, "dev mlx5_0  ", "RUN 1-10/10", "! rxe0 ");
	shows(BACK, 80, 24, "GROUP 1-2/2");
	shows("/rx" ENTER, 80, 24, "GROUP 1-1/1");
	/* All keys in turn, and then the runs again. */
	shows(ESC "b", 80, 24, "by peer  ");
	shows("bb", 80, 24, "by test  ", "\nrping ");
	shows("b", 80, 24, "by size  ", "\n64 ");
	shows("b", 80, 24, "30 running  ", "RUN 1-");
}

/* Any keys in any order, while runs come, end and go, and the size changes. */
TEST(any_keys)
{
	struct top_row *r;
	uint32_t id = 41;
	unsigned int i;
	int key, quits = 0, width, height;

	screen_open(40);
	srand(7);
	for (i = 0; i < 8000; i++) {
		key = rand() % 3 ? TOP_KEY_UP + rand() % 11 : ' ' + rand() % 95;
		quits += !top_view_key(&s.v, key);
		s.v.now += SECOND / 10;
		if (rand() % 10 == 0) {
			r = listed(id++);
			r->info.peer_run = r->info.id ^ 1;
			strcpy(r->info.dst, r->info.src);
			memset(r->info.name, 'n', sizeof(r->info.name) - 1);
			memset(r->info.dev, '\033', sizeof(r->info.dev) - 1);
			memset(r->info.reason, 'r', sizeof(r->info.reason) - 1);
			r->info.elapsed_ns = UINT64_MAX;
			r->all.wc_err = UINT64_MAX;
			r->info.err = rand() % 200;
			r->phase = rand() % 64;
			r->t_phase = rand() % 2;
			r->all.phases[rand() % TOP_PHASES].sum = UINT64_MAX / 4;
		}
		if (rows.nr && rand() % 10 == 0)
			rows.v[rand() % rows.nr]->t_ended = s.v.now;
		if (rows.nr && rand() % 12 == 0)
			top_rows_drop(&rows, rows.v[rand() % rows.nr]);
		if (rows.nr)
			top_row_interval(rows.v[rand() % rows.nr], s.v.now);
		/* Half of the screens are about as small as a screen can be. */
		width = rand() % (i & 1 ? 200 : 45);
		height = rand() % (i & 1 ? 60 : 12);
		screen_draw(width, height);
		if (width >= 40 && height >= 8)
			assert_memory_equal(unit_text, "krping-top 12:34:56", 19);
		else if (width > 8 && height)
			assert_memory_equal(unit_text, "too small", 9);
	}
	assert_true(quits > 0);
}

TEST(ports)
{
	screen_open(1);
	blank(4, 36);
	/* Text that does not fit into a line goes into the next one. */
	assert_int_equal(top_draw_ports(&c, 0, 4, &s.ports, TOP_ERRORS | TOP_TRAFFIC), 2);
	line_is(0, "rxe0/1  rcvd_seq_err 6.00/s");
	line_is(1, "rxe0/1  sent_pkts 2160/s");
	assert_int_equal(top_draw_ports(&c, 3, 1, &s.ports, TOP_ERRORS | TOP_TRAFFIC), 4);
	line_is(3, "rxe0/1  rcvd_seq_err 6.00/s");
	/* A counter that does not change is not shown, nor is a port that no run uses. */
	blank(4, 80);
	s.counters[0].prev = s.counters[0].now;
	assert_int_equal(top_draw_ports(&c, 0, 4, &s.ports, TOP_ERRORS | TOP_TRAFFIC), 1);
	line_is(0, "rxe0/1  sent_pkts 2160/s");
	assert_int_equal(top_draw_ports(&c, 0, 4, &s.ports, TOP_ERRORS), 0);
	s.port.used = false;
	assert_int_equal(top_draw_ports(&c, 0, 4, &s.ports, TOP_TRAFFIC), 0);
}
