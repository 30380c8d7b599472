// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "escape.h"
#include "out.h"

/* Three significant digits of v, which is below 1000, and a unit. */
static void three(struct krp_num *n, double v, const char *unit)
{
	/* The bounds are the values at which the next format would round up to one digit more. */
	snprintf(n->s, sizeof(n->s), "%.*f%s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, unit);
}

struct krp_num krp_ns(uint64_t ns)
{
	static const char *const unit[] = { "us", "ms", "s" };
	double v = ns / 1e3;
	struct krp_num n;
	unsigned int i;

	if (ns == KRP_NS_UNKNOWN)
		return (struct krp_num){ "-" };
	if (ns < 1000) {
		snprintf(n.s, sizeof(n.s), "%" PRIu64 "ns", ns);
		return n;
	}
	for (i = 0; i < 2 && v >= 999.5; i++)
		v /= 1e3;
	if (v < 99999.5)
		three(&n, v, unit[i]);
	else
		snprintf(n.s, sizeof(n.s), "%.0fd", v / 86400);
	return n;
}

bool krp_parse_number(const char *s, double *v, const char **rest)
{
	size_t len = strspn(s, "0123456789.");
	char *end;

	*v = strtod(s, &end);
	*rest = end;
	return len && end == s + len && isfinite(*v);
}

bool krp_parse_ns(const char *s, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	const char *end;
	unsigned int i;
	double v;

	if (!krp_parse_number(s, &v, &end))
		return false;
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].name))
			continue;
		v *= units[i].ns;
		/* A year is more than anybody waits. */
		if (v > 31536000e9)
			return false;
		*ns = llround(v);
		return true;
	}
	return false;
}

static struct krp_num scaled(double v)
{
	static const char *const unit[] = { "k", "M", "G", "T", "P", "E" };
	struct krp_num n;
	unsigned int i;

	v /= 1e3;
	for (i = 0; i < 5 && v >= 999.5; i++)
		v /= 1e3;
	three(&n, v, unit[i]);
	return n;
}

struct krp_num krp_count(uint64_t v)
{
	struct krp_num n;

	if (v > 99999)
		return scaled(v);
	snprintf(n.s, sizeof(n.s), "%" PRIu64, v);
	return n;
}

struct krp_num krp_rate(double r)
{
	struct krp_num n;

	if (r >= 99999.5)
		return scaled(r);
	if (isnan(r))
		strcpy(n.s, "-");
	else if (r < 999.5)
		three(&n, r, "");
	else
		snprintf(n.s, sizeof(n.s), "%.0f", r);
	return n;
}

static void table_row(FILE *f, const struct krp_col *cols, unsigned int n, const char *const *cells)
{
	unsigned int i, blanks = 0;

	for (i = 0; i < n; i++) {
		const char *s = cells[i];
		unsigned int len = strlen(s), width = abs(cols[i].width);
		unsigned int pad = len < width ? width - len : 0;
		bool cut = cols[i].width < 0 && len > width;

		if (cols[i].width > 0) {
			blanks += pad;
			pad = 0;
		}
		if (len) {
			fprintf(f, "%*s%.*s%s", blanks, "", cut ? width - 1 : len, s,
				cut ? "~" : "");
			blanks = 0;
		}
		blanks += pad + 1;
	}
	fputc('\n', f);
}

