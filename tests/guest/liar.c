// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A peer that lies: one end of a krping connection in user space, on librdmacm. It
 * keeps to the protocol for some iterations and then breaks it in one point.
 *
 *	liar client|server ADDRESS PORT [NAME=VALUE]...
 *
 * The values, and what they are unless they are given, are VALUES below; a deviation of liar_rows.sh is a list of them. Numbers have
 * the format of strtoull(); with + or - in front they are added to size=. The lie is told behind pings= honest iterations.
 *
 * Prints in one line how the connection ended. Exit status 0 if it got as far as telling the lie, else 1.
 *
 * krping-link: -lrdmacm -libverbs -pthread
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>

#include "priv.h"

#define RECVS	  8
#define MSG_BYTES 64   /* room for each message that comes */
#define BIG_BYTES 8192 /* and for one that goes */
#define SENDS	  64
#define BUF_BYTES (2 * 1024 * 1024 + 65536)
#define PATIENCE  30 /* seconds, for a peer that hangs; times KRPING_SLOW */
#define UNSET	  UINT64_MAX

#define F_SERVER_INV 1
#define F_DUPLEX     2
/* As in enum krping_test_id. */
#define TEST_FR	     1
#define TEST_WLAT    2
#define TEST_RLAT    3
#define TEST_BW	     4
#define TEST_PROTECT 6
#define TEST_FAST    5
#define TEST_BLOCK   7
#define OP_READ	     1 /* of a disk */
#define OP_WRITE     2
#define PROTECT_LEN  5120
#define PROTECT_CASE 0x70726f00U /* of the first case */
#define PROTECT_SEEN 0x73656500U
#define PROTECT_NOTE 0x6e6f7400U
#define ASKS	     0x80000000U /* in the length of an advertisement */

struct msg {
	uint64_t addr;
	uint32_t key, len;
} __attribute__((packed));

/* A request of a disk, and its answer: see module/block.h. */
struct capsule {
	uint64_t at, addr;
	uint32_t key, len;
	uint16_t tag;
	uint8_t op, inv;
	uint32_t spare;
} __attribute__((packed));

struct answer {
	uint64_t host_ns;
	uint32_t len;
	uint16_t tag;
	uint8_t op, spare;
} __attribute__((packed));

/* clang-format off */
#define VALUES(V)														\
	/*															\
	 * The private data. The number of the test (enum krping_test_id), 0: rping. 1 to 5, fr, wlat, rlat, bw and fast,	\
	 * make the liar speak their protocol, and so does 4 with flags=2, bw with duplex; of 6, protect, both	\
	 * make no access; of 7, block, a client writes a disk, and a server has one.						\
	 */															\
	V(test, 0) V(size, 64) V(count, 5) V(warmup, 0) V(flags, 0)								\
	V(version, PRIV_VERSION) V(type, 0) V(magic, PRIV_MAGIC)								\
	V(says, UNSET)			/* another test than the one that is spoken */						\
	V(priv, sizeof(struct priv))	/* its length; 0: no private data, as from a classic peer */				\
	V(can, 0)			/* what this end can do: 1 tells whose time a ping is */				\
	V(ird, 1) V(ord, 1)		/* READs that it answers at a time, and that it makes */				\
	V(queue, 0) V(queues, 1)	/* client: which of its run's connections this is. bw: the others are made, too, and	\
					 * never left */									\
	V(rest, 1)			/* RECVs of each of these others */							\
	V(echo, 0)			/* server: the number of the run and the nonce are the client's own */			\
	V(reject, 0)			/* server: rejects the client, with this private data, of type=1 */			\
	V(why, 0) V(word, 0)		/* its reason and its option: see words[] below */					\
	V(accept, 1)			/* 0: server: does not answer the client at all, and does what by= says */		\
	/*															\
	 * The lie. The bytes that a client advertises; source= also a server in the other tests, and the bytes of a "done" at	\
	 * at=2. at: 0 with the source or its go-ahead, 1 with the sink; in the other tests 0 with the first message, 1 with a	\
	 * READ or WRITE, 2 with "done".											\
	 */															\
	V(pings, 1) V(source, UNSET) V(sink, UNSET) V(at, 0)									\
	V(bytes, UNSET)			/* length of the message */								\
	V(times, 1)			/* so many of them at once; 0: none, and silence */					\
	V(key, 0)			/* 1: a dead key: a client advertises it, a server uses it; 2: that of the memory that	\
					 * was advertised before; 3: the one that comes next, as fast registration counts */	\
	V(off, 0) V(addr, UNSET)	/* is added to the address, or used instead of it */					\
	V(more, 0)			/* READs or WRITEs so many bytes more than were advertised */				\
	V(skew, 0)			/* client: bytes by which its buffers are off a page's beginning */			\
	V(move, 0)			/* 1: WRITEs where it should READ, READs where it should WRITE; 2: neither of them */	\
	V(inv, UNSET)			/* what it invalidates: see inv_key() */						\
	V(imm, 0)			/* instead of the message a WRITE with immediate data, to memory that the peer has	\
					 * advertised: it completes a RECV, too */						\
	V(early, 0)			/* server: sends both go-aheads at once, without a READ or WRITE, and leaves in the	\
					 * next ping */										\
	V(answer, 0)			/* server: says in each go-ahead for how long it had the ping */			\
	V(data, UNSET) V(wrong, 1)	/* server: WRITEs so many wrong bytes from there on; client: its source has them */	\
	V(late, 0) V(wait, 0)		/* behind the lie, which is then the go-ahead, the WRITE of a benchmark, or "done":	\
					 * moves so many times more, and waits for so many us before each; ping/pong: only the	\
					 * wrong bytes, which become right, wrong, right ...; wlat: its number does. The liar	\
					 * is honest after that, until the peer leaves */					\
	V(flip, 0)			/* client: the wrong bytes of its source become right, wrong ... all the time */	\
	V(number, 1) V(burst, 0)	/* wlat: WRITEs this number first; or the numbers 1 to burst=, and waits for none */	\
	V(leave, 0)			/* 1 to 5: leaves before the first message, behind the first advertisement, inside the	\
					 * iteration, at its end, behind "done" */						\
	V(by, 0)			/* by a disconnect; 1: by its death; 2: by silence; 3: by silence of its device, too:	\
					 * its queue pair goes to the error state */						\
	V(recvs, RECVS)			/* so many RECVs; less: they are not posted again */					\
	V(rnr, 7)			/* how often our end sends again to one that has no RECV; 7: without end */		\
	V(hold, 0)			/* client: reads a byte from this file descriptor before the lie */			\
	V(ready, 0)			/* server: prints "listening" first */							\
	V(idlers, 0)			/* client: so many connections, which say nothing until the process is killed */	\
	V(which, 0)			/* protect: the case */									\
	V(second, 1)			/* client of protect: which of its run's connections the second one is */		\
	/*															\
	 * block: at=0 the lie is in a request or its answer, at=1 in the first message; key=1 and inv=1 are in the request,	\
	 * and addr= is how large a server's disk is. early=1: a server answers before there is a request.			\
	 */															\
	V(depth, 4)			/* requests at a time that a client asks for, and a server grants */			\
	V(tag, UNSET) V(op, UNSET) V(len, UNSET) V(pos, 0)
