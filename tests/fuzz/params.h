/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What is true of the options of any run, by the option table as /proc/krping_help shows it. */
#ifndef KRP_TESTS_FUZZ_PARAMS_H
#define KRP_TESTS_FUZZ_PARAMS_H

#include "command.h"

/* Every value is in its range. */
void fuzz_check_values(const struct krping_params *p);
/* And also fits with all other options, as a command that was accepted does. */
void fuzz_check_command(const struct krping_params *p);
/* mine became after by the agreement with a peer: what is not the peer's to choose has stayed. */
void fuzz_check_agreed(const struct krping_params *mine, const struct krping_params *after);
/* The name is NULL, or that of an option. */
void fuzz_check_name(const char *name);

#endif /* KRP_TESTS_FUZZ_PARAMS_H */
