// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of events, and what is printed of an event. names.pl compares the table with the header and the page. */

#include "unit.h"
#include "tools/lib/events.h"
#include "tools/trace/order.h"
#include "trace/krping_abi.h"

/* The rules that the BPF programs rely on. */
TEST(table)
{
	unsigned int i, k, stamps, texts, labels;

	for (i = 0; i < KRP_NR_EVENTS; i++) {
		const struct krp_event_info *e = &krp_events[i];

		stamps = texts = labels = 0;
		assert_true(!strcmp(e->args[0].name, "run") && e->nr_args <= KRP_MAX_ARGS);
		for (k = 0; k < e->nr_args; k++) {
			const struct krp_arg_info *a = &e->args[k];

			stamps += a->how == KRP_HOW_stamp;
			texts += a->how == KRP_HOW_text;
			labels += a->how == KRP_HOW_label;
			assert_int_equal(a->how == KRP_HOW_text || a->how == KRP_HOW_label,
					 a->type == KRP_TYPE_str);
			if (!strcmp(a->name, "t"))
				assert_int_equal(a->how, KRP_HOW_stamp);
			if (a->how == KRP_HOW_hi)
				assert_int_equal(a[1].how, KRP_HOW_lo);
		}
		assert_true(stamps == (e->stamp >= 0) && texts == (e->text >= 0));
		assert_int_equal(labels, e->label >= 0);
		/* A label is found behind a text. */
		assert_true(texts >= labels);
		if (stamps)
			assert_int_equal(e->args[e->stamp].how, KRP_HOW_stamp);
	}
}

static struct krp_event_rec event(enum krp_event id, uint64_t t, uint32_t run)
{
	struct krp_event_rec rec = { .head = { .t = t, .run = run, .event = id } };

	rec.args[0] = run;
	if (krp_events[id].stamp >= 0)
		rec.args[krp_events[id].stamp] = t;
	return rec;
}

static const char *text_of(const struct krp_event_rec *rec, uint64_t t0, unsigned int column,
			   unsigned int indent, unsigned int width)
{
	static char buf[2048];
	FILE *f = fmemopen(buf, sizeof(buf), "w");

	krp_event_text(f, rec, t0, column, indent, width);
	fputc('\0', f);
	fclose(f);
	return buf;
}

/* An event's JSON as a line of a recording has it. */
static const char *line_of(const struct krp_event_rec *rec)
{
	fprintf(printer(), "{\"t_ns\":%llu,\"event\":\"%s\",\"run\":%u", rec->head.t,
		krp_events[rec->head.event].name, rec->head.run);
	krp_event_json(unit_out, rec);
	fputc('}', unit_out);
	return printed();
}

static json_object *json_of(const struct krp_event_rec *rec)
{
	json_object *o = json_tokener_parse(line_of(rec));

	if (!o)
		fail_msg("not JSON: %s", unit_text);
	return o;
}

#define printed_is(rec, want) assert_string_equal(text_of(rec, 0, 0, 0, 0), want)