#define MEMBER(name, is) uint64_t name;
#define INITIAL(name, is) .name = is,
#define OPTION(name, is) { #name, &lie.name },
static struct { VALUES(MEMBER) } lie = { VALUES(INITIAL) };
static const struct { const char *name; uint64_t *value; } options[] = { VALUES(OPTION) };
/* clang-format on */

/* What a REJECT can name as the option that differs; word= counts from 0. */
static const char words[][16] = {
	"",
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	"\" \\\n\033[2J\a\r,=",
	"%s%n%p%x%s%n%p%x",
	"size",
	"server_inv",
	"accept",
};

/* A connection and its resources. */
static struct conn {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *msgs_mr, *source_mr, *sink_mr;
	char *msgs, *source, *sink;
	uint32_t dead_key, key_before;
	uint32_t flags; /* agreed */
	struct priv hello;
	struct msg adv; /* what the peer advertised last */
	struct capsule request;
	unsigned int recvs, seen, read;
	unsigned int sends, sent;
	bool failed, gone;
} first; /* of inv=3 */

/* The honest pings are over. */
static bool lying = true;

static _Noreturn void refuse(const char *what, int err)
{
	printf("liar: %s: %s\n", what, strerror(err));
	exit(1);
}

static _Noreturn void die(const char *what)
{
	refuse(what, errno);
}

static unsigned int patience(void)
{
	const char *slow = getenv("KRPING_SLOW");

	return PATIENCE * (slow ? atoi(slow) : 1);
}

static void *must(void *p, const char *what)
{
	if (!p)
		die(what);
	return p;
}

static void must0(int ret, const char *what)
{
	if (ret)
		refuse(what, ret > 0 ? ret : errno);
}

