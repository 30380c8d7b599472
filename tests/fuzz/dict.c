// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Prints libFuzzer's dictionary of commands, a word a line. It comes from the
 * option table, so a new option is in it at once. With an argument it prints the
 * table itself, as /proc/krping_help has it.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"

/* What values are made of, which the table does not say. */
static const char *const more[] = {
	",",	   "=",	      "+",	    "0x",     "us",	  "ms",
	"1s",	   "1K",      "1M",	    "1G",     "65535",	  "65536",
	"131073",  "2097152", "4294967295", "random", "10.9.0.1", "fe80::1%eth0",
	"fd09::1", "::",      "0.0.0.0",    ":",      "%",	  "::ffff:10.9.0.1",
	"255",
};

static void word(const char *text, size_t len, const char *end)
{
	printf("\"%.*s%s\"\n", (int)len, text, end);
}

int main(int argc, char **argv)
{
	char line[256], name[16], value[32];
	unsigned int row;
	const char *s;
	size_t i, len;

	(void)argv;
	for (row = 0; krping_option_help(row, line, sizeof(line)); row++) {
		if (argc > 1 && *line)
			puts(line);
		if (argc > 1 || sscanf(line, "%15s %31s", name, value) != 2)
			continue;
		/* A dash: it has no value. The names of values have bars between them. */
		if (!strcmp(value, "-")) {
			word(name, strlen(name), "");
			continue;
		}
		word(name, strlen(name), "=");
		for (s = strchr(value, '|') ? value : ""; *s; s += len + (s[len] != '\0')) {
			len = strcspn(s, "|");
			word(s, len, "");
		}
	}
	for (i = 0; argc == 1 && i < sizeof(more) / sizeof(*more); i++)
		word(more[i], strlen(more[i]), "");
	return 0;
}
