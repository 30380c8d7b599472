// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of events and docs/events.md are compared with trace/krping_trace.h; and the output for
 * an event is checked. An event or argument that is added to the header and forgotten in the table
 * or in the page fails here.
 */
#include <ctype.h>

#include "unit.h"
#include "tools/trace/events.h"
#include "tools/trace/order.h"
#include "trace/krping_abi.h"

#define MAX_EVENTS 128
#define MAX_FIELDS 16

/* An event as the header or the page describes it. */
struct found {
	char name[64];
	unsigned int nr;
	char field[MAX_FIELDS][64];
	char type[MAX_FIELDS][64];
	unsigned int nr_args; /* of TP_ARGS */
	char arg[MAX_FIELDS][64];
};

static struct found header[MAX_EVENTS], page[MAX_EVENTS];
static unsigned int nr_header, nr_page;

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text;
	long size;

	if (!f)
		fail_msg("cannot read %s", path);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	text = calloc(1, size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, size, f), size);
	fclose(f);
	return text;
}

/* Splits [from, to) at its commas; returns the number of words. */
static unsigned int split(const char *from, const char *to, char out[][64])
{
	unsigned int n = 0;
	const char *end;

	while (from < to) {
		end = memchr(from, ',', to - from) ?: to;
		while (from < end && isspace((unsigned char)*from))
			from++;
		while (end > from && isspace((unsigned char)end[-1]))
			end--;
		assert_true(n < MAX_FIELDS && end - from < 64);
		snprintf(out[n++], 64, "%.*s", (int)(end - from), from);
		from = memchr(end, ',', to - end) ?: to;
		from++;
	}
	return n;
}

/* Returns the text in the brackets of the next WHAT( behind p. */
static const char *brackets(const char *p, const char *what, const char **end)
{
	const char *from = strstr(p, what);

	assert_non_null(from);
	from += strlen(what);
	*end = strchr(from, ')');
	assert_non_null(*end);
	return from;
}

static void read_header(void)
{
	char *text = slurp(KRP_TOP "/trace/krping_trace.h"), decl[MAX_FIELDS][64];
	const char *p = text, *from, *end, *line;
	struct found *e;
	unsigned int i;
	char *last;

	while ((p = strstr(p, "_EVENT"))) {
		for (line = p; line > text && line[-1] != '\n'; line--)
			;
		p += strlen("_EVENT");
		if (strncmp(p, "(", 1) && strncmp(p, "_FN(", 4))
			continue;
		p = strchr(p, '(') + 1;
		if (strncmp(line, "TRACE_EVENT", 11) && strncmp(line, "DEFINE_EVENT", 12))
			continue;
		if (!strncmp(line, "DEFINE_EVENT", 12))
			p = strchr(p, ',') + 1;
		p += strspn(p, " \t\n");
		assert_true(nr_header < MAX_EVENTS);
		e = &header[nr_header++];
		end = strchr(p, ',');
		assert_int_equal(strncmp(p, "krping_", 7), 0);
		snprintf(e->name, sizeof(e->name), "%.*s", (int)(end - p - 7), p + 7);
		from = brackets(p, "TP_PROTO(", &end);
		e->nr = split(from, end, decl);
		for (i = 0; i < e->nr; i++) {
			/* The last word is the name; a pointer's asterisk is at it. */
			last = decl[i] + strlen(decl[i]);
			while (last > decl[i] &&
			       (isalnum((unsigned char)last[-1]) || last[-1] == '_'))
				last--;
			strcpy(e->field[i], last);
			*last = '\0';
			while (last > decl[i] && isspace((unsigned char)last[-1]))
				*--last = '\0';
			strcpy(e->type[i], decl[i]);
		}
		from = brackets(p, "TP_ARGS(", &end);
		e->nr_args = split(from, end, e->arg);
	}
	free(text);
}

/* Appends the fields in [from, to), which are separated by commas, to those of e. */
static void add_fields(struct found *e, const char *from, const char *to)
{
	e->nr += split(from, to, e->field + e->nr);
}

