/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kernel side of what a tool follows: slots of runs that tell what they do in records, and rings, from which a reader gets
 * those records that were put into them; the others were overwritten. It replaces the clock, the rings' reader and krp_die().
 * Include this behind unit.h and tools/lib/follow.h.
 */
#ifndef KRPING_TEST_KERNEL_H
#define KRPING_TEST_KERNEL_H

#define SLOTS 2

static uint64_t now = 1000;

uint64_t krp_time_now(void)
{
	return now;
}

void krp_die(const char *fmt, ...)
{
	fail_msg("%s", fmt);
	abort();
}

static struct queued {
	struct krp_rec rec;
	__u64 word[KRPING_WORDS_MAX];
} queue[4000];
static unsigned int nr_queued;
/* Only so many records are handed over by the next readings, one number for each reading. */
static unsigned int portion[8], nr_portions, nr_readings;
/* So many are overwritten during the next reading. */
static unsigned int overtakes;

int krp_iters_init(struct krp_iters *it, UNUSED const void *rings, UNUSED uint64_t size,
		   UNUSED unsigned int nr)
{
	memset(it, 0, sizeof(*it));
	nr_queued = 0;
	return 0;
}

void krp_iters_free(UNUSED struct krp_iters *it)
{
}

unsigned int krp_iters_behind(UNUSED const struct krp_iters *it)
{
	return 0;
}

unsigned long krp_iters_read(struct krp_iters *it, void (*f)(void *ctx, const struct krp_rec *rec),
			     void *ctx)
{
	unsigned int n = nr_queued, i;

	nr_readings++;
	it->overtaken += overtakes;
	overtakes = 0;
	if (nr_portions) {
		n = portion[0];
		memmove(portion, portion + 1, --nr_portions * sizeof(*portion));
	}
	assert_true(n <= nr_queued);
	for (i = 0; i < n; i++)
		f(ctx, &queue[i].rec);
	memmove(queue, queue + n, (nr_queued - n) * sizeof(*queue));
	nr_queued -= n;
	return n;
}

static struct krp_run runs[SLOTS];
static uint64_t serials;
struct krp_programs programs = {
	.slots = SLOTS,
	.ring = 4096,
	.cpus = 1,
	.runs = (const char *)runs,
};

void krp_programs_begin(UNUSED const struct krp_programs *w)
{
}

static void start(uint32_t slot, uint32_t run, bool late)
{
	struct krp_run *r = &runs[slot];

	memset(r, 0, sizeof(*r));
	r->head.run = run;
	r->head.state = KRP_SLOT_RUNNING;
	r->head.late = late;
	r->head.t_first = r->head.t_last = ++now;
	r->serial = ++serials;
}

/* Returns what the record has; good for some more calls. */
static const struct krp_rec *tell(uint32_t slot, uint64_t ns, unsigned int flags)
{
	static struct krp_rec told[8];
	static unsigned int nr;
	struct krp_rec *rec = &told[nr++ % 8];
	struct krp_run *r = &runs[slot];

	now += ns;
	r->records++;
	r->records_ns += ns;
	r->whole += flags & KRP_REC_F_WHOLE;
	r->head.t_last = now;
	*rec = (struct krp_rec){
		.run = r->head.run,
		.slot = slot,
		.flags = flags,
		.records = r->records,
		.records_ns = r->records_ns,
		.whole = r->whole,
		.t_begin = now - ns,
		.t = now,
	};
	return rec;
}

/* Puts a record into the ring, with its words. */
static void put_words(const struct krp_rec *rec, const __u64 *words, unsigned int nr)
{
	struct queued *q = &queue[nr_queued++];

	assert_true(nr_queued <= NR(queue));
	q->rec = *rec;
	q->rec.nr = nr;
	if (nr)
		memcpy(q->word, words, nr * sizeof(*words));
}

#endif /* KRPING_TEST_KERNEL_H */
