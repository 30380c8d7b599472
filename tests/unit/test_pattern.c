// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The comparison of a ping's data with memory that the peer may still write to: it finds the first byte that differs, tells
 * data that change from data that differ, and stays inside the memory whatever the peer writes, and when. The peer is a hook
 * behind each copy and each comparison. A page without access follows the memory, so one byte too far ends the test.
 */
#include <sys/mman.h>

#include "unit.h"
#include "module/pattern.h"

#define MAX  (2U << 20)
#define PAGE 4096U

/* The sizes around what is copied at once, a chunk of letters, and a page. */
static const size_t sizes[] = { 1,   2,	  3,   11,   12,   13,	 14,   24,   25,   63, 64,
				255, 256, 257, 1101, 1102, 1103, 1114, 1115, 4096, MAX };

static unsigned char want[MAX];
static unsigned char *memory,
	*wrong;		   /* what the peer writes to, and the byte that it makes right or wrong */
static unsigned int after; /* so many copies and comparisons; 0: never */

static void peer(void)
{
	if (after && !--after)
		*wrong ^= 1;
}

void *krp_test_memcpy(void *to, const void *from, size_t size)
{
	memmove(to, from, size);
	peer();
	return to;
}

int krp_test_memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *p = a, *q = b;
	int ret = 0;

	for (; size && !ret; size--)
		ret = *p++ - *q++;
	peer();
	return ret;
}

static unsigned char *guarded(size_t size)
{
	unsigned char *p =
		mmap(NULL, MAX + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p + MAX, PAGE, PROT_NONE), 0);
	return p + MAX - size;
}

static void unguard(unsigned char *p, size_t size)
{
	munmap(p + size - MAX, MAX + PAGE);
}

/* A comparison of either kind; sets the memory to what is right before it. */
static struct krping_diff look(int with_text, size_t size, size_t at, int is_wrong,
			       unsigned int when)
{
	after = 0;
	krping_pattern_fill(want, size, 7);
	memmove(memory, want, size);
	wrong = memory + at;
	*wrong ^= is_wrong;
	after = when;
	return with_text ? krping_pattern_check(memory, size, 7) :
			   krping_pattern_compare(memory, want, size);
}

TEST(text)
{
	char text[80];

	krping_pattern_fill(text, sizeof(text), 0);
	assert_string_equal(
		text,
		"rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyzABCDEFGH");
	krping_pattern_fill(text, 40, 58 + 2);
	assert_string_equal(text, "rdma-ping-60: CDEFGHIJKLMNOPQRSTUVWXYZ[");
	krping_pattern_fill(text, 5, 1);
	assert_string_equal(text, "rdma");
	krping_pattern_fill(text, 1, 1);
	assert_string_equal(text, "");
}

TEST(each_byte)
{
	struct krping_diff diff;
	size_t at, step;
	int with_text;

	each(row, sizes) {
		memory = guarded(*row);
		step = *row > PAGE ? 65537 : 1;
		for (with_text = 0; with_text < 2; with_text++) {
			assert_int_equal(look(with_text, *row, 0, 0, 0).at, -1);
			for (at = *row - 1;; at -= step) {
				diff = look(with_text, *row, at, 1, 0);
				assert_int_equal(diff.at, at);
				assert_false(diff.changed);
				if (at < step)
					break;
			}
		}
		unguard(memory, *row);
	}
}

/* The peer makes a wrong byte right, or a right one wrong, behind each of the steps that a comparison has. */
TEST(changes)
{
	unsigned int when, found = 0, changed = 0;
	struct krping_diff diff;
	int with_text, is_wrong;
	size_t at;

	each(row, sizes) {
		memory = guarded(*row);
		for (with_text = 0; with_text < 2; with_text++)
			for (is_wrong = 0; is_wrong < 2; is_wrong++)
				for (when = 1; when < 12; when++)
					for (at = 0; at < *row;
					     at += at == *row - 1 ? 1 : *row - 1) {
						diff = look(with_text, *row, at, is_wrong, when);
						/* No other byte is ever wrong. */
						if (diff.at < 0)
							continue;
						assert_int_equal(diff.at, at);
						found++;
						changed += diff.changed;
					}
		unguard(memory, *row);
	}
	assert_true(found > 100);
	assert_true(changed > 20 && changed < found);
}

/* A wrong byte becomes right at once behind the comparison: that is told, with the byte. */
TEST(changed)
{
	struct krping_diff diff;

	memory = guarded(256);
	diff = look(0, 256, 255, 1, 2);
	are("255 1", diff.at, diff.changed);
	diff = look(0, 256, 255, 1, 3);
	are("255 0", diff.at, diff.changed);
	unguard(memory, 256);
}
