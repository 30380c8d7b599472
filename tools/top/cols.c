// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The columns of krping-top: which fit, what is in them, their order and filter; the bar. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../lib/names.h"
#include "../lib/out.h"
#include "view.h"

/* clang-format off */
#define RUNS   0x1
#define GROUPS 0x2

/* of: which rows have it. widths: at 80 columns, and the most that it may grow to. Negative: aligned to the left. */
static const struct column {
	const char *head, *word;
	int width, most;
	unsigned int of;
} columns[TOP_NR_COLS] = {
	[TOP_GROUP]	= { "GROUP", NULL, -12, 40, GROUPS },
	[TOP_ENDS]	= { "ENDS", NULL, 4, 4, GROUPS },
	[TOP_RUNNING]	= { "RUNNING", NULL, 7, 7, GROUPS },
	[TOP_END_RATE]	= { "END-IT/S", NULL, 8, 8, GROUPS },
	[TOP_END_MB]	= { "END-MB/S", NULL, 8, 8, GROUPS },
	[TOP_RUN]	= { "RUN", "run", 6, 8, RUNS },
	[TOP_ROLE]	= { "ROLE", "role", -6, 6, RUNS },
	[TOP_TEST]	= { "TEST", "test", -5, 5, RUNS },
	[TOP_DEV]	= { "DEV", "dev", -6, 11, RUNS },
	[TOP_RATE]	= { "ITER/S", "rate", 6, 6, RUNS },
	[TOP_MB]	= { "MB/S", "mb", 6, 6, RUNS },
	[TOP_P50]	= { "P50", "p50", 6, 6, RUNS | GROUPS },
	[TOP_P99]	= { "P99", "p99", 6, 6, RUNS | GROUPS },
	[TOP_ERR]	= { "ERR", "err", 3, 3, RUNS | GROUPS },
	[TOP_STATE]	= { "STATE", "state", -8, 12, RUNS },
	[TOP_PEER]	= { "PEER", "peer", -13, 15, RUNS },
	[TOP_QD]	= { "QD", "qd", 4, 4, RUNS },
	[TOP_MAX]	= { "MAX", "max", 6, 6, RUNS | GROUPS },
	[TOP_NAME]	= { "NAME", "name", -10, 10, RUNS },
	[TOP_SIZE]	= { "SIZE", "size", 6, 6, RUNS },
	[TOP_BAR]	= { "TIME SPENT", NULL, -10, 1000, RUNS | GROUPS },
};

/* Columns are left out in this order until the others fit; RUN and GROUP stay. */
static const enum top_col narrow[] = {
	TOP_SIZE, TOP_NAME, TOP_MAX, TOP_QD, TOP_PEER, TOP_TEST, TOP_MB, TOP_DEV, TOP_BAR,
	TOP_RUNNING, TOP_END_MB, TOP_P50, TOP_ROLE, TOP_ERR, TOP_STATE, TOP_P99, TOP_ENDS,
	TOP_RATE, TOP_END_RATE,
};

