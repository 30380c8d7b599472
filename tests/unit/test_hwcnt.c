// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The counters of devices, read from a folder that looks like sysfs. */
#include <unistd.h>

#include "unit.h"
#include "tools/lib/hwcnt.h"
#include "tree.h"

static struct krp_hwports all;

/* The file of a counter, good until the next call. */
static const char *counter(const char *dev, const char *name)
{
	static char path[192];

	snprintf(path, sizeof(path), "%s/ports/1/hw_counters/%s", dev, name);
	return path;
}

static void put(const char *dev, const char *name, const char *value)
{
	tree_put(counter(dev, name), value);
}

static void take(const char *dev, const char *name)
{
	char path[256];

	/* A descriptor of a deleted sysfs file reads nothing: empty the file, too. */
	put(dev, name, "");
	tree_path(path, sizeof(path), counter(dev, name));
	unlink(path);
}

/* Reads the port's counters at a time in seconds: their differences, with a '!' at those of errors. */
static const char *deltas(struct krp_hwport *p, unsigned int s)
{
	unsigned int i;

	if (s)
		krp_hwcnt_read(&all, s * 1000000000ULL);
	printer();
	for (i = 0; i < p->nr; i++)
		fprintf(unit_out, "%s%s%s %lu", i ? " " : "", p->v[i].name,
			p->v[i].error ? "!" : "", (unsigned long)krp_hwcnt_delta(&p->v[i]));
	return printed();
}

/* What moved around these times, and in which time, in seconds. */
static const char *moved(struct krp_hwport *p, unsigned int begin, unsigned int end)
{
	uint64_t ns;
	json_object *o = krp_hwcnt_moved(p, begin * 1000000000ULL, end * 1000000000ULL, &ns);

	printer();
	if (o)
		fprintf(unit_out, "%s %u",
			json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN),
			(unsigned int)(ns / 1000000000));
	json_object_put(o);
	return printed();
}

TEST(deltas)
{
	struct krp_hwport *p;

	put("rxe0", "sent_pkts", "100\n");
	put("rxe0", "rcvd_seq_err", "5\n");
	put("rxe0", "completer_retry_err", "18446744073709551000\n");
	put("rxe0", "lifespan", "10\n");
	put("rxe0", "odd", "not a number\n");
	p = krp_hwcnt_port(&all, root, "rxe0", 1);
	assert_non_null(p);
	/* Errors first, then by name. */
	assert_string_equal(deltas(p, 1), "completer_retry_err! 0 rcvd_seq_err! 0 sent_pkts 0");
	assert_true(krp_hwcnt_rate(p, &p->v[2]) == 0);
	put("rxe0", "sent_pkts", "350\n");
	put("rxe0", "completer_retry_err", "18446744073709551615\n");
	assert_string_equal(deltas(p, 3), "completer_retry_err! 615 rcvd_seq_err! 0 sent_pkts 250");
	assert_true(krp_hwcnt_rate(p, &p->v[2]) == 125);
	/* A counter that was reset yields no negative difference. */
	put("rxe0", "sent_pkts", "7\n");
	has(deltas(p, 4), "sent_pkts 7");
	/* The same port is opened once. */
	assert_ptr_equal(krp_hwcnt_port(&all, root, "rxe0", 1), p);
	are("100 1", p->v[2].first, all.nr);
	krp_hwcnt_begin(&all);
	assert_false(all.v[0].used);
	krp_hwcnt_port(&all, root, "rxe0", 1);
	assert_true(all.v[0].used);
}

TEST(absent)
{
	/* siw has no counters; a device's name cannot lead out of the folder; a text with a wrong escape is no name. */
	put("rxe0", "sent_pkts", "1\n");
	each_text(name, "siw0", "../x/rxe0", "rxe\\0", "")
		assert_int_equal(krp_hwcnt_port(&all, root, name, 1)->nr, 0);
	assert_int_equal(krp_hwcnt_port(&all, root, "rxe0", 2)->nr, 0);
	krp_hwcnt_read(&all, 1);
}

