// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Draws an iteration. This code knows work requests, not tests: a new test is
 * drawn without any change here.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "ladder.h"
#include "../lib/names.h"
#include "../lib/out.h"
#include "../../trace/krping_stages.h"

/* Columns: the time, one end, the arrows, the other end; 79 together. */
#define TIME_WIDTH   9
#define LEFT	     (TIME_WIDTH + 1)
#define SIDE_WIDTH   30
#define MIDDLE	     (LEFT + SIDE_WIDTH)
#define MIDDLE_WIDTH 9
#define RIGHT	     (MIDDLE + MIDDLE_WIDTH)
#define WIDTH	     (RIGHT + SIDE_WIDTH)

/* Messages under way that have a line of their own. */
#define LANES 3

/* The arrow of each kind of work request; a kind that is not listed stays at its own end. */
static const enum krp_arrow arrow_of_kind[KRPING_NR_WRS] = {
	[KRPING_WR_SEND] = KRP_ARROW_SEND,	[KRPING_WR_SEND_INV] = KRP_ARROW_SEND,
	[KRPING_WR_RDMA_READ] = KRP_ARROW_GET,	[KRPING_WR_READ_INV] = KRP_ARROW_GET,
	[KRPING_WR_RDMA_WRITE] = KRP_ARROW_PUT,
};

static const char *const what_names[] = {
	[KRP_STEP_PHASE] = "phase",
	[KRP_STEP_POST] = "post",
	[KRP_STEP_COMPLETION] = "completion",
	[KRP_STEP_WAIT] = "wait",
	[KRP_STEP_MAP] = "map",
	[KRP_STEP_INVALIDATED] = "invalidated",
	[KRP_STEP_OTHER] = "other",
};

static struct krp_step *add(struct krp_steps *s, const struct krp_iteration *it,
			    const struct krp_ladder_event *e, enum krp_step_what what)
{
	struct krp_step *v;

	if (s->nr == s->room)
		s->v = krp_grow(s->v, &s->room, s->room + 128, sizeof(*v));
	v = &s->v[s->nr++];
	v->t = e->head.t - it->t_begin;
	v->side = e->side;
	v->what = what;
	v->duration = -1;
	v->event = e;
	return v;
}

/* The next event of a kind at the same end, from i on. */
static const struct krp_ladder_event *next_of(const struct krp_iteration *it, size_t i,
					      enum krp_event event, enum krp_side side)
{
	for (; i < it->nr; i++) {
		if (it->event[i].head.event == event && it->event[i].side == side)
			return &it->event[i];
	}
	return NULL;
}

static void add_phase(struct krp_steps *s, const struct krp_iteration *it,
		      const struct krp_ladder_event *e, size_t next)
{
	const struct krp_ladder_event *end = next_of(it, next, KRP_EV_phase, e->side);
	struct krp_step *step = add(s, it, e, KRP_STEP_PHASE);

	if (!end && it->has_after && it->after.side == e->side)
		end = &it->after;
	/* A phase event tells when the phase that it ends began. */
	if (end && KRP_ARG(end, phase, t_prev) == e->head.t)
		step->duration = end->head.t - e->head.t;
	snprintf(step->text, sizeof(step->text), "%s",
		 krp_name(&krp_phase_names, KRP_ARG(e, phase, phase)));
}

static const char *wr_name(uint64_t kind)
{
	return krp_name(&krp_wr_names, (uint32_t)kind);
}

/* adv: the advertisement that the message carries, or NULL. */
static void add_post(struct krp_steps *s, const struct krp_iteration *it,
		     const struct krp_ladder_event *e, const struct krp_ladder_event *adv)
{
	struct krp_step *step = add(s, it, e, KRP_STEP_POST);
	uint32_t kind = KRP_ARG(e, post_send, kind), rkey = KRP_ARG(e, post_send, rkey);
	uint32_t inv = KRP_ARG(e, post_send, inv_rkey), len = KRP_ARG(e, post_send, len);
	int n;

	n = snprintf(step->text, sizeof(step->text), "%s", wr_name(kind));
	if (inv)
		n += snprintf(step->text + n, sizeof(step->text) - n, " 0x%x", inv);
	if (rkey)
		n += snprintf(step->text + n, sizeof(step->text) - n, " 0x%x", rkey);
	if (len)
		n += snprintf(step->text + n, sizeof(step->text) - n, " %uB", len);
	step->arrow = kind < KRPING_NR_WRS ? arrow_of_kind[kind] : KRP_ARROW_NONE;
	step->message = e->message;
	step->key = rkey;
	if (step->arrow == KRP_ARROW_SEND && adv &&
	    (KRP_ARG(adv, adv_send, rkey) || KRP_ARG(adv, adv_send, len)))
		snprintf(step->text + n, sizeof(step->text) - n, ": 0x%x %uB",
			 (uint32_t)KRP_ARG(adv, adv_send, rkey),
			 (uint32_t)KRP_ARG(adv, adv_send, len));
}