TEST(text)
{
	struct krp_event_rec rec = event(KRP_EV_post_send, 5000, 7);

	KRP_ARG(&rec, post_send, cq_id) = 5;
	KRP_ARG(&rec, post_send, cid) = 41;
	KRP_ARG(&rec, post_send, qp) = 17;
	KRP_ARG(&rec, post_send, kind) = KRPING_WR_LOCAL_INV;
	/* 32 bits only, whatever the upper half of the register has. */
	KRP_ARG(&rec, post_send, len) = 0xdeadbeef00000040;
	KRP_ARG(&rec, post_send, flags) = 0xf;
	KRP_ARG(&rec, post_send, inv_rkey) = 0x123c;
	printed_is(&rec,
		   " cq.id=5 cid=41 qp=17 kind=LOCAL_INV len=64 flags=signaled|fence|inline|0x8 rkey=0x0 inv_rkey=0x123c");

	rec = event(KRP_EV_wait, 9000, 7);
	KRP_ARG(&rec, wait, what) = KRPING_WAIT(KRPING_PHASE_WAIT_READ, KRPING_WR_RECV, 1);
	KRP_ARG(&rec, wait, t_start) = 999;
	KRP_ARG(&rec, wait, t_sig) = 8000;
	KRP_ARG(&rec, wait, t_wc) = 8500;
	/* Times are since the first event, negative before it; an unknown time is a dash. */
	assert_string_equal(
		text_of(&rec, 1000, 0, 0, 0),
		" iter=0 phase=wait_read kind=RECV slept=1 cid=0 t_start=-0.001 t_post=- t_posted=- t_sig=7.000 t_wc=7.500 t_run=8.000");

	rec = event(KRP_EV_run_end, 9000, 7);
	KRP_ARG(&rec, run_end, err) = 0x00000000fffffff3;
	KRP_ARG(&rec, run_end, phase) = 250;
	printed_is(&rec, " iters=0 err=-13 duration_ns=0 phase=250 t_phase=-");

	rec = event(KRP_EV_validate, 9000, 7);
	KRP_ARG(&rec, validate, offset) = -1ULL;
	printed_is(&rec, " iter=0 len=0 offset=-1");

	rec = event(KRP_EV_addr, 9000, 7);
	memcpy(&KRP_ARG(&rec, addr, src_lo), "\0\0\xff\xff\x0a\x09\0\x01", 8);
	memcpy(&KRP_ARG(&rec, addr, dst_hi), "\xfe\x80\0\0\0\0\0\0", 8);
	memcpy(&KRP_ARG(&rec, addr, dst_lo), "\0\0\0\0\0\0\0\x02", 8);
	KRP_ARG(&rec, addr, src_port) = 9999;
	printed_is(&rec, " src=10.9.0.1 dst=fe80::2 src_port=9999 dst_port=0 nonce=0x0");
}

/* No line is too long, and folding loses no text. */
TEST(folding)
{
	struct krp_event_rec rec;
	unsigned int id, i, width, len;
	char joined[2048], *to;
	const char *s, *line;

	for (id = 0; id < KRP_NR_EVENTS; id++) {
		rec = event(id, ~0ULL >> 2, ~0U);
		for (i = 1; i < krp_events[id].nr_args; i++)
			rec.args[i] = ~0ULL >> (krp_events[id].args[i].how == KRP_HOW_time ? 2 : 0);
		memset(rec.words, 'x', krp_events[id].text < 0 ? sizeof(rec.words) : 15);
		for (width = 79; width >= 76; width--) {
			s = text_of(&rec, 0, 40, 20, width);
			for (line = s, len = 40; *line; line++, len++) {
				if (*line != '\n')
					continue;
				assert_true(len <= width);
				len = ~0U;
			}
			assert_true(len <= width);
		}
		for (to = joined, line = s; *line; line++) {
			if (*line == '\n')
				line += 20;
			else
				*to++ = *line;
		}
		*to = '\0';
		assert_string_equal(joined, text_of(&rec, 0, 40, 20, 0));
	}
}

