// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The line of older versions, and which commands have it. */
#include "unit.h"
#include "tools/krping/classic.h"

static bool fits(const char *text)
{
	return krp_classic_fits(&(struct krp_cmdtext){ .role = *text == 'c' ? "client" : "server",
						       .text = (char *)text });
}

TEST(fits)
{
	/* A server takes the client's test. Values are no tests. */
	each_text(good, "client,addr=10.9.0.1,port=9999,wlat",
		  "client,rlat,addr=10.9.0.1,port=9999,count=5",
		  "client,addr=10.9.0.1,port=9999,test=bw,duplex", "server,port=9999",
		  "server,port=9999,test=wlat", "server,port=9999,name=fast")
		same_number(good, fits(good), true);
	/* The first one is rping. */
	each_text(bad, "client,addr=10.9.0.1,port=9999", "client,addr=10.9.0.1,port=9999,name=wlat",
		  "client,addr=10.9.0.1,port=9999,test=rping",
		  "client,addr=10.9.0.1,port=9999,test=bwx", "client,addr=10.9.0.1,port=9999,fast",
		  "server,port=9999,fr", "server,test=fast,port=9999")
		same_number(bad, fits(bad), false);
}

TEST(line)
{
	struct krp_run_info r = { .test = "wlat", .iters = 100000, .moves = 2, .size = 65536 };
	char buf[160];

	/* Rounded down, as ever. */
	r.lat_sum_ns = 12000345999;
	assert_true(krp_classic_line(buf, sizeof(buf), &r));
	assert_string_equal(buf,
			    "krping: delta sec 12 delta usec 345 iter 100000 size 65536 test wlat");
	strcpy(r.test, "bw");
	r.moves = 4;
	r.lat_sum_ns = 999999999;
	assert_true(krp_classic_line(buf, sizeof(buf), &r));
	assert_string_equal(buf,
			    "krping: delta sec 0 delta usec 999999 iter 400000 size 65536 test bw");
	/* The server of rlat. */
	strcpy(r.test, "rlat");
	r.iters = r.lat_sum_ns = 0;
	assert_false(krp_classic_line(buf, sizeof(buf), &r));
	has(buf, "measured nothing");
	strcpy(r.test, "fast");
	r.iters = 5;
	assert_false(krp_classic_line(buf, sizeof(buf), &r));
	has(buf, "test=fast");
}