static bool was_posted(const struct krp_iteration *it, const struct krp_ladder_event *wc)
{
	uint32_t cid = KRP_ARG(wc, wc, cid);
	size_t i;

	for (i = 0; i < it->nr && &it->event[i] != wc; i++) {
		const struct krp_ladder_event *e = &it->event[i];

		if (e->side == wc->side && e->head.event == KRP_EV_post_send &&
		    (uint32_t)KRP_ARG(e, post_send, cid) == cid)
			return true;
	}
	return false;
}

static void add_completion(struct krp_steps *s, const struct krp_iteration *it,
			   const struct krp_ladder_event *e)
{
	struct krp_step *step = add(s, it, e, KRP_STEP_COMPLETION);
	uint32_t kind = KRP_ARG(e, wc, kind);

	if (e->head.event == KRP_EV_wc_flush)
		snprintf(step->text, sizeof(step->text), "%s flushed", wr_name(kind));
	else if (e->head.event == KRP_EV_wc_err)
		snprintf(step->text, sizeof(step->text), "%s failed: %s", wr_name(kind),
			 krp_name(&krp_wc_status_names, (uint32_t)KRP_ARG(e, wc_err, status)));
	else if (kind == KRPING_WR_RECV)
		snprintf(step->text, sizeof(step->text), "RECV %uB", (uint32_t)KRP_ARG(e, wc, len));
	else
		snprintf(step->text, sizeof(step->text), "%s done%s", wr_name(kind),
			 was_posted(it, e) ? "" : " (an earlier one)");
	if (e->head.event == KRP_EV_wc && kind == KRPING_WR_RECV) {
		step->arrow = KRP_ARROW_RECV;
		step->message = e->message;
	}
}

static void put_stage(void *stages, unsigned int stage, __u64 ns)
{
	((__u64 *)stages)[stage] = ns;
}

static void wait_stages(const struct krp_ladder_event *e, __u64 *stage)
{
	unsigned int i;

	for (i = 0; i < KRPING_NR_STAGES; i++)
		stage[i] = KRPING_STAGE_UNKNOWN;
	krping_each_stage(put_stage, stage, KRP_ARG(e, wait, t_start), KRP_ARG(e, wait, t_post),
			  KRP_ARG(e, wait, t_posted), KRP_ARG(e, wait, t_sig),
			  KRP_ARG(e, wait, t_wc), KRP_ARG(e, wait, t_run));
}

static void add_wait(struct krp_steps *s, const struct krp_iteration *it,
		     const struct krp_ladder_event *e)
{
	struct krp_step *step = add(s, it, e, KRP_STEP_WAIT);
	__u64 stage[KRPING_NR_STAGES];
	unsigned int i, k;
	int n = 0;

	wait_stages(e, stage);
	for (k = KRPING_STAGE_POST; k <= KRPING_STAGE_WAKE; k++) {
		i = krping_stage_in_order(KRP_ARG(e, wait, t_run) < KRP_ARG(e, wait, t_wc), k);
		/* A receive was posted long before, so its post stage is unknown. */
		if (i == KRPING_STAGE_POST && stage[i] == KRPING_STAGE_UNKNOWN)
			continue;
		/* No blank within a stage: a line is broken between stages only. */
		n += snprintf(step->text + n, sizeof(step->text) - n, "%s%s=", n ? " " : "",
			      krp_name(&krp_stage_names, i));
		if (stage[i] == KRPING_STAGE_UNKNOWN)
			n += snprintf(step->text + n, sizeof(step->text) - n, "-");
		else
			n += snprintf(step->text + n, sizeof(step->text) - n, "%.1f",
				      stage[i] / 1e3);
	}
}

