// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Does the module take two commands? Its own parser says so:
 *
 *	pairs < LINES
 *
 * A line is yes|SERVER-OPTIONS|CLIENT-OPTIONS or no|..., see tests/guest/pairs.pl. Prints
 * the lines that are not true, up to 20, with what the parser says; and then how many
 * there were of yes and no.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static int takes(const char *server, const char *client, char *why, size_t size)
{
	struct krping_params s, c;
	const char *differs;
	char text[KRPING_CMD_MAX + 1];

	snprintf(text, sizeof(text), "server,port=1,%s", server);
	if (krping_command_parse(text, strlen(text), &s, why))
		return 0;
	snprintf(text, sizeof(text), "client,port=1,%s", client);
	if (krping_command_parse(text, strlen(text), &c, why))
		return 0;
	differs = krping_params_agree(&s, &c);
	if (!differs)
		differs = krping_params_same(&c, &s);
	if (differs)
		snprintf(why, size, "%s differs", differs);
	return !differs;
}

int main(void)
{
	unsigned long n[2] = { 0 }, wrong = 0;
	char *line = NULL, why[256];
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		char *rest = line, *says, *server, *client;
		int yes;

		says = strsep(&rest, "|\n");
		server = strsep(&rest, "|\n");
		client = strsep(&rest, "|\n");
		if (!client) {
			printf("no such line: %s\n", says);
			return 2;
		}
		yes = !strcmp(says, "yes");
		n[yes]++;
		why[0] = '\0';
		if (takes(server, client, why, sizeof(why)) != yes && wrong++ < 20)
			printf("%s|%s|%s: %s\n", says, server, client, why);
	}
	free(line);
	printf("%lu yes, %lu no\n", n[1], n[0]);
	return wrong != 0;
}