/*
 * A section of docs/events.md is "### krping_a, krping_b (context)"; its fields are a list in
 * backticks that begins with run, or the first column of the tables with the head "field".
 */
static void read_section(char *body, struct found *e, unsigned int nr)
{
	const char *list = strstr(body, "`run, "), *end;
	bool in_table = false;
	unsigned int i;
	char *line;

	if (list) {
		end = strchr(list + 1, '`');
		assert_non_null(end);
		for (i = 0; i < nr; i++)
			add_fields(&e[i], list + 1, end);
		return;
	}
	while ((line = strsep(&body, "\n"))) {
		if (*line != '|' || !strncmp(line, "| field |", 9)) {
			in_table = *line == '|';
			continue;
		}
		end = strchr(line + 1, '|');
		assert_non_null(end);
		for (i = 0; in_table && line[1] != '-' && i < nr; i++)
			add_fields(&e[i], line + 1, end);
	}
}

static void read_page(void)
{
	char *text = slurp(KRP_TOP "/docs/events.md"), names[MAX_FIELDS][64], *p, *next;
	unsigned int i, nr, first;
	const char *end;

	for (p = strstr(text, "\n### krping_"); p; p = next) {
		end = strstr(p, " (");
		assert_non_null(end);
		nr = split(p + 5, end, names);
		first = nr_page;
		for (i = 0; i < nr; i++) {
			assert_true(nr_page < MAX_EVENTS);
			assert_int_equal(strncmp(names[i], "krping_", 7), 0);
			strcpy(page[nr_page++].name, names[i] + 7);
		}
		p = strchr(p + 1, '\n');
		assert_non_null(p);
		next = strstr(p, "\n### krping_");
		if (next)
			*next = '\0';
		/* A section also ends at a head of another kind. */
		if (strstr(p, "\n#"))
			*strstr(p, "\n#") = '\0';
		read_section(p, &page[first], nr);
		if (next)
			*next = '\n';
	}
	free(text);
}

static void read_texts(void)
{
	if (nr_header)
		return;
	read_header();
	read_page();
}

static const struct found *look_up(const struct found *in, unsigned int nr, const char *name)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!strcmp(in[i].name, name))
			return &in[i];
	}
	return NULL;
}

TEST(header)
{
	const struct krp_event_info *info;
	const struct found *e;
	unsigned int i;
	int id;

	read_texts();
	/* The number is checked, so that no event of the header can vanish from this test. */
	assert_true(nr_header >= 27);
	assert_int_equal(nr_header, KRP_NR_EVENTS);
	for (e = header; e < header + nr_header; e++) {
		id = krp_event_find(e->name);
		if (id < 0)
			fail_msg("bpf/event_table.h has no krping_%s", e->name);
		info = &krp_events[id];
		if (info->nr_args != e->nr)
			fail_msg("krping_%s: %u arguments in the header, %u in bpf/event_table.h",
				 e->name, e->nr, info->nr_args);
		assert_int_equal(e->nr, e->nr_args);
		for (i = 0; i < e->nr; i++) {
			bool words = !strcmp(e->type[i], "const u64 *");
			bool str = !strcmp(e->type[i], "const char *");

			if (strcmp(e->field[i], info->args[i].name) ||
			    strcmp(e->field[i], e->arg[i]))
				fail_msg("krping_%s, argument %u: %s in TP_PROTO, %s in TP_ARGS, %s in bpf/event_table.h",
					 e->name, i, e->field[i], e->arg[i], info->args[i].name);
			if (strcmp(str	 ? "str" :
				   words ? "words" :
					   e->type[i],
				   info->args[i].type_name))
				fail_msg("krping_%s, %s: %s in TP_PROTO, %s in bpf/event_table.h",
					 e->name, e->field[i], e->type[i], info->args[i].type_name);
		}
	}
}

