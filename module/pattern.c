// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The text of a ping is its head, "rdma-ping-N: ", then letters, of which the first changes
 * from ping to ping, then a NUL. In a ping too short for its head, the head is cut.
 *
 * The peer may write to the memory that is compared for as long as a key of the memory is
 * valid, for the sink of a client until the next ping. So each byte is copied once, and only
 * the copy is judged.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include "pattern.h"

/* Bytes that are copied at once, on the stack. */
#define COPY 256

/* A ping begins with any of the first 58 letters; a chunk from there on repeats itself. */
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz"
#define SPAN	(sizeof(LETTERS) - 1)
#define CHUNK	(19 * SPAN)

/* clang-format off */
static const char letters[] =
	LETTERS LETTERS LETTERS LETTERS LETTERS LETTERS LETTERS
	LETTERS LETTERS LETTERS LETTERS LETTERS LETTERS LETTERS
	LETTERS LETTERS LETTERS LETTERS LETTERS LETTERS;
/* clang-format on */

static_assert(SPAN == 'z' - 'A' + 1);
static_assert(sizeof(letters) > CHUNK + SPAN);

/* Returns the length of the head, without the NUL that ends it. */
static size_t pattern_head(char *head, size_t size, __u64 iter)
{
	static const char name[] = "rdma-ping-";
	int number = (int)iter;
	__u32 left = abs(number);
	char digits[12];
	size_t n = sizeof(name) - 1, at = sizeof(digits), len;
	char text[sizeof(name) + sizeof(digits) + 2];

	/* Each ping comes here: scnprintf() would read its format each time. */
	do {
		digits[--at] = '0' + left % 10;
		left /= 10;
	} while (left);
	if (number < 0)
		digits[--at] = '-';
	len = sizeof(digits) - at;
	memcpy(text, name, n);
	memcpy(text + n, digits + at, len);
	n += len;
	text[n++] = ':';
	text[n++] = ' ';
	n = min(n, size - 1);
	memcpy(head, text, n);
	head[n] = '\0';
	return n;
}

/* The letters of a ping, CHUNK of them. */
static const char *pattern_chunk(__u64 iter)
{
	__u32 n;

	div_u64_rem(iter, SPAN, &n);
	return letters + n;
}

/* Write the text of a ping, of @size bytes, at least 1. */
void krping_pattern_fill(void *buf, size_t size, __u64 iter)
{
	const char *chunk = pattern_chunk(iter);
	char *text = buf;
	size_t i;

	for (i = pattern_head(text, size, iter); i < size; i += CHUNK)
		memcpy(text + i, chunk, min(size - i, CHUNK));
	text[size - 1] = '\0';
}

/* Compare memory that the peer may be writing with memory to which nobody writes. */
struct krping_diff krping_pattern_compare(const void *buf, const void *want, size_t size)
{
	const unsigned char *now = buf, *right = want;
	struct krping_diff diff = { .at = -1 };
	unsigned char copy[COPY];
	size_t i, k, n;

	for (i = 0; i < size; i += n) {
		n = min(size - i, sizeof(copy));
		memcpy(copy, now + i, n);
		/* The compiler must not read the memory again in place of the copy. */
		barrier();
		if (likely(!memcmp(copy, right + i, n)))
			continue;
		for (k = 0; k < n - 1 && copy[k] == right[i + k]; k++)
			;
		diff.at = i + k;
		diff.changed = READ_ONCE(now[i + k]) != copy[k];
		break;
	}
	return diff;
}

/* Compare memory that the peer may be writing with the text of a ping. */
struct krping_diff krping_pattern_check(const void *buf, size_t size, __u64 iter)
{
	const char *chunk = pattern_chunk(iter);
	struct krping_diff diff;
	char head[32];
	size_t i, n = pattern_head(head, min(sizeof(head), size), iter);

	diff = krping_pattern_compare(buf, head, n);
	for (i = n; i < size && diff.at < 0; i += n) {
		bool last = i == size - 1;

		n = last ? 1 : min(size - 1 - i, CHUNK);
		diff = krping_pattern_compare(buf + i, last ? "" : chunk, n);
		if (diff.at >= 0)
			diff.at += i;
	}
	return diff;
}