/* A device that is removed and added again: it is counted from then on. */
TEST(replaced)
{
	struct krp_hwport *p;
	unsigned int i;

	put("rxe0", "sent_pkts", "1000\n");
	p = krp_hwcnt_port(&all, root, "rxe0", 1);
	krp_hwcnt_read(&all, 1000000000);
	take("rxe0", "sent_pkts");
	put("rxe0", "sent_pkts", "3\n");
	assert_string_equal(deltas(p, 2), "sent_pkts 0");
	put("rxe0", "sent_pkts", "5\n");
	krp_hwcnt_read(&all, 3000000000);
	krp_hwcnt_read(&all, 4000000000);
	are("5", p->v[0].now);

	/* The same, if the counters were also read while there was no device. */
	take("rxe0", "sent_pkts");
	for (i = 5; i < 7; i++)
		assert_string_equal(deltas(p, i), "");
	put("rxe0", "sent_pkts", "2\n");
	assert_string_equal(deltas(p, 7), "sent_pkts 0");
	assert_true(krp_hwcnt_rate(p, &p->v[0]) == 0);
	put("rxe0", "sent_pkts", "6\n");
	krp_hwcnt_read(&all, 9000000000);
	assert_true(krp_hwcnt_rate(p, &p->v[0]) == 2);
}

TEST(find)
{
	struct krp_hwport *p;
	char dev[16];
	int i;

	assert_null(krp_hwcnt_find(&all, "rxe0", 1));
	for (i = 0; i < 20; i++) {
		snprintf(dev, sizeof(dev), "rxe%d", i / 2);
		p = krp_hwcnt_port(&all, root, dev, 1 + i % 2);
		assert_ptr_equal(p, &all.v[i]);
	}
	/* Each port is where it was; finding a port does not mark it as used. */
	krp_hwcnt_begin(&all);
	assert_ptr_equal(krp_hwcnt_find(&all, "rxe0", 1), &all.v[0]);
	assert_ptr_equal(krp_hwcnt_find(&all, "rxe9", 2), &all.v[19]);
	assert_true(!krp_hwcnt_find(&all, "rxe9", 3) && !krp_hwcnt_find(&all, "rxe", 1));
	are("0 0 20", all.v[0].used, all.v[19].used, all.nr);
}

TEST(moved)
{
	struct krp_hwport *p;
	char text[8];
	unsigned int i;

	/* A port that does not exist; then a port that has no counter yet. */
	put("mlx9_0", "lifespan", "10\n");
	assert_string_equal(moved(krp_hwcnt_port(&all, root, "mlx9_0", 2), 1, 2), "");
	p = krp_hwcnt_port(&all, root, "mlx9_0", 1);
	krp_hwcnt_read_port(p, 1);
	assert_string_equal(moved(p, 1, 1), "");

	/* Of 18 readings the first two are forgotten. */
	put("mlx9_0", "rnr_nak", "18446744073709551615\n");
	put("mlx9_0", "text", "not a number\n");
	put("mlx9_0", "writes", "0\n");
	krp_hwcnt_read_port(p, 2);
	for (i = 1; i <= 18; i++) {
		snprintf(text, sizeof(text), "%u", 10 * i);
		put("mlx9_0", "writes", text);
		krp_hwcnt_read_port(p, i * 1000000000ULL);
	}
	assert_string_equal(moved(p, 17, 18), "{\"writes\":10} 1");
	assert_string_equal(moved(p, 3, 3), "{} 0");
	assert_string_equal(moved(p, 3, 18), "{\"writes\":150} 15");
	assert_string_equal(moved(p, 2, 18), "");
	assert_string_equal(moved(p, 17, 19), "");

	/* One that went back, and one that was not there. */
	put("mlx9_0", "rnr_nak", "7\n");
	put("mlx9_0", "reads", "7\n");
	krp_hwcnt_read_port(p, 20 * 1000000000ULL);
	assert_string_equal(moved(p, 19, 20), "{} 2");

	/* The device is another one. */
	take("mlx9_0", "writes");
	krp_hwcnt_read_port(p, 21 * 1000000000ULL);
	assert_string_equal(moved(p, 19, 21), "");
}

TEST(names)
{
	each_text(bad, "rcvd_rnr_err", "send_rnr_err", "out_of_seq_request", "retry_exceeded_err",
		  "duplicate_request", "packet_seq_err", "local_ack_timeout_err",
		  "rnr_nak_retry_err", "rx_icrc_encapsulated_err", "np_cnp_sent", "link_downed",
		  "out_of_buffer", "implied_nak_seq_err")
		same_number(bad, krp_hwcnt_is_error(bad), true);
	each_text(fine, "sent_pkts", "rcvd_pkts", "ack_deferred", "rdma_sends", "rdma_recvs",
		  "rx_write_requests", "rx_read_requests", "rx_atomic_requests")
		same_number(fine, krp_hwcnt_is_error(fine), false);
}

TEARDOWN()
{
	krp_hwcnt_free(&all);
	memset(&all, 0, sizeof(all));
	tree_teardown();
}

SETUP()
{
	tree_setup();
}