/* In this order columns grow when there is room left. */
static const enum top_col growing[] = {
	TOP_RUN, TOP_STATE, TOP_PEER, TOP_DEV, TOP_GROUP, TOP_BAR,
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

void top_layout(struct top_layout *l, int width, bool groups)
{
	int w[TOP_NR_COLS], more, x = 0, need = -1;
	unsigned int i;

	for (i = 0; i < TOP_NR_COLS; i++) {
		w[i] = columns[i].of & (groups ? GROUPS : RUNS) ? abs(columns[i].width) : 0;
		need += w[i] ? w[i] + 1 : 0;
	}
	for (i = 0; i < COUNT(narrow) && need > width; i++) {
		need -= w[narrow[i]] ? w[narrow[i]] + 1 : 0;
		w[narrow[i]] = 0;
	}
	for (i = 0; i < COUNT(growing); i++) {
		if (!w[growing[i]] || need >= width)
			continue;
		more = columns[growing[i]].most - w[growing[i]];
		if (more > width - need)
			more = width - need;
		w[growing[i]] += more;
		need += more;
	}
	memset(l, 0, sizeof(*l));
	l->width = need;
	for (i = 0; i < TOP_NR_COLS; i++) {
		if (!w[i])
			continue;
		l->v[l->nr].col = i;
		l->v[l->nr].x = x;
		l->v[l->nr++].width = columns[i].width < 0 ? -w[i] : w[i];
		x += w[i] + 1;
	}
}

enum top_col top_column_of(enum top_col col, bool groups)
{
	if (columns[col].of & (groups ? GROUPS : RUNS))
		return col;
	if (groups)
		return col == TOP_RATE ? TOP_END_RATE : col == TOP_MB ? TOP_END_MB : TOP_GROUP;
	return col == TOP_END_RATE ? TOP_RATE : col == TOP_END_MB ? TOP_MB : TOP_RUN;
}

int top_layout_find(const struct top_layout *l, enum top_col col)
{
	unsigned int i;

	for (i = 0; i < l->nr; i++) {
		if (l->v[i].col == col)
			return i;
	}
	return -1;
}

const char *top_col_head(enum top_col col)
{
	return columns[col].head;
}

const char *top_sort_words(void)
{
	static char words[164];
	unsigned int i;
	size_t n = 0;

	for (i = 0; i < TOP_NR_COLS; i++) {
		if (columns[i].word)
			n += snprintf(words + n, sizeof(words) - n, "%s%s", n ? ", " : "",
				      columns[i].word);
	}
	return words;
}

int top_sort_column(const char *word)
{
	unsigned int i;

	for (i = 0; i < TOP_NR_COLS; i++) {
		if (columns[i].word && !strcmp(columns[i].word, word))
			return i;
	}
	return -1;
}

static const char *result(const struct top_row *r)
{
	int err = top_row_fault(r);
	const char *name = err ? strerrorname_np(err) : "DONE";

	return name ? name : "ERROR";
}

static const char *or_dash(const char *s)
{
	return *s ? s : "-";
}

/* What most of the time was for, and its share; false: for the set-up, or there was no time, so the run does not iterate. */
static bool busiest(const uint64_t *phase_ns, char *buf, size_t size)
{
	int part[TOP_NR_CLASSES];
	unsigned int i, most = TOP_SETUP;

	top_bar(phase_ns, 100, part);
	for (i = 0; i < TOP_NR_CLASSES; i++) {
		if (part[i] > part[most])
			most = i;
	}
	snprintf(buf, size, "%s %d%%", top_class_word(most), part[most]);
	return most != TOP_SETUP;
}

void top_cell(const struct top_row *r, enum top_col col, char *buf, size_t size)
{
	const struct top_figures *f = top_row_figures(r);
	const struct krp_run_info *info = &r->info;
	char peer[sizeof(info->dst)], comm[KRP_ESCAPED(KRP_COMM_LEN)];

	*buf = '\0';
	switch (col) {
	case TOP_RUN:
		if (!r->other)
			snprintf(buf, size, "%u", info->id);
		else if (r->other->info.id < info->id)
			snprintf(buf, size, "%u<>%u", r->other->info.id, info->id);
		else
			snprintf(buf, size, "%u<>%u", info->id, r->other->info.id);
		break;
	case TOP_ROLE:
		snprintf(buf, size, "%s", r->other ? "both" : or_dash(info->role));
		break;
	case TOP_TEST:
		snprintf(buf, size, "%s", or_dash(info->test));
		break;
	case TOP_DEV:
		snprintf(buf, size, "%s", or_dash(info->dev));
		break;
	case TOP_PEER:
		krp_run_host(info->dst, peer, sizeof(peer));
		snprintf(buf, size, "%s", or_dash(peer));
		break;
	case TOP_GROUP:
		snprintf(buf, size, "%s", r->group ? r->group->key : "");
		break;
	case TOP_ENDS:
		snprintf(buf, size, "%u", r->group ? r->group->ends : 1);
		break;
	case TOP_RUNNING:
		snprintf(buf, size, "%u", r->group ? r->group->running : !r->t_ended);
		break;
	case TOP_RATE:
	case TOP_END_RATE:
		snprintf(buf, size, "%s", krp_rate(f->rate).s);
		break;
	case TOP_MB:
	case TOP_END_MB:
		snprintf(buf, size, "%s", krp_rate(f->mb).s);
		break;
	case TOP_P50:
		snprintf(buf, size, "%s", krp_ns(f->p50 ?: KRP_NS_UNKNOWN).s);
		break;
	case TOP_P99:
		snprintf(buf, size, "%s", krp_ns(f->p99 ?: KRP_NS_UNKNOWN).s);
		break;
	case TOP_QD:
		snprintf(buf, size, "%s", f->in_flight < 0 ? "-" : krp_rate(f->in_flight).s);
		break;
	case TOP_MAX:
		snprintf(buf, size, "%s", krp_ns(f->max ?: KRP_NS_UNKNOWN).s);
		break;
	case TOP_ERR:
		snprintf(buf, size, "%s", krp_count(top_row_errs(r)).s);
		break;
	case TOP_STATE:
		if (r->t_ended || top_row_fault(r))
			snprintf(buf, size, "%s", result(r));
		else if (!busiest(f->phase_ns, buf, size))
			snprintf(buf, size, "%s",
				 *info->state ? krp_state_short(info->state) : "-");
		break;
	case TOP_NAME:
		/* The process that wrote the command, if the run was given no name. */
		krp_escape(comm, sizeof(comm), r->head.comm, KRP_COMM_LEN);
		snprintf(buf, size, "%s", krp_run_label(info) ?: or_dash(comm));
		break;
	case TOP_SIZE:
		snprintf(buf, size, "%s", krp_count(info->size).s);
		break;
	default:
		break;
	}
}

static double number(const struct top_row *r, enum top_col col)
{
	const struct top_figures *f = top_row_figures(r);

	switch (col) {
	case TOP_ENDS:
		return r->group ? r->group->ends : 1;
	case TOP_RUNNING:
		return r->group ? r->group->running : !r->t_ended;
	case TOP_RATE:
	case TOP_END_RATE:
		return f->rate;
	case TOP_MB:
	case TOP_END_MB:
		return f->mb;
	case TOP_P50:
		return f->p50;
	case TOP_P99:
		return f->p99;
	case TOP_QD:
		return f->in_flight;
	case TOP_MAX:
		return f->max;
	case TOP_ERR:
		return top_row_errs(r);
	case TOP_SIZE:
		return r->info.size;
	default:
		return 0;
	}
}

static bool is_text(enum top_col col)
{
	return columns[col].width < 0;
}

struct order {
	enum top_col col;
	bool reverse, bad_first;
	const struct krp_groups *keys; /* of groups; NULL: the rows are runs */
};

/* Groups of which nothing else is different are in the order of their keys, and runs in that of ids. */
static int by_id(const struct top_row *l, const struct top_row *r, const struct krp_groups *keys)
{
	if (keys)
		return krp_groups_compare(keys, l->info.id - 1, r->info.id - 1);
	return (l->info.id > r->info.id) - (l->info.id < r->info.id);
}

static int compare(const void *a, const void *b, void *data)
{
	const struct top_row *l = *(struct top_row *const *)a, *r = *(struct top_row *const *)b;
	const struct order *o = data;
	char lt[KRP_BY_KEY], rt[KRP_BY_KEY];
	int diff = 0;
	double ln, rn;

	if (o->bad_first && top_row_bad(l) != top_row_bad(r))
		return top_row_bad(l) ? -1 : 1;
	if (o->col == TOP_RUN || o->col == TOP_GROUP) {
		diff = by_id(l, r, o->keys);
	} else if (is_text(o->col)) {
		top_cell(l, o->col, lt, sizeof(lt));
		top_cell(r, o->col, rt, sizeof(rt));
		diff = strcasecmp(lt, rt);
	} else {
		ln = number(l, o->col);
		rn = number(r, o->col);
		diff = (ln < rn) - (ln > rn);
	}
	if (o->reverse)
		diff = -diff;
	return diff ?: by_id(l, r, o->keys);
}

void top_sort(struct top_row **v, size_t nr, enum top_col col, bool reverse, bool bad_first,
	      const struct krp_groups *keys)
{
	struct order o = { col, reverse, bad_first, keys };

	if (nr)
		qsort_r(v, nr, sizeof(*v), compare, &o);
}

bool top_match(const struct top_row *r, const struct top_layout *l, const char *text)
{
	char cell[KRP_BY_KEY];
	unsigned int i;

	if (!*text)
		return true;
	for (i = 0; i < l->nr; i++) {
		if (l->v[i].col == TOP_BAR)
			continue;
		top_cell(r, l->v[i].col, cell, sizeof(cell));
		if (strcasestr(cell, text))
			return true;
	}
	return false;
}

/*
 * Phases are classified by the beginnings of their names, so that the phases of
 * a new test have a class, too.
 */
enum top_class top_phase_class(uint32_t phase)
{
	static const struct {
		const char *begin;
		enum top_class class;
	} names[] = {
		{ "fill_queue", TOP_SEND }, { "fill", TOP_DATA },	 { "validate", TOP_DATA },
		{ "reg", TOP_REGISTER },    { "map", TOP_REGISTER },	 { "inv", TOP_REGISTER },
		{ "send", TOP_SEND },	    { "post", TOP_SEND },	 { "go_ahead", TOP_SEND },
		{ "wait", TOP_WAIT },	    { "pause", TOP_WAIT },	 { "read", TOP_TRANSFER },
		{ "write", TOP_TRANSFER },  { "arrange", TOP_REGISTER }, { "try", TOP_TRANSFER },
		{ "outcome", TOP_WAIT },    { "running", TOP_TRANSFER },
	};
	static enum top_class known[KRPING_NR_PHASES];
	static bool made;
	unsigned int i, p;

	for (p = 0; p < KRPING_NR_PHASES && !made; p++) {
		known[p] = TOP_OTHER;
		if (KRPING_PHASE_IS_ONCE(p) && p != KRPING_PHASE_WAIT_END &&
		    p != KRPING_PHASE_PAUSE)
			known[p] = TOP_SETUP;
		for (i = 0; i < COUNT(names) && known[p] == TOP_OTHER; i++) {
			if (!strncmp(krp_name(&krp_phase_names, p), names[i].begin,
				     strlen(names[i].begin)))
				known[p] = names[i].class;
		}
	}
	made = true;
	return phase < KRPING_NR_PHASES ? known[phase] : TOP_OTHER;
}

char top_class_letter(enum top_class c)
{
	return ".DRSWX?"[c];
}

const char *top_class_word(enum top_class c)
{
	static const char *const words[TOP_NR_CLASSES] = {
		"set-up", "data", "reg", "send", "wait", "r/w", "other",
	};

	return words[c];
}

int top_class_colour(enum top_class c)
{
	static const int colours[TOP_NR_CLASSES] = {
		KRP_PLAIN, KRP_CYAN, KRP_YELLOW, KRP_BLUE, KRP_MAGENTA, KRP_GREEN, KRP_PLAIN,
	};

	return colours[c];
}

void top_bar(const uint64_t *phase_ns, int width, int part[TOP_NR_CLASSES])
{
	double ns[TOP_NR_CLASSES] = { 0 }, total = 0, rest[TOP_NR_CLASSES];
	unsigned int i, most;
	int left = width;

	memset(part, 0, TOP_NR_CLASSES * sizeof(*part));
	for (i = 0; i < TOP_PHASES; i++) {
		ns[top_phase_class(i)] += phase_ns[i];
		total += phase_ns[i];
	}
	if (total <= 0 || width <= 0)
		return;
	for (i = 0; i < TOP_NR_CLASSES; i++) {
		double exact = ns[i] * width / total;

		part[i] = exact;
		rest[i] = exact - part[i];
		left -= part[i];
	}
	/* The rest that rounding down has left goes to the classes that lost most by it. */
	for (; left > 0; left--) {
		for (i = 1, most = 0; i < TOP_NR_CLASSES; i++) {
			if (rest[i] > rest[most])
				most = i;
		}
		part[most]++;
		rest[most] = -1;
	}
}