TEST(json)
{
	struct krp_event_rec rec = event(KRP_EV_run_start, 5000, 7);
	unsigned int id, i, k, n;
	json_object *o;

	strcpy(rec.text, "a\"b\\\\c\\x0a\\xff");
	KRP_ARG(&rec, run_start, count) = 0xffffffff;
	KRP_ARG(&rec, run_start, flags) = KRPING_RUN_F_VERBOSE | KRPING_RUN_F_SERVER_INV |
					  KRPING_RUN_F_CHAIN;
	/* As in /proc/krping_runs, it has no name. */
	members(json_of(&rec), "comm", rec.text, "name", "-", "count", "4294967295", "flags",
		"verbose|server_inv|chain", "test", "rping");
	/* Members that every object has are not printed a second time. */
	krp_event_json(printer(), &rec);
	printed();
	each_text(no, "!\"t_ns\"", "!\"run\"", "!\"role\"")
		has(unit_text, no);

	KRP_ARG(&rec, run_start, flags) = KRPING_RUN_F_READ_INV | KRPING_RUN_F_LOCAL_DMA_LKEY |
					  KRPING_RUN_F_DMA | KRPING_RUN_F_SRQ;
	members(json_of(&rec), "flags", "read_inv|local_dma_lkey|dma|srq");
	/* Each flag has a name. */
	rec = event(KRP_EV_post_send, 5000, 7);
	KRP_ARG(&rec, post_send, flags) = KRPING_POST_F_SIGNALED | KRPING_POST_F_FENCE |
					  KRPING_POST_F_INLINE;
	members(json_of(&rec), "flags", "signaled|fence|inline");
	rec = event(KRP_EV_protect, 5000, 7);
	KRP_ARG(&rec, protect, saw) = 0x83;
	members(json_of(&rec), "saw", "completed|error|no_verb");
	rec = event(KRP_EV_cm_event, 5000, 7);
	KRP_ARG(&rec, cm_event, event) = 10;
	KRP_ARG(&rec, cm_event, status) = 0xffffffff;
	members(json_of(&rec), "cm_event", "DISCONNECTED", "status", "-1");
	rec = event(KRP_EV_wc_err, 5000, 7);
	KRP_ARG(&rec, wc_err, status) = 12;
	KRP_ARG(&rec, wc_err, vendor_err) = 0x81;
	members(json_of(&rec), "status", "RETRY_EXC_ERR", "vendor_err", "0x81");
	rec = event(KRP_EV_wait, ~0ULL >> 1, 7);
	KRP_ARG(&rec, wait, t_sig) = (~0ULL >> 1) - 1;
	members(json_of(&rec), "t_sig_ns", "9223372036854775806", "t_run_ns",
		"9223372036854775807");

	/* Every argument of every event has a key, and no key comes twice. */
	for (id = 0; id < KRP_NR_EVENTS; id++) {
		const struct krp_event_info *e = &krp_events[id];

		rec = event(id, 1, 1);
		o = json_of(&rec);
		for (i = k = n = 0; i < e->nr_args; i++) {
			k += e->args[i].how == KRP_HOW_lo;
			/* One argument that is three fields. */
			k -= e->args[i].how == KRP_HOW_wait ? 2 : 0;
			n += e->args[i].how == KRP_HOW_role || !i || !strcmp(e->args[i].name, "t");
		}
		/* The time, the event and the run are those of the line. */
		assert_int_equal(json_object_object_length(o), 3 + e->nr_args - k - n);
		json_object_put(o);
	}
}

/* Whatever bytes a name has, text and JSON are printable ASCII, and JSON can be parsed. */
TEST(nasty)
{
	static const enum krp_event events[] = { KRP_EV_run_start, KRP_EV_conn };
	char raw[512], text[KRP_ESCAPED(KRP_TEXT_MAX)];
	struct krp_event_head head = { .t = 5000, .run = 7 };
	struct krp_event_rec rec, got;
	unsigned int k;
	size_t args, size;
	json_object *o;
	int c;

	for (k = 0; k < 2; k++) {
		head.event = events[k];
		args = krp_events[events[k]].nr_args * sizeof(uint64_t);
		size = sizeof(head) + args + KRP_TEXT_MAX;
		size += krp_events[events[k]].label >= 0 ? KRPING_NAME_MAX : 0;
		for (c = 0; c < 256; c++) {
			/* Names of several lengths, two of them without a NUL at the end. */
			size_t len = c == 0x9b || c == 'd' ? KRP_TEXT_MAX : 1 + c % 9;

			memset(raw, 0, sizeof(raw));
			memcpy(raw, &head, sizeof(head));
			memset(raw + sizeof(head) + args, c, len);
			/* No module has such a label, and no NUL behind it. */
			memset(raw + sizeof(head) + args + KRP_TEXT_MAX, c, KRPING_NAME_MAX);
			assert_true(krp_event_parse(&rec, raw, size));
			assert_false(krp_event_parse(&got, raw, size - 1));
			assert_false(krp_event_parse(&got, raw, sizeof(head) / 2));
			rec.args[0] = 7;
			if (krp_events[events[k]].stamp >= 0)
				rec.args[krp_events[events[k]].stamp] = 5000;
			krp_escape(text, sizeof(text), raw + sizeof(head) + args, KRP_TEXT_MAX - 1);
			assert_string_equal(rec.text, text);
			assert_true(krp_is_clean(text_of(&rec, 0, 0, 0, 0)));
			o = json_of(&rec);
			assert_true(krp_is_clean(unit_text));
			json_object_put(o);
		}
	}
	head.event = KRP_NR_EVENTS;
	memcpy(raw, &head, sizeof(head));
	assert_false(krp_event_parse(&got, raw, sizeof(raw)));
}

