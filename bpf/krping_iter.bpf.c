// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel side of krping-top, krping-stages and krping-mr. For each of them one event
 * of an iteration carries all that it needs: krping_iter_phases, krping_iter_stages or
 * krping_iter_memory, to which the tool attaches krp_iter(). It adds the iteration to the
 * sums of its run, or copies it into the ring of the CPU. Set-up, tear-down and pauses are
 * told in the same way.
 *
 * Every program here is written as a raw tracepoint: it takes the arguments of
 * TP_PROTO as 64-bit words and reads no kernel structure, so it loads without any
 * BTF of the kernel or of the module. When it is attached the kernel refuses a
 * program that reads more arguments than the event has.
 *
 * A run has a slot while it is watched, and KRP_KEEP_NS longer. The thread of a run
 * is the only writer of its slot, hence no atomics. All memory is allocated before
 * the first event.
 */
#include <linux/types.h>

#include "base.bpf.h"
#include "iter.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by user space: enum krp_kind. */
const volatile __u32 kind = 0;
/* Set by user space: bytes of data in a ring, a power of two, as the map's size has it. */
const volatile __u64 ring_size = 1 << 12;
/* The nonce of this host's module: a run with another nonce is on another host. */
const volatile __u64 own_nonce = 0;

/* Sizes of all maps below are set by user space before the maps are made. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} run_slots SEC(".maps");

/* Slots without a run, and those of runs that have ended, by the time of their ends. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, __u32);
} free_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct krp_run);
} krp_runs SEC(".maps");

/* By slot: how long the iterations of the run took. Of other kinds than KRP_KIND_PHASES it has one element. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct krp_hist);
} krp_hists SEC(".maps");

/* A struct krp_ring for each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, KRP_RING_BYTES(1 << 12));
} krp_rings SEC(".maps");

/* It holds no data: the reader waits for it. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} krp_wakeups SEC(".maps");

/* Runs that have got a slot. */
__u64 serials;

/*
 * The slot where a run was last found: a lookup in the hash map takes longer
 * than all the rest of most programs. An entry here may be wrong, but the run
 * number in the slot itself is right.
 */
#define SEEN 4096
__u32 seen[SEEN];

/* A histogram without values. */
static const struct krp_hist no_values;

/*
 * Step seq so that all stores before and after the step are ordered against it,
 * on every CPU. In BPF only an atomic instruction whose result is used gives
 * this order: if the result is not used, it is a plain addition on arm64.
 */
static __always_inline void seq_step(struct krp_head *h)
{
	__u32 seq = __sync_fetch_and_add(&h->seq, 1);

	asm volatile("" : : "r"(seq) : "memory");
}

static __always_inline void write_begin(struct krp_run *r)
{
	seq_step(&r->head);
}

static __always_inline void write_end(struct krp_run *r)
{
	seq_step(&r->head);
}

/* May a slot become another run's? */
static __always_inline int is_free(struct krp_run *r, __u64 t)
{
	return r->head.state == KRP_SLOT_FREE ||
	       (r->head.state == KRP_SLOT_ENDED && t > r->head.t_last + KRP_KEEP_NS);
}

/* Takes the slot that was made free first; -1 if none has been free for long enough. */
static __always_inline long take_slot(__u64 t)
{
	struct krp_run *r;
	__u32 slot;

	/* Mostly it is the first one or none: the others became free later. */
	if (bpf_map_peek_elem(&free_slots, &slot))
		return -1;
	r = bpf_map_lookup_elem(&krp_runs, &slot);
	if (!r || !is_free(r, t) || bpf_map_pop_elem(&free_slots, &slot))
		return -1;
	/* Another CPU may have taken that one meanwhile, and this is the next one. */
	r = bpf_map_lookup_elem(&krp_runs, &slot);
	if (r && is_free(r, t))
		return slot;
	bpf_map_push_elem(&free_slots, &slot, 0);
	return -1;
}

