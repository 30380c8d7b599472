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

/* The functions that libFuzzer calls, and one of its own. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

#define CHECK(condition)                                                                     \
	do {                                                                                 \
		if (!(condition)) {                                                          \
			fprintf(stderr, "%s:%d: this is not true: %s\n", __FILE__, __LINE__, \
				#condition);                                                 \
			abort();                                                             \
		}                                                                            \
	} while (0)

/* Memory that ends where the data end: the address sanitizer sees a byte more that is read. */
static inline char *fuzz_dup(const void *data, size_t size)
{
	char *copy = malloc(size ? size : 1);

	CHECK(copy);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

/* The same with a NUL behind the data, as getline() has it. */
static inline char *fuzz_text(const void *data, size_t size)
{
	char *copy = malloc(size + 1);

	CHECK(copy);
	if (size)
		memcpy(copy, data, size);
	copy[size] = '\0';
	return copy;
}

static inline bool fuzz_is_printable(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (s[i] < ' ' || s[i] > '~')
			return false;
	}
	return true;
}

/* Text in a buffer: it ends within the buffer, and cannot control a terminal. */
#define CHECK_TEXT(s, size)                                    \
	do {                                                   \
		CHECK(memchr(s, '\0', size));                  \
		CHECK(fuzz_is_printable(s, strnlen(s, size))); \
	} while (0)

/* What was written to a stream of open_memstream() is printable, but for its newlines. Closes it, and frees the text. */
#define CHECK_OUTPUT(f, text, size)                                                               \
	do {                                                                                      \
		size_t fuzz_i_;                                                                   \
		CHECK(!fclose(f));                                                                \
		for (fuzz_i_ = 0; fuzz_i_ < (size); fuzz_i_++)                                    \
			CHECK((text)[fuzz_i_] == '\n' || fuzz_is_printable((text) + fuzz_i_, 1)); \
		free(text);                                                                       \
	} while (0)

/* What a call writes to the stream f is printable. */
#define CHECK_PRINTED(f, call)                                      \
	do {                                                        \
		char *fuzz_text_ = NULL;                            \
		size_t fuzz_size_;                                  \
		FILE *f = open_memstream(&fuzz_text_, &fuzz_size_); \
		CHECK(f);                                           \
		call;                                               \
		CHECK_OUTPUT(f, fuzz_text_, fuzz_size_);            \
	} while (0)

#endif /* KRP_TESTS_FUZZ_H */