/* Adds an event that is one line with its own text, if there is something to say of it. */
static void add_line(struct krp_steps *s, const struct krp_iteration *it,
		     const struct krp_ladder_event *e, bool two_sided)
{
	enum krp_step_what what = KRP_STEP_OTHER;
	char text[sizeof(s->v->text)];
	size_t size = sizeof(text);

	switch (e->head.event) {
	case KRP_EV_post_recv:
		what = KRP_STEP_POST;
		snprintf(text, size, "RECV posted");
		break;
	case KRP_EV_adv_recv:
		/* Otherwise the advertisement is shown at the SEND. */
		if (two_sided || !(KRP_ARG(e, adv_recv, rkey) || KRP_ARG(e, adv_recv, len)))
			return;
		snprintf(text, size, "offered: 0x%x %uB", (uint32_t)KRP_ARG(e, adv_recv, rkey),
			 (uint32_t)KRP_ARG(e, adv_recv, len));
		break;
	case KRP_EV_mr_map:
		what = KRP_STEP_MAP;
		snprintf(text, size, "map %u page%s %.1f", (uint32_t)KRP_ARG(e, mr_map, pages),
			 KRP_ARG(e, mr_map, pages) == 1 ? "" : "s",
			 KRP_ARG(e, mr_map, cost_ns) / 1e3);
		break;
	case KRP_EV_mr_reminv:
		what = KRP_STEP_INVALIDATED;
		snprintf(text, size, "peer invalidated 0x%x", (uint32_t)KRP_ARG(e, mr_reminv, key));
		break;
	case KRP_EV_mr_readinv:
		what = KRP_STEP_INVALIDATED;
		snprintf(text, size, "READ invalidated 0x%x",
			 (uint32_t)KRP_ARG(e, mr_readinv, key));
		break;
	case KRP_EV_block_issue:
		snprintf(text, size, "%s %uB at %" PRIu64,
			 krp_name(&krp_block_op_names, (uint32_t)KRP_ARG(e, block_issue, op)),
			 (uint32_t)KRP_ARG(e, block_issue, len), KRP_ARG(e, block_issue, at));
		break;
	case KRP_EV_validate:
		if ((int64_t)KRP_ARG(e, validate, offset) < 0)
			snprintf(text, size, "data are equal");
		else
			snprintf(text, size, "data differ at %" PRId64,
				 (int64_t)KRP_ARG(e, validate, offset));
		break;
	case KRP_EV_post_send_err:
	case KRP_EV_post_recv_err:
		/* Without a sign, since a forged INT32_MIN has no opposite. */
		snprintf(text, size, "%s refused: %s", wr_name(KRP_ARG(e, post_send_err, kind)),
			 strerrorname_np(-(uint32_t)KRP_ARG(e, post_send_err, err)) ?: "?");
		break;
	case KRP_EV_cm_event:
		snprintf(text, size, "rdma_cm: %s",
			 krp_name(&krp_cm_event_names, (uint32_t)KRP_ARG(e, cm_event, event)));
		break;
	case KRP_EV_async_event:
		snprintf(text, size, "async: %s",
			 krp_name(&krp_ib_event_names, (uint32_t)KRP_ARG(e, async_event, event)));
		break;
	default:
		return;
	}
	strcpy(add(s, it, e, what)->text, text);
}

void krp_steps_make(struct krp_steps *s, const struct krp_pair *pair,
		    const struct krp_iteration *it)
{
	bool two_sided = pair->end[KRP_CLIENT].run && pair->end[KRP_SERVER].run;
	const struct krp_ladder_event *e, *adv[KRP_NR_SIDES] = { NULL };
	size_t i;

	memset(s, 0, sizeof(*s));
	if (it->has_before)
		add_phase(s, it, &it->before, 0);
	for (i = 0; i < it->nr; i++) {
		e = &it->event[i];
		switch (e->head.event) {
		case KRP_EV_phase:
			/* The last phase event is of the next iteration. */
			if (i < it->nr - 1)
				add_phase(s, it, e, i + 1);
			break;
		case KRP_EV_adv_send:
			adv[e->side] = e;
			break;
		case KRP_EV_post_send:
			add_post(s, it, e, adv[e->side]);
			if (s->nr && s->v[s->nr - 1].arrow == KRP_ARROW_SEND)
				adv[e->side] = NULL;
			break;
		case KRP_EV_wc:
		case KRP_EV_wc_flush:
		case KRP_EV_wc_err:
			add_completion(s, it, e);
			break;
		case KRP_EV_wait:
			add_wait(s, it, e);
			break;
		default:
			add_line(s, it, e, two_sided);
			break;
		}
	}
}