static __always_inline void clear_phases(struct krp_run *r, __u32 slot)
{
	__u32 i;

	if (kind != KRP_KIND_PHASES)
		return;
	bpf_map_update_elem(&krp_hists, &slot, &no_values, 0);
	for (i = 0; i < KRP_PHASES; i++) {
		r->phases[i].count = 0;
		r->phases[i].sum = 0;
		r->phases[i].max = 0;
		/* Or the compiler makes it a call of memset(), which there is not. */
		barrier();
	}
}

/*
 * A slot for the run, which begins, or began before we were attached; -1 if there is none.
 * This is a global function, so that the verifier checks it only once.
 */
__noinline int new_slot(__u32 run, __u64 t)
{
	struct krp_run *r;
	long taken = take_slot(t);
	__u32 slot = taken, old;

	if (taken < 0) {
		krp_count(KRP_CNT_FAILED);
		return -1;
	}
	r = bpf_map_lookup_elem(&krp_runs, &slot);
	if (!r)
		return -1;
	old = r->head.run;
	if (old)
		bpf_map_delete_elem(&run_slots, &old);
	write_begin(r);
	/* All but the number of writes, which only ever grows. */
	__builtin_memset(&r->head.state, 0,
			 __builtin_offsetof(struct krp_run, phases) -
				 __builtin_offsetof(struct krp_run, head.state));
	clear_phases(r, slot);
	r->head.run = run;
	r->serial = __sync_fetch_and_add(&serials, 1) + 1;
	write_end(r);
	if (bpf_map_update_elem(&run_slots, &run, &slot, BPF_ANY)) {
		/* As if it had ended: the slot is made free again, in its turn. */
		r->head.run = 0;
		r->head.state = KRP_SLOT_FREE;
		bpf_map_push_elem(&free_slots, &slot, 0);
		krp_count(KRP_CNT_FAILED);
		return -1;
	}
	return slot;
}

/* The run's slot; NULL if it has none and create is not set, or there is none. */
static __always_inline struct krp_run *get_run(__u32 run, int create, __u64 t, __u32 *slot)
{
	struct krp_run *r;
	__u32 *found;
	long s;

	if (!listening)
		return 0;
	*slot = seen[run & (SEEN - 1)];
	r = bpf_map_lookup_elem(&krp_runs, slot);
	if (r && r->head.run == run)
		return r;
	found = bpf_map_lookup_elem(&run_slots, &run);
	if (found) {
		*slot = *found;
	} else {
		s = create ? new_slot(run, t) : -1;
		if (s < 0)
			return 0;
		*slot = s;
	}
	seen[run & (SEEN - 1)] = *slot;
	return bpf_map_lookup_elem(&krp_runs, slot);
}

/*
 * The run began before we were attached, and this is the first that is seen of it.
 * Its account begins with this record, or, where nobody listened when the iteration
 * began, behind it.
 */
static __always_inline void begin_late(struct krp_run *r, __u64 t)
{
	r->head.late = 1;
	r->head.t_first = t;
	r->head.t_last = t;
	r->head.state = KRP_SLOT_RUNNING;
}

/* The words of a record, for functions that are called: the verifier wants to know their size. */
struct words {
	__u64 word[KRPING_WORDS_MAX];
};

/*
 * add_phases(), add_cut() and add_setup() are global functions, each of which is verified once, by
 * itself. In krp_iter the verifier would walk the rest of the program behind each of 48 words, and
 * that of 7.3 gives up.
 */

__noinline int add_phases(struct krp_run *r, const struct words *w, __u32 nr)
{
	struct krp_phase_sum *p;
	__u64 word, ns, what;
	__u32 i;

	if (!r || !w)
		return 0;
	if (nr > KRPING_WORDS_MAX)
		nr = KRPING_WORDS_MAX;
	/* Or the compiler compares twice at each word. */
	barrier_var(nr);
	for (i = 0; i < nr; i++) {
		word = w->word[i];
		what = KRPING_WORD_KIND(word);
		if (what > KRPING_NR_PHASES) {
			if (what >= KRPING_WORD_STEP)
				continue;
			what = KRPING_NR_PHASES;
		}
		p = &r->phases[what];
		ns = KRPING_SEG_NS(word);
		p->count++;
		p->sum += ns;
		if (ns > p->max)
			p->max = ns;
	}
	return 0;
}

