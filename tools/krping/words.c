// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "words.h"
#include "../lib/out.h"
#include "../../trace/krping_abi.h"

/* clang-format off */
/*
 * A row has words, with bars between them, and what they mean. A row without a meaning says where the words of the rows
 * behind it are seen.
 */
static const struct row {
	const char *words, *text;
} rows[] = {
	{ "the tools", NULL },
	{ "run", "one command, from its text to its result. It has a number; of a server with clients or persistent each client has a run, too" },
	{ "iteration|(iteration)|iterations|iters", "one turn of the test: of rping a ping, which the server reads and writes back; of a disk a request" },
	{ "phase", "what the run's thread is doing. It is always in one phase, so that the phases add up to the run" },
	{ "stage", "a part of a phase in which the thread waits for a work request, or a part of a request that is in flight with others" },
	{ "key", "what names a memory region to the device: rkey, lkey or STag. A registration makes a new one valid" },
	{ "registration", "a REG_MR: it makes a memory region valid under a new key, as part of the queue of requests (fast registration)" },
	{ "invalidation", "the end of a key: by LOCAL_INV, by the peer's SEND_WITH_INV, or by READ_WITH_INV" },
	{ "peer", "the run at the other end of the connection" },
	{ "classic peer", "one that is not krping and sends no private data, as user-space rping: it tells no count and no number of its run" },
	{ "lost|lost events", "events for which a tool's program had no room, or no turn on its CPU: figures that need them are too small" },
	{ "abi|nonce", "the version of the events, which tools and module have to share; a number that is another one each time the module is loaded" },

	{ "a stage of a wait: stages, slow, ladder", NULL },
	{ "post", "the call of the verb that posts the request, until it returns; not there for a message that is waited for" },
	{ "wire", "then, until the provider signals the completion queue: device, network and peer. Where the core polls, until the handler runs" },
	{ "wake", "until the waiting thread runs: the scheduler of this host. Not there if the thread did not sleep" },
	{ "cq", "until the completion handler has run, which the thread calls; with poll_ctx=softirq or workqueue there is none" },
	{ "own", "what the thread did itself in a phase that waits, beside the stages" },

	{ "a stage of a request that is in flight with others: stages, slow", NULL },
	{ "request", "all of it, from when it is taken, for a connection that has room, until it is counted" },
	{ "write request", "the same of a disk's requests that write" },
	{ "queued", "until its region is mapped, or the verb is called. It is long where txdepth is full, or a list of requests is not" },
	{ "map", "its region is mapped; not there without a region" },
	{ "post", "the call of the verb, until it returns" },
	{ "wire", "until the provider signals the completion queue; where no signal is known, until the handler runs" },
	{ "cq", "from that signal until the completion handler runs" },
	{ "done", "until the request is counted, and the next one may be posted" },
	{ "peer", "of a disk: for so long the server had the request, as its answer says; wire is without it" },

	{ "a part of wire with --provider: stages", NULL },
	{ "task|hand-over", "until soft-RoCE's requester runs, or soft-iWARP's transmit thread" },
	{ "send|tcp", "until a packet has left, or TCP has all of it; the socket is full" },
	{ "net", "until the other end's provider has it" },
	{ "queue|respond", "soft-RoCE: until the other end's responder runs; until it has made its answer, or the completion" },
	{ "receive", "soft-iWARP: until the data that TCP has are placed, and what they ask for is done" },
	{ "ack|complete", "soft-RoCE: until the answer is back at the requester; until the completion is signalled" },
	{ "peer", "until the program at the other end has posted what is waited for" },

	{ "a phase of set-up or tear-down, or between iterations: stages, slow, ladder, top", NULL },
	{ "none", "the run has not begun its first phase" },
	{ "resolve_addr|resolve_route", "a client waits for rdma_cm to find the device for the address, and the way to the server" },
	{ "listen", "a server waits for a client" },
	{ "alloc", "queues, memory regions and buffers are made" },
	{ "connect|accept", "client, server: waits until the connection is there" },
	{ "exchange", "buffers are registered, and the peer is told where they are; of protect the case is named, and what was seen is told" },
	{ "warmup", "the iterations that do not count, whatever the thread does in them" },
	{ "pause", "a client with interval= waits between two iterations" },
	{ "wait_end", "waits until the peer says that it is done, or leaves: all the test of an end that does not post" },
	{ "disconnect|drain|free", "the connection ends; every request comes back, done or flushed; queues, regions and buffers are freed" },

	{ "a phase of a ping, client: stages, slow, ladder, top", NULL },
	{ "fill", "the client writes its pattern into the buffer: CPU time that grows with the size" },
	{ "reg_source|reg_sink", "registers the buffer that the server will read, or write: maps it, and posts LOCAL_INV of the old key and REG_MR of the new" },
	{ "send_source|send_sink", "posts the 16 bytes with the buffer's address, key and length" },
	{ "wait_read|wait_write", "waits for the server's go-ahead: the server's READ, or WRITE, its registration and its host are all in here" },
	{ "validate", "compares what came back; with validate or verbose only" },

	{ "a phase of a ping, server: stages, slow, ladder, top", NULL },
	{ "wait_source|wait_sink", "waits for the client's message that says where to read from, or to write to" },
	{ "reg_read|reg_write", "registers the server's own buffer for the READ, or the WRITE" },
	{ "read|write", "posts the RDMA READ of the client's buffer, or the WRITE into it, and waits for it" },
	{ "go_ahead_read|go_ahead_write", "posts the message that the READ, or the WRITE, is done" },

	{ "a phase of another test: stages, slow, ladder, top", NULL },
	{ "post|wait_completion|wait_peer", "wlat: posts a WRITE; waits for the WRITE before; looks at its memory until the peer's WRITE has come" },
	{ "running", "fr, rlat, bw, fast, block: requests are in flight; whoever handles a completion ends the iteration and posts the next request" },
	{ "arrange|try|outcome", "protect: the buffer is registered; the access of the case is made; its end, or the message behind it, is waited for" },
	{ "map|fill_queue", "of fr, and of bw and fast, before version 3 of the events" },

	{ "a row, or a line below the table, of stages", NULL },
	{ "residual", "the run's time by the module's clock, less the sum of its phases. If it is not 0 an event is missing, and the exit status is 2" },
	{ "residual of requests", "the time of all requests, less that of their stages: 0, or a stage is missing" },
	{ "aborted|cut short", "iterations that an error, a signal or a disconnect ended: in no distribution" },
	{ "not_seen|not seen", "iterations that were lost, since the tool got no CPU in time, with the time that is missing with them" },
	{ "beyond 26 days", "time that has no room in one event of a phase" },
	{ "late", "the run was there before the tool: what was before is not in the figures" },
	{ "own host|peer's host", "whose time a ping was: from the signal of that host's device until the host passes the ping on. Asked for by split" },
	{ "network and devices", "the rest of a ping that was split: the way of messages and data, and the devices of both ends" },
	{ "unattributed", "side by side: the peer was in no phase that was seen" },
	{ "other", "side by side: the peer was in set-up or tear-down. In the bar of top: a phase that the tool does not know" },

	{ "slow", NULL },
	{ "median|longer than its median", "that of all iterations, and of each phase and stage, at the time of printing; and by how much this one was longer" },
	{ "because of|task|softirq|irq", "who had the CPU meanwhile, in microseconds of what is to be explained; a name behind it is that of the thread that waited" },
	{ "idle", "the CPU that the thread was ready to run on slept, and had to wake up: C-states" },
	{ "unexplained", "the rest. It is large where the delay is not in this host's CPUs, but in the device, the network or another host" },
	{ "counted", "counters of the device that moved at about that time" },

	{ "a column of top, stages, mr, slow, client -i or list", NULL },
	{ "ID|RUN", "the number of the run, as in /proc/krping_runs and in all events" },
	{ "ROLE|TEST|DEV|PORT", "of the run: server or client, what it does, the RDMA device and its port; a device is - until there is a connection" },
	{ "PEER", "the address of the other end; list has a server's with its port" },
	{ "ITER/S|END-IT/S", "complete iterations a second; of a group counted at each end, so that a ping between two runs of this host counts twice" },
	{ "MB/S|END-MB/S", "10^6 bytes of data a second, both directions; of a group counted at each end" },
	{ "P50|P90|P99|P99.9|p999", "percentiles: so many of a hundred values are no larger. At most 1/32 off; - where the value is not known" },
	{ "MEAN|MIN|MAX", "of all values, exact; MEAN is their sum by their number" },
	{ "ERR", "completions with an error since the run began, without those that were flushed" },
	{ "STATE", "of the run; of one that iterates, in top, what most of its time was for; of one that is over DONE, or the errno. Of mr --keys that of the region" },
	{ "QD", "of a disk (test=block): how many of its requests were in flight, on average" },
	{ "NAME", "the label that name= gave the run; in top without one the command that wrote it" },
	{ "PID", "the process that wrote the command" },
	{ "SIZE", "bytes of a ping, or of a request" },
	{ "TIME SPENT", "a bar by what phases are for, with a letter each: D R S W X . and ?, see \"krping help class\"" },
	{ "GROUP|ENDS|RUNNING", "of --by: the device, peer, role, test or size; its runs; those of them that go on" },
	{ "END-ITERS", "of a group, the iterations that each of its ends has made: a ping between two runs of this host counts twice" },
	{ "TIME|ELAPSED", "since the run began, or that it took" },
	{ "DISK", "the disk of a client of test=block, in /dev" },
	{ "PHASE", "what the thread does, in the order in which a run goes through it; indented below it are its stages" },
	{ "COUNT", "how many values the row has: of a phase of an iteration, complete iterations" },
	{ "SHARE%|%|SHARE", "of the run's time, or of the wait, or of the requests. Stages are parts of their phase: do not add them to it" },
	{ "CLIENT WAITS IN|SERVER WAITS IN|US/ITER|US", "side by side: what the peer's thread did while this end waited, in microseconds an iteration" },

	{ "a column of mr", NULL },
	{ "PAGES|KEY|MR|AGE|OWNER", "of a region: pages of its last registration, its key, its number as in \"rdma resource show mr\", since when, and whose" },
	{ "map, CPU", "the time in ib_map_mr_sg(): CPU time, which grows with the pages" },
	{ "post the chain, CPU", "the time in the verbs call that posted it, with all that the same call posted" },
	{ "to next completion", "until the first signalled completion that shows that it is done: not CPU time, the request behind it and the peer are in it" },
	{ "INVALIDATED BY", "the request that ended keys: LOCAL_INV or READ_WITH_INV of our own, SEND_WITH_INV of the peer's" },
	{ "FASTREG|reg", "REG_MR requests posted: each makes a key valid, which the columns behind it have to account for" },
	{ "LOCALINV|REMINV|READINV", "keys that ended by our LOCAL_INV, by the peer's SEND_WITH_INV, by a READ_WITH_INV" },
	{ "FREED|FLUSHED|dereg", "regions that were freed while valid; and those whose last REG_MR was never executed" },
	{ "VALID|FREE", "a region with a valid key now, and one without" },
	{ "ODD", "keys that were invalidated while not valid, regions registered while valid, and differences between the two ledgers. Has to be 0" },
	{ "BALANCE", "ok, or by how much FASTREG is more than what became of the keys: a key is valid somewhere that nobody knows of. Exit status 2" },

	{ "a class of phases, with its letter: the bar of top", NULL },
	{ "class|classes|set-up|.", "what a phase is for: set-up (.), data (D), reg (R), send (S), wait (W), r/w (X), other (?). set-up is also tear-down" },
	{ "data|D", "the data are written or compared: CPU time" },
	{ "reg|R", "memory is registered, or a key invalidated" },
	{ "send|S", "a message or a request is posted" },
	{ "wait|W", "the peer, or the device, is waited for" },
	{ "r/w|X", "an RDMA READ or WRITE of this end is under way" },
	{ "?", "a phase that the tool does not know: the module is newer" },

	{ "a state: list, top, trace, /proc", NULL },
	{ "NEW", "the command was read" },
	{ "IDLE|LISTEN", "no connection yet; LISTEN:PORT in list is a server that waits for its client" },
	{ "CONNECT_REQUEST|CONREQ", "a server has a client's request" },
	{ "ADDR_RESOLVED|ADDR|ROUTE_RESOLVED|ROUTE", "a client knows the device for the address, and the way to the server" },
	{ "CONNECTED|CONN", "connected; rping: between two pings, or before the first message" },
	{ "RDMA_READ_ADV|READ_ADV|RDMA_READ_COMPLETE|READ_CMP", "rping: the buffer to read from was told; the server's READ is done" },
	{ "RDMA_WRITE_ADV|WRIT_ADV|RDMA_WRITE_COMPLETE|WRIT_CMP", "rping: the buffer to write to was told; the server's WRITE is done" },
	{ "DONE", "the run did what it was asked for" },
	{ "ERROR", "the run failed; \"krping list -a\" has its errno, and its cause is in /proc/krping_runs" },

	{ "a test, a role", NULL },
	{ "rping", "a ping and its pong: the server READs the client's data and WRITEs them back, with a registration for each" },
	{ "wlat|rlat", "a WRITE there and one back, until each end sees the last byte in its memory; a READ, one in flight on each connection" },
	{ "bw|fast", "WRITEs by the client, or by the server, txdepth of them in flight: an iteration is from one completion to the next" },
	{ "fr", "registrations and invalidations, without data; needs no peer but one to connect to" },
	{ "protect", "a verb that has to work, or an access to memory that has to be refused: docs/protect.md" },
	{ "block", "a disk of the client whose reads and writes travel to the server's memory" },
	{ "server|client|stop", "waits for a client; connects to a server; is no run but a command, which ends one" },

	{ "a work request: ladder, trace, mr, top", NULL },
	{ "RECV|SEND|READ|WRITE", "a message that arrives, or is sent; data that the device fetches from the peer's memory, or puts there, without the peer's CPU" },
	{ "SEND_WITH_INV", "a message that also invalidates a key of its receiver (server_inv)" },
	{ "READ_WITH_INV", "a READ that also invalidates the key of its own buffer: iWARP alone has it (read_inv)" },
	{ "REG_MR", "makes a memory region valid under a new key: fast registration. It is not signalled" },
	{ "LOCAL_INV", "ends a key of this end" },
	{ "zero", "of a disk: WRITE_ZEROES or DISCARD, which move no data" },

	{ "the ladder", NULL },
	{ "posted|an earlier one|flushed", "a request was posted; one of an iteration before has completed; one came back unexecuted, since the connection ended" },
	{ "invalidated", "the peer's SEND_WITH_INV has ended this key" },
	{ "total|incomplete|too long", "what the iteration took, by the client; iterations of which an event is missing, or that have more events than are kept" },
	{ "data are equal|data differ", "what validate has found" },

	{ "trace", NULL },
	{ "EVENT|FIELDS", "the event without krping_, and its arguments: docs/events.md has all" },
	{ "out of order", "trace: events that came later than the tenth of a second that others wait for them" },

	{ "who polls completion queues, and what keys are of", NULL },
	{ "thread|busy", "the run's thread polls: it sleeps until the provider's signal, or never sleeps" },
	{ "softirq|workqueue", "the RDMA core polls, as for most users in the kernel, and its handler wakes the thread" },
	{ "dma", "mem_mode=dma: the key of all memory, without registrations" },

	{ "protect", NULL },
	{ "CASE|VERB|CLIENT SAW|SERVER SAW", "what was tried, by which request, and what came of it at either end; docs/protect.md has the words" },
	{ "MOVED|VERDICT", "bytes of both buffers that are not what they were; and whether that is as it has to be" },
	{ "works|protected|unsupported", "as it has to be; unsupported: the transport has no such verb" },
	{ "FAILED", "what has to work does not, or moved something else" },
	{ "LEAK", "a byte moved, or a wrong access was not refused" },
	{ "SILENT", "nothing happened: the access was neither made nor refused" },
	{ "local_invalidated|local_past_end|local_no_right|local_other_pd", "the same wrongs with a key of the client's own" },
	{ "key_before", "the key that the region had before: its low byte differs" },
	{ "past_end|past_page|before", "bytes behind the region's end in the same page, in the page behind it, and before its beginning" },
	{ "no_right|other_pd", "the region is registered for other accesses; it is valid, but of another protection domain" },

	{ "the status of a completion: causes, trace, top", NULL },
	{ "SUCCESS", "the request is done" },
	{ "LOC_LEN_ERR|LOC_QP_OP_ERR|LOC_PROT_ERR|LOC_ACCESS_ERR", "this end's request is wrong: its length, its verb, the key of its own buffer" },
	{ "REM_INV_REQ_ERR|REM_ACCESS_ERR|REM_OP_ERR", "the peer's device refused the request: not valid there; no right with that key; it could not do it" },
	{ "WR_FLUSH_ERR", "not executed, since the connection has ended: look for the error before it" },
	{ "RETRY_EXC_ERR|RESP_TIMEOUT_ERR", "the peer's device did not answer, again and again: link, route, MTU, congestion, or the peer is gone" },
	{ "RNR_RETRY_EXC_ERR", "the peer had no RECV for a message, again and again" },
	{ "MW_BIND_ERR|LOC_EEC_OP_ERR|LOC_RDD_VIOL_ERR|REM_INV_RD_REQ_ERR|INV_EECN_ERR|INV_EEC_STATE_ERR", "of verbs that krping does not use" },
	{ "BAD_RESP_ERR|REM_ABORT_ERR|FATAL_ERR|GENERAL_ERR", "the device's: an answer that it did not expect, or an error of its own; the vendor's code says more" },
};

