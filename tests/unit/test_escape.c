// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Foreign names of any bytes become printable ASCII, and different names stay different. */
#include "unit.h"
#include "tools/lib/escape.h"

static bool is_plain(const char *s)
{
	for (; *s; s++) {
		if (*s < 0x20 || *s > 0x7e)
			return false;
	}
	return true;
}

TEST(bytes)
{
	char name[4], buf[KRP_ESCAPED(sizeof(name))], again[sizeof(buf)], back[sizeof(name)];
	char seen[256][sizeof(buf)];
	int c, d;

	for (c = 0; c < 256; c++) {
		snprintf(name, sizeof(name), "a%cz", c);
		assert_ptr_equal(krp_escape(buf, sizeof(buf), name, sizeof(name)), buf);
		assert_true(is_plain(buf));
		assert_true(krp_is_clean(buf));
		assert_int_equal(krp_is_clean(name), is_plain(name));
		strcpy(seen[c], buf);
		for (d = 0; d < c; d++)
			assert_string_not_equal(seen[c], seen[d]);
		/* An escaped text is clean: cleaning it changes nothing. */
		assert_string_equal(krp_clean(again, sizeof(again), buf), buf);
		assert_true(krp_unescape(back, sizeof(back), buf));
		assert_string_equal(back, name);
	}
	say("a\\x1bz|a\\x9bz|a\\\\z", seen[0x1b], seen[0x9b], seen['\\']);
	assert_string_equal(seen['"'], "a\"z");
}

TEST(room)
{
	char buf[16];

	memset(buf, 'X', sizeof(buf));
	/* An escape sequence is never cut. */
	assert_string_equal(krp_escape(buf, 5, "ab\x01", 3), "ab");
	assert_string_equal(krp_escape(buf, 6, "ab\x01", 3), "ab");
	assert_string_equal(krp_escape(buf, 7, "ab\x01", 3), "ab\\x01");
	assert_string_equal(krp_escape(buf, 4, "ab\\", 3), "ab");
	assert_string_equal(krp_escape(buf, 5, "ab\\", 3), "ab\\\\");
	assert_string_equal(krp_escape(buf, 3, "abc", 3), "ab");
	assert_string_equal(krp_escape(buf, 1, "abc", 3), "");
	/* No byte behind max is looked at. */
	assert_string_equal(krp_escape(buf, sizeof(buf), "abc", 2), "ab");
	buf[0] = 'X';
	krp_escape(buf, 0, "abc", 3);
	assert_int_equal(buf[0], 'X');
	assert_true(krp_unescape(buf, 3, "\\x01b"));
	assert_false(krp_unescape(buf, 2, "\\x01b"));
	assert_false(krp_unescape(buf, 0, ""));
}

TEST(foreign)
{
	char buf[32];

	each_text(bad, "\\", "\\x", "\\x1", "\\x1g", "\\x1B", "\\x41", "\\x00", "a\\n", "ab\\")
		assert_false(krp_unescape(buf, sizeof(buf), bad));
	/* A foreign text may have a lone backslash. */
	assert_string_equal(krp_clean(buf, sizeof(buf), "a\\n\n\xc3\xa9"), "a\\n\\x0a\\xc3\\xa9");
}

TEST(dup)
{
	char name[256], *s;
	char back[sizeof(name)];
	int c;

	for (c = 1; c < 256; c++)
		name[c - 1] = c;
	name[255] = '\0';
	s = krp_escape_dup(name);
	assert_true(is_plain(s));
	assert_true(krp_unescape(back, sizeof(back), s));
	assert_string_equal(back, name);
	free(s);
	s = krp_clean_dup(name);
	assert_true(is_plain(s));
	assert_int_equal(strlen(s), 255 + 3 * (255 - 95));
	free(s);
	s = krp_escape_dup("");
	assert_string_equal(s, "");
	free(s);
}
