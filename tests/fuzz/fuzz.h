/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the fuzzers share: an assertion that ends the process, so that libFuzzer keeps the input, and what is true of
 * all text that a user may see.
 */
#ifndef KRP_TESTS_FUZZ_H
#define KRP_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By which libFuzzer changes data itself. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

#define ARRAY_LEN(a) (sizeof(a) / sizeof(*(a)))

#define CHECK(condition)                                                                     \
	do {                                                                                 \
		if (!(condition)) {                                                          \
			fprintf(stderr, "%s:%d: this is not true: %s\n", __FILE__, __LINE__, \
				#condition);                                                 \
			abort();                                                             \
		}                                                                            \
	} while (0)

/* A copy, with a NUL behind it if it is text: the address sanitizer sees a byte more that is read. */
static inline char *fuzz_copy(const void *data, size_t size, bool is_text)
{
	char *copy = calloc(1, size + is_text);

	CHECK(copy);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

/* The line of the input that begins at *at, which becomes the beginning of the next one; NULL at the end. */
static inline const char *fuzz_line(const char **at, const char *end, size_t *len)
{
	const char *line = *at, *newline;

	if (line >= end)
		return NULL;
	newline = memchr(line, '\n', end - line);
	*len = (newline ? newline : end) - line;
	*at = line + *len + 1;
	return line;
}

/* The data as a file, which has a byte at least. */
static inline FILE *fuzz_file(const void *data, size_t size)
{
	FILE *f = fmemopen((void *)data, size, "r");

	CHECK(f);
	return f;
}

/* Text of that length is printable, but for its newlines if it has lines: it cannot control a terminal. */
static inline bool fuzz_is_printable(const char *s, size_t len, bool lines)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if ((s[i] < ' ' || s[i] > '~') && !(lines && s[i] == '\n'))
			return false;
	}
	return true;
}

/* Text in a buffer: it ends within the buffer, and is printable. */
#define CHECK_TEXT(s, size)                                           \
	do {                                                          \
		CHECK(memchr(s, '\0', size));                         \
		CHECK(fuzz_is_printable(s, strnlen(s, size), false)); \
	} while (0)

/* What a call writes to the stream f becomes the text, which has no NUL in it. The caller frees it. */
#define WRITTEN(f, text, call)                                  \
	do {                                                    \
		size_t fuzz_size_;                              \
		FILE *f = open_memstream(&(text), &fuzz_size_); \
		CHECK(f);                                       \
		call;                                           \
		CHECK(!fclose(f));                              \
		CHECK(strlen(text) == fuzz_size_);              \
	} while (0)

/* What a call writes to the stream f is printable. */
#define CHECK_PRINTED(f, call)                                                  \
	do {                                                                    \
		char *fuzz_text_ = NULL;                                        \
		WRITTEN(f, fuzz_text_, call);                                   \
		CHECK(fuzz_is_printable(fuzz_text_, strlen(fuzz_text_), true)); \
		free(fuzz_text_);                                               \
	} while (0)

/* An object of json-c is printable; frees it. */
#define CHECK_JSON(o)                                                                          \
	do {                                                                                   \
		const char *json_ = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN); \
		CHECK(json_);                                                                  \
		CHECK(fuzz_is_printable(json_, strlen(json_), false));                         \
		json_object_put(o);                                                            \
	} while (0)

#endif /* KRP_TESTS_FUZZ_H */