static void post_recv(struct conn *c, unsigned int i)
{
	struct ibv_sge sge = { (uintptr_t)c->msgs + i % RECVS * MSG_BYTES, MSG_BYTES,
			       c->msgs_mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

	/* The post is refused once the peer is gone, which the next wait reports. */
	(void)ibv_post_recv(c->id->qp, &wr, &bad);
}

static struct ibv_mr *reg(struct conn *c, void *p, size_t len, int access)
{
	return must(ibv_reg_mr(c->pd, p, len, access), "ibv_reg_mr");
}

static char *buffer(char c)
{
	char *p = must(aligned_alloc(4096, BUF_BYTES + 4096), "aligned_alloc");

	memset(p, c, BUF_BYTES + 4096);
	return p + lie.skew % 4096;
}

/* Bytes to register: the largest advertisement that fits, so that one byte more is past the end. */
static size_t region(uint64_t advertised)
{
	uint64_t size = advertised > lie.size && advertised != UNSET ? advertised : lie.size;

	if (size > BUF_BYTES)
		size = lie.size > BUF_BYTES ? BUF_BYTES : lie.size;
	return (size ?: 1) + lie.more;
}

/* Queues, RECVs and regions, before the connection is made. */
static void make(struct conn *c)
{
	struct ibv_qp_init_attr attr = {
		.cap = { SENDS, RECVS, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	size_t source = region(lie.source), sink = region(lie.sink);
	struct ibv_mr *dead;

	c->pd = must(ibv_alloc_pd(c->id->verbs), "ibv_alloc_pd");
	c->cq = must(ibv_create_cq(c->id->verbs, SENDS + RECVS, NULL, NULL, 0), "ibv_create_cq");
	attr.send_cq = c->cq;
	attr.recv_cq = c->cq;
	must0(rdma_create_qp(c->id, c->pd, &attr), "rdma_create_qp");

	c->msgs = must(calloc(1, RECVS * MSG_BYTES + BIG_BYTES), "calloc");
	c->source = buffer('x');
	c->sink = buffer('#');
	c->msgs_mr = reg(c, c->msgs, RECVS * MSG_BYTES + BIG_BYTES, IBV_ACCESS_LOCAL_WRITE);
	/* A server's READs write into its source. */
	c->source_mr =
		reg(c, c->source, source,
		    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	c->sink_mr = reg(c, c->sink, sink, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	dead = reg(c, c->source, region(0), IBV_ACCESS_REMOTE_READ);
	c->dead_key = dead->rkey;
	must0(ibv_dereg_mr(dead), "ibv_dereg_mr");
	for (; c->recvs < lie.recvs; c->recvs++)
		post_recv(c, c->recvs);
}

static void fill(struct conn *c, struct rdma_conn_param *param, struct priv *priv)
{
	memset(param, 0, sizeof(*param));
	memset(priv, 0, sizeof(*priv));
	priv->magic = htobe32(lie.magic);
	priv->version = lie.version;
	priv->type = lie.type;
	priv->test = lie.says != UNSET ? lie.says : lie.test;
	priv->flags = htobe32(lie.flags);
	priv->can = lie.can;
	priv->size = htobe32(lie.size);
	priv->count = htobe32(lie.count);
	priv->warmup = htobe32(lie.warmup);
	priv->case_nr = lie.which;
	priv->run = lie.echo ? c->hello.run : htobe32(1);
	priv->nonce = lie.echo ? c->hello.nonce : 0;
	if (lie.type) {
		priv->why = htobe16(lie.why);
		memcpy(priv->option, words[lie.word], sizeof(priv->option));
	} else {
		priv->queue = htobe16(lie.queue);
		priv->queues = htobe16(lie.queues);
		priv->depth = htobe16(lie.depth);
	}
	param->private_data = priv;
	param->private_data_len = lie.priv;
	param->responder_resources = lie.ird;
	param->initiator_depth = lie.ord;
	param->retry_count = 7;
	param->rnr_retry_count = lie.rnr;
	c->flags = lie.priv ? lie.flags : 0;
}

static void heard(struct conn *c, const struct rdma_cm_event *event)
{
	enum rdma_cm_event_type e = event->event;

	/* A peer that does not know yet that it is connected leaves with a reject. */
	c->gone |= e == RDMA_CM_EVENT_DISCONNECTED || e == RDMA_CM_EVENT_REJECTED ||
		   e == RDMA_CM_EVENT_CONNECT_ERROR || e == RDMA_CM_EVENT_UNREACHABLE;
}

/* Takes the events that rdma_cm has, without waiting for more. */
static void look(struct conn *c)
{
	struct pollfd fd = { .fd = c->id->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	while (poll(&fd, 1, 0) > 0 && !rdma_get_cm_event(c->id->channel, &event)) {
		heard(c, event);
		rdma_ack_cm_event(event);
	}
}

/* Reads the oldest message that is still unread, and posts its RECV again unless recvs= says not to. */
static void read_msg(struct conn *c, struct msg *msg)
{
	memcpy(&c->request, c->msgs + c->read % RECVS * MSG_BYTES, sizeof(c->request));
	memcpy(msg, c->msgs + c->read++ % RECVS * MSG_BYTES, sizeof(*msg));
	msg->addr = be64toh(msg->addr);
	msg->key = be32toh(msg->key);
	msg->len = be32toh(msg->len);
	if (msg->len)
		c->adv = *msg;
	if (lie.recvs == RECVS)
		post_recv(c, c->recvs++);
}

/*
 * Waits for the last completion of the send queue or, if msg is not NULL, for a message. Returns false if it will not come.
 */
static bool wait_for(struct conn *c, struct msg *msg)
{
	time_t end = time(NULL) + patience();
	bool last = false;
	struct ibv_wc wc;
	int n;

	while (msg ? c->read == c->seen : c->sent != c->sends) {
		n = ibv_poll_cq(c->cq, 1, &wc);
		if (n < 0)
			die("ibv_poll_cq");
		if (!n) {
			if (last || time(NULL) > end)
				return false;
			look(c);
			/* Poll once more: it may have come just before. */
			last = c->gone || c->failed;
			usleep(100);
		} else if (wc.status != IBV_WC_SUCCESS) {
			c->failed = true;
		} else if (wc.opcode & IBV_WC_RECV) {
			c->seen++;
		} else {
			c->sent++;
		}
	}
	if (msg)
		read_msg(c, msg);
	return true;
}

/* Posts one request, signalled. Returns false if it was refused. */
static bool put(struct conn *c, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags |= IBV_SEND_SIGNALED;
	if (ibv_post_send(c->id->qp, wr, &bad))
		return false;
	c->sends++;
	return true;
}

/* READs or WRITEs what was advertised, from this offset of both ends' memory on, and waits for it. */
static bool try_move(struct conn *c, bool reads, struct ibv_mr *mr, uint64_t at, struct msg to)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr + at, to.len, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1 };

	wr.opcode = reads ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
	wr.wr.rdma.remote_addr = to.addr + at;
	wr.wr.rdma.rkey = to.key;
	return put(c, &wr) && wait_for(c, NULL);
}

/* rdma_disconnect() waits for the DISCONNECTED event, which comes only once. */
static void leave(struct conn *c)
{
	look(c);
	if (!c->gone)
		rdma_disconnect(c->id);
	c->gone = true;
}

static _Noreturn void end(void)
{
	if (first.id)
		leave(&first);
	exit(0);
}

/* After the lie: waits until our end disconnects, and prints whether it did. */
static _Noreturn void told(struct conn *c)
{
	time_t until = time(NULL) + patience();

	while (!c->gone && time(NULL) <= until) {
		look(c);
		usleep(1000);
	}
	printf("told, %s\n", c->gone ? "disconnected" : "hangs");
	end();
}

/* The connection does not go on, which is no wonder behind a lie. */
static _Noreturn void over(struct conn *c)
{
	if (!lying && !lie.test)
		refuse("the honest pings failed", 0);
	told(c);
}

static void hear(struct conn *c, struct msg *msg)
{
	if (!wait_for(c, msg))
		over(c);
}

static void move(struct conn *c, bool reads, struct ibv_mr *mr, struct msg to)
{
	if (!try_move(c, reads, mr, 0, to))
		over(c);
}

/* Leaves if this is the point at which the lie says so. */
static void leaves(struct conn *c, uint64_t at)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (!lying || lie.leave != at)
		return;
	/* Not RESET: rxe of 6.1 then counts its references wrongly (docs/upstream/rxe-reset-qp.md). */
	if (lie.by == 3)
		must0(ibv_modify_qp(c->id->qp, &attr, IBV_QP_STATE), "ibv_modify_qp");
	if (lie.by >= 2)
		told(c);
	printf("left\n");
	fflush(stdout);
	if (lie.by == 1)
		raise(SIGKILL);
	leave(c);
	end();
}

/*
 * Counts the bytes in the sink that differ from the source, and the bytes behind
 * the source's length that are not 0: they come from other memory of the peer.
 */
static void look_at_sink(struct conn *c, uint64_t source, uint64_t sink)
{
	uint64_t i, other = 0, rest = 0;

	if (lie.flip) {
		printf("served\n");
		return;
	}
	for (i = 0; i < sink; i++) {
		other += i < source && c->sink[i] != c->source[i];
		rest += i >= source && c->sink[i];
	}
	printf("served other=%llu rest=%llu\n", (unsigned long long)other,
	       (unsigned long long)rest);
}

/*
 * Sends a message: where the lie is, with its length and number. Invalidates inv_key if that is not 0. With imm= it is a
 * WRITE to the memory that the peer advertised.
 */
static bool try_say(struct conn *c, bool here, uint64_t times, const void *msg, size_t len,
		    uint32_t inv_key)
{
	struct ibv_sge sge = { (uintptr_t)c->msgs + RECVS * MSG_BYTES, len, c->msgs_mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND };
	struct ibv_send_wr all[SENDS], *bad;
	uint64_t i;

	/* What is under way has its own bytes. */
	sge.addr += c->sends % (BIG_BYTES / 2 / MSG_BYTES) * MSG_BYTES;
	memcpy((void *)(uintptr_t)sge.addr, msg, len);
	if (here && lie.bytes != UNSET)
		sge.length = lie.bytes;
	if (inv_key) {
		wr.opcode = IBV_WR_SEND_WITH_INV;
		wr.invalidate_rkey = inv_key;
		/* siw's library takes the key from here. */
		wr.wr.rdma.rkey = inv_key;
	}
	if (here && lie.imm) {
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr.wr.rdma.remote_addr = c->adv.addr;
		wr.wr.rdma.rkey = c->adv.key;
	}
	/* In one call, so that the peer has all of them before it answers the first one. */
	wr.send_flags = IBV_SEND_SIGNALED;
	for (i = 0; i < times; i++) {
		all[i] = wr;
		all[i].next = i + 1 < times ? &all[i + 1] : NULL;
	}
	c->sends += times;
	return !times || !ibv_post_send(c->id->qp, all, &bad);
}

static bool try_tell(struct conn *c, bool here, uint64_t addr, uint32_t key, uint32_t len,
		     uint32_t inv_key)
{
	struct msg msg = { htobe64(addr), htobe32(key), htobe32(len) };

	return try_say(c, here, here ? lie.times : 1, &msg, sizeof(msg), inv_key);
}

static void tell(struct conn *c, bool here, uint64_t addr, uint32_t key, uint32_t len,
		 uint32_t inv_key)
{
	if (!try_tell(c, here, addr, key, len, inv_key))
		over(c);
}

static void advertise(struct conn *c, bool here, struct ibv_mr *mr, uint64_t len, uint32_t inv_key)
{
	uint64_t addr = (uintptr_t)mr->addr;
	uint32_t key = mr->rkey;

	if (here) {
		addr = lie.addr != UNSET ? lie.addr : addr + lie.off;
		key = lie.key ? c->dead_key : key;
	}
	tell(c, here, addr, key, len, inv_key);
}

/* Fast registration changes the last byte of a key each time. */
static uint32_t next_key(uint32_t key)
{
	return (key & ~0xffU) | ((key + 1) & 0xff);
}

/* Makes right bytes wrong, and wrong ones right. */
static void invert(volatile char *p)
{
	uint64_t i;

	for (i = lie.data; i < lie.data + lie.wrong && i < lie.size; i++)
		p[i] ^= 1;
}

static void *flipper(void *p)
{
	for (;;)
		invert(p);
	return NULL;
}

/* The data of a ping, which our end may check: see module/pattern.c. */
static void fill_source(struct conn *c, uint64_t ping)
{
	char letter = 'A' + ping % 58;
	uint64_t i = 0;

	if (lie.size > BUF_BYTES)
		return;
	i = snprintf(c->source, lie.size, "rdma-ping-%d: ", (int)ping);
	for (; i < lie.size; i++, letter = letter == 'z' ? 'A' : letter + 1)
		c->source[i] = letter;
	c->source[lie.size - 1] = '\0';
}

/*
 * The key that a message invalidates; 0: none. key is the peer's, if it has told one. inv=0: none, although that was agreed;
 * 1: the peer's, although it was not agreed; 2: one that is nobody's; 3: server: that of another client, which it accepts
 * first; 4: server: the key before; 5: server: the one that comes next.
 */
static uint32_t inv_key(struct conn *c, bool here, uint32_t key, uint32_t other)
{
	const uint32_t keys[] = { 0, key, key ^ 0x5500, other, c->key_before, next_key(key) };

	if (!here || lie.inv == UNSET)
		return c->flags & F_SERVER_INV ? key : 0;
	return keys[lie.inv];
}

/* An end that invalidates nothing, and knows no key that it could. */
static uint32_t lies_inv(struct conn *c, bool here)
{
	return here && lie.inv != UNSET ? inv_key(c, true, c->dead_key, 0) : 0;
}

static void client(struct conn *c)
{
	uint64_t ping, source, sink;
	pthread_t thread;
	struct msg msg;
	char go;

	for (ping = 0; ping <= lie.pings; ping++) {
		lying = ping == lie.pings;
		source = lying && lie.source != UNSET ? lie.source : lie.size;
		sink = lying && lie.sink != UNSET ? lie.sink : lie.size;
		if (lying && lie.hold && read(lie.hold, &go, 1) != 1)
			die("hold");
		fill_source(c, ping);
		if (lying)
			invert(c->source);
		if (lying && lie.flip)
			must0(pthread_create(&thread, NULL, flipper, c->source), "pthread_create");
		leaves(c, 1);
		advertise(c, lying && lie.at == 0, c->source_mr, source,
			  lies_inv(c, lying && lie.at == 0));
		/* When its end disconnects, siw drops what it has not sent yet. */
		if (lying && lie.leave == 2)
			hear(c, NULL);
		leaves(c, 2);
		hear(c, &msg);
		leaves(c, 3);
		advertise(c, lying && lie.at == 1, c->sink_mr, sink, 0);
		hear(c, &msg);
		leaves(c, 4);
	}
	look_at_sink(c, source, sink);
	leave(c);
}

/* The memory that the peer advertised, as this lie uses it. */
static struct msg aim(struct conn *c, bool here, const struct msg *adv)
{
	struct msg to = { adv->addr, adv->key, adv->len & ~ASKS };

	if (!here)
		return to;
	to.addr = lie.addr != UNSET ? lie.addr : adv->addr + lie.off;
	to.len += lie.more;
	if (lie.key == 1)
		to.key ^= 0x77;
	else if (lie.key == 2)
		to.key = c->key_before;
	else if (lie.key == 3)
		to.key = next_key(to.key);
	return to;
}

/* Half a ping: READs or WRITEs, and sends the go-ahead. */
static void serve(struct conn *c, bool here, unsigned int at, const struct msg *adv, uint32_t other)
{
	bool forbidden = here && (lie.move || lie.key || lie.off || lie.more || lie.addr != UNSET);
	bool reads = at == (here && lie.move == 1), good;
	struct msg to = aim(c, here, adv);
	uint64_t i, moved = 0;

	if (reads && forbidden)
		memset(c->source, '!', to.len);
	good = (here && lie.move == 2) || try_move(c, reads, c->source_mr, 0, to);
	for (i = 0; reads && forbidden && i < to.len; i++)
		moved += c->source[i] != '!';
	/* Bytes that came although the READ was refused, or that should have been. */
	if (moved && !good)
		printf("%llu bytes came, ", (unsigned long long)moved);
	if (!good)
		over(c);
	tell(c, here, lie.answer, 0, 0, inv_key(c, here, adv->key, other));
	hear(c, NULL);
	c->key_before = adv->key;
	to.len = lie.wrong < lie.size - lie.data ? lie.wrong : lie.size - lie.data;
	for (i = 0; here && i < lie.late; i++) {
		usleep(lie.wait);
		invert(c->source);
		if (!try_move(c, false, c->source_mr, lie.data, to))
			over(c);
	}
}

static void server(struct conn *c, uint32_t other)
{
	struct msg adv;
	uint64_t ping;
	unsigned int at;
	bool here;

	for (ping = 0; ping <= lie.pings || lie.late; ping++) {
		lying = ping >= lie.pings;
		leaves(c, 1);
		for (at = 0; at < 2; at++) {
			here = ping == lie.pings && lie.at == at;
			hear(c, &adv);
			leaves(c, at ? 3 : 2);
			if (here)
				invert(c->source);
			if (here && lie.early) {
				if (!try_tell(c, true, 0, 0, 0, 0) ||
				    !try_tell(c, true, 0, 0, 0, 0) || !wait_for(c, &adv) ||
				    !wait_for(c, &adv))
					refuse("early", 0);
				leave(c);
				printf("left\n");
				return;
			}
			serve(c, here, at, &adv, other);
		}
		leaves(c, 4);
	}
	told(c);
}

/* wlat: the memory that the peer writes to has the iteration's number in its last byte. */
static void wait_number(struct conn *c, uint64_t number)
{
	volatile char *last = c->source + lie.size - 1;
	time_t until = time(NULL) + patience();

	while (*last != (char)number) {
		if (c->gone || time(NULL) > until)
			over(c);
		look(c);
		usleep(100);
	}
}

/* One honest iteration of a benchmark. */
static void turn(struct conn *c, bool is_client, const struct msg *adv, uint64_t i)
{
	if (lie.test == TEST_WLAT && !is_client)
		wait_number(c, i + 1);
	c->sink[lie.size - 1] = i + lie.number;
	move(c, lie.test == TEST_RLAT, c->sink_mr, *adv);
	if (lie.test == TEST_WLAT && is_client && i >= lie.burst)
		wait_number(c, i + 1);
}

/* The lie at this place goes on: more of what this end may do to the peer's memory, or may not do any more. */
static void go_on(struct conn *c, uint64_t at, struct msg to)
{
	uint64_t i;

	for (i = 0; lie.at == at && i < lie.late; i++) {
		usleep(lie.wait);
		c->sink[lie.size - 1] ^= 1;
		move(c, (lie.test == TEST_RLAT) != (lie.move == 1), c->sink_mr, to);
	}
}

static void connect_to(struct conn *c, struct sockaddr *sa);
static bool take(struct rdma_cm_id *listener, struct conn *c);

/*
 * wlat, rlat, bw and fast: both ends tell their memory, those that post do so, and say "done". See module/bench.c.
 */
static void bench(struct conn *c, struct sockaddr *sa, struct rdma_cm_id *listener)
{
	bool is_client = !listener;
	bool both = lie.test == TEST_WLAT || (lie.test == TEST_BW && lie.flags & F_DUPLEX);
	bool active = both || is_client == (lie.test != TEST_FAST);
	bool passive = both || !active, fast = lie.test == TEST_FAST;
	bool at_first = lie.at == 0, at_done = lie.at == 2;
	uint64_t i, len = passive ? lie.size : 0;
	struct ibv_mr nothing = {}, *mr = passive ? c->source_mr : &nothing;
	struct msg adv = {}, msg, to;
	struct conn *others = must(calloc(lie.queues, sizeof(*others)), "calloc"), *o;
	uint32_t key;

	memset(c->source, 0, BUF_BYTES);
	if (at_first && lie.source != UNSET)
		len = lie.source;
	leaves(c, 1);
	for (o = others + 1; o < others + lie.queues; o++) {
		lie.queue++;
		lie.recvs = lie.rest;
		if (is_client)
			connect_to(o, sa);
		else
			take(listener, o);
	}
	if (!is_client)
		hear(c, &adv);
	if (is_client || passive || (at_first && lie.times != 1)) {
		advertise(c, at_first, mr, len,
			  at_first ? inv_key(c, true, adv.key ?: c->dead_key, 0) : 0);
		if (lie.leave)
			hear(c, NULL);
	}
	leaves(c, 2);
	if (is_client && active)
		hear(c, &adv);
	for (o = others + 1; o < others + lie.queues; o++) {
		if (!is_client)
			hear(o, &msg);
		advertise(o, false, passive ? o->source_mr : mr, len, 0);
	}
	for (i = 0; active && i < (lie.burst ?: lie.pings); i++)
		turn(c, is_client, &adv, i);
	leaves(c, 3);
	to = aim(c, true, &adv);
	if (active && lie.at == 1)
		move(c, (lie.test == TEST_RLAT) != (lie.move == 1), c->sink_mr, to);
	if (active)
		go_on(c, 1, to);
	leaves(c, 4);
	/* The end that does not post waits, and so does the one that the peer's "done" has to come first. */
	if (is_client && fast)
		hear(c, &msg);
	if (!is_client && fast)
		tell(c, false, 0, 0, 0, 0);
	if (!is_client)
		hear(c, &msg);
	key = !is_client && c->flags & F_SERVER_INV ? adv.key : 0;
	if (at_done && lie.inv != UNSET)
		key = inv_key(c, true, adv.key, 0);
	tell(c, at_done, 0, 0, at_done && lie.source != UNSET ? lie.source : 0, key);
	if (lie.leave)
		hear(c, NULL);
	leaves(c, 5);
	if (active)
		go_on(c, 2, to);
	if (is_client)
		hear(c, &msg);
	if (!is_client || lie.queues > 1)
		told(c);
	printf("served\n");
	leave(c);
}

static void connect_to(struct conn *c, struct sockaddr *sa)
{
	struct rdma_conn_param param;
	struct priv priv, answer = {};

	must0(rdma_create_id(NULL, &c->id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must0(rdma_resolve_addr(c->id, NULL, sa, 2000), "rdma_resolve_addr");
	must0(rdma_resolve_route(c->id, 2000), "rdma_resolve_route");
	make(c);
	fill(c, &param, &priv);
	if (rdma_connect(c->id, &param)) {
		struct rdma_cm_event *e = c->id->event;

		if (e && e->event == RDMA_CM_EVENT_REJECTED &&
		    e->param.conn.private_data_len >= sizeof(answer))
			memcpy(&answer, e->param.conn.private_data, sizeof(answer));
		if (be32toh(answer.magic) != PRIV_MAGIC)
			die("rdma_connect");
		answer.option[sizeof(answer.option) - 1] = '\0';
		printf("refused why=%u option=%s\n", be16toh(answer.why), answer.option);
		exit(0);
	}
}

/*
 * protect: a client makes the second connection, says that it begins its case, and on the second one that it has made its access,
 * which it has not. See module/test_protect.c. at=0: the lie is in the first message, at=1: in that of the second connection, at=2: in
 * what it saw.
 */
static void protect_client(struct conn *c, struct sockaddr *sa)
{
	struct conn second = {};
	struct msg msg, adv;

	leaves(c, 1);
	lie.queue = lie.second;
	connect_to(&second, sa);
	tell(c, lie.at == 0, 0, lie.at == 0 && lie.key ? 0 : PROTECT_CASE | lie.which, 0,
	     lies_inv(c, lie.at == 0));
	leaves(c, 2);
	hear(c, &msg);
	leaves(c, 4);
	hear(c, &adv);
	try_tell(&second, lie.at == 1, 0, PROTECT_SEEN | lie.which, 0,
		 lie.at == 1 && lie.inv != UNSET ? inv_key(&second, true, adv.key, 0) : 0);
	wait_for(&second, &msg);
	leave(&second);
	tell(c, lie.at == 2, lie.answer, lie.at == 2 && lie.key ? 0 : PROTECT_NOTE | lie.which, 0,
	     0);
	hear(c, &msg);
	told(c);
}

/*
 * protect: a server lets both connections in, wait= us late, answers the first message, and advertises memory for the
 * access. at=0: the lie is in the answer, at=1: in the advertisement, at=3: in what it saw.
 */
static void protect_server(struct conn *c, struct rdma_cm_id *listener)
{
	uint64_t len = lie.at == 1 && lie.source != UNSET ? lie.source : PROTECT_LEN;
	struct conn second = {};
	struct msg msg;

	leaves(c, 1);
	take(listener, &second);
	hear(c, &msg);
	leaves(c, 2);
	tell(c, lie.at == 0, 0, lie.at == 0 && lie.key ? 0 : msg.key, 0, lies_inv(c, lie.at == 0));
	/* Our end does not come again. */
	if (lie.at == 0 && (lie.key || lie.bytes != UNSET || lie.times != 1 || lie.inv != UNSET))
		told(c);
	advertise(c, lie.at == 1, second.source_mr, len, 0);
	leaves(c, 4);
	if (wait_for(&second, &msg))
		try_tell(&second, false, 0, msg.key, 0, 0);
	hear(c, &msg);
	tell(c, lie.at == 3, lie.answer, lie.at == 3 && lie.key ? 0 : msg.key, 0, 0);
	told(c);
}

/* fr: a client registers memory by itself, and a server listens. See module/test_fr.c. */
static void fr(struct conn *c, bool is_client)
{
	struct msg msg;

	leaves(c, 1);
	/* The client says that it begins, and then when it has done. */
	if (is_client)
		tell(c, false, 0, 0, 0, 0);
	else
		hear(c, &msg);
	if (is_client || lie.bytes != UNSET || lie.times != 1 || lie.inv != UNSET)
		tell(c, true, 0, 0, 0, lies_inv(c, true));
	leaves(c, 2);
	if (!is_client)
		hear(c, &msg);
	told(c);
}

/* block: a client asks for writes, whose data our end READs. See module/window.c. */
static void block_client(struct conn *c)
{
	struct capsule request;
	struct msg msg;
	uint64_t i, n;

	tell(c, lie.at == 1, 0, 0, 0, 0);
	hear(c, &msg);
	for (i = 0; i <= lie.pings; i++) {
		lying = i == lie.pings;
		for (n = 0; n < (lying && lie.tag == UNSET ? lie.times : 1); n++) {
			request = (struct capsule){
				.at = htobe64(lying ? lie.pos : 0),
				.addr = htobe64((uintptr_t)c->source),
				.key = htobe32(lying && lie.key ? c->dead_key : c->source_mr->rkey),
				.len = htobe32(lying && lie.len != UNSET ? lie.len : lie.size),
				.tag = htobe16(lying && lie.tag != UNSET ? lie.tag : n),
				.op = lying && lie.op != UNSET ? lie.op : OP_WRITE,
				.inv = lying && lie.inv != UNSET,
			};
			if (!try_say(c, lying, lying && lie.tag != UNSET ? lie.times : 1, &request,
				     sizeof(request), 0))
				over(c);
		}
		hear(c, &msg);
	}
	told(c);
}

/* block: a server answers requests. See module/disk.c. */
static void block_server(struct conn *c)
{
	struct answer answer = { .host_ns = htobe64(1), .op = OP_READ };
	const struct capsule *r = &c->request;
	struct msg msg, to;
	uint32_t key;
	uint64_t i;

	hear(c, &msg);
	tell(c, lie.at == 1, lie.addr != UNSET ? lie.addr : 65536, 0, 0, 0);
	if (lie.early && !try_say(c, false, 1, &answer, sizeof(answer), 0))
		over(c);
	for (i = 0;; i++) {
		hear(c, &msg);
		lying = i == lie.pings && lie.at == 0 && !lie.early;
		to = (struct msg){ be64toh(r->addr), be32toh(r->key), be32toh(r->len) };
		move(c, r->op == OP_WRITE, c->source_mr, to);
		answer.len = lying && lie.len != UNSET ? htobe32(lie.len) : r->len;
		answer.tag = lying && lie.tag != UNSET ? htobe16(lie.tag) : r->tag;
		answer.op = lying && lie.op != UNSET ? lie.op : r->op;
		key = r->inv ? to.key : 0;
		if (lying && lie.inv != UNSET)
			key = inv_key(c, true, to.key, 0);
		c->key_before = to.key;
		if (!try_say(c, lying, lying ? lie.times : 1, &answer, sizeof(answer), key))
			over(c);
	}
}

/* Takes a client; returns false if it was not let in, which is the lie. */
static bool take(struct rdma_cm_id *listener, struct conn *c)
{
	struct rdma_conn_param param;
	struct priv priv;

	must0(rdma_get_request(listener, &c->id), "rdma_get_request");
	if (c->id->event->param.conn.private_data_len >= sizeof(c->hello))
		memcpy(&c->hello, c->id->event->param.conn.private_data, sizeof(c->hello));
	make(c);
	fill(c, &param, &priv);
	if (lie.reject) {
		must0(rdma_reject(c->id, &priv, lie.priv), "rdma_reject");
		printf("left\n");
		return false;
	}
	if (!lie.accept) {
		/* An id that was not accepted has no events, so whoever waits here is killed. */
		printf("left\n");
		fflush(stdout);
		if (lie.by == 1)
			raise(SIGKILL);
		if (lie.by == 2)
			sleep(patience());
		return false;
	}
	if (lie.test == TEST_PROTECT)
		usleep(lie.wait);
	/* Keep to what a krping client asked for, even if the answer tells it something else. */
	c->flags = be32toh(c->hello.magic) == PRIV_MAGIC ? be32toh(c->hello.flags) : 0;
	must0(rdma_accept(c->id, &param), "rdma_accept");
	/* It waits for one event, whatever that is: a client that does not like the answer may have left already. */
	if (c->id->event)
		heard(c, c->id->event);
	return true;
}

/* Clients that ping would keep an emulated guest so busy that others could not connect beside them. */
static _Noreturn void be_idle(char *addr, char *port)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *res;
	struct ibv_qp_init_attr attr = { .cap = { 1, 1, 1, 1, 0 } };
	struct rdma_conn_param param;
	struct rdma_cm_id *id;
	struct conn c = {};
	struct priv priv;
	uint64_t i;

	fill(&c, &param, &priv);
	must0(rdma_getaddrinfo(addr, port, &hints, &res), "rdma_getaddrinfo");
	for (i = 0; i < lie.idlers; i++) {
		must0(rdma_create_ep(&id, res, NULL, &attr), "rdma_create_ep");
		must0(rdma_connect(id, &param), "rdma_connect");
	}
	printf("%llu connected\n", (unsigned long long)i);
	fflush(stdout);
	for (;;)
		pause();
}

/* Sets one value; those that are added to the size are set in a second pass. */
static void set(const char *word, bool relative)
{
	const char *value = strchr(word, '=');
	size_t o, n = value ? (size_t)(value - word) : 0;

	for (o = 0; o < sizeof(options) / sizeof(options[0]); o++)
		if (value && strlen(options[o].name) == n && !strncmp(word, options[o].name, n))
			break;
	if (o == sizeof(options) / sizeof(options[0]))
		refuse(word, EINVAL);
	value++;
	if (relative != (*value == '+' || *value == '-'))
		return;
	*options[o].value = strtoull(value, NULL, 0) + (relative ? lie.size : 0);
}

int main(int argc, char **argv)
{
	bool is_client = argc > 3 && !strcmp(argv[1], "client");
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct rdma_cm_id *listener = NULL;
	struct conn c = {};
	struct msg adv = {};
	int i;

	if (argc < 4 || (!is_client && strcmp(argv[1], "server")) ||
	    inet_pton(AF_INET, argv[2], &sin.sin_addr) != 1)
		refuse("usage", EINVAL);
	sin.sin_port = htons(atoi(argv[3]));
	for (i = 4; i < argc; i++)
		set(argv[i], false);
	for (i = 4; i < argc; i++)
		set(argv[i], true);
	if (lie.idlers)
		be_idle(argv[2], argv[3]);
	if (is_client) {
		connect_to(&c, (struct sockaddr *)&sin);
	} else {
		must0(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP), "rdma_create_id");
		must0(rdma_bind_addr(listener, (struct sockaddr *)&sin), "rdma_bind_addr");
		must0(rdma_listen(listener, 2), "rdma_listen");
		if (lie.ready) {
			printf("listening\n");
			fflush(stdout);
		}
		if (lie.inv == 3) {
			take(listener, &first);
			if (!wait_for(&first, &adv))
				refuse("no message of the first client", 0);
		}
		if (!take(listener, &c))
			return 0;
	}
	if (lie.test == TEST_PROTECT && is_client)
		protect_client(&c, (struct sockaddr *)&sin);
	else if (lie.test == TEST_PROTECT)
		protect_server(&c, listener);
	else if (lie.test == TEST_FR)
		fr(&c, is_client);
	else if (lie.test == TEST_BLOCK && is_client)
		block_client(&c);
	else if (lie.test == TEST_BLOCK)
		block_server(&c);
	else if (lie.test >= TEST_WLAT)
		bench(&c, (struct sockaddr *)&sin, listener);
	else if (is_client)
		client(&c);
	else
		server(&c, adv.key);
	end();
}
