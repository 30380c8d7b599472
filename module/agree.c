// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* How two krpings agree, see agree.h. */
#include <linux/kernel.h>
#include <linux/string.h>
#include "agree.h"

#define KRPING_PRIV_MAGIC   0x4b525047 /* "KRPG" */
#define KRPING_PRIV_VERSION 3

u64 krping_nonce;

/* The flags on the wire, and those of a run. */
static const struct {
	u32 priv;
	u32 run;
} krping_priv_flags[] = {
	{ KRPING_PRIV_F_SERVER_INV, KRPING_RUN_F_SERVER_INV },
	{ KRPING_PRIV_F_DUPLEX, KRPING_RUN_F_DUPLEX },
	{ KRPING_PRIV_F_RANDOM_SIZE, KRPING_RUN_F_RANDOM_SIZE },
	{ KRPING_PRIV_F_READ_INV, KRPING_RUN_F_READ_INV },
};

/* Makes private data of a type for the run with number @id. */
void krping_priv_fill(struct krping_priv *priv, u32 id, const struct krping_params *params,
		      enum krping_priv_type type)
{
	unsigned int i;

	memset(priv, 0, sizeof(*priv));
	priv->magic = cpu_to_be32(KRPING_PRIV_MAGIC);
	priv->version = KRPING_PRIV_VERSION;
	priv->type = type;
	priv->test = params->test;
	/* With chain the go-ahead is written before the READ runs: it cannot have the server's time. */
	if (params->role == KRPING_ROLE_CLIENT || !(params->flags & KRPING_RUN_F_CHAIN))
		priv->can = KRPING_PRIV_CAN_SPLIT;
	if (type == KRPING_PRIV_HELLO) {
		priv->queues = cpu_to_be16(params->queues);
		priv->depth = cpu_to_be16(params->test == KRPING_TEST_BLOCK ? params->txdepth : 1);
	}
	if (krping_option_given(params, KRPING_OPT_TOS)) {
		priv->can |= KRPING_PRIV_HAS_TOS;
		priv->tos = params->tos;
	}
	for (i = 0; i < ARRAY_SIZE(krping_priv_flags); i++)
		if (params->flags & krping_priv_flags[i].run)
			priv->flags |= cpu_to_be32(krping_priv_flags[i].priv);
	priv->size = cpu_to_be32(params->size);
	priv->count = cpu_to_be32(params->count);
	priv->warmup = cpu_to_be32(params->warmup);
	priv->case_nr = params->case_nr;
	priv->nonce = cpu_to_be64(krping_nonce);
	priv->run = cpu_to_be32(id);
}

/*
 * Takes private data from an event of rdma_cm; RoCE pads short data with zeroes, and so does
 * this. Returns true if the data are krping's, and of that type; else they become 0.
 */
bool krping_priv_get(struct krping_priv *priv, const struct rdma_cm_event *event,
		     enum krping_priv_type type)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	memset(priv, 0, sizeof(*priv));
	if (conn->private_data)
		memcpy(priv, conn->private_data,
		       min_t(size_t, conn->private_data_len, sizeof(*priv)));
	if (be32_to_cpu(priv->magic) == KRPING_PRIV_MAGIC && priv->type == type)
		return true;
	memset(priv, 0, sizeof(*priv));
	return false;
}

void krping_priv_peer(struct krping_peer *peer, const struct krping_priv *priv)
{
	peer->nonce = be64_to_cpu(priv->nonce);
	peer->run = be32_to_cpu(priv->run);
	peer->can = priv->can;
	if (priv->type == KRPING_PRIV_HELLO)
		peer->depth = be16_to_cpu(priv->depth);
}

/*
 * Reads a peer's options, which are checked like those of a command. Returns NULL, or
 * the name of the first option that has no such value; @peer has all of them.
 */
static const char *krping_priv_read(struct krping_params *peer, const struct krping_priv *priv)
{
	u32 flags = be32_to_cpu(priv->flags);
	unsigned int i;

	*peer = (struct krping_params){
		.test = priv->test,
		.size = be32_to_cpu(priv->size),
		.count = be32_to_cpu(priv->count),
		.warmup = be32_to_cpu(priv->warmup),
		.case_nr = priv->case_nr,
		.queues = 1,
	};
	/* A reject has something else there. */
	if (priv->type == KRPING_PRIV_HELLO && priv->queues)
		peer->queues = be16_to_cpu(priv->queues);
	if (priv->type == KRPING_PRIV_HELLO && peer->test == KRPING_TEST_BLOCK)
		peer->txdepth = be16_to_cpu(priv->depth);
	for (i = 0; i < ARRAY_SIZE(krping_priv_flags); i++)
		if (flags & krping_priv_flags[i].priv)
			peer->flags |= krping_priv_flags[i].run;
	if (priv->can & KRPING_PRIV_HAS_TOS) {
		peer->given = BIT_ULL(KRPING_OPT_TOS);
		peer->tos = priv->tos;
	}
	if (priv->version != KRPING_PRIV_VERSION)
		return "version";
	if (flags & ~KRPING_PRIV_FLAGS)
		return "flags";
	if (priv->type == KRPING_PRIV_HELLO &&
	    (peer->queues > KRPING_QUEUES_MAX || be16_to_cpu(priv->queue) >= peer->queues))
		return "queues";
	if (peer->test >= KRPING_NR_TESTS)
		return "test";
	if (!peer->size || peer->size > KRPING_SIZE_MAX)
		return "size";
	if (peer->count > KRPING_COUNT_MAX)
		return "count";
	if (peer->warmup > KRPING_WARMUP_MAX)
		return "warmup";
	if (peer->case_nr >= KRPING_NR_CASES)
		return "case";
	return NULL;
}

/* krping_params_agree() with what a client has sent. */
const char *krping_priv_agree(struct krping_params *agreed, const struct krping_priv *priv)
{
	struct krping_params peer;

	return krping_priv_read(&peer, priv) ?: krping_params_agree(agreed, &peer);
}

/* krping_params_same() with what a server has sent. */
const char *krping_priv_same(const struct krping_params *mine, const struct krping_priv *priv)
{
	struct krping_params peer;

	return krping_priv_read(&peer, priv) ?: krping_params_same(mine, &peer);
}

/*
 * Describes the two values of an option that differs, in KRPING_VALUES bytes, to
 * follow the option's name; nothing for an option that is not sent.
 */
void krping_differs(char *text, size_t size, const struct krping_params *params,
		    const struct krping_priv *priv, const char *option)
{
	struct krping_params peer;

	krping_priv_read(&peer, priv);
	if (!strcmp(option, "version"))
		scnprintf(text, size, ": %u there, %u here", priv->version, KRPING_PRIV_VERSION);
	else if (!strcmp(option, "queues") && priv->type == KRPING_PRIV_REJECT)
		scnprintf(text, size, ": it does not take %u", params->queues);
	else if (!strcmp(option, "accept") && priv->type == KRPING_PRIV_REJECT)
		scnprintf(text, size, ": it does not take this test or size");
	else if (!strcmp(option, "size") && priv->type == KRPING_PRIV_REJECT &&
		 priv->can & KRPING_PRIV_SIZE_MAX)
		scnprintf(text, size, ": %u at most there, %u here", peer.size, params->size);
	else
		krping_params_values(params, &peer, option, text, size);
}