/* The words of an iteration that was cut short. */
__noinline int add_cut(struct krp_run *r, const struct words *w, __u32 nr)
{
	__u64 word;
	__u32 i;

	if (!r || !w)
		return 0;
	if (nr > KRPING_WORDS_MAX)
		nr = KRPING_WORDS_MAX;
	for (i = 0; i < nr; i++) {
		word = w->word[i];
		if (KRPING_WORD_IS_TIME(word))
			r->cut_ns += KRPING_SEG_NS(word);
	}
	return 0;
}

/* The state that a run has entered if it went from one of these phases to the other. */
static __always_inline __u32 state_between(__u32 phase, __u32 next)
{
	if (phase == KRPING_PHASE_RESOLVE_ADDR && next == KRPING_PHASE_RESOLVE_ROUTE)
		return KRPING_STATE_ADDR_RESOLVED;
	if (phase == KRPING_PHASE_RESOLVE_ROUTE && next == KRPING_PHASE_ALLOC)
		return KRPING_STATE_ROUTE_RESOLVED;
	if (phase == KRPING_PHASE_LISTEN && next == KRPING_PHASE_ALLOC)
		return KRPING_STATE_CONNECT_REQUEST;
	return KRPING_STATE_NEW;
}

/*
 * The time line of a set-up tells when the run changed its state on the way to its
 * connection: at the boundaries of its phases. The event of transitions tells it, too,
 * but is raised several times in each ping.
 */
__noinline int add_setup(struct krp_run *r, const struct words *w, __u32 nr, __u64 t)
{
	__u32 phase = KRPING_PHASE_NONE, next, state, i;
	struct krp_setup_step *s;
	__u64 word;

	if (!r || !w)
		return 0;
	if (nr > KRPING_WORDS_MAX)
		nr = KRPING_WORDS_MAX;
	for (i = 0; i < nr; i++) {
		word = w->word[i];
		if (!KRPING_WORD_IS_TIME(word))
			continue;
		next = KRPING_SEG_PHASE(word);
		state = state_between(phase, next);
		if (state != KRPING_STATE_NEW) {
			s = &r->setup[r->nr_setup++ % KRP_SETUP_STEPS];
			s->t = t;
			s->state = state;
			s->again = r->commits != 0;
		}
		phase = next;
		t += KRPING_SEG_NS(word);
	}
	return 0;
}

/*
 * As krp_hist_index(), but BPF has no instruction for the highest bit: mostly it is that of the
 * run's last iteration.
 */
static __always_inline __u32 hist_index(struct krp_run *r, __u64 ns)
{
	__u64 sub = ns >> (r->octave & 63);
	__u32 i;

	if (sub - KRP_HIST_SUB < KRP_HIST_SUB)
		return r->octave * KRP_HIST_SUB + sub;
	i = krp_hist_index(ns);
	r->octave = krp_hist_octave(i);
	return i;
}

static __always_inline void add_whole(struct krp_run *r, __u32 slot, __u64 ns)
{
	struct krp_hist *h = bpf_map_lookup_elem(&krp_hists, &slot);
	__u64 i = hist_index(r, ns);

	krp_sum_add(&r->sum, ns);
	/* The compiler knows that i is in bounds, the verifier does not. */
	barrier_var(i);
	if (h && i < KRP_HIST_BUCKETS)
		h->bucket[i]++;
}

/*
 * The words of an event of KRP_KIND_PHASES, which go into sums. The first one of an iteration of a
 * disk, which is a request, says how long it took: requests overlap.
 */