void krp_fold(FILE *f, const char *text, unsigned int indent, unsigned int room)
{
	unsigned int used = 0, len;

	while (*text) {
		len = strcspn(text, " ");
		if (used && used + 1 + len > room) {
			fprintf(f, "\n%*s", indent, "");
			used = 0;
		}
		used += fprintf(f, "%s%.*s", used ? " " : "", (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', f);
}

/*
 * Makes columns as wide as their cells, rows of n each. If that is more than
 * width, the widest of the columns that are aligned to the left are made
 * narrower, down to six; the others keep the width that they need.
 */
static void table_fit(struct krp_col *cols, unsigned int n, const char *const *cells, size_t rows,
		      unsigned int width)
{
	unsigned int i, len, sum = n - 1;
	struct krp_col *widest;
	size_t r;

	for (i = 0; i < n; i++) {
		len = strlen(cols[i].head);
		for (r = 0; r < rows; r++) {
			if (strlen(cells[r * n + i]) > len)
				len = strlen(cells[r * n + i]);
		}
		sum += len;
		cols[i].width = cols[i].width < 0 ? -(int)len : (int)len;
	}
	for (; sum > width; sum--) {
		widest = NULL;
		for (i = 0; i < n; i++) {
			if (cols[i].width < -6 && (!widest || cols[i].width < widest->width))
				widest = &cols[i];
		}
		if (!widest)
			return;
		widest->width++;
	}
}

void krp_cell(struct krp_table *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->cell = krp_resize(t->cell, t->nr + 1, sizeof(*t->cell));
	t->cell[t->nr++] = krp_vformat(fmt, ap);
	va_end(ap);
}

void krp_table_print(FILE *f, struct krp_table *t, unsigned int width)
{
	const char *const *cell = (const char *const *)t->cell;
	const char *head[KRP_TABLE_COLS];
	unsigned int cols;
	size_t i;

	for (cols = 0; t->col[cols].head; cols++)
		head[cols] = t->col[cols].head;
	if (width)
		table_fit(t->col, cols, cell, t->nr / cols, width);
	if (!t->headless)
		table_row(f, t->col, cols, head);
	for (i = 0; i < t->nr; i += cols)
		table_row(f, t->col, cols, cell + i);
	for (i = 0; i < t->nr; i++)
		free(t->cell[i]);
	free(t->cell);
	t->cell = NULL;
	t->nr = 0;
}

unsigned int krp_columns(int fd)
{
	struct winsize w;

	if (isatty(fd) && !ioctl(fd, TIOCGWINSZ, &w) && w.ws_col)
		return w.ws_col;
	return 80;
}

void krp_hist_print(FILE *f, const char *title, const struct krp_hist *h)
{
	static const char bar[] = "****************************************";
	uint64_t count[KRP_HIST_BUCKETS / KRP_HIST_SUB] = { 0 }, most = 0;
	int i, first = -1, last = -1;

	for (i = 0; i < KRP_HIST_BUCKETS; i++)
		count[i / KRP_HIST_SUB] += h->bucket[i];
	for (i = 0; i < KRP_HIST_BUCKETS / KRP_HIST_SUB; i++) {
		if (!count[i])
			continue;
		if (first < 0)
			first = i;
		last = i;
		if (count[i] > most)
			most = count[i];
	}
	if (first < 0)
		return;
	fprintf(f, "%s\n", title);
	for (i = first; i <= last; i++)
		fprintf(f, "  %6s .. %-6s %8s |%-40.*s|\n",
			krp_ns(krp_hist_low(i * KRP_HIST_SUB)).s,
			(i + 1) * KRP_HIST_SUB < KRP_HIST_BUCKETS ?
				krp_ns(krp_hist_low((i + 1) * KRP_HIST_SUB)).s :
				"",
			krp_count(count[i]).s,
			(int)((count[i] * (sizeof(bar) - 1) + most - 1) / most), bar);
}

json_object *krp_hist_json(const struct krp_hist *h)
{
	json_object *a = json_object_new_array(), *pair;
	uint32_t i;

	for (i = 0; i < KRP_HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		pair = json_object_new_array();
		json_object_array_add(pair, json_object_new_uint64(krp_hist_low(i)));
		json_object_array_add(pair, json_object_new_uint64(h->bucket[i]));
		json_object_array_add(a, pair);
	}
	return a;
}

static uint64_t time_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

uint64_t krp_time_now(void)
{
	return time_of(CLOCK_MONOTONIC);
}

uint64_t krp_time_real(void)
{
	return time_of(CLOCK_REALTIME);
}

void krp_time_rfc3339(char *buf, size_t size, uint64_t ns)
{
	static time_t second = -1;
	static char date[32], zone[8];
	time_t s = ns / 1000000000;
	struct tm tm;

	if (s != second) {
		localtime_r(&s, &tm);
		strftime(date, sizeof(date), "%FT%T", &tm);
		strftime(zone, sizeof(zone), "%z", &tm);
		second = s;
	}
	/* strftime knows +hhmm only. */
	snprintf(buf, size, "%s.%06u%.3s:%s", date, (unsigned int)(ns % 1000000000 / 1000), zone,
		 zone + 3);
}

void krp_time_clock(char *buf, size_t size, time_t now)
{
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(buf, size, "%T", &tm);
}

double krp_time_tick(double now, double interval)
{
	double unit = interval < 1 ? interval : 1;

	return round((now + interval) / unit) * unit;
}

void krp_json_u64(json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

void krp_json_s64(json_object *o, const char *key, int64_t v)
{
	json_object_object_add(o, key, json_object_new_int64(v));
}

void krp_json_text(json_object *o, const char *key, const char *v)
{
	char *clean = krp_clean_dup(v);

	json_object_object_add(o, key, json_object_new_string(clean));
	free(clean);
}

void krp_json_bool(json_object *o, const char *key, bool v)
{
	json_object_object_add(o, key, json_object_new_boolean(v));
}

void krp_json_ns(json_object *o, const char *key, uint64_t ns)
{
	if (ns == KRP_NS_UNKNOWN)
		json_object_object_add(o, key, NULL);
	else
		krp_json_u64(o, key, ns);
}

void krp_json_rate(json_object *o, const char *key, double v)
{
	char s[64];

	/* JSON has no infinity and no NaN. */
	if (!isfinite(v)) {
		json_object_object_add(o, key, NULL);
		return;
	}
	snprintf(s, sizeof(s), "%.3f", v);
	json_object_object_add(o, key, json_object_new_double_s(v, s));
}

static void json_percentiles(json_object *o, const struct krp_sum *s, const struct krp_hist *h)
{
	static const struct {
		const char *key;
		unsigned int p;
	} v[] = {
		{ "p50_ns", KRP_P50 },
		{ "p90_ns", KRP_P90 },
		{ "p99_ns", KRP_P99 },
		{ "p999_ns", KRP_P999 },
	};
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(*v); i++)
		krp_json_ns(o, v[i].key,
			    s->count ? krp_hist_percentile(h, s, v[i].p) : KRP_NS_UNKNOWN);
}

void krp_json_sum(json_object *o, const struct krp_sum *s, const struct krp_hist *h)
{
	krp_json_u64(o, "count", s->count);
	krp_json_u64(o, "sum_ns", s->sum);
	krp_json_ns(o, "mean_ns", s->count ? s->sum / s->count : KRP_NS_UNKNOWN);
	krp_json_ns(o, "min_ns", s->count ? s->min : KRP_NS_UNKNOWN);
	krp_json_ns(o, "max_ns", s->count ? s->max : KRP_NS_UNKNOWN);
	if (h)
		json_percentiles(o, s, h);
}

json_object *krp_json_new(const char *tool, bool final)
{
	json_object *o = json_object_new_object();
	char time[64];

	krp_time_rfc3339(time, sizeof(time), krp_time_real());
	krp_json_text(o, "tool", tool);
	krp_json_u64(o, "schema", KRP_JSON_SCHEMA);
	krp_json_text(o, "time", time);
	krp_json_bool(o, "final", final);
	return o;
}

void krp_json_emit(FILE *f, json_object *o)
{
	fprintf(f, "%s\n",
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(f);
	json_object_put(o);
}
