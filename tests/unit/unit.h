/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the unit tests share: TEST(name) defines a test, which main(), here, runs; and checks of texts and of JSON, whose
 * failures name the case. A file whose tests each need something around them has a SETUP() and a TEARDOWN().
 */
#ifndef KRPING_UNIT_H
#define KRPING_UNIT_H

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#define NR(a)  (sizeof(a) / sizeof(*(a)))
#define UNUSED __attribute__((unused))

/* The rows of an array, which clang-format leaves as they are. */
#define TABLE(...)          \
	{                   \
		__VA_ARGS__ \
	}
/* Goes through an array, with a pointer at each element; and through texts that are listed. */
#define each(p, array) for (typeof(&(array)[0]) p = (array); p < (array) + NR(array); p++)
#define each_text(s, ...)                                                              \
	for (const char *const *s##_ = (const char *const[]){ __VA_ARGS__, NULL }, *s; \
	     (s = *s##_); s##_++)

static void (*unit_setup)(void), (*unit_teardown)(void);
static struct CMUnitTest unit_tests[40];
static size_t unit_nr;

#define TEST(name)                                                                          \
	static void test_##name(UNUSED void **state);                                       \
	static __attribute__((constructor)) void add_##name(void)                           \
	{                                                                                   \
		unit_tests[unit_nr++] = (struct CMUnitTest){ #name, test_##name, 0, 0, 0 }; \
	}                                                                                   \
	static void test_##name(UNUSED void **state)

/* What the address sanitizer looks for beside what it does by itself; the environment can say otherwise. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_stack_use_after_return=1:allocator_may_return_null=1";
}

/* SETUP() and TEARDOWN() define what is done before and after each test. */
#define SETUP()                                  \
	static void setup(void);                 \
	static void (*unit_setup)(void) = setup; \
	static void setup(void)
#define TEARDOWN()                                     \
	static void teardown(void);                    \
	static void (*unit_teardown)(void) = teardown; \
	static void teardown(void)

static int unit_before(UNUSED void **state)
{
	if (unit_setup)
		unit_setup();
	return 0;
}

static int unit_after(UNUSED void **state)
{
	if (unit_teardown)
		unit_teardown();
	return 0;
}

int main(void)
{
	size_t i;

	for (i = 0; i < unit_nr; i++) {
		unit_tests[i].setup_func = unit_before;
		unit_tests[i].teardown_func = unit_after;
	}
	return !unit_nr || _cmocka_run_group_tests(__BASE_FILE__, unit_tests, unit_nr, NULL, NULL);
}

/* Without memory, or for a file that cannot be read, the tools die. tools/lib/msg.c has one that exits. */
void krp_die(const char *fmt, ...) __attribute__((weak, noreturn));
void krp_die(const char *fmt, ...)
{
	fail_msg("%s", fmt);
	abort();
}

/* Compares a text; a failure names the case, which is another text. */
#define same_text(of, got, want)                                                        \
	do {                                                                            \
		const char *got_ = (got), *want_ = (want);                              \
		if (strcmp(got_, want_))                                                \
			fail_msg("%s:\ngot    \"%s\"\nwanted \"%s\"", of, got_, want_); \
	} while (0)

/* Compares a number in the same way. */
#define same_number(of, got, want)                                              \
	do {                                                                    \
		long long got_ = (got), want_ = (want);                         \
		if (got_ != want_)                                              \
			fail_msg("%s: got %lld, wanted %lld", of, got_, want_); \
	} while (0)

/* The numbers as a text, with blanks between them. */
static UNUSED const char *numbers(const int64_t *v, size_t nr)
{
	static char text[512];
	size_t i, n = 0;

	for (i = 0; i < nr; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%lld", i ? " " : "", (long long)v[i]);
	return text;
}

/* Compares integers with a text that has them all; a failure names them. */
#define LIST(...) ((const int64_t[]){ __VA_ARGS__ })
#define are(want, ...) \
	same_text(#__VA_ARGS__, numbers(LIST(__VA_ARGS__), NR(LIST(__VA_ARGS__))), want)

/* The texts as one, with bars between them. */
static UNUSED const char *joined(const char *const *v, size_t nr)
{
	static char text[1024];
	size_t i, n = 0;

	for (i = 0; i < nr; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%s", i ? "|" : "", v[i]);
	return text;
}

/* Compares texts with one that has them all. */
#define TEXTS(...) ((const char *const[]){ __VA_ARGS__ })
#define say(want, ...) \
	same_text(#__VA_ARGS__, joined(TEXTS(__VA_ARGS__), NR(TEXTS(__VA_ARGS__))), want)

/* Compares figures that are divided. */
#define near(got, want) assert_true(fabs((got) - (want)) <= 2e-4 * fabs((double)(want)))

/* Checks that the text has the part, or has not, if that begins with '!'. */
static UNUSED void has(const char *text, const char *part)
{
	bool not = *part == '!';

	if (!strstr(text, part + not ) != not )
		fail_msg("\"%s\" is %sin:\n%s", part + not, not ? "" : "not ", text);
}

/* A stream to read the text from, which may not be changed meanwhile. */
static UNUSED FILE *reader(const char *text)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");

	assert_non_null(f);
	return f;
}

/* What an expression yields that reads the text from the stream f. */
#define from_text(f, text, expression)                  \
	({                                              \
		FILE *f = reader(text);                 \
		typeof(expression) ret_ = (expression); \
		fclose(f);                              \
		ret_;                                   \
	})

/* Checks that no line of the text is longer; returns how many lines there are. */
static UNUSED unsigned int lines_within(const char *text, size_t width)
{
	unsigned int nr = 0;
	size_t len;

	for (; *text; text += len + (text[len] == '\n'), nr++) {
		len = strcspn(text, "\n");
		if (len > width)
			fail_msg("longer than %zu: %.*s", width, (int)len, text);
	}
	return nr;
}

/* printer() is a stream; what was printed to it is the text that printed() returns, until the next call of printer(). */
static char *unit_text;
static FILE *unit_out;

static UNUSED FILE *printer(void)
{
	static size_t size;

	free(unit_text);
	unit_out = open_memstream(&unit_text, &size);
	assert_non_null(unit_out);
	return unit_out;
}

static UNUSED const char *printed(void)
{
	fclose(unit_out);
	return unit_text;
}

static __attribute__((destructor)) void unit_free(void)
{
	free(unit_text);
}

/* The text of a member, "null" for one that is null, and "(none)" if there is none. */
static UNUSED const char *member(json_object *o, const char *key)
{
	json_object *v;

	if (!json_object_object_get_ex(o, key, &v))
		return "(none)";
	return v ? json_object_get_string(v) : "null";
}

/* Compares members of an object, a key, its value, and so on, and frees it. */
#define members(...) members_(__VA_ARGS__, NULL)
static UNUSED void members_(json_object *o, ...)
{
	const char *key;
	va_list keys;

	va_start(keys, o);
	while ((key = va_arg(keys, const char *)))
		same_text(key, member(o, key), va_arg(keys, const char *));
	va_end(keys);
	json_object_put(o);
}

#define json_text(o) json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN)

/* Compares an object with its text, and frees it. */
static UNUSED void json_is(json_object *o, const char *want)
{
	same_text("JSON", json_text(o), want);
	json_object_put(o);
}

#endif /* KRPING_UNIT_H */