void krp_steps_free(struct krp_steps *s)
{
	free(s->v);
	memset(s, 0, sizeof(*s));
}

static void key_json(json_object *o, const char *name, uint64_t key)
{
	char text[16];

	snprintf(text, sizeof(text), "0x%x", (uint32_t)key);
	krp_json_text(o, name, text);
}

static void post_json(json_object *o, const struct krp_step *s)
{
	const struct krp_ladder_event *e = s->event;

	if (e->head.event == KRP_EV_post_recv) {
		krp_json_text(o, "kind", wr_name(KRPING_WR_RECV));
		krp_json_u64(o, "cid", (uint32_t)KRP_ARG(e, post_recv, cid));
		krp_json_u64(o, "len", (uint32_t)KRP_ARG(e, post_recv, len));
		return;
	}
	krp_json_text(o, "kind", wr_name(KRP_ARG(e, post_send, kind)));
	krp_json_u64(o, "cid", (uint32_t)KRP_ARG(e, post_send, cid));
	krp_json_u64(o, "len", (uint32_t)KRP_ARG(e, post_send, len));
	key_json(o, "rkey", KRP_ARG(e, post_send, rkey));
	key_json(o, "inv_rkey", KRP_ARG(e, post_send, inv_rkey));
}

int64_t krp_step_duration(const struct krp_step *s)
{
	return s->what == KRP_STEP_MAP ? (int64_t)KRP_ARG(s->event, mr_map, cost_ns) : s->duration;
}

json_object *krp_step_json(const struct krp_step *s)
{
	const struct krp_ladder_event *e = s->event;
	json_object *o = json_object_new_object();
	__u64 stage[KRPING_NR_STAGES];
	char key[16];
	unsigned int i;

	krp_json_s64(o, "t_ns", s->t);
	krp_json_text(o, "side", krp_side_names[s->side]);
	krp_json_text(o, "what", what_names[s->what]);
	krp_json_text(o, "text", s->text);
	switch (s->what) {
	case KRP_STEP_PHASE:
		krp_json_text(o, "phase", s->text);
		if (s->duration >= 0)
			krp_json_s64(o, "duration_ns", s->duration);
		else
			json_object_object_add(o, "duration_ns", NULL);
		break;
	case KRP_STEP_POST:
		post_json(o, s);
		break;
	case KRP_STEP_COMPLETION:
		krp_json_text(o, "kind", wr_name(KRP_ARG(e, wc, kind)));
		krp_json_u64(o, "cid", (uint32_t)KRP_ARG(e, wc, cid));
		break;
	case KRP_STEP_WAIT:
		krp_json_text(o, "phase",
			      krp_name(&krp_phase_names,
				       KRPING_WAIT_PHASE(KRP_ARG(e, wait, what))));
		krp_json_text(o, "kind", wr_name(KRPING_WAIT_KIND(KRP_ARG(e, wait, what))));
		krp_json_u64(o, "cid", (uint32_t)KRP_ARG(e, wait, cid));
		wait_stages(e, stage);
		for (i = KRPING_STAGE_POST; i <= KRPING_STAGE_WAKE; i++) {
			snprintf(key, sizeof(key), "%s_ns", krp_name(&krp_stage_names, i));
			if (stage[i] == KRPING_STAGE_UNKNOWN)
				json_object_object_add(o, key, NULL);
			else
				krp_json_u64(o, key, stage[i]);
		}
		break;
	case KRP_STEP_MAP:
		krp_json_u64(o, "pages", (uint32_t)KRP_ARG(e, mr_map, pages));
		krp_json_s64(o, "duration_ns", krp_step_duration(s));
		break;
	case KRP_STEP_INVALIDATED:
		key_json(o, "key", KRP_ARG(e, mr_reminv, key));
		break;
	case KRP_STEP_OTHER:
		break;
	}
	if (s->message)
		krp_json_u64(o, "message", s->message);
	return o;
}

