// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a peer sends when it connects, refuses or accepts. The input is a
 * command, a newline, and then the private data of an event of rdma_cm.
 */
#include "agree.h"
#include "fuzz.h"
#include "params.h"

static const struct rdma_cm_event *event_of(struct rdma_cm_event *event, const void *data,
					    size_t len)
{
	memset(event, 0, sizeof(*event));
	/* The CM has 8 bits for the length; a length without data is what a provider gives for none. */
	event->param.conn.private_data_len = len > 255 ? 255 : len;
	event->param.conn.private_data = data;
	return event;
}

/* Takes the data as such a message. false: they are no such message. */
static bool get(struct krping_priv *priv, const void *data, size_t len, enum krping_priv_type type)
{
	struct rdma_cm_event event;
	size_t all = len > sizeof(*priv) ? sizeof(*priv) : len;
	bool ours;

	memset(priv, 0x55, sizeof(*priv));
	ours = krping_priv_get(priv, event_of(&event, data, len), type);
	/* What the peer did not send is 0, as where the network pads it. */
	for (; all < sizeof(*priv); all++)
		CHECK(!((char *)priv)[all]);
	CHECK(!ours || priv->type == type);
	return ours;
}

/* What a user is told of an option in which they differ. */
static void check_values(const struct krping_params *params, const struct krping_priv *priv,
			 const char *name)
{
	char values[KRPING_VALUES];

	memset(values, 0x55, sizeof(values));
	krping_differs(values, sizeof(values), params, priv, name);
	CHECK_TEXT(values, sizeof(values));
	/* The longest text fits: a user gets it whole. */
	CHECK(strlen(values) < sizeof(values) - 1);
}

/* Private data may also be of another version, or of no connection that the test has. */
static void check_differs(const struct krping_params *params, const struct krping_priv *priv,
			  const char *name)
{
	if (name && strcmp(name, "version") && strcmp(name, "flags") && strcmp(name, "queues"))
		fuzz_check_name(name);
	if (name)
		check_values(params, priv, name);
}

static bool given_tos(const struct krping_params *params)
{
	return krping_option_given(params, KRPING_OPT_TOS);
}

/* Our end as a server: the client's data; agreed becomes what it agreed to. */
static const char *serve(const struct krping_params *mine, const struct krping_priv *priv,
			 struct krping_params *agreed)
{
	struct krping_params again;
	const char *name;

	*agreed = *mine;
	name = krping_priv_agree(agreed, priv);
	fuzz_check_agreed(mine, agreed);
	check_differs(agreed, priv, name);
	if (name)
		return name;
	CHECK(agreed->size == be32_to_cpu(priv->size));
	CHECK(agreed->count == be32_to_cpu(priv->count));
	CHECK(agreed->warmup == be32_to_cpu(priv->warmup));
	CHECK(agreed->test == priv->test);
	CHECK(!(be32_to_cpu(priv->flags) & KRPING_PRIV_F_READ_INV) ||
	      agreed->flags & KRPING_RUN_F_READ_INV);
	CHECK(!given_tos(agreed) || (priv->can & KRPING_PRIV_HAS_TOS && priv->tos == agreed->tos));
	again = *agreed;
	CHECK(!krping_priv_agree(&again, priv) && !memcmp(&again, agreed, sizeof(again)));
	return NULL;
}

/* What one end sends arrives at the other end as it was. */
static void send(const struct krping_params *params)
{
	struct krping_priv priv, got;
	char *wire;

	krping_nonce = 0x1122334455667788ULL;
	krping_priv_fill(&priv, 7, params, KRPING_PRIV_HELLO);
	wire = fuzz_copy(&priv, sizeof(priv), false);
	CHECK(get(&got, wire, sizeof(priv), KRPING_PRIV_HELLO));
	CHECK(!memcmp(&got, &priv, sizeof(got)));
	CHECK(!get(&got, wire, sizeof(priv), KRPING_PRIV_REJECT));
	free(wire);
	CHECK(!(priv.can & KRPING_PRIV_HAS_TOS) == !given_tos(params));
	CHECK(priv.tos == params->tos);
	CHECK(be32_to_cpu(priv.run) == 7 && be64_to_cpu(priv.nonce) == krping_nonce);
	CHECK(!krping_priv_same(params, &priv));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *newline = memchr(text, '\n', size);
	struct krping_params mine, agreed;
	char reason[KRPING_REASON_MAX];
	struct krping_priv priv;
	char *wire;
	size_t len;

	if (!newline)
		return 0;
	if (krping_command_parse(text, newline - text, &mine, reason) ||
	    mine.role == KRPING_ROLE_STOP)
		return 0;
	send(&mine);
	/* No data, as a peer without private data has it. */
	CHECK(!get(&priv, NULL, 0, KRPING_PRIV_HELLO));
	CHECK(!get(&priv, NULL, 56, KRPING_PRIV_HELLO));
	len = size - (newline + 1 - text);
	wire = fuzz_copy(newline + 1, len, false);
	if (get(&priv, wire, len, KRPING_PRIV_HELLO)) {
		if (!serve(&mine, &priv, &agreed))
			send(&agreed);
		check_differs(&mine, &priv, krping_priv_same(&mine, &priv));
	}
	if (get(&priv, wire, len, KRPING_PRIV_REJECT)) {
		/* As connect.c does before it shows the name. */
		priv.option[sizeof(priv.option) - 1] = '\0';
		check_values(&mine, &priv, priv.option);
	}
	free(wire);
	return 0;
}