static __always_inline void add_words(struct krp_run *r, __u32 slot, const struct words *w,
				      __u32 nr, __u32 what, __u64 t_begin, __u64 t)
{
	__u64 first = nr ? w->word[0] : 0;

	if (what & KRPING_PHASE_F_ABORT)
		add_cut(r, w, nr);
	else
		add_phases(r, w, nr);
	if (!(what & (KRPING_PHASE_F_ABORT | KRPING_PHASE_F_COMMIT)))
		add_setup(r, w, nr, t_begin);
	if (what == KRPING_PHASE_F_COMMIT)
		add_whole(r, slot,
			  KRPING_WORD_KIND(first) == KRPING_WORD_REQUEST ? KRPING_SEG_NS(first) :
									   t - t_begin);
}

/* Wake the reader: a quarter of a ring is full. Without room it has not read the last one yet. */
static __always_inline void wake_reader(void)
{
	__u64 *nothing = bpf_ringbuf_reserve(&krp_wakeups, sizeof(*nothing), 0);

	if (nothing)
		bpf_ringbuf_discard(nothing, BPF_RB_FORCE_WAKEUP);
}

/* The record that is complete now ends at the byte with this number. */
static __always_inline void record_done(struct krp_ring *ring, __u64 from, __u64 to)
{
	__u64 is;

	/* Mostly it ends in the block in which it began. */
	if ((from ^ to) < ring_size / KRP_BLOCKS) {
		*(volatile __u64 *)&ring->head = to;
		return;
	}
	is = KRP_BLOCK(to, ring_size);
	barrier_var(is);
	if (is < KRP_BLOCKS)
		ring->first[is] = to;
	*(volatile __u64 *)&ring->head = to;
	if (is % KRP_WAKE_BLOCKS == 0)
		wake_reader();
}

/*
 * The section names an event of the three, which have the same arguments. An argument is read where
 * it is needed: one that was read before a call would be kept on the stack.
 */
SEC("raw_tp/krping_iter_phases")
int krp_iter(krp_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), run = ctx->args[0], slot, what, flags;
	__u64 nr, from, t, t_begin;
	struct krp_ring *ring;
	struct krp_rec *rec;
	struct krp_run *r;

	r = get_run(run, 1, ctx->args[1], &slot);
	ring = bpf_map_lookup_elem(&krp_rings, &cpu);
	if (!r || !ring)
		return 0;
	nr = (__u32)ctx->args[5];
	barrier_var(nr);
	if (nr > KRPING_WORDS_MAX) {
		krp_count(KRP_CNT_FAILED);
		return 0;
	}
	from = ring->head;
	rec = (struct krp_rec *)(ring->data + (from & (ring_size - 1) & ~7ULL));
	/*
	 * A reader must see this before the record that was there is overwritten: write_begin() is a
	 * barrier. Without readers the place is only where the words are copied to.
	 */
	*(volatile __u64 *)&ring->begun = from + KRP_REC_BYTES(nr);
	write_begin(r);
	if (r->head.state == KRP_SLOT_FREE) {
		flags = ctx->args[3];
		r->iter = ctx->args[2];
		if (flags & KRPING_PHASE_F_PART) {
			begin_late(r, ctx->args[1]);
			r->iter += !!(flags & KRPING_PHASE_F_COMMIT);
			goto out;
		}
		begin_late(r, ctx->args[4]);
	}
	if (bpf_probe_read_kernel(rec->word, nr * sizeof(__u64), (const void *)ctx->args[6])) {
		krp_count(KRP_CNT_FAILED);
		goto out;
	}
	t = ctx->args[1];
	t_begin = ctx->args[4];
	flags = ctx->args[3];
	if (t_begin != r->head.t_last)
		r->holes++;
	r->head.t_last = t;
	/*
	 * Another thread may have told of the set-up. So the number is that of the thread that told
	 * last, until the first iteration has ended; a passive end makes none.
	 */
	if (!r->commits)
		r->head.tid = bpf_get_current_pid_tgid();
	what = flags & (KRPING_PHASE_F_COMMIT | KRPING_PHASE_F_ABORT | KRPING_PHASE_F_PART);
	if (what == KRPING_PHASE_F_COMMIT) {
		if (ctx->args[2] != r->iter)
			r->unmatched++;
		r->iter = ctx->args[2] + 1;
		r->whole++;
		r->commits++;
	} else if (what & KRPING_PHASE_F_COMMIT) {
		r->commits++;
	} else if (what & KRPING_PHASE_F_ABORT) {
		r->aborts++;
	}
	r->records++;
	r->records_ns += t - t_begin;
	if (kind == KRP_KIND_PHASES) {
		add_words(r, slot, (struct words *)rec->word, nr, what, t_begin, t);
		goto out;
	}
	/* Readers take a flag for the one that stands in another place of the event. */
	rec->flags = (what == KRPING_PHASE_F_COMMIT) * KRP_REC_F_WHOLE |
		     (flags & KRPING_ITER_F_MORE) / (KRPING_ITER_F_MORE / KRP_REC_F_MORE) | r->more;
	r->more = (flags & KRPING_ITER_F_MORE) / (KRPING_ITER_F_MORE / KRP_REC_F_GOES_ON);
	rec->run = run;
	rec->slot = slot;
	rec->nr = nr;
	rec->reserved = 0;
	rec->records = r->records;
	rec->records_ns = r->records_ns;
	rec->whole = r->whole;
	rec->iter = ctx->args[2];
	rec->t_begin = t_begin;
	rec->t = t;
	/* Readers take the record from when "head" is behind it: write_end() is a barrier. */
	write_end(r);
	record_done(ring, from, from + KRP_REC_BYTES(nr));
	return 0;