/* A line of the drawing; blanks at its end are not printed. */
struct line {
	char c[WIDTH + 1];
};

struct canvas {
	struct line *v;
	size_t nr, room;
};

static struct line *new_line(struct canvas *c)
{
	struct line *v;

	if (c->nr == c->room)
		c->v = krp_grow(c->v, &c->room, c->room + 128, sizeof(*v));
	v = &c->v[c->nr++];
	memset(v->c, ' ', WIDTH);
	v->c[WIDTH] = '\0';
	return v;
}

static unsigned int column_of(enum krp_side side)
{
	return side == KRP_CLIENT ? LEFT : RIGHT;
}

/* As much of text as fits into width, up to a blank if possible. */
static size_t fitting(const char *text, size_t width)
{
	size_t len = strlen(text), i;

	if (len <= width)
		return len;
	for (i = width; i > width / 2; i--) {
		if (text[i] == ' ')
			return i;
	}
	return width;
}

/* Puts text into the column of an end, on as many lines as it takes. */
static void put_text(struct canvas *c, enum krp_side side, unsigned int indent, const char *text)
{
	struct line *line = &c->v[c->nr - 1];
	size_t len;

	for (;;) {
		len = fitting(text, SIDE_WIDTH - indent);
		memcpy(line->c + column_of(side) + indent, text, len);
		text += len + strspn(text + len, " ");
		if (!*text)
			return;
		indent += indent == 2 ? 2 : 0;
		line = new_line(c);
	}
}

static void put_right(struct line *line, unsigned int end, const char *text)
{
	size_t len = strlen(text);

	memcpy(line->c + end - len, text, len);
}

/* Draws a stroke of an arrow: where it crosses a line, there is a plus. */
static void stroke(struct line *line, unsigned int column, char ch)
{
	char *c = &line->c[column];

	*c = *c == ' ' || *c == ch ? ch : '+';
}

/* The column where an arrow can begin: behind the text of an end, and a blank. */
static unsigned int text_end(const struct line *line, enum krp_side side)
{
	unsigned int i;

	if (side == KRP_SERVER)
		return RIGHT;
	for (i = MIDDLE; i > LEFT && line->c[i - 1] == ' '; i--)
		;
	return i + 1;
}

/*
 * Draws the line between the text of an end and a lane. For a message that
 * arrives, the arrow head is at the text.
 */
static void horizontal(struct line *line, enum krp_side side, unsigned int lane, bool arrives,
		       char corner)
{
	unsigned int from, to, i;

	if (side == KRP_CLIENT) {
		from = text_end(line, side);
		to = lane;
	} else {
		from = lane + 1;
		/* The text begins two columns further if it is not a phase. */
		to = RIGHT + 1;
	}
	for (i = from; i < to; i++)
		stroke(line, i, '-');
	if (arrives)
		line->c[side == KRP_CLIENT ? from : to - 1] = side == KRP_CLIENT ? '<' : '>';
	line->c[lane] = corner;
}

/* Draws an arrow over the whole width, for data that the other end's processor does not see. */
static void across(struct line *line, const struct krp_step *s)
{
	bool to_left = (s->side == KRP_SERVER) == (s->arrow == KRP_ARROW_PUT);
	unsigned int from = MIDDLE, to = RIGHT, i;
	char key[24];

	if (s->side == KRP_CLIENT)
		from = text_end(line, KRP_CLIENT);
	else
		to = RIGHT + 1;
	if (s->key) {
		snprintf(key, sizeof(key), "[0x%x]", s->key);
		if (s->side == KRP_SERVER)
			put_right(line, MIDDLE - 1, key);
		else
			memcpy(line->c + RIGHT + 2, key, strlen(key));
	}
	for (i = from; i < to; i++)
		stroke(line, i, '=');
	if (to_left)
		line->c[from] = '<';
	else
		line->c[to - 1] = '>';
}

/* The step at which a message arrives, or leaves; -1: it is not in the drawing. */
static long step_of(const struct krp_steps *s, uint64_t message, enum krp_arrow arrow)
{
	size_t i;

	for (i = 0; message && i < s->nr; i++) {
		if (s->v[i].arrow == arrow && s->v[i].message == message)
			return i;
	}
	return -1;
}