TEST(globs)
{
	char buf[64];

	are("1 1 1 0 0 1", krp_globs_match("post_*", "krping_post_send"),
	    krp_globs_match("wc,krping_post*", "post_recv"),
	    krp_globs_match("wc,wc_*", "krping_wc"), krp_globs_match("wc,wc_*", "krping_wait"),
	    krp_globs_match("", "krping_wait"), krp_globs_match("*", "krping_wait"));
	each_text(good, "*", "run_*,krping_w?")
		assert_null(krp_globs_check(good, buf, sizeof(buf)));
	assert_string_equal(krp_globs_check("run_*,posts", buf, sizeof(buf)), "posts");
	assert_string_equal(krp_globs_check("run_*,", buf, sizeof(buf)), "");
	assert_true(krp_event_find("krping_wc") == KRP_EV_wc && krp_event_find("wc_") == -1);
}

TEST(order)
{
	struct krp_order *o = krp_order_new(1000);
	const struct krp_event_rec *rec;
	struct krp_event_rec e;
	uint64_t t, last = 0;
	unsigned int i, n = 0, seed = 1;
	uint32_t of_t = 0;

	assert_null(krp_order_take(o, ~0ULL));
	for (i = 0; i < 1000; i++) {
		t = i / 4 * 4 + rand_r(&seed) % 40;
		e = event(KRP_EV_wc, t, i);
		assert_false(krp_order_full(o));
		krp_order_put(o, &e);
	}
	assert_true(krp_order_full(o));
	/* Events up to a time, equal times in the order of arrival, and then the rest. */
	for (t = 500; n < 1000; t = ~0ULL) {
		while ((rec = krp_order_take(o, t))) {
			assert_true(rec->head.t <= t);
			assert_true(rec->head.t > last ||
				    (rec->head.t == last && (!n || rec->head.run > of_t)));
			last = rec->head.t;
			of_t = rec->head.run;
			n++;
		}
		assert_true(n > 300);
	}
	are("1000 0", n, krp_order_late(o));
	e = event(KRP_EV_wc, last - 1, 1);
	krp_order_put(o, &e);
	are("1 1", krp_order_late(o), last - krp_order_take(o, ~0ULL)->head.t);
	krp_order_free(o);
}

TEST(clock)
{
	/* What the wall's clock is ahead, and the time of day that a time then is: each can be printed, also a forged one. */
	static const struct {
		uint64_t ahead, t;
		const char *text;
	} rows[] = TABLE(
		{ 1795262400000000000, 60000007000, "2026-11-21T12:01:00.000007+00:00" }, { 0, 999, "1970-01-01T00:00:00.000000+00:00" },
		{ 0, INT64_MAX, "2262-04-11T23:47:16.854775+00:00" }, { 1, UINT64_MAX, "1970-01-01T00:00:00.000000+00:00" },
	);
	char a[64], b[64];

	krp_mono_rfc3339(a, sizeof(a), 5000000000);
	krp_mono_rfc3339(b, sizeof(b), 5000001000);
	assert_true(strlen(a) == 32 && a[10] == 'T' && strcmp(a, b) < 0);
	setenv("TZ", "UTC", 1);
	each(row, rows) {
		krp_mono_offset(row->ahead);
		krp_mono_rfc3339(a, sizeof(a), row->t);
		assert_string_equal(a, row->text);
	}
}