out:
	write_end(r);
	return 0;
}

/* A nonce of 0 means a classic peer, so the flags need not be checked. */
SEC("raw_tp/krping_conn")
int krp_conn(krp_args *ctx)
{
	__u32 run = ctx->args[0], peer = ctx->args[8], slot;
	__u64 nonce = ctx->args[9];
	struct krp_run *r;

	r = get_run(run, 0, 0, &slot);
	if (!r)
		return 0;
	write_begin(r);
	/* A server takes these over from its client. */
	r->head.size = ctx->args[6];
	r->head.test = ctx->args[10];
	if (nonce && nonce == own_nonce && peer && peer != run)
		r->peer = peer;
	write_end(r);
	return 0;
}

/* All time of the run was told just before. */
SEC("raw_tp/krping_run_end")
int krp_run_end(krp_args *ctx)
{
	struct krp_head *h;
	struct krp_run *r;
	__u32 slot;

	r = get_run(ctx->args[0], 0, 0, &slot);
	if (!r)
		return 0;
	h = &r->head;
	write_begin(r);
	h->t_last = ctx->args[1];
	h->iters = ctx->args[2];
	h->err = (__s32)ctx->args[3];
	h->duration_ns = ctx->args[4];
	h->state = KRP_SLOT_ENDED;
	write_end(r);
	bpf_map_push_elem(&free_slots, &slot, 0);
	return 0;
}

/* Attached last: if we have seen a run start, we have seen all that came after. */
SEC("raw_tp/krping_run_start")
int krp_run_start(krp_args *ctx)
{
	struct krp_head *h;
	struct krp_run *r;
	__u32 slot;

	r = get_run(ctx->args[0], 1, ctx->args[1], &slot);
	if (!r)
		return 0;
	h = &r->head;
	write_begin(r);
	h->t_first = ctx->args[1];
	h->t_last = ctx->args[1];
	h->parent = ctx->args[2];
	h->role = ctx->args[3];
	h->test = ctx->args[4];
	h->size = ctx->args[5];
	h->count = ctx->args[6];
	h->flags = ctx->args[7];
	h->pid = ctx->args[8];
	bpf_probe_read_kernel_str(h->comm, sizeof(h->comm), (const void *)ctx->args[9]);
	bpf_probe_read_kernel_str(h->name, sizeof(h->name), (const void *)ctx->args[10]);
	h->state = KRP_SLOT_RUNNING;
	write_end(r);
	return 0;
}