static void draw_arrows(struct canvas *c, const struct krp_steps *s, const size_t *first_line)
{
	size_t free_at[LANES] = { 0 }, row, i;
	unsigned int lane, column;
	long to;

	for (i = 0; i < s->nr; i++) {
		const struct krp_step *step = &s->v[i];
		struct line *line = &c->v[first_line[i]];

		switch (step->arrow) {
		case KRP_ARROW_PUT:
		case KRP_ARROW_GET:
			across(line, step);
			break;
		case KRP_ARROW_RECV:
			/* It was sent by an end that was not watched. */
			if (step_of(s, step->message, KRP_ARROW_SEND) < 0)
				horizontal(line, step->side, MIDDLE + 4, true, '-');
			break;
		case KRP_ARROW_SEND:
			to = step_of(s, step->message, KRP_ARROW_RECV);
			for (lane = 0; lane < LANES && free_at[lane] > first_line[i]; lane++)
				;
			if (to < 0 || lane == LANES) {
				horizontal(line, step->side, MIDDLE + 4, false,
					   step->side == KRP_CLIENT ? '>' : '<');
				if (to >= 0)
					horizontal(&c->v[first_line[to]], s->v[to].side, MIDDLE + 4,
						   true, '-');
				break;
			}
			column = MIDDLE + 2 + 2 * lane;
			free_at[lane] = first_line[to] + 1;
			horizontal(line, step->side, column, false, '.');
			for (row = first_line[i] + 1; row < first_line[to]; row++)
				stroke(&c->v[row], column, '|');
			horizontal(&c->v[first_line[to]], s->v[to].side, column, true, '\'');
			break;
		case KRP_ARROW_NONE:
			break;
		}
	}
}

static void print_lines(FILE *f, const struct canvas *c)
{
	size_t i;
	int len;

	for (i = 0; i < c->nr; i++) {
		for (len = WIDTH; len && c->v[i].c[len - 1] == ' '; len--)
			;
		fprintf(f, "%.*s\n", len, c->v[i].c);
	}
}

static void put_step(struct canvas *c, const struct krp_step *s)
{
	struct line *line = new_line(c);
	char text[32];

	snprintf(text, sizeof(text), "%.1f", s->t / 1e3);
	put_right(line, strlen(text) > TIME_WIDTH ? strlen(text) : TIME_WIDTH, text);
	if (s->duration >= 0) {
		snprintf(text, sizeof(text), "%.1f", s->duration / 1e3);
		put_right(line, column_of(s->side) + SIDE_WIDTH - 1, text);
	}
	put_text(c, s->side, s->what == KRP_STEP_PHASE ? 0 : 2, s->text);
}

static void print_heads(FILE *f, const struct krp_pair *pair)
{
	char head[KRP_NR_SIDES][64];
	unsigned int i;

	for (i = 0; i < KRP_NR_SIDES; i++) {
		if (pair->end[i].run)
			snprintf(head[i], sizeof(head[i]), "%s, run %u, qp %u", krp_side_names[i],
				 pair->end[i].run, pair->end[i].qp);
		else
			snprintf(head[i], sizeof(head[i]), "%s, not on this host",
				 krp_side_names[i]);
	}
	fprintf(f, "%*s %-*.*s%*s%.*s\n", TIME_WIDTH, "us", SIDE_WIDTH, SIDE_WIDTH,
		head[KRP_CLIENT], MIDDLE_WIDTH, "", SIDE_WIDTH, head[KRP_SERVER]);
	for (i = 0; i < WIDTH; i++)
		fputc('-', f);
	fputc('\n', f);
}

void krp_ladder_draw(FILE *f, const struct krp_pair *pair, const struct krp_iteration *it,
		     const struct krp_steps *s)
{
	size_t *first_line = krp_new(s->nr, sizeof(*first_line)), i;
	struct canvas c = { 0 };

	for (i = 0; i < s->nr; i++) {
		first_line[i] = c.nr;
		put_step(&c, &s->v[i]);
	}
	draw_arrows(&c, s, first_line);
	print_heads(f, pair);
	print_lines(f, &c);
	fprintf(f, "%*.1f total, by the %s\n", TIME_WIDTH, (it->t_end - it->t_begin) / 1e3,
		krp_side_names[pair->own]);
	free(c.v);
	free(first_line);
}