TEST(page)
{
	const struct found *e, *p;
	unsigned int i;

	read_texts();
	for (e = header; e < header + nr_header; e++) {
		p = look_up(page, nr_page, e->name);
		if (!p)
			fail_msg("docs/events.md has no section of krping_%s", e->name);
		for (i = 0; i < e->nr || i < p->nr; i++) {
			const char *want = i < e->nr ? e->field[i] : "nothing";
			const char *got = i < p->nr ? p->field[i] : "nothing";

			if (strcmp(want, got))
				fail_msg("docs/events.md, krping_%s, field %u: %s, but %s in the header",
					 e->name, i, got, want);
		}
	}
	for (p = page; p < page + nr_page; p++) {
		if (!look_up(header, nr_header, p->name))
			fail_msg("docs/events.md has krping_%s, which the header has not", p->name);
	}
}

/* The rules that the BPF programs rely on. */
TEST(table)
{
	unsigned int i, k, stamps, texts, labels;

	for (i = 0; i < KRP_NR_EVENTS; i++) {
		const struct krp_event_info *e = &krp_events[i];

		stamps = texts = labels = 0;
		assert_string_equal(e->args[0].name, "run");
		assert_true(e->nr_args <= KRP_MAX_ARGS);
		for (k = 0; k < e->nr_args; k++) {
			stamps += e->args[k].how == KRP_HOW_stamp;
			texts += e->args[k].how == KRP_HOW_text;
			labels += e->args[k].how == KRP_HOW_label;
			assert_int_equal(e->args[k].how == KRP_HOW_text ||
						 e->args[k].how == KRP_HOW_label,
					 e->args[k].type == KRP_TYPE_str);
			if (!strcmp(e->args[k].name, "t"))
				assert_int_equal(e->args[k].how, KRP_HOW_stamp);
			if (e->args[k].how == KRP_HOW_hi)
				assert_int_equal(e->args[k + 1].how, KRP_HOW_lo);
		}
		assert_int_equal(stamps, e->stamp >= 0);
		assert_int_equal(texts, e->text >= 0);
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

static json_object *json_of(const struct krp_event_rec *rec)
{
	static char buf[2048];
	FILE *f = fmemopen(buf, sizeof(buf), "w");
	json_object *o;

	fputs("{\"x\":0", f);
	krp_event_json(f, rec);
	fputc('}', f);
	fputc('\0', f);
	fclose(f);
	o = json_tokener_parse(buf);
	if (!o)
		fail_msg("not JSON: %s", buf);
	return o;
}

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
	assert_string_equal(
		text_of(&rec, 0, 0, 0, 0),
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
	assert_string_equal(text_of(&rec, 0, 0, 0, 0),
			    " iters=0 err=-13 duration_ns=0 phase=250 t_phase=-");

	rec = event(KRP_EV_validate, 9000, 7);
	KRP_ARG(&rec, validate, offset) = -1ULL;
	assert_string_equal(text_of(&rec, 0, 0, 0, 0), " iter=0 len=0 offset=-1");

	rec = event(KRP_EV_addr, 9000, 7);
	memcpy(&KRP_ARG(&rec, addr, src_lo), "\0\0\xff\xff\x0a\x09\0\x01", 8);
	memcpy(&KRP_ARG(&rec, addr, dst_hi), "\xfe\x80\0\0\0\0\0\0", 8);
	memcpy(&KRP_ARG(&rec, addr, dst_lo), "\0\0\0\0\0\0\0\x02", 8);
	KRP_ARG(&rec, addr, src_port) = 9999;
	assert_string_equal(text_of(&rec, 0, 0, 0, 0),
			    " src=10.9.0.1 dst=fe80::2 src_port=9999 dst_port=0");
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
			rec.args[i] = krp_events[id].args[i].how == KRP_HOW_time ? ~0ULL >> 2 :
										   ~0ULL;
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
	o = json_of(&rec);
	assert_string_equal(member(o, "comm"), rec.text);
	/* As in /proc/krping_runs, it has none. */
	assert_string_equal(member(o, "name"), "-");
	assert_string_equal(member(o, "count"), "4294967295");
	assert_string_equal(member(o, "flags"), "verbose|server_inv|chain");
	assert_string_equal(member(o, "test"), "rping");
	/* Members that every object has are not printed a second time. */
	assert_string_equal(member(o, "t_ns"), "(none)");
	assert_string_equal(member(o, "run"), "(none)");
	assert_string_equal(member(o, "role"), "(none)");
	json_object_put(o);

	KRP_ARG(&rec, run_start, flags) = KRPING_RUN_F_READ_INV | KRPING_RUN_F_LOCAL_DMA_LKEY |
					  KRPING_RUN_F_DMA | KRPING_RUN_F_SRQ;
	o = json_of(&rec);
	assert_string_equal(member(o, "flags"), "read_inv|local_dma_lkey|dma|srq");
	json_object_put(o);

	/* Each flag has a name. */
	rec = event(KRP_EV_post_send, 5000, 7);
	KRP_ARG(&rec, post_send, flags) = KRPING_POST_F_SIGNALED | KRPING_POST_F_FENCE |
					  KRPING_POST_F_INLINE;
	o = json_of(&rec);
	assert_string_equal(member(o, "flags"), "signaled|fence|inline");
	json_object_put(o);

	rec = event(KRP_EV_cm_event, 5000, 7);
	KRP_ARG(&rec, cm_event, event) = 10;
	KRP_ARG(&rec, cm_event, status) = 0xffffffff;
	o = json_of(&rec);
	assert_string_equal(member(o, "cm_event"), "DISCONNECTED");
	assert_string_equal(member(o, "status"), "-1");
	json_object_put(o);

	rec = event(KRP_EV_wc_err, 5000, 7);
	KRP_ARG(&rec, wc_err, status) = 12;
	KRP_ARG(&rec, wc_err, vendor_err) = 0x81;
	o = json_of(&rec);
	assert_string_equal(member(o, "status"), "RETRY_EXC_ERR");
	assert_string_equal(member(o, "vendor_err"), "0x81");
	json_object_put(o);

	rec = event(KRP_EV_wait, ~0ULL >> 1, 7);
	KRP_ARG(&rec, wait, t_sig) = (~0ULL >> 1) - 1;
	o = json_of(&rec);
	assert_string_equal(member(o, "t_sig_ns"), "9223372036854775806");
	assert_string_equal(member(o, "t_run_ns"), "9223372036854775807");
	json_object_put(o);

	/* Every argument of every event has a key, and no key comes twice. */
	for (id = 0; id < KRP_NR_EVENTS; id++) {
		rec = event(id, 1, 1);
		o = json_of(&rec);
		for (i = k = n = 0; i < krp_events[id].nr_args; i++) {
			k += krp_events[id].args[i].how == KRP_HOW_lo;
			/* One argument that is three fields. */
			k -= krp_events[id].args[i].how == KRP_HOW_wait ? 2 : 0;
			n += krp_events[id].args[i].how == KRP_HOW_role || !i ||
			     !strcmp(krp_events[id].args[i].name, "t");
		}
		assert_int_equal(json_object_object_length(o), 1 + krp_events[id].nr_args - k - n);
		json_object_put(o);
	}
}

/* An event that was written as JSON is read again without a change. */
TEST(again)
{
	struct krp_event_rec rec, got;
	unsigned int id, i, round;
	json_object *o;

	for (id = 0; id < KRP_NR_EVENTS; id++) {
		for (round = 0; round < 3; round++) {
			rec = event(id, 123456789012345, 7);
			for (i = 1; i < krp_events[id].nr_args; i++) {
				const struct krp_arg_info *a = &krp_events[id].args[i];
				bool narrow = a->type == KRP_TYPE_u32 || a->type == KRP_TYPE_s32;

				if (a->how == KRP_HOW_stamp || a->how == KRP_HOW_text ||
				    a->how == KRP_HOW_label || a->how == KRP_HOW_words)
					continue;
				/* Small numbers, large ones of 32 and of 64 bits. */
				rec.args[i] = round == 0 ? i :
					      round == 1 ? 0xfffffff0 + i :
							   ~0ULL - i;
				if (a->how == KRP_HOW_role)
					rec.args[i] = round & 1;
				else if (a->how == KRP_HOW_wait)
					rec.args[i] &= 0x1ffff;
				else if (narrow)
					rec.args[i] &= 0xffffffff;
				else if (a->how == KRP_HOW_time)
					rec.args[i] &= ~0ULL >> 1;
			}
			if (krp_events[id].text >= 0)
				strcpy(rec.text, "rxe0");
			/* Without one, with one, and with the longest. */
			if (krp_events[id].label >= 0 && round)
				snprintf(rec.label, sizeof(rec.label), "%s",
					 round == 1 ? "a=b" : "1234567890123456789012345678901");
			for (i = 0; krp_events[id].words >= 0 && i < KRP_WORDS_MAX; i++)
				rec.words[i] = ~0ULL << round * i % 64;
			o = json_of(&rec);
			assert_false(krp_event_from_json(&got, o));
			json_object_object_add(o, "event",
					       json_object_new_string(krp_events[id].name));
			json_object_object_add(o, "t_ns", json_object_new_uint64(rec.head.t));
			assert_false(krp_event_from_json(&got, o));
			json_object_object_add(o, "run", json_object_new_uint64(7));
			json_object_object_add(o, "role",
					       json_object_new_string(
						       krp_name_of(KRP_HOW_role, round & 1)));
			assert_true(krp_event_from_json(&got, o));
			assert_memory_equal(&got.head, &rec.head, sizeof(rec.head));
			for (i = 0; i < krp_events[id].nr_args; i++) {
				if (got.args[i] != rec.args[i])
					fail_msg("%s, %s: %lx became %lx in %s",
						 krp_events[id].name, krp_events[id].args[i].name,
						 (unsigned long)rec.args[i],
						 (unsigned long)got.args[i],
						 json_object_to_json_string(o));
			}
			if (krp_events[id].words >= 0) {
				i = rec.args[krp_events[id].words - 1];
				i = i > KRP_WORDS_MAX ? KRP_WORDS_MAX : i;
				assert_true(i > 0);
				assert_memory_equal(got.words, rec.words, i * sizeof(*rec.words));
			} else {
				assert_string_equal(got.text, rec.text);
			}
			assert_string_equal(got.label, rec.label);
			json_object_object_add(o, "event", json_object_new_string("nosuch"));
			assert_false(krp_event_from_json(&got, o));
			json_object_put(o);
		}
	}
	o = json_tokener_parse("{\"event\":null,\"t_ns\":1,\"run\":1}");
	assert_false(krp_event_from_json(&got, o));
	json_object_put(o);
}

/* Writes an event's JSON as a line of a recording has it. */
static void line_of(char *buf, size_t size, const struct krp_event_rec *rec)
{
	FILE *f = fmemopen(buf, size, "w");

	fprintf(f, "{\"t_ns\":%llu,\"event\":\"%s\",\"run\":%u", rec->head.t,
		krp_events[rec->head.event].name, rec->head.run);
	krp_event_json(f, rec);
	fputc('}', f);
	fputc('\0', f);
	fclose(f);
}

/* Whatever bytes a name has, text and JSON are printable ASCII; JSON can be read again. */
TEST(nasty)
{
	static const enum krp_event events[] = { KRP_EV_run_start, KRP_EV_conn };
	char raw[512], line[2048], again[2048], text[KRP_ESCAPED(KRP_TEXT_MAX)];
	struct krp_event_head head = { .t = 5000, .run = 7 };
	struct krp_event_rec rec, got;
	size_t args, size, i;
	unsigned int k;
	json_object *o;
	const char *s;
	int c;

	for (k = 0; k < 2; k++) {
		head.event = events[k];
		args = krp_events[events[k]].nr_args * sizeof(uint64_t);
		size = sizeof(head) + args + KRP_TEXT_MAX;
		size += krp_events[events[k]].label >= 0 ? KRPING_NAME_MAX : 0;
		for (c = 0; c < 256; c++) {
			memset(raw, 0, sizeof(raw));
			memcpy(raw, &head, sizeof(head));
			/* Names of several lengths, one of them without a NUL at the end. */
			memset(raw + sizeof(head) + args, c, c == 0x9b ? KRP_TEXT_MAX : 1 + c % 9);
			/* No module has such a label, and no NUL behind it. */
			memset(raw + sizeof(head) + args + KRP_TEXT_MAX, c, KRPING_NAME_MAX);
			assert_true(krp_event_parse(&rec, raw, size));
			assert_false(krp_event_parse(&got, raw, size - 1));
			rec.args[0] = 7;
			if (krp_events[events[k]].stamp >= 0)
				rec.args[krp_events[events[k]].stamp] = 5000;
			krp_escape(text, sizeof(text), raw + sizeof(head) + args, KRP_TEXT_MAX - 1);
			assert_string_equal(rec.text, text);
			assert_true(krp_is_clean(text_of(&rec, 0, 0, 0, 0)));
			line_of(line, sizeof(line), &rec);
			assert_true(krp_is_clean(line));
			o = json_tokener_parse(line);
			assert_non_null(o);
			assert_true(krp_event_from_json(&got, o));
			json_object_put(o);
			assert_string_equal(got.text, text);
			line_of(again, sizeof(again), &got);
			assert_string_equal(again, line);
		}
	}

	/* A recording may be forged: its control characters are escaped by the first replay. */
	o = json_tokener_parse("{\"t_ns\":1,\"event\":\"run_start\",\"run\":1,"
			       "\"comm\":\"\\u001b[2J\\u009b\\u202e\\\\x1b\\n\"}");
	assert_true(krp_event_from_json(&got, o));
	json_object_put(o);
	s = text_of(&got, 0, 0, 0, 0);
	assert_true(krp_is_clean(s));
	assert_non_null(strstr(s, "comm=\\x1b[2J\\xc2\\x9b\\xe2\\x80\\xae\\x1b\\x0a"));
	/* A name that is longer than any real one. */
	memset(raw, 0x7f, sizeof(raw) - 1);
	raw[sizeof(raw) - 1] = '\0';
	snprintf(line, sizeof(line),
		 "{\"t_ns\":1,\"event\":\"run_start\",\"run\":1,\"comm\":\"%s\"}", raw);
	o = json_tokener_parse(line);
	assert_true(krp_event_from_json(&got, o));
	json_object_put(o);
	for (i = 0; i + 1 < sizeof(got.text); i += 4)
		assert_memory_equal(got.text + i, "\\x7f", 4);
	assert_int_equal(strlen(got.text), sizeof(got.text) - 1);
	/* A label, too. */
	memset(raw, 'n', sizeof(raw) - 1);
	snprintf(line, sizeof(line),
		 "{\"t_ns\":1,\"event\":\"run_start\",\"run\":1,\"name\":\"%s\"}", raw);
	o = json_tokener_parse(line);
	assert_true(krp_event_from_json(&got, o));
	json_object_put(o);
	assert_int_equal(strlen(got.label), KRPING_NAME_MAX - 1);
}

TEST(parse)
{
	struct {
		struct krp_event_head head;
		uint64_t args[KRP_MAX_ARGS + KRP_TEXT_MAX / 8];
	} raw = { .head = { .event = KRP_EV_conn } };
	size_t size = sizeof(raw.head) + KRP_NR_ARGS_conn * 8 + KRP_TEXT_MAX;
	struct krp_event_rec rec;

	memset(raw.args + KRP_NR_ARGS_conn, 'd', KRP_TEXT_MAX);
	assert_true(krp_event_parse(&rec, &raw, size));
	assert_int_equal(strlen(rec.text), KRP_TEXT_MAX - 1);
	assert_false(krp_event_parse(&rec, &raw, size - 1));
	assert_false(krp_event_parse(&rec, &raw, 8));
	raw.head.event = KRP_NR_EVENTS;
	assert_false(krp_event_parse(&rec, &raw, size));
}

TEST(globs)
{
	char buf[64];

	assert_true(krp_globs_match("post_*", "krping_post_send"));
	assert_true(krp_globs_match("wc,krping_post*", "post_recv"));
	assert_true(krp_globs_match("wc,wc_*", "krping_wc"));
	assert_false(krp_globs_match("wc,wc_*", "krping_wait"));
	assert_false(krp_globs_match("", "krping_wait"));
	assert_true(krp_globs_match("*", "krping_wait"));
	assert_null(krp_globs_check("*", buf, sizeof(buf)));
	assert_null(krp_globs_check("run_*,krping_w?", buf, sizeof(buf)));
	assert_string_equal(krp_globs_check("run_*,posts", buf, sizeof(buf)), "posts");
	assert_string_equal(krp_globs_check("run_*,", buf, sizeof(buf)), "");
	assert_int_equal(krp_event_find("krping_wc"), KRP_EV_wc);
	assert_int_equal(krp_event_find("wc_"), -1);
}

TEST(order)
{
	struct krp_order *o = krp_order_new(1000);
	const struct krp_event_rec *rec;
	struct krp_event_rec e;
	uint64_t t, last = 0;
	unsigned int i, n = 0, seed = 1;
	uint32_t of_t = 0;

	assert_non_null(o);
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
	assert_int_equal(n, 1000);
	assert_int_equal(krp_order_late(o), 0);
	e = event(KRP_EV_wc, last - 1, 1);
	krp_order_put(o, &e);
	assert_int_equal(krp_order_late(o), 1);
	assert_int_equal(krp_order_take(o, ~0ULL)->head.t, last - 1);
	krp_order_free(o);
}

TEST(clock)
{
	char a[64], b[64];

	krp_mono_rfc3339(a, sizeof(a), 5000000000);
	krp_mono_rfc3339(b, sizeof(b), 5000001000);
	assert_int_equal(strlen(a), strlen("2026-11-21T12:00:00.000000+00:00"));
	assert_int_equal(a[10], 'T');
	assert_true(strcmp(a, b) < 0);
	setenv("TZ", "UTC", 1);
	assert_true(krp_mono_is("2026-11-21T12:00:00.000007+01:00", 5000));
	krp_mono_rfc3339(a, sizeof(a), 60000005000);
	assert_string_equal(a, "2026-11-21T11:01:00.000007+00:00");
	assert_true(krp_mono_is("2026-11-21T23:59:59.999999-05:30", 999));
	krp_mono_rfc3339(a, sizeof(a), 999);
	assert_string_equal(a, "2026-11-22T05:29:59.999999+00:00");
	/* A forged or damaged recording may have any time: each can be printed. */
	assert_true(krp_mono_is("2026-11-21T12:00:00.000007+00:00", 5000));
	krp_mono_rfc3339(a, sizeof(a), UINT64_MAX);
	assert_int_equal(strlen(a), 32);
	krp_mono_rfc3339(a, sizeof(a), INT64_MAX);
	assert_int_equal(strlen(a), 32);
	assert_false(krp_mono_is(a, 5000));
	assert_true(krp_mono_is("2026-11-21T12:00:00.000007+00:00", UINT64_MAX));
	krp_mono_rfc3339(b, sizeof(b), UINT64_MAX);
	assert_string_equal(b, "2026-11-21T12:00:00.000007+00:00");
	assert_false(krp_mono_is("9999-12-31T23:59:59.999999+00:00", 0));
	assert_false(krp_mono_is("1969-12-31T23:59:59.999999+00:00", 999));
	assert_false(krp_mono_is("yesterday", 5000));
	assert_false(krp_mono_is("2026-11-21T12:00:00Z", 5000));
	/* A sign would make it a fraction of 4294 s, which overflows here. */
	assert_false(krp_mono_is("2262-04-11T23:47:15.-1+00:00", 5000));
	assert_false(krp_mono_is("2026-11-21T12:00:00.     7+00:00", 5000));
	assert_false(krp_mono_is("2026-11-21T12:00:00.7+00:00", 5000));
	assert_false(krp_mono_is("2026-11-21T12:00:00.000007+00:00 ", 5000));
	assert_false(krp_mono_is("2026-11-21T12:00:00.000007+-1:00", 5000));
}