/* The cases of protect: what the client does, and what is wrong with it. */
static const char *const cases[][3] = {
#define x(n, s, v, w) { s, #v, #w },
	KRPING_CASES(x)
#undef x
};
/* clang-format on */

#define NR(a) (sizeof(a) / sizeof(*(a)))

/* How many characters of a word that ends at '|' or NUL are those of text. */
static size_t same(const char *word, const char *text)
{
	size_t n = 0;

	while (text[n] && word[n] != '|' && !strncasecmp(word + n, text + n, 1))
		n++;
	return n;
}

static bool has_word(const char *words, const char *text)
{
	size_t len = strlen(text);

	for (; words; words = strchr(words, '|') ? strchr(words, '|') + 1 : NULL) {
		if (strcspn(words, "|") == len && same(words, text) == len)
			return true;
	}
	return false;
}

unsigned int krp_words_explain(FILE *f, const char *text, unsigned int width)
{
	const char *where = "";
	unsigned int nr = 0;
	size_t i;

	for (i = 0; i < NR(rows); i++) {
		if (!rows[i].text)
			where = rows[i].words;
		if (!rows[i].text || !has_word(rows[i].words, text))
			continue;
		fprintf(f, "%s (%s)\n    ", rows[i].words, where);
		krp_fold(f, rows[i].text, 4, width - 4);
		nr++;
	}
	for (i = 0; i < NR(cases); i++) {
		if (strcasecmp(cases[i][0], text))
			continue;
		fprintf(f, "%s (a case of protect)\n    %s, which %s%s\n", cases[i][0], cases[i][1],
			strcmp(cases[i][2], "NONE") ? "has to be refused: " : "has to work",
			strcmp(cases[i][2], "NONE") ? cases[i][2] : "");
		nr++;
	}
	return nr;
}

