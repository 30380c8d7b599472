// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How inputs that are text are changed, beside what libFuzzer does by itself:
 * it knows bytes, and these have lines, lists and numbers.
 */
#include <ctype.h>
#include <json-c/linkhash.h>

#include "fuzz.h"

/* Numbers at which something may end. */
/* clang-format off */
static const char *const odd[] = {
	"0", "1", "7", "8", "31", "32", "33", "-1", "255", "256", "65535", "65536",
	"131072", "131073", "2097152", "2097153", "2147483647", "2147483648", "-2147483648",
	"4294967295", "4294967296", "9223372036854775807", "18446744073709551615", "18446744073709551616",
};
/* clang-format on */

static unsigned int next_random(unsigned int *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Replaces len bytes at a place by others; leaves them if those do not fit. Returns the new size. */
static size_t splice(char *data, size_t size, size_t max, size_t at, size_t len, const char *with,
		     size_t with_len)
{
	if (size - len + with_len > max)
		return size;
	memmove(data + at + with_len, data + at + len, size - at - len);
	memcpy(data + at, with, with_len);
	return size - len + with_len;
}

/* Chooses a line, with its newline. */
static size_t any_line(const char *data, size_t size, unsigned int *state, size_t *len)
{
	size_t at = size ? next_random(state) % size : 0;
	const char *newline;

	while (at && data[at - 1] != '\n')
		at--;
	newline = memchr(data + at, '\n', size - at);
	*len = newline ? (size_t)(newline + 1 - data) - at : size - at;
	return at;
}

/* Replaces a number of a line. */
static size_t odd_number(char *data, size_t size, size_t max, size_t at, size_t len,
			 unsigned int *state)
{
	const char *with = odd[next_random(state) % ARRAY_LEN(odd)];
	size_t from = at + next_random(state) % (len ? len : 1), digits = 0;

	while (from < at + len && !isdigit((unsigned char)data[from]))
		from++;
	while (from > at && from < at + len && isdigit((unsigned char)data[from - 1]))
		from--;
	while (from + digits < at + len && isdigit((unsigned char)data[from + digits]))
		digits++;
	return digits ? splice(data, size, max, from, digits, with, strlen(with)) : size;
}

/* Makes a list longer by one of its items, several times. */
static size_t again(char *data, size_t size, size_t max, size_t at, size_t len, unsigned int *state)
{
	static const char separators[] = ",|+:. ";
	size_t from = at + next_random(state) % (len ? len : 1), item = 1;
	unsigned int times = 1 + next_random(state) % 40;
	char copy[64];

	while (from < at + len && !memchr(separators, data[from], sizeof(separators) - 1))
		from++;
	while (from + item < at + len && item < sizeof(copy) &&
	       !memchr(separators, data[from + item], sizeof(separators) - 1))
		item++;
	if (from + item > at + len)
		return size;
	memcpy(copy, data + from, item);
	while (times--)
		size = splice(data, size, max, from, 0, copy, item);
	return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max, unsigned int seed)
{
	unsigned int state = seed;
	char *data = (char *)bytes, *line;
	size_t len, at = any_line(data, size, &state, &len), to, to_len;

	line = malloc(2 * len + 64);
	if (!line)
		return size;
	memcpy(line, data + at, len);
	switch (next_random(&state) % 9) {
	case 0: /* lost */
		size = splice(data, size, max, at, len, "", 0);
		break;
	case 1: /* there again, later or earlier */
		to = any_line(data, size, &state, &to_len);
		size = splice(data, size, max, to, 0, line, len);
		break;
	case 2: /* moved */
		size = splice(data, size, max, at, len, "", 0);
		to = any_line(data, size, &state, &to_len);
		size = splice(data, size, max, to, 0, line, len);
		break;
	case 3:
	case 4:
		size = odd_number(data, size, max, at, len, &state);
		break;
	case 5:
		size = again(data, size, max, at, len, &state);
		break;
	case 6:
	case 7: /* changed in whatever way */
		to_len = LLVMFuzzerMutate((uint8_t *)line, len, 2 * len + 64);
		size = splice(data, size, max, at, len, line, to_len);
		break;
	default:
		size = LLVMFuzzerMutate(bytes, size, max);
	}
	free(line);
	return size;
}

/* By itself json-c hashes in another way each time, and libFuzzer makes inputs of what is compared. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE);
}
