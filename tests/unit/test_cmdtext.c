// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The text of a command from the words of a command line. */
#include "unit.h"
#include "tools/krping/cmdtext.h"

#define MAX_WORDS 16

/* Splits at blanks; "''" is an empty word. */
static unsigned int split(char *line, char **words)
{
	unsigned int nr = 0;
	char *w, *save;

	for (w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		words[nr++] = strcmp(w, "''") ? w : (char *)"";
	return nr;
}

static int build(struct krp_cmdtext *cmd, const char *role, const char *line)
{
	char *copy = strdup(line), *words[MAX_WORDS], err[128] = "";
	unsigned int nr = split(copy, words);
	int ret = krp_cmdtext_build(cmd, role, words, nr, err, sizeof(err));

	assert_true(!ret == !*err);
	assert_null(strchr(err, '\n'));
	free(copy);
	return ret;
}

/* test=protect without a case means all of them. */
TEST(list)
{
	static const struct {
		const char *role, *words;
		bool list;
	} t[] = TABLE({ "client", "10.9.0.1 protect", true }, { "client", "10.9.0.1 test=protect", true },
		      { "server", "protect,poll", true }, { "server", "protect persistent", true },
		      { "client", "10.9.0.1 protect case=read", false }, { "server", "case=read,protect", false },
		      { "server", "test=protects", false }, { "server", "name=protect", false },
		      { "server", "", false }, { "client", "10.9.0.1 test=bw", false }, );
	struct krp_cmdtext cmd;

	each(row, t) {
		assert_int_equal(build(&cmd, row->role, row->words), 0);
		assert_int_equal(cmd.list, row->list);
		assert_int_equal(krp_cmdtext_has(&cmd, "port="), 1);
		assert_int_equal(krp_cmdtext_has(&cmd, "port"), 0);
		krp_cmdtext_free(&cmd);
	}
}

TEST(good)
{
	static const struct {
		const char *role, *words, *text, *target;
	} t[] = TABLE(
		{ "client", "10.9.0.1", "client,addr=10.9.0.1,port=9999", "10.9.0.1:9999" },
		{ "client", "10.9.0.1 count=100 size=4096 validate",
		  "client,addr=10.9.0.1,port=9999,count=100,size=4096,validate", "10.9.0.1:9999" },
		{ "client", "10.9.0.1 count=100,validate", "client,addr=10.9.0.1,port=9999,count=100,validate", "10.9.0.1:9999" },
		{ "client", "10.9.0.1:7174 verbose", "client,addr=10.9.0.1,port=7174,verbose", "10.9.0.1:7174" },
		{ "client", "10.9.0.1 port=7174", "client,addr=10.9.0.1,port=7174", "10.9.0.1:7174" },
		{ "client", "10.9.0.1 count=3,port=7174,size=1", "client,addr=10.9.0.1,count=3,port=7174,size=1", "10.9.0.1:7174" },
		/* An option that is given twice is passed on: the module refuses it. */
		{ "client", "10.9.0.1:1 port=2", "client,addr=10.9.0.1,port=1,port=2", "10.9.0.1:1" },
		{ "client", "10.9.0.1 addr=10.9.0.2", "client,addr=10.9.0.1,port=9999,addr=10.9.0.2", "10.9.0.1:9999" },
		{ "client", "addr=10.9.0.1", "client,port=9999,addr=10.9.0.1", "10.9.0.1:9999" },
		{ "client", "validate,addr=10.9.0.1,port=5", "client,validate,addr=10.9.0.1,port=5", "10.9.0.1:5" },
		/* A missing or bad value or an unknown option is passed on: the module refuses. */
		{ "client", "10.9.0.1:0 size= siz=64 count", "client,addr=10.9.0.1,port=0,size=,siz=64,count", "10.9.0.1:0" },
		{ "client", "10.9.0.1:65536", "client,addr=10.9.0.1,port=65536", "10.9.0.1:65536" },
		{ "client", "10.9.0.1 port=", "client,addr=10.9.0.1,port=", "10.9.0.1:" },
		/* "port" and "report=" are not "port=". */
		{ "client", "10.9.0.1 port report=1", "client,addr=10.9.0.1,port=9999,port,report=1", "10.9.0.1:9999" },
		{ "client", "10.9.0.1 '' count=1 '' ,,", "client,addr=10.9.0.1,port=9999,count=1,,,", "10.9.0.1:9999" },
		{ "client", "fd09::1", "client,addr6=fd09::1,port=9999", "[fd09::1]:9999" },
		{ "client", "::1", "client,addr6=::1,port=9999", "[::1]:9999" },
		{ "client", "[fd09::1]", "client,addr6=fd09::1,port=9999", "[fd09::1]:9999" },
		{ "client", "[fd09::1]:7174 size=1", "client,addr6=fd09::1,port=7174,size=1", "[fd09::1]:7174" },
		{ "client", "[::ffff:10.9.0.1]:1", "client,addr6=::ffff:10.9.0.1,port=1", "[::ffff:10.9.0.1]:1" },
		{ "client", "fe80::1%eth0", "client,addr6=fe80::1%eth0,port=9999", "[fe80::1%eth0]:9999" },
		{ "client", "addr6=fd09::1 port=5", "client,addr6=fd09::1,port=5", "[fd09::1]:5" },
		{ "client", "[fe80::1%eth0]:7174 bind=fe80::2%eth0", "client,addr6=fe80::1%eth0,port=7174,bind=fe80::2%eth0",
		  "[fe80::1%eth0]:7174" }, { "server", "::", "server,addr6=::,port=9999", "[::]:9999" },
		{ "server", "[::]:7174 validate", "server,addr6=::,port=7174,validate", "[::]:7174" },
		{ "server", "", "server,port=9999", "*:9999" }, { "server", "validate", "server,port=9999,validate", "*:9999" },
		{ "server", "0.0.0.0:7174", "server,addr=0.0.0.0,port=7174", "0.0.0.0:7174" },
		{ "server", "''", "server,port=9999", "*:9999" }, { "server", "port=5 validate", "server,port=5,validate", "*:5" },
		/* The option "protect" is a test; a client's first word is a name. */
		{ "client", "10.9.0.1 protect", "client,addr=10.9.0.1,port=9999,test=protect", "10.9.0.1:9999" },
		{ "server", "protect", "server,port=9999,test=protect", "*:9999" },
		{ "server", "poll,protect,cpu=1", "server,port=9999,poll,test=protect,cpu=1", "*:9999" },
		{ "server", "name=protect protects", "server,port=9999,name=protect,protects", "*:9999" },
		/* Only the first word can be an address. */
		{ "server", "validate 10.9.0.1", "server,port=9999,validate,10.9.0.1", "*:9999" },
		{ "server", "localhost", "server,port=9999,localhost", "*:9999" },
	);
	struct krp_cmdtext cmd;

	each(row, t) {
		assert_int_equal(build(&cmd, row->role, row->words), 0);
		assert_string_equal(cmd.text, row->text);
		assert_string_equal(cmd.target, row->target);
		assert_string_equal(cmd.role, row->role);
		krp_cmdtext_free(&cmd);
		assert_null(cmd.text);
	}
}

TEST(loopback)
{
	static const struct {
		const char *words;
		bool want;
	} t[] = TABLE({ "127.0.0.1", true }, { "127.8.8.8:1 validate", true }, { "addr=127.0.0.1", true },
		      { "[::1]:7174", true }, { "", false }, { "10.9.0.127", false },
		      { "addr=127.x", false }, { "::", false }, );
	struct krp_cmdtext cmd;

	each(row, t) {
		assert_int_equal(build(&cmd, "server", row->words), 0);
		if (krp_cmdtext_is_loopback(&cmd) != row->want)
			fail_msg("not %d: %s", row->want, row->words);
		krp_cmdtext_free(&cmd);
	}
}

TEST(bad)
{
	struct krp_cmdtext cmd;
	char err[64];

	each_text(bad, "", "count=5", "10.9.0", "10.9.0.1.2", "10.9.0.256",
		  "10.9.0.1:", "10.9.0.1:x", "10.9.0.1:1x", "10.9.0.1:-1", "10.9.0.1:123456789",
		  "10.9.0.1:1:2", "10.9.0.1,count=5", "1", "0x0a090001", ":9999", ".", "[", "[]",
		  "[]:1", "[::1", "[::1]x", "[::1]:", "[::1]:x", "[10.9.0.1]:1", "[::1]]:1",
		  "::1::2", "fd09::1::2", "fd09:1", "fe80::1%", "[localhost]:9999",
		  "localhost:", "localhost:x",
		  "1111111111111111111111111111111111111111111111111111111111111111111111111111111111",
		  "::11111111111111111111111111111111111111111111111111111111111111111111111111111111") {
		if (!build(&cmd, "client", bad))
			fail_msg("taken for good: %s -> %s", bad, cmd.text);
		krp_cmdtext_free(&cmd);
	}
	/* Characters that would make one word two options, or two commands. */
	each_text(odd, "10.9.0.1 ", " 10.9.0.1", "10.9.0.1\n", "10.9.0.1\tx", "1\n0.9.0.1",
		  "[::1]:1\n", "::1 ") {
		assert_int_equal(krp_cmdtext_build(&cmd, "client", (char **)&odd, 1, err,
						   sizeof(err)),
				 -1);
		krp_cmdtext_free(&cmd);
	}
}

TEST(long)
{
	char word[5000], *words[2] = { "10.9.0.1", word };
	struct krp_cmdtext cmd;
	char err[16];

	/* A long word is passed on whole: the module refuses it. */
	memset(word, 'x', sizeof(word));
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(krp_cmdtext_build(&cmd, "client", words, 2, err, sizeof(err)), 0);
	assert_int_equal(strlen(cmd.text),
			 strlen("client,addr=10.9.0.1,port=9999,") + sizeof(word) - 1);
	krp_cmdtext_free(&cmd);
}