/* Words are no more than this, with the module's options. */
#define WORDS_MAX 512
/* So many near ones are named. */
#define NEAR_MAX  12

static size_t all_words(const char **v, const struct krp_optable *options)
{
	const char *p;
	size_t i, nr = 0;

	for (i = 0; i < NR(rows); i++) {
		for (p = rows[i].text ? rows[i].words : NULL; p && nr < WORDS_MAX;
		     p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
			v[nr++] = p;
	}
	for (i = 0; i < NR(cases) && nr < WORDS_MAX; i++)
		v[nr++] = cases[i][0];
	for (i = 0; i < options->nr && nr < WORDS_MAX; i++)
		v[nr++] = options->v[i].name;
	return nr;
}

void krp_words_near(FILE *f, const char *text, const struct krp_optable *options)
{
	const char *v[WORDS_MAX];
	size_t nr = all_words(v, options), best = 0, len, i, k;
	unsigned int named = 0;

	for (i = 0; i < nr; i++)
		best = same(v[i], text) > best ? same(v[i], text) : best;
	/* One letter of several in common is nothing. */
	if (!best || (best < 2 && best < strlen(text)))
		return;
	for (i = 0; i < nr && named <= NEAR_MAX; i++) {
		len = strcspn(v[i], "|");
		for (k = 0; k < i && (strcspn(v[k], "|") != len || strncasecmp(v[k], v[i], len));)
			k++;
		if (k < i || same(v[i], text) < best)
			continue;
		if (named++ < NEAR_MAX)
			fprintf(f, "%s%.*s", named > 1 ? ", " : "; near it: ", (int)len, v[i]);
		else
			fputs(" ...", f);
	}
}
