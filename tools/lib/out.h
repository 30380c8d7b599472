/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Output: numbers, tables, JSON lines. */
#ifndef KRP_LIB_OUT_H
#define KRP_LIB_OUT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "hist.h"

/* Version of what -j prints; adding keys does not change it. */
#define KRP_JSON_SCHEMA 1

/* All numbers below are at most six characters wide. */
struct krp_num {
	char s[16];
};

/* A time with its unit: 123ns 1.23us 45.6ms 78.9s 1234s; "-" for KRP_NS_UNKNOWN. */
struct krp_num krp_ns(uint64_t ns);
/* A number, and what is behind it: no blanks, signs, or anything else that strtod() takes, as 0x, inf, nan. */
bool krp_parse_number(const char *s, double *v, const char **rest);
/* The reverse of krp_ns(): a number, which may have a fraction, and ns, us, ms or s. */
bool krp_parse_ns(const char *s, uint64_t *ns);
/* A count: 12345, 123k, 4.56M */
struct krp_num krp_count(uint64_t n);
/* A rate: 0.12, 12.3, 1234, 567k */
struct krp_num krp_rate(double r);

struct krp_col {
	const char *head;
	int width; /* negative: aligned to the left */
};

#define KRP_TABLE_COLS 16

/*
 * A table in the making: columns, the last of which has no head, and the cells, row by row. Columns
 * are one space apart, and no blanks are at the end of a line. A cell that is aligned to the left and
 * does not fit is cut, and ends in '~'.
 */
struct krp_table {
	struct krp_col col[KRP_TABLE_COLS];
	bool headless; /* rows alone */
	char **cell;
	size_t nr;
};

void krp_cell(struct krp_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Prints and empties the table. With a width columns are as wide as their cells; if that is more, the
 * widest of those that are aligned to the left are made narrower, down to six.
 */
void krp_table_print(FILE *f, struct krp_table *t, unsigned int width);

/*
 * Prints the words of text on lines of at most room characters, all but the
 * first line behind indent blanks.
 */
void krp_fold(FILE *f, const char *text, unsigned int indent, unsigned int room);

/* Columns of the terminal that fd is; 80 if it is none. */
unsigned int krp_columns(int fd);

/* A histogram in text, an octave a line; nothing for an empty one. */
void krp_hist_print(FILE *f, const char *title, const struct krp_hist *h);
/* A histogram for JSON: an array of [smallest value, count], without empty buckets. */
json_object *krp_hist_json(const struct krp_hist *h);

/* The time of the monotonic clock, which the events use, in nanoseconds. */
uint64_t krp_time_now(void);
/* The time of the clock on the wall, in nanoseconds since 1970. */
uint64_t krp_time_real(void);
/* Such a time in RFC 3339 with microseconds, and the clock time alone of a time. */
void krp_time_rfc3339(char *buf, size_t size, uint64_t ns);
void krp_time_clock(char *buf, size_t size, time_t now);
/*
 * When the first interval ends, which begins now, in seconds of the monotonic clock: about its length later, on
 * a whole second, or on a multiple of its length if that is shorter than a second. So the lines of tools with the
 * same interval of a second or less are of the same time, and the pings are interrupted once for all of them.
 */
double krp_time_tick(double now, double interval);

void krp_json_u64(json_object *o, const char *key, uint64_t v);
void krp_json_s64(json_object *o, const char *key, int64_t v);
/* Bytes that are not printable ASCII are escaped, so the text is UTF-8, whatever v is. */
void krp_json_text(json_object *o, const char *key, const char *v);
void krp_json_bool(json_object *o, const char *key, bool v);
/* A time; null for KRP_NS_UNKNOWN. */
void krp_json_ns(json_object *o, const char *key, uint64_t ns);
/* With three decimals; null if v is not a number. */
void krp_json_rate(json_object *o, const char *key, double v);
/*
 * count, sum_ns, mean_ns, min_ns, max_ns and, given h, the percentiles. If
 * count is 0, all but the first two are null.
 */
void krp_json_sum(json_object *o, const struct krp_sum *s, const struct krp_hist *h);

/* The object of a line, with the keys that all lines have: tool, schema, time, final. */
json_object *krp_json_new(const char *tool, bool final);
/* Prints the object as one line, and frees it. */
void krp_json_emit(FILE *f, json_object *o);

#endif /* KRP_LIB_OUT_H */
